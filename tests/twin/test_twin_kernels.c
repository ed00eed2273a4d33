/* test_twin_kernels - every device kernel on the twin, and the twin itself by what it must notice.
 */
#include <stdlib.h>

#include "kernels/ascend/tile_record.h"
#include "tests/twin/kernel_check.h"
#include "tests/twin/tile_data.h"

#define COMPARED_TILES 8

static struct tdc_kernel_case case_of(size_t type, unsigned rule, unsigned flavour, size_t tiles)
{
    return (struct tdc_kernel_case){
        .n_dtype = tdc_kernel_types[type][0],
        .b_dtype = tdc_kernel_types[type][1],
        .rule = (enum tdc_relative_rule)rule,
        .flavour = flavour,
        .tiles = tiles,
        .blocks = 3,
        .data_seed = 100 * type + 10 * rule + flavour,
        .settings = {.schedule = TDC_TWIN_CHECKED, .seed = 1 + type + flavour},
    };
}

static struct tdc_kernel_outcome require_right(const struct tdc_kernel_case *c, float *records)
{
    struct tdc_kernel_outcome outcome;
    if (!tdc_kernel_check(c, &outcome, records))
        fail_msg("%s", outcome.why);
    return outcome;
}

static void every_kernel_agrees_with_the_cpu(void **state)
{
    (void)state;
    for (unsigned rule = TDC_RELATIVE_NATIVE; rule <= TDC_RELATIVE_F64; rule++) {
        for (size_t type = 0; type < TDC_KERNEL_TYPES; type++) {
            for (unsigned flavour = 0; flavour < TILE_FLAVOURS; flavour++) {
                size_t tiles = flavour == TILE_SPECIAL ? 2 * TILE_SPECIAL_PERIOD : 6;
                struct tdc_kernel_case c = case_of(type, rule, flavour, tiles);
                require_right(&c, NULL);
            }
        }
    }
}

static void blocks_and_tiles_in_any_number(void **state)
{
    (void)state;
    static const struct {
        size_t tiles;
        uint32_t blocks;
    } shapes[] = {{1, 1}, {1, 48}, {2, 3}, {7, 2}, {63, 40}, {64, 1}, {65, 48}, {200, 40}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct tdc_kernel_case c =
            case_of(i % TDC_KERNEL_TYPES, (unsigned)(i / 2 % 2), TILE_ZEROS, shapes[i].tiles);
        c.blocks = shapes[i].blocks;
        require_right(&c, NULL);
    }
}

/* 3510: the same answers and, but for subnormal products, the same records; also out of order. */
static void registers_leave_the_same(void **state)
{
    (void)state;
    static float expected[COMPARED_TILES * TDC_TILE_RECORD_FLOATS];
    static float records[COMPARED_TILES * TDC_TILE_RECORD_FLOATS];
    for (unsigned rule = TDC_RELATIVE_NATIVE; rule <= TDC_RELATIVE_F64; rule++) {
        for (size_t type = 0; type < TDC_KERNEL_TYPES; type++) {
            for (unsigned flavour = 0; flavour < TILE_FLAVOURS; flavour++) {
                struct tdc_kernel_case c = case_of(type, rule, flavour, COMPARED_TILES);
                c.settings.exact_divide = flavour != TILE_QUOTIENTS;
                c.settings.schedule = (enum tdc_twin_schedule)(flavour % 3);
                require_right(&c, expected);
                c.registers = true;
                require_right(&c, records);
                if (flavour == TILE_NEAR || flavour == TILE_ZEROS || flavour == TILE_INTEGERS)
                    assert_memory_equal(records, expected, sizeof records);
            }
        }
    }
}

/* On data without surprises the device must do nearly all of the work. */
static void few_tiles_are_rescued(void **state)
{
    (void)state;
    static const enum tile_flavour usual[] = {TILE_NEAR, TILE_ZEROS, TILE_EQUAL, TILE_INTEGERS,
                                              TILE_SMALL};
    for (unsigned rule = TDC_RELATIVE_NATIVE; rule <= TDC_RELATIVE_F64; rule++) {
        for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
            struct tdc_kernel_case c =
                case_of((i + rule) % TDC_KERNEL_TYPES, rule, usual[i], TDC_TILES_PER_CHUNK);
            c.settings.exact_divide = 1;
            struct tdc_kernel_outcome outcome = require_right(&c, NULL);
            if (outcome.rescued > 4)
                fail_msg("%s, rule %u: %zu tiles rescued", tile_flavour_name(usual[i]), rule,
                         outcome.rescued);
        }
    }
}

