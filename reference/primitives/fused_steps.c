/*
 * Convolutions and attention in a narrow arithmetic: out of the primitives they are fused from, so
 * that every intermediate result is rounded. Slower than the fused forms and hungrier.
 */
#include <math.h>
#include <string.h>

#include "reference/arithmetic.h"

#define RANK TDC_REFERENCE_RANK

/* [groups * rows, channels, kernel...] as [samples * groups, rows, channels * kernel]. */
static array *kernels(evaluation *e, array *weight, int64_t samples, int64_t groups)
{
    int64_t rows = weight->shape[0] / groups, depth = 1;
    for (unsigned d = 1; d < weight->rank; d++)
        depth *= weight->shape[d];
    array *one = tdc_reshape(e, weight, 4, (const int64_t[]){1, groups, rows, depth});
    array *all = tdc_expand(e, one, 4, (const int64_t[]){samples, groups, rows, depth});
    return tdc_reshape(e, all, 3, (const int64_t[]){samples * groups, rows, depth});
}

array *tdc_convolve_steps(evaluation *e, array *x, array *weight, const struct tdc_windows *w,
                          int64_t groups)
{
    int64_t samples = x->shape[0], rows = weight->shape[0];
    int64_t windows = tdc_window_product(w, w->count);
    array *kernel = kernels(e, weight, samples, groups), *columns = tdc_unfold(e, x, w);
    columns =
        tdc_reshape(e, columns, 3, (const int64_t[]){samples * groups, kernel->shape[2], windows});
    array *y = tdc_batch_product(e, kernel, columns, false, false);
    int64_t shape[5] = {samples, rows};
    memcpy(shape + 2, w->count, w->n * sizeof *shape);
    return tdc_reshape(e, y, 2 + w->n, shape);
}

array *tdc_convolve_back_steps(evaluation *e, array *x, array *weight, const struct tdc_windows *w,
                               int64_t groups)
{
    int64_t samples = x->shape[0], windows = tdc_window_product(w, w->count);
    array *kernel = kernels(e, weight, samples, groups);
    array *map =
        tdc_reshape(e, x, 3, (const int64_t[]){samples * groups, kernel->shape[1], windows});
    array *columns = tdc_batch_product(e, kernel, map, true, false);
    columns =
        tdc_reshape(e, columns, 3, (const int64_t[]){samples, groups * kernel->shape[2], windows});
    return tdc_fold(e, columns, w);
}

/* Successive heads of q share one of x: repeats it for each. */
static array *repeated_heads(evaluation *e, array *x, const array *q)
{
    unsigned heads = q->rank - 3, rank = q->rank;
    if (q->rank < 3 || x->shape[heads] == q->shape[heads])
        return x;
    int64_t shape[RANK + 1];
    memcpy(shape, x->shape, (heads + 1) * sizeof *shape);
    shape[heads + 1] = q->shape[heads] / x->shape[heads];
    memcpy(shape + heads + 2, x->shape + heads + 1, 2 * sizeof *shape);
    if (rank + 1 > RANK)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "too many dimensions");
    array *apart = tdc_expand(e, tdc_unsqueeze(e, x, heads + 1), rank + 1, shape);
    memcpy(shape, x->shape, rank * sizeof *shape);
    shape[heads] = q->shape[heads];
    return tdc_reshape(e, apart, rank, shape);
}

static array *outside_band(evaluation *e, const struct tdc_attention *a, int64_t rows,
                           int64_t columns)
{
    array *mask = tdc_new(e, TDC_BOOL, 2, (const int64_t[]){rows, columns});
    for (int64_t i = 0; i < mask->count; i++) {
        double row = (double)(i / columns), column = (double)(i % columns);
        mask->whole[i] = column > row + a->next || column < row - a->pre;
    }
    return mask;
}

static array *scores_of(evaluation *e, const struct tdc_attention *a, array *k)
{
    array *scores = tdc_matmul(e, a->q, tdc_swap(e, k, k->rank - 2, k->rank - 1));
    int64_t rows = scores->shape[scores->rank - 2], columns = scores->shape[scores->rank - 1];
    if (a->shift != NULL)
        scores = tdc_add(e, scores, a->shift);
    scores = tdc_scale(e, scores, a->scale);
    if (a->bias != NULL)
        scores = tdc_add(e, scores, a->bias);
    array *term = tdc_number(e, a->hidden_term);
    if (a->hidden != NULL)
        scores = tdc_select(e, a->hidden, tdc_add(e, scores, term), scores);
    if (a->banded)
        scores = tdc_select(e, outside_band(e, a, rows, columns), tdc_add(e, scores, term), scores);
    return scores;
}

/* Zeros in rows that see nothing. */
static array *seeing_rows(evaluation *e, array *weights, array *top)
{
    array *blind = tdc_relate(e, TDC_EQ, top, tdc_number(e, -(double)INFINITY));
    return tdc_select(e, tdc_unsqueeze(e, blind, blind->rank), tdc_number(e, 0), weights);
}

array *tdc_attend_steps(evaluation *e, const struct tdc_attention *a, array **top, array **total)
{
    array *scores = scores_of(e, a, repeated_heads(e, a->k, a->q));
    array *plain = tdc_constant(e, scores);
    array *most = tdc_pick(e, plain, tdc_extreme_index(e, plain, true));
    array *centred = tdc_sub(e, plain, tdc_unsqueeze(e, most, most->rank));
    if (total != NULL)
        *total = tdc_sum_dim(e, tdc_apply(e, TDC_EXP, centred), centred->rank - 1, false);
    if (top != NULL)
        *top = most;
    array *weights = tdc_softmax_rows(e, scores);
    if (a->safe)
        weights = seeing_rows(e, weights, most);
    if (a->kept != NULL)
        weights = tdc_mul(e, weights, tdc_scale(e, tdc_to_real(e, a->kept), 1 / a->keep));
    return tdc_matmul(e, weights, repeated_heads(e, a->v, a->q));
}
