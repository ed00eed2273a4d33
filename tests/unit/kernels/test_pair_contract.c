/* Memory, chunks, dispatch and the examples of the specification. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/rounds.h"
#include "tests/unit/kernels/pair_data.h"

/* `size` readable bytes between two pages that must not be touched. */
struct guarded {
    unsigned char *start, *end; /* of the readable bytes */
    void *map;
    size_t mapped;
};

static struct guarded guarded_new(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t inner = (size + page - 1) / page * page;
    struct guarded memory = {.mapped = inner + 2 * page};
    memory.map =
        mmap(NULL, memory.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory.map != MAP_FAILED);
    memory.start = (unsigned char *)memory.map + page;
    memory.end = memory.start + inner;
    assert_int_equal(mprotect(memory.map, page, PROT_NONE), 0);
    assert_int_equal(mprotect(memory.end, page, PROT_NONE), 0);
    return memory;
}

static void guarded_compare(const struct guarded *n, const struct guarded *b, tdc_dtype n_dtype,
                            tdc_dtype b_dtype, size_t count)
{
    size_t n_bytes = count * tdc_dtype_size(n_dtype), b_bytes = count * tdc_dtype_size(b_dtype);
    fill_pair(FLAVOUR_NONFINITE, n_dtype, n->start, b_dtype, b->end - b_bytes, count);
    require_pair(n_dtype, b_dtype, n->start, b->end - b_bytes, count, "between guard pages");
    fill_pair(FLAVOUR_NEAR, n_dtype, n->end - n_bytes, b_dtype, b->start, count);
    require_pair(n_dtype, b_dtype, n->end - n_bytes, b->start, count, "between guard pages");
}

static void no_byte_beside_the_tensors_is_touched(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 7, 8, 9, 17, 33, 1024, 1025};
    struct guarded n = guarded_new(16 * 1025), b = guarded_new(16 * 1025);
    for (tdc_dtype n_dtype = TDC_BOOL; n_dtype < TDC_TEXT; n_dtype++)
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            guarded_compare(&n, &b, n_dtype, n_dtype, counts[k]);
            guarded_compare(&n, &b, n_dtype, TDC_F32, counts[k]);
            guarded_compare(&n, &b, TDC_U64, n_dtype, counts[k]);
        }
    munmap(n.map, n.mapped);
    munmap(b.map, b.mapped);
}

static void run_in_chunks(const struct tdc_pair_plan *plan, const char *n, const char *b,
                          size_t count, struct tdc_pair_sums *total)
{
    tdc_pair_clear(total);
    for (size_t start = 0; start < count; start += TDC_PAIR_CHUNK) {
        size_t length = count - start < TDC_PAIR_CHUNK ? count - start : TDC_PAIR_CHUNK;
        struct tdc_pair_sums sums;
        tdc_pair_run(plan, n + start * tdc_dtype_size(plan->n_dtype),
                     b + start * tdc_dtype_size(plan->b_dtype), length, &sums);
        tdc_pair_merge(total, &sums);
    }
}

static void chunks_add_up_to_the_whole(void **state)
{
    (void)state;
    size_t count = 2 * TDC_PAIR_CHUNK + 1234;
    float *n = malloc(count * sizeof *n), *b = malloc(count * sizeof *b);
    assert_non_null(n);
    assert_non_null(b);
    for (unsigned flavour = 0; flavour < FLAVOURS; flavour++) {
        fill_pair(flavour, TDC_F32, n, TDC_F32, b, count);
        struct tdc_pair_sums reference, first;
        struct tdc_pair_magnitudes magnitudes;
        unsigned rule = flavour % 2 ? TDC_RELATIVE_F64 : TDC_RELATIVE_NATIVE;
        tdc_pair_reference(TDC_F32, TDC_F32, rule, n, b, count, &reference, &magnitudes);
        for (unsigned variant = 0; variant < TDC_CPU_VARIANTS; variant++) {
            struct tdc_pair_plan plan;
            struct tdc_pair_sums total;
            if (!tdc_pair_plan_make(TDC_F32, TDC_F32, rule, variant, &plan))
                continue;
            plan.extremes = true;
            run_in_chunks(&plan, (const char *)n, (const char *)b, count, &total);
            require_rest("three chunks", &total, &reference);
            require_sums("three chunks", &total, &reference, &magnitudes);
            if (variant == TDC_CPU_BASELINE)
                first = total;
            assert_memory_equal(&total, &first, sizeof total);
        }
    }
    free(n);
    free(b);
}

