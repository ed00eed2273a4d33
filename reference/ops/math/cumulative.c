#include <math.h>
#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/promote.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/move.h"
#include "reference/primitives/reduce.h"
#include "reference/primitives/scan.h"
#include "reference/tape.h"

static void running(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    tdc_dtype dtype =
        tdc_dtype_argument(e, "dtype", tdc_dtype_is_floating(x->dtype) ? TDC_F64 : TDC_I64);
    tdc_array *rows = tdc_dim_last(e, tdc_convert(e, x, dtype), dim);
    tdc_array *y =
        e->definition->variant != 0 ? tdc_cumulative_product(e, rows) : tdc_cumulative_sum(e, rows);
    y = tdc_dim_back(e, y, dim);
    tdc_give(e, tdc_reshape(e, tdc_convert(e, y, dtype), x->rank, x->shape));
}

/* The later of equals wins, NaN beats everything. */
static bool replaces(const tdc_array *rows, int64_t candidate, int64_t best, bool largest)
{
    if (!tdc_dtype_is_floating(rows->dtype))
        return largest ? rows->whole[candidate] >= rows->whole[best]
                       : rows->whole[candidate] <= rows->whole[best];
    double c = rows->real[candidate], b = rows->real[best];
    if (c != c)
        return true;
    return b == b && (largest ? c >= b : c <= b);
}

static void running_extreme(tdc_evaluation *e)
{
    bool largest = e->definition->variant != 0;
    tdc_array *x = tdc_array_argument(e, "input");
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    tdc_array *rows = tdc_dim_last(e, x, dim);
    tdc_array *index = tdc_new_like(e, TDC_I64, rows);
    int64_t n = rows->shape[rows->rank - 1];
    for (int64_t base = 0; base < rows->count; base += n) {
        int64_t best = 0;
        for (int64_t i = 0; i < n; i++) {
            if (i == 0 || replaces(rows, base + i, base + best, largest))
                best = i;
            index->whole[base + i] = best;
        }
    }
    tdc_array *y = tdc_dim_back(e, tdc_pick(e, rows, index), dim);
    tdc_give(e, tdc_reshape(e, y, x->rank, x->shape));
    tdc_give(e, tdc_reshape(e, tdc_dim_back(e, index, dim), x->rank, x->shape));
}

/* y_i = log(sum of exp(x_0 .. x_i)); dx_j = sum over i >= j of g_i exp(x_j - y_i) */
static void pull_log_sums(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *x = node->inputs[0], *y = node->output;
    tdc_array *g = tdc_new_like(e, TDC_F64, x);
    int64_t n = x->shape[x->rank - 1];
    for (int64_t base = 0; base < x->count; base += n) {
        /* sum of g_i exp(-y_i), kept relative to exp(-y) of the place it stands at */
        double tail = 0;
        for (int64_t i = n; i-- > 0;) {
            const double *own = y->real + base;
            if (i + 1 < n)
                tail *= own[i] == own[i + 1] ? 1 : exp(own[i] - own[i + 1]);
            tail = tdc_partial(e, tdc_partial(e, tail) + gradient->real[base + i]);
            g->real[base + i] = tail * (x->real[base + i] == own[i] && isfinite(own[i])
                                            ? 1
                                            : exp(x->real[base + i] - own[i]));
        }
    }
    tdc_collect(e, x, g);
}

static void log_sums(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input");
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    tdc_array *rows = tdc_dim_last(e, x, dim), *y = tdc_new_like(e, TDC_F64, rows);
    int64_t n = rows->shape[rows->rank - 1];
    for (int64_t base = 0; base < rows->count; base += n) {
        double sum = -(double)INFINITY;
        for (int64_t i = base; i < base + n; i++) {
            double v = rows->real[i], top = v > sum ? v : sum;
            if (isnan(v) || isnan(sum))
                sum = (double)NAN;
            else
                sum =
                    isinf(top) ? top : tdc_partial(e, top + log1p(exp((v > sum ? sum : v) - top)));
            y->real[i] = sum;
        }
    }
    tdc_note(e, y, pull_log_sums, NULL, 1, &rows);
    tdc_give(e, tdc_reshape(e, tdc_dim_back(e, y, dim), x->rank, x->shape));
}

