#include "io/tensor/pickle/pt_pickle.h"

#include <string.h>

#include "io/base/error.h"
#include "io/base/little_endian.h"
#include "io/tensor/pickle/pt_rebuild.h"

#define NAME_LIMIT ((size_t)128)
#define TEXT_LIMIT ((uint64_t)1 << 16)
#define LONG_LIMIT ((uint64_t)64) /* bytes of a number */

typedef tdc_status opcode_handler(struct tdc_pickle *pickle);

static tdc_status underflow(struct tdc_pickle *pickle)
{
    return tdc_pickle_malformed(pickle, "its stack is too short");
}

/* ---- reading operands ------------------------------------------------------------------------ */

/* NULL if the pickle ends before. */
static const unsigned char *operand(struct tdc_pickle *pickle, uint64_t length)
{
    if (length > (uint64_t)(pickle->end - pickle->at))
        return NULL;
    const unsigned char *start = pickle->at;
    pickle->at += length;
    return start;
}

static tdc_status ends_early(struct tdc_pickle *pickle)
{
    return tdc_pickle_malformed(pickle, "it ends early");
}

/* An unsigned number of 1, 2, 4 or 8 bytes. */
static bool take_number(struct tdc_pickle *pickle, unsigned width, uint64_t *number)
{
    const unsigned char *at = operand(pickle, width);
    if (at == NULL)
        return false;
    *number = width == 1   ? at[0]
              : width == 2 ? tdc_le16(at)
              : width == 4 ? tdc_le32(at)
                           : tdc_le64(at);
    return true;
}

static tdc_status push(struct tdc_pickle *pickle, struct tdc_pickle_value value)
{
    if (pickle->depth == TDC_PICKLE_STACK)
        return tdc_pickle_too_many(pickle);
    pickle->stack[pickle->depth++] = value;
    return TDC_OK;
}

static tdc_status push_kind(struct tdc_pickle *pickle, enum tdc_pickle_kind kind)
{
    return push(pickle, (struct tdc_pickle_value){.kind = kind});
}

static tdc_status push_integer(struct tdc_pickle *pickle, int64_t integer)
{
    return push(pickle, (struct tdc_pickle_value){.kind = TDC_PICKLE_INTEGER, .integer = integer});
}

/* Removes the topmost value; NULL if there is none, or only a mark. */
static struct tdc_pickle_value *pop(struct tdc_pickle *pickle)
{
    if (pickle->depth == 0 || pickle->stack[pickle->depth - 1].kind == TDC_PICKLE_MARK)
        return NULL;
    return &pickle->stack[--pickle->depth];
}

/* Removes the last mark and what is above it; false if there is no mark. */
static bool pop_to_mark(struct tdc_pickle *pickle, struct tdc_pickle_value **values, size_t *count)
{
    for (size_t i = pickle->depth; i-- > 0;) {
        if (pickle->stack[i].kind == TDC_PICKLE_MARK) {
            *values = &pickle->stack[i + 1];
            *count = pickle->depth - i - 1;
            pickle->depth = i;
            return true;
        }
    }
    return false;
}

/* ---- constants ------------------------------------------------------------------------------- */

static tdc_status op_constant(struct tdc_pickle *pickle)
{
    switch (pickle->opcode) {
    case '(':
        return push_kind(pickle, TDC_PICKLE_MARK);
    case 'N':
        return push_kind(pickle, TDC_PICKLE_NONE);
    default: /* NEWTRUE, NEWFALSE */
        return push(pickle, (struct tdc_pickle_value){.kind = TDC_PICKLE_BOOL,
                                                      .integer = pickle->opcode == 0x88});
    }
}

static tdc_status op_integer(struct tdc_pickle *pickle)
{
    uint64_t number;
    unsigned width = pickle->opcode == 'K' ? 1 : pickle->opcode == 'M' ? 2 : 4;
    if (!take_number(pickle, width, &number))
        return ends_early(pickle);
    return push_integer(pickle, width == 4 ? (int32_t)(uint32_t)number : (int64_t)number);
}

