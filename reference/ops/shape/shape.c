#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/move.h"

#define RANK TDC_REFERENCE_RANK

/* ---- other shapes of the same elements --------------------------------------------------------
 */

static void reshape(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    int64_t shape[RANK], known = 1;
    size_t rank = tdc_ints_argument(e, "shape", shape, RANK), open = RANK;
    for (size_t d = 0; d < rank; d++) {
        if (shape[d] == -1 && open == RANK)
            open = d;
        else if (shape[d] < 0 || __builtin_mul_overflow(known, shape[d], &known))
            tdc_refuse(e, TDC_ERR_ARGUMENT, "invalid shape");
    }
    if (open != RANK)
        shape[open] = known == 0 ? 0 : x->count / known;
    tdc_give(e, tdc_reshape(e, x, (unsigned)rank, shape));
}

static void view_as(tdc_evaluation *e)
{
    tdc_array *other = tdc_array_argument(e, "other");
    tdc_give(e, tdc_reshape(e, tdc_array_argument(e, "input"), other->rank, other->shape));
}

static void flatten(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    unsigned from = tdc_dim_argument(e, "start_dim", x->rank);
    unsigned to = tdc_dim_argument(e, "end_dim", x->rank);
    int64_t shape[RANK], merged = 1;
    unsigned rank = 0;
    if (from > to)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "start_dim after end_dim");
    for (unsigned d = 0; d < (x->rank == 0 ? 1 : x->rank); d++) {
        int64_t size = x->rank == 0 ? 1 : x->shape[d];
        merged = d > from && d <= to ? merged * size : size;
        if (d < from || d >= to)
            shape[rank++] = merged;
    }
    tdc_give(e, tdc_reshape(e, x, rank, shape));
}

static void unflatten(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    unsigned dim = tdc_dim_argument(e, "dim", x->rank), rank = 0;
    int64_t sizes[RANK], shape[2 * RANK], known = 1;
    size_t count = tdc_ints_argument(e, "sizes", sizes, RANK);
    for (size_t i = 0; i < count; i++)
        if (__builtin_mul_overflow(known, sizes[i] == -1 ? 1 : sizes[i], &known))
            tdc_refuse(e, TDC_ERR_ARGUMENT, "invalid sizes");
    for (unsigned d = 0; d < x->rank; d++) {
        if (d != dim)
            shape[rank++] = x->shape[d];
        for (size_t i = 0; d == dim && i < count; i++)
            shape[rank++] = sizes[i] == -1 && known > 0 ? x->shape[d] / known : sizes[i];
    }
    tdc_give(e, tdc_reshape(e, x, rank, shape));
}

static void unsqueeze(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    tdc_give(e, tdc_unsqueeze(e, x, tdc_dim_argument(e, "dim", x->rank + 1)));
}

static void squeeze(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    bool chosen[RANK];
    tdc_dims_argument(e, "dim", x->rank, chosen);
    int64_t shape[RANK];
    unsigned rank = 0;
    for (unsigned d = 0; d < x->rank; d++)
        if (!chosen[d] || x->shape[d] != 1)
            shape[rank++] = x->shape[d];
    tdc_give(e, tdc_reshape(e, x, rank, shape));
}

/* ---- other orders ------------------------------------------------------------------------------
 */

static void permute(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    int64_t dims[RANK];
    unsigned order[RANK];
    bool seen[RANK] = {false};
    if (tdc_ints_argument(e, "dims", dims, RANK) != x->rank)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "number of dims must be the rank");
    for (unsigned d = 0; d < x->rank; d++) {
        order[d] = tdc_dimension(e, dims[d], x->rank);
        if (seen[order[d]])
            tdc_refuse(e, TDC_ERR_ARGUMENT, "repeated dim in permute");
        seen[order[d]] = true;
    }
    tdc_give(e, tdc_permute(e, x, order));
}

static void transpose(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    tdc_give(e, tdc_swap(e, x, tdc_dim_argument(e, "dim0", x->rank),
                         tdc_dim_argument(e, "dim1", x->rank)));
}

static void transposed(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    if (x->rank > 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "t() expects a tensor with <= 2 dimensions");
    tdc_give(e, x->rank == 2 ? tdc_swap(e, x, 0, 1) : x);
}

