#include <math.h>
#include <string.h>

#include "reference/arguments.h"
#include "reference/bounds.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/promote.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/move.h"
#include "reference/primitives/reduce.h"
#include "reference/primitives/sort.h"
#include "reference/tape.h"

/* What the dims, keepdim and dtype arguments ask for. */
struct wish {
    tdc_array *x;
    bool reduced[TDC_REFERENCE_RANK];
    bool keepdim;
};

static struct wish read_wish(tdc_evaluation *e)
{
    struct wish w = {.x = tdc_array_argument(e, "input")};
    tdc_dims_argument(e, "dim", w.x->rank, w.reduced);
    w.keepdim = tdc_bool_argument(e, "keepdim");
    return w;
}

static tdc_array *shaped(tdc_evaluation *e, const struct wish *w, tdc_array *y)
{
    return tdc_reduced_shape(e, y, w->x, w->reduced, w->keepdim);
}

static void sum(tdc_evaluation *e)
{
    struct wish w = read_wish(e);
    tdc_dtype natural = tdc_dtype_is_floating(w.x->dtype) ? TDC_F64 : TDC_I64;
    tdc_dtype dtype = tdc_dtype_argument(e, "dtype", natural);
    tdc_array *x = tdc_dtype_is_floating(dtype) ? tdc_to_real(e, w.x) : tdc_convert(e, w.x, dtype);
    tdc_give(e, tdc_convert(e, tdc_sum(e, x, w.reduced, w.keepdim), dtype));
}

static void mean(tdc_evaluation *e)
{
    struct wish w = read_wish(e);
    bool typed = tdc_given(e, "dtype");
    if (!typed && !tdc_dtype_is_floating(w.x->dtype))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "mean of integers needs a floating dtype");
    tdc_give(e, tdc_mean(e, w.x, w.reduced, w.keepdim));
}

static tdc_array *without_nan(tdc_evaluation *e, tdc_array *x, tdc_array **present)
{
    *present = tdc_relate(e, TDC_EQ, x, x);
    return tdc_select(e, *present, x, tdc_number(e, 0));
}

static void nansum(tdc_evaluation *e)
{
    struct wish w = read_wish(e);
    tdc_array *present;
    tdc_array *x = without_nan(e, tdc_to_real(e, w.x), &present);
    tdc_array *y = tdc_sum(e, x, w.reduced, w.keepdim);
    if (e->definition->variant != 0)
        y = tdc_div(e, y, tdc_sum(e, tdc_to_real(e, present), w.reduced, w.keepdim));
    tdc_give(e, y);
}

static void prod(tdc_evaluation *e)
{
    struct wish w = read_wish(e);
    tdc_dtype natural = tdc_dtype_is_floating(w.x->dtype) ? TDC_F64 : TDC_I64;
    tdc_dtype dtype = tdc_dtype_argument(e, "dtype", natural);
    tdc_array *x = tdc_dtype_is_floating(dtype) ? tdc_to_real(e, w.x) : tdc_convert(e, w.x, dtype);
    tdc_array *y = tdc_product_rows(e, tdc_rows(e, x, w.reduced));
    tdc_give(e, tdc_convert(e, shaped(e, &w, y), dtype));
}

static void give_with_index(tdc_evaluation *e, const struct wish *w, tdc_array *rows,
                            tdc_array *index)
{
    tdc_give(e, shaped(e, w, tdc_pick(e, rows, index)));
    tdc_give(e, shaped(e, w, index));
}

/* max and min: of all, along a dim with indices, or of two tensors. */
static void extreme(tdc_evaluation *e)
{
    bool largest = e->definition->variant != 0;
    const tdc_call_value *dim = tdc_argument(e, "dim");
    if (dim->kind == TDC_VALUE_TENSOR && dim->tensor != NULL && !dim->tensor->number) {
        tdc_give(e, tdc_combine_any(e, largest ? TDC_MAXIMUM : TDC_MINIMUM,
                                    tdc_array_argument(e, "input"), dim->tensor));
        return;
    }
    struct wish w = read_wish(e);
    tdc_array *rows = tdc_rows(e, w.x, w.reduced);
    if (tdc_given(e, "dim"))
        give_with_index(e, &w, rows, tdc_extreme_index(e, rows, largest));
    else
        tdc_give(e, shaped(e, &w, tdc_extreme_shared(e, rows, largest)));
}

static void extreme_values(tdc_evaluation *e)
{
    struct wish w = read_wish(e);
    tdc_array *rows = tdc_rows(e, w.x, w.reduced);
    if (e->definition->variant != 1)
        tdc_give(e, shaped(e, &w, tdc_extreme_shared(e, rows, false)));
    if (e->definition->variant != 0)
        tdc_give(e, shaped(e, &w, tdc_extreme_shared(e, rows, true)));
}