static tdc_status op_long(struct tdc_pickle *pickle)
{
    uint64_t length;
    if (!take_number(pickle, pickle->opcode == 0x8a ? 1 : 4, &length))
        return ends_early(pickle);
    if (length > LONG_LIMIT)
        return tdc_pickle_unsupported(pickle, "number of too many digits in the pickle");
    const unsigned char *at = operand(pickle, length);
    if (at == NULL)
        return ends_early(pickle);
    if (length > 8)
        return push(pickle, (struct tdc_pickle_value){
                                .kind = TDC_PICKLE_LONG, .count = (uint32_t)length, .bytes = at});
    uint64_t bits = length > 0 && at[length - 1] >= 0x80 ? UINT64_MAX : 0;
    for (size_t i = length; i-- > 0;)
        bits = bits << 8 | at[i];
    return push_integer(pickle, (int64_t)bits);
}

static tdc_status op_float(struct tdc_pickle *pickle)
{
    const unsigned char *at = operand(pickle, 8);
    if (at == NULL)
        return ends_early(pickle);
    return push(pickle,
                (struct tdc_pickle_value){.kind = TDC_PICKLE_FLOAT, .count = 8, .bytes = at});
}

static unsigned length_width(unsigned char opcode)
{
    switch (opcode) {
    case 0x8c: /* SHORT_BINUNICODE */
    case 'U':  /* SHORT_BINSTRING */
    case 'C':  /* SHORT_BINBYTES */
        return 1;
    case 0x8d: /* BINUNICODE8 */
        return 8;
    default: /* BINUNICODE, BINSTRING, BINBYTES */
        return 4;
    }
}

static tdc_status op_text(struct tdc_pickle *pickle)
{
    uint64_t length;
    if (!take_number(pickle, length_width(pickle->opcode), &length))
        return ends_early(pickle);
    const unsigned char *text = operand(pickle, length);
    if (text == NULL)
        return ends_early(pickle);
    if (length > TEXT_LIMIT || pickle->opcode == 'C' || pickle->opcode == 'B')
        return push_kind(pickle, TDC_PICKLE_OPAQUE);
    return push(pickle, (struct tdc_pickle_value){
                            .kind = TDC_PICKLE_TEXT, .count = (uint32_t)length, .bytes = text});
}

/* ---- frames and the memo --------------------------------------------------------------------- */

static tdc_status op_protocol(struct tdc_pickle *pickle)
{
    uint64_t version;
    if (!take_number(pickle, 1, &version))
        return ends_early(pickle);
    if (version > 5)
        return tdc_pickle_unsupported(pickle, "pickle of an unknown protocol");
    return TDC_OK;
}

static tdc_status op_frame(struct tdc_pickle *pickle)
{
    uint64_t length;
    if (!take_number(pickle, 8, &length) || length > (uint64_t)(pickle->end - pickle->at))
        return ends_early(pickle);
    return TDC_OK;
}

static tdc_status op_put(struct tdc_pickle *pickle)
{
    uint64_t index = pickle->memo_used; /* MEMOIZE */
    if (pickle->opcode != 0x94 && !take_number(pickle, pickle->opcode == 'q' ? 1 : 4, &index))
        return ends_early(pickle);
    if (index >= TDC_PICKLE_MEMO)
        return tdc_pickle_too_many(pickle);
    if (pickle->depth == 0 || pickle->stack[pickle->depth - 1].kind == TDC_PICKLE_MARK)
        return underflow(pickle);
    while (pickle->memo_used <= index)
        pickle->memo[pickle->memo_used++].kind = TDC_PICKLE_UNSET;
    pickle->memo[index] = pickle->stack[pickle->depth - 1];
    return TDC_OK;
}

static tdc_status op_get(struct tdc_pickle *pickle)
{
    uint64_t index;
    if (!take_number(pickle, pickle->opcode == 'h' ? 1 : 4, &index))
        return ends_early(pickle);
    if (index >= pickle->memo_used || pickle->memo[index].kind == TDC_PICKLE_UNSET)
        return tdc_pickle_malformed(pickle, "it refers to nothing");
    return push(pickle, pickle->memo[index]);
}

/* ---- tuples and containers ------------------------------------------------------------------- */

static tdc_status op_tuple(struct tdc_pickle *pickle)
{
    struct tdc_pickle_value *values = NULL;
    size_t count = 0, first;
    if (pickle->opcode == 't') {
        if (!pop_to_mark(pickle, &values, &count))
            return underflow(pickle);
    } else if (pickle->opcode != ')') { /* TUPLE1, TUPLE2, TUPLE3 */
        count = (size_t)pickle->opcode - 0x84;
        for (size_t i = 0; i < count; i++)
            if ((values = pop(pickle)) == NULL)
                return underflow(pickle);
    }
    if (!tdc_pickle_take_items(pickle, count, &first))
        return tdc_pickle_too_many(pickle);
    if (count > 0)
        memcpy(pickle->items + first, values, count * sizeof *values);
    return push(pickle, (struct tdc_pickle_value){
                            .kind = TDC_PICKLE_TUPLE, .count = (uint32_t)count, .first = first});
}

