/* apart.c - where a NaN or an infinity first faces something else. */
#include <float.h>
#include <math.h>

#include "host/engine/engine.h"
#include "io/file/mapping_guard.h"

/* Elements gathered at a time. */
#define GATHERED ((size_t)2048)

struct apart_search {
    const struct tdc_open_pair *pair;
    struct tdc_outcome *outcome;
    unsigned char n[GATHERED * 16], b[GATHERED * 16];
};

/* Both NaN, both the same infinity, or both finite. */
static bool alike(double n, double b)
{
    return isnan(n) || isnan(b) ? isnan(n) && isnan(b) : isinf(n) || isinf(b) ? n == b : true;
}

/* Infinite only if it is so in the file. */
static double value_of(tdc_dtype dtype, const unsigned char *element, double *imaginary)
{
    long double all_of_it;
    double value = tdc_element_value(dtype, element, imaginary);
    bool beyond = dtype == TDC_F80 && isinf(value) && tdc_element_extended(element, &all_of_it);
    return beyond ? copysign(DBL_MAX, value) : value;
}

static bool element_apart(const struct apart_search *search, size_t at)
{
    const struct tdc_pair_plan *plan = &search->pair->plan;
    double n_imaginary, b_imaginary;
    double n =
        value_of(plan->n_dtype, search->n + at * tdc_dtype_size(plan->n_dtype), &n_imaginary);
    double b =
        value_of(plan->b_dtype, search->b + at * tdc_dtype_size(plan->b_dtype), &b_imaginary);
    return !alike(n, b) || !alike(n_imaginary, b_imaginary);
}

static void search_pair(void *argument)
{
    struct apart_search *search = argument;
    const struct tdc_open_pair *pair = search->pair;
    struct tdc_outcome *outcome = search->outcome;
    for (uint64_t first = 0; first < pair->n.count; first += GATHERED) {
        uint64_t left = pair->n.count - first;
        size_t count = left < GATHERED ? (size_t)left : GATHERED;
        if (!tdc_gather_elements(&pair->n, first, count, search->n) ||
            !tdc_gather_elements(&pair->b, first, count, search->b))
            return;
        for (size_t i = 0; i < count; i++) {
            if (!element_apart(search, i))
                continue;
            outcome->apart = true;
            outcome->apart_at = first + i;
            tdc_gather_elements(&pair->n, first + i, 1, outcome->apart_n.bytes);
            tdc_gather_elements(&pair->b, first + i, 1, outcome->apart_b.bytes);
            return;
        }
    }
}

bool tdc_pair_find_apart(const struct tdc_open_pair *pair, struct tdc_outcome *outcome)
{
    const struct tdc_pair_sums *sums = &outcome->sums;
    outcome->apart = false;
    if (pair->plan.rule != TDC_RELATIVE_F64 || sums->count - sums->finite == sums->nonfinite_equal)
        return true;
    struct apart_search search = {.pair = pair, .outcome = outcome};
    return tdc_guarded_read(search_pair, &search);
}
