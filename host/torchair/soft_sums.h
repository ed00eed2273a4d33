/*
 * soft_sums.h - what one pass over two tensors of float32 yields for TorchAir's table.
 *
 * The golden tensor is g, mine is m. Elementwise work is done in float32, as the old tools do it,
 * sums are float64. Sums over neighbours are merged in their order, so that nothing depends on the
 * number of threads.
 */
#ifndef TDC_HOST_SOFT_SUMS_H
#define TDC_HOST_SOFT_SUMS_H

#include <stddef.h>
#include <stdint.h>

/* Of one tensor. */
struct tdc_lone_sums {
    uint64_t count, nan, inf;
    float least, largest; /* of what is a number, infinities included */
    double sum;
};

/* Of two tensors of the same length without NaN and infinity; of others it means nothing. */
struct tdc_soft_sums {
    double mg, mm, gg; /* products and squares */
    /* Squares of m - g and of g as float32, which vanish and overflow as those of the old tools */
    double dd, narrow_gg;
    double relative, absolute; /* sums of errors: 0 where |g| is below float32's epsilon */
    float most_relative, most_absolute;
    /* Of the softmax of both, over all elements: their largest values, the sums of exp(x - largest)
     * and the sum of exp(g - largest) times the difference of the two logarithms before scaling. */
    double g_largest, m_largest, g_scale, m_scale, weighted;
};

void tdc_lone_clear(struct tdc_lone_sums *sums);
void tdc_lone_add(struct tdc_lone_sums *sums, const float *values, size_t count);
void tdc_lone_merge(struct tdc_lone_sums *left, const struct tdc_lone_sums *right);

void tdc_soft_clear(struct tdc_soft_sums *sums);
void tdc_soft_add(struct tdc_soft_sums *sums, const float *g, const float *m, size_t count);
void tdc_soft_merge(struct tdc_soft_sums *left, const struct tdc_soft_sums *right);

/* The seven metrics of a row, in the order of its columns. */
enum tdc_soft_metric {
    TDC_SOFT_COSINE,
    TDC_SOFT_MAX_RELATIVE,
    TDC_SOFT_MEAN_RELATIVE,
    TDC_SOFT_MAX_ABSOLUTE,
    TDC_SOFT_MEAN_ABSOLUTE,
    TDC_SOFT_KL,
    TDC_SOFT_EUCLIDEAN,
    TDC_SOFT_METRICS
};
void tdc_soft_metrics(const struct tdc_soft_sums *sums, uint64_t count,
                      double metrics[TDC_SOFT_METRICS]);

#endif
