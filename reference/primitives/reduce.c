#include "reference/primitives/reduce.h"

#include <math.h>
#include <string.h>

#include "reference/bounds.h"
#include "reference/primitives/elementwise/binary.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/move.h"
#include "reference/primitives/sort.h"
#include "reference/tape.h"

#define RANK          TDC_REFERENCE_RANK
#define EXTREME_PIECE 65536
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

double tdc_pairwise_dot(const double *x, const double *y, int64_t n)
{
    if (n <= 128) {
        double products[128];
        for (int64_t i = 0; i < n; i++)
            products[i] = x[i] * y[i];
        return tdc_pairwise_sum(products, n, 1);
    }
    int64_t half = n / 2 & ~(int64_t)7;
    return tdc_pairwise_dot(x, y, half) + tdc_pairwise_dot(x + half, y + half, n - half);
}

/* The same sum with all threads: the parts are what the recursion comes to at a fixed depth, joined
 * as it would join them. */
#define SUM_DEPTH 5
static double combined(int64_t n, int depth, const double **part)
{
    if (depth == 0 || n <= 128)
        return *(*part)++;
    int64_t half = n / 2 & ~(int64_t)7;
    double first = combined(half, depth - 1, part);
    return first + combined(n - half, depth - 1, part);
}

struct stretch {
    const double *x;
    int64_t n;
};

static void list_stretches(const double *x, int64_t n, int depth, struct stretch **to)
{
    if (depth == 0 || n <= 128) {
        *(*to)++ = (struct stretch){x, n};
        return;
    }
    int64_t half = n / 2 & ~(int64_t)7;
    list_stretches(x, half, depth - 1, to);
    list_stretches(x + half, n - half, depth - 1, to);
}

static double sum_of_long_row(const double *x, int64_t n)
{
    struct stretch list[1 << SUM_DEPTH], *end = list;
    double parts[1 << SUM_DEPTH];
    const double *part = parts;
    list_stretches(x, n, SUM_DEPTH, &end);
#pragma omp parallel for schedule(dynamic)
    for (int64_t i = 0; i < end - list; i++)
        parts[i] = tdc_pairwise_sum(list[i].x, list[i].n, 1);
    return combined(n, SUM_DEPTH, &part);
}

tdc_array *tdc_rows(tdc_evaluation *e, tdc_array *x, const bool *reduced)
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
    tdc_array *moved = tdc_permute(e, x, order);
    if (kept == RANK)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "too many dimensions");
    shape[kept] = inner;
    return tdc_reshape(e, moved, kept + 1, shape);
}

tdc_array *tdc_reduced_shape(tdc_evaluation *e, tdc_array *y, const tdc_array *x,
                             const bool *reduced, bool keepdim)
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

/* gradient has one element per row: copies it along the row. */
static void pull_sum_rows(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *x = node->inputs[0];
    tdc_array *g = tdc_new_like(e, TDC_F64, x);
    int64_t n = x->shape[x->rank - 1];
    TDC_SPREAD(g->count, i, g->count, { g->real[i] = gradient->real[i / n]; });
    double *errors = gradient->error != NULL ? tdc_new_errors(e, g) : NULL;
    for (int64_t i = 0; errors != NULL && i < g->count; i++)
        errors[i] = gradient->error[i / n];
    tdc_bound_exactly(g);
    tdc_collect(e, x, g);
}

static void bound_sums(tdc_evaluation *e, const tdc_array *x, tdc_array *y)
{
    int64_t n = x->shape[x->rank - 1];
    double weight = tdc_sum_weight((double)n) + tdc_narrow_sum_weight(e, (double)n);
    double *errors = tdc_new_errors(e, y);
    TDC_SPREAD(y->count > 1 ? x->count : 0, r, y->count, {
        double magnitude = 0, carried = 0, sum = 0, passed = 0;
        for (int64_t i = r * n; i < (r + 1) * n; i++) {
            magnitude += fabs(x->real[i]);
            passed += fabs(sum += x->real[i]);
            carried += tdc_error_at(x, i);
        }
        errors[r] = weight * magnitude + carried + (n > 1 ? tdc_own_error(e, 0, y->real[r]) : 0) +
                    tdc_drift(e, passed, magnitude);
    });
}

