/* Triangles, diagonals, and tensors with a part replaced. */
#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/promote.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/move.h"

#define RANK TDC_REFERENCE_RANK

/* tril -1, triu 1 */
static void triangle(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    int64_t diagonal = tdc_int_argument(e, "diagonal");
    if (x->rank < 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "input must have at least 2 dimensions");
    int64_t columns = x->shape[x->rank - 1], lines = x->shape[x->rank - 2];
    int64_t *map = tdc_take(e, x->count, sizeof *map);
    for (int64_t i = 0; i < x->count; i++) {
        int64_t offset = i % columns - i / columns % lines;
        map[i] = (e->definition->variant < 0 ? offset <= diagonal : offset >= diagonal) ? i : -1;
    }
    tdc_give(e, tdc_mapped(e, x, map, x->rank, x->shape, 0));
}

static tdc_array *diagonal_of(tdc_evaluation *e, tdc_array *x, int64_t offset, unsigned d1,
                              unsigned d2)
{
    int64_t strides[RANK], shape[RANK], kept[RANK];
    unsigned rank = 0;
    if (d1 == d2 || offset < -INT32_MAX || offset > INT32_MAX)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "diagonal dimensions or offset do not fit");
    tdc_strides(x, strides);
    for (unsigned d = 0; d < x->rank; d++)
        if (d != d1 && d != d2) {
            shape[rank] = x->shape[d];
            kept[rank++] = strides[d];
        }
    int64_t r = x->shape[d1] - (offset < 0 ? -offset : 0);
    int64_t c = x->shape[d2] - (offset > 0 ? offset : 0);
    int64_t n = r < c ? r : c;
    shape[rank] = n > 0 ? n : 0;
    kept[rank++] = strides[d1] + strides[d2];
    int64_t start = n <= 0 ? 0 : offset >= 0 ? offset * strides[d2] : -offset * strides[d1];
    return tdc_view(e, x, rank, shape, kept, start);
}

static void diagonal(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    if (x->rank < 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "two dimensions expected");
    tdc_give(e,
             diagonal_of(e, x, tdc_int_argument(e, "offset"), tdc_dim_argument(e, "dim1", x->rank),
                         tdc_dim_argument(e, "dim2", x->rank)));
}

/* A diagonal written into zeros: the last dimension of x becomes two, d1 and d2 of the result. */
static tdc_array *embedded(tdc_evaluation *e, tdc_array *x, int64_t offset, unsigned d1,
                           unsigned d2)
{
    int64_t shape[RANK] = {0}, strides[RANK], kept[RANK];
    unsigned rank = x->rank + 1, next = 0;
    int64_t length = x->shape[x->rank - 1], away = offset < 0 ? -offset : offset;
    if (d1 == d2 || rank > RANK || away > INT32_MAX || length > INT32_MAX)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "diagonal dimensions or offset do not fit");
    for (unsigned d = 0; d < rank; d++)
        shape[d] = d == d1 || d == d2 ? length + away : x->shape[next++];
    tdc_array room = {.rank = rank};
    memcpy(room.shape, shape, sizeof shape);
    tdc_strides(&room, strides);
    next = 0;
    for (unsigned d = 0; d < rank; d++)
        if (d != d1 && d != d2)
            kept[next++] = strides[d];
    kept[next] = strides[d1] + strides[d2];
    int64_t start = offset >= 0 ? offset * strides[d2] : away * strides[d1];
    int64_t *map = tdc_take(e, x->count, sizeof *map);
    for (int64_t i = 0; i < x->count; i++) {
        int64_t rest = i, at = start;
        for (unsigned d = x->rank; d-- > 0;) {
            at += rest % x->shape[d] * kept[d];
            rest /= x->shape[d];
        }
        map[i] = at;
    }
    return tdc_scatter_add(e, x, map, rank, shape);
}

