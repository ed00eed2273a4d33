/* Binding a call's values to the parameters of a signature: "input, other, *, alpha=1". */

#include "reference/arguments.h"

#include <stdlib.h>
#include <string.h>

#include "reference/bounds.h"
#include "reference/operators.h"

/* Other spellings of a parameter's name, old versions' and torch's. */
static const char *const spellings[][2] = {{"train", "training"},
                                           {"split_size_or_sections", "split_size"},
                                           {"split_sizes", "split_size"},
                                           {"indices", "index"},
                                           {"indices_or_sections", "sections"},
                                           {"src", "source"},
                                           {"value", "source"},
                                           {"repeats", "dims"},
                                           {"values", "source"},
                                           {"batch1", "first"},
                                           {"batch2", "second"},
                                           {"mat1", "first"},
                                           {"mat2", "second"},
                                           {"vec1", "first"},
                                           {"vec2", "second"},
                                           {"mat", "first"},
                                           {"vec", "second"},
                                           {"ord", "p"},
                                           {"axis", "dim"},
                                           {"keepdims", "keepdim"},
                                           {"self", "input"},
                                           {"x", "input"},
                                           {"dims", "dim"},
                                           {"dim", "dims"},
                                           {"tensor", "input"},
                                           {"size", "shape"},
                                           {"a", "input"},
                                           {"tensors", "input"},
                                           {"mat1", "input"},
                                           {"mat2", "other"},
                                           {"vec", "other"},
                                           {"vec2", "other"},
                                           {"exponent", "other"},
                                           {"axis0", "dim0"},
                                           {"axis1", "dim1"},
                                           {"dtype", "to"},
                                           {"pre_tockens", "pre_tokens"},
                                           {"next_tockens", "next_tokens"},
                                           {"tensor2", "other"},
                                           {"eps", "epsilon"},
                                           {"unbiased", "correction"},
                                           {"A", "input"},
                                           {"B", "other"},
                                           {"b", "input"},
                                           {"rcond", "rtol"},
                                           {"input2", "tau"},
                                           {"input3", "other"},
                                           {"some", "mode"}};

static bool same_name(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

static tdc_call_value literal(const char *text, size_t length)
{
    tdc_call_value v = {.kind = TDC_VALUE_NULL};
    if (length == 0 || same_name("None", text, length))
        return v;
    if (same_name("True", text, length) || same_name("False", text, length)) {
        v.kind = TDC_VALUE_BOOL;
        v.whole = text[0] == 'T';
    } else if (memchr(text, '.', length) != NULL || memchr(text, 'e', length) != NULL ||
               same_name("inf", text, length)) {
        v.kind = TDC_VALUE_FLOAT;
        v.real = strtod(text, NULL);
    } else {
        v.kind = TDC_VALUE_INT;
        v.whole = strtoll(text, NULL, 10);
    }
    return v;
}

/* A quoted default keeps its quotes' content in the arena. */
static tdc_call_value text_literal(tdc_evaluation *e, const char *text, size_t length)
{
    char *copy = tdc_take(e, (int64_t)length + 1, 1);
    memcpy(copy, text, length);
    copy[length] = 0;
    return (tdc_call_value){.kind = TDC_VALUE_TEXT, .text = copy};
}

static tdc_call_value required(void)
{
    return (tdc_call_value){.kind = TDC_VALUE_UNKNOWN, .whole = -1};
}

/* Reads the signature; gives the number of positional parameters and the place of a *rest. */
static size_t read_signature(tdc_evaluation *e, const char *at, size_t *rest)
{
    size_t positional = TDC_MAX_PARAMETERS;
    *rest = TDC_MAX_PARAMETERS;
    while (*at != 0) {
        size_t length = strcspn(at, ",");
        size_t n = e->parameter_count;
        if (length == 1 && *at == '*') {
            positional = n;
        } else if (n < TDC_MAX_PARAMETERS) {
            const char *name = at;
            size_t name_length = length;
            if (*name == '*') {
                *rest = n;
                name++;
                name_length--;
            }
            const char *equals = memchr(name, '=', name_length);
            tdc_call_value v = required();
            if (equals != NULL) {
                size_t size = (size_t)(at + length - equals) - 1;
                v = equals[1] == '\'' ? text_literal(e, equals + 2, size - 2)
                                      : literal(equals + 1, size);
                name_length = (size_t)(equals - name);
            }
            e->parameters[n].name = name;
            e->parameters[n].length = name_length;
            e->parameters[n].bound = v;
            e->parameter_count++;
        }
        at += length;
        at += strspn(at, ", ");
    }
    return positional < e->parameter_count ? positional : e->parameter_count;
}

static tdc_call_value *find_parameter(tdc_evaluation *e, const char *name)
{
    for (size_t i = 0; i < e->parameter_count; i++)
        if (same_name(name, e->parameters[i].name, e->parameters[i].length))
            return &e->parameters[i].bound;
    return NULL;
}

static tdc_call_value *find_spelling(tdc_evaluation *e, const char *name)
{
    tdc_call_value *found = find_parameter(e, name);
    for (size_t s = 0; found == NULL && s < sizeof spellings / sizeof *spellings; s++)
        if (strcmp(spellings[s][0], name) == 0)
            found = find_parameter(e, spellings[s][1]);
    return found;
}

/* Keywords that say where and how, not what. */
static bool is_placement(const char *name)
{
    static const char *const names[] = {
        "device", "requires_grad", "pin_memory", "layout", "memory_format", "non_blocking",
        "copy",   "generator",     "inplace",    "out",    "_stacklevel",   "sparse"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

void tdc_bind(tdc_evaluation *e, const tdc_call_value *arguments, size_t argument_count,
              const struct tdc_reference_keyword *keywords, size_t keyword_count)
{
    size_t rest;
    size_t positional = read_signature(e, e->definition->signature, &rest);
    bool set[TDC_MAX_PARAMETERS] = {false};
    for (size_t i = 0; i < argument_count; i++) {
        if (i == rest && (argument_count > rest + 1 || arguments[i].kind != TDC_VALUE_LIST)) {
            tdc_call_value others = {.kind = TDC_VALUE_LIST};
            others.list.count = argument_count - i;
            others.list.values = tdc_take(e, (int64_t)others.list.count, sizeof(tdc_call_value));
            memcpy(others.list.values, arguments + i, others.list.count * sizeof(tdc_call_value));
            e->parameters[i].bound = others;
            set[i] = true;
            break;
        }
        if (i >= positional)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "takes %zu positional arguments but %zu were given",
                       positional, argument_count);
        e->parameters[i].bound = arguments[i];
        set[i] = true;
    }
    for (size_t k = 0; k < keyword_count; k++) {
        tdc_call_value *place = find_spelling(e, keywords[k].name);
        if (place == NULL && is_placement(keywords[k].name))
            continue;
        if (place == NULL)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "got an unexpected keyword argument '%.60s'",
                       keywords[k].name);
        for (size_t i = 0; i < argument_count && i < e->parameter_count; i++)
            if (place == &e->parameters[i].bound && set[i])
                tdc_refuse(e, TDC_ERR_ARGUMENT, "got multiple values for argument '%.60s'",
                           keywords[k].name);
        *place = keywords[k].value;
    }
    for (size_t i = 0; i < e->parameter_count; i++) {
        tdc_call_value *v = &e->parameters[i].bound;
        if (v->kind == TDC_VALUE_UNKNOWN && v->whole == -1 && !set[i])
            tdc_refuse(e, TDC_ERR_ARGUMENT, "missing argument '%.*s'", (int)e->parameters[i].length,
                       e->parameters[i].name);
    }
}

const tdc_call_value *tdc_argument(tdc_evaluation *e, const char *name)
{
    const tdc_call_value *v = find_parameter(e, name);
    if (v == NULL)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "no parameter '%s'", name);
    return v;
}

