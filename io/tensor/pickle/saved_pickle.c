#include "io/tensor/pickle/saved_pickle.h"

#include <string.h>

#include "io/base/error.h"
#include "io/base/little_endian.h"

#define DEPTH_LIMIT ((size_t)1 << 20)
#define MEMO_LIMIT  ((uint64_t)1 << 24)

struct reading {
    const unsigned char *at, *end;
    const char *file;
    struct tdc_arena *arena;
    struct tdc_error *error;
    struct tdc_saved stack, memo; /* only their items are used */
    unsigned char opcode;
    bool stopped;
};

typedef tdc_status opcode_handler(struct reading *reading);

static tdc_status malformed(struct reading *reading, const char *reason)
{
    return tdc_fail(reading->error, TDC_ERR_FORMAT, "%s: wrong pickle: %s", reading->file, reason);
}

static tdc_status no_memory(struct reading *reading)
{
    return tdc_fail(reading->error, TDC_ERR_MEMORY, "%s: out of memory", reading->file);
}

static tdc_status underflow(struct reading *reading)
{
    return malformed(reading, "its stack is too short");
}

static tdc_status ends_early(struct reading *reading)
{
    return malformed(reading, "it ends early");
}

/* ---- values ---------------------------------------------------------------------------------- */

static struct tdc_saved *make(struct reading *reading, enum tdc_saved_kind kind)
{
    struct tdc_saved *value = tdc_arena_zeroed(reading->arena, 1, sizeof *value);
    if (value != NULL)
        value->kind = kind;
    return value;
}

/* Adds an item; what an arena's array leaves behind when it grows is bounded by its final size. */
static bool append(struct tdc_arena *arena, struct tdc_saved *to, struct tdc_saved *item)
{
    if (to->count == to->room) {
        size_t room = to->room == 0 ? 4 : to->room * 2;
        struct tdc_saved **grown = tdc_arena_zeroed(arena, room, sizeof *grown);
        if (grown == NULL)
            return false;
        if (to->count != 0)
            memcpy(grown, to->items, to->count * sizeof *grown);
        to->items = grown;
        to->room = room;
    }
    to->items[to->count++] = item;
    return true;
}

static tdc_status push(struct reading *reading, struct tdc_saved *value)
{
    if (value == NULL || !append(reading->arena, &reading->stack, value))
        return no_memory(reading);
    return reading->stack.count <= DEPTH_LIMIT ? TDC_OK : malformed(reading, "too deep");
}

static struct tdc_saved *pop(struct reading *reading)
{
    struct tdc_saved *stack = &reading->stack;
    if (stack->count == 0 || stack->items[stack->count - 1]->kind == TDC_SAVED_MARK)
        return NULL;
    return stack->items[--stack->count];
}

static struct tdc_saved *top(struct reading *reading)
{
    const struct tdc_saved *stack = &reading->stack;
    return stack->count != 0 ? stack->items[stack->count - 1] : NULL;
}

/* Removes the last mark; the items above it are values[0..count) until the next push. */
static bool pop_to_mark(struct reading *reading, struct tdc_saved ***values, size_t *count)
{
    struct tdc_saved *stack = &reading->stack;
    for (size_t i = stack->count; i-- > 0;) {
        if (stack->items[i]->kind != TDC_SAVED_MARK)
            continue;
        *values = &stack->items[i + 1];
        *count = stack->count - i - 1;
        stack->count = i;
        return true;
    }
    return false;
}

/* ---- operands -------------------------------------------------------------------------------- */

static bool take_number(struct reading *reading, unsigned width, uint64_t *number)
{
    if ((size_t)(reading->end - reading->at) < width)
        return false;
    const unsigned char *at = reading->at;
    *number = width == 1   ? at[0]
              : width == 2 ? tdc_le16(at)
              : width == 4 ? tdc_le32(at)
                           : tdc_le64(at);
    reading->at += width;
    return true;
}

static bool take_bytes(struct reading *reading, uint64_t length, const unsigned char **bytes)
{
    if (length > (uint64_t)(reading->end - reading->at))
        return false;
    *bytes = reading->at;
    reading->at += length;
    return true;
}