/* Differences of neighbours, n times over. */
static void diff(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    int64_t n = tdc_int_argument(e, "n");
    tdc_array *parts[3];
    size_t count = 0;
    if (x->rank == 0 || n < 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a dimension and a non-negative n expected");
    if (tdc_given(e, "prepend"))
        parts[count++] = tdc_array_argument(e, "prepend");
    parts[count++] = x;
    if (tdc_given(e, "append"))
        parts[count++] = tdc_array_argument(e, "append");
    if (count > 1)
        x = tdc_concatenate(e, parts, count, dim);
    for (; n > 0 && x->shape[dim] > 0; n--) {
        int64_t left = x->shape[dim] - 1;
        x = tdc_combine_any(e, x->dtype == TDC_BOOL ? TDC_XOR : TDC_SUB,
                            tdc_slice(e, x, dim, 1, left, 1), tdc_slice(e, x, dim, 0, left, 1));
    }
    tdc_give(e, x);
}

/* Areas under lines between the points, each or (variant 0) their sum. */
static void trapezoids(tdc_evaluation *e)
{
    tdc_array *y = tdc_real_array_argument(e, "y");
    unsigned dim = tdc_dim_argument(e, "dim", y->rank);
    if (y->rank == 0 || y->shape[dim] < 1)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "points expected");
    int64_t left = y->shape[dim] - 1;
    tdc_array *sum = tdc_add(e, tdc_slice(e, y, dim, 1, left, 1), tdc_slice(e, y, dim, 0, left, 1)),
              *width;
    if (tdc_given(e, "x")) {
        tdc_array *x = tdc_real_array_argument(e, "x");
        if (x->rank == 1 && y->rank > 1) {
            int64_t shape[TDC_REFERENCE_RANK];
            for (unsigned d = 0; d < y->rank; d++)
                shape[d] = d == dim ? x->count : 1;
            x = tdc_reshape(e, x, y->rank, shape);
        }
        if (x->rank != y->rank || x->shape[dim] != y->shape[dim])
            tdc_refuse(e, TDC_ERR_ARGUMENT, "x does not fit y");
        width = tdc_sub(e, tdc_slice(e, x, dim, 1, left, 1), tdc_slice(e, x, dim, 0, left, 1));
    } else {
        width = tdc_number(e, tdc_real_argument(e, "dx"));
    }
    tdc_array *area = tdc_scale(e, tdc_mul(e, sum, width), 0.5);
    if (e->definition->variant == 0) {
        tdc_give(e, tdc_sum_dim(e, area, dim, false));
        return;
    }
    tdc_array *rows = tdc_cumulative_sum(e, tdc_dim_last(e, area, dim));
    tdc_give(e, tdc_dim_back(e, rows, dim));
}

static const struct tdc_operator rows[] = {
    {"logcumsumexp", TDC_IN_METHODS, "input, dim", log_sums, 0, 0},
    {"diff", TDC_IN_METHODS, "input, n=1, dim=-1, prepend=None, append=None", diff, 0, 0},
    {"trapz trapezoid", TDC_IN_TORCH | TDC_IN_MINT, "y, x=None, *, dx=1, dim=-1", trapezoids, 0, 0},
    {"cumulative_trapezoid", TDC_IN_TORCH | TDC_IN_MINT, "y, x=None, *, dx=1, dim=-1", trapezoids,
     1, 0},
    {"cumsum", TDC_IN_METHODS, "input, dim, dtype=None", running, 0, 0},
    {"cumprod", TDC_IN_METHODS, "input, dim, dtype=None", running, 1, 0},
    {"cummax", TDC_IN_METHODS, "input, dim", running_extreme, 1, 0},
    {"cummin", TDC_IN_METHODS, "input, dim", running_extreme, 0, 0},
};
const struct tdc_operator_family tdc_cumulative_family = TDC_FAMILY("cumulative", rows);
