#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/complex_parts.h"
#include "reference/primitives/elementwise/promote.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/move.h"

#define RANK TDC_REFERENCE_RANK

/* ---- by index tensors
 * ---------------------------------------------------------------------------- */

static tdc_array *index_argument(tdc_evaluation *e)
{
    tdc_array *index = tdc_array_argument(e, "index");
    if (tdc_dtype_is_floating(index->dtype))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "index must be integers");
    return index;
}

/* Refuses an index that is out of range; negative ones count from the end. */
static void check_range(tdc_evaluation *e, const tdc_array *index, int64_t n)
{
    /* no reduction: clang makes a name of its lock that a shared library would export */
    atomic_bool wrong = false;
    TDC_SPREAD(index->count, i, index->count, {
        if (index->whole[i] < -n || index->whole[i] >= n)
            atomic_store_explicit(&wrong, true, memory_order_relaxed);
    });
    if (wrong)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "index out of range");
}

static int64_t from_end(int64_t index, int64_t n)
{
    return index < 0 ? index + n : index;
}

/* For every element of index the place in x that differs from its own only along dim. */
static int64_t *places(tdc_evaluation *e, const tdc_array *x, unsigned dim, const tdc_array *index)
{
    int64_t strides[RANK];
    if (index->rank != x->rank && index->count > 0 && !(x->rank == 0 && index->rank == 1) &&
        !(x->rank == 1 && index->rank == 0))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "index must have the rank of the input");
    for (unsigned d = 0; d < x->rank && d < index->rank; d++)
        if (d != dim && index->shape[d] > x->shape[d])
            tdc_refuse(e, TDC_ERR_ARGUMENT, "index is larger than the input");
    tdc_strides(x, strides);
    int64_t n = x->rank == 0 ? 1 : x->shape[dim], step = x->rank == 0 ? 0 : strides[dim];
    unsigned last = index->rank > 0 && x->rank > 0 ? index->rank - 1 : 0;
    int64_t length = index->rank > 0 ? index->shape[index->rank - 1] : 1;
    int64_t along = x->rank > 0 && last != dim ? strides[last] : 0;
    int64_t *map = tdc_take(e, index->count, sizeof *map);
    check_range(e, index, n);
    /* runs of the last dimension: all others' part of the place is found once for each */
    int64_t runs = length == 0 ? 0 : index->count / length;
    TDC_SPREAD(index->count, run, runs, {
        int64_t rest = run, base = 0;
        for (unsigned d = last; d-- > 0;) {
            base += d == dim ? 0 : rest % index->shape[d] * strides[d];
            rest /= index->shape[d];
        }
        for (int64_t i = 0; i < length; i++)
            map[run * length + i] =
                base + i * along + from_end(index->whole[run * length + i], n) * step;
    });
    return map;
}

static void gather(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input"), *index = index_argument(e);
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    tdc_give(e, tdc_mapped(e, x, places(e, x, dim, index), index->rank, index->shape, 0));
}

/* gather with the other dimensions broadcast; without dim on the flattened tensor */
static void take_along(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input"), *index = index_argument(e);
    if (!tdc_given(e, "dim")) {
        x = tdc_reshape(e, x, 1, &x->count);
        index = tdc_reshape(e, index, 1, &index->count);
    }
    unsigned dim = tdc_given(e, "dim") ? tdc_dim_argument(e, "dim", x->rank) : 0;
    if (x->rank == 0 || index->rank != x->rank)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "index must have the rank of the input");
    int64_t shape[RANK], own[RANK];
    tdc_array outer_x = *x, outer_index = *index;
    unsigned rank;
    outer_x.shape[dim] = outer_index.shape[dim] = 1;
    tdc_broadcast_shape(e, &outer_x, &outer_index, &rank, shape);
    memcpy(own, shape, sizeof own);
    shape[dim] = x->shape[dim];
    own[dim] = index->shape[dim];
    x = tdc_expand(e, x, rank, shape);
    index = tdc_expand(e, index, rank, own);
    tdc_give(e, tdc_mapped(e, x, places(e, x, dim, index), rank, own, 0));
}

/* src cut to the shape of index */
static tdc_array *source_for(tdc_evaluation *e, const char *name, const tdc_array *index,
                             tdc_dtype dtype)
{
    tdc_array *src = tdc_convert(e, tdc_array_argument(e, name), dtype);
    if (src->number)
        return tdc_expand(e, src, index->rank, index->shape);
    if (src->rank != index->rank)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "index and src differ in rank");
    for (unsigned d = 0; d < index->rank; d++)
        src = tdc_slice(e, src, d, 0, index->shape[d], 1);
    return src;
}

