/* x[...]: ints, slices, an ellipsis, None, truths and index tensors, read and written. */
#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/promote.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/move.h"

#define RANK TDC_REFERENCE_RANK

/* One subscript of the list, or the subscript itself. */
struct subscripts {
    const tdc_call_value *items;
    size_t count;
};

static struct subscripts read_subscripts(tdc_evaluation *e, const char *name)
{
    const tdc_call_value *v = tdc_argument(e, name);
    if (v->kind != TDC_VALUE_LIST)
        return (struct subscripts){v, 1};
    return (struct subscripts){v->list.values, v->list.count};
}

/* How many dimensions of x a subscript stands for. */
static unsigned takes(const tdc_call_value *v)
{
    if (v->kind == TDC_VALUE_NULL || v->kind == TDC_VALUE_ELLIPSIS || v->kind == TDC_VALUE_BOOL)
        return 0;
    if (v->kind == TDC_VALUE_TENSOR && v->tensor->dtype == TDC_BOOL)
        return v->tensor->rank;
    return 1;
}

static int64_t bound_of(tdc_evaluation *e, const tdc_call_value *v, int64_t n, int64_t otherwise)
{
    if (v->kind == TDC_VALUE_NULL)
        return otherwise;
    if (v->kind != TDC_VALUE_INT)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "slice bounds must be ints");
    int64_t i = v->whole < 0 ? v->whole + n : v->whole;
    return i < 0 ? 0 : i > n ? n : i;
}

static tdc_array *sliced(tdc_evaluation *e, tdc_array *places, unsigned dim,
                         const tdc_call_value *v)
{
    int64_t n = places->shape[dim];
    if (v->list.count != 3)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a slice has three parts");
    const tdc_call_value *part = v->list.values;
    int64_t from = bound_of(e, &part[0], n, 0), to = bound_of(e, &part[1], n, n), step = 1;
    if (part[2].kind == TDC_VALUE_INT)
        step = part[2].whole;
    if (step < 1)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "slice step must be positive");
    return tdc_slice(e, places, dim, from, to > from ? (to - from - 1) / step + 1 : 0, step);
}

/* Index tensors met so far and the dimensions of `places` they index. */
struct advanced {
    tdc_array *index[RANK];
    unsigned dim[RANK], count;
};

static void note_index(tdc_evaluation *e, struct advanced *a, tdc_array *index, unsigned dim)
{
    if (a->count == RANK)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "too many indices");
    a->index[a->count] = index;
    a->dim[a->count++] = dim;
}

/* The places of a mask's true elements, one index vector per dimension. */
static void note_mask(tdc_evaluation *e, struct advanced *a, const tdc_array *places,
                      const tdc_array *mask, unsigned dim)
{
    int64_t found = 0, strides[RANK];
    for (unsigned d = 0; d < mask->rank; d++)
        if (dim + d >= places->rank || mask->shape[d] != places->shape[dim + d])
            tdc_refuse(e, TDC_ERR_ARGUMENT, "the mask does not fit");
    for (int64_t i = 0; i < mask->count; i++)
        found += mask->whole[i] != 0;
    tdc_strides(mask, strides);
    for (unsigned d = 0; d < mask->rank; d++) {
        tdc_array *index = tdc_new(e, TDC_I64, 1, &found);
        for (int64_t i = 0, k = 0; i < mask->count; i++)
            if (mask->whole[i] != 0)
                index->whole[k++] = i / strides[d] % mask->shape[d];
        note_index(e, a, index, dim + d);
    }
}

/* A single truth is a new dimension of one element or none. */
static tdc_array *note_truth(tdc_evaluation *e, struct advanced *a, tdc_array *places, bool truth,
                             unsigned dim)
{
    int64_t found = truth;
    note_index(e, a, tdc_zeros(e, TDC_I64, 1, &found), dim);
    return tdc_unsqueeze(e, places, dim);
}