static void extreme_index(tdc_evaluation *e)
{
    struct wish w = read_wish(e);
    tdc_array *index =
        tdc_extreme_index(e, tdc_rows(e, w.x, w.reduced), e->definition->variant != 0);
    tdc_give(e, shaped(e, &w, index));
}

/* Index of the k-th smallest of each row (from 0), or of a NaN when the row has one. */
static tdc_array *kth_index(tdc_evaluation *e, tdc_array *rows, int64_t k, bool nan_wins)
{
    tdc_array *order = tdc_order_rows(e, rows, false);
    int64_t n = rows->shape[rows->rank - 1];
    tdc_array *index = tdc_new(e, TDC_I64, rows->rank - 1, rows->shape);
    if (n == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "an empty dimension");
    for (int64_t r = 0; r < index->count; r++) {
        const int64_t *row = order->whole + r * n;
        bool floating = tdc_dtype_is_floating(rows->dtype);
        int64_t at = k;
        if (nan_wins && floating && isnan(rows->real[r * n + row[n - 1]]))
            for (at = n - 1; at > 0 && isnan(rows->real[r * n + row[at - 1]]);)
                at--;
        index->whole[r] = row[at];
    }
    return index;
}

static void pull_median(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *x = node->inputs[0];
    tdc_array *g = tdc_new_like(e, TDC_F64, x);
    int64_t equals = 0;
    for (int64_t i = 0; i < x->count; i++)
        equals += tdc_compare_reals(x->real[i], node->output->real[0]) == 0;
    for (int64_t i = 0; i < x->count; i++)
        g->real[i] = tdc_compare_reals(x->real[i], node->output->real[0]) == 0
                         ? gradient->real[0] / (double)equals
                         : 0;
    if (tdc_is_bounded(e) && equals == 1 && gradient->error == NULL)
        tdc_bound_exactly(g);
    tdc_collect(e, x, g);
}

/* Index of the lower median of what is no NaN; of a NaN when there is nothing else. */
static tdc_array *nanmedian_index(tdc_evaluation *e, tdc_array *rows)
{
    tdc_array *order = tdc_order_rows(e, rows, false);
    int64_t n = rows->shape[rows->rank - 1];
    tdc_array *index = tdc_new(e, TDC_I64, rows->rank - 1, rows->shape);
    bool floating = tdc_dtype_is_floating(rows->dtype);
    if (n == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "an empty dimension");
    for (int64_t r = 0; r < index->count; r++) {
        const int64_t *row = order->whole + r * n;
        int64_t count = n;
        while (floating && count > 1 && isnan(rows->real[r * n + row[count - 1]]))
            count--;
        index->whole[r] = row[(count - 1) / 2];
    }
    return index;
}

static void median(tdc_evaluation *e)
{
    struct wish w = read_wish(e);
    tdc_array *rows = tdc_rows(e, w.x, w.reduced);
    tdc_array *index = e->definition->variant != 0
                           ? nanmedian_index(e, rows)
                           : kth_index(e, rows, (rows->shape[rows->rank - 1] - 1) / 2, true);
    if (tdc_given(e, "dim")) {
        give_with_index(e, &w, rows, index);
        return;
    }
    tdc_array *y = tdc_pick(e, tdc_constant(e, rows), index);
    tdc_note(e, y, pull_median, NULL, 1, &rows);
    tdc_give(e, y);
}

static void kthvalue(tdc_evaluation *e)
{
    struct wish w = read_wish(e);
    tdc_array *rows = tdc_rows(e, w.x, w.reduced);
    int64_t k = tdc_int_argument(e, "k");
    if (k < 1 || k > rows->shape[rows->rank - 1])
        tdc_refuse(e, TDC_ERR_ARGUMENT, "k is out of range");
    give_with_index(e, &w, rows, kth_index(e, rows, k - 1, false));
}

static void truths(tdc_evaluation *e)
{
    struct wish w = read_wish(e);
    bool all = e->definition->variant != 0;
    tdc_array *rows = tdc_rows(e, tdc_truth(e, w.x), w.reduced);
    int64_t n = rows->shape[rows->rank - 1];
    tdc_array *y =
        tdc_new(e, w.x->dtype == TDC_U8 ? TDC_U8 : TDC_BOOL, rows->rank - 1, rows->shape);
    for (int64_t r = 0; r < y->count; r++) {
        int64_t found = 0;
        for (int64_t i = 0; i < n; i++)
            found += rows->whole[r * n + i];
        y->whole[r] = all ? found == n : found > 0;
    }
    tdc_give(e, shaped(e, &w, y));
}

