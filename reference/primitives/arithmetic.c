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

static double sum_of(const float lane[8])
{
    return (double)(((lane[0] + lane[1]) + (lane[2] + lane[3])) +
                    ((lane[4] + lane[5]) + (lane[6] + lane[7])));
}

double tdc_narrow_squares(const double *x, int64_t n)
{
    float lane[8] = {0};
    for (int64_t i = 0; i < n; i++)
        lane[i % 8] += (float)x[i] * (float)x[i];
    return sum_of(lane);
}

/* gradient has one element per row: its share goes to each element of the row. */
static void pull_sums(evaluation *e, struct tdc_tape_node *node, array *gradient)
{
    array *x = node->inputs[0];
    array *g = tdc_new_like(e, TDC_F64, x);
    int64_t n = x->shape[x->rank - 1];
    double divisor = *(const double *)node->detail;
    for (int64_t i = 0; i < g->count; i++)
        g->real[i] = gradient->real[i / n] / divisor;
    tdc_collect(e, x, g);
}

array *tdc_narrow_sums(evaluation *e, array *x, double divisor)
{
    int64_t n = x->shape[x->rank - 1];
    array *y = tdc_new(e, TDC_F64, x->rank - 1, x->shape);
    double *detail = tdc_take(e, 1, sizeof *detail);
    *detail = divisor;
#pragma omp parallel for schedule(static) if (x->count >= PARALLEL_FROM)
    for (int64_t r = 0; r < y->count; r++) {
        float lane[8] = {0};
        for (int64_t i = 0; i < n; i++)
            lane[i % 8] += (float)x->real[r * n + i];
        y->real[r] = sum_of(lane) / divisor;
    }
    tdc_note(e, y, pull_sums, detail, 1, &x);
    return y;
}

/* op(x) of one batch as rows of float32; x is [columns, rows] when transposed. */
static void narrow(const double *x, bool transposed, int64_t rows, int64_t columns, float *to)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++)
            to[r * columns + c] = (float)(transposed ? x[c * rows + r] : x[r * columns + c]);
}

void tdc_narrow_product(evaluation *e, const array *a, bool transpose_a, const array *b,
                        bool transpose_b, array *y)
{
    int64_t m = y->shape[1], n = y->shape[2], k = a->shape[transpose_a ? 1 : 2];
    float *left = tdc_take(e, m * k, sizeof *left), *right = tdc_take(e, k * n, sizeof *right);
    float *sums = tdc_take(e, m * n, sizeof *sums);
    for (int64_t batch = 0; batch < y->shape[0]; batch++) {
        double *out = y->real + batch * m * n;
        narrow(a->real + batch * m * k, transpose_a, m, k, left);
        narrow(b->real + batch * k * n, transpose_b, k, n, right);
#pragma omp parallel for schedule(static) if (m > 1 && n * k >= PARALLEL_FROM)
        for (int64_t i = 0; i < m; i++) {
            float *row = sums + i * n;
            for (int64_t j = 0; j < n; j++)
                row[j] = 0;
            for (int64_t p = 0; p < k; p++)
                for (int64_t j = 0; j < n; j++)
                    row[j] += left[i * k + p] * right[p * n + j];
            for (int64_t j = 0; j < n; j++)
                out[i * n + j] = (double)row[j];
        }
    }
}