/* A list of ints, or of equally long lists of ints. */
static tdc_array *index_of_list(tdc_evaluation *e, const tdc_call_value *list)
{
    int64_t shape[2] = {(int64_t)list->list.count, 1}, next = 0;
    bool nested = shape[0] > 0 && list->list.values[0].kind == TDC_VALUE_LIST;
    if (nested)
        shape[1] = (int64_t)list->list.values[0].list.count;
    tdc_array *y = tdc_new(e, TDC_I64, nested ? 2 : 1, shape);
    for (size_t i = 0; i < list->list.count; i++) {
        const tdc_call_value *row = &list->list.values[i];
        if ((row->kind == TDC_VALUE_LIST) != nested ||
            (nested && (int64_t)row->list.count != shape[1]))
            tdc_refuse(e, TDC_ERR_UNSUPPORTED, "a subscript of this kind");
        for (int64_t j = 0; j < shape[1]; j++) {
            const tdc_call_value *v = nested ? &row->list.values[j] : row;
            if (v->kind != TDC_VALUE_INT)
                tdc_refuse(e, TDC_ERR_UNSUPPORTED, "a subscript of this kind");
            y->whole[next++] = v->whole;
        }
    }
    return y;
}

static tdc_array *selected(tdc_evaluation *e, tdc_array *places, unsigned dim, int64_t index)
{
    index += index < 0 ? places->shape[dim] : 0;
    return tdc_squeeze(e, tdc_slice(e, places, dim, index, 1, 1), dim);
}

/* One subscript at dimension *dim of places, which moves on. */
static tdc_array *subscribed(tdc_evaluation *e, tdc_array *places, unsigned *dim,
                             const tdc_call_value *v, struct advanced *a)
{
    if (v->kind == TDC_VALUE_NULL)
        return tdc_unsqueeze(e, places, (*dim)++);
    if (v->kind == TDC_VALUE_BOOL)
        return note_truth(e, a, places, v->whole != 0, (*dim)++);
    if (v->kind == TDC_VALUE_SLICE)
        return sliced(e, places, (*dim)++, v);
    if (v->kind == TDC_VALUE_INT)
        return selected(e, places, *dim, v->whole);
    if (v->kind == TDC_VALUE_LIST) {
        note_index(e, a, index_of_list(e, v), (*dim)++);
        return places;
    }
    if (v->kind != TDC_VALUE_TENSOR || tdc_dtype_is_floating(v->tensor->dtype))
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "a subscript of this kind");
    tdc_array *index = v->tensor;
    if (index->dtype != TDC_BOOL && index->rank == 0)
        return selected(e, places, *dim, index->whole[0]);
    if (index->dtype != TDC_BOOL)
        note_index(e, a, index, (*dim)++);
    else if (index->rank == 0)
        return note_truth(e, a, places, index->whole[0] != 0, (*dim)++);
    else {
        note_mask(e, a, places, index, *dim);
        *dim += index->rank;
    }
    return places;
}

/* Flat index into the indexed dimensions of places for each element of the broadcast indices. */
static tdc_array *flat_index(tdc_evaluation *e, const struct advanced *a, const tdc_array *places)
{
    tdc_array shape = *a->index[0];
    for (unsigned i = 1; i < a->count; i++) {
        tdc_array other = *a->index[i];
        tdc_broadcast_shape(e, &shape, &other, &shape.rank, shape.shape);
    }
    tdc_array *flat = tdc_zeros(e, TDC_I64, shape.rank, shape.shape);
    for (unsigned i = 0; i < a->count; i++) {
        tdc_array *index = tdc_expand(e, a->index[i], flat->rank, flat->shape);
        int64_t n = places->shape[a->dim[i]];
        for (int64_t k = 0; k < flat->count; k++) {
            int64_t at = index->whole[k] + (index->whole[k] < 0 ? n : 0);
            if (at < 0 || at >= n)
                tdc_refuse(e, TDC_ERR_ARGUMENT, "index out of range");
            flat->whole[k] = flat->whole[k] * n + at;
        }
    }
    return flat;
}

