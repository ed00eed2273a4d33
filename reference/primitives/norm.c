/* Norms of rows. */
#include <math.h>

#include "reference/bounds.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/reduce.h"
#include "reference/tape.h"

/* Of g = gradient x / y. */
static void bound_pull(tdc_evaluation *e, const tdc_array *x, const tdc_array *y,
                       const tdc_array *gradient, tdc_array *g)
{
    int64_t n = x->shape[x->rank - 1];
    double *errors = tdc_new_errors(e, g);
    for (int64_t i = 0; i < g->count; i++) {
        double norm = y->real[i / n], by = gradient->real[i / n];
        double share = norm == 0 ? 0 : x->real[i] / norm;
        errors[i] = norm == 0 ? 0
                              : tdc_error_times(share, tdc_error_at(gradient, i / n)) +
                                    tdc_error_times(by / norm, tdc_error_at(x, i)) +
                                    tdc_error_times(by * share / norm, tdc_error_at(y, i / n)) +
                                    tdc_own_error(e, 2 * TDC_BASIC, g->real[i]);
    }
}

static void bound_norms(tdc_evaluation *e, const tdc_array *x, tdc_array *y)
{
    int64_t n = x->shape[x->rank - 1];
    double *errors = tdc_new_errors(e, y);
    /* one accumulator for millions of squares, all of one sign: its roundings do not cancel as
     * those of other sums */
    double weight = 2 * TDC_BASIC + 1.5 * tdc_sum_weight((double)n);
    for (int64_t r = 0; r < y->count; r++) {
        double carried = 0, norm = y->real[r];
        for (int64_t i = r * n; x->error != NULL && i < (r + 1) * n; i++)
            carried += norm == 0 ? x->error[i] : tdc_error_times(x->real[i] / norm, x->error[i]);
        errors[r] = carried + (n > 1 ? tdc_own_error(e, weight, norm) : 0);
    }
}

/* x / y with 0 where y is 0: what a norm's gradient is at the origin. */
static void pull_norm_2(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *x = node->inputs[0], *y = node->output;
    tdc_array *g = tdc_new_like(e, TDC_F64, x);
    int64_t n = x->shape[x->rank - 1];
    TDC_SPREAD(x->count, r, y->count, {
        for (int64_t i = r * n; i < (r + 1) * n; i++)
            g->real[i] =
                y->real[r] == 0 ? 0 : gradient->real[r] * tdc_step(e, x->real[i] / y->real[r]);
    });
    if (tdc_is_bounded(e))
        bound_pull(e, x, y, gradient, g);
    tdc_collect(e, x, g);
}

/* Scaled by the largest magnitude when the squares would overflow or vanish. */
static double row_norm(const double *x, int64_t n)
{
    double top = 0;
    for (int64_t i = 0; i < n; i++)
        top = fabs(x[i]) > top ? fabs(x[i]) : top;
    double unit = top > 1e150 || (top > 0 && top < 1e-150) ? top : 1;
    if (unit == 1 || !isfinite(unit))
        return sqrt(tdc_pairwise_dot(x, x, n));
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (x[i] / unit) * (x[i] / unit);
    return unit * sqrt(sum);
}

static tdc_array *norm_2(tdc_evaluation *e, tdc_array *rows)
{
    int64_t n = rows->shape[rows->rank - 1];
    tdc_array *y = tdc_new(e, TDC_F64, rows->rank - 1, rows->shape);
    TDC_SPREAD(rows->count, r, y->count, {
        y->real[r] = tdc_is_narrow(e) ? sqrt(tdc_narrow_squares(rows->real + r * n, n))
                                      : row_norm(rows->real + r * n, n);
    });
    if (tdc_is_bounded(e))
        bound_norms(e, rows, y);
    tdc_note(e, y, pull_norm_2, NULL, 1, &rows);
    return y;
}

tdc_array *tdc_norm_rows(tdc_evaluation *e, tdc_array *rows, double p)
{
    if (p == 2)
        return norm_2(e, rows);
    tdc_array *magnitude = tdc_apply(e, TDC_ABS, rows);
    if (p == 1)
        return tdc_sum_rows(e, magnitude);
    if (isinf(p))
        return tdc_extreme_shared(e, magnitude, p > 0);
    if (p == 0)
        return tdc_sum_rows(e, tdc_apply(e, TDC_CEIL, tdc_apply(e, TDC_SIGN, magnitude)));
    tdc_array *total = tdc_sum_rows(e, tdc_apply_with(e, TDC_POWER, magnitude, p, 0, 0));
    return tdc_apply_with(e, TDC_POWER, total, 1 / p, 0, 0);
}