/* Whatever order flags and barriers allow, the records are the same. */
static void order_changes_nothing(void **state)
{
    (void)state;
    static const enum tdc_twin_schedule schedules[] = {TDC_TWIN_LATE, TDC_TWIN_LATE,
                                                       TDC_TWIN_SHUFFLED, TDC_TWIN_THREADS};
    static float expected[COMPARED_TILES * TDC_TILE_RECORD_FLOATS];
    static float records[COMPARED_TILES * TDC_TILE_RECORD_FLOATS];
    for (unsigned rule = TDC_RELATIVE_NATIVE; rule <= TDC_RELATIVE_F64; rule++) {
        for (size_t type = 0; type < TDC_KERNEL_TYPES; type++) {
            struct tdc_kernel_case c = case_of(type, rule, TILE_ZEROS, COMPARED_TILES);
            c.settings.exact_divide = 1;
            require_right(&c, expected);
            for (size_t i = 0; i < sizeof schedules / sizeof schedules[0]; i++) {
                c.settings.schedule = schedules[i];
                c.settings.seed = i;
                require_right(&c, records);
                assert_memory_equal(records, expected, sizeof records);
            }
        }
    }
}

/* Div's errors may show in records, but not in results; also out of order. */
static void wrong_division_changes_no_result(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 6; seed++) {
        struct tdc_kernel_case c = case_of(seed % 2 ? 0 : 3, seed / 3 % 2, TILE_QUOTIENTS, 12);
        c.settings.seed = seed;
        c.settings.schedule = seed % 2 ? TDC_TWIN_SHUFFLED : TDC_TWIN_CHECKED;
        require_right(&c, NULL);
    }
}

/* One tile of ordinary data. */
struct bench {
    unsigned char n[TDC_TILE_PAIRS * 4], b[TDC_TILE_PAIRS * 4];
    float records[TDC_TILE_RECORD_FLOATS];
} __attribute__((aligned(64)));

static void fill_bench(struct bench *bench, tdc_dtype dtype)
{
    fill_tile(TILE_ZEROS, 0, dtype, bench->n, dtype, bench->b);
}

static int run_bench(struct bench *bench, const char *kernel, struct tdc_twin_settings settings,
                     struct tdc_twin_report *report)
{
    memset(bench->records, 0xa5, sizeof bench->records);
    return tdc_twin_run_kernel_as(&settings, kernel, 1, bench->n, bench->b, bench->records, 1,
                                  report);
}

/* A barrier the twin does not miss must be one that no order can tell from none. */
static void require_barrier_or_no_difference(struct bench *bench, const char *kernel,
                                             uint64_t barrier, unsigned *redundant)
{
    struct tdc_twin_report report;
    struct tdc_twin_settings settings = {.exact_divide = 1, .dropped_barrier = barrier};
    float expected[TDC_TILE_RECORD_FLOATS];
    if (run_bench(bench, kernel, settings, &report) != 0)
        return;
    ++*redundant;
    memcpy(expected, bench->records, sizeof expected);
    for (uint64_t seed = 0; seed < 4; seed++) {
        settings.schedule = seed < 2 ? TDC_TWIN_LATE : TDC_TWIN_SHUFFLED;
        settings.seed = seed;
        assert_int_equal(run_bench(bench, kernel, settings, &report), 0);
        assert_memory_equal(bench->records, expected, sizeof expected);
    }
}

static void missing_barriers_are_noticed(void **state)
{
    (void)state;
    static const struct {
        const char *kernel;
        tdc_dtype dtype;
    } tried[] = {{"tdc_pair_f32", TDC_F32}, {"tdc_pair_f16_exact", TDC_F16}};
    static struct bench bench;
    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++) {
        struct tdc_twin_report report;
        unsigned redundant = 0;
        fill_bench(&bench, tried[i].dtype);
        assert_int_equal(run_bench(&bench, tried[i].kernel, (struct tdc_twin_settings){0}, &report),
                         0);
        assert_true(report.barriers > 200);
        for (uint64_t k = 1; k <= report.barriers; k++)
            require_barrier_or_no_difference(&bench, tried[i].kernel, k, &redundant);
        /* 29 to 33 stand at the ends of parts that touch nothing in common */
        assert_true(redundant < 40);
    }
}

