/* test_tile_record - records of the device as the host reads them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "kernels/ascend/tile_record.h"

static struct tdc_pair_plan plan_of(tdc_dtype dtype, enum tdc_relative_rule rule)
{
    struct tdc_pair_plan plan;
    assert_true(tdc_pair_plan_make(dtype, dtype, rule, TDC_CPU_BASELINE, &plan));
    plan.extremes = true;
    return plan;
}

/* What a kernel writes for 4096 times 3 against 2. */
static void make_record(float *record, enum tdc_relative_rule rule)
{
    static const struct {
        int at;
        float sum;
    } sums[] = {{TDC_TILE_SUM_NB, 6}, {TDC_TILE_SUM_NN, 9}, {TDC_TILE_SUM_BB, 4},
                {TDC_TILE_SUM_DD, 1}, {TDC_TILE_SUM_N, 3},  {TDC_TILE_SUM_B, 2},
                {TDC_TILE_SUM_ABS, 1}};
    memset(record, 0, TDC_TILE_RECORD_BYTES);
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
        for (int lane = 0; lane < TDC_TILE_SUM_LANES; lane++)
            record[sums[i].at + lane] = sums[i].sum * TDC_TILE_PAIRS / TDC_TILE_SUM_LANES;
    record[TDC_TILE_N_MAX] = record[TDC_TILE_N_MIN] = 3;
    record[TDC_TILE_B_MAX] = record[TDC_TILE_B_MIN] = 2;
    record[TDC_TILE_ABS_MAX] = 1;
    record[TDC_TILE_REL_MAX] = record[TDC_TILE_REL_TOP] = 0.5f;
    record[TDC_TILE_FINITE] = TDC_TILE_PAIRS;
    record[TDC_TILE_MARK] = rule == TDC_RELATIVE_F64 ? TDC_TILE_MARK_EXACT : TDC_TILE_MARK_NATIVE;
}

static void a_record_becomes_sums(void **state)
{
    (void)state;
    struct tdc_pair_plan plan = plan_of(TDC_F32, TDC_RELATIVE_F64);
    float record[TDC_TILE_RECORD_FLOATS];
    struct tdc_tile tile;
    make_record(record, TDC_RELATIVE_F64);
    record[TDC_TILE_SUM_NB + TDC_TILE_SUM_LOW] = 0x1p-30f;
    record[TDC_TILE_BELOW_3] = 5;
    record[TDC_TILE_ZEROS] = 2;
    assert_int_equal(tdc_tile_read(&plan, record, &tile), TDC_TILE_USE);
    assert_true(tile.sums.nb == 6 * 4096 + 0x1p-30);
    assert_true(tile.sums.nn == 9 * 4096 && tile.sums.abs == 4096 && tile.sums.b == 2 * 4096);
    assert_int_equal(tile.sums.count, TDC_TILE_PAIRS);
    assert_int_equal(tile.sums.below[3], 7);
    assert_int_equal(tile.sums.below[0], 2);
    assert_true(tile.abs.low == 1 && tile.abs.high == 1 && !tile.abs.known);
    assert_true(tile.rel.low == 0.5 && tile.rel.high == 0.5 && !tile.rel.known);
    assert_true(tile.sums.abs_max == -1 && tile.sums.rel_max == -1);
}

static void zeros_of_f16_have_no_relative_error(void **state)
{
    (void)state;
    struct tdc_pair_plan plan = plan_of(TDC_F16, TDC_RELATIVE_NATIVE);
    float record[TDC_TILE_RECORD_FLOATS];
    struct tdc_tile tile;
    make_record(record, TDC_RELATIVE_NATIVE);
    record[TDC_TILE_BELOW_0] = record[TDC_TILE_BELOW_1] = record[TDC_TILE_ZEROS] = 10;
    record[TDC_TILE_REL_MAX] = INFINITY;
    assert_int_equal(tdc_tile_read(&plan, record, &tile), TDC_TILE_USE);
    assert_int_equal(tile.sums.rel_nan, 10);
    assert_int_equal(tile.sums.below[0], 0);
    assert_true(isinf(tile.rel.low));
    record[TDC_TILE_BELOW_1] = 9;
    assert_int_equal(tdc_tile_read(&plan, record, &tile), TDC_TILE_RESCUE);
}

