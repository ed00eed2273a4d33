/* Tensors written as .npy and .pt, read back by the readers of dumps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "host/precheck/files/saved_tensor.h"
#include "io/tensor/tensor_file.h"

static struct tdc_arena arena;

static int start(void **state)
{
    (void)state;
    tdc_arena_init(&arena, (size_t)16 << 20);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    tdc_arena_free(&arena);
    return 0;
}

static struct tdc_reference_tensor *made(tdc_dtype dtype, unsigned rank, const int64_t *shape)
{
    static const double reals[] = {
        0.0,        -0.0, 1.5, -2.25, 65504.0, 0x1p-24, 0x1p-140, 0x1.4p-14, (double)INFINITY,
        (double)NAN};
    static const int64_t wholes[] = {0, 1, -1, 127, -128, 255, 32767, 65535, INT32_MIN, INT64_MAX};
    struct tdc_reference_tensor *t = tdc_reference_tensor_new(&arena, dtype, rank, shape);
    assert_non_null(t);
    for (int64_t i = 0; i < t->count; i++) {
        if (tdc_dtype_is_floating(dtype))
            t->real[i] = tdc_reference_round(reals[i % 10], dtype);
        else
            t->whole[i] = dtype == TDC_BOOL ? i % 2 : wholes[i % 10];
    }
    return t;
}

/* The bits of an element as the reader finds them, without the sign of what was cut off. */
static uint64_t stored(const struct tdc_tensor *t, int64_t at)
{
    size_t size = tdc_dtype_size(t->dtype);
    uint64_t bits = 0;
    memcpy(&bits, t->data + (size_t)at * size, size);
    return bits;
}

static double as_real(uint64_t bits, tdc_dtype dtype)
{
    if (dtype == TDC_F64) {
        double v;
        memcpy(&v, &bits, sizeof v);
        return v;
    }
    if (dtype == TDC_F16) {
        int exponent = (int)(bits >> 10 & 31);
        double fraction = (double)(bits & 1023), sign = (bits >> 15) != 0 ? -1 : 1;
        if (exponent == 31)
            return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
        return sign *
               (exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25));
    }
    uint32_t word = (uint32_t)(dtype == TDC_BF16 ? bits << 16 : bits);
    float v;
    memcpy(&v, &word, sizeof v);
    return (double)v;
}

static void check(const struct tdc_reference_tensor *written, bool pt)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&bytes, &size);
    assert_non_null(file);
    assert_true(pt ? tdc_write_pt(file, written, "Torch.exp.0.forward.input.0")
                   : tdc_write_npy(file, written));
    assert_int_equal(fclose(file), 0);
    struct tdc_tensor read;
    struct tdc_error error = {0};
    tdc_status status =
        tdc_tensor_parse(bytes, size, pt ? TDC_TENSOR_PT : TDC_TENSOR_NPY, "made", &read, &error);
    if (status != TDC_OK)
        fail_msg("%s, %s: %s", tdc_dtype_name(written->dtype), pt ? "pt" : "npy", error.message);
    bool widened = !pt && written->dtype == TDC_BF16;
    assert_int_equal(read.dtype, widened ? TDC_F32 : written->dtype);
    assert_int_equal(read.dimensions, written->rank);
    assert_true(read.dense);
    for (unsigned d = 0; d < written->rank; d++)
        assert_int_equal(read.shape[d], written->shape[d]);
    for (int64_t i = 0; i < written->count; i++) {
        uint64_t bits = stored(&read, i), mask = ~(uint64_t)0;
        size_t width = tdc_dtype_size(read.dtype);
        if (width < 8)
            mask = ((uint64_t)1 << (8 * width)) - 1;
        if (!tdc_dtype_is_floating(written->dtype)) {
            assert_int_equal(bits, (uint64_t)written->whole[i] & mask);
            continue;
        }
        double got = as_real(bits, read.dtype), want = written->real[i];
        if (isnan(want))
            assert_true(isnan(got));
        else
            assert_memory_equal(&got, &want, sizeof got); /* the sign of zero too */
    }
    free(bytes);
}

static void every_dtype_comes_back(void **state)
{
    (void)state;
    static const tdc_dtype dtypes[] = {TDC_BOOL, TDC_I8,  TDC_U8,  TDC_I16, TDC_I32,
                                       TDC_I64,  TDC_F16, TDC_F32, TDC_F64, TDC_BF16};
    static const int64_t shape[] = {3, 2, 5};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        for (unsigned rank = 0; rank <= 3; rank++)
            for (int pt = 0; pt < 2; pt++)
                check(made(dtypes[i], rank, shape), pt);
}

static void empty_tensors_come_back(void **state)
{
    (void)state;
    static const int64_t shape[] = {2, 0, 3};
    for (int pt = 0; pt < 2; pt++)
        check(made(TDC_F32, 3, shape), pt);
}

static void what_torch_lacks_is_refused(void **state)
{
    (void)state;
    static const tdc_dtype dtypes[] = {TDC_U16, TDC_U32, TDC_U64};
    static const int64_t shape[] = {2};
    for (size_t i = 0; i < 3; i++) {
        char *bytes = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&bytes, &size);
        assert_false(tdc_write_pt(file, made(dtypes[i], 1, shape), "x"));
        fclose(file);
        free(bytes);
        check(made(dtypes[i], 1, shape), false);
    }
}

static void a_full_disk_is_told(void **state)
{
    (void)state;
    static const int64_t shape[] = {100};
    char room[64];
    for (int pt = 0; pt < 2; pt++) {
        FILE *file = fmemopen(room, sizeof room, "wb");
        assert_non_null(file);
        setvbuf(file, NULL, _IONBF, 0);
        const struct tdc_reference_tensor *tensor = made(TDC_F64, 1, shape);
        assert_false(pt ? tdc_write_pt(file, tensor, "x") : tdc_write_npy(file, tensor));
        fclose(file);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(every_dtype_comes_back),
        TEST(empty_tensors_come_back),
        TEST(what_torch_lacks_is_refused),
        TEST(a_full_disk_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
