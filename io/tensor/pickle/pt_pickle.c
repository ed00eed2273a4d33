#include "io/tensor/pickle/pt_pickle.h"

#include <string.h>

#include "io/base/error.h"
#include "io/tensor/pickle/pt_rebuild.h"

#define NAME_LIMIT ((size_t)128)
#define TEXT_LIMIT ((uint64_t)1 << 16)

typedef tdc_status opcode_handler(struct tdc_pickle *pickle);

static tdc_status underflow(struct tdc_pickle *pickle)
{
    return tdc_pickle_malformed(pickle, "its stack is too short");
}

/* ---- the stack ------------------------------------------------------------------------------- */

static tdc_status ends_early(struct tdc_pickle *pickle)
{
    return tdc_pickle_malformed(pickle, "it ends early");
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

/* Removes the values an opcode asks for, or those above the mark. */
static bool pop_values(struct tdc_pickle *pickle, struct tdc_pickle_value **values, size_t *count)
{
    if (pickle->opcode.number == TDC_PICKLE_TO_MARK)
        return pop_to_mark(pickle, values, count);
    *count = (size_t)pickle->opcode.number;
    for (size_t i = 0; i < *count; i++)
        if ((*values = pop(pickle)) == NULL)
            return false;
    return true;
}

/* ---- constants ------------------------------------------------------------------------------- */

static tdc_status op_nothing(struct tdc_pickle *pickle)
{
    (void)pickle;
    return TDC_OK;
}

static tdc_status op_mark(struct tdc_pickle *pickle)
{
    return push_kind(pickle, TDC_PICKLE_MARK);
}

static tdc_status op_none(struct tdc_pickle *pickle)
{
    return push_kind(pickle, TDC_PICKLE_NONE);
}

static tdc_status op_number(struct tdc_pickle *pickle)
{
    bool truth = pickle->opcode.action == TDC_DOES_BOOL;
    return push(pickle,
                (struct tdc_pickle_value){.kind = truth ? TDC_PICKLE_BOOL : TDC_PICKLE_INTEGER,
                                          .integer = pickle->opcode.number});
}

static tdc_status op_long(struct tdc_pickle *pickle)
{
    if (pickle->opcode.length > TDC_PICKLE_LONGEST)
        return tdc_pickle_unsupported(pickle, "number of too many digits in the pickle");
    return push(pickle, (struct tdc_pickle_value){.kind = TDC_PICKLE_LONG,
                                                  .count = (uint32_t)pickle->opcode.length,
                                                  .bytes = pickle->opcode.bytes});
}

static tdc_status op_float(struct tdc_pickle *pickle)
{
    return push(pickle, (struct tdc_pickle_value){
                            .kind = TDC_PICKLE_FLOAT, .count = 8, .bytes = pickle->opcode.bytes});
}

static tdc_status op_text(struct tdc_pickle *pickle)
{
    if (pickle->opcode.length > TEXT_LIMIT)
        return push_kind(pickle, TDC_PICKLE_OPAQUE);
    return push(pickle, (struct tdc_pickle_value){.kind = TDC_PICKLE_TEXT,
                                                  .count = (uint32_t)pickle->opcode.length,
                                                  .bytes = pickle->opcode.bytes});
}

static tdc_status op_bytes(struct tdc_pickle *pickle)
{
    return push_kind(pickle, TDC_PICKLE_OPAQUE);
}

/* ---- the memo
 * ------------------------------------------------------------------------------------ */

static tdc_status op_put(struct tdc_pickle *pickle)
{
    uint64_t index = pickle->opcode.number == TDC_PICKLE_NEXT ? pickle->memo_used
                                                              : (uint64_t)pickle->opcode.number;
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
    uint64_t index = (uint64_t)pickle->opcode.number;
    if (index >= pickle->memo_used || pickle->memo[index].kind == TDC_PICKLE_UNSET)
        return tdc_pickle_malformed(pickle, "it refers to nothing");
    return push(pickle, pickle->memo[index]);
}

/* ---- tuples and containers ------------------------------------------------------------------- */

static tdc_status op_tuple(struct tdc_pickle *pickle)
{
    struct tdc_pickle_value *values = NULL;
    size_t count = 0, first;
    if (!pop_values(pickle, &values, &count))
        return underflow(pickle);
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
        pickle, pickle->opcode.action == TDC_DOES_DICT ? TDC_PICKLE_DICT : TDC_PICKLE_LIST, &value);
    return status == TDC_OK ? push(pickle, value) : status;
}