#define WAITED_TILES 3

struct long_bench {
    unsigned char n[WAITED_TILES * TDC_TILE_PAIRS * 4], b[WAITED_TILES * TDC_TILE_PAIRS * 4];
    float records[WAITED_TILES * TDC_TILE_RECORD_FLOATS];
} __attribute__((aligned(512)));

static int run_long_bench(struct long_bench *bench, const char *kernel,
                          struct tdc_twin_settings settings, struct tdc_twin_report *report)
{
    memset(bench->records, 0xa5, sizeof bench->records);
    return tdc_twin_run_kernel_as(&settings, kernel, 1, bench->n, bench->b, bench->records,
                                  WAITED_TILES, report);
}

/* No order can tell that the wait orders nothing. */
static void require_same_records(struct long_bench *bench, const char *kernel, uint64_t wait)
{
    static float expected[WAITED_TILES * TDC_TILE_RECORD_FLOATS];
    struct tdc_twin_report report;
    memcpy(expected, bench->records, sizeof expected);
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct tdc_twin_settings settings = {
            .schedule = seed < 2 ? TDC_TWIN_LATE : TDC_TWIN_SHUFFLED,
            .seed = seed,
            .exact_divide = 1,
            .unordered_wait = wait,
        };
        assert_int_equal(run_long_bench(bench, kernel, settings, &report), 0);
        assert_memory_equal(bench->records, expected, sizeof expected);
    }
}

/*
 * Three tiles have 18 waits. Twelve order: in each tile both inputs have arrived and the record is
 * complete, and with the third tile each of the three queues uses a buffer again. Six stand at the
 * end, where nothing follows: they only take the flags, which the next kernel would find set
 * otherwise.
 *
 * Where n is f32 and not widened at once, four of the twelve say nothing that another one does not:
 * the first instruction comes after both inputs, and the flag of b is set by the queue that loaded
 * n before (three times); n is freed after b or with it, so that waiting for its buffer is waiting
 * for b's (once).
 */
static void missing_waits_are_noticed(void **state)
{
    (void)state;
    static const struct {
        const char *kernel;
        size_t type;
        unsigned implied;
    } tried[] = {
        {"tdc_pair_f32", 0, 10},     {"tdc_pair_f16", 1, 6},       {"tdc_pair_bf16", 2, 6},
        {"tdc_pair_bf16_f32", 3, 6}, {"tdc_pair_f32_bf16", 4, 10}, {"tdc_pair_f32_exact", 0, 10},
    };
    static struct long_bench bench;
    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++) {
        const tdc_dtype *types = tdc_kernel_types[tried[i].type];
        const char *kernel = tried[i].kernel;
        struct tdc_twin_report report;
        unsigned implied = 0;
        for (size_t t = 0; t < WAITED_TILES; t++)
            fill_tile(TILE_ZEROS, t, types[0],
                      bench.n + t * TDC_TILE_PAIRS * tdc_dtype_size(types[0]), types[1],
                      bench.b + t * TDC_TILE_PAIRS * tdc_dtype_size(types[1]));
        for (uint64_t wait = 1; wait <= 18; wait++) {
            struct tdc_twin_settings settings = {.exact_divide = 1, .dropped_wait = wait};
            assert_int_not_equal(run_long_bench(&bench, kernel, settings, &report), 0);
            settings = (struct tdc_twin_settings){.exact_divide = 1, .unordered_wait = wait};
            if (run_long_bench(&bench, kernel, settings, &report) != 0)
                continue;
            implied++;
            require_same_records(&bench, kernel, wait);
        }
        assert_int_equal(report.waits, 18);
        assert_int_equal(implied, tried[i].implied);
    }
}

