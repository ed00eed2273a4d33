/* The metrics of a slot: the cosine at every magnitude, and as the old tool has it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "host/precheck/standards/metrics.h"

static double cosine(const double *bench, const double *tested, uint64_t count, bool any_scale)
{
    struct tdc_metrics metrics;
    tdc_measure_slot(bench, tested, count, TDC_DTYPE_NONE, any_scale, &metrics);
    return metrics.cosine;
}

/* Within float64's last digits of the definition, which a long double has room for. */
static void is_defined(const double *bench, const double *tested, uint64_t count)
{
    long double bt = 0, bb = 0, tt = 0;
    for (uint64_t i = 0; i < count; i++) {
        bt += (long double)bench[i] * tested[i];
        bb += (long double)bench[i] * bench[i];
        tt += (long double)tested[i] * tested[i];
    }
    double wanted = (double)((1e-8 + bt) / (1e-8 + sqrtl(bb) * sqrtl(tt)));
    double got = cosine(bench, tested, count, true);
    if (!(fabs(got - wanted) < 1e-14))
        fail_msg("%.17g instead of %.17g", got, wanted);
}

/* The same directions at every pair of magnitudes. */
static void cosine_at_every_scale(void **state)
{
    (void)state;
    static const double scales[] = {0x1p-1074, 1e-300, 1e-200, 1e-9, 1, 1e9, 1e200, 1e307};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
        for (size_t j = 0; j < sizeof scales / sizeof *scales; j++) {
            double x = scales[i], y = scales[j];
            double bench[] = {x, 2 * x, 3 * x}, tested[] = {y, 2 * y, -3 * y};
            is_defined(bench, bench, 3);
            is_defined(bench, tested, 3);
            for (int k = 0; k < 3; k++)
                tested[k] = -y * (k + 1);
            is_defined(bench, tested, 3);
        }
}

/* A few huge elements, the rest of them too small for their squares, over many blocks. */
static void cosine_of_many_blocks(void **state)
{
    (void)state;
    enum {
        COUNT = 300000
    };
    double *bench = malloc(COUNT * sizeof *bench), *tested = malloc(COUNT * sizeof *tested);
    assert_non_null(bench);
    assert_non_null(tested);
    for (int i = 0; i < COUNT; i++) {
        bench[i] = i % 100000 == 7 ? 1e180 : 1e-180;
        tested[i] = i % 100000 == 7 && i > 200000 ? -1e-150 : i % 100000 == 7 ? 1e-150 : 0;
    }
    assert_true(fabs(cosine(bench, tested, COUNT, true) - 1.0 / 3) < 1e-15);
    assert_true(cosine(bench, tested, COUNT, false) == 0);
    free(bench);
    free(tested);
}

static void a_side_of_zeros_has_no_direction(void **state)
{
    (void)state;
    const double zeros[] = {0, 0}, tiny[] = {1e-250, -1e-250};
    assert_true(cosine(zeros, zeros, 2, true) == 1);
    assert_true(cosine(zeros, tiny, 2, true) == 1);
    assert_true(cosine(tiny, zeros, 2, true) == 1);
}

/* The old tool's form sees no direction in what is small, and none in what is huge. */
static void cosine_of_the_old_tool(void **state)
{
    (void)state;
    const double small[] = {1e-9, -1e-9}, opposite[] = {-1e-9, 1e-9}, huge[] = {1e200, 1e200};
    assert_true(fabs(cosine(small, opposite, 2, false) - 1) < 1e-8);
    assert_true(isnan(cosine(huge, huge, 2, false)));
    assert_true(cosine((const double[]){3, 4}, (const double[]){4, 3}, 2, false) ==
                (1e-8 + 24) / (1e-8 + 25));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cosine_at_every_scale),
        cmocka_unit_test(cosine_of_many_blocks),
        cmocka_unit_test(a_side_of_zeros_has_no_direction),
        cmocka_unit_test(cosine_of_the_old_tool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
