/* test_bench_parts.c - what synthetic dumps and measurements are made of. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench/yardsticks/bare_read.h"
#include "bench/tools/measure.h"
#include "bench/synthetic/synthetic_network.h"
#include "bench/synthetic/synthetic_values.h"
#include "kernels/pair.h"
#include "tests/support/temporary_folder.h"

/* ---- values ---------------------------------------------------------------------------------- */

static void halves_are_rounded_floats(void **state)
{
    (void)state;
    static const float deviations[] = {1.0F, 0.02F, 1e-5F}; /* the last: subnormal halves */
    static float floats[TDC_VALUES_BLOCK];
    static uint16_t halves[TDC_VALUES_BLOCK];
    for (int d = 0; d < 3; d++) {
        struct tdc_values values = {TDC_F32, 99, deviations[d]};
        tdc_values_fill(&values, 5, TDC_VALUES_BLOCK, floats);
        values.dtype = TDC_F16;
        tdc_values_fill(&values, 5, TDC_VALUES_BLOCK, halves);
        for (size_t i = 0; i < TDC_VALUES_BLOCK; i++) {
            double imaginary;
            assert_true(tdc_element_value(TDC_F16, &halves[i], &imaginary) ==
                        (double)tdc_round_to_f16(floats[i]));
        }
        values.dtype = TDC_BF16;
        tdc_values_fill(&values, 5, TDC_VALUES_BLOCK, halves);
        for (size_t i = 0; i < TDC_VALUES_BLOCK; i++) {
            uint32_t bits, expected;
            memcpy(&bits, &floats[i], sizeof bits);
            expected = bits >> 16;
            uint32_t rest = bits & 0xffff;
            expected += rest > 0x8000 || (rest == 0x8000 && (expected & 1) != 0);
            assert_int_equal(halves[i], expected);
        }
    }
}

/* Every fourth element stays, most others move, by little, and some signs change. */
static void noise_is_small_and_nearly_everywhere(void **state)
{
    (void)state;
    static const tdc_dtype dtypes[] = {TDC_F32, TDC_F16, TDC_BF16, TDC_F64,
                                       TDC_I64, TDC_I32, TDC_I16,  TDC_I8};
    static const double units[] = {0x1p-21, 0x1p-11, 0x1p-8, 0x1p-50, 0, 0, 0, 0};
    static double plain[TDC_VALUES_BLOCK], changed[TDC_VALUES_BLOCK];
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        struct tdc_values values = {dtypes[d], 11, 1};
        size_t width = tdc_dtype_size(dtypes[d]), moved = 0, turned = 0;
        tdc_values_fill(&values, 3, TDC_VALUES_BLOCK, plain);
        memcpy(changed, plain, sizeof changed);
        tdc_values_disturb(&values, 3, TDC_VALUES_BLOCK, changed);
        for (size_t i = 0; i < TDC_VALUES_BLOCK; i++) {
            double imaginary;
            double b = tdc_element_value(dtypes[d], (const char *)plain + i * width, &imaginary);
            double n = tdc_element_value(dtypes[d], (const char *)changed + i * width, &imaginary);
            assert_true(fabs(n - b) <= (units[d] > 0 ? 10 * units[d] * (fabs(b) + 1) : 7));
            if (i % TDC_VALUES_KEPT_EVERY == 0)
                assert_true(n == b);
            moved += n != b ? 1 : 0;
            turned += n * b < 0 ? 1 : 0;
        }
        assert_in_range(moved, TDC_VALUES_BLOCK / 3, TDC_VALUES_BLOCK * 3 / 4);
        if (dtypes[d] == TDC_BF16)
            assert_true(turned > 0);
    }
}