static void moveaxis(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    int64_t from[RANK], to[RANK];
    unsigned order[RANK], next = 0;
    bool moved[RANK] = {false}, taken[RANK] = {false};
    size_t count = tdc_ints_argument(e, "source", from, RANK);
    if (count != tdc_ints_argument(e, "destination", to, RANK) || count > x->rank)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "source and destination differ in length");
    for (size_t i = 0; i < count; i++) {
        unsigned s = tdc_dimension(e, from[i], x->rank), t = tdc_dimension(e, to[i], x->rank);
        if (moved[s] || taken[t])
            tdc_refuse(e, TDC_ERR_ARGUMENT, "repeated dim");
        moved[s] = taken[t] = true;
        order[t] = s;
    }
    for (unsigned d = 0; d < x->rank; d++) {
        if (taken[d])
            continue;
        while (moved[next])
            next++;
        order[d] = next++;
    }
    tdc_give(e, tdc_permute(e, x, order));
}

static void flip(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    int64_t dims[RANK];
    size_t count = tdc_ints_argument(e, "dims", dims, RANK);
    tdc_array *y = x;
    for (size_t i = 0; i < count; i++)
        y = tdc_flip(e, y, tdc_dimension(e, dims[i], x->rank));
    tdc_give(e, y);
}

static void flip_fixed(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    unsigned dim = (unsigned)e->definition->variant;
    if (x->rank <= dim)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "too few dimensions");
    tdc_give(e, tdc_flip(e, x, dim));
}

static tdc_array *roll_dim(tdc_evaluation *e, tdc_array *x, unsigned dim, int64_t shift)
{
    int64_t n = x->shape[dim];
    if (n == 0)
        return x;
    int64_t start = ((shift % n) + n) % n;
    tdc_array *parts[2] = {tdc_slice(e, x, dim, n - start, start, 1),
                           tdc_slice(e, x, dim, 0, n - start, 1)};
    return tdc_concatenate(e, parts, 2, dim);
}

static void roll(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    int64_t shifts[RANK], dims[RANK];
    size_t count = tdc_ints_argument(e, "shifts", shifts, RANK);
    if (!tdc_given(e, "dims") || tdc_ints_argument(e, "dims", dims, RANK) == 0) {
        tdc_array *flat = tdc_reshape(e, x, 1, &x->count);
        tdc_give(e, tdc_reshape(e, roll_dim(e, flat, 0, shifts[0]), x->rank, x->shape));
        return;
    }
    if (tdc_ints_argument(e, "dims", dims, RANK) != count || x->rank == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "shifts and dims must have the same length");
    tdc_array *y = x;
    for (size_t i = 0; i < count; i++)
        y = roll_dim(e, y, tdc_dimension(e, dims[i], x->rank), shifts[i]);
    tdc_give(e, y);
}

static void rot90(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    int64_t dims[2] = {0, 1};
    if (tdc_given(e, "dims") && tdc_ints_argument(e, "dims", dims, 2) != 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "two dims expected");
    unsigned a = tdc_dimension(e, dims[0], x->rank), b = tdc_dimension(e, dims[1], x->rank);
    int64_t turns = ((tdc_int_argument(e, "k") % 4) + 4) % 4;
    for (int64_t i = 0; i < turns; i++)
        x = tdc_flip(e, tdc_swap(e, x, a, b), a);
    tdc_give(e, x);
}

/* ---- repetitions -------------------------------------------------------------------------------
 */

static void expand_to(tdc_evaluation *e, tdc_array *x, size_t rank, int64_t *shape)
{
    for (size_t d = 0; d < rank; d++)
        if (shape[d] == -1) {
            if (rank - d > x->rank)
                tdc_refuse(e, TDC_ERR_ARGUMENT, "-1 for a new dimension");
            shape[d] = x->shape[x->rank - (rank - d)];
        }
    tdc_give(e, tdc_expand(e, x, (unsigned)rank, shape));
}

static void expand(tdc_evaluation *e)
{
    int64_t shape[RANK];
    size_t rank = tdc_ints_argument(e, "shape", shape, RANK);
    expand_to(e, tdc_array_argument(e, "input"), rank, shape);
}

static void expand_as(tdc_evaluation *e)
{
    tdc_array *other = tdc_array_argument(e, "other");
    tdc_give(e, tdc_expand(e, tdc_array_argument(e, "input"), other->rank, other->shape));
}

/* [.., n, ..] as [.., 1, n, ..] expanded: the copies follow each other. */
static tdc_array *repeat_dim(tdc_evaluation *e, tdc_array *x, unsigned dim, int64_t times,
                             bool each)
{
    int64_t shape[RANK];
    if (times == 1)
        return x;
    tdc_array *y = tdc_unsqueeze(e, x, each ? dim + 1 : dim);
    memcpy(shape, y->shape, sizeof shape);
    shape[each ? dim + 1 : dim] = times;
    y = tdc_expand(e, y, y->rank, shape);
    memcpy(shape, x->shape, sizeof shape);
    if (__builtin_mul_overflow(shape[dim], times, &shape[dim]))
        tdc_refuse(e, TDC_ERR_MEMORY, "a size overflows");
    return tdc_reshape(e, y, x->rank, shape);
}