tdc_array *tdc_sum_rows(tdc_evaluation *e, tdc_array *x)
{
    int64_t n = x->shape[x->rank - 1];
    bool floating = tdc_dtype_is_floating(x->dtype);
    if (tdc_is_narrow(e) && floating)
        return tdc_narrow_sums(e, x, 1);
    tdc_array *y = tdc_new(e, floating ? TDC_F64 : TDC_I64, x->rank - 1, x->shape);
    if (floating && n >= TDC_PARALLEL_FROM && y->count < 8) {
        for (int64_t r = 0; r < y->count; r++)
            y->real[r] = sum_of_long_row(x->real + r * n, n);
        if (tdc_is_bounded(e))
            bound_sums(e, x, y);
        tdc_note(e, y, pull_sum_rows, NULL, 1, &x);
        return y;
    }
    TDC_SPREAD(y->count > 1 ? x->count : 0, r, y->count, {
        if (floating) {
            y->real[r] = tdc_pairwise_sum(x->real + r * n, n, 1);
        } else {
            uint64_t sum = 0;
            for (int64_t i = 0; i < n; i++)
                sum += (uint64_t)x->whole[r * n + i];
            y->whole[r] = (int64_t)sum;
        }
    });
    if (tdc_is_bounded(e) && floating)
        bound_sums(e, x, y);
    tdc_note(e, y, pull_sum_rows, NULL, 1, &x);
    return y;
}

/* Products of all others from both ends: no division, so zeros are exact. */
static void pull_product_rows(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *x = node->inputs[0];
    tdc_array *g = tdc_new_like(e, TDC_F64, x);
    int64_t n = x->shape[x->rank - 1];
    TDC_SPREAD(g->count, r, gradient->count, {
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
    });
    if (tdc_is_bounded(e) && x->error == NULL && n > 0) {
        double *errors = tdc_new_errors(e, g);
        for (int64_t i = 0; i < g->count; i++) {
            double by = gradient->real[i / n];
            double own =
                n > 1 ? tdc_own_error(e, TDC_BASIC * tdc_sum_weight((double)n), g->real[i]) : 0;
            errors[i] =
                own +
                (by == 0 ? 0 : tdc_error_times(g->real[i] / by, tdc_error_at(gradient, i / n)));
        }
    }
    tdc_collect(e, x, g);
}

/* One factor's error at a time, the others' product from both ends. */
static double carried_by_factors(const tdc_array *x, int64_t from, int64_t n)
{
    double product = 1, carried = 0;
    for (int64_t i = from; i < from + n; i++) {
        carried = carried * fabs(x->real[i]) + tdc_error_times(product, tdc_error_at(x, i));
        product *= fabs(x->real[i]);
    }
    return carried;
}

static void bound_products(tdc_evaluation *e, const tdc_array *x, tdc_array *y)
{
    int64_t n = x->shape[x->rank - 1];
    double weight = TDC_BASIC * tdc_sum_weight((double)n), *errors = tdc_new_errors(e, y);
    for (int64_t r = 0; r < y->count; r++)
        errors[r] = (n > 1 ? tdc_own_error(e, weight, y->real[r]) : 0) +
                    (x->error == NULL ? 0 : carried_by_factors(x, r * n, n));
}

tdc_array *tdc_product_rows(tdc_evaluation *e, tdc_array *x)
{
    int64_t n = x->shape[x->rank - 1];
    bool floating = tdc_dtype_is_floating(x->dtype);
    tdc_array *y = tdc_new(e, floating ? TDC_F64 : TDC_I64, x->rank - 1, x->shape);
    TDC_SPREAD(x->count, r, y->count, {
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
    });
    if (tdc_is_bounded(e) && floating)
        bound_products(e, x, y);
    tdc_note(e, y, pull_product_rows, NULL, 1, &x);
    return y;
}

tdc_array *tdc_sum(tdc_evaluation *e, tdc_array *x, const bool *reduced, bool keepdim)
{
    tdc_array *y = tdc_is_column_sum(x, reduced) && !tdc_is_narrow(e)
                       ? tdc_column_sums(e, x, reduced)
                       : tdc_sum_rows(e, tdc_rows(e, x, reduced));
    return tdc_reduced_shape(e, y, x, reduced, keepdim);
}

tdc_array *tdc_mean(tdc_evaluation *e, tdc_array *x, const bool *reduced, bool keepdim)
{
    int64_t n = 1;
    for (unsigned d = 0; d < x->rank; d++)
        n *= reduced[d] ? x->shape[d] : 1;
    x = tdc_to_real(e, x);
    if (tdc_is_narrow(e))
        return tdc_reduced_shape(e, tdc_narrow_sums(e, tdc_rows(e, x, reduced), (double)n), x,
                                 reduced, keepdim);
    tdc_array *sum = tdc_sum(e, x, reduced, keepdim);
    return tdc_div(e, sum, tdc_number(e, (double)n));
}

tdc_array *tdc_sum_all(tdc_evaluation *e, tdc_array *x)
{
    bool all[RANK];
    memset(all, 1, sizeof all);
    return tdc_sum(e, x, all, false);
}

tdc_array *tdc_sum_dim(tdc_evaluation *e, tdc_array *x, unsigned dim, bool keepdim)
{
    bool reduced[RANK] = {false};
    reduced[dim] = true;
    return tdc_sum(e, x, reduced, keepdim);
}