static void count_nonzero(tdc_evaluation *e)
{
    tdc_array *x = tdc_truth(e, tdc_array_argument(e, "input"));
    bool reduced[TDC_REFERENCE_RANK];
    tdc_dims_argument(e, "dim", x->rank, reduced);
    tdc_give(e, tdc_sum(e, x, reduced, false));
}

static void trace(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    if (x->rank != 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "trace needs a matrix");
    int64_t n = x->shape[0] < x->shape[1] ? x->shape[0] : x->shape[1];
    tdc_give(e, tdc_sum_all(e, tdc_view(e, x, 1, &n, (const int64_t[]){x->shape[1] + 1}, 0)));
}

static void pull_logsumexp(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *x = node->inputs[0], *y = node->output;
    int64_t shape[TDC_REFERENCE_RANK];
    memcpy(shape, x->shape, sizeof shape);
    shape[x->rank - 1] = 1;
    tdc_array *total = tdc_reshape(e, tdc_constant(e, y), x->rank, shape);
    tdc_array *share = tdc_apply(e, TDC_EXP, tdc_sub(e, tdc_constant(e, x), total));
    tdc_collect(e, x, tdc_mul(e, share, tdc_reshape(e, gradient, x->rank, shape)));
}

static void logsumexp(tdc_evaluation *e)
{
    struct wish w = read_wish(e);
    tdc_array *rows = tdc_rows(e, tdc_to_real(e, w.x), w.reduced), *x = tdc_constant(e, rows);
    int64_t n = rows->shape[rows->rank - 1];
    tdc_array *top = n == 0 ? tdc_zeros(e, TDC_F64, rows->rank - 1, rows->shape)
                            : tdc_extreme_shared(e, x, true);
    for (int64_t i = 0; i < top->count; i++)
        top->real[i] = isinf(top->real[i]) ? 0 : top->real[i];
    tdc_array *shifted = tdc_sub(e, x, tdc_unsqueeze(e, top, top->rank));
    tdc_array *total = tdc_sum_rows(e, tdc_apply(e, TDC_EXP, shifted));
    tdc_array *y = tdc_add(e, tdc_apply(e, TDC_LOG, total), top);
    tdc_note(e, y, pull_logsumexp, NULL, 1, &rows);
    tdc_give(e, shaped(e, &w, y));
}

#define METHODS TDC_IN_METHODS
#define DIMS    "input, dim=None, keepdim=False"
static const struct tdc_operator rows[] = {
    {"sum", METHODS, DIMS ", *, dtype=None", sum, 0, 0},
    {"mean", METHODS, DIMS ", *, dtype=None", mean, 0, 0},
    {"nansum", METHODS, DIMS ", *, dtype=None", nansum, 0, 0},
    {"nanmean", METHODS, DIMS ", *, dtype=None", nansum, 1, 0},
    {"prod", METHODS, DIMS ", *, dtype=None", prod, 0, 0},
    {"max", METHODS, "input, dim=None, keepdim=False", extreme, 1, 0},
    {"min", METHODS, "input, dim=None, keepdim=False", extreme, 0, 0},
    {"npu_max", TDC_IN_NPU, "input, dim, keepdim=False", extreme, 1, 0},
    {"npu_min", TDC_IN_NPU, "input, dim, keepdim=False", extreme, 0, 0},
    {"amin", METHODS, DIMS, extreme_values, 0, 0},
    {"amax", METHODS, DIMS, extreme_values, 1, 0},
    {"aminmax _aminmax", METHODS, "input, *, dim=None, keepdim=False", extreme_values, 2, 0},
    {"median", METHODS, DIMS, median, 0, 0},
    {"nanmedian", METHODS, DIMS, median, 1, 0},
    {"kthvalue", METHODS, "input, k, dim=-1, keepdim=False", kthvalue, 0, 0},
    {"argmax", METHODS, DIMS, extreme_index, 1, TDC_NO_GRADIENT},
    {"argmin", METHODS, DIMS, extreme_index, 0, TDC_NO_GRADIENT},
    {"all", METHODS, DIMS, truths, 1, TDC_NO_GRADIENT},
    {"any", METHODS, DIMS, truths, 0, TDC_NO_GRADIENT},
    {"count_nonzero", METHODS, "input, dim=None", count_nonzero, 0, TDC_NO_GRADIENT},
    {"trace", METHODS, "input", trace, 0, 0},
    {"logsumexp", METHODS, "input, dim, keepdim=False", logsumexp, 0, 0},
};
const struct tdc_operator_family tdc_reduction_family = TDC_FAMILY("reductions", rows);