static void a_short_block_is_the_start_of_a_long_one(void **state)
{
    (void)state;
    static double whole[TDC_VALUES_BLOCK];
    static double part[TDC_VALUES_BLOCK];
    static const tdc_dtype dtypes[] = {TDC_F32, TDC_F16, TDC_BF16, TDC_F64, TDC_I64,
                                       TDC_I32, TDC_I16, TDC_I8,   TDC_BOOL};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        struct tdc_values values = {dtypes[d], 7, 1};
        size_t width = tdc_dtype_size(dtypes[d]);
        tdc_values_fill(&values, 0, TDC_VALUES_BLOCK, whole);
        for (size_t count = 0; count < 70; count++) {
            memset(part, 0xee, sizeof part);
            tdc_values_fill(&values, 0, count, part);
            assert_memory_equal(part, whole, count * width);
            assert_int_equal(((unsigned char *)part)[count * width], 0xee);
        }
        tdc_values_fill(&values, 1, TDC_VALUES_BLOCK, part);
        assert_memory_not_equal(part, whole, TDC_VALUES_BLOCK * width);
    }
}

static void differences_touch_what_they_say(void **state)
{
    (void)state;
    static float plain[TDC_VALUES_BLOCK], changed[TDC_VALUES_BLOCK];
    struct tdc_values values = {TDC_F32, 3, 1};
    tdc_values_fill(&values, 0, TDC_VALUES_BLOCK, plain);
    memcpy(changed, plain, sizeof plain);
    tdc_values_round(TDC_F32, changed, TDC_VALUES_BLOCK);
    for (size_t i = 0; i < TDC_VALUES_BLOCK; i++)
        assert_true((memcmp(&plain[i], &changed[i], 4) != 0) == (i % 8 == 0));
    memcpy(changed, plain, sizeof plain);
    tdc_values_spike(TDC_F32, changed, TDC_VALUES_BLOCK);
    for (size_t i = 0; i < TDC_VALUES_BLOCK; i++)
        assert_true(changed[i] == (i % 64 == 0 ? plain[i] + 16.0F : plain[i]));
}

/* ---- network --------------------------------------------------------------------------------- */

static void every_tensor_has_one_call(void **state)
{
    (void)state;
    for (uint64_t tensors = 1; tensors < 200; tensors++) {
        uint64_t next = 0;
        for (uint64_t i = 0; i < tdc_network_calls(tensors); i++) {
            struct tdc_network_call call;
            tdc_network_call(tensors, i, &call);
            assert_int_equal(call.first, next);
            assert_true(call.outputs >= 1 && call.weights <= call.inputs);
            next += call.inputs + call.outputs;
            for (uint64_t tensor = call.first; tensor < next; tensor++)
                assert_int_equal(tdc_network_call_of(tensors, tensor), i);
        }
        assert_int_equal(next, tensors);
    }
}

static void calls_are_numbered_through_the_layers(void **state)
{
    (void)state;
    struct tdc_network_call call;
    uint64_t linears = 0, modules = 0;
    for (uint64_t i = 0; i < tdc_network_calls(5000); i++) {
        tdc_network_call(5000, i, &call);
        char expected[TDC_NETWORK_NAME];
        snprintf(expected, sizeof expected, "Functional.linear.%d.forward", (int)linears);
        linears += strcmp(call.name, expected) == 0;
        assert_true(strncmp(call.name, "Functional.linear.", 18) != 0 ||
                    strcmp(call.name, expected) == 0);
        snprintf(expected, sizeof expected, "Module.layers.%d.mlp.FeedForward.forward.0",
                 (int)modules);
        modules += strcmp(call.name, expected) == 0;
    }
    assert_true(modules > 50);
    /* four in a layer; the last layer may be cut short before its module is */
    assert_true(linears >= 4 * modules && linears <= 4 * modules + 4);
}

/* ---- measuring ------------------------------------------------------------------------------- */

struct counted {
    unsigned runs, fail_at;
};

static tdc_status count_runs(void *context, double laps[TDC_LAPS], struct tdc_error *error)
{
    struct counted *counted = context;
    (void)error;
    static const double first[] = {5, 2, 7}, second[] = {1, 9, 3};
    laps[0] = first[counted->runs % 3];
    laps[1] = second[counted->runs % 3];
    counted->runs++;
    return counted->runs == counted->fail_at ? TDC_ERR_READ : TDC_OK;
}