static void merging_nothing_changes_nothing(void **state)
{
    (void)state;
    float n[5] = {1, 2, NAN, 4, 5}, b[5] = {1, 2.5f, 3, INFINITY, 5};
    struct tdc_pair_plan plan;
    struct tdc_pair_sums sums, left, right;
    assert_true(tdc_pair_plan_make(TDC_F32, TDC_F32, TDC_RELATIVE_F64, TDC_CPU_BASELINE, &plan));
    tdc_pair_run(&plan, n, b, 5, &sums);
    right = sums;
    tdc_pair_clear(&left);
    tdc_pair_merge(&right, &left);
    assert_memory_equal(&right, &sums, sizeof sums);
    tdc_pair_merge(&left, &sums);
    assert_memory_equal(&left, &sums, sizeof sums);
    tdc_pair_run(&plan, n, b, 0, &sums);
    tdc_pair_clear(&left);
    assert_memory_equal(&left, &sums, sizeof sums);
}

static void equal_maxima_keep_the_first_position(void **state)
{
    (void)state;
    float n[4] = {1, 3, 1, 3}, b[4] = {1, 2, 1, 2};
    struct tdc_pair_plan plan;
    struct tdc_pair_sums left, right;
    assert_true(tdc_pair_plan_make(TDC_F32, TDC_F32, TDC_RELATIVE_NATIVE, TDC_CPU_BASELINE, &plan));
    tdc_pair_run(&plan, n, b, 4, &left);
    right = left;
    tdc_pair_merge(&left, &right);
    assert_int_equal(left.abs_at, 1);
    assert_int_equal(left.rel_at, 1);
    n[2] = 100;
    tdc_pair_run(&plan, n, b, 4, &right);
    tdc_pair_merge(&left, &right);
    assert_int_equal(left.abs_at, 10);
    assert_int_equal(left.rel_at, 10);
    assert_int_equal(left.count, 12);
}

static struct tdc_pair_sums run(tdc_dtype n_dtype, const void *n, tdc_dtype b_dtype, const void *b,
                                size_t count, enum tdc_relative_rule rule)
{
    struct tdc_pair_plan plan;
    struct tdc_pair_sums sums;
    assert_true(tdc_pair_plan_make(n_dtype, b_dtype, rule, tdc_cpu_variant_chosen(), &plan));
    plan.extremes = true;
    tdc_pair_run(&plan, n, b, count, &sums);
    return sums;
}

static void examples_of_the_specification(void **state)
{
    (void)state;
    uint16_t halves[3] = {0, 0x3c00, 0x4000}, large[3] = {0x7b53, 0x3c00, 0x4000};
    uint16_t minus_large[3] = {0xfb53, 0x3c00, 0x4000};
    struct tdc_pair_sums s = run(TDC_F16, halves, TDC_F16, halves, 3, TDC_RELATIVE_NATIVE);
    assert_true(s.rel_nan == 1 && s.below[0] == 2 && s.below[1] == 2 && s.rel_max == 0);
    s = run(TDC_F16, large, TDC_F16, minus_large, 3, TDC_RELATIVE_NATIVE);
    assert_true(s.rel_max == INFINITY && s.abs_max == 120000 && s.below[0] == 2);

    float zeros[3] = {0, 0, 0}, numbers[3] = {0, 1, 2}, ones[1] = {1};
    s = run(TDC_F32, zeros, TDC_F32, numbers, 3, TDC_RELATIVE_NATIVE);
    assert_true(s.rel_max == 1 && s.rel_at == 1 && s.below[0] == 1 && s.dd == 5 && s.abs_max == 2);
    s = run(TDC_F32, ones, TDC_F32, zeros, 1, TDC_RELATIVE_NATIVE);
    assert_true(s.rel_max == 4503599627370496);
    s = run(TDC_F32, ones, TDC_F32, zeros, 1, TDC_RELATIVE_F64);
    assert_true(s.rel_max == 1);

    /* f16 takes no epsilon, whichever side it is on. */
    uint16_t half_zero = 0;
    s = run(TDC_F16, &half_zero, TDC_F32, zeros, 1, TDC_RELATIVE_NATIVE);
    assert_true(s.rel_max == 1 && s.rel_nan == 0);
    s = run(TDC_F32, zeros, TDC_F16, &half_zero, 1, TDC_RELATIVE_NATIVE);
    assert_true(s.rel_max == INFINITY && s.rel_nan == 0);
    float minus_epsilon = -0x1p-52f;
    s = run(TDC_F32, &minus_epsilon, TDC_F16, &half_zero, 1, TDC_RELATIVE_NATIVE);
    assert_true(s.rel_max == -1 && s.rel_nan == 1);

    float with_inf[3] = {INFINITY, 1, 2}, with_minus_inf[3] = {-INFINITY, 1, 2.5f};
    s = run(TDC_F32, with_inf, TDC_F32, with_minus_inf, 3, TDC_RELATIVE_NATIVE);
    assert_true(s.rel_max == (double)0.2f && s.below[1] == 2 && s.inf_apart == 0 && s.n_inf == 1);
    assert_true(s.nonfinite_equal == 0 && s.finite == 2);

    double wide[2] = {1e200, 2}, minus_wide[2] = {-1e200, 2.5};
    s = run(TDC_F64, wide, TDC_F64, minus_wide, 2, TDC_RELATIVE_NATIVE);
    assert_true(s.dd == INFINITY && s.abs_max == 2e200 && s.rel_max == 2 && s.below[1] == 0);
}

