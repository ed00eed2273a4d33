/* rebuild.c - JSON elements to values. */
#include "host/precheck/rebuild/rebuild.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/precheck/rebuild/dtype_names.h"
#include "kernels/dtype.h"

bool tdc_give_reason(struct tdc_reason *reason, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason->text, sizeof reason->text, format, arguments);
    va_end(arguments);
    return false;
}

static bool refuse(struct tdc_rebuild *rebuild, const char *text)
{
    return tdc_give_reason(rebuild->reason, "%s", text);
}

static bool out_of_memory(struct tdc_rebuild *rebuild)
{
    return refuse(rebuild, "the call needs more memory than a call may take");
}

/* ---- numbers, texts, slices ------------------------------------------------------------------ */

static bool whole_number(const struct tdc_json *json, int64_t *number)
{
    if (json->kind == TDC_JSON_TRUE || json->kind == TDC_JSON_FALSE) {
        *number = json->kind == TDC_JSON_TRUE;
        return true;
    }
    if (json->kind != TDC_JSON_INTEGER)
        return false;
    errno = 0;
    *number = strtoll(json->text, NULL, 10);
    return errno == 0;
}

static bool scalar(struct tdc_rebuild *rebuild, const struct tdc_json *json, const char *type,
                   struct tdc_reference_value *value)
{
    bool real = strcmp(type, "float") == 0;
    if (real && (json->kind == TDC_JSON_FLOAT || json->kind == TDC_JSON_INTEGER)) {
        *value = (struct tdc_reference_value){.kind = TDC_VALUE_FLOAT, .real = json->number};
        return true;
    }
    int64_t whole;
    if (real || !whole_number(json, &whole))
        return refuse(rebuild, TDC_JSON_PARSE_FAILED
                      "value field in api_info.json is not accepted type or out of range");
    *value = (struct tdc_reference_value){
        .kind = strcmp(type, "bool") == 0 ? TDC_VALUE_BOOL : TDC_VALUE_INT, .whole = whole};
    return true;
}

static bool take_items(struct tdc_rebuild *rebuild, size_t count, struct tdc_reference_value *value)
{
    if (count > TDC_REFERENCE_ARGUMENTS)
        return refuse(rebuild, "too many values in a list");
    value->list.count = count;
    value->list.values =
        tdc_arena_zeroed(rebuild->arena, count != 0 ? count : 1, sizeof *value->list.values);
    return value->list.values != NULL || out_of_memory(rebuild);
}

/* [start, stop, step], or the sizes of a torch.Size. */
static bool whole_list(struct tdc_rebuild *rebuild, const struct tdc_json *json,
                       enum tdc_reference_kind kind, struct tdc_reference_value *value)
{
    if (json->kind != TDC_JSON_LIST || (kind == TDC_VALUE_SLICE && json->children != 3))
        return refuse(rebuild, TDC_JSON_PARSE_FAILED
                      "value field in api_info.json is not accepted type: list");
    value->kind = kind;
    if (!take_items(rebuild, json->children, value))
        return false;
    struct tdc_reference_value *item = value->list.values;
    for (const struct tdc_json *child = json->child; child != NULL; child = child->next, item++) {
        if (child->kind == TDC_JSON_NULL && kind == TDC_VALUE_SLICE)
            continue;
        item->kind = TDC_VALUE_INT;
        if (!whole_number(child, &item->whole))
            return refuse(rebuild, "a size or slice that is not a whole number");
    }
    return true;
}

/* ---- tensors --------------------------------------------------------------------------------- */

/* Gives the sizes of a tensor without elements; false for any other, or none that is well-formed.
 */