bool tdc_given(tdc_evaluation *e, const char *name)
{
    return tdc_argument(e, name)->kind != TDC_VALUE_NULL;
}

_Noreturn static void wrong(tdc_evaluation *e, const char *name, const char *wanted)
{
    tdc_refuse(e, TDC_ERR_ARGUMENT, "argument '%s' must be %s", name, wanted);
}

tdc_array *tdc_array_of(tdc_evaluation *e, const tdc_call_value *v, const char *name)
{
    switch (v->kind) {
    case TDC_VALUE_TENSOR:
        return v->tensor;
    case TDC_VALUE_FLOAT: {
        tdc_array *a = tdc_number(e, v->real);
        if (tdc_is_bounded(e))
            tdc_bound_given(e, a);
        return a;
    }
    case TDC_VALUE_BOOL:
    case TDC_VALUE_INT: {
        tdc_array *a = tdc_new(e, v->kind == TDC_VALUE_BOOL ? TDC_BOOL : TDC_I64, 0, NULL);
        a->whole[0] = v->whole;
        a->number = true;
        return a;
    }
    default:
        wrong(e, name, "a tensor or a number");
    }
}

tdc_array *tdc_array_argument(tdc_evaluation *e, const char *name)
{
    return tdc_array_of(e, tdc_argument(e, name), name);
}

tdc_array *tdc_real_array_argument(tdc_evaluation *e, const char *name)
{
    return tdc_to_real(e, tdc_array_argument(e, name));
}

tdc_array *tdc_optional_real_array(tdc_evaluation *e, const char *name)
{
    return tdc_given(e, name) ? tdc_real_array_argument(e, name) : NULL;
}

double tdc_real_argument(tdc_evaluation *e, const char *name)
{
    const tdc_call_value *v = tdc_argument(e, name);
    if (v->kind == TDC_VALUE_FLOAT)
        return v->real;
    if (v->kind == TDC_VALUE_INT || v->kind == TDC_VALUE_BOOL)
        return (double)v->whole;
    if (v->kind == TDC_VALUE_TENSOR && v->tensor->count == 1)
        return tdc_dtype_is_floating(v->tensor->dtype) ? v->tensor->real[0]
                                                       : (double)v->tensor->whole[0];
    wrong(e, name, "a number");
}

