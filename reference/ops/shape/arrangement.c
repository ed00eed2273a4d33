/* Ranks raised, grids, blocks, strided windows. */
#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/promote.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/move.h"
#include "reference/primitives/reduce.h"

#define RANK TDC_REFERENCE_RANK

/* At least `rank` dimensions. */
static tdc_array *at_least(tdc_evaluation *e, tdc_array *x, unsigned rank)
{
    if (x->rank == 0)
        x = tdc_unsqueeze(e, x, 0);
    if (rank >= 2 && x->rank == 1)
        x = tdc_unsqueeze(e, x, 0);
    return rank >= 3 && x->rank == 2 ? tdc_unsqueeze(e, x, 2) : x;
}

static void atleast(tdc_evaluation *e)
{
    tdc_array **list;
    size_t count = tdc_arrays_argument(e, "tensors", &list);
    for (size_t i = 0; i < count; i++)
        tdc_give(e, at_least(e, list[i], (unsigned)e->definition->variant));
}

static void column_stack(tdc_evaluation *e)
{
    tdc_array **list;
    size_t count = tdc_arrays_argument(e, "tensors", &list);
    for (size_t i = 0; i < count; i++)
        if (list[i]->rank < 2)
            list[i] = tdc_reshape(e, list[i], 2, (const int64_t[]){list[i]->count, 1});
    tdc_give(e, tdc_concatenate(e, list, count, 1));
}

static void broadcast_tensors(tdc_evaluation *e)
{
    tdc_array **list;
    size_t count = tdc_arrays_argument(e, "tensors", &list);
    tdc_array shape = *list[0];
    for (size_t i = 1; i < count; i++)
        tdc_broadcast_shape(e, &shape, list[i], &shape.rank, shape.shape);
    for (size_t i = 0; i < count; i++)
        tdc_give(e, tdc_expand(e, list[i], shape.rank, shape.shape));
}

static void meshgrid(tdc_evaluation *e)
{
    tdc_array **list;
    size_t count = tdc_arrays_argument(e, "tensors", &list);
    bool swap = tdc_given(e, "indexing") && strcmp(tdc_text_argument(e, "indexing"), "xy") == 0;
    int64_t shape[RANK];
    if (count > RANK)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "more than %d dimensions", RANK);
    for (size_t i = 0; i < count; i++)
        shape[i] = list[i]->count;
    for (size_t i = 0; i < count; i++) {
        int64_t own[RANK];
        for (size_t d = 0; d < count; d++)
            own[d] = d == i ? list[i]->count : 1;
        tdc_array *y = tdc_reshape(e, list[i], (unsigned)count, own);
        y = tdc_expand(e, y, (unsigned)count, shape);
        tdc_give(e, swap && count > 1 ? tdc_swap(e, y, 0, 1) : y);
    }
}

/* Matrices along the diagonal of zeros. */
static void block_diag(tdc_evaluation *e)
{
    tdc_array **list;
    size_t count = tdc_arrays_argument(e, "tensors", &list);
    int64_t lines = 0, columns = 0, line = 0, column = 0;
    for (size_t i = 0; i < count; i++) {
        list[i] = at_least(e, list[i], 2);
        if (list[i]->rank != 2 || list[i]->shape[0] > INT32_MAX || list[i]->shape[1] > INT32_MAX)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "matrices expected");
        lines += list[i]->shape[0];
        columns += list[i]->shape[1];
    }
    tdc_array *y = NULL;
    for (size_t i = 0; i < count; i++) {
        tdc_array *x = list[i];
        int64_t *map = tdc_take(e, x->count, sizeof *map);
        for (int64_t k = 0; k < x->count; k++)
            map[k] = (line + k / x->shape[1]) * columns + column + k % x->shape[1];
        tdc_array *own = tdc_scatter_add(e, x, map, 2, (const int64_t[]){lines, columns});
        y = y == NULL ? own : tdc_combine_any(e, TDC_ADD, y, own);
        line += x->shape[0];
        column += x->shape[1];
    }
    tdc_give(e, y);
}

/* hsplit, vsplit, dsplit: along dimension 1, 0, 2; hsplit of a vector along its only one */
static void split_along(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    unsigned dim = (unsigned)e->definition->variant;
    if (dim == 1 && x->rank == 1)
        dim = 0;
    if (dim >= x->rank)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "too few dimensions");
    int64_t n = x->shape[dim], at[256], start = 0;
    size_t count;
    if (tdc_argument(e, "sections")->kind == TDC_VALUE_LIST) {
        count = tdc_ints_argument(e, "sections", at, 255);
    } else {
        int64_t sections = tdc_int_argument(e, "sections");
        if (sections < 1 || sections > 255 || n % sections != 0)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "the dimension is not divisible");
        count = (size_t)sections - 1;
        for (size_t i = 0; i < count; i++)
            at[i] = (int64_t)(i + 1) * (n / sections);
    }
    at[count] = n;
    for (size_t i = 0; i <= count; i++) {
        int64_t end = at[i] < 0 ? at[i] + n : at[i];
        end = end > n ? n : end < 0 ? 0 : end;
        tdc_give(e,
                 tdc_slice(e, x, dim, start < end ? start : end, end > start ? end - start : 0, 1));
        start = end;
    }
}

