/*
 * panel_softmax.h - the softmax of attention over panels of scores.
 *
 * A panel has a line for each key and a column for each query, `width` of them: a multiple of the
 * lanes that panels.h knows. Sums run over the keys of a panel in four chains. All bits are the
 * same on every machine. The exponential is that of numbers up to 0, off by 1 ULP at most; below
 * -708 it is 0.
 */
#ifndef TDC_REFERENCE_PANEL_SOFTMAX_H
#define TDC_REFERENCE_PANEL_SOFTMAX_H

#include <stdint.h>

/* Of the panels that a column's keys are divided into, one after the other. */
struct tdc_softmax_state {
    double *most;   /* largest score so far, -infinity at first */
    double *sum;    /* of exponentials relative to it, 0 at first */
    double *factor; /* out: what was summed before is to be multiplied with */
};

/* scores become exponentials of scores * scale relative to the largest so far. A NaN makes the sum
 * NaN. */
void tdc_soften_panel(int64_t keys, int64_t width, double scale, double *scores,
                      const struct tdc_softmax_state *state);

/* Known of each column: the largest score, the reciprocal sum, and the mean slope by the weights.
 */
struct tdc_softmax_known {
    const double *most, *inverse, *mean;
};

/* scores become weights, exp(score * scale - most) * inverse. */
void tdc_weigh_panel(int64_t keys, int64_t width, double scale, double *scores,
                     const struct tdc_softmax_known *known);

/* slopes of weights become those of scores: weight * (slope - mean), 0 where the weight is 0. */
void tdc_pull_panel(int64_t keys, int64_t width, const double *weights, double *slopes,
                    const struct tdc_softmax_known *known);

/* One exponential, with the bits of the panels'. */
double tdc_exp_down(double x);

#endif
