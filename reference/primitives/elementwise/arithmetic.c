#include "reference/arithmetic.h"

#include <string.h>

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

void tdc_round_array(const array *a, tdc_dtype dtype)
{
#pragma omp parallel for schedule(static) if (a->count >= TDC_PARALLEL_FROM)
    for (int64_t i = 0; i < a->count; i++)
        round_in_place(&a->real[i], dtype);
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
#pragma omp parallel for schedule(static) if (x->count >= TDC_PARALLEL_FROM)
    for (int64_t r = 0; r < y->count; r++)
        y->real[r] = tdc_narrow_sum(x->real + r * n, n) / divisor;
    tdc_note(e, y, pull_sums, detail, 1, &x);
    return y;
}

/* ---- matrix products ------------------------------------------------------------------------- */

#define ROWS     64 /* of the result that share a packed piece */
#define COLUMNS  256
#define DEPTH    64                 /* of a packed piece: 64 KiB with COLUMNS */
#define MULTIPLY ((int64_t)1 << 18) /* multiplications from which on threads pay */

static float element(struct tdc_matrix m, int64_t i, int64_t j)
{
    return (float)m.x[m.transposed ? j * m.line + i : i * m.line + j];
}

/* Rows [top, top + rows) and columns [left, left + columns) of c. Between pieces the sums stay in
 * c, which holds a float32 exactly. */
struct part {
    int64_t top, rows, left, columns, k;
};

static void multiply_part(const struct part *p, struct tdc_matrix a, struct tdc_matrix b, double *c,
                          int64_t line)
{
    float packed[DEPTH * COLUMNS], sums[COLUMNS];
    for (int64_t first = 0; first < p->k; first += DEPTH) {
        int64_t depth = p->k - first < DEPTH ? p->k - first : DEPTH;
        for (int64_t d = 0; d < depth; d++)
            for (int64_t j = 0; j < p->columns; j++)
                packed[d * COLUMNS + j] = element(b, first + d, p->left + j);
        for (int64_t i = p->top; i < p->top + p->rows; i++) {
            double *row = c + i * line + p->left;
            for (int64_t j = 0; j < p->columns; j++)
                sums[j] = (float)row[j];
            for (int64_t d = 0; d < depth; d++) {
                float factor = element(a, i, first + d);
                for (int64_t j = 0; j < p->columns; j++)
                    sums[j] += factor * packed[d * COLUMNS + j];
            }
            for (int64_t j = 0; j < p->columns; j++)
                row[j] = (double)sums[j];
        }
    }
}

void tdc_narrow_gemm(int64_t m, int64_t n, int64_t k, struct tdc_matrix a, struct tdc_matrix b,
                     double *c, int64_t line, bool add)
{
    int64_t bands = (m + ROWS - 1) / ROWS, strips = (n + COLUMNS - 1) / COLUMNS;
    for (int64_t i = 0; !add && i < m; i++)
        memset(c + i * line, 0, (size_t)n * sizeof *c);
#pragma omp parallel for schedule(static) if (bands * strips > 1 && m * n * k >= MULTIPLY)
    for (int64_t unit = 0; unit < bands * strips; unit++) {
        struct part p = {.top = unit / strips * ROWS, .left = unit % strips * COLUMNS, .k = k};
        p.rows = m - p.top < ROWS ? m - p.top : ROWS;
        p.columns = n - p.left < COLUMNS ? n - p.left : COLUMNS;
        multiply_part(&p, a, b, c, line);
    }
}