static void diag_embed(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    if (x->rank == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a dimension expected");
    tdc_give(e,
             embedded(e, x, tdc_int_argument(e, "offset"), tdc_dim_argument(e, "dim1", x->rank + 1),
                      tdc_dim_argument(e, "dim2", x->rank + 1)));
}

static void diagflat(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    x = tdc_reshape(e, x, 1, &x->count);
    tdc_give(e, embedded(e, x, tdc_int_argument(e, "offset"), 0, 1));
}

/* x with its diagonal, or a slice, replaced: the places are found by viewing their numbers. */
static tdc_array *numbered(tdc_evaluation *e, const tdc_array *x)
{
    tdc_array *y = tdc_new_like(e, TDC_I64, x);
    for (int64_t i = 0; i < y->count; i++)
        y->whole[i] = i;
    return y;
}

static void give_replaced(tdc_evaluation *e, tdc_array *x, const tdc_array *places)
{
    tdc_array *src = tdc_convert(e, tdc_array_argument(e, "src"), x->dtype);
    if (!tdc_same_shape(src, places))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "src has not the shape of what it replaces");
    tdc_give(e, tdc_overwritten(e, x, src, places->whole));
}

static void diagonal_scatter(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    if (x->rank < 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "two dimensions expected");
    give_replaced(e, x,
                  diagonal_of(e, numbered(e, x), tdc_int_argument(e, "offset"),
                              tdc_dim_argument(e, "dim1", x->rank),
                              tdc_dim_argument(e, "dim2", x->rank)));
}

static void select_scatter(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    int64_t index = tdc_int_argument(e, "index");
    if (x->rank == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a dimension expected");
    index += index < 0 ? x->shape[dim] : 0;
    tdc_array *places = tdc_slice(e, numbered(e, x), dim, index, 1, 1);
    give_replaced(e, x, tdc_squeeze(e, places, dim));
}

static int64_t bound(tdc_evaluation *e, const char *name, int64_t n, int64_t otherwise)
{
    if (!tdc_given(e, name))
        return otherwise;
    int64_t i = tdc_int_argument(e, name);
    i += i < 0 ? n : 0;
    return i < 0 ? 0 : i > n ? n : i;
}

static void slice_scatter(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    int64_t step = tdc_int_argument(e, "step");
    if (x->rank == 0 || step < 1)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a dimension and a positive step expected");
    int64_t from = bound(e, "start", x->shape[dim], 0);
    int64_t to = bound(e, "end", x->shape[dim], x->shape[dim]);
    int64_t length = to > from ? (to - from - 1) / step + 1 : 0;
    give_replaced(e, x, tdc_slice(e, numbered(e, x), dim, from, length, step));
}

static void diag(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    int64_t offset = tdc_int_argument(e, "diagonal");
    if (offset < -INT32_MAX || offset > INT32_MAX)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "diagonal is out of range");
    if (x->rank == 2) {
        tdc_give(e, diagonal_of(e, x, offset, 0, 1));
        return;
    }
    if (x->rank != 1)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "vector or matrix expected");
    tdc_give(e, embedded(e, x, offset, 0, 1));
}

#define METHODS TDC_IN_METHODS
static const struct tdc_operator rows[] = {
    {"tril", METHODS, "input, diagonal=0", triangle, -1, 0},
    {"triu", METHODS, "input, diagonal=0", triangle, 1, 0},
    {"diag", METHODS, "input, diagonal=0", diag, 0, 0},
    {"diagonal", METHODS, "input, offset=0, dim1=0, dim2=1", diagonal, 0, 0},
    {"linalg.diagonal", METHODS, "input, *, offset=0, dim1=-2, dim2=-1", diagonal, 0, 0},
    {"diag_embed", METHODS | TDC_IN_FUNCTIONALS, "input, offset=0, dim1=-2, dim2=-1", diag_embed, 0,
     0},
    {"diagflat", METHODS, "input, offset=0", diagflat, 0, 0},
    {"diagonal_scatter", METHODS, "input, src, offset=0, dim1=0, dim2=1", diagonal_scatter, 0, 0},
    {"select_scatter", METHODS, "input, src, dim, index", select_scatter, 0, 0},
    {"slice_scatter", METHODS, "input, src, dim=0, start=None, end=None, step=1", slice_scatter, 0,
     0},
};
const struct tdc_operator_family tdc_diagonal_family = TDC_FAMILY("diagonals", rows);