static bool empty_shape(const struct tdc_json *element, int64_t sizes[TDC_REFERENCE_RANK],
                        unsigned *rank)
{
    const struct tdc_json *shape = tdc_json_get(element, "shape");
    bool empty = false;
    *rank = 0;
    for (const struct tdc_json *size = shape != NULL ? shape->child : NULL; size != NULL;
         size = size->next, ++*rank) {
        if (*rank == TDC_REFERENCE_RANK || !whole_number(size, &sizes[*rank]) || sizes[*rank] < 0)
            return false;
        empty |= sizes[*rank] == 0;
    }
    return empty;
}

/* What the record says that a tensor has; SIZE_MAX: it does not say. */
static size_t bytes_of(const struct tdc_json *element, tdc_dtype dtype)
{
    size_t bytes = tdc_dtype_size(dtype);
    const struct tdc_json *shape = tdc_json_get(element, "shape");
    if (shape == NULL || shape->kind != TDC_JSON_LIST)
        return SIZE_MAX;
    for (const struct tdc_json *size = shape->child; size != NULL; size = size->next) {
        int64_t length;
        if (!whole_number(size, &length) || length < 0 ||
            __builtin_mul_overflow(bytes, (size_t)length, &bytes))
            return SIZE_MAX;
    }
    return bytes;
}

static bool element_tensor(struct tdc_rebuild *rebuild, const struct tdc_json *element,
                           tdc_dtype dtype, struct tdc_reference_tensor **tensor)
{
    const struct tdc_json *file = tdc_json_get(element, "data_name");
    bool stored = file != NULL && file->kind == TDC_JSON_STRING;
    int64_t sizes[TDC_REFERENCE_RANK];
    unsigned rank;
    if (rebuild->calls->statistics)
        return rebuild->calls->recorder == TDC_RECORDER_PYTORCH
                   ? tdc_draw_torch_tensor(rebuild, element, dtype, tensor)
                   : tdc_draw_tensor(rebuild, element, dtype, tensor);
    /* PyTorch's recorder keeps no file of an empty tensor */
    if (stored || !empty_shape(element, sizes, &rank))
        return tdc_read_tensor(rebuild, stored ? file->text : NULL, bytes_of(element, dtype), dtype,
                               tensor);
    bool complex = tdc_dtype_is_complex(dtype);
    if (complex && rank == TDC_REFERENCE_RANK)
        return refuse(rebuild, "too many dimensions");
    if (complex) {
        sizes[rank++] = 2;
        dtype = tdc_dtype_part(dtype);
    }
    *tensor = tdc_reference_tensor_new(rebuild->arena, dtype, rank, sizes);
    if (*tensor == NULL)
        return out_of_memory(rebuild);
    (*tensor)->complex = complex;
    return true;
}

static bool tensor_value(struct tdc_rebuild *rebuild, const struct tdc_json *element,
                         struct tdc_reference_value *value)
{
    const struct tdc_json *name = tdc_json_get(element, "dtype");
    if (name == NULL || name->kind != TDC_JSON_STRING)
        return refuse(rebuild, TDC_JSON_PARSE_FAILED "dtype field in api_info.json is missing");
    tdc_dtype dtype = tdc_recorded_dtype(name->text);
    bool complex = tdc_dtype_is_complex(dtype);
    if (complex && rebuild->calls->statistics)
        return refuse(rebuild, "complex tensors are not drawn");
    if (dtype == TDC_DTYPE_NONE || (complex && rebuild->calls->recorder != TDC_RECORDER_PYTORCH))
        return refuse(rebuild, TDC_JSON_PARSE_FAILED
                      "dtype field in api_info.json is not accepted value: dict_keys(['Int8', "
                      "'UInt8', 'Int16', 'UInt16', 'Int32', 'UInt32', 'Int64', 'UInt64', "
                      "'Float16', 'Float32', 'Float64', 'Bool', 'BFloat16', 'Int4'])");
    struct tdc_reference_tensor *tensor;
    if (!element_tensor(rebuild, element, dtype, &tensor))
        return false;
    const struct tdc_json *wants = tdc_json_get(element, "requires_grad");
    tensor->wants_gradient = rebuild->leaves && tdc_dtype_is_floating(tensor->dtype) &&
                             wants != NULL && wants->kind == TDC_JSON_TRUE;
    value->kind = TDC_VALUE_TENSOR;
    value->tensor = tensor;
    return true;
}