static void the_fastest_of_each_lap_counts(void **state)
{
    (void)state;
    struct counted counted = {0}, other = {0};
    struct tdc_work works[] = {{.run = count_runs, .context = &counted},
                               {.run = count_runs, .context = &other}};
    assert_int_equal(tdc_measure(works, 2, 3, 1e9, NULL, NULL), TDC_OK);
    assert_int_equal(works[0].runs, 3);
    assert_int_equal(other.runs, 3);
    assert_true(works[0].best[0] == 2 && works[0].best[1] == 1 && works[0].best[2] == 0);
}

static void measuring_stops_early(void **state)
{
    (void)state;
    struct counted counted = {0};
    struct tdc_work work = {.run = count_runs, .context = &counted};
    assert_int_equal(tdc_measure(&work, 1, 100, -1, NULL, NULL), TDC_OK);
    assert_int_equal(counted.runs, 1); /* out of time, but never without a result */
    counted.fail_at = 3;
    assert_int_equal(tdc_measure(&work, 1, 100, 1e9, NULL, NULL), TDC_ERR_READ);
    assert_int_equal(counted.runs, 3);
    struct tdc_cancel cancel = {0};
    tdc_cancel_set(&cancel);
    assert_int_equal(tdc_measure(&work, 1, 100, 1e9, &cancel, NULL), TDC_ERR_INTERRUPTED);
    assert_int_equal(counted.runs, 3);
}

/* ---- bare read ------------------------------------------------------------------------------- */

static uint64_t write_file(const struct temporary_folder *folder, const char *name, size_t size)
{
    uint64_t sum = 0;
    unsigned char *bytes = calloc(1, size + 8);
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(i * 31 + i / 251 + size);
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, 8);
        sum ^= word;
    }
    FILE *file = fopen(folder_file(folder, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    free(bytes);
    return sum;
}

/* An empty file, odd sizes, and one that several threads share. */
static void bare_read_joins_all_words(void **state)
{
    (void)state;
    struct temporary_folder folder;
    folder_make(&folder);
    uint64_t expected = write_file(&folder, "a.pt", 1001) ^ write_file(&folder, "b.npy", 0) ^
                        write_file(&folder, "c.pt", (3U << 20) + 77);
    write_file(&folder, "dump.json", 500); /* no tensor */
    struct tdc_bare_files files = {0};
    struct tdc_error error = {0};
    assert_int_equal(tdc_bare_files_add(&files, folder.path, &error), TDC_OK);
    assert_int_equal(files.count, 3);
    for (int threads = 1; threads < 4; threads++) {
        struct tdc_bare_sum sum;
        assert_int_equal(tdc_bare_read(&files, threads, &sum, &error), TDC_OK);
        assert_int_equal(sum.bytes, 1001 + (3U << 20) + 77);
        assert_true(sum.word == expected);
    }
    assert_int_equal(unlink(folder_file(&folder, "a.pt")), 0);
    struct tdc_bare_sum sum;
    assert_int_equal(tdc_bare_read(&files, 2, &sum, &error), TDC_ERR_NOT_FOUND);
    assert_non_null(strstr(error.message, "a.pt"));
    tdc_bare_files_free(&files);
    folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_are_rounded_floats),
        cmocka_unit_test(noise_is_small_and_nearly_everywhere),
        cmocka_unit_test(a_short_block_is_the_start_of_a_long_one),
        cmocka_unit_test(differences_touch_what_they_say),
        cmocka_unit_test(every_tensor_has_one_call),
        cmocka_unit_test(calls_are_numbered_through_the_layers),
        cmocka_unit_test(the_fastest_of_each_lap_counts),
        cmocka_unit_test(measuring_stops_early),
        cmocka_unit_test(bare_read_joins_all_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
