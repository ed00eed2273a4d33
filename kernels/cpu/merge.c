#include <math.h>

#include "kernels/pair.h"

const double tdc_pair_limits[TDC_PAIR_LIMITS] = {0.001, 0.005, 0.01, 0.1};

void tdc_pair_clear(struct tdc_pair_sums *sums)
{
    *sums = (struct tdc_pair_sums){
        .n_min = INFINITY,
        .n_max = -INFINITY,
        .b_min = INFINITY,
        .b_max = -INFINITY,
        .abs_max = -1,
        .rel_max = -1,
    };
}

/* Infinities of both signs make a NaN, whose bits are the machine's choice: one choice for all. */
static void add(double *left, double right)
{
    double sum = *left + right;
    *left = sum == sum ? sum : (double)NAN;
}

static void merge_sums(struct tdc_pair_sums *left, const struct tdc_pair_sums *right)
{
    add(&left->nb, right->nb);
    add(&left->nn, right->nn);
    add(&left->bb, right->bb);
    add(&left->dd, right->dd);
    add(&left->n, right->n);
    add(&left->b, right->b);
    add(&left->abs, right->abs);
}

static void merge_maximum(double *maximum, uint64_t *at, double other, uint64_t other_at)
{
    /* Strictly: the first occurrence stays. */
    if (other > *maximum) {
        *maximum = other;
        *at = other_at;
    }
}

static void merge_extremes(struct tdc_pair_sums *left, const struct tdc_pair_sums *right)
{
    left->n_min = right->n_min < left->n_min ? right->n_min : left->n_min;
    left->n_max = right->n_max > left->n_max ? right->n_max : left->n_max;
    left->b_min = right->b_min < left->b_min ? right->b_min : left->b_min;
    left->b_max = right->b_max > left->b_max ? right->b_max : left->b_max;
    merge_maximum(&left->abs_max, &left->abs_at, right->abs_max, left->count + right->abs_at);
    merge_maximum(&left->rel_max, &left->rel_at, right->rel_max, left->count + right->rel_at);
}

void tdc_pair_merge(struct tdc_pair_sums *left, const struct tdc_pair_sums *right)
{
    merge_sums(left, right);
    merge_extremes(left, right); /* needs the count before it grows */
    left->count += right->count;
    left->finite += right->finite;
    left->rel_nan += right->rel_nan;
    for (int i = 0; i < TDC_PAIR_LIMITS; i++)
        left->below[i] += right->below[i];
    left->n_nan += right->n_nan;
    left->b_nan += right->b_nan;
    left->n_inf += right->n_inf;
    left->b_inf += right->b_inf;
    left->nan_apart += right->nan_apart;
    left->inf_apart += right->inf_apart;
    left->nonfinite_equal += right->nonfinite_equal;
}
