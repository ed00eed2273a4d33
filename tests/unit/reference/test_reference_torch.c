/* Ways of torch that no formula tells: its conversions, its random mask, its reading of arguments.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "reference/twister.h"
#include "reference/reference.h"

struct bench {
    struct tdc_arena arena;
    struct tdc_reference_results results;
};

static int start(void **state)
{
    static struct bench bench;
    tdc_arena_init(&bench.arena, (size_t)16 << 20);
    *state = &bench;
    return 0;
}

static int stop(void **state)
{
    tdc_arena_free(&((struct bench *)*state)->arena);
    return 0;
}

static struct tdc_reference_value ones(struct bench *b, unsigned rank, const int64_t *shape)
{
    struct tdc_reference_tensor *t = tdc_reference_tensor_new(&b->arena, TDC_F32, rank, shape);
    assert_non_null(t);
    for (int64_t i = 0; i < t->count; i++)
        t->real[i] = 1;
    t->wants_gradient = true;
    return (struct tdc_reference_value){.kind = TDC_VALUE_TENSOR, .tensor = t};
}

static void short_floats_are_rounded_twice(void **state)
{
    (void)state;
    /* just above the middle of two halves: float32 makes it the middle, which goes to even */
    double above = 1 + 0x1p-11 + 0x1p-40;
    assert_true(tdc_reference_round(above, TDC_F16) == 1 + 0x1p-10);
    assert_true(tdc_reference_cast(above, TDC_F16) == 1);
    above = 1 + 0x1p-8 + 0x1p-40;
    assert_true(tdc_reference_round(above, TDC_BF16) == 1 + 0x1p-7);
    assert_true(tdc_reference_cast(above, TDC_BF16) == 1);
    assert_true(tdc_reference_cast(above, TDC_F64) == above);
    assert_true(isinf(tdc_reference_cast(1e300, TDC_F32)));
    assert_true(isnan(tdc_reference_cast((double)NAN, TDC_F16)));
}

/* On x86: by way of 32 bits to fewer; what does not fit becomes the smallest number. */
static void numbers_beyond_an_integer_type(void **state)
{
    struct bench *b = *state;
    static const double from[] = {
        3e9,         -3e9,    1e10, 1e19, -1e19, (double)INFINITY, 2147483520, -(double)INFINITY,
        (double)NAN, 70000.5, -1.5, 300.7};
    enum {
        COUNT = sizeof from / sizeof *from
    };
    static const struct {
        const char *api;
        int64_t to[COUNT];
    } cases[] = {
        {"Tensor.char", {0, 0, 0, 0, 0, 0, -128, 0, 0, 112, -1, 44}},
        {"Tensor.byte", {0, 0, 0, 0, 0, 0, 128, 0, 0, 112, 255, 44}},
        {"Tensor.short", {0, 0, 0, 0, 0, 0, -128, 0, 0, 4464, -1, 300}},
        {"Tensor.int",
         {INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN, 2147483520, INT32_MIN,
          INT32_MIN, 70000, -1, 300}},
        {"Tensor.long",
         {3000000000, -3000000000, 10000000000, INT64_MIN, INT64_MIN, INT64_MIN, 2147483520,
          INT64_MIN, INT64_MIN, 70000, -1, 300}},
    };
    struct tdc_reference_value x = ones(b, 1, (const int64_t[]){COUNT});
    for (int i = 0; i < COUNT; i++)
        x.tensor->real[i] = (float)from[i];
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct tdc_reference_call call = {
            .definition = tdc_reference_find(cases[c].api), .arguments = &x, .argument_count = 1};
        assert_int_equal(tdc_reference_forward(&call, &b->arena, &b->results), TDC_OK);
        assert_memory_equal(b->results.values[0].tensor->whole, cases[c].to, sizeof cases[c].to);
    }
}

