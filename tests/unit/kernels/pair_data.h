/*
 * pair_data.h - the comparison of kernels with the reference, as cmocka tests want it.
 */
#ifndef TDC_TESTS_PAIR_DATA_H
#define TDC_TESTS_PAIR_DATA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "tests/unit/kernels/pair_check.h"

#define REQUIRE(condition, what)                                                                   \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("%s: %s", description, what);                                                 \
    } while (0)

static inline void require_sums(const char *description, const struct tdc_pair_sums *s,
                                const struct tdc_pair_sums *r, const struct tdc_pair_magnitudes *m)
{
    const char *wrong = wrong_sum(s, r, m);
    REQUIRE(!wrong, wrong);
}

static inline void require_rest(const char *description, const struct tdc_pair_sums *s,
                                const struct tdc_pair_sums *r)
{
    const char *wrong = wrong_field(s, r);
    REQUIRE(!wrong, wrong);
}

/* Without plan->extremes all is the same but what it stands for. */
static inline void require_same_without_extremes(const char *description,
                                                 const struct tdc_pair_plan *plan, const void *n,
                                                 const void *b, struct tdc_pair_sums expected)
{
    struct tdc_pair_plan shorter = *plan;
    struct tdc_pair_sums sums, nothing;
    shorter.extremes = false;
    tdc_pair_clear(&nothing);
    expected.n = expected.b = 0;
    expected.n_min = nothing.n_min;
    expected.n_max = nothing.n_max;
    expected.b_min = nothing.b_min;
    expected.b_max = nothing.b_max;
    tdc_pair_run(&shorter, n, b, (size_t)expected.count, &sums);
    REQUIRE(memcmp(&expected, &sums, sizeof sums) == 0, "bits differ without the extremes");
}

/* Every usable variant against the reference, and to the bit against each other. */
static inline void require_pair(tdc_dtype n_dtype, tdc_dtype b_dtype, const void *n, const void *b,
                                size_t count, const char *data)
{
    for (unsigned rule = TDC_RELATIVE_NATIVE; rule <= TDC_RELATIVE_PROMOTED; rule++) {
        struct tdc_pair_sums reference, first;
        struct tdc_pair_magnitudes magnitudes;
        tdc_pair_reference(n_dtype, b_dtype, rule, n, b, count, &reference, &magnitudes);
        for (unsigned variant = 0; variant < TDC_CPU_VARIANTS; variant++) {
            if (!tdc_cpu_variant_usable(variant))
                continue;
            char description[160];
            snprintf(description, sizeof description,
                     "%s against %s, rule %u, %s, %zu elements, %s", tdc_dtype_name(n_dtype),
                     tdc_dtype_name(b_dtype), rule, tdc_cpu_variant_name(variant), count, data);
            struct tdc_pair_plan plan;
            struct tdc_pair_sums sums;
            REQUIRE(tdc_pair_plan_make(n_dtype, b_dtype, rule, variant, &plan), "no plan");
            REQUIRE(!plan.extremes, "extremes unasked for");
            plan.extremes = true;
            memset(&sums, 0xee, sizeof sums);
            tdc_pair_run(&plan, n, b, count, &sums);
            require_rest(description, &sums, &reference);
            require_sums(description, &sums, &reference, &magnitudes);
            if (variant == TDC_CPU_BASELINE)
                first = sums;
            REQUIRE(memcmp(&first, &sums, sizeof sums) == 0, "bits differ from the baseline");
            require_same_without_extremes(description, &plan, n, b, sums);
        }
    }
}

#endif