static void scatter(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input"), *index = index_argument(e);
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    int64_t *map = places(e, x, dim, index);
    tdc_array *src = source_for(e, tdc_given(e, "src") ? "src" : "value", index, x->dtype);
    bool add = e->definition->variant != 0;
    if (!add && tdc_given(e, "reduce")) {
        const char *reduce = tdc_text_argument(e, "reduce");
        if (strcmp(reduce, "multiply") == 0) {
            tdc_array *y = tdc_scatter_joined(e, TDC_JOIN_PRODUCT, tdc_to_real(e, x),
                                              tdc_to_real(e, src), map, true);
            tdc_give(e, tdc_convert(e, y, x->dtype));
            return;
        }
        if (strcmp(reduce, "add") != 0)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "reduce must be 'add' or 'multiply'");
        add = true;
    }
    if (add) {
        tdc_array *put = tdc_scatter_add(e, src, map, x->rank, x->shape);
        tdc_give(e, tdc_combine_any(e, TDC_ADD, x, put));
        return;
    }
    tdc_give(e, tdc_overwritten(e, x, src, map));
}

static enum tdc_join join_argument(tdc_evaluation *e)
{
    static const char *const names[] = {"sum", "prod", "mean", "amax", "amin"};
    const char *text = tdc_text_argument(e, "reduce");
    for (int i = 0; i < 5; i++)
        if (strcmp(text, names[i]) == 0)
            return (enum tdc_join)i;
    tdc_refuse(e, TDC_ERR_ARGUMENT, "unknown reduce");
}

static void scatter_reduce(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input"), *index = index_argument(e);
    int64_t *map = places(e, x, tdc_dim_argument(e, "dim", x->rank), index);
    tdc_array *src = tdc_to_real(e, source_for(e, "src", index, x->dtype));
    tdc_array *y = tdc_scatter_joined(e, join_argument(e), tdc_to_real(e, x), src, map,
                                      tdc_bool_argument(e, "include_self"));
    tdc_give(e, tdc_convert(e, y, x->dtype));
}

/* Places of whole slices: out position -> x with dim replaced by index[position]. */
static int64_t *slice_places(tdc_evaluation *e, const tdc_array *x, unsigned dim,
                             const tdc_array *index, int64_t shape[RANK])
{
    int64_t n = x->rank == 0 ? 1 : x->shape[dim], inner = 1, outer = 1;
    memcpy(shape, x->shape, sizeof(int64_t[RANK]));
    for (unsigned d = 0; d < x->rank; d++) {
        outer *= d < dim ? x->shape[d] : 1;
        inner *= d > dim ? x->shape[d] : 1;
    }
    if (x->rank > 0)
        shape[dim] = index->count;
    int64_t total;
    if (__builtin_mul_overflow(outer * inner, index->count, &total))
        tdc_refuse(e, TDC_ERR_MEMORY, "a size overflows");
    int64_t *map = tdc_take(e, total, sizeof *map);
    check_range(e, index, n);
    TDC_SPREAD(total, run, outer * index->count, {
        int64_t own = from_end(index->whole[run % index->count], n);
        int64_t base = (run / index->count * n + own) * inner;
        for (int64_t k = 0; k < inner; k++)
            map[run * inner + k] = base + k;
    });
    return map;
}

static void index_select(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input"), *index = index_argument(e);
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    int64_t shape[RANK];
    int64_t *map = slice_places(e, x, dim, index, shape);
    tdc_give(e, tdc_mapped(e, x, map, x->rank, shape, 0));
}

enum index_write {
    INDEX_ADD,
    INDEX_COPY,
    INDEX_FILL
};

static void index_write(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input"), *index = index_argument(e);
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    int64_t shape[RANK];
    int64_t *map = slice_places(e, x, dim, index, shape);
    tdc_array *src = tdc_convert(e, tdc_array_argument(e, "source"), x->dtype);
    src = tdc_expand(e, src, x->rank, shape);
    if (e->definition->variant == INDEX_ADD) {
        tdc_array *put = tdc_scatter_add(e, src, map, x->rank, x->shape);
        if (tdc_real_argument(e, "alpha") != 1)
            put = tdc_combine_any(e, TDC_MUL, put, tdc_array_argument(e, "alpha"));
        tdc_give(e, tdc_combine_any(e, TDC_ADD, x, put));
        return;
    }
    tdc_give(e, tdc_overwritten(e, x, src, map));
}

static void index_reduce(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input"), *index = index_argument(e);
    int64_t shape[RANK];
    int64_t *map = slice_places(e, x, tdc_dim_argument(e, "dim", x->rank), index, shape);
    tdc_array *src = tdc_convert(e, tdc_array_argument(e, "source"), x->dtype);
    src = tdc_to_real(e, tdc_expand(e, src, x->rank, shape));
    tdc_array *y = tdc_scatter_joined(e, join_argument(e), tdc_to_real(e, x), src, map,
                                      tdc_bool_argument(e, "include_self"));
    tdc_give(e, tdc_convert(e, y, x->dtype));
}

