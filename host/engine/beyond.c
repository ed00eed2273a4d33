/* beyond.c - how many elements of a pair are out of tolerance. */
#include <math.h>

#include "host/engine/elements.h"
#include "kernels/dtype.h"

struct counting {
    const struct tdc_pair_plan *plan;
    const struct tdc_tolerance *tolerance;
    uint64_t beyond;
};

static void count_block(void *context, uint64_t first, size_t count, const unsigned char *n,
                        const unsigned char *b)
{
    (void)first;
    struct counting *counting = context;
    tdc_dtype n_dtype = counting->plan->n_dtype, b_dtype = counting->plan->b_dtype;
    size_t n_size = tdc_dtype_size(n_dtype), b_size = tdc_dtype_size(b_dtype);
    double atol = counting->tolerance->atol, rtol = counting->tolerance->rtol;
    for (size_t i = 0; i < count; i++) {
        struct tdc_faced faced = tdc_face(n_dtype, n + i * n_size, b_dtype, b + i * b_size);
        bool within = !faced.apart && faced.difference <= atol + rtol * faced.size;
        counting->beyond += !faced.equal && !within;
    }
}

/* What one pass has told is enough: no difference is larger than atol. Relative errors decide only
 * where their rounding cannot matter. */
static bool all_within(const struct tdc_pair_sums *sums, const struct tdc_tolerance *tolerance)
{
    if (sums->count - sums->finite != sums->nonfinite_equal)
        return false;
    return sums->finite == 0 || sums->abs_max <= tolerance->atol ||
           sums->rel_max <= tolerance->rtol * (1 - 0x1p-50);
}

bool tdc_pair_count_beyond(const struct tdc_open_pair *pair, const struct tdc_tolerance *tolerance,
                           struct tdc_outcome *outcome)
{
    outcome->beyond = 0;
    if (!tolerance->elements || all_within(&outcome->sums, tolerance))
        return true;
    struct counting counting = {&pair->plan, tolerance, 0};
    if (!tdc_pair_visit(pair, count_block, &counting))
        return false;
    outcome->beyond = counting.beyond;
    return true;
}