/* No narrower than f32, and what is added where the bench is 0 belongs to that type. */
static void promoted_errors(void **state)
{
    (void)state;
    const float one = 1, two = 2, zero = 0;
    const uint16_t half_zero = 0, half_one = 0x3c00;
    const double wide_one = 1, wide_zero = 0;
    const int32_t whole_one = 1, whole_zero = 0;
    struct tdc_pair_sums s = run(TDC_F32, &one, TDC_F32, &zero, 1, TDC_RELATIVE_PROMOTED);
    assert_true(s.rel_max == 8388608);
    s = run(TDC_F32, &two, TDC_F32, &zero, 1, TDC_RELATIVE_PROMOTED);
    assert_true(s.rel_max == 16777215);
    s = run(TDC_F16, &half_zero, TDC_F16, &half_zero, 1, TDC_RELATIVE_PROMOTED);
    assert_true(s.rel_max == 0 && s.rel_nan == 0 && s.below[0] == 1);
    s = run(TDC_F16, &half_one, TDC_F32, &zero, 1, TDC_RELATIVE_PROMOTED);
    assert_true(s.rel_max == 8388608);
    s = run(TDC_F32, &one, TDC_F16, &half_zero, 1, TDC_RELATIVE_PROMOTED);
    assert_true(s.rel_max == 8388608);
    s = run(TDC_F32, &one, TDC_F64, &wide_zero, 1, TDC_RELATIVE_PROMOTED);
    assert_true(s.rel_max == 4503599627370496);
    s = run(TDC_F64, &wide_one, TDC_F16, &half_zero, 1, TDC_RELATIVE_PROMOTED);
    assert_true(s.rel_max == 4503599627370496);
    s = run(TDC_I32, &whole_one, TDC_I32, &whole_zero, 1, TDC_RELATIVE_PROMOTED);
    assert_true(s.rel_max == 4503599627370496);
}

/* 0.005 in f32 lies below 0.005 in f64: an error equal to the former does not count. */
static void limits_are_rounded_to_the_type_of_the_error(void **state)
{
    (void)state;
    float n = 1 + 0x1p-23f * 41943, b = 1;
    for (; (n - 1) / b < 0.005f; n = nextafterf(n, 2))
        ;
    struct tdc_pair_sums s = run(TDC_F32, &n, TDC_F32, &b, 1, TDC_RELATIVE_NATIVE);
    assert_true(s.below[1] == 0 && s.below[0] == 0);
    n = nextafterf(n, 0);
    s = run(TDC_F32, &n, TDC_F32, &b, 1, TDC_RELATIVE_NATIVE);
    assert_true(s.below[1] == 1 && s.below[0] == 0);
    float exact[2] = {201, 1001}, base[2] = {200, 1000};
    s = run(TDC_F32, exact, TDC_F32, base, 2, TDC_RELATIVE_F64);
    assert_true(s.below[0] == 0 && s.below[1] == 1 && s.below[2] == 2 && s.below[3] == 2);
}

static void integers_differ_exactly(void **state)
{
    (void)state;
    uint64_t top = UINT64_MAX;
    int64_t bottom = INT64_MIN, large = INT64_MAX, next = INT64_MAX - 1;
    struct tdc_pair_sums s = run(TDC_U64, &top, TDC_I64, &bottom, 1, TDC_RELATIVE_F64);
    assert_true(s.abs_max == 0x1p64 + 0x1p63 && s.rel_max == 3);
    s = run(TDC_I64, &bottom, TDC_U64, &top, 1, TDC_RELATIVE_F64);
    assert_true(s.abs_max == 0x1p64 + 0x1p63 && s.rel_max == 1.5);
    /* 2^64 + 2049: the last of 65 bits decides the rounding. */
    top = ((uint64_t)1 << 63) + 2049;
    s = run(TDC_U64, &top, TDC_I64, &bottom, 1, TDC_RELATIVE_F64);
    assert_true(s.abs_max == 0x1p64 + 4096);
    s = run(TDC_I64, &large, TDC_I64, &next, 1, TDC_RELATIVE_F64);
    assert_true(s.abs_max == 1 && s.rel_max == 0x1p-63 && s.dd == 1);
    s = run(TDC_I64, &large, TDC_I64, &next, 1, TDC_RELATIVE_NATIVE);
    assert_true(s.abs_max == 0 && s.rel_max == 0);
}

