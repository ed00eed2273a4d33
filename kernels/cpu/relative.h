/*
 * relative.h - the relative error e of one pair, and what a block yields besides its sums.
 */
#ifndef TDC_KERNELS_CPU_RELATIVE_H
#define TDC_KERNELS_CPU_RELATIVE_H

#include "kernels/cpu/block_finite.h"
#include "kernels/cpu/chunk_sides.h"
#include "kernels/cpu/pair_kernel.h"

/* What is added to each side where b is 0, under TDC_RELATIVE_NATIVE and TDC_RELATIVE_PROMOTED. */
struct native_rule {
    double n_epsilon, b_epsilon;
    bool n_single; /* n + epsilon is rounded to f32 */
};

static struct native_rule native_rule_of(const struct tdc_pair_plan *plan)
{
    if (plan->rule == TDC_RELATIVE_PROMOTED) {
        bool single = dtype_is_short_float(plan->n_dtype) && dtype_is_short_float(plan->b_dtype);
        double epsilon = single ? 0x1p-23 : 0x1p-52;
        return (struct native_rule){.n_epsilon = epsilon, .b_epsilon = epsilon};
    }
    return (struct native_rule){
        .n_epsilon = plan->n_dtype == TDC_F16 ? 0 : 0x1p-52,
        .b_epsilon = plan->b_dtype == TDC_F16 ? 0 : 0x1p-52,
        .n_single = dtype_is_single(plan->n_dtype),
    };
}

/* Before it is rounded to f16. f32 has more than 2 * 11 + 1 digits: rounding twice does no harm. */
static inline float native_f16_unrounded(float n, float b)
{
    return round_magnitude_to_f16(fabsf(n - b)) / fabsf(b);
}

static inline float native_f32(float n, float b, float n_epsilon, float b_epsilon)
{
    float x = n + (b == 0 ? n_epsilon : 0.0f);
    float y = b + (b == 0 ? b_epsilon : 0.0f);
    return fabsf((x - y) / y);
}

static inline double native_f64(double n, double b, const struct native_rule *rule)
{
    double x = n + (b == 0 ? rule->n_epsilon : 0.0);
    double y = b + (b == 0 ? rule->b_epsilon : 0.0);
    /* f64 has more than 2 * 24 + 1 digits: rounding the sum again is adding in f32. */
    x = rule->n_single ? (double)(float)x : x;
    return fabs((x - y) / y);
}

/* |d / b|, but 1 where b is 0, and 0 where d is. */
static inline double exact_f64(double d, double b)
{
    return d == 0 ? 0 : fabs(d / (b == 0 ? d : b));
}

struct block_relative {
    size_t reached[TDC_PAIR_LIMITS]; /* elements with e >= limit */
    size_t nan;
};

/* Takes `padding` copies of a pair whose relative error is e off the counts. */
static void discount_padding(double e, size_t padding, const double *limits, size_t limit_count,
                             struct block_relative *out)
{
    out->nan -= e != e ? padding : 0;
    for (size_t k = 0; k < limit_count; k++)
        out->reached[k] -= e >= limits[k] ? padding : 0;
}

static void enter_relative(const struct block_relative *block, size_t participants, size_t limits,
                           struct tdc_pair_sums *sums)
{
    sums->rel_nan += block->nan;
    for (size_t k = 0; k < limits; k++)
        sums->below[k] += participants - block->nan - block->reached[k];
}

/*
 * If `maximum` is above *highest, the first element from `first` on whose value (an expression
 * in i, a double) equals it becomes the new one. Blocks are padded, so PADDING elements can be
 * looked at together; this runs once per rise of a maximum, some ten times in a random chunk.
 */
#define ENTER_MAXIMUM(maximum, value, first, count, start, highest, at)                            \
    do {                                                                                           \
        if ((maximum) > *(highest)) {                                                              \
            size_t from = (first), group = from - from % PADDING;                                  \
            for (int hits = 0; group < (count); group += PADDING) {                                \
                for (size_t i = group; i < group + PADDING; i++)                                   \
                    hits |= (value) == (maximum);                                                  \
                if (hits)                                                                          \
                    break;                                                                         \
            }                                                                                      \
            for (size_t i = group < from ? from : group; i < (count); i++) {                       \
                if ((value) == (maximum)) {                                                        \
                    *(highest) = (maximum);                                                        \
                    *(at) = (start) + i;                                                           \
                    break;                                                                         \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    } while (0)

#endif
