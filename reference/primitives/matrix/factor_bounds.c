/* How far computed factors may be off: they are those of a matrix within a few roundings of the
 * given one, and what that changes depends on its condition. Norms and gaps, matrix by matrix. */
#include "reference/primitives/matrix/factor_bounds.h"

#include <math.h>

#include "reference/bounds.h"
#include "reference/primitives/matrix/decompose.h"

/* The size of the change, in units: of the arithmetic and of what x itself may be off. */
static double change_of(const tdc_array *x, int64_t which, int64_t m, int64_t n, double norm)
{
    double sum = 0;
    for (int64_t i = which * m * n; x->error != NULL && i < (which + 1) * m * n; i++)
        sum += x->error[i] * x->error[i];
    return (TDC_SUM_BASE + (double)(m > n ? m : n)) * norm + sqrt(sum);
}

/* Parts of unit vectors cannot be off by more than two. */
static double turned_by(const tdc_evaluation *e, double change, double gap)
{
    double most = 2 / e->bounds.unit;
    return gap > 0 && change / gap < most ? change / gap : most;
}

static void fill(double *errors, int64_t count, int64_t step, double error)
{
    for (int64_t i = 0; i < count; i++)
        errors[i * step] = error;
}

/* From values[j]'s group of equals to the nearest other value, or to zero when `null` is set. */
static double gap_of(const double *values, int64_t k, int64_t j, double scale, bool null)
{
    double gap = null ? fabs(values[j]) : (double)INFINITY;
    for (int64_t i = 0; i < k; i++) {
        double apart = fabs(values[i] - values[j]);
        if (apart > 2e-4 * scale && apart < gap)
            gap = apart;
    }
    return isinf(gap) ? scale : gap;
}

void tdc_bound_values(tdc_evaluation *e, const tdc_array *x, tdc_array *values, tdc_array *vectors,
                      int64_t rows)
{
    if (!tdc_is_bounded(e))
        return;
    int64_t m = x->shape[x->rank - 2], n = x->shape[x->rank - 1];
    int64_t k = values->shape[values->rank - 1];
    int64_t columns = vectors == NULL ? 0 : vectors->shape[vectors->rank - 1];
    double *errors = tdc_new_errors(e, values);
    double *turns = vectors == NULL ? NULL : tdc_new_errors(e, vectors);
    for (int64_t b = 0; k > 0 && b < values->count / k; b++) {
        const double *v = values->real + b * k;
        double scale = fmax(fabs(v[0]), fabs(v[k - 1]));
        double change = change_of(x, b, m, n, scale);
        fill(errors + b * k, k, 1, change);
        for (int64_t j = 0; j < columns; j++) {
            /* columns beyond the values belong to zero */
            double smallest = v[k - 1];
            double gap = j < k ? gap_of(v, k, j, scale, rows > k) : smallest;
            fill(turns + b * rows * columns + j, rows, columns, turned_by(e, change, gap));
        }
    }
    values->bounded = true;
    if (vectors != NULL)
        vectors->bounded = true;
}

void tdc_bound_factor(tdc_evaluation *e, const tdc_array *x, tdc_array *factor)
{
    if (!tdc_is_bounded(e))
        return;
    int64_t m = x->shape[x->rank - 2], n = x->shape[x->rank - 1], k = m < n ? m : n;
    int64_t matrices = x->count == 0 ? 0 : x->count / (m * n);
    int64_t size = matrices == 0 ? 0 : factor->count / matrices;
    double *errors = tdc_new_errors(e, factor);
    double *u = tdc_take(e, m * m + n * n + k, sizeof *u), *v = u + m * m, *s = v + n * n;
    for (int64_t b = 0; b < matrices; b++) {
        double top = 0, change;
        for (int64_t i = b * size; i < (b + 1) * size; i++)
            top = fmax(top, fabs(factor->real[i]));
        tdc_singular_values(e, x->real + b * m * n, m, n, u, s, v);
        change = change_of(x, b, m, n, s[0]);
        fill(errors + b * size, size, 1, top * turned_by(e, change, s[k - 1]));
    }
    factor->bounded = true;
}

/* The transform of n elements: each result is a sum of all, in about log n steps. */
void tdc_bound_transform(tdc_evaluation *e, const tdc_array *x, tdc_array *y)
{
    if (!tdc_is_bounded(e))
        return;
    int64_t line = 2 * x->shape[x->rank - 2];
    double *errors = tdc_new_errors(e, y), steps = TDC_SUM_BASE + 2 * log2((double)line);
    for (int64_t b = 0; b < x->count / line; b++) {
        double squares = 0, off = 0;
        for (int64_t i = b * line; i < (b + 1) * line; i++) {
            squares += x->real[i] * x->real[i];
            off += tdc_error_at(x, i) * tdc_error_at(x, i);
        }
        /* |y| is at most the sum of magnitudes, that is sqrt(n) times the norm */
        double root = sqrt((double)line / 2);
        fill(errors + b * line, line, 1,
             (steps + e->bounds.step) * sqrt(squares) * root + sqrt(off) * root);
    }
    y->bounded = true;
}
