/* All dtype pairs, both rules, all variants, against the reference. */
#include <stdlib.h>

#include "tests/support/rounds.h"
#include "tests/unit/kernels/pair_data.h"
#include "tests/unit/kernels/pair_ways.h"

#define LARGEST 2500

static const char *const flavour_names[FLAVOURS] = {"near",  "bits", "sparse",   "limits",
                                                    "range", "tiny", "nonfinite"};

static void compare(enum flavour flavour, tdc_dtype n_dtype, tdc_dtype b_dtype, size_t count,
                    unsigned char *n, unsigned char *b)
{
    fill_pair(flavour, n_dtype, n, b_dtype, b, count);
    require_pair(n_dtype, b_dtype, n, b, count, flavour_names[flavour]);
}

/* Room for LARGEST elements of any dtype, starting at an odd address. */
static unsigned char *unaligned_room(unsigned char **owner)
{
    *owner = malloc(16 * LARGEST + 64);
    assert_non_null(*owner);
    return *owner + 1;
}

static void every_dtype_pair_agrees_with_the_reference(void **state)
{
    (void)state;
    unsigned char *n_owner, *b_owner;
    unsigned char *n = unaligned_room(&n_owner), *b = unaligned_room(&b_owner);
    int rounds = rounds_of(3);
    for (tdc_dtype n_dtype = TDC_BOOL; n_dtype < TDC_TEXT; n_dtype++)
        for (tdc_dtype b_dtype = TDC_BOOL; b_dtype < TDC_TEXT; b_dtype++)
            for (unsigned flavour = 0; flavour < FLAVOURS; flavour++)
                for (int round = 0; round < rounds; round++)
                    compare(flavour, n_dtype, b_dtype, 1 + random_below(70), n, b);
    free(n_owner);
    free(b_owner);
}

static void block_borders_do_not_show(void **state)
{
    (void)state;
    static const size_t counts[] = {1023, 1024, 1025, 1055, 1056, 2047, 2048, 2049};
    unsigned char *n_owner, *b_owner;
    unsigned char *n = unaligned_room(&n_owner), *b = unaligned_room(&b_owner);
    unsigned turn = 0;
    for (tdc_dtype n_dtype = TDC_BOOL; n_dtype < TDC_TEXT; n_dtype++)
        for (tdc_dtype b_dtype = TDC_BOOL; b_dtype < TDC_TEXT; b_dtype++, turn++)
            compare(turn % FLAVOURS, n_dtype, b_dtype, counts[(turn / FLAVOURS) % 8], n, b);
    free(n_owner);
    free(b_owner);
}

/* Blocks that are equal to the bit, whole or but for one element, between others. */
static void equal_blocks_among_others(void **state)
{
    (void)state;
    unsigned char *n_owner, *b_owner;
    unsigned char *n = unaligned_room(&n_owner), *b = unaligned_room(&b_owner);
    for (tdc_dtype dtype = TDC_BOOL; dtype < TDC_TEXT; dtype++)
        for (unsigned round = 0; round < (unsigned)rounds_of(4 * FLAVOURS); round++) {
            size_t size = tdc_dtype_size(dtype), count = LARGEST - random_below(460);
            fill_pair(round % FLAVOURS, dtype, n, dtype, b, count);
            size_t kept = random_below(5); /* the block that stays as it is; from 3 on none */
            for (size_t start = 0; start < count; start += 1024)
                if (start / 1024 != kept)
                    memcpy(b + start * size, n + start * size,
                           (count - start < 1024 ? count - start : 1024) * size);
            if (random_below(2) == 0)
                memcpy(b + random_below(1024) * size, n, size);
            require_pair(dtype, dtype, n, b, count, "equal blocks");
        }
    free(n_owner);
    free(b_owner);
}

