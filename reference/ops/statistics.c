/* Norms, variances, histograms. */
#include <math.h>
#include <string.h>

#include "reference/arithmetic.h"

/* x / y with 0 where y is 0: what a norm's gradient is at the origin. */
static void pull_norm_2(evaluation *e, struct tdc_tape_node *node, array *gradient)
{
    array *x = node->inputs[0], *y = node->output;
    array *g = tdc_new_like(e, TDC_F64, x);
    int64_t n = x->shape[x->rank - 1];
    for (int64_t r = 0; r < y->count; r++)
        for (int64_t i = r * n; i < (r + 1) * n; i++)
            g->real[i] =
                y->real[r] == 0 ? 0 : gradient->real[r] * tdc_step(e, x->real[i] / y->real[r]);
    tdc_collect(e, x, g);
}

/* Scaled by the largest magnitude when the squares would overflow or vanish. */
static double row_norm(const evaluation *e, const double *x, int64_t n, double *squares)
{
    double top = 0;
    for (int64_t i = 0; i < n; i++)
        top = fabs(x[i]) > top ? fabs(x[i]) : top;
    double unit = top > 1e150 || (top > 0 && top < 1e-150) ? top : 1;
    if (!isfinite(unit))
        unit = 1;
    for (int64_t i = 0; i < n; i++)
        squares[i] = tdc_partial(e, (x[i] / unit) * (x[i] / unit));
    return unit * sqrt(tdc_row_sum(e, squares, n));
}

static array *norm_2(evaluation *e, array *rows)
{
    int64_t n = rows->shape[rows->rank - 1];
    array *y = tdc_new(e, TDC_F64, rows->rank - 1, rows->shape);
    double *squares = tdc_take(e, n, sizeof *squares);
    for (int64_t r = 0; r < y->count; r++)
        y->real[r] = row_norm(e, rows->real + r * n, n, squares);
    tdc_note(e, y, pull_norm_2, NULL, 1, &rows);
    return y;
}

static array *norm_p(evaluation *e, array *rows, double p)
{
    if (p == 2)
        return norm_2(e, rows);
    array *magnitude = tdc_apply(e, TDC_ABS, rows);
    if (p == 1)
        return tdc_sum_rows(e, magnitude);
    if (isinf(p))
        return tdc_extreme_shared(e, magnitude, p > 0);
    if (p == 0)
        return tdc_sum_rows(e, tdc_apply(e, TDC_CEIL, tdc_apply(e, TDC_SIGN, magnitude)));
    array *total = tdc_sum_rows(e, tdc_apply_with(e, TDC_POWER, magnitude, p, 0, 0));
    return tdc_apply_with(e, TDC_POWER, total, 1 / p, 0, 0);
}

static double order_argument(evaluation *e, const char *name)
{
    const value *p = tdc_argument(e, name);
    if (p->kind == TDC_VALUE_NULL)
        return 2;
    if (p->kind != TDC_VALUE_TEXT)
        return tdc_real_argument(e, name);
    if (strcmp(p->text, "fro") == 0)
        return 2;
    if (strcmp(p->text, "inf") == 0 || strcmp(p->text, "-inf") == 0)
        return p->text[0] == '-' ? -(double)INFINITY : (double)INFINITY;
    tdc_refuse(e, TDC_ERR_UNSUPPORTED, "norm '%.20s'", p->text);
}

static void norm(evaluation *e)
{
    array *x = tdc_real_array_argument(e, "input");
    bool reduced[TDC_REFERENCE_RANK];
    tdc_dims_argument(e, "dim", x->rank, reduced);
    array *y = norm_p(e, tdc_rows(e, x, reduced), order_argument(e, "p"));
    tdc_give(e, tdc_reduced_shape(e, y, x, reduced, tdc_bool_argument(e, "keepdim")));
}

static void dist(evaluation *e)
{
    array *d = tdc_sub(e, tdc_array_argument(e, "input"), tdc_array_argument(e, "other"));
    bool all[TDC_REFERENCE_RANK];
    memset(all, 1, sizeof all);
    tdc_give(e, norm_p(e, tdc_rows(e, d, all), tdc_real_argument(e, "p")));
}

