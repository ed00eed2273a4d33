/* x[...]: ints, slices, an ellipsis, None and index tensors, read and written. */
#include <string.h>

#include "reference/primitives/primitives.h"

#define RANK TDC_REFERENCE_RANK

/* One subscript of the list, or the subscript itself. */
struct subscripts {
    const value *items;
    size_t count;
};

static struct subscripts read_subscripts(evaluation *e, const char *name)
{
    const value *v = tdc_argument(e, name);
    if (v->kind != TDC_VALUE_LIST)
        return (struct subscripts){v, 1};
    return (struct subscripts){v->items.values, v->items.count};
}

/* How many dimensions of x a subscript stands for. */
static unsigned takes(const value *v)
{
    if (v->kind == TDC_VALUE_NULL || v->kind == TDC_VALUE_ELLIPSIS)
        return 0;
    if (v->kind == TDC_VALUE_TENSOR && v->tensor->dtype == TDC_BOOL)
        return v->tensor->rank;
    return 1;
}

static int64_t bound_of(evaluation *e, const value *v, int64_t n, int64_t otherwise)
{
    if (v->kind == TDC_VALUE_NULL)
        return otherwise;
    if (v->kind != TDC_VALUE_INT)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "slice bounds must be ints");
    int64_t i = v->whole < 0 ? v->whole + n : v->whole;
    return i < 0 ? 0 : i > n ? n : i;
}

static array *sliced(evaluation *e, array *places, unsigned dim, const value *v)
{
    int64_t n = places->shape[dim];
    if (v->items.count != 3)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a slice has three parts");
    const value *part = v->items.values;
    int64_t from = bound_of(e, &part[0], n, 0), to = bound_of(e, &part[1], n, n), step = 1;
    if (part[2].kind == TDC_VALUE_INT)
        step = part[2].whole;
    if (step < 1)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "slice step must be positive");
    return tdc_slice(e, places, dim, from, to > from ? (to - from - 1) / step + 1 : 0, step);
}

/* A bool mask over `rank` dimensions from dim on, as flat indices into those dimensions merged. */
static array *mask_places(evaluation *e, array **places, unsigned dim, const array *mask)
{
    int64_t shape[RANK], found = 0;
    unsigned rank = 0;
    if (mask->rank == 0) { /* a single truth is a new dimension of one element or none */
        *places = tdc_unsqueeze(e, *places, dim);
        found = mask->whole[0] != 0;
        return tdc_zeros(e, TDC_I64, 1, &found);
    }
    for (unsigned d = 0; d < (*places)->rank; d++) {
        bool inside = d >= dim && d < dim + mask->rank;
        if (inside && mask->shape[d - dim] != (*places)->shape[d])
            tdc_refuse(e, TDC_ERR_ARGUMENT, "the mask does not fit");
        if (d == dim || !inside)
            shape[rank++] = inside ? mask->count : (*places)->shape[d];
    }
    *places = tdc_reshape(e, *places, rank, shape);
    for (int64_t i = 0; i < mask->count; i++)
        found += mask->whole[i] != 0;
    array *index = tdc_new(e, TDC_I64, 1, &found);
    for (int64_t i = 0, k = 0; i < mask->count; i++)
        if (mask->whole[i] != 0)
            index->whole[k++] = i;
    return index;
}

/* places[.., index, ..]: the dimension is replaced by those of index. */
static array *picked(evaluation *e, array *places, unsigned dim, const array *index)
{
    int64_t shape[2 * RANK] = {0}, n = places->shape[dim], inner = 1;
    unsigned rank = 0;
    if (dim >= places->rank)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "too many indices");
    for (unsigned d = 0; d < places->rank; d++) {
        inner *= d > dim ? places->shape[d] : 1;
        if (d != dim)
            shape[rank++] = places->shape[d];
        for (unsigned i = 0; d == dim && i < index->rank; i++)
            shape[rank++] = index->shape[i];
    }
    array *y = tdc_new(e, TDC_I64, rank, shape);
    for (int64_t i = 0; i < y->count; i++) {
        int64_t at = index->whole[i / inner % index->count];
        at += at < 0 ? n : 0;
        if (at < 0 || at >= n)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "index out of range");
        y->whole[i] = places->whole[(i / (inner * index->count) * n + at) * inner + i % inner];
    }
    return y;
}