static bool take_line(struct reading *reading, const unsigned char **line, size_t *length)
{
    const unsigned char *end = memchr(reading->at, '\n', (size_t)(reading->end - reading->at));
    if (end == NULL)
        return false;
    *line = reading->at;
    *length = (size_t)(end - reading->at);
    reading->at = end + 1;
    return true;
}

static tdc_status op_constant(struct reading *reading)
{
    struct tdc_saved *value = NULL;
    switch (reading->opcode) {
    case '(':
        value = make(reading, TDC_SAVED_MARK);
        break;
    case 'N':
        value = make(reading, TDC_SAVED_NONE);
        break;
    default: /* NEWTRUE, NEWFALSE */
        value = make(reading, TDC_SAVED_BOOL);
        if (value != NULL)
            value->integer = reading->opcode == 0x88;
    }
    return push(reading, value);
}

static tdc_status push_integer(struct reading *reading, int64_t integer)
{
    struct tdc_saved *value = make(reading, TDC_SAVED_INTEGER);
    if (value != NULL)
        value->integer = integer;
    return push(reading, value);
}

static tdc_status op_integer(struct reading *reading)
{
    uint64_t number;
    unsigned width = reading->opcode == 'K' ? 1 : reading->opcode == 'M' ? 2 : 4;
    if (!take_number(reading, width, &number))
        return ends_early(reading);
    return push_integer(reading, width == 4 ? (int32_t)(uint32_t)number : (int64_t)number);
}

static tdc_status op_long(struct reading *reading)
{
    uint64_t length;
    const unsigned char *at;
    if (!take_number(reading, reading->opcode == 0x8a ? 1 : 4, &length) ||
        !take_bytes(reading, length, &at))
        return ends_early(reading);
    if (length > 8)
        return push(reading, make(reading, TDC_SAVED_OBJECT));
    uint64_t bits = length > 0 && at[length - 1] >= 0x80 ? UINT64_MAX : 0;
    for (size_t i = (size_t)length; i-- > 0;)
        bits = bits << 8 | at[i];
    return push_integer(reading, (int64_t)bits);
}

static tdc_status op_float(struct reading *reading)
{
    const unsigned char *at;
    if (!take_bytes(reading, 8, &at))
        return ends_early(reading);
    return push(reading, make(reading, TDC_SAVED_FLOAT));
}

/* Texts and bytes with a length before them. */
static tdc_status op_text(struct reading *reading)
{
    static const char brief[] = "U\x8c"
                                "C",
                      longest[] = "\x8d\x8e\x96";
    unsigned width = strchr(brief, (char)reading->opcode) != NULL     ? 1
                     : strchr(longest, (char)reading->opcode) != NULL ? 8
                                                                      : 4;
    uint64_t length;
    const unsigned char *at;
    if (!take_number(reading, width, &length) || !take_bytes(reading, length, &at))
        return ends_early(reading);
    struct tdc_saved *value = make(reading, TDC_SAVED_TEXT);
    if (value != NULL) {
        value->text = (const char *)at;
        value->length = (size_t)length;
    }
    return push(reading, value);
}

/* ---- frames and the memo --------------------------------------------------------------------- */

static tdc_status op_protocol(struct reading *reading)
{
    uint64_t ignored;
    return take_number(reading, reading->opcode == 0x95 ? 8 : 1, &ignored) ? TDC_OK
                                                                           : ends_early(reading);
}

static tdc_status op_put(struct reading *reading)
{
    uint64_t index = reading->memo.count; /* MEMOIZE */
    if (reading->opcode != 0x94 && !take_number(reading, reading->opcode == 'q' ? 1 : 4, &index))
        return ends_early(reading);
    struct tdc_saved *value = top(reading);
    if (value == NULL || value->kind == TDC_SAVED_MARK)
        return underflow(reading);
    if (index > MEMO_LIMIT || index > reading->memo.count + 65536)
        return malformed(reading, "it remembers too much");
    while (reading->memo.count <= index)
        if (!append(reading->arena, &reading->memo, NULL))
            return no_memory(reading);
    reading->memo.items[index] = value;
    return TDC_OK;
}