static tdc_status op_container(struct tdc_pickle *pickle)
{
    struct tdc_pickle_value value;
    tdc_status status = tdc_pickle_new_container(
        pickle, pickle->opcode == '}' ? TDC_PICKLE_DICT : TDC_PICKLE_LIST, &value);
    return status == TDC_OK ? push(pickle, value) : status;
}

/* APPEND, APPENDS, SETITEM, SETITEMS */
static tdc_status op_add_items(struct tdc_pickle *pickle)
{
    bool dict = pickle->opcode == 's' || pickle->opcode == 'u';
    struct tdc_pickle_value *values = NULL;
    size_t count = 0;
    if (pickle->opcode == 'e' || pickle->opcode == 'u') {
        if (!pop_to_mark(pickle, &values, &count))
            return underflow(pickle);
    } else {
        for (; count < (dict ? 2u : 1u); count++)
            if ((values = pop(pickle)) == NULL)
                return underflow(pickle);
    }
    if (pickle->depth == 0)
        return underflow(pickle);
    const struct tdc_pickle_value *target = &pickle->stack[pickle->depth - 1];
    if (target->kind != (dict ? TDC_PICKLE_DICT : TDC_PICKLE_LIST) || (dict && count % 2 != 0))
        return tdc_pickle_malformed(pickle, "items for something that is not a list or dict");
    return tdc_pickle_extend(pickle, &pickle->containers[target->first], values, count)
               ? TDC_OK
               : tdc_pickle_too_many(pickle);
}

static tdc_status op_pop(struct tdc_pickle *pickle)
{
    struct tdc_pickle_value *values;
    size_t count;
    if (pickle->opcode == '1')
        return pop_to_mark(pickle, &values, &count) ? TDC_OK : underflow(pickle);
    if (pickle->depth == 0)
        return underflow(pickle);
    pickle->depth--;
    return TDC_OK;
}

/* ---- names and calls ------------------------------------------------------------------------- */

/* Part of a message: short, printable and no longer inside the file. */
static void quote(char *out, size_t capacity, const unsigned char *text, size_t length)
{
    size_t shown = length < capacity - 1 ? length : capacity - 1;
    for (size_t i = 0; i < shown; i++)
        out[i] = text[i] >= 0x20 && text[i] < 0x7f ? (char)text[i] : '?';
    out[shown] = '\0';
}

static tdc_status push_name(struct tdc_pickle *pickle, const unsigned char *module,
                            size_t module_length, const unsigned char *name, size_t name_length)
{
    const struct tdc_pt_name *known = tdc_pt_name_find(module, module_length, name, name_length);
    if (known != NULL)
        return push(pickle, (struct tdc_pickle_value){.kind = TDC_PICKLE_NAME, .name = known});
    char module_shown[NAME_LIMIT], name_shown[NAME_LIMIT];
    quote(module_shown, sizeof module_shown, module, module_length);
    quote(name_shown, sizeof name_shown, name, name_length);
    return tdc_fail(pickle->error, TDC_ERR_UNSUPPORTED, "%s: unknown pickle name %s.%s",
                    pickle->file, module_shown, name_shown);
}

static bool take_line(struct tdc_pickle *pickle, const unsigned char **line, size_t *length)
{
    size_t rest = (size_t)(pickle->end - pickle->at);
    const unsigned char *end = memchr(pickle->at, '\n', rest);
    if (end == NULL)
        return false;
    *line = pickle->at;
    *length = (size_t)(end - pickle->at);
    pickle->at = end + 1;
    return true;
}

static tdc_status op_global(struct tdc_pickle *pickle)
{
    const unsigned char *module, *name;
    size_t module_length, name_length;
    if (!take_line(pickle, &module, &module_length) || !take_line(pickle, &name, &name_length))
        return ends_early(pickle);
    return push_name(pickle, module, module_length, name, name_length);
}