/* The pairs that matter most, at every length around the lanes and in every flavour. */
static void common_pairs_at_every_length(void **state)
{
    (void)state;
    static const tdc_dtype pairs[][2] = {
        {TDC_F32, TDC_F32}, {TDC_BF16, TDC_BF16}, {TDC_F16, TDC_F16}, {TDC_F64, TDC_F64},
        {TDC_F16, TDC_F32}, {TDC_F32, TDC_F16},   {TDC_F32, TDC_F64}, {TDC_I64, TDC_U64},
        {TDC_U64, TDC_I64}, {TDC_I64, TDC_I64},   {TDC_C64, TDC_C64}, {TDC_C128, TDC_C128},
    };
    unsigned char *n_owner, *b_owner;
    unsigned char *n = unaligned_room(&n_owner), *b = unaligned_room(&b_owner);
    for (size_t pair = 0; pair < sizeof pairs / sizeof *pairs; pair++)
        for (unsigned flavour = 0; flavour < FLAVOURS; flavour++) {
            for (size_t count = 0; count <= 34; count++)
                compare(flavour, pairs[pair][0], pairs[pair][1], count, n, b);
            compare(flavour, pairs[pair][0], pairs[pair][1], LARGEST, n, b);
        }
    free(n_owner);
    free(b_owner);
}

/* Blocks whose only peculiarity is in one place. */
static void single_values_are_found_anywhere(void **state)
{
    (void)state;
    static const float specials[] = {NAN, INFINITY, -INFINITY, 0, 1e30f, 0x1p-140f};
    float n[1100], b[1100];
    for (int round = 0, rounds = rounds_of(400); round < rounds; round++) {
        float base = random_below(2) ? 3.0f : 0.0f;
        for (size_t i = 0; i < 1100; i++)
            n[i] = b[i] = base;
        size_t at = random_below(1100);
        n[at] = specials[random_below(6)];
        if (random_below(2))
            b[random_below(2) ? at : random_below(1100)] = specials[random_below(6)];
        require_pair(TDC_F32, TDC_F32, n, b, 1100 - random_below(40), "one special value");
    }
}

/* |n-b| of pairs in different blocks that f32 cannot tell apart, and repeated maxima. */
static void close_maxima_in_different_blocks(void **state)
{
    (void)state;
    enum {
        COUNT = 5 * 1024
    };
    static float n[COUNT], b[COUNT];
    for (int round = 0, rounds = rounds_of(200); round < rounds; round++) {
        float step = random_below(3) ? 0x1p-20f : 0;
        for (size_t i = 0; i < COUNT; i++) {
            n[i] = (float)random_below(4);
            b[i] = n[i] + (float)random_below(2);
        }
        for (size_t block = 0; block < 5; block++) {
            size_t at = block * 1024 + random_below(1024);
            n[at] = 0x1p15f;
            b[at] = step * (float)random_below(5);
        }
        require_pair(TDC_F32, TDC_F32, n, b, COUNT - random_below(40), "close maxima");
    }
}

/* Kernels treat a block by what they met in earlier ones. */
static void nonfinite_blocks_in_any_order(void **state)
{
    (void)state;
    enum {
        BLOCKS = 14
    };
    static double n[BLOCKS * 1024], b[BLOCKS * 1024];
    static float narrow_n[BLOCKS * 1024], narrow_b[BLOCKS * 1024];
    for (int round = 0, rounds = rounds_of(40); round < rounds; round++) {
        for (size_t i = 0; i < BLOCKS * 1024; i++) {
            b[i] = (double)random_below(1000) - 500;
            n[i] = b[i] + (double)random_below(3);
        }
        for (size_t block = 0; block < BLOCKS; block++) {
            size_t at = block * 1024 + random_below(1024);
            if (random_below(3) == 0)
                n[at] = random_special();
            /* Squares of these overflow: a sum that is not finite need not mean a NaN. */
            if (round % 2 && random_below(5) == 0)
                b[at] = 1e200;
        }
        for (size_t i = 0; i < BLOCKS * 1024; i++) {
            narrow_n[i] = (float)n[i];
            narrow_b[i] = (float)b[i];
        }
        size_t count = BLOCKS * 1024 - random_below(40);
        require_pair(TDC_F64, TDC_F64, n, b, count, "some blocks with NaN");
        require_pair(TDC_F32, TDC_F32, narrow_n, narrow_b, count, "some blocks with NaN");
    }
}

