#include "reference/arithmetic.h"

#define PARALLEL_FROM 32768

void tdc_round_array(const array *a, tdc_dtype dtype)
{
#pragma omp parallel for schedule(static) if (a->count >= PARALLEL_FROM)
    for (int64_t i = 0; i < a->count; i++) {
        double v = a->real[i], rounded = tdc_reference_round(v, dtype);
        if (v == v && rounded != v)
            a->real[i] = rounded;
    }
}

static bool is_exact(const array *a, tdc_dtype dtype)
{
    for (int64_t i = 0; i < a->count; i++) {
        double v = a->real[i];
        if (v == v && tdc_reference_round(v, dtype) != v)
            return false;
    }
    return true;
}

array *tdc_rounded(evaluation *e, array *a)
{
    if (is_exact(a, e->arithmetic))
        return a;
    array *copy = tdc_new_like(e, TDC_F64, a);
    for (int64_t i = 0; i < a->count; i++)
        copy->real[i] = tdc_reference_round(a->real[i], e->arithmetic);
    return copy;
}

array *tdc_slope_times(evaluation *e, array *slope, const array *gradient)
{
    slope = tdc_rounded(e, slope);
    array *product = tdc_new_like(e, TDC_F64, slope);
    for (int64_t i = 0; i < slope->count; i++)
        product->real[i] = slope->real[i] == 0 ? 0 : slope->real[i] * gradient->real[i];
    return product;
}

double tdc_row_sum(const evaluation *e, const double *x, int64_t n)
{
    if (!tdc_is_narrow(e))
        return tdc_pairwise_sum(x, n, 1);
    float lane[8] = {0};
    for (int64_t i = 0; i < n; i++)
        lane[i % 8] += (float)x[i];
    return (double)(((lane[0] + lane[1]) + (lane[2] + lane[3])) +
                    ((lane[4] + lane[5]) + (lane[6] + lane[7])));
}

/* op(x) as rows of float32; x is [columns, rows] when transposed. */
static float *narrowed(evaluation *e, const double *x, bool transposed, int64_t rows,
                       int64_t columns)
{
    float *narrow = tdc_take(e, rows * columns, sizeof *narrow);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++)
            narrow[r * columns + c] = (float)(transposed ? x[c * rows + r] : x[r * columns + c]);
    return narrow;
}

void tdc_narrow_product(evaluation *e, const int64_t mnk[3], const double *a, bool transpose_a,
                        const double *b, bool transpose_b, double *c)
{
    int64_t m = mnk[0], n = mnk[1], k = mnk[2];
    const float *left = narrowed(e, a, transpose_a, m, k);
    const float *right = narrowed(e, b, transpose_b, k, n);
    float *sums = tdc_take(e, m * n, sizeof *sums);
#pragma omp parallel for schedule(static) if (m > 1 && n * k >= PARALLEL_FROM)
    for (int64_t i = 0; i < m; i++) {
        float *row = sums + i * n;
        for (int64_t j = 0; j < n; j++)
            row[j] = 0;
        for (int64_t p = 0; p < k; p++) {
            float factor = left[i * k + p];
            for (int64_t j = 0; j < n; j++)
                row[j] += factor * right[p * n + j];
        }
        for (int64_t j = 0; j < n; j++)
            c[i * n + j] = (double)row[j];
    }
}
