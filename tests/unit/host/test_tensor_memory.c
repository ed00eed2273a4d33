/* Statistics of a tensor in memory, its file, and its comparison with a record of a dump. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "io/tensor/tensor_file.h"
#include "tdcmp.h"
#include "tests/support/tensor_folder.h"

static struct tdc_options options_of(int threads)
{
    struct tdc_options options;
    tdc_options_init(&options, sizeof options, TDC_RULES_SOUND);
    options.threads = threads;
    return options;
}

static struct tdc_buffer_statistics describe(const void *data, tdc_dtype dtype, unsigned dimensions,
                                             const int64_t *shape, const int64_t *strides)
{
    struct tdc_buffer buffer;
    struct tdc_buffer_statistics found, again;
    struct tdc_options one = options_of(1), four = options_of(4);
    tdc_buffer_init(&buffer, sizeof buffer, data, dtype, dimensions, shape, strides);
    assert_int_equal(
        tdc_buffer_statistics(&buffer, TDC_BUFFER_CRC, &one, &found, sizeof found, NULL), TDC_OK);
    assert_int_equal(
        tdc_buffer_statistics(&buffer, TDC_BUFFER_CRC, &four, &again, sizeof again, NULL), TDC_OK);
    assert_memory_equal(&found, &again, offsetof(struct tdc_buffer_statistics, crc));
    assert_int_equal(found.crc, again.crc);
    return found;
}

static void near(double found, double expected)
{
    assert_true(fabs(found - expected) <= 1e-12 * fabs(expected));
}

static void test_statistics(void **state)
{
    (void)state;
    enum {
        COUNT = 300007
    };
    static float values[COUNT];
    double sum = 0, squares = 0, max = -INFINITY, min = INFINITY;
    for (size_t i = 0; i < COUNT; i++) {
        values[i] = (float)sin((double)i) * 3 - 1;
        sum += values[i];
        squares += (double)values[i] * values[i];
        max = fmax(max, values[i]);
        min = fmin(min, values[i]);
    }
    const int64_t shape[] = {COUNT};
    struct tdc_buffer_statistics found = describe(values, TDC_F32, 1, shape, NULL);
    assert_int_equal(found.elements, COUNT);
    near(found.max, max);
    near(found.min, min);
    near(found.mean, sum / COUNT);
    near(found.norm, sqrt(squares));
    assert_int_equal(found.crc, crc32_z(0, (const void *)values, sizeof values));
}

/* A dense tensor is reduced at once, one with gaps by the engine: the same bits. */
static void test_both_ways(void **state)
{
    (void)state;
    enum {
        COUNT = 300007
    };
    static float apart[2 * COUNT], dense[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        apart[2 * i] = dense[i] = (float)(sin((double)i) * exp((double)(i % 40) - 20));
    const int64_t strides[] = {2};
    const int64_t counts[] = {1, 63, 1024, 4097, COUNT};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct tdc_buffer_statistics once = describe(dense, TDC_F32, 1, &counts[i], NULL);
        struct tdc_buffer_statistics gathered = describe(apart, TDC_F32, 1, &counts[i], strides);
        assert_memory_equal(&once, &gathered, offsetof(struct tdc_buffer_statistics, crc));
        assert_int_equal(once.crc, gathered.crc);
    }
}

static void test_odd_values(void **state)
{
    (void)state;
    const int64_t shape[] = {4}, none[] = {0};
    double infinite[] = {1, -INFINITY, 3, 4}, apart[] = {1, NAN, INFINITY, 2};
    double huge[] = {3e300, 4e300, 0, 0};
    double complex turned[] = {3 + 4 * I, 0, -5, 6 * I};
    int64_t whole[] = {-7, 2, 9, 0};
    struct tdc_buffer_statistics found = describe(infinite, TDC_F64, 1, shape, NULL);
    assert_true(found.max == 4 && isinf(found.min) && found.min < 0 && found.inf == 1);
    assert_true(isinf(found.mean) && found.mean < 0 && isinf(found.norm));
    found = describe(apart, TDC_F64, 1, shape, NULL);
    assert_true(isnan(found.max) && isnan(found.min) && isnan(found.mean) && isnan(found.norm));
    assert_true(found.nan == 1 && found.inf == 1);
    near(describe(huge, TDC_F64, 1, shape, NULL).norm, 5e300);
    found = describe(turned, TDC_C128, 1, shape, NULL);
    near(found.max, 6);
    near(found.mean, 4);
    near(found.norm, sqrt(86));
    assert_true(found.min == 0);
    found = describe(whole, TDC_I64, 1, shape, NULL);
    assert_true(found.max == 9 && found.min == -7 && found.mean == 1);
    found = describe(NULL, TDC_F32, 1, none, NULL);
    assert_true(found.elements == 0 && isnan(found.max) && found.crc == 0);
}