static tdc_status op_get(struct reading *reading)
{
    uint64_t index;
    if (!take_number(reading, reading->opcode == 'h' ? 1 : 4, &index))
        return ends_early(reading);
    if (index >= reading->memo.count || reading->memo.items[index] == NULL)
        return malformed(reading, "it refers to nothing");
    return push(reading, reading->memo.items[index]);
}

/* ---- containers ------------------------------------------------------------------------------ */

static tdc_status op_tuple(struct reading *reading)
{
    struct tdc_saved **values = NULL, *tuple = make(reading, TDC_SAVED_LIST);
    struct tdc_saved *stack = &reading->stack;
    size_t count = 0;
    if (reading->opcode == 't' || reading->opcode == 0x91) {
        if (!pop_to_mark(reading, &values, &count))
            return underflow(reading);
    } else if (reading->opcode != ')') { /* TUPLE1, TUPLE2, TUPLE3 */
        count = (size_t)reading->opcode - 0x84;
        for (size_t i = 0; i < count; i++)
            if (pop(reading) == NULL)
                return underflow(reading);
        values = &stack->items[stack->count];
    }
    for (size_t i = 0; i < count && tuple != NULL; i++)
        if (!append(reading->arena, tuple, values[i]))
            return no_memory(reading);
    return push(reading, tuple);
}

static tdc_status op_container(struct reading *reading)
{
    return push(reading, make(reading, reading->opcode == '}' ? TDC_SAVED_DICT : TDC_SAVED_LIST));
}

/* APPEND, APPENDS, ADDITEMS, SETITEM, SETITEMS: to dicts, lists, and objects that derive of them */
static tdc_status op_add_items(struct reading *reading)
{
    bool pairs = reading->opcode == 's' || reading->opcode == 'u';
    struct tdc_saved *stack = &reading->stack, **values = NULL;
    size_t count = 0;
    if (reading->opcode == 's' || reading->opcode == 'a') {
        for (; count < (pairs ? 2u : 1u); count++)
            if (pop(reading) == NULL)
                return underflow(reading);
        values = &stack->items[stack->count];
    } else if (!pop_to_mark(reading, &values, &count)) {
        return underflow(reading);
    }
    struct tdc_saved *target = top(reading);
    if (target == NULL || target->kind == TDC_SAVED_MARK)
        return underflow(reading);
    if (target->kind == TDC_SAVED_OBJECT)
        return TDC_OK;
    if (target->kind != (pairs ? TDC_SAVED_DICT : TDC_SAVED_LIST) || (pairs && count % 2 != 0))
        return malformed(reading, "items for something that holds none");
    for (size_t i = 0; i < count; i++)
        if (!append(reading->arena, target, values[i]))
            return no_memory(reading);
    return TDC_OK;
}

static tdc_status op_pop(struct reading *reading)
{
    struct tdc_saved **values;
    size_t count;
    if (reading->opcode == '1')
        return pop_to_mark(reading, &values, &count) ? TDC_OK : underflow(reading);
    if (reading->opcode == '2') /* DUP */
        return top(reading) != NULL ? push(reading, top(reading)) : underflow(reading);
    if (reading->stack.count == 0)
        return underflow(reading);
    reading->stack.count--;
    return TDC_OK;
}

/* ---- names and calls ------------------------------------------------------------------------- */

static tdc_status push_name(struct reading *reading, const unsigned char *module,
                            size_t module_length, const unsigned char *name, size_t length)
{
    const struct tdc_pt_name *known = tdc_pt_name_find(module, module_length, name, length);
    struct tdc_saved *value = make(reading, known != NULL ? TDC_SAVED_NAME : TDC_SAVED_OBJECT);
    if (value != NULL)
        value->name = known;
    return push(reading, value);
}

static tdc_status op_global(struct reading *reading)
{
    const unsigned char *module, *name;
    size_t module_length, length;
    if (!take_line(reading, &module, &module_length) || !take_line(reading, &name, &length))
        return ends_early(reading);
    return push_name(reading, module, module_length, name, length);
}

