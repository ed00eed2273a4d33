#include "io/tensor/pickle/saved_pickle.h"

#include <string.h>

#include "io/base/error.h"
#include "io/tensor/pickle/pickle_opcodes.h"

#define DEPTH_LIMIT ((size_t)1 << 20)
#define MEMO_LIMIT  ((uint64_t)1 << 24)

struct reading {
    const char *file;
    struct tdc_arena *arena;
    struct tdc_error *error;
    struct tdc_saved stack, memo; /* only their items are used */
    struct tdc_pickle_opcode opcode;
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

/* Removes the values an opcode asks for, or those above the mark. */
static bool pop_values(struct reading *reading, struct tdc_saved ***values, size_t *count)
{
    if (reading->opcode.number == TDC_PICKLE_TO_MARK)
        return pop_to_mark(reading, values, count);
    *count = (size_t)reading->opcode.number;
    for (size_t i = 0; i < *count; i++)
        if (pop(reading) == NULL)
            return false;
    *values = *count != 0 ? &reading->stack.items[reading->stack.count] : NULL;
    return true;
}

/* ---- constants ------------------------------------------------------------------------------- */

static tdc_status op_nothing(struct reading *reading)
{
    (void)reading;
    return TDC_OK;
}

static tdc_status op_constant(struct reading *reading)
{
    static const enum tdc_saved_kind kinds[TDC_PICKLE_ACTIONS] = {
        [TDC_DOES_MARK] = TDC_SAVED_MARK,   [TDC_DOES_NONE] = TDC_SAVED_NONE,
        [TDC_DOES_BOOL] = TDC_SAVED_BOOL,   [TDC_DOES_INTEGER] = TDC_SAVED_INTEGER,
        [TDC_DOES_LONG] = TDC_SAVED_OBJECT, [TDC_DOES_FLOAT] = TDC_SAVED_FLOAT,
        [TDC_DOES_LIST] = TDC_SAVED_LIST,   [TDC_DOES_DICT] = TDC_SAVED_DICT,
    };
    struct tdc_saved *value = make(reading, kinds[reading->opcode.action]);
    if (value != NULL)
        value->integer = reading->opcode.number;
    return push(reading, value);
}

static tdc_status op_text(struct reading *reading)
{
    struct tdc_saved *value = make(reading, TDC_SAVED_TEXT);
    if (value != NULL) {
        value->text = (const char *)reading->opcode.bytes;
        value->length = reading->opcode.length;
    }
    return push(reading, value);
}

/* ---- the memo
 * ------------------------------------------------------------------------------------ */

static tdc_status op_put(struct reading *reading)
{
    uint64_t index = reading->opcode.number == TDC_PICKLE_NEXT ? reading->memo.count
                                                               : (uint64_t)reading->opcode.number;
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
    uint64_t index = (uint64_t)reading->opcode.number;
    if (index >= reading->memo.count || reading->memo.items[index] == NULL)
        return malformed(reading, "it refers to nothing");
    return push(reading, reading->memo.items[index]);
}

/* ---- containers ------------------------------------------------------------------------------ */

static tdc_status op_tuple(struct reading *reading)
{
    struct tdc_saved **values = NULL, *tuple = make(reading, TDC_SAVED_LIST);
    size_t count = 0;
    if (!pop_values(reading, &values, &count))
        return underflow(reading);
    for (size_t i = 0; i < count && tuple != NULL; i++)
        if (!append(reading->arena, tuple, values[i]))
            return no_memory(reading);
    return push(reading, tuple);
}

/* APPEND, APPENDS, ADDITEMS, SETITEM, SETITEMS: to dicts, lists, and objects that derive of them */
static tdc_status op_add_items(struct reading *reading)
{
    bool pairs = reading->opcode.action == TDC_DOES_SET;
    struct tdc_saved **values = NULL;
    size_t count = 0;
    if (!pop_values(reading, &values, &count))
        return underflow(reading);
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
    if (reading->opcode.number == TDC_PICKLE_TO_MARK)
        return pop_to_mark(reading, &values, &count) ? TDC_OK : underflow(reading);
    if (reading->stack.count == 0)
        return underflow(reading);
    reading->stack.count--;
    return TDC_OK;
}

static tdc_status op_repeat(struct reading *reading)
{
    return top(reading) != NULL ? push(reading, top(reading)) : underflow(reading);
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
    const struct tdc_pickle_opcode *opcode = &reading->opcode;
    return push_name(reading, opcode->bytes, opcode->length, opcode->name, opcode->name_length);
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
    if (reading->opcode.action == TDC_DOES_CALL_BY_NAME && pop(reading) == NULL)
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

static opcode_handler *const handlers[TDC_PICKLE_ACTIONS] = {
    [TDC_DOES_NOTHING] = op_nothing,
    [TDC_DOES_MARK] = op_constant,
    [TDC_DOES_NONE] = op_constant,
    [TDC_DOES_BOOL] = op_constant,
    [TDC_DOES_INTEGER] = op_constant,
    [TDC_DOES_LONG] = op_constant,
    [TDC_DOES_FLOAT] = op_constant,
    [TDC_DOES_TEXT] = op_text,
    [TDC_DOES_BYTES] = op_text,
    [TDC_DOES_PUT] = op_put,
    [TDC_DOES_GET] = op_get,
    [TDC_DOES_TUPLE] = op_tuple,
    [TDC_DOES_LIST] = op_constant,
    [TDC_DOES_DICT] = op_constant,
    [TDC_DOES_APPEND] = op_add_items,
    [TDC_DOES_SET] = op_add_items,
    [TDC_DOES_POP] = op_pop,
    [TDC_DOES_REPEAT] = op_repeat,
    [TDC_DOES_NAME] = op_global,
    [TDC_DOES_STACKED_NAME] = op_stack_global,
    [TDC_DOES_CALL] = op_call,
    [TDC_DOES_CALL_BY_NAME] = op_call,
    [TDC_DOES_PERSISTENT] = op_persistent,
    [TDC_DOES_BUILD] = op_build,
    [TDC_DOES_STOP] = op_stop,
};

tdc_status tdc_saved_pickle(const unsigned char *bytes, size_t size, const char *file,
                            struct tdc_arena *arena, struct tdc_saved **root,
                            struct tdc_error *error)
{
    struct tdc_pickle_input input = {.at = bytes, .end = bytes + size, .objects = true};
    struct reading reading = {.file = file, .arena = arena, .error = error};
    while (!reading.stopped) {
        switch (tdc_pickle_next(&input, &reading.opcode)) {
        case TDC_PICKLE_FOUND:
            break;
        case TDC_PICKLE_ENDS:
            return ends_early(&reading);
        case TDC_PICKLE_TOO_NEW:
            return tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: pickle of an unknown protocol", file);
        case TDC_PICKLE_UNKNOWN:
            return tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: unknown pickle opcode 0x%02x", file,
                            reading.opcode.byte);
        }
        tdc_status status = handlers[reading.opcode.action](&reading);
        if (status != TDC_OK)
            return status;
    }
    *root = pop(&reading);
    return *root != NULL ? TDC_OK : underflow(&reading);
}
