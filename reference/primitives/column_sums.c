/* Sums over leading dimensions, without moving them to the end first. */
#include <string.h>

#include "reference/bounds.h"
#include "reference/primitives/reduce.h"
#include "reference/tape.h"

#define STRIP 256 /* columns summed at once */
#define BASE  16  /* rows added one after the other */

/* x as [outer, n, inner], summed over n. */
struct columns {
    int64_t outer, n, inner;
};

/* Pairwise over the rows; depth is log2(n / BASE), at most 60. */
static void sum_strip(const double *x, int64_t n, int64_t inner, int64_t width, double *sum)
{
    if (n <= BASE) {
        memset(sum, 0, (size_t)width * sizeof *sum);
        for (int64_t i = 0; i < n; i++)
            for (int64_t k = 0; k < width; k++)
                sum[k] += x[i * inner + k];
        return;
    }
    double second[STRIP];
    int64_t half = n / 2;
    sum_strip(x, half, inner, width, sum);
    sum_strip(x + half * inner, n - half, inner, width, second);
    for (int64_t k = 0; k < width; k++)
        sum[k] += second[k];
}

static void pull_columns(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    const struct columns *c = node->detail;
    tdc_array *x = node->inputs[0];
    tdc_array *g = tdc_new_like(e, TDC_F64, x);
    TDC_SPREAD(g->count, row, c->outer * c->n, {
        memcpy(g->real + row * c->inner, gradient->real + row / c->n * c->inner,
               (size_t)c->inner * sizeof *g->real);
    });
    double *errors = gradient->error != NULL ? tdc_new_errors(e, g) : NULL;
    for (int64_t row = 0; errors != NULL && row < c->outer * c->n; row++)
        memcpy(errors + row * c->inner, gradient->error + row / c->n * c->inner,
               (size_t)c->inner * sizeof *errors);
    tdc_bound_exactly(g);
    tdc_collect(e, x, g);
}

bool tdc_is_column_sum(const tdc_array *x, const bool *reduced)
{
    unsigned first = 0, end;
    while (first < x->rank && !reduced[first])
        first++;
    for (end = first; end < x->rank && reduced[end];)
        end++;
    for (unsigned d = end; d < x->rank; d++)
        if (reduced[d])
            return false;
    return end < x->rank && end > first && x->count > 0 && tdc_dtype_is_floating(x->dtype);
}

/* Of a column of n elements, for sums that are kept in the tested dtype. */
static double drift(const tdc_evaluation *e, const double *x, int64_t n, int64_t inner)
{
    double sum = 0, passed = 0, magnitude = 0;
    for (int64_t i = 0; i < n; i++) {
        passed += fabs(sum += x[i * inner]);
        magnitude += fabs(x[i * inner]);
    }
    return tdc_drift(e, passed, magnitude);
}

static void bound_columns(tdc_evaluation *e, const tdc_array *x, const bool *reduced,
                          const struct columns *c, tdc_array *y)
{
    struct tdc_quiet before = tdc_quietly(e);
    double n = (double)c->n, weight = tdc_sum_weight(n) + tdc_narrow_sum_weight(e, n);
    tdc_array *terms = tdc_magnitudes(e, x, weight);
    tdc_array *errors = tdc_column_sums(e, terms, reduced);
    tdc_as_before(e, before);
    for (int64_t i = 0; n > 1 && i < y->count; i++) {
        const double *top = x->real + i / c->inner * c->n * c->inner + i % c->inner;
        errors->real[i] += tdc_own_error(e, 0, y->real[i]);
        if (e->bounds.sums != 0)
            errors->real[i] += drift(e, top, c->n, c->inner);
    }
    tdc_bound_by(y, errors);
}

tdc_array *tdc_column_sums(tdc_evaluation *e, tdc_array *x, const bool *reduced)
{
    struct columns *c = tdc_take(e, 1, sizeof *c);
    int64_t shape[TDC_REFERENCE_RANK];
    unsigned rank = 0;
    bool behind = false;
    *c = (struct columns){1, 1, 1};
    for (unsigned d = 0; d < x->rank; d++) {
        behind |= reduced[d];
        if (reduced[d])
            c->n *= x->shape[d];
        else
            shape[rank++] = x->shape[d];
        if (!reduced[d])
            *(behind ? &c->inner : &c->outer) *= x->shape[d];
    }
    tdc_array *y = tdc_new(e, TDC_F64, rank, shape);
    int64_t strips = (c->inner + STRIP - 1) / STRIP;
    TDC_SPREAD(x->count, unit, c->outer * strips, {
        int64_t o = unit / strips, at = unit % strips * STRIP;
        int64_t width = c->inner - at < STRIP ? c->inner - at : STRIP;
        sum_strip(x->real + o * c->n * c->inner + at, c->n, c->inner, width,
                  y->real + o * c->inner + at);
    });
    if (tdc_is_bounded(e))
        bound_columns(e, x, reduced, c, y);
    tdc_note(e, y, pull_columns, c, 1, &x);
    return y;
}