static void dropout_has_the_first_mask_of_seed_0(void **state)
{
    struct bench *b = *state;
    static const int kept[12] = {0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1};
    struct tdc_reference_value arguments[3] = {ones(b, 2, (const int64_t[]){3, 4}),
                                               {.kind = TDC_VALUE_FLOAT, .real = 0.5},
                                               {.kind = TDC_VALUE_BOOL, .whole = 1}};
    struct tdc_reference_call call = {.definition = tdc_reference_find("MintFunctional.dropout"),
                                      .arguments = arguments,
                                      .argument_count = 3};
    assert_int_equal(tdc_reference_forward(&call, &b->arena, &b->results), TDC_OK);
    for (int i = 0; i < 12; i++)
        assert_true(b->results.values[0].tensor->real[i] == 2 * kept[i]);
    struct tdc_reference_tensor *gradient = ones(b, 2, (const int64_t[]){3, 4}).tensor;
    assert_int_equal(tdc_reference_backward(&call, &gradient, 1, &b->arena, &b->results), TDC_OK);
    for (int i = 0; i < 12; i++)
        assert_true(b->results.values[0].tensor->real[i] == 2 * kept[i]);
    arguments[1].real = 1;
    assert_int_equal(tdc_reference_forward(&call, &b->arena, &b->results), TDC_OK);
    for (int i = 0; i < 12; i++)
        assert_true(b->results.values[0].tensor->real[i] == 0);
    arguments[1].real = 1.5;
    assert_int_equal(tdc_reference_forward(&call, &b->arena, &b->results), TDC_ERR_ARGUMENT);
    arguments[2].whole = 0;
    assert_int_equal(tdc_reference_forward(&call, &b->arena, &b->results), TDC_OK);
    assert_true(b->results.values[0].tensor->real[0] == 1);
}

static void an_argument_given_twice_is_refused(void **state)
{
    struct bench *b = *state;
    struct tdc_reference_value arguments[2] = {ones(b, 1, (const int64_t[]){3}),
                                               {.kind = TDC_VALUE_INT, .whole = 0}};
    struct tdc_reference_keyword keyword = {"dim", arguments[1]};
    struct tdc_reference_call call = {.definition = tdc_reference_find("Mint.sum"),
                                      .arguments = arguments,
                                      .argument_count = 2,
                                      .keywords = &keyword,
                                      .keyword_count = 1};
    assert_int_equal(tdc_reference_forward(&call, &b->arena, &b->results), TDC_ERR_ARGUMENT);
    assert_non_null(strstr(b->results.reason, "multiple values for argument 'dim'"));
    call.argument_count = 1;
    assert_int_equal(tdc_reference_forward(&call, &b->arena, &b->results), TDC_OK);
}

/* 1 2 3 4 5 turns to -4 -5 1 2 3 */
static void odd_sizes_are_halved_as_chunk_does(void **state)
{
    struct bench *b = *state;
    struct tdc_reference_value arguments[3];
    for (int i = 0; i < 3; i++)
        arguments[i] = ones(b, 1, (const int64_t[]){5});
    for (int i = 0; i < 5; i++) {
        arguments[0].tensor->real[i] = i + 1;
        arguments[1].tensor->real[i] = 0;
    }
    struct tdc_reference_call call = {.definition = tdc_reference_find("NPU.npu_rotary_mul"),
                                      .arguments = arguments,
                                      .argument_count = 3};
    assert_int_equal(tdc_reference_forward(&call, &b->arena, &b->results), TDC_OK);
    static const double turned[5] = {-4, -5, 1, 2, 3};
    assert_memory_equal(b->results.values[0].tensor->real, turned, sizeof turned);
    call.definition = tdc_reference_find("NPU.npu_swiglu");
    call.argument_count = 1;
    assert_int_equal(tdc_reference_forward(&call, &b->arena, &b->results), TDC_ERR_ARGUMENT);
}

static void type_without_a_dtype_is_a_name(void **state)
{
    struct bench *b = *state;
    struct tdc_reference_value x = ones(b, 1, (const int64_t[]){3});
    struct tdc_reference_call call = {
        .definition = tdc_reference_find("Tensor.type"), .arguments = &x, .argument_count = 1};
    assert_int_equal(tdc_reference_forward(&call, &b->arena, &b->results), TDC_OK);
    assert_int_equal(b->results.values[0].kind, TDC_VALUE_TEXT);
    assert_string_equal(b->results.values[0].text, "torch.FloatTensor");
}

static void the_generator_is_numpys(void **state)
{
    (void)state;
    struct tdc_twister twister;
    tdc_twister_seed(&twister, 0);
    assert_int_equal(tdc_twister_word(&twister), 2357136044u);
    tdc_twister_seed(&twister, 5489);
    uint32_t word = 0;
    for (int i = 0; i < 10000; i++)
        word = tdc_twister_word(&twister);
    assert_int_equal(word, 4123659995u);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(short_floats_are_rounded_twice),
        TEST(dropout_has_the_first_mask_of_seed_0),
        TEST(an_argument_given_twice_is_refused),
        TEST(odd_sizes_are_halved_as_chunk_does),
        TEST(numbers_beyond_an_integer_type),
        TEST(type_without_a_dtype_is_a_name),
        TEST(the_generator_is_numpys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