static void special_records_are_refused(void **state)
{
    (void)state;
    static const struct {
        int at;
        float value;
    } specials[] = {
        {TDC_TILE_FINITE, 4095},
        {TDC_TILE_UNSURE, 1},
        {TDC_TILE_MARK, 0},
        {TDC_TILE_MARK, TDC_TILE_MARK_NATIVE},
        {TDC_TILE_SUM_NB, NAN},
        {TDC_TILE_SUM_ABS + TDC_TILE_SUM_LOW + 7, NAN},
        {TDC_TILE_SUM_N, INFINITY},
        {TDC_TILE_SUM_NN, 2e35f},
        {TDC_TILE_N_MAX, NAN},
        {TDC_TILE_B_MIN, 5},
        {TDC_TILE_ABS_MAX, NAN},
        {TDC_TILE_ABS_ERR, NAN},
        {TDC_TILE_REL_MAX, NAN},
        {TDC_TILE_REL_TOP, NAN},
        {TDC_TILE_REL_MAX, 0x1p-110f},
        {TDC_TILE_BELOW_2, -1},
        {TDC_TILE_BELOW_2, 0.5f},
        {TDC_TILE_BELOW_2, 4097},
        {TDC_TILE_ZEROS, NAN},
    };
    struct tdc_pair_plan plan = plan_of(TDC_F32, TDC_RELATIVE_F64);
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++) {
        float record[TDC_TILE_RECORD_FLOATS];
        struct tdc_tile tile;
        make_record(record, TDC_RELATIVE_F64);
        record[specials[i].at] = specials[i].value;
        assert_int_equal(tdc_tile_read(&plan, record, &tile), TDC_TILE_RESCUE);
    }
}

static void drowned_products_are_refused(void **state)
{
    (void)state;
    static const int products[] = {TDC_TILE_SUM_NB, TDC_TILE_SUM_NN, TDC_TILE_SUM_BB,
                                   TDC_TILE_SUM_DD};
    struct tdc_pair_plan plan = plan_of(TDC_F32, TDC_RELATIVE_F64);
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
        for (int small = 0; small < 2; small++) {
            float record[TDC_TILE_RECORD_FLOATS];
            struct tdc_tile tile;
            make_record(record, TDC_RELATIVE_F64);
            memset(record + products[i], 0, 16 * sizeof(float));
            record[products[i]] = small ? 0x1p-90f : 0;
            assert_int_equal(tdc_tile_read(&plan, record, &tile), TDC_TILE_RESCUE);
        }
    }
}

/* Tiles of a chunk whose records are given; the CPU knows what they really hold. */
struct chunk {
    float records[TDC_TILES_PER_CHUNK][TDC_TILE_RECORD_FLOATS];
    double abs_max[TDC_TILES_PER_CHUNK];
    size_t asked[TDC_TILES_PER_CHUNK], asked_count;
    bool fails;
};

static bool rescue(void *context, size_t tile, struct tdc_pair_sums *sums)
{
    struct chunk *chunk = context;
    chunk->asked[chunk->asked_count++] = tile;
    tdc_pair_clear(sums);
    sums->count = TDC_TILE_PAIRS;
    sums->abs_max = chunk->abs_max[tile];
    sums->abs_at = 7;
    sums->rel_max = 0.5;
    sums->rel_at = 9;
    return !chunk->fails;
}

static void make_chunk(struct chunk *chunk, const float *maxima, size_t tiles, float error)
{
    memset(chunk, 0, sizeof *chunk);
    for (size_t t = 0; t < tiles; t++) {
        make_record(chunk->records[t], TDC_RELATIVE_F64);
        chunk->records[t][TDC_TILE_ABS_MAX] = maxima[t];
        chunk->records[t][TDC_TILE_ABS_ERR] = error;
        chunk->abs_max[t] = (double)maxima[t];
    }
}

static struct tdc_pair_sums merge(struct chunk *chunk, size_t tiles, size_t *rescued)
{
    struct tdc_pair_plan plan = plan_of(TDC_F32, TDC_RELATIVE_F64);
    struct tdc_pair_sums sums;
    assert_true(tdc_tiles_merge(&plan, chunk->records[0], tiles, rescue, chunk, &sums, rescued));
    return sums;
}