tdc_array *tdc_mean_dim(tdc_evaluation *e, tdc_array *x, unsigned dim, bool keepdim)
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

/* Places [from, to): the first of the most extreme, the first NaN before all. */
static int64_t extreme_real(const double *x, int64_t from, int64_t to, bool largest)
{
    int64_t best = from;
    double sign = largest ? 1 : -1, top = sign * x[from];
    for (int64_t i = from; i < to; i++) {
        double v = sign * x[i];
        if (v > top || v != v) {
            top = v;
            best = i;
            if (v != v)
                break;
        }
    }
    return best;
}

static int64_t extreme_whole(const int64_t *x, int64_t from, int64_t to, bool largest)
{
    int64_t best = from;
    for (int64_t i = from + 1; i < to; i++)
        if (largest ? x[i] > x[best] : x[i] < x[best])
            best = i;
    return best;
}

/* The better of two places, the first of which comes first. */
static int64_t better(const tdc_array *x, int64_t a, int64_t b, bool largest)
{
    if (!tdc_dtype_is_floating(x->dtype))
        return (largest ? x->whole[b] > x->whole[a] : x->whole[b] < x->whole[a]) ? b : a;
    double p = x->real[a], q = x->real[b];
    if (isnan(p) || isnan(q))
        return isnan(p) ? a : b;
    return (largest ? q > p : q < p) ? b : a;
}

tdc_array *tdc_extreme_index(tdc_evaluation *e, tdc_array *rows, bool largest)
{
    int64_t n = rows->shape[rows->rank - 1];
    tdc_array *y = tdc_new(e, TDC_I64, rows->rank - 1, rows->shape);
    bool floating = tdc_dtype_is_floating(rows->dtype);
    if (n == 0 && y->count > 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "no extreme of an empty dimension");
    /* pieces of rows, so that few long rows keep all threads busy */
    int64_t size = n < EXTREME_PIECE ? n : EXTREME_PIECE, pieces = n == 0 ? 0 : (n - 1) / size + 1;
    int64_t *best = tdc_take(e, y->count * pieces, sizeof *best);
    TDC_SPREAD(rows->count, i, y->count * pieces, {
        int64_t row = i / pieces * n, from = row + i % pieces * size;
        int64_t to = from + size < row + n ? from + size : row + n;
        best[i] = floating ? extreme_real(rows->real, from, to, largest)
                           : extreme_whole(rows->whole, from, to, largest);
    });
    for (int64_t r = 0; r < y->count; r++) {
        int64_t place = best[r * pieces];
        for (int64_t i = 1; i < pieces; i++)
            place = better(rows, place, best[r * pieces + i], largest);
        y->whole[r] = place - r * n;
    }
    return y;
}

tdc_array *tdc_pick(tdc_evaluation *e, tdc_array *rows, tdc_array *index)
{
    int64_t n = rows->shape[rows->rank - 1];
    int64_t width = index->rank == rows->rank ? index->shape[index->rank - 1] : 1;
    int64_t *map = tdc_take(e, index->count, sizeof *map);
    TDC_SPREAD(index->count, i, index->count, { map[i] = i / width * n + index->whole[i]; });
    return tdc_mapped(e, rows, map, index->rank, index->shape, 0);
}

static void pull_extreme_shared(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *x = node->inputs[0], *y = node->output;
    tdc_array *g = tdc_new_like(e, TDC_F64, x);
    int64_t n = x->shape[x->rank - 1];
    TDC_SPREAD(x->count, r, y->count, {
        int64_t equals = 0;
        for (int64_t i = 0; i < n; i++)
            equals += tdc_compare_reals(x->real[r * n + i], y->real[r]) == 0;
        for (int64_t i = 0; i < n; i++)
            g->real[r * n + i] = tdc_compare_reals(x->real[r * n + i], y->real[r]) == 0
                                     ? gradient->real[r] / (double)equals
                                     : 0;
    });
    double *errors = tdc_is_bounded(e) ? tdc_new_errors(e, g) : NULL;
    for (int64_t i = 0; errors != NULL && i < g->count; i++) {
        double own =
            g->real[i] == gradient->real[i / n] ? 0 : tdc_own_error(e, TDC_BASIC, g->real[i]);
        errors[i] = g->real[i] == 0 ? 0 : tdc_error_at(gradient, i / n) + own;
    }
    tdc_collect(e, x, g);
}

tdc_array *tdc_extreme_shared(tdc_evaluation *e, tdc_array *rows, bool largest)
{
    tdc_array *index = tdc_extreme_index(e, rows, largest);
    tdc_array *y = tdc_pick(e, tdc_constant(e, rows), index);
    tdc_note(e, y, pull_extreme_shared, NULL, 1, &rows);
    return y;
}