static tdc_status op_stack_global(struct reading *reading)
{
    const struct tdc_saved *name = pop(reading), *module = name != NULL ? pop(reading) : NULL;
    if (module == NULL)
        return underflow(reading);
    if (name->kind != TDC_SAVED_TEXT || module->kind != TDC_SAVED_TEXT)
        return malformed(reading, "a name that is not a text");
    return push_name(reading, (const unsigned char *)module->text, module->length,
                     (const unsigned char *)name->text, name->length);
}

/* (storage, offset, size, stride, ...[, dtype as seventh]) */
static tdc_status rebuild_tensor(struct reading *reading, const struct tdc_pt_name *function,
                                 const struct tdc_saved *arguments)
{
    struct tdc_saved *tensor = make(reading, TDC_SAVED_TENSOR);
    bool typed = function->role == TDC_PT_REBUILD_TYPED;
    struct tdc_saved *const *argument = arguments->items;
    if (arguments->count < (typed ? 7u : 4u) || argument[0]->kind != TDC_SAVED_STORAGE ||
        argument[1]->kind != TDC_SAVED_INTEGER || argument[2]->kind != TDC_SAVED_LIST ||
        argument[3]->kind != TDC_SAVED_LIST ||
        (typed && (argument[6]->kind != TDC_SAVED_NAME || argument[6]->name->role != TDC_PT_DTYPE)))
        return malformed(reading, "wrong arguments of a tensor");
    for (size_t i = 0; i < 4 && tensor != NULL; i++)
        if (!append(reading->arena, tensor, argument[i]))
            return no_memory(reading);
    if (tensor != NULL && !append(reading->arena, tensor, typed ? argument[6] : NULL))
        return no_memory(reading);
    return push(reading, tensor);
}

/* OrderedDict([(key, value), ...]) */
static tdc_status make_dict(struct reading *reading, const struct tdc_saved *arguments)
{
    struct tdc_saved *dict = make(reading, TDC_SAVED_DICT);
    const struct tdc_saved *pairs = arguments->count != 0 ? arguments->items[0] : NULL;
    for (size_t i = 0;
         dict != NULL && pairs != NULL && pairs->kind == TDC_SAVED_LIST && i < pairs->count; i++) {
        const struct tdc_saved *pair = pairs->items[i];
        if (pair->kind == TDC_SAVED_LIST && pair->count == 2 &&
            (!append(reading->arena, dict, pair->items[0]) ||
             !append(reading->arena, dict, pair->items[1])))
            return no_memory(reading);
    }
    return push(reading, dict);
}

static tdc_status call(struct reading *reading, const struct tdc_saved *function,
                       const struct tdc_saved *arguments)
{
    if (function->kind != TDC_SAVED_NAME || arguments->kind != TDC_SAVED_LIST)
        return push(reading, make(reading, TDC_SAVED_OBJECT));
    struct tdc_saved *const *argument = arguments->items;
    switch (function->name->role) {
    case TDC_PT_REBUILD_TENSOR:
    case TDC_PT_REBUILD_TYPED:
        return rebuild_tensor(reading, function->name, arguments);
    case TDC_PT_WRAP_TENSOR:
    case TDC_PT_SIZE:
        return arguments->count != 0 ? push(reading, argument[0])
                                     : push(reading, make(reading, TDC_SAVED_LIST));
    case TDC_PT_REBUILD_SUBTYPE: /* (function, class, arguments, state); not itself again */
        if (arguments->count < 3 || argument[0]->kind != TDC_SAVED_NAME ||
            argument[0]->name->role == TDC_PT_REBUILD_SUBTYPE)
            return push(reading, make(reading, TDC_SAVED_OBJECT));
        return call(reading, argument[0], argument[2]);
    case TDC_PT_DICT:
        return make_dict(reading, arguments);
    default:
        return push(reading, make(reading, TDC_SAVED_OBJECT));
    }
}

/* REDUCE, NEWOBJ and NEWOBJ_EX, which has arguments by name on top. */
static tdc_status op_call(struct reading *reading)
{
    if (reading->opcode == 0x92 && pop(reading) == NULL)
        return underflow(reading);
    const struct tdc_saved *arguments = pop(reading);
    const struct tdc_saved *function = arguments != NULL ? pop(reading) : NULL;
    return function != NULL ? call(reading, function, arguments) : underflow(reading);
}