/* Elements of x by shape, strides and offset, also several times. */
static void give_strided(tdc_evaluation *e, tdc_array *x, unsigned rank, const int64_t *shape,
                         const int64_t *strides, int64_t offset)
{
    tdc_array *room = tdc_new(e, TDC_I64, rank, shape); /* checks the sizes */
    for (int64_t i = 0; i < room->count; i++) {
        int64_t rest = i, at = offset;
        for (unsigned d = rank; d-- > 0;) {
            at += rest % shape[d] * strides[d];
            rest /= shape[d];
        }
        if (at < 0 || at >= x->count)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "strides lead out of the tensor");
        room->whole[i] = at;
    }
    tdc_give(e, tdc_mapped(e, x, room->whole, rank, shape, 0));
}

static void as_strided(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    int64_t shape[RANK], strides[RANK];
    size_t rank = tdc_ints_argument(e, "shape", shape, RANK);
    if (rank != tdc_ints_argument(e, "stride", strides, RANK))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "size and stride differ in length");
    for (size_t d = 0; d < rank; d++)
        if (strides[d] < 0 || strides[d] > INT32_MAX)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "a stride is out of range");
    int64_t offset = tdc_given(e, "storage_offset") ? tdc_int_argument(e, "storage_offset") : 0;
    give_strided(e, x, (unsigned)rank, shape, strides, offset);
}

/* Windows of one dimension as a new last one. */
static void windows(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    unsigned dim = tdc_dim_argument(e, "dimension", x->rank);
    int64_t size = tdc_int_argument(e, "size"), step = tdc_int_argument(e, "step");
    int64_t shape[RANK + 1], strides[RANK + 1];
    if (x->rank == 0 || x->rank == RANK || step < 1 || size < 0 || size > x->shape[dim])
        tdc_refuse(e, TDC_ERR_ARGUMENT, "size or step does not fit");
    memcpy(shape, x->shape, x->rank * sizeof *shape);
    tdc_strides(x, strides);
    shape[x->rank] = size;
    strides[x->rank] = strides[dim];
    shape[dim] = (x->shape[dim] - size) / step + 1;
    strides[dim] *= shape[dim] > 1 ? step : 1;
    give_strided(e, x, x->rank + 1, shape, strides, 0);
}

static void adjoint(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    if (x->rank < 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "at least two dimensions expected");
    tdc_give(e, tdc_swap(e, x, x->rank - 1, x->rank - 2));
}

/* Sums over what a broadcast to x's shape would repeat. */
static void sum_to_size(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    int64_t shape[RANK];
    size_t rank = tdc_ints_argument(e, "shape", shape, RANK);
    bool reduced[RANK] = {false};
    if (rank > x->rank)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "size is not expandable to the tensor");
    for (unsigned d = 0; d < x->rank; d++) {
        int64_t own = d < x->rank - rank ? 1 : shape[d - (x->rank - rank)];
        reduced[d] = d < x->rank - rank || (own == 1 && x->shape[d] != 1);
        if (own != 1 && own != x->shape[d])
            tdc_refuse(e, TDC_ERR_ARGUMENT, "size is not expandable to the tensor");
    }
    tdc_give(e, tdc_reshape(e, tdc_sum(e, x, reduced, false), (unsigned)rank, shape));
}

static void channel_shuffle(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    int64_t groups = tdc_int_argument(e, "groups");
    if (x->rank < 3 || groups < 1 || x->shape[1] % groups != 0 || x->count == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "channels must be divisible by groups");
    int64_t inner = x->count / (x->shape[0] * x->shape[1]);
    tdc_array *y =
        tdc_reshape(e, x, 4, (const int64_t[]){x->shape[0], groups, x->shape[1] / groups, inner});
    tdc_give(e, tdc_reshape(e, tdc_swap(e, y, 1, 2), x->rank, x->shape));
}

#define METHODS TDC_IN_METHODS
#define MODULE  (TDC_IN_TORCH | TDC_IN_MINT)
static const struct tdc_operator rows[] = {
    {"atleast_1d", MODULE, "*tensors", atleast, 1, 0},
    {"atleast_2d", MODULE, "*tensors", atleast, 2, 0},
    {"atleast_3d", MODULE, "*tensors", atleast, 3, 0},
    {"column_stack", MODULE, "tensors", column_stack, 0, 0},
    {"broadcast_tensors", MODULE, "*tensors", broadcast_tensors, 0, 0},
    {"meshgrid", MODULE, "*tensors, indexing=None", meshgrid, 0, 0},
    {"block_diag", MODULE, "*tensors", block_diag, 0, 0},
    {"hsplit", METHODS, "input, sections", split_along, 1, 0},
    {"vsplit", METHODS, "input, sections", split_along, 0, 0},
    {"dsplit", METHODS, "input, sections", split_along, 2, 0},
    {"as_strided", METHODS, "input, shape, stride, storage_offset=None", as_strided, 0, 0},
    {"unfold", TDC_IN_TENSOR, "input, dimension, size, step", windows, 0, 0},
    {"adjoint", METHODS, "input", adjoint, 0, 0},
    {"sum_to_size", TDC_IN_TENSOR, "input, *shape", sum_to_size, 0, 0},
    {"channel_shuffle", METHODS | TDC_IN_FUNCTIONALS, "input, groups", channel_shuffle, 0, 0},
};
const struct tdc_operator_family tdc_arrangement_family = TDC_FAMILY("arrangements", rows);
