/*
 * pair_check.h - what is wrong with the sums of a kernel, measured by the reference.
 */
#ifndef TDC_TESTS_PAIR_CHECK_H
#define TDC_TESTS_PAIR_CHECK_H

#include "tests/unit/kernels/pair_values.h"

/*
 * A sum is right when it is off by no more than the roundings of the longest lane of a block, of
 * adding blocks, of joining the lanes and of the terms themselves (up to 8 each), every one of half
 * a unit of 2^-52, and one unit of the smallest number per term. Sums near the end of float64 may
 * overflow underway.
 */
static inline bool sum_is_close(double sum, double reference, double magnitude, size_t count)
{
    if (!(magnitude < 0x1p1020))
        return true;
    size_t in_block = count < 1024 ? count / 8 : 128;
    double roundings = (double)(in_block + count / 1024) + 8 + 8;
    return fabs(sum - reference) <= roundings * 0x1p-53 * magnitude + (double)count * 0x1p-1073;
}

/* The first sum that is wrong, or NULL. */
static inline const char *wrong_sum(const struct tdc_pair_sums *s, const struct tdc_pair_sums *r,
                                    const struct tdc_pair_magnitudes *m)
{
    const struct {
        const char *name;
        double sum, reference, magnitude;
    } sums[] = {
        {"nb", s->nb, r->nb, m->nb},     {"nn", s->nn, r->nn, m->nn}, {"bb", s->bb, r->bb, m->bb},
        {"dd", s->dd, r->dd, m->dd},     {"n", s->n, r->n, m->n},     {"b", s->b, r->b, m->b},
        {"abs", s->abs, r->abs, m->abs},
    };
    for (size_t k = 0; k < sizeof sums / sizeof *sums; k++)
        if (!sum_is_close(sums[k].sum, sums[k].reference, sums[k].magnitude, (size_t)r->count))
            return sums[k].name;
    return NULL;
}

/* The first of all other fields that is wrong, or NULL. */
static inline const char *wrong_field(const struct tdc_pair_sums *s, const struct tdc_pair_sums *r)
{
#define SAME(field)                                                                                \
    if (s->field != r->field)                                                                      \
        return #field;
    SAME(count)
    SAME(finite)
    SAME(n_min)
    SAME(n_max)
    SAME(b_min)
    SAME(b_max)
    SAME(abs_max)
    SAME(abs_at)
    SAME(rel_max)
    SAME(rel_at)
    SAME(rel_nan)
    SAME(n_nan)
    SAME(b_nan)
    SAME(n_inf)
    SAME(b_inf)
    SAME(nan_apart)
    SAME(inf_apart)
    SAME(nonfinite_equal)
#undef SAME
    return memcmp(s->below, r->below, sizeof s->below) == 0 ? NULL : "below";
}

#endif