/* ("storage", class, key, device, count) */
static tdc_status op_persistent(struct reading *reading)
{
    const struct tdc_saved *id = pop(reading);
    if (id == NULL)
        return underflow(reading);
    if (id->kind != TDC_SAVED_LIST || id->count < 5 || id->items[1]->kind != TDC_SAVED_NAME ||
        id->items[1]->name->role != TDC_PT_STORAGE_CLASS || id->items[2]->kind != TDC_SAVED_TEXT ||
        id->items[4]->kind != TDC_SAVED_INTEGER)
        return push(reading, make(reading, TDC_SAVED_OBJECT));
    struct tdc_saved *storage = make(reading, TDC_SAVED_STORAGE);
    if (storage == NULL || !append(reading->arena, storage, id->items[1]) ||
        !append(reading->arena, storage, id->items[2]) ||
        !append(reading->arena, storage, id->items[4]))
        return no_memory(reading);
    return push(reading, storage);
}

static tdc_status op_build(struct reading *reading)
{
    struct tdc_saved *state = pop(reading), *object = state != NULL ? top(reading) : NULL;
    if (object == NULL || object->kind == TDC_SAVED_MARK)
        return underflow(reading);
    if (object->kind == TDC_SAVED_OBJECT && state->kind == TDC_SAVED_DICT)
        object->state = state;
    return TDC_OK;
}

static tdc_status op_stop(struct reading *reading)
{
    reading->stopped = true;
    return TDC_OK;
}

static opcode_handler *const handlers[256] = {
    ['('] = op_constant,      ['N'] = op_constant,   [0x88] = op_constant,  [0x89] = op_constant,
    ['J'] = op_integer,       ['K'] = op_integer,    ['M'] = op_integer,    [0x8a] = op_long,
    [0x8b] = op_long,         ['G'] = op_float,      ['X'] = op_text,       [0x8c] = op_text,
    [0x8d] = op_text,         ['U'] = op_text,       ['T'] = op_text,       ['C'] = op_text,
    ['B'] = op_text,          [0x8e] = op_text,      [0x96] = op_text,      [0x80] = op_protocol,
    [0x95] = op_protocol,     [0x94] = op_put,       ['q'] = op_put,        ['r'] = op_put,
    ['h'] = op_get,           ['j'] = op_get,        ['t'] = op_tuple,      [')'] = op_tuple,
    [0x85] = op_tuple,        [0x86] = op_tuple,     [0x87] = op_tuple,     [0x91] = op_tuple,
    ['}'] = op_container,     [']'] = op_container,  [0x8f] = op_container, ['a'] = op_add_items,
    ['e'] = op_add_items,     [0x90] = op_add_items, ['s'] = op_add_items,  ['u'] = op_add_items,
    ['0'] = op_pop,           ['1'] = op_pop,        ['2'] = op_pop,        ['c'] = op_global,
    [0x93] = op_stack_global, ['R'] = op_call,       [0x81] = op_call,      [0x92] = op_call,
    ['Q'] = op_persistent,    ['b'] = op_build,      ['.'] = op_stop,
};

tdc_status tdc_saved_pickle(const unsigned char *bytes, size_t size, const char *file,
                            struct tdc_arena *arena, struct tdc_saved **root,
                            struct tdc_error *error)
{
    struct reading reading = {
        .at = bytes, .end = bytes + size, .file = file, .arena = arena, .error = error};
    while (!reading.stopped) {
        if (reading.at == reading.end)
            return ends_early(&reading);
        reading.opcode = *reading.at++;
        if (handlers[reading.opcode] == NULL)
            return tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: unknown pickle opcode 0x%02x", file,
                            reading.opcode);
        tdc_status status = handlers[reading.opcode](&reading);
        if (status != TDC_OK)
            return status;
    }
    *root = pop(&reading);
    return *root != NULL ? TDC_OK : underflow(&reading);
}