/* The indices' dimensions replace the indexed ones when those are neighbours, else come first. */
static tdc_array *picked(tdc_evaluation *e, tdc_array *places, const struct advanced *a)
{
    unsigned order[2 * RANK], rank = 0, before = 0;
    bool indexed[RANK] = {false}, together = true;
    int64_t inner = 1, shape[2 * RANK];
    tdc_array *flat = flat_index(e, a, places);
    for (unsigned i = 0; i < a->count; i++) {
        indexed[a->dim[i]] = true;
        order[rank++] = a->dim[i];
        together &= i == 0 || a->dim[i] == a->dim[i - 1] + 1;
    }
    memcpy(shape, flat->shape, sizeof flat->shape);
    unsigned wide = flat->rank;
    for (unsigned d = 0; d < places->rank; d++)
        if (!indexed[d]) {
            if (wide == RANK)
                tdc_refuse(e, TDC_ERR_UNSUPPORTED, "too many dimensions");
            order[rank++] = d;
            shape[wide++] = places->shape[d];
            inner *= places->shape[d];
            before += d < a->dim[0];
        }
    places = tdc_permute(e, places, order);
    tdc_array *y = tdc_new(e, TDC_I64, wide, shape);
    TDC_SPREAD(y->count, i, y->count,
               { y->whole[i] = places->whole[flat->whole[i / inner] * inner + i % inner]; });
    if (!together || before == 0)
        return y;
    for (unsigned d = 0; d < wide; d++)
        order[d] = d < before ? flat->rank + d : d < before + flat->rank ? d - before : d;
    return tdc_permute(e, y, order);
}

/* For each element of x[subscripts] its place in x. */
static tdc_array *subscript_places(tdc_evaluation *e, const tdc_array *x, struct subscripts s)
{
    tdc_array *places = tdc_new_like(e, TDC_I64, x);
    for (int64_t i = 0; i < x->count; i++)
        places->whole[i] = i;
    unsigned named = 0, dim = 0;
    struct advanced a = {.count = 0};
    for (size_t i = 0; i < s.count; i++)
        named += takes(&s.items[i]);
    if (named > x->rank)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "too many indices");
    for (size_t i = 0; i < s.count; i++) {
        if (s.items[i].kind == TDC_VALUE_ELLIPSIS)
            dim += x->rank - named;
        else
            places = subscribed(e, places, &dim, &s.items[i], &a);
    }
    return a.count == 0 ? places : picked(e, places, &a);
}

static void getitem(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    tdc_array *places = subscript_places(e, x, read_subscripts(e, "index"));
    tdc_give(e, tdc_mapped(e, x, places->whole, places->rank, places->shape, 0));
}

static void setitem(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    tdc_array *places = subscript_places(e, x, read_subscripts(e, "index"));
    tdc_array *source = tdc_convert(e, tdc_array_argument(e, "source"), x->dtype);
    /* leading dimensions of one element may be left over */
    while (source->rank > places->rank && source->shape[0] == 1)
        source = tdc_squeeze(e, source, 0);
    source = tdc_expand(e, source, places->rank, places->shape);
    if (tdc_bool_argument(e, "accumulate")) {
        tdc_array *put = tdc_scatter_add(e, source, places->whole, x->rank, x->shape);
        tdc_give(e, tdc_combine_any(e, TDC_ADD, x, put));
        return;
    }
    tdc_give(e, tdc_overwritten(e, x, source, places->whole));
}

static const struct tdc_operator rows[] = {
    {"__getitem__", TDC_IN_TENSOR, "input, index", getitem, 0, 0},
    {"__setitem__ index_put", TDC_IN_TENSOR | TDC_IN_TORCH,
     "input, index, source, accumulate=False", setitem, 0, 0},
};
const struct tdc_operator_family tdc_subscript_family = TDC_FAMILY("subscripts", rows);