static int64_t int_of(tdc_evaluation *e, const tdc_call_value *v, const char *name)
{
    if (v->kind == TDC_VALUE_INT || v->kind == TDC_VALUE_BOOL)
        return v->whole;
    if (v->kind == TDC_VALUE_TENSOR && v->tensor->count == 1 &&
        !tdc_dtype_is_floating(v->tensor->dtype))
        return v->tensor->whole[0];
    wrong(e, name, "an int");
}

int64_t tdc_int_argument(tdc_evaluation *e, const char *name)
{
    return int_of(e, tdc_argument(e, name), name);
}

bool tdc_bool_argument(tdc_evaluation *e, const char *name)
{
    const tdc_call_value *v = tdc_argument(e, name);
    if (v->kind == TDC_VALUE_NULL)
        return false;
    return int_of(e, v, name) != 0;
}

const char *tdc_text_argument(tdc_evaluation *e, const char *name)
{
    const tdc_call_value *v = tdc_argument(e, name);
    if (v->kind != TDC_VALUE_TEXT)
        wrong(e, name, "a str");
    return v->text;
}

tdc_dtype tdc_dtype_argument(tdc_evaluation *e, const char *name, tdc_dtype otherwise)
{
    const tdc_call_value *v = tdc_argument(e, name);
    if (v->kind == TDC_VALUE_NULL)
        return otherwise;
    if (v->kind == TDC_VALUE_UNKNOWN)
        return e->recorded_output == TDC_DTYPE_NONE ? otherwise : e->recorded_output;
    if (v->kind != TDC_VALUE_DTYPE)
        wrong(e, name, "a dtype");
    if (!tdc_dtype_is_known(v->dtype))
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "dtype %s", tdc_dtype_name(v->dtype));
    bool keeps = (e->definition->flags & TDC_IS_CONVERSION) != 0;
    return tdc_dtype_is_floating(v->dtype) && !keeps ? TDC_F64 : v->dtype;
}

size_t tdc_ints_argument(tdc_evaluation *e, const char *name, int64_t *ints, size_t limit)
{
    const tdc_call_value *v = tdc_argument(e, name);
    if (v->kind == TDC_VALUE_TENSOR && v->tensor->rank == 1 &&
        !tdc_dtype_is_floating(v->tensor->dtype)) {
        if ((size_t)v->tensor->count > limit)
            wrong(e, name, "a shorter list");
        memcpy(ints, v->tensor->whole, (size_t)v->tensor->count * sizeof *ints);
        return (size_t)v->tensor->count;
    }
    if (v->kind != TDC_VALUE_LIST) {
        ints[0] = int_of(e, v, name);
        return 1;
    }
    if (v->list.count > limit)
        wrong(e, name, "a shorter list");
    for (size_t i = 0; i < v->list.count; i++)
        ints[i] = int_of(e, &v->list.values[i], name);
    return v->list.count;
}

size_t tdc_arrays_argument(tdc_evaluation *e, const char *name, tdc_array ***arrays)
{
    const tdc_call_value *v = tdc_argument(e, name);
    if (v->kind != TDC_VALUE_LIST || v->list.count == 0)
        wrong(e, name, "a list of tensors");
    /* f([a, b]) of a *rest parameter arrives as a list in a list */
    if (v->list.count == 1 && v->list.values[0].kind == TDC_VALUE_LIST)
        v = &v->list.values[0];
    *arrays = tdc_take(e, (int64_t)v->list.count, sizeof **arrays);
    for (size_t i = 0; i < v->list.count; i++) {
        if (v->list.values[i].kind != TDC_VALUE_TENSOR)
            wrong(e, name, "a list of tensors");
        (*arrays)[i] = v->list.values[i].tensor;
    }
    return v->list.count;
}

unsigned tdc_dimension(tdc_evaluation *e, int64_t dim, unsigned rank)
{
    int64_t size = rank == 0 ? 1 : (int64_t)rank;
    if (dim < -size || dim >= size)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "dimension %lld is out of range", (long long)dim);
    return (unsigned)(dim < 0 ? dim + size : dim);
}

unsigned tdc_dim_argument(tdc_evaluation *e, const char *name, unsigned rank)
{
    return tdc_dimension(e, tdc_int_argument(e, name), rank);
}

void tdc_dims_argument(tdc_evaluation *e, const char *name, unsigned rank,
                       bool reduced[TDC_REFERENCE_RANK])
{
    int64_t dims[TDC_REFERENCE_RANK];
    size_t count = tdc_given(e, name) ? tdc_ints_argument(e, name, dims, TDC_REFERENCE_RANK) : 0;
    for (unsigned d = 0; d < TDC_REFERENCE_RANK; d++)
        reduced[d] = count == 0 && d < rank;
    for (size_t i = 0; i < count; i++) {
        unsigned d = tdc_dimension(e, dims[i], rank);
        if (reduced[d])
            tdc_refuse(e, TDC_ERR_ARGUMENT, "dimension %u appears twice", d);
        if (d < rank)
            reduced[d] = true;
    }
}