static void nothing_finite_takes_part_nowhere(void **state)
{
    (void)state;
    float n[50], b[50];
    for (size_t i = 0; i < 50; i++) {
        n[i] = i % 3 ? INFINITY : NAN;
        b[i] = i % 2 ? -INFINITY : NAN;
    }
    require_pair(TDC_F32, TDC_F32, n, b, 50, "nothing finite");
    struct tdc_pair_plan plan;
    struct tdc_pair_sums sums;
    assert_true(tdc_pair_plan_make(TDC_F32, TDC_F32, TDC_RELATIVE_F64, TDC_CPU_BASELINE, &plan));
    tdc_pair_run(&plan, n, b, 50, &sums);
    assert_true(sums.abs_max == -1 && sums.rel_max == -1 && sums.n_min == INFINITY);
    assert_int_equal(sums.below[3], 0);
    assert_true(tdc_pair_plan_make(TDC_F32, TDC_F32, TDC_RELATIVE_NATIVE, TDC_CPU_BASELINE, &plan));
    tdc_pair_run(&plan, n, b, 50, &sums);
    assert_true(sums.abs_max == 0 && sums.rel_max == 0 && sums.n_min == INFINITY);
    assert_int_equal(sums.below[0], 50);
}

/* Quotients of the smallest numbers, where a bound computed in f32 has hardly any digits. */
static void maxima_of_subnormal_pairs(void **state)
{
    (void)state;
    float n[2], b[2];
    for (int code = 0; code < 9 * 9 * 9 * 9; code++) {
        b[0] = (float)(1 + code % 9) * 0x1p-149f;
        b[1] = (float)(1 + code / 9 % 9) * 0x1p-149f;
        n[0] = b[0] + (float)(code / 81 % 9) * 0x1p-149f;
        n[1] = b[1] - (float)(code / 729) * 0x1p-149f;
        require_pair(TDC_F32, TDC_F32, n, b, 2, "subnormal numbers");
    }
}

/* A few units in the last place between the sides; with `odd`, what groups of near pairs are apart
 * by: limits met exactly, zeros of both signs, the smallest numbers. */
static void fill_near(tdc_dtype n_dtype, unsigned char *n, tdc_dtype b_dtype, unsigned char *b,
                      bool odd)
{
    static const double limits[] = {1e-3, 5e-3, 1e-2, 1e-1};
    static const double rounding[] = {0x1p-11, 0x1p-9, 0x1p-24, 0};
    double value = random_scaled(-6, 12);
    double other = value * (1 + random_sign() * rounding[random_below(4)]);
    size_t kind = odd ? random_below(7) : 7;
    if (kind < 2) {
        double unit = ldexp(1, (int)random_below(8) - 4), inverse = 1 / limits[random_below(4)];
        value = unit * round(inverse);
        other = value + random_sign() * unit;
    } else if (kind == 2) {
        value = random_below(2) ? 0.0 : -0.0;
        other = random_below(3) ? -value : 1;
    } else if (kind == 3) {
        double unit = n_dtype == TDC_F16 || b_dtype == TDC_F16   ? 0x1p-24
                      : n_dtype == TDC_F32 && b_dtype == TDC_F32 ? 0x1p-149
                                                                 : 0x1p-133;
        value = unit * (double)random_below(1200);
        other = value + unit * (double)random_below(3);
    }
    encode(n_dtype, other, 0, n);
    encode(b_dtype, value, 0, b);
}