static tdc_status op_stack_global(struct tdc_pickle *pickle)
{
    struct tdc_pickle_value *name = pop(pickle), *module = name == NULL ? NULL : pop(pickle);
    if (module == NULL)
        return underflow(pickle);
    if (name->kind != TDC_PICKLE_TEXT || module->kind != TDC_PICKLE_TEXT)
        return tdc_pickle_malformed(pickle, "a name that is not a text");
    return push_name(pickle, module->bytes, module->count, name->bytes, name->count);
}

/* REDUCE, and NEWOBJ, which makes an object of a class in the same way. */
static tdc_status op_call(struct tdc_pickle *pickle)
{
    struct tdc_pickle_value *arguments = pop(pickle);
    struct tdc_pickle_value *function = arguments == NULL ? NULL : pop(pickle);
    if (function == NULL)
        return underflow(pickle);
    struct tdc_pickle_value result;
    tdc_status status = tdc_pickle_call(pickle, function, arguments, &result);
    return status == TDC_OK ? push(pickle, result) : status;
}

static tdc_status op_persistent(struct tdc_pickle *pickle)
{
    struct tdc_pickle_value *id = pop(pickle), storage;
    if (id == NULL)
        return underflow(pickle);
    tdc_status status = tdc_pickle_persistent(pickle, id, &storage);
    return status == TDC_OK ? push(pickle, storage) : status;
}

/* Attributes of a dict do not matter. Those of a tensor could replace it. */
static tdc_status op_build(struct tdc_pickle *pickle)
{
    if (pop(pickle) == NULL || pickle->depth == 0)
        return underflow(pickle);
    if (pickle->stack[pickle->depth - 1].kind != TDC_PICKLE_DICT)
        return tdc_pickle_unsupported(pickle, "pickle sets the state of an object");
    return TDC_OK;
}

static tdc_status op_stop(struct tdc_pickle *pickle)
{
    pickle->stopped = true;
    return TDC_OK;
}

static opcode_handler *const handlers[256] = {
    ['('] = op_constant,  ['N'] = op_constant,   [0x88] = op_constant,     [0x89] = op_constant,
    ['J'] = op_integer,   ['K'] = op_integer,    ['M'] = op_integer,       [0x8a] = op_long,
    [0x8b] = op_long,     ['G'] = op_float,      ['X'] = op_text,          [0x8c] = op_text,
    [0x8d] = op_text,     ['U'] = op_text,       ['T'] = op_text,          ['C'] = op_text,
    ['B'] = op_text,      [0x80] = op_protocol,  [0x95] = op_frame,        [0x94] = op_put,
    ['q'] = op_put,       ['r'] = op_put,        ['h'] = op_get,           ['j'] = op_get,
    ['t'] = op_tuple,     [')'] = op_tuple,      [0x85] = op_tuple,        [0x86] = op_tuple,
    [0x87] = op_tuple,    ['}'] = op_container,  [']'] = op_container,     ['a'] = op_add_items,
    ['e'] = op_add_items, ['s'] = op_add_items,  ['u'] = op_add_items,     ['0'] = op_pop,
    ['1'] = op_pop,       ['c'] = op_global,     [0x93] = op_stack_global, ['R'] = op_call,
    [0x81] = op_call,     ['Q'] = op_persistent, ['b'] = op_build,         ['.'] = op_stop,
};

tdc_status tdc_pickle_run(struct tdc_pickle *pickle, const unsigned char *bytes, size_t size,
                          struct tdc_pickle_value *result, size_t *consumed)
{
    bool cut = size > TDC_PICKLE_BYTES;
    pickle->at = bytes;
    pickle->end = bytes + (cut ? TDC_PICKLE_BYTES : size);
    pickle->stopped = false;
    pickle->depth = 0;
    pickle->memo_used = 0;
    while (!pickle->stopped) {
        if (pickle->at == pickle->end)
            return cut ? tdc_pickle_too_many(pickle) : ends_early(pickle);
        pickle->opcode = *pickle->at++;
        opcode_handler *handler = handlers[pickle->opcode];
        if (handler == NULL)
            return tdc_fail(pickle->error, TDC_ERR_UNSUPPORTED, "%s: unknown pickle opcode 0x%02x",
                            pickle->file, pickle->opcode);
        tdc_status status = handler(pickle);
        if (status != TDC_OK)
            return status;
    }
    struct tdc_pickle_value *top = pop(pickle);
    if (top == NULL)
        return underflow(pickle);
    *result = *top;
    if (consumed != NULL)
        *consumed = (size_t)(pickle->at - bytes);
    return TDC_OK;
}
