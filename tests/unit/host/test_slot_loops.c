/* The loops of judging find what a look at each element finds, with every instruction set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/precheck/standards/metrics.h"
#include "host/precheck/standards/slot_bound.h"
#include "host/precheck/standards/slot_loops.h"
#include "io/base/arena.h"
#include "kernels/pair.h"

#define COUNT 5003

enum kind {
    NEAR,    /* a rounding apart */
    ZEROS,   /* some of both sides, and errors, are 0 */
    TINY,    /* at the smallest numbers of the dtypes */
    INFINITE /* with NaN and infinities */
};

static double drawn(uint64_t i)
{
    i = (i + 1) * 0x9e3779b97f4a7c15u;
    i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9u;
    return (double)((i ^ i >> 27) >> 11) * 0x1p-52 - 1;
}

static struct tdc_reference_tensor *tensor(struct tdc_arena *arena, tdc_dtype dtype)
{
    struct tdc_reference_tensor *t =
        tdc_reference_tensor_new(arena, dtype, 1, (const int64_t[]){COUNT});
    assert_non_null(t);
    return t;
}

static void fill(struct tdc_reference_tensor *b, struct tdc_reference_tensor *t, enum kind kind)
{
    for (int64_t i = 0; i < COUNT; i++) {
        double x = ldexp(drawn((uint64_t)i), (int)(i % 13)), scale = kind == TINY ? 0x1p-126 : 1;
        b->real[i] = x * scale;
        t->real[i] =
            tdc_reference_cast(b->real[i] * (1 + 1e-7 * drawn((uint64_t)i + 77)), t->dtype);
        b->error[i] = fabs(b->real[i]) * (double)(i % 7 + 1);
        if (kind == ZEROS && i % 17 == 3)
            b->real[i] = b->error[i] = 0;
        if (kind == ZEROS && i % 34 == 3)
            t->real[i] = 0;
        if (kind == ZEROS && i % 19 == 4)
            b->error[i] = 0;
        if (kind == INFINITE && i % 1001 == 5)
            b->real[i] = (double)INFINITY;
        if (kind == INFINITE && i % 2002 == 5)
            t->real[i] = (double)INFINITY;
        if (kind == INFINITE && i == 4000)
            t->real[i] = b->real[i] = (double)NAN;
    }
}

static void check_bounds(const struct tdc_reference_tensor *b, const struct tdc_reference_tensor *t)
{
    struct tdc_bound_check found = tdc_check_bound(b, t), wanted = {.worst = -1};
    for (int64_t i = 0; i < COUNT; i++) {
        double ratio = tdc_element_ratio(b->real[i], t->real[i], b->error[i], t->dtype);
        wanted.beyond += ratio > 1;
        if (wanted.worst < 0 || ratio > wanted.ratio) {
            wanted.worst = i;
            wanted.ratio = ratio;
        }
    }
    assert_int_equal(found.beyond, wanted.beyond);
    assert_int_equal(found.worst, wanted.worst);
    assert_true(found.ratio == wanted.ratio);
}

static void check_metrics(const double *b, const double *t, tdc_dtype dtype)
{
    struct tdc_metrics found;
    double most = -1, relative = -1, ulp = 0;
    bool odd = false;
    uint64_t worst = 0;
    for (uint64_t i = 0; i < COUNT; i++) {
        double difference = fabs(b[i] - t[i]);
        double share = difference / (b[i] == 0 ? 1e-8 : fabs(b[i]));
        odd = odd || isnan(difference);
        relative = share > relative ? share : relative;
        if (difference > most) {
            most = difference;
            worst = i;
        }
        if (difference != 0 && isfinite(difference) && tdc_units_apart(b[i], t[i], dtype) > ulp)
            ulp = tdc_units_apart(b[i], t[i], dtype);
    }
    tdc_measure_slot(b, t, COUNT, dtype, true, &found);
    assert_true(found.max_ulp == ulp);
    assert_true(odd ? isnan(found.max_abs) : found.max_abs == most);
    if (!odd) {
        assert_true(found.max_relative == relative);
        assert_int_equal(found.worst, worst);
    }
}

static void loops_find_what_is_there(void **state)
{
    (void)state;
    static const tdc_dtype dtypes[] = {TDC_F32, TDC_BF16, TDC_F16, TDC_F64};
    struct tdc_arena arena;
    tdc_arena_init(&arena, (size_t)1 << 26);
    for (int v = 0; v < TDC_CPU_VARIANTS; v++) {
        if (!tdc_cpu_variant_usable((enum tdc_cpu_variant)v))
            continue;
        setenv("TDC_CPU", tdc_cpu_variant_name((enum tdc_cpu_variant)v), 1);
        tdc_cpu_variant_look_again();
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
            for (int kind = NEAR; kind <= INFINITE; kind++) {
                struct tdc_reference_tensor *b = tensor(&arena, TDC_F64);
                struct tdc_reference_tensor *t = tensor(&arena, dtypes[d]);
                b->error = tensor(&arena, TDC_F64)->real;
                fill(b, t, (enum kind)kind);
                check_bounds(b, t);
                check_metrics(b->real, t->real, dtypes[d]);
                tdc_arena_reset(&arena);
            }
    }
    unsetenv("TDC_CPU");
    tdc_cpu_variant_look_again();
    tdc_arena_free(&arena);
}

static void bfloat16_is_rounded_as_one_by_one(void **state)
{
    (void)state;
    static double x[COUNT], y[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = ldexp(drawn((uint64_t)i), i % 300 - 150); /* beyond the largest, too */
    x[7] = 0x1.01p0;                                     /* halfway */
    x[8] = 0x1.03p0;
    x[9] = 3.4e38;
    for (int v = 0; v < TDC_CPU_VARIANTS; v++) {
        if (!tdc_cpu_variant_usable((enum tdc_cpu_variant)v))
            continue;
        setenv("TDC_CPU", tdc_cpu_variant_name((enum tdc_cpu_variant)v), 1);
        tdc_cpu_variant_look_again();
        assert_true(tdc_slot_to_brains(x, COUNT, y));
        for (int i = 0; i < COUNT; i++)
            assert_true(y[i] == tdc_reference_cast(x[i], TDC_BF16));
    }
    unsetenv("TDC_CPU");
    tdc_cpu_variant_look_again();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_find_what_is_there),
        cmocka_unit_test(bfloat16_is_rounded_as_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