/* The checksum and the file are of the elements in C order, wherever they lie. */
static void test_views_and_files(void **state)
{
    (void)state;
    struct tensor_folder made;
    tensor_folder_make(&made);
    float stored[] = {1, 2, 3, 4, 5, 6}, dense[] = {1, 4, 2, 5, 3, 6};
    const int64_t shape[] = {3, 2}, transposed[] = {1, 3};
    struct tdc_buffer_statistics found = describe(stored, TDC_F32, 2, shape, transposed);
    assert_int_equal(found.crc, crc32_z(0, (const void *)dense, sizeof dense));
    struct tdc_buffer view;
    tdc_buffer_init(&view, sizeof view, stored, TDC_F32, 2, shape, transposed);
    static const char *const names[] = {"x.npy", "x.pt"};
    for (size_t i = 0; i < 2; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s", folder_file(&made.data, names[i]));
        struct tdc_error error = {0};
        assert_int_equal(tdc_buffer_write(&view, path, &error), TDC_OK);
        assert_int_equal(tdc_buffer_write(&view, path, &error), TDC_OK); /* replaces it */
        struct tdc_tensor tensor;
        assert_int_equal(tdc_tensor_open(path, TDC_TENSOR_BY_SUFFIX, &tensor, &error), TDC_OK);
        assert_true(tensor.dtype == TDC_F32 && tensor.dense && tensor.dimensions == 2);
        assert_true(tensor.shape[0] == 3 && tensor.shape[1] == 2);
        assert_memory_equal(tensor.data, dense, sizeof dense);
        tdc_tensor_close(&tensor);
    }
    tensor_folder_remove(&made);
}

/* Statistics follow the elements in the order in which they lie: any view against its elements. */
static void test_views_in_any_order(void **state)
{
    (void)state;
    static float values[5 * 7 * 9 * 4];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        values[i] = (float)cos((double)i) + (float)i / 100;
    static const struct {
        int64_t shape[4], strides[4], first;
    } views[] = {
        {{5, 7, 9, 4}, {252, 36, 4, 1}, 0},     {{9, 5, 4, 7}, {4, 252, 1, 36}, 0},
        {{4, 9, 7, 5}, {1, 4, 36, 252}, 0},     {{9, 7, 5, 3}, {4, 36, 252, 1}, 1},
        {{5, 1, 9, 2}, {252, 7, 4, 2}, 3},      {{6, 5, 7, 4}, {0, 252, 36, 1}, 8},
        {{5, 7, 9, 4}, {252, -36, 4, -1}, 219}, {{1, 1, 1, 1}, {9, 9, 9, 9}, 11},
        {{3, 3, 1, 1}, {1, 1, 0, 0}, 0}, /* overlaps */
    };
    for (size_t v = 0; v < sizeof views / sizeof *views; v++) {
        const int64_t *shape = views[v].shape, *strides = views[v].strides;
        double sum = 0, squares = 0, max = -INFINITY, min = INFINITY;
        uint64_t count = 0;
        uint32_t crc = 0;
        for (int64_t i = 0; i < shape[0] * shape[1] * shape[2] * shape[3]; i++) {
            int64_t left = i, at = views[v].first;
            for (int axis = 3; axis >= 0; left /= shape[axis], axis--)
                at += left % shape[axis] * strides[axis];
            double value = (double)values[at];
            sum += value;
            squares += value * value;
            max = fmax(max, value);
            min = fmin(min, value);
            count++;
            crc = (uint32_t)crc32(crc, (const unsigned char *)&values[at], sizeof values[at]);
        }
        struct tdc_buffer_statistics found =
            describe(values + views[v].first, TDC_F32, 4, shape, strides);
        assert_int_equal(found.elements, count);
        assert_true(found.max == max && found.min == min);
        near(found.mean, sum / (double)count);
        near(found.norm, sqrt(squares));
        assert_int_equal(found.crc, crc);
    }
}

