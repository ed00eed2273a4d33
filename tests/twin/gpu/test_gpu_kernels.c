/* The kernels for GPUs, run as C: every pair of dtypes under every rule has the bits of the CPU's.
 */
#include <stdlib.h>

#include "tests/twin/gpu/kernels_in_c.h"
#include "tests/unit/kernels/pair_data.h"

#define MOST       2500
#define LANE_BYTES (GPU_CHUNK_BLOCKS * TDC_GPU_BLOCK_BYTES)

/* Pairs that float64 cannot hold are the CPU's; how many chunks had some. */
static unsigned beyond, within;

struct work {
    struct gpu_pair pair;
    gpu_u32 table[2];
    gpu_u64 *lanes, *words;
    const void *n, *b;
};

static void launch(unsigned kernel, struct work *work)
{
    const gpu_u32 *table = work->table;
    void *pair[] = {&work->n, &work->b, &table, &work->lanes, &work->pair};
    void *join[] = {&table, &work->lanes, &work->words, &work->pair};
    gpu_run_in_c(kernel, tdc_gpu_pair_items(&work->pair), pair);
    gpu_run_in_c(TDC_GPU_JOIN, tdc_gpu_join_items(&work->pair), join);
}

static void require_equal(tdc_dtype n_dtype, tdc_dtype b_dtype, unsigned rule, bool extremes,
                          const void *n, const void *b, size_t count, const char *data)
{
    struct tdc_pair_plan plan;
    struct tdc_pair_sums sums, expected;
    char description[160];
    snprintf(description, sizeof description, "%s against %s, rule %u, %zu elements, %s",
             tdc_dtype_name(n_dtype), tdc_dtype_name(b_dtype), rule, count, data);
    REQUIRE(tdc_pair_plan_make(n_dtype, b_dtype, rule, tdc_cpu_variant_chosen(), &plan), "no plan");
    plan.extremes = extremes;
    tdc_pair_run(&plan, n, b, count, &expected);
    struct work work = {
        .lanes = malloc(LANE_BYTES), .words = malloc(TDC_GPU_CHUNK_BYTES), .n = n, .b = b};
    REQUIRE(work.lanes != NULL && work.words != NULL, "no memory");
    unsigned kernel = tdc_gpu_pair_make(&plan, &work.pair);
    tdc_gpu_table_add(work.table, &work.pair, count);
    for (unsigned turn = 0; turn < 2; turn++, kernel = TDC_GPU_ANY) {
        memset(work.lanes, 0xee, LANE_BYTES);
        memset(work.words, 0xee, TDC_GPU_CHUNK_BYTES);
        launch(kernel, &work);
        if (!tdc_gpu_chunk_join(&work.pair, work.words, count, &sums)) {
            REQUIRE(work.pair.mode == GPU_EXACT_WIDE, "left to the CPU without need");
            beyond++;
            break;
        }
        within += work.pair.mode == GPU_EXACT_WIDE;
        require_rest(description, &sums, &expected);
        REQUIRE(memcmp(&sums, &expected, sizeof sums) == 0, "a sum differs");
    }
    free(work.lanes);
    free(work.words);
}

static void every_dtype_pair_has_the_bits_of_the_cpu(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 7, 8, 9, 60, 1023, 1024, 1025, 2049};
    unsigned char *n = aligned_alloc(64, 16 * MOST), *b = aligned_alloc(64, 16 * MOST);
    unsigned turn = 0;
    assert_true(n != NULL && b != NULL);
    for (tdc_dtype n_dtype = TDC_BOOL; n_dtype < TDC_TEXT; n_dtype++)
        for (tdc_dtype b_dtype = TDC_BOOL; b_dtype < TDC_TEXT; b_dtype++)
            for (unsigned flavour = 0; flavour < FLAVOURS; flavour++, turn++) {
                /* long ones in turns: lengths and flavours have no common divisor */
                size_t count = counts[turn % 5], more = turn % 11 == 0 ? counts[turn % 9] : count;
                fill_pair(flavour, n_dtype, n, b_dtype, b, more);
                for (unsigned rule = TDC_RELATIVE_NATIVE; rule <= TDC_RELATIVE_PROMOTED; rule++)
                    require_equal(n_dtype, b_dtype, rule, turn % 2 == 0, n, b, more, "fuzzed");
            }
    /* both ways of the wide pairs were gone */
    assert_true(beyond > 50 && within > 50);
    free(n);
    free(b);
}

/* Maxima that occur in several lanes and blocks, and whole chunks. */
static void maxima_are_the_first_ones(void **state)
{
    (void)state;
    size_t count = TDC_PAIR_CHUNK - 5;
    float *n = aligned_alloc(64, TDC_PAIR_CHUNK * sizeof *n);
    float *b = aligned_alloc(64, TDC_PAIR_CHUNK * sizeof *b);
    assert_true(n != NULL && b != NULL);
    static const size_t places[] = {70001, 70002, 5003, 5012, 200000};
    for (size_t i = 0; i < count; i++)
        n[i] = b[i] = (float)(i % 97) - 40;
    for (unsigned round = 0; round < 5; round++) {
        b[places[round]] = 2;
        n[places[round]] = 3;
        for (unsigned rule = TDC_RELATIVE_NATIVE; rule <= TDC_RELATIVE_PROMOTED; rule++)
            require_equal(TDC_F32, TDC_F32, rule, round % 2 == 0, n, b, count, "equal maxima");
    }
    free(n);
    free(b);
}

static void every_kernel_serves_a_pair(void **state)
{
    (void)state;
    static const tdc_dtype dtypes[] = {TDC_F32, TDC_BF16, TDC_F16, TDC_F64};
    bool served[TDC_GPU_KERNELS] = {[TDC_GPU_JOIN] = true};
    for (unsigned i = 0; i < 16; i++)
        for (unsigned rule = TDC_RELATIVE_NATIVE; rule <= TDC_RELATIVE_PROMOTED; rule++) {
            struct tdc_pair_plan plan;
            struct gpu_pair pair;
            assert_true(tdc_pair_plan_make(dtypes[i / 4], dtypes[i % 4], rule,
                                           tdc_cpu_variant_chosen(), &plan));
            served[tdc_gpu_pair_make(&plan, &pair)] = true;
        }
    for (unsigned i = 0; i < TDC_GPU_KERNELS; i++)
        assert_true(served[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dtype_pair_has_the_bits_of_the_cpu),
        cmocka_unit_test(maxima_are_the_first_ones),
        cmocka_unit_test(every_kernel_serves_a_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