/* One subscript at dimension *dim of places, which moves on. */
static array *subscribed(evaluation *e, array *places, unsigned *dim, const value *v)
{
    if (v->kind == TDC_VALUE_NULL)
        return tdc_unsqueeze(e, places, (*dim)++);
    if (v->kind == TDC_VALUE_SLICE)
        return sliced(e, places, (*dim)++, v);
    if (v->kind == TDC_VALUE_INT) {
        array *index = tdc_new(e, TDC_I64, 0, NULL);
        index->whole[0] = v->whole;
        return picked(e, places, *dim, index);
    }
    if (v->kind != TDC_VALUE_TENSOR || tdc_dtype_is_floating(v->tensor->dtype))
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "a subscript of this kind");
    array *index = v->tensor;
    if (index->dtype == TDC_BOOL)
        index = mask_places(e, &places, *dim, index);
    places = picked(e, places, *dim, index);
    *dim += index->rank;
    return places;
}

/* For each element of x[subscripts] its place in x. */
static array *subscript_places(evaluation *e, const array *x, struct subscripts s)
{
    array *places = tdc_new_like(e, TDC_I64, x);
    for (int64_t i = 0; i < x->count; i++)
        places->whole[i] = i;
    unsigned named = 0, dim = 0, tensors = 0;
    for (size_t i = 0; i < s.count; i++) {
        named += takes(&s.items[i]);
        tensors += s.items[i].kind == TDC_VALUE_TENSOR;
    }
    if (named > x->rank)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "too many indices");
    if (tensors > 1)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "several index tensors");
    for (size_t i = 0; i < s.count; i++) {
        if (s.items[i].kind == TDC_VALUE_ELLIPSIS)
            dim += x->rank - named;
        else
            places = subscribed(e, places, &dim, &s.items[i]);
    }
    return places;
}

static void getitem(evaluation *e)
{
    array *x = tdc_array_argument(e, "input");
    array *places = subscript_places(e, x, read_subscripts(e, "index"));
    tdc_give(e, tdc_mapped(e, x, places->whole, places->rank, places->shape, 0));
}

static void setitem(evaluation *e)
{
    array *x = tdc_array_argument(e, "input");
    array *places = subscript_places(e, x, read_subscripts(e, "index"));
    array *source = tdc_convert(e, tdc_array_argument(e, "source"), x->dtype);
    /* leading dimensions of one element may be left over */
    while (source->rank > places->rank && source->shape[0] == 1)
        source = tdc_squeeze(e, source, 0);
    source = tdc_expand(e, source, places->rank, places->shape);
    if (tdc_bool_argument(e, "accumulate")) {
        array *put = tdc_scatter_add(e, source, places->whole, x->rank, x->shape);
        tdc_give(e, tdc_combine_any(e, TDC_ADD, x, put));
        return;
    }
    int64_t *writer = tdc_take(e, x->count, sizeof *writer);
    array *written = tdc_new_like(e, TDC_BOOL, x);
    for (int64_t i = 0; i < x->count; i++)
        writer[i] = -1;
    for (int64_t i = 0; i < places->count; i++)
        writer[places->whole[i]] = i;
    for (int64_t i = 0; i < x->count; i++)
        written->whole[i] = writer[i] >= 0;
    tdc_give(e, tdc_select(e, written, tdc_mapped(e, source, writer, x->rank, x->shape, 0), x));
}

static const struct tdc_operator rows[] = {
    {"__getitem__", TDC_IN_TENSOR, "input, index", getitem, 0, 0},
    {"__setitem__ index_put", TDC_IN_TENSOR | TDC_IN_TORCH,
     "input, index, source, accumulate=False", setitem, 0, 0},
};
const struct tdc_operator_family tdc_subscript_family = TDC_FAMILY("subscripts", rows);