static void complex_numbers_use_the_modulus(void **state)
{
    (void)state;
    float n[4] = {3, 5, INFINITY, NAN}, b[4] = {0, 1, INFINITY, 1};
    struct tdc_pair_sums s = run(TDC_C64, n, TDC_C64, b, 2, TDC_RELATIVE_F64);
    assert_true(s.abs_max == 5 && s.rel_max == 5 && s.nb == 5 && s.nn == 34 && s.dd == 25);
    assert_true(s.n == 3 && s.b == 0 && s.n_max == 3 && s.finite == 1);
    assert_true(s.n_nan == 1 && s.n_inf == 0 && s.b_inf == 1 && s.nonfinite_equal == 0);
    s = run(TDC_C64, n, TDC_C64, b, 2, TDC_RELATIVE_NATIVE);
    assert_true(s.n_inf == 1 && s.b_inf == 1 && s.n_nan == 0 && s.nn == 9 &&
                s.nonfinite_equal == 1);
    for (int round = 0, rounds = rounds_of(2000); round < rounds; round++) {
        double x[2], y[2] = {0, 0};
        x[0] = ldexp(random_unit(), (int)random_below(2000) - 1000);
        x[1] = ldexp(random_unit(), ilogb(x[0]) + (int)random_below(60) - 30);
        s = run(TDC_C128, x, TDC_C128, y, 1, TDC_RELATIVE_F64);
        double exact = hypot(x[0], x[1]);
        assert_true(fabs(s.abs_max - exact) <= exact * 0x1p-51);
    }
}

static void variants_are_named_and_chosen(void **state)
{
    (void)state;
    static const char *const names[] = {"baseline", "x86-64-v3", "x86-64-v4"};
    enum tdc_cpu_variant best = TDC_CPU_BASELINE;
    assert_true(tdc_cpu_variant_usable(TDC_CPU_BASELINE));
    for (unsigned variant = 0; variant < TDC_CPU_VARIANTS; variant++) {
        assert_string_equal(tdc_cpu_variant_name(variant), names[variant]);
        setenv("TDC_CPU", names[variant], 1);
        tdc_cpu_variant_look_again();
        if (tdc_cpu_variant_usable(variant)) {
            assert_int_equal(tdc_cpu_variant_chosen(), variant);
            best = variant;
        }
    }
    setenv("TDC_CPU", "z80", 1);
    tdc_cpu_variant_look_again();
    assert_int_equal(tdc_cpu_variant_chosen(), best);
    unsetenv("TDC_CPU");
    tdc_cpu_variant_look_again();
    assert_int_equal(tdc_cpu_variant_chosen(), best);
}

static void some_plans_cannot_be_made(void **state)
{
    (void)state;
    struct tdc_pair_plan plan;
    enum tdc_cpu_variant variant = TDC_CPU_BASELINE;
    assert_false(tdc_pair_plan_make(TDC_TEXT, TDC_F32, TDC_RELATIVE_F64, variant, &plan));
    assert_false(tdc_pair_plan_make(TDC_F32, TDC_TEXT, TDC_RELATIVE_NATIVE, variant, &plan));
    assert_false(tdc_pair_plan_make(TDC_DTYPE_NONE, TDC_F32, TDC_RELATIVE_F64, variant, &plan));
    assert_false(tdc_pair_plan_make(TDC_F32, TDC_F32, TDC_RELATIVE_F64, TDC_CPU_VARIANTS, &plan));
    assert_true(tdc_pair_plan_make(TDC_F32, TDC_I8, TDC_RELATIVE_F64, variant, &plan));
    assert_int_equal(plan.n_dtype, TDC_F32);
    assert_int_equal(plan.b_dtype, TDC_I8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_byte_beside_the_tensors_is_touched),
        cmocka_unit_test(chunks_add_up_to_the_whole),
        cmocka_unit_test(merging_nothing_changes_nothing),
        cmocka_unit_test(equal_maxima_keep_the_first_position),
        cmocka_unit_test(examples_of_the_specification),
        cmocka_unit_test(promoted_errors),
        cmocka_unit_test(limits_are_rounded_to_the_type_of_the_error),
        cmocka_unit_test(integers_differ_exactly),
        cmocka_unit_test(complex_numbers_use_the_modulus),
        cmocka_unit_test(variants_are_named_and_chosen),
        cmocka_unit_test(some_plans_cannot_be_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