/* The table of the documentation says the same. */
static void costs_are_as_documented(void **state)
{
    (void)state;
    static const struct {
        const char *kernel;
        size_t type;
        uint64_t instructions, lanes_per_pair, barriers;
    } costs[] = {
        {"tdc_pair_f32", 0, 383, 168, 256},
        {"tdc_pair_f16", 1, 347, 135, 230},
        {"tdc_pair_bf16", 2, 342, 132, 225},
        {"tdc_pair_f32_exact", 0, 405, 190, 266},
        {"tdc_pair_f16_exact", 1, 371, 159, 239},
        {"tdc_pair_bf16_exact", 2, 371, 159, 239},
        {"tdc_pair_bf16_f32", 3, 384, 169, 257},
        {"tdc_pair_f32_bf16", 4, 377, 164, 253},
        {"tdc_pair_bf16_f32_exact", 3, 406, 191, 267},
        {"tdc_pair_f32_bf16_exact", 4, 406, 191, 267},
    };
    static struct bench bench;
    for (size_t i = 0; i < sizeof costs / sizeof costs[0]; i++) {
        struct tdc_twin_report report;
        const tdc_dtype *types = tdc_kernel_types[costs[i].type];
        fill_tile(TILE_ZEROS, 0, types[0], bench.n, types[1], bench.b);
        assert_int_equal(
            tdc_twin_run_kernel(costs[i].kernel, 1, bench.n, bench.b, bench.records, 1, &report),
            0);
        assert_int_equal(report.instructions, costs[i].instructions);
        assert_int_equal(report.lane_operations / TDC_TILE_PAIRS, costs[i].lanes_per_pair);
        assert_int_equal(report.barriers, costs[i].barriers);
        assert_int_equal(report.bytes_in,
                         TDC_TILE_PAIRS * (tdc_dtype_size(types[0]) + tdc_dtype_size(types[1])));
        assert_int_equal(report.bytes_out, TDC_TILE_RECORD_BYTES);
        assert_int_equal(report.ub_high_water, 187904);
    }
}

/* The table of the documentation says the same of 3510. */
static void costs_of_registers(void **state)
{
    (void)state;
    static const struct {
        const char *kernel;
        size_t type;
        uint64_t instructions, lanes_per_pair;
    } costs[] = {
        {"tdc_pair_f32", 0, 11673, 177},        {"tdc_pair_f16", 1, 12832, 196},
        {"tdc_pair_bf16", 2, 11997, 185},       {"tdc_pair_f32_exact", 0, 13927, 212},
        {"tdc_pair_bf16_exact", 2, 14827, 226},
    };
    static struct bench bench;
    for (size_t i = 0; i < sizeof costs / sizeof costs[0]; i++) {
        struct tdc_twin_report report;
        char name[64];
        fill_bench(&bench, tdc_kernel_types[costs[i].type][0]);
        snprintf(name, sizeof name, "%s" TDC_TWIN_3510, costs[i].kernel);
        assert_int_equal(tdc_twin_run_kernel(name, 1, bench.n, bench.b, bench.records, 1, &report),
                         0);
        assert_int_equal(report.register_instructions, costs[i].instructions);
        assert_int_equal(report.lane_operations / TDC_TILE_PAIRS, costs[i].lanes_per_pair);
    }
}

static void names_lead_to_kernels(void **state)
{
    (void)state;
    struct tdc_twin_report report;
    size_t n_size, b_size, kernels = 0;
    while (tdc_twin_kernel_name(kernels, &n_size, &b_size) != NULL)
        kernels++;
    assert_int_equal(kernels, 2 * TDC_KERNEL_TYPES + 1);
    assert_int_not_equal(tdc_twin_run_kernel("tdc_pair_i32", 1, NULL, NULL, NULL, 0, &report), 0);
    assert_string_equal(report.complaint, "there is no kernel tdc_pair_i32");
    assert_int_equal(tdc_twin_run_kernel("tdc_pair_f32", 3, NULL, NULL, NULL, 0, &report), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_agrees_with_the_cpu),
        cmocka_unit_test(blocks_and_tiles_in_any_number),
        cmocka_unit_test(registers_leave_the_same),
        cmocka_unit_test(few_tiles_are_rescued),
        cmocka_unit_test(order_changes_nothing),
        cmocka_unit_test(wrong_division_changes_no_result),
        cmocka_unit_test(missing_barriers_are_noticed),
        cmocka_unit_test(missing_waits_are_noticed),
        cmocka_unit_test(costs_are_as_documented),
        cmocka_unit_test(costs_of_registers),
        cmocka_unit_test(names_lead_to_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
