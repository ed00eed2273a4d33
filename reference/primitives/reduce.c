#include <math.h>
#include <string.h>

#include "reference/arithmetic.h"

#define RANK          TDC_REFERENCE_RANK
#define PARALLEL_FROM 32768

/* Error grows with the logarithm of n: blocks of 128 summed eight ways, then pairs of sums. */
double tdc_pairwise_sum(const double *x, int64_t n, int64_t stride)
{
    if (n <= 128) {
        double lane[8] = {0};
        int64_t i = 0;
        for (; i + 8 <= n; i += 8)
            for (int k = 0; k < 8; k++)
                lane[k] += x[(i + k) * stride];
        double rest = 0;
        for (; i < n; i++)
            rest += x[i * stride];
        return ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
               ((lane[4] + lane[5]) + (lane[6] + lane[7])) + rest;
    }
    int64_t half = n / 2 & ~(int64_t)7; /* depth is log2(n / 128), at most 56 */
    return tdc_pairwise_sum(x, half, stride) +
           tdc_pairwise_sum(x + half * stride, n - half, stride);
}

array *tdc_rows(evaluation *e, array *x, const bool *reduced)
{
    unsigned order[RANK], kept = 0;
    int64_t shape[RANK], inner = 1;
    if (x->rank == 0)
        return tdc_reshape(e, x, 1, (const int64_t[]){1});
    for (unsigned d = 0; d < x->rank; d++)
        if (!reduced[d]) {
            shape[kept] = x->shape[d];
            order[kept++] = d;
        }
    unsigned n = kept;
    for (unsigned d = 0; d < x->rank; d++)
        if (reduced[d]) {
            order[n++] = d;
            inner *= x->shape[d];
        }
    array *moved = tdc_permute(e, x, order);
    if (kept == RANK)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "too many dimensions");
    shape[kept] = inner;
    return tdc_reshape(e, moved, kept + 1, shape);
}

array *tdc_reduced_shape(evaluation *e, array *y, const array *x, const bool *reduced, bool keepdim)
{
    int64_t shape[RANK];
    unsigned rank = 0;
    for (unsigned d = 0; d < x->rank; d++) {
        if (!reduced[d])
            shape[rank++] = x->shape[d];
        else if (keepdim)
            shape[rank++] = 1;
    }
    return tdc_reshape(e, y, rank, shape);
}

/* gradient has one element per row: its share goes to each element of the row. */
static void pull_sum_rows(evaluation *e, struct tdc_tape_node *node, array *gradient)
{
    array *x = node->inputs[0];
    array *g = tdc_new_like(e, TDC_F64, x);
    int64_t n = x->shape[x->rank - 1];
    double divisor = *(const double *)node->detail;
    for (int64_t r = 0; r < gradient->count; r++) {
        double share = gradient->real[r] / divisor;
        for (int64_t i = 0; i < n; i++)
            g->real[r * n + i] = share;
    }
    tdc_collect(e, x, g);
}

/* Sums, floating ones divided: a mean is one operation, its sum stays in the accumulator. */
static array *divided_sums(evaluation *e, array *x, double divisor)
{
    int64_t n = x->shape[x->rank - 1];
    bool floating = tdc_dtype_is_floating(x->dtype);
    array *y = tdc_new(e, floating ? TDC_F64 : TDC_I64, x->rank - 1, x->shape);
#pragma omp parallel for schedule(static) if (x->count >= PARALLEL_FROM && y->count > 1)
    for (int64_t r = 0; r < y->count; r++) {
        if (floating) {
            y->real[r] = tdc_row_sum(e, x->real + r * n, n) / divisor;
        } else {
            uint64_t sum = 0;
            for (int64_t i = 0; i < n; i++)
                sum += (uint64_t)x->whole[r * n + i];
            y->whole[r] = (int64_t)sum;
        }
    }
    double *detail = tdc_take(e, 1, sizeof *detail);
    *detail = divisor;
    tdc_note(e, y, pull_sum_rows, detail, 1, &x);
    return y;
}

array *tdc_sum_rows(evaluation *e, array *x)
{
    return divided_sums(e, x, 1);
}

/* Products of all others from both ends: no division, so zeros are exact. */
static void pull_product_rows(evaluation *e, struct tdc_tape_node *node, array *gradient)
{
    array *x = node->inputs[0];
    array *g = tdc_new_like(e, TDC_F64, x);
    int64_t n = x->shape[x->rank - 1];
    for (int64_t r = 0; r < gradient->count; r++) {
        const double *row = x->real + r * n;
        double *out = g->real + r * n, before = gradient->real[r], after = 1;
        for (int64_t i = 0; i < n; i++) {
            out[i] = before;
            before = tdc_partial(e, before * row[i]);
        }
        for (int64_t i = n; i-- > 0;) {
            out[i] *= after;
            after = tdc_partial(e, after * row[i]);
        }
    }
    tdc_collect(e, x, g);
}