/* Groups of pairs that are near to each other among others that are not. */
static void near_groups_among_others(void **state)
{
    (void)state;
    enum {
        COUNT = 5 * 1024
    };
    static const tdc_dtype dtypes[] = {TDC_F32, TDC_BF16, TDC_F16};
    static unsigned char n[4 * COUNT], b[4 * COUNT];
    for (int round = 0; round < 9 * 8; round++) {
        tdc_dtype n_dtype = dtypes[round % 3], b_dtype = dtypes[round / 3 % 3];
        size_t n_size = tdc_dtype_size(n_dtype), b_size = tdc_dtype_size(b_dtype);
        size_t rarity = (size_t)1 << random_below(12);
        for (size_t i = 0; i < COUNT; i++)
            fill_near(n_dtype, n + i * n_size, b_dtype, b + i * b_size, random_below(rarity) == 0);
        if (round % 5 == 4)
            encode(n_dtype, NAN, 0, n + random_below(COUNT) * n_size);
        require_pair(n_dtype, b_dtype, n, b, COUNT - random_below(40), "near groups");
    }
}

/* Blocks of every kind that has a way of its own, beside each other in any order. */
static void short_ways_follow_each_other(void **state)
{
    (void)state;
    enum {
        BLOCKS = 7
    };
    static unsigned char n[16 * BLOCKS * WAY_BLOCK], b[16 * BLOCKS * WAY_BLOCK];
    for (tdc_dtype dtype = TDC_BOOL; dtype < TDC_TEXT; dtype++)
        for (int round = 0, rounds = rounds_of(dtype == TDC_BF16 || dtype == TDC_F16 ? 24 : 6);
             round < rounds; round++) {
            size_t size = tdc_dtype_size(dtype), count = BLOCKS * WAY_BLOCK;
            fill_way(WAY_NOISE, dtype, n, dtype, b, WAY_BLOCK);
            for (size_t i = WAY_BLOCK; i < count; i += WAY_BLOCK)
                fill_way((enum way)random_below(WAYS), dtype, n + i * size, dtype, b + i * size,
                         WAY_BLOCK);
            if (round % 6 == 5)
                encode(dtype, random_special(), 0, n + random_below(count) * size);
            require_pair(dtype, dtype, n, b, count - random_below(40), "short ways");
        }
}

/* Where a maximum is 0, its first position is that of the first pair that takes part. */
static void zero_maxima_start_at_the_first_finite_pair(void **state)
{
    (void)state;
    static const tdc_dtype dtypes[] = {TDC_F16, TDC_F32, TDC_F64, TDC_C64, TDC_C128};
    unsigned char n[16 * 40], b[16 * 40];
    for (size_t k = 0; k < 5; k++)
        for (size_t first = 0; first < 40; first++) {
            for (size_t i = 0; i < 40; i++) {
                size_t size = tdc_dtype_size(dtypes[k]);
                encode(dtypes[k], i < first ? INFINITY : 3, 1, n + i * size);
                encode(dtypes[k], i < first ? NAN : 3, 1, b + i * size);
            }
            require_pair(dtypes[k], dtypes[k], n, b, 40, "equal after some that are not finite");
            struct tdc_pair_plan plan;
            struct tdc_pair_sums sums;
            assert_true(tdc_pair_plan_make(dtypes[k], dtypes[k], TDC_RELATIVE_F64, TDC_CPU_BASELINE,
                                           &plan));
            tdc_pair_run(&plan, n, b, 40, &sums);
            assert_true(sums.abs_at == first && sums.rel_at == first && sums.rel_max == 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dtype_pair_agrees_with_the_reference),
        cmocka_unit_test(block_borders_do_not_show),
        cmocka_unit_test(equal_blocks_among_others),
        cmocka_unit_test(common_pairs_at_every_length),
        cmocka_unit_test(single_values_are_found_anywhere),
        cmocka_unit_test(close_maxima_in_different_blocks),
        cmocka_unit_test(nonfinite_blocks_in_any_order),
        cmocka_unit_test(maxima_of_subnormal_pairs),
        cmocka_unit_test(near_groups_among_others),
        cmocka_unit_test(short_ways_follow_each_other),
        cmocka_unit_test(zero_maxima_start_at_the_first_finite_pair),
        cmocka_unit_test(nothing_finite_takes_part_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
