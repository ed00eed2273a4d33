#include "reference/arithmetic.h"

#include "reference/tape.h"

static inline void round_in_place(double *x, tdc_dtype dtype)
{
    double v = *x, rounded = tdc_reference_round(v, dtype);
    if (v == v && rounded != v)
        *x = rounded;
}

void tdc_round_elements(double *x, int64_t n, tdc_dtype dtype)
{
    for (int64_t i = 0; i < n; i++)
        round_in_place(&x[i], dtype);
}

void tdc_round_array(const tdc_array *a, tdc_dtype dtype)
{
    TDC_SPREAD(a->count, i, a->count, { round_in_place(&a->real[i], dtype); });
}

static bool is_exact(const tdc_array *a, tdc_dtype dtype)
{
    for (int64_t i = 0; i < a->count; i++) {
        double v = a->real[i];
        if (v == v && tdc_reference_round(v, dtype) != v)
            return false;
    }
    return true;
}

tdc_array *tdc_rounded(tdc_evaluation *e, tdc_array *a)
{
    if (is_exact(a, e->arithmetic))
        return a;
    tdc_array *copy = tdc_new_like(e, TDC_F64, a);
    for (int64_t i = 0; i < a->count; i++)
        copy->real[i] = tdc_reference_round(a->real[i], e->arithmetic);
    return copy;
}

tdc_array *tdc_slope_times(tdc_evaluation *e, tdc_array *slope, const tdc_array *gradient)
{
    slope = tdc_rounded(e, slope);
    tdc_array *product = tdc_new_like(e, TDC_F64, slope);
    for (int64_t i = 0; i < slope->count; i++)
        product->real[i] = slope->real[i] == 0 ? 0 : slope->real[i] * gradient->real[i];
    return product;
}

static double sum_of(const float lane[8])
{
    return (double)(((lane[0] + lane[1]) + (lane[2] + lane[3])) +
                    ((lane[4] + lane[5]) + (lane[6] + lane[7])));
}

double tdc_narrow_sum(const double *x, int64_t n)
{
    float lane[8] = {0};
    for (int64_t i = 0; i < n; i++)
        lane[i % 8] += (float)x[i];
    return sum_of(lane);
}

double tdc_narrow_dot(const double *x, const double *y, int64_t n, tdc_dtype dtype)
{
    float lane[8] = {0};
    for (int64_t i = 0; i < n; i++)
        lane[i % 8] += (float)tdc_reference_round(x[i] * y[i], dtype);
    return sum_of(lane);
}

double tdc_narrow_squares(const double *x, int64_t n)
{
    float lane[8] = {0};
    for (int64_t i = 0; i < n; i++)
        lane[i % 8] += (float)x[i] * (float)x[i];
    return sum_of(lane);
}

/* gradient has one element per row: its share goes to each element of the row. */
static void pull_sums(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *x = node->inputs[0];
    tdc_array *g = tdc_new_like(e, TDC_F64, x);
    int64_t n = x->shape[x->rank - 1];
    double divisor = *(const double *)node->detail;
    for (int64_t i = 0; i < g->count; i++)
        g->real[i] = gradient->real[i / n] / divisor;
    tdc_collect(e, x, g);
}

tdc_array *tdc_narrow_sums(tdc_evaluation *e, tdc_array *x, double divisor)
{
    int64_t n = x->shape[x->rank - 1];
    tdc_array *y = tdc_new(e, TDC_F64, x->rank - 1, x->shape);
    double *detail = tdc_take(e, 1, sizeof *detail);
    *detail = divisor;
    TDC_SPREAD(x->count, r, y->count,
               { y->real[r] = tdc_narrow_sum(x->real + r * n, n) / divisor; });
    tdc_note(e, y, pull_sums, detail, 1, &x);
    return y;
}
