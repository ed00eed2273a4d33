/*
 * level.h - how far two tensors are apart, and which level that is.
 *
 * Two measures, both free of scale: the relative distance r = ||n-b|| / ||b||, in which a wrong
 * factor cannot hide, and the worst element s = max|n-b| / max|b|, in which one wrong element
 * cannot. Cosine and shares of relative errors take no part: the first is blind to factors, the
 * second ruled by elements near zero.
 */
#ifndef TDC_HOST_LEVEL_H
#define TDC_HOST_LEVEL_H

#include "host/judge/row.h"
#include "host/judge/scene.h"
#include "io/base/text.h"

struct tdc_measure {
    double r, s;         /* infinite: nothing in common; r = s = 0: equal */
    double n_rms, b_rms; /* root mean squares of the two sides; NaN: unknown */
    double d_rms;        /* of the difference; NaN: unknown */
    double b_max, b_min; /* extremes of the reference, NaN: unknown */
    double n_min;
    bool half;  /* float16 on either side */
    bool apart; /* NaN or infinity on one side only: nothing excuses that but a mask */
};

/*
 * The level of a row of numbers, with r, s and excused of the row filled in. Where it is
 * `different` or excused the message says why.
 */
void tdc_level_judge(const struct tdc_scene *scene, const struct tdc_measure *measure,
                     struct tdc_row *row, struct tdc_text *message);

/* s or r from a difference and what it is measured by. */
static inline double tdc_ratio(double difference, double size)
{
    return difference == 0 ? 0 : size == 0 ? HUGE_VAL : difference / size;
}

#endif