/* APPEND, APPENDS, SETITEM, SETITEMS */
static tdc_status op_add_items(struct tdc_pickle *pickle)
{
    bool dict = pickle->opcode.action == TDC_DOES_SET;
    struct tdc_pickle_value *values = NULL;
    size_t count = 0;
    if (!pop_values(pickle, &values, &count) || pickle->depth == 0)
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
    if (pickle->opcode.number == TDC_PICKLE_TO_MARK)
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

static tdc_status op_global(struct tdc_pickle *pickle)
{
    const struct tdc_pickle_opcode *opcode = &pickle->opcode;
    return push_name(pickle, opcode->bytes, opcode->length, opcode->name, opcode->name_length);
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

static opcode_handler *const handlers[TDC_PICKLE_ACTIONS] = {
    [TDC_DOES_NOTHING] = op_nothing,
    [TDC_DOES_MARK] = op_mark,
    [TDC_DOES_NONE] = op_none,
    [TDC_DOES_BOOL] = op_number,
    [TDC_DOES_INTEGER] = op_number,
    [TDC_DOES_LONG] = op_long,
    [TDC_DOES_FLOAT] = op_float,
    [TDC_DOES_TEXT] = op_text,
    [TDC_DOES_BYTES] = op_bytes,
    [TDC_DOES_PUT] = op_put,
    [TDC_DOES_GET] = op_get,
    [TDC_DOES_TUPLE] = op_tuple,
    [TDC_DOES_LIST] = op_container,
    [TDC_DOES_DICT] = op_container,
    [TDC_DOES_APPEND] = op_add_items,
    [TDC_DOES_SET] = op_add_items,
    [TDC_DOES_POP] = op_pop,
    [TDC_DOES_NAME] = op_global,
    [TDC_DOES_STACKED_NAME] = op_stack_global,
    [TDC_DOES_CALL] = op_call,
    [TDC_DOES_PERSISTENT] = op_persistent,
    [TDC_DOES_BUILD] = op_build,
    [TDC_DOES_STOP] = op_stop,
};

tdc_status tdc_pickle_run(struct tdc_pickle *pickle, const unsigned char *bytes, size_t size,
                          struct tdc_pickle_value *result, size_t *consumed)
{
    bool cut = size > TDC_PICKLE_BYTES;
    struct tdc_pickle_input input = {.at = bytes, .end = bytes + (cut ? TDC_PICKLE_BYTES : size)};
    pickle->stopped = false;
    pickle->depth = 0;
    pickle->memo_used = 0;
    while (!pickle->stopped) {
        enum tdc_pickle_found found = tdc_pickle_next(&input, &pickle->opcode);
        if (found == TDC_PICKLE_ENDS)
            return cut ? tdc_pickle_too_many(pickle) : ends_early(pickle);
        if (found == TDC_PICKLE_TOO_NEW)
            return tdc_pickle_unsupported(pickle, "pickle of an unknown protocol");
        opcode_handler *handler = handlers[pickle->opcode.action];
        if (found == TDC_PICKLE_UNKNOWN || handler == NULL)
            return tdc_fail(pickle->error, TDC_ERR_UNSUPPORTED, "%s: unknown pickle opcode 0x%02x",
                            pickle->file, pickle->opcode.byte);
        tdc_status status = handler(pickle);
        if (status != TDC_OK)
            return status;
    }
    struct tdc_pickle_value *top = pop(pickle);
    if (top == NULL)
        return underflow(pickle);
    *result = *top;
    if (consumed != NULL)
        *consumed = (size_t)(input.at - bytes);
    return TDC_OK;
}