static void test_what_cannot_be_written(void **state)
{
    (void)state;
    struct tensor_folder made;
    tensor_folder_make(&made);
    const int64_t shape[] = {2};
    uint16_t values[] = {0, 0};
    struct tdc_buffer buffer;
    tdc_buffer_init(&buffer, sizeof buffer, values, TDC_BF16, 1, shape, NULL);
    char path[512];
    snprintf(path, sizeof path, "%s", folder_file(&made.data, "x.npy"));
    assert_int_equal(tdc_buffer_write(&buffer, path, NULL), TDC_ERR_UNSUPPORTED);
    assert_int_not_equal(access(path, F_OK), 0);
    snprintf(path, sizeof path, "%s", folder_file(&made.data, "x.bin"));
    assert_int_equal(tdc_buffer_write(&buffer, path, NULL), TDC_ERR_ARGUMENT);
    assert_int_equal(tdc_buffer_write(&buffer, "/no/such/folder/x.pt", NULL), TDC_ERR_WRITE);
    struct tdc_buffer_statistics found;
    struct tdc_options options = options_of(1);
    assert_int_equal(tdc_buffer_statistics(&buffer, 2, &options, &found, sizeof found, NULL),
                     TDC_ERR_ARGUMENT);
    tensor_folder_remove(&made);
}

static void test_a_record(void **state)
{
    (void)state;
    struct tensor_folder made;
    tensor_folder_make(&made);
    float reference[] = {1, 2, 4}, tested[] = {1, 2.5f, 4};
    npy_write(&made, "Torch.relu.0.forward.output.0.npy", "<f4", false, "3,", reference,
              sizeof reference);
    static const char json[] =
        "{\"task\": \"tensor\", \"data\": {\"Torch.relu.0.forward\": {\"output\": ["
        "{\"type\": \"torch.Tensor\", \"dtype\": \"torch.float32\", \"shape\": [3], \"Max\": 4.0, "
        "\"Min\": 1.0, \"Mean\": 2.0, \"Norm\": 3.0, \"requires_grad\": false, \"data_name\": "
        "\"Torch.relu.0.forward.output.0.npy\"}, "
        "{\"type\": \"torch.Tensor\", \"dtype\": \"torch.float32\", \"shape\": [3], \"Max\": 4.0, "
        "\"Min\": 1.0, \"Mean\": 2.0, \"Norm\": 3.0, \"requires_grad\": false}]}}}";
    struct tdc_dump_source source;
    tdc_dump_source_init(&source, sizeof source, json, strlen(json));
    source.tensors = made.data.path;
    tdc_dump *dump;
    assert_int_equal(tdc_dump_load_memory(&source, &dump, NULL), TDC_OK);
    size_t record = tdc_dump_find_record(dump, "Torch.relu.0.forward.output.0");
    const int64_t shape[] = {3}, other[] = {2};
    struct tdc_buffer n, b, shorter;
    tdc_buffer_init(&n, sizeof n, tested, TDC_F32, 1, shape, NULL);
    tdc_buffer_init(&b, sizeof b, reference, TDC_F32, 1, shape, NULL);
    tdc_buffer_init(&shorter, sizeof shorter, tested, TDC_F32, 1, other, NULL);
    struct tdc_difference found, expected;
    struct tdc_options options = options_of(1);
    assert_int_equal(tdc_compare_record(&n, dump, record, &options, &found, sizeof found, NULL),
                     TDC_OK);
    assert_int_equal(tdc_compare_buffers(&n, &b, &options, &expected, sizeof expected, NULL),
                     TDC_OK);
    assert_memory_equal(&found, &expected, offsetof(struct tdc_difference, message));
    assert_true(found.max_abs == 0.5 && found.max_abs_at == 1);
    assert_int_equal(
        tdc_compare_record(&shorter, dump, record, &options, &found, sizeof found, NULL), TDC_OK);
    assert_true(!found.computed && found.row_class == TDC_ROW_UNMATCHED);
    assert_int_equal(tdc_compare_record(&n, dump, record + 1, &options, &found, sizeof found, NULL),
                     TDC_ERR_NOTHING);
    assert_int_equal(tdc_compare_record(&n, dump, 99, &options, &found, sizeof found, NULL),
                     TDC_ERR_ARGUMENT);
    tdc_dump_free(dump);
    tensor_folder_remove(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statistics),         cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_odd_values),         cmocka_unit_test(test_views_and_files),
        cmocka_unit_test(test_views_in_any_order), cmocka_unit_test(test_what_cannot_be_written),
        cmocka_unit_test(test_a_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