static void put(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input"), *index = index_argument(e);
    tdc_array *src = tdc_convert(e, tdc_array_argument(e, "source"), x->dtype);
    int64_t *map = tdc_take(e, index->count, sizeof *map);
    check_range(e, index, x->count);
    if (src->count != index->count)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "index and source differ in size");
    for (int64_t i = 0; i < index->count; i++)
        map[i] = from_end(index->whole[i], x->count);
    src = tdc_reshape(e, src, 1, &src->count);
    if (tdc_bool_argument(e, "accumulate"))
        tdc_give(e,
                 tdc_combine_any(e, TDC_ADD, x, tdc_scatter_add(e, src, map, x->rank, x->shape)));
    else
        tdc_give(e, tdc_overwritten(e, x, src, map));
}

static void take(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input"), *index = index_argument(e);
    int64_t *map = tdc_take(e, index->count, sizeof *map);
    check_range(e, index, x->count);
    for (int64_t i = 0; i < index->count; i++)
        map[i] = from_end(index->whole[i], x->count);
    tdc_give(e, tdc_mapped(e, x, map, index->rank, index->shape, 0));
}

/* ---- by masks
 * ------------------------------------------------------------------------------------ */

static void masked_select(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    tdc_array *mask = tdc_truth(e, tdc_array_argument(e, "mask"));
    unsigned rank;
    int64_t shape[RANK], found = 0;
    tdc_broadcast_shape(e, x, mask, &rank, shape);
    x = tdc_expand(e, x, rank, shape);
    mask = tdc_expand(e, mask, rank, shape);
    int64_t *map = tdc_take(e, x->count, sizeof *map);
    for (int64_t i = 0; i < x->count; i++)
        if (mask->whole[i])
            map[found++] = i;
    tdc_give(e, tdc_mapped(e, x, map, 1, &found, 0));
}

static void masked_fill(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input"), *fill = tdc_array_argument(e, "value");
    if (fill->count != 1)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "value must have one element");
    fill = tdc_convert(e, tdc_reshape(e, fill, 0, NULL), x->dtype);
    tdc_give(e, tdc_select(e, tdc_array_argument(e, "mask"), fill, x));
}

static void masked_scatter(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input"), *source = tdc_array_argument(e, "source");
    tdc_array *mask = tdc_expand(e, tdc_truth(e, tdc_array_argument(e, "mask")), x->rank, x->shape);
    int64_t next = 0, *map = tdc_take(e, x->count, sizeof *map);
    for (int64_t i = 0; i < x->count; i++)
        map[i] = mask->whole[i] ? next++ : -1;
    if (next > source->count)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "source has too few elements");
    source = tdc_convert(e, source, x->dtype);
    tdc_give(e, tdc_select(e, mask, tdc_mapped(e, source, map, x->rank, x->shape, 0), x));
}

#define METHODS TDC_IN_METHODS
static const struct tdc_operator rows[] = {
    {"gather", METHODS, "input, dim, index, *, sparse_grad=False", gather, 0, 0},
    {"take_along_dim", METHODS, "input, index, dim=None", take_along, 0, 0},
    {"scatter", METHODS, "input, dim, index, src=None, *, value=None, reduce=None", scatter, 0, 0},
    {"scatter_add", METHODS, "input, dim, index, src, *, value=None", scatter, 1, 0},
    {"scatter_reduce", METHODS, "input, dim, index, src, reduce, *, include_self=True",
     scatter_reduce, 0, 0},
    {"index_reduce", METHODS, "input, dim, index, source, reduce, *, include_self=True",
     index_reduce, 0, 0},
    {"put", METHODS, "input, index, source, accumulate=False", put, 0, 0},
    {"index_select", METHODS, "input, dim, index", index_select, 0, 0},
    {"index_add", METHODS, "input, dim, index, source, *, alpha=1", index_write, INDEX_ADD, 0},
    {"index_copy", METHODS, "input, dim, index, source", index_write, INDEX_COPY, 0},
    {"index_fill", METHODS, "input, dim, index, source", index_write, INDEX_FILL, 0},
    {"take", METHODS, "input, index", take, 0, 0},
    {"masked_select", METHODS, "input, mask", masked_select, 0, 0},
    {"masked_fill", METHODS, "input, mask, value", masked_fill, 0, 0},
    {"masked_scatter", METHODS, "input, mask, source", masked_scatter, 0, 0},
};
const struct tdc_operator_family tdc_indexing_family = TDC_FAMILY("indexing", rows);