static void exact_ties_go_to_the_first_tile(void **state)
{
    (void)state;
    static struct chunk chunk;
    size_t rescued = 100;
    make_chunk(&chunk, (const float[]){1, 3, 2, 3, 3}, 5, 0);
    struct tdc_pair_sums sums = merge(&chunk, 5, &rescued);
    /* tile 0 holds the first of the relative errors, which are all the same */
    assert_int_equal(rescued, 102);
    assert_int_equal(chunk.asked[0], 0);
    assert_int_equal(chunk.asked[1], 1);
    assert_true(sums.abs_max == 3 && sums.abs_at == TDC_TILE_PAIRS + 7);
    assert_true(sums.rel_max == 0.5 && sums.rel_at == 9);
    assert_int_equal(sums.count, 5 * TDC_TILE_PAIRS);
}

static void rounded_ties_are_all_looked_at(void **state)
{
    (void)state;
    static struct chunk chunk;
    size_t rescued = 0;
    make_chunk(&chunk, (const float[]){1, 3, 2, 3}, 4, 0x1p-30f);
    chunk.abs_max[3] = 3.0000001;
    struct tdc_pair_sums sums = merge(&chunk, 4, &rescued);
    assert_int_equal(rescued, 3);
    assert_true(sums.abs_max == 3.0000001 && sums.abs_at == 3 * TDC_TILE_PAIRS + 7);
}

static void equal_tiles_need_no_rescue(void **state)
{
    (void)state;
    static struct chunk chunk;
    size_t rescued = 0;
    make_chunk(&chunk, (const float[]){0, 0, 0}, 3, 0);
    for (size_t t = 0; t < 3; t++)
        chunk.records[t][TDC_TILE_REL_MAX] = chunk.records[t][TDC_TILE_REL_TOP] = 0;
    struct tdc_pair_sums sums = merge(&chunk, 3, &rescued);
    assert_int_equal(rescued, 0);
    assert_true(sums.abs_max == 0 && sums.abs_at == 0 && sums.rel_max == 0 && sums.rel_at == 0);
}

static void a_failing_rescuer_ends_the_merge(void **state)
{
    (void)state;
    static struct chunk chunk;
    struct tdc_pair_plan plan = plan_of(TDC_F32, TDC_RELATIVE_F64);
    struct tdc_pair_sums sums;
    size_t rescued = 0;
    make_chunk(&chunk, (const float[]){1, 2}, 2, 0);
    chunk.fails = true;
    assert_false(tdc_tiles_merge(&plan, chunk.records[0], 2, rescue, &chunk, &sums, &rescued));
    assert_false(tdc_tiles_merge(&plan, chunk.records[0], TDC_TILES_PER_CHUNK + 1, rescue, &chunk,
                                 &sums, &rescued));
}

static void kernels_have_names(void **state)
{
    (void)state;
    assert_string_equal(tdc_tile_kernel_name(TDC_F32, TDC_F32, TDC_RELATIVE_NATIVE),
                        "tdc_pair_f32");
    assert_string_equal(tdc_tile_kernel_name(TDC_BF16, TDC_F32, TDC_RELATIVE_F64),
                        "tdc_pair_bf16_f32_exact");
    assert_string_equal(tdc_tile_kernel_name(TDC_F32, TDC_BF16, TDC_RELATIVE_NATIVE),
                        "tdc_pair_f32_bf16");
    assert_null(tdc_tile_kernel_name(TDC_F16, TDC_F32, TDC_RELATIVE_NATIVE));
    assert_null(tdc_tile_kernel_name(TDC_F32, TDC_F16, TDC_RELATIVE_F64));
    assert_null(tdc_tile_kernel_name(TDC_I32, TDC_I32, TDC_RELATIVE_F64));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_becomes_sums),
        cmocka_unit_test(zeros_of_f16_have_no_relative_error),
        cmocka_unit_test(special_records_are_refused),
        cmocka_unit_test(drowned_products_are_refused),
        cmocka_unit_test(exact_ties_go_to_the_first_tile),
        cmocka_unit_test(rounded_ties_are_all_looked_at),
        cmocka_unit_test(equal_tiles_need_no_rescue),
        cmocka_unit_test(a_failing_rescuer_ends_the_merge),
        cmocka_unit_test(kernels_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