/* torch's older form has unbiased=True where newer ones have correction=1, also positionally. */
static double correction_argument(evaluation *e)
{
    const value *c = tdc_argument(e, "correction");
    return c->kind == TDC_VALUE_NULL ? 1 : tdc_real_argument(e, "correction");
}

enum spread {
    VAR = 0,
    STD = 1,
    WITH_MEAN = 2
};

static void spread(evaluation *e)
{
    array *x = tdc_real_array_argument(e, "input");
    bool reduced[TDC_REFERENCE_RANK];
    int64_t n = 1;
    double correction = correction_argument(e);
    const value *dim = tdc_argument(e, "dim");
    bool flag_only = dim->kind == TDC_VALUE_BOOL; /* var(unbiased) */
    if (flag_only) {
        correction = (double)dim->whole;
        memset(reduced, 1, sizeof reduced);
    } else {
        tdc_dims_argument(e, "dim", x->rank, reduced);
    }
    for (unsigned d = 0; d < x->rank; d++)
        n *= reduced[d] ? x->shape[d] : 1;
    array *mean = tdc_mean(e, x, reduced, true);
    array *squares = tdc_apply(e, TDC_SQUARE, tdc_sub(e, x, mean));
    bool keepdim = tdc_bool_argument(e, "keepdim");
    array *y = tdc_sum(e, squares, reduced, keepdim);
    y = tdc_div(e, y, tdc_number(e, fmax((double)n - correction, 0)));
    if ((e->operator->variant & STD) != 0)
        y = tdc_apply(e, TDC_SQRT, y);
    tdc_give(e, y);
    if ((e->operator->variant & WITH_MEAN) != 0)
        tdc_give(e, tdc_mean(e, x, reduced, keepdim));
}

static void histc(evaluation *e)
{
    array *x = tdc_real_array_argument(e, "input");
    int64_t bins = tdc_int_argument(e, "bins");
    double low = tdc_real_argument(e, "min"), high = tdc_real_argument(e, "max");
    if (bins < 1)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "bins must be positive");
    if (low == high && x->count > 0) {
        low = high = x->real[0];
        for (int64_t i = 1; i < x->count; i++) {
            low = fmin(low, x->real[i]);
            high = fmax(high, x->real[i]);
        }
    }
    if (!isfinite(low) || !isfinite(high) || low > high)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "range is not finite");
    if (low == high) {
        low -= 1;
        high += 1;
    }
    array *y = tdc_zeros(e, TDC_F64, 1, &bins);
    for (int64_t i = 0; i < x->count; i++) {
        double v = x->real[i];
        if (!(v >= low && v <= high))
            continue;
        int64_t bin = (int64_t)((v - low) / (high - low) * (double)bins);
        y->real[bin < bins ? bin : bins - 1] += 1;
    }
    tdc_give(e, y);
}

#define METHODS TDC_IN_METHODS
#define SPREAD  "input, dim=None, correction=1, keepdim=False"
static const struct tdc_operator rows[] = {
    {"norm", METHODS, "input, p='fro', dim=None, keepdim=False, out=None, dtype=None", norm, 0, 0},
    {"linalg.norm linalg.vector_norm frobenius_norm", METHODS,
     "input, p=2, dim=None, keepdim=False, *, dtype=None", norm, 0, 0},
    {"dist", METHODS, "input, other, p=2", dist, 0, 0},
    {"var", METHODS, SPREAD, spread, VAR, 0},
    {"std", METHODS, SPREAD, spread, STD, 0},
    {"var_mean", METHODS, SPREAD, spread, VAR | WITH_MEAN, 0},
    {"std_mean", METHODS, SPREAD, spread, STD | WITH_MEAN, 0},
    {"histc", METHODS, "input, bins=100, min=0, max=0", histc, 0, TDC_NO_GRADIENT},
};
const struct tdc_operator_family tdc_statistics_family = TDC_FAMILY("statistics", rows);