/* ---- elements -------------------------------------------------------------------------------- */

static bool is_numpy_scalar(const char *type, const char **python)
{
    const struct tdc_dtype_entry *entry = tdc_dtype_entry(tdc_dtype_called(type, strlen(type)));
    bool known = entry->numpy != NULL && entry->mindspore != NULL;
    *python = known && entry->kind == TDC_KIND_WHOLE      ? "int"
              : known && entry->kind == TDC_KIND_FLOATING ? "float"
              : strcmp(type, "bool_") == 0                ? "bool"
                                                          : NULL;
    return *python != NULL;
}

static bool unknown_type(struct tdc_rebuild *rebuild)
{
    return refuse(rebuild, TDC_JSON_PARSE_FAILED
                  "type field in api_info.json is not accepted value: dict_keys(["
                  "'mindspore.Tensor', 'bool', 'int', 'float', 'slice', 'str', "
                  "'mindspore.dtype'])");
}

/* What PyTorch's recorder writes besides. */
static bool torch_value(struct tdc_rebuild *rebuild, const char *type, const struct tdc_json *json,
                        const struct tdc_json *element, struct tdc_reference_value *value)
{
    const char *python;
    if (strcmp(type, "torch.Size") == 0 && json != NULL)
        return whole_list(rebuild, json, TDC_VALUE_LIST, value);
    if (strcmp(type, "ellipsis") == 0) {
        value->kind = TDC_VALUE_ELLIPSIS;
        return true;
    }
    if (strcmp(type, "torch.memory_format") == 0)
        json = tdc_json_get(element, "format");
    if ((strcmp(type, "torch.device") == 0 || strcmp(type, "torch.memory_format") == 0) &&
        json != NULL && json->kind == TDC_JSON_STRING) {
        value->kind = TDC_VALUE_TEXT;
        value->text = json->text;
        return true;
    }
    if (is_numpy_scalar(type, &python) && json != NULL)
        return scalar(rebuild, json, python, value);
    return unknown_type(rebuild);
}

static bool typed_value(struct tdc_rebuild *rebuild, const struct tdc_json *element,
                        const char *type, struct tdc_reference_value *value)
{
    bool mindspore = rebuild->calls->recorder == TDC_RECORDER_MINDSPORE;
    if (strcmp(type, "mindspore.Tensor") == 0 || (!mindspore && strcmp(type, "torch.Tensor") == 0))
        return tensor_value(rebuild, element, value);
    const struct tdc_json *json = tdc_json_get(element, "value");
    bool number =
        strcmp(type, "int") == 0 || strcmp(type, "float") == 0 || strcmp(type, "bool") == 0;
    bool text = strcmp(type, "str") == 0, slice = strcmp(type, "slice") == 0;
    bool dtype = strcmp(type, "mindspore.dtype") == 0 || strcmp(type, "torch.dtype") == 0;
    if (!number && !text && !slice && !(dtype && (mindspore == (type[0] == 'm') || !mindspore)))
        return mindspore ? unknown_type(rebuild) : torch_value(rebuild, type, json, element, value);
    if (json == NULL || json->kind == TDC_JSON_NULL)
        return refuse(rebuild, TDC_JSON_PARSE_FAILED "value field in api_info.json is missing");
    if (number)
        return scalar(rebuild, json, type, value);
    if (slice)
        return whole_list(rebuild, json, TDC_VALUE_SLICE, value);
    if (json->kind != TDC_JSON_STRING)
        return refuse(rebuild, TDC_JSON_PARSE_FAILED
                      "value field in api_info.json is not accepted type: <class 'str'>");
    value->kind = text ? TDC_VALUE_TEXT : TDC_VALUE_DTYPE;
    if (text) {
        value->text = json->text;
        return true;
    }
    value->dtype = tdc_recorded_dtype(json->text);
    return value->dtype != TDC_DTYPE_NONE || refuse(rebuild, "a dtype without reference");
}