static void tile(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    int64_t times[RANK];
    size_t count = tdc_ints_argument(e, "dims", times, RANK);
    while (x->rank < count)
        x = tdc_unsqueeze(e, x, 0);
    for (size_t i = 0; i < count; i++) {
        if (times[i] < 0)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "negative repetitions");
        x = repeat_dim(e, x, (unsigned)(x->rank - count + i), times[i], false);
    }
    tdc_give(e, x);
}

static tdc_array *repeat_by(tdc_evaluation *e, tdc_array *x, unsigned dim, const tdc_array *repeats)
{
    int64_t total = 0, n = x->shape[dim], strides[RANK], shape[RANK];
    if (repeats->rank != 1 || repeats->count != n || tdc_dtype_is_floating(repeats->dtype))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "repeats must have one int per element");
    for (int64_t i = 0; i < n; i++)
        if (repeats->whole[i] < 0 || __builtin_add_overflow(total, repeats->whole[i], &total))
            tdc_refuse(e, TDC_ERR_ARGUMENT, "repeats can not be negative");
    tdc_array **pieces = tdc_take(e, n + 1, sizeof *pieces);
    tdc_strides(x, strides);
    memcpy(shape, x->shape, sizeof shape);
    for (int64_t i = 0; i < n; i++) {
        shape[dim] = repeats->whole[i];
        pieces[i] = tdc_expand(e, tdc_slice(e, x, dim, i, 1, 1), x->rank, shape);
    }
    shape[dim] = 0;
    pieces[n] = tdc_zeros(e, x->dtype, x->rank, shape);
    return tdc_concatenate(e, pieces, (size_t)n + 1, dim);
}

static void repeat_interleave(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    if (!tdc_given(e, "dim"))
        x = tdc_reshape(e, x, 1, &x->count);
    unsigned dim = tdc_given(e, "dim") ? tdc_dim_argument(e, "dim", x->rank) : 0;
    const tdc_call_value *repeats = tdc_argument(e, "repeats");
    if (repeats->kind == TDC_VALUE_TENSOR && repeats->tensor->count != 1) {
        tdc_give(e, repeat_by(e, x, dim, repeats->tensor));
        return;
    }
    int64_t times[1];
    if (tdc_ints_argument(e, "repeats", times, 1) != 1 || times[0] < 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "repeats must not be negative");
    tdc_give(e, repeat_dim(e, x, dim, times[0], true));
}

#define METHODS TDC_IN_METHODS
static const struct tdc_operator rows[] = {
    {"reshape view", METHODS, "input, *shape", reshape, 0, 0},
    {"npu_reshape", TDC_IN_NPU, "input, shape, can_refresh=False", reshape, 0, 0},
    {"view_as reshape_as", METHODS, "input, other", view_as, 0, 0},
    {"flatten", METHODS, "input, start_dim=0, end_dim=-1", flatten, 0, 0},
    {"ravel", METHODS, "input, start_dim=0, end_dim=-1", flatten, 0, 0},
    {"unflatten", METHODS, "input, dim, sizes", unflatten, 0, 0},
    {"unsqueeze", METHODS, "input, dim", unsqueeze, 0, 0},
    {"squeeze", METHODS, "input, dim=None", squeeze, 0, 0},
    {"permute", METHODS, "input, *dims", permute, 0, 0},
    {"npu_transpose", TDC_IN_NPU, "input, dims, require_contiguous=True", permute, 0, 0},
    {"transpose swapaxes swapdims", METHODS, "input, dim0, dim1", transpose, 0, 0},
    {"t", METHODS, "input", transposed, 0, 0},
    {"moveaxis movedim", METHODS, "input, source, destination", moveaxis, 0, 0},
    {"flip", METHODS, "input, *dims", flip, 0, 0},
    {"flipud", METHODS, "input", flip_fixed, 0, 0},
    {"fliplr", METHODS, "input", flip_fixed, 1, 0},
    {"roll", METHODS, "input, shifts, dims=None", roll, 0, 0},
    {"rot90", METHODS, "input, k=1, dims=None", rot90, 0, 0},
    {"broadcast_to expand", METHODS, "input, *shape", expand, 0, 0},
    {"npu_broadcast", TDC_IN_NPU, "input, shape", expand, 0, 0},
    {"expand_as", METHODS, "input, other", expand_as, 0, 0},
    {"tile repeat", METHODS, "input, *dims", tile, 0, 0},
    {"repeat_interleave", METHODS, "input, repeats, dim=None, *, output_size=None",
     repeat_interleave, 0, 0},
};
const struct tdc_operator_family tdc_shape_family = TDC_FAMILY("shapes", rows);