array *tdc_product_rows(evaluation *e, array *x)
{
    int64_t n = x->shape[x->rank - 1];
    bool floating = tdc_dtype_is_floating(x->dtype);
    array *y = tdc_new(e, floating ? TDC_F64 : TDC_I64, x->rank - 1, x->shape);
    for (int64_t r = 0; r < y->count; r++) {
        double product = 1;
        uint64_t whole = 1;
        for (int64_t i = 0; i < n; i++) {
            if (floating)
                product = tdc_partial(e, product * x->real[r * n + i]);
            else
                whole *= (uint64_t)x->whole[r * n + i];
        }
        if (floating)
            y->real[r] = product;
        else
            y->whole[r] = (int64_t)whole;
    }
    tdc_note(e, y, pull_product_rows, NULL, 1, &x);
    return y;
}

array *tdc_sum(evaluation *e, array *x, const bool *reduced, bool keepdim)
{
    return tdc_reduced_shape(e, tdc_sum_rows(e, tdc_rows(e, x, reduced)), x, reduced, keepdim);
}

array *tdc_mean(evaluation *e, array *x, const bool *reduced, bool keepdim)
{
    int64_t n = 1;
    for (unsigned d = 0; d < x->rank; d++)
        n *= reduced[d] ? x->shape[d] : 1;
    array *rows = tdc_rows(e, tdc_to_real(e, x), reduced);
    return tdc_reduced_shape(e, divided_sums(e, rows, (double)n), x, reduced, keepdim);
}

array *tdc_sum_all(evaluation *e, array *x)
{
    bool all[RANK];
    memset(all, 1, sizeof all);
    return tdc_sum(e, x, all, false);
}

array *tdc_sum_dim(evaluation *e, array *x, unsigned dim, bool keepdim)
{
    bool reduced[RANK] = {false};
    reduced[dim] = true;
    return tdc_sum(e, x, reduced, keepdim);
}

array *tdc_mean_dim(evaluation *e, array *x, unsigned dim, bool keepdim)
{
    bool reduced[RANK] = {false};
    reduced[dim] = true;
    return tdc_mean(e, x, reduced, keepdim);
}

int tdc_compare_reals(double a, double b)
{
    if (isnan(a) || isnan(b))
        return (int)isnan(a) - (int)isnan(b) == 0 ? 0 : isnan(a) ? 1 : -1;
    return (a > b) - (a < b);
}

/* > 0 when element a of row x is more extreme than element b. */
static int more_extreme(const array *x, int64_t a, int64_t b, bool largest)
{
    if (tdc_dtype_is_floating(x->dtype)) {
        double p = x->real[a], q = x->real[b];
        if (isnan(p) || isnan(q))
            return (int)(isnan(p) != 0) - (int)(isnan(q) != 0);
        return largest ? (p > q) - (p < q) : (p < q) - (p > q);
    }
    int64_t p = x->whole[a], q = x->whole[b];
    return largest ? (p > q) - (p < q) : (p < q) - (p > q);
}

array *tdc_extreme_index(evaluation *e, array *rows, bool largest)
{
    int64_t n = rows->shape[rows->rank - 1];
    array *y = tdc_new(e, TDC_I64, rows->rank - 1, rows->shape);
    if (n == 0 && y->count > 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "no extreme of an empty dimension");
    for (int64_t r = 0; r < y->count; r++) {
        int64_t best = 0;
        for (int64_t i = 1; i < n; i++)
            if (more_extreme(rows, r * n + i, r * n + best, largest) > 0)
                best = i;
        y->whole[r] = best;
    }
    return y;
}

array *tdc_pick(evaluation *e, array *rows, array *index)
{
    int64_t n = rows->shape[rows->rank - 1];
    int64_t width = index->rank == rows->rank ? index->shape[index->rank - 1] : 1;
    int64_t *map = tdc_take(e, index->count, sizeof *map);
    for (int64_t i = 0; i < index->count; i++)
        map[i] = i / width * n + index->whole[i];
    return tdc_mapped(e, rows, map, index->rank, index->shape, 0);
}

static void pull_extreme_shared(evaluation *e, struct tdc_tape_node *node, array *gradient)
{
    array *x = node->inputs[0], *y = node->output;
    array *g = tdc_new_like(e, TDC_F64, x);
    int64_t n = x->shape[x->rank - 1];
    for (int64_t r = 0; r < y->count; r++) {
        int64_t equals = 0;
        for (int64_t i = 0; i < n; i++)
            equals += tdc_compare_reals(x->real[r * n + i], y->real[r]) == 0;
        for (int64_t i = 0; i < n; i++)
            g->real[r * n + i] = tdc_compare_reals(x->real[r * n + i], y->real[r]) == 0
                                     ? gradient->real[r] / (double)equals
                                     : 0;
    }
    tdc_collect(e, x, g);
}

array *tdc_extreme_shared(evaluation *e, array *rows, bool largest)
{
    array *index = tdc_extreme_index(e, rows, largest);
    array *y = tdc_pick(e, tdc_constant(e, rows), index);
    tdc_note(e, y, pull_extreme_shared, NULL, 1, &rows);
    return y;
}