static bool value_at(struct tdc_rebuild *rebuild, const struct tdc_json *element, int depth,
                     struct tdc_reference_value *value)
{
    memset(value, 0, sizeof *value);
    if (element->kind == TDC_JSON_NULL)
        return true;
    if (element->kind == TDC_JSON_LIST) {
        if (depth == TDC_REFERENCE_DEPTH)
            return refuse(rebuild, "lists nested too deep");
        value->kind = TDC_VALUE_LIST;
        if (!take_items(rebuild, element->children, value))
            return false;
        struct tdc_reference_value *item = value->list.values;
        for (const struct tdc_json *child = element->child; child != NULL; child = child->next)
            if (!value_at(rebuild, child, depth + 1, item++))
                return false;
        return true;
    }
    if (element->kind != TDC_JSON_OBJECT)
        return refuse(rebuild, TDC_JSON_PARSE_FAILED "input is not a dict");
    const struct tdc_json *type = tdc_json_get(element, "type");
    if (type == NULL && element->children == 0 &&
        rebuild->calls->recorder == TDC_RECORDER_PYTORCH) {
        value->kind = TDC_VALUE_UNKNOWN;
        return true;
    }
    if (type == NULL || type->kind != TDC_JSON_STRING)
        return refuse(rebuild, TDC_JSON_PARSE_FAILED "type field in api_info.json is missing");
    return typed_value(rebuild, element, type->text, value);
}

bool tdc_rebuild_value(struct tdc_rebuild *rebuild, const struct tdc_json *element,
                       struct tdc_reference_value *value)
{
    return value_at(rebuild, element, 0, value);
}

bool tdc_rebuild_list(struct tdc_rebuild *rebuild, const struct tdc_json *list, const char *what,
                      struct tdc_reference_value **values, size_t *count)
{
    *values = NULL;
    *count = 0;
    if (list == NULL || list->kind == TDC_JSON_NULL)
        return tdc_give_reason(rebuild->reason, TDC_JSON_PARSE_FAILED "%s is missing", what);
    if (list->kind != TDC_JSON_LIST)
        return tdc_give_reason(
            rebuild->reason, TDC_JSON_PARSE_FAILED "%s is not accepted type: <class 'list'>", what);
    struct tdc_reference_value all = {0};
    if (!take_items(rebuild, list->children, &all))
        return false;
    *values = all.list.values;
    for (const struct tdc_json *child = list->child; child != NULL; child = child->next)
        if (!tdc_rebuild_value(rebuild, child, &(*values)[(*count)++]))
            return false;
    return true;
}

bool tdc_rebuild_keywords(struct tdc_rebuild *rebuild, const struct tdc_json *object,
                          struct tdc_reference_keyword **keywords, size_t *count)
{
    *keywords = NULL;
    *count = 0;
    if (object == NULL || object->kind != TDC_JSON_OBJECT)
        return refuse(rebuild, TDC_JSON_PARSE_FAILED
                      "input_kwargs field in api_info.json is missing or not a dict");
    if (object->children > TDC_REFERENCE_ARGUMENTS)
        return refuse(rebuild, "too many keywords");
    *keywords = tdc_arena_zeroed(rebuild->arena, object->children + 1, sizeof **keywords);
    if (*keywords == NULL)
        return out_of_memory(rebuild);
    for (const struct tdc_json *child = object->child; child != NULL; child = child->next) {
        struct tdc_reference_keyword *keyword = &(*keywords)[(*count)++];
        keyword->name = child->key;
        if (!tdc_rebuild_value(rebuild, child, &keyword->value))
            return false;
    }
    return true;
}
