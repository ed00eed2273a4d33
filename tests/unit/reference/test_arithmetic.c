/* Operators in a narrow arithmetic, and the executor that is made of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "host/precheck/check/executor.h"

#define LIMIT ((size_t)64 << 20)
#define MOST  8192

struct bench {
    struct tdc_arena arena;
    struct tdc_reference_results results;
    struct tdc_reference_value arguments[4];
    size_t count;
    int compared; /* directions of functions of one tensor */
};

static int start(void **state)
{
    static struct bench bench;
    memset(&bench, 0, sizeof bench);
    tdc_arena_init(&bench.arena, LIMIT);
    *state = &bench;
    return 0;
}

static int stop(void **state)
{
    tdc_arena_free(&((struct bench *)*state)->arena);
    return 0;
}

static struct tdc_reference_tensor *matrix(struct bench *b, tdc_dtype dtype, int64_t rows,
                                           int64_t columns, const double *values)
{
    int64_t shape[2] = {rows, columns};
    struct tdc_reference_tensor *t =
        tdc_reference_tensor_new(&b->arena, dtype, rows == 0 ? 1 : 2, rows == 0 ? &columns : shape);
    assert_non_null(t);
    for (int64_t i = 0; i < t->count; i++) {
        if (tdc_dtype_is_floating(dtype))
            t->real[i] = tdc_reference_round(values[i], dtype);
        else
            t->whole[i] = (int64_t)values[i];
    }
    t->wants_gradient = tdc_dtype_is_floating(dtype);
    return t;
}

static void give(struct bench *b, struct tdc_reference_tensor *tensor)
{
    b->arguments[b->count++] =
        (struct tdc_reference_value){.kind = TDC_VALUE_TENSOR, .tensor = tensor};
}

static void give_vector(struct bench *b, tdc_dtype dtype, int64_t n, const double *values)
{
    give(b, matrix(b, dtype, 0, n, values));
}

static void give_whole(struct bench *b, int64_t v)
{
    b->arguments[b->count++] = (struct tdc_reference_value){.kind = TDC_VALUE_INT, .whole = v};
}

static struct tdc_reference_call call_of(struct bench *b, const char *api, tdc_dtype arithmetic)
{
    struct tdc_reference_call call = {.definition = tdc_reference_find(api),
                                      .arguments = b->arguments,
                                      .argument_count = b->count,
                                      .arithmetic = arithmetic};
    assert_non_null(call.definition);
    return call;
}

/* The elements of the first output. */
static const double *forward(struct bench *b, const char *api, tdc_dtype arithmetic)
{
    struct tdc_reference_call call = call_of(b, api, arithmetic);
    assert_int_equal(tdc_reference_forward(&call, &b->arena, &b->results), TDC_OK);
    assert_int_equal(b->results.values[0].kind, TDC_VALUE_TENSOR);
    return b->results.values[0].tensor->real;
}

static const double *backward(struct bench *b, const char *api, tdc_dtype arithmetic,
                              struct tdc_reference_tensor *gradient)
{
    struct tdc_reference_call call = call_of(b, api, arithmetic);
    assert_int_equal(tdc_reference_backward(&call, &gradient, 1, &b->arena, &b->results), TDC_OK);
    return b->results.values[0].tensor->real;
}

static void assert_exact(double got, double want)
{
    if (got != want)
        fail_msg("%.17g is not %.17g", got, want);
}

static double f16(double v)
{
    return tdc_reference_round(v, TDC_F16);
}

static void each_operation_is_rounded(void **state)
{
    struct bench *b = *state;
    const double x[] = {0.7, -3.3, 9.4, -11.6};
    give_vector(b, TDC_F16, 4, x);
    const double *y = forward(b, "Mint.sigmoid", TDC_F16);
    for (int i = 0; i < 4; i++) {
        double e = f16(exp(-f16(x[i])));
        assert_exact(y[i], f16(1 / f16(1 + e)));
    }
    y = forward(b, "MintFunctional.silu", TDC_F16);
    for (int i = 0; i < 4; i++) {
        double e = f16(exp(-f16(x[i])));
        assert_exact(y[i], f16(f16(x[i]) * f16(1 / f16(1 + e))));
    }
    y = forward(b, "MintFunctional.silu", TDC_DTYPE_NONE);
    assert_exact(y[0], f16(0.7) * (1 / (1 + exp(-f16(0.7)))));
}

static void slopes_are_rounded_step_by_step(void **state)
{
    struct bench *b = *state;
    const double x[] = {2.9}, g[] = {0.3};
    give_vector(b, TDC_F16, 1, x);
    const double *d = backward(b, "Mint.tanh", TDC_F16, matrix(b, TDC_F64, 0, 1, g));
    double y = f16(tanh(f16(2.9)));
    assert_exact(d[0], f16(f16(1 - f16(y * y)) * f16(0.3)));
}

static void sums_accumulate_in_float32(void **state)
{
    struct bench *b = *state;
    static double ones[MOST];
    for (int i = 0; i < MOST; i++)
        ones[i] = 1;
    give_vector(b, TDC_F16, MOST, ones);
    assert_exact(forward(b, "Mint.sum", TDC_F16)[0], MOST); /* float16 alone stops at 2048 */

    /* 2^24 + 1 + 1: float32 loses both, one at a time */
    double big[17] = {0x1p24, [8] = 1, [16] = 1};
    b->count = 0;
    give_vector(b, TDC_F32, 17, big);
    assert_exact(forward(b, "Mint.sum", TDC_F32)[0], 0x1p24);
    assert_exact(forward(b, "Mint.sum", TDC_F64)[0], 0x1p24 + 2);
}

static void a_mean_does_not_overflow_where_its_sum_would(void **state)
{
    struct bench *b = *state;
    static double hundreds[MOST];
    for (int i = 0; i < MOST; i++)
        hundreds[i] = 100;
    give_vector(b, TDC_F16, MOST, hundreds);
    assert_exact(forward(b, "Mint.mean", TDC_F16)[0], 100);
    assert_true(isinf(forward(b, "Mint.sum", TDC_F16)[0]));
}

static void scattered_sums_round_at_each_addition(void **state)
{
    struct bench *b = *state;
    static double ones[MOST], zeros[MOST];
    for (int i = 0; i < MOST; i++)
        ones[i] = 1;
    give_vector(b, TDC_F16, 1, zeros);
    give_whole(b, 0);
    give_vector(b, TDC_I64, MOST, zeros);
    give_vector(b, TDC_F16, MOST, ones);
    assert_exact(forward(b, "Mint.scatter_add", TDC_F16)[0], 2048);
    assert_exact(forward(b, "Mint.scatter_add", TDC_F64)[0], MOST);
}

static void products_accumulate_in_float32(void **state)
{
    struct bench *b = *state;
    const double left[] = {0x1p12, 1, 1}, right[] = {0x1p12, 1, 1};
    give(b, matrix(b, TDC_F32, 1, 3, left));
    give(b, matrix(b, TDC_F32, 3, 1, right));
    assert_exact(forward(b, "Mint.matmul", TDC_F32)[0], 0x1p24);
    assert_exact(forward(b, "Mint.matmul", TDC_F64)[0], 0x1p24 + 2);
}

static void transposed_products_agree_with_plain_ones(void **state)
{
    struct bench *b = *state;
    const double values[] = {1, 2, 3, 4, 5, 6}, g[] = {1, -1, 2, 0.5};
    give(b, matrix(b, TDC_F16, 2, 3, values));
    give(b, matrix(b, TDC_F16, 2, 3, values)); /* linear multiplies by its transpose */
    struct tdc_reference_tensor *gradient = matrix(b, TDC_F64, 2, 2, g);
    double narrow[6], want[6];
    memcpy(want, backward(b, "MintFunctional.linear", TDC_F64, gradient), sizeof want);
    memcpy(narrow, backward(b, "MintFunctional.linear", TDC_F16, gradient), sizeof narrow);
    assert_memory_equal(narrow, want, sizeof want); /* small integers are exact in both */
}

static void softmax_goes_step_by_step(void **state)
{
    struct bench *b = *state;
    const double x[] = {0.1, 1.7, -2.2}, g[] = {0.5, -1.25, 2};
    give_vector(b, TDC_BF16, 3, x);
    give_whole(b, 0);
    const double *y = forward(b, "MintFunctional.softmax", TDC_BF16);
    double e[3], sum = 0;
    for (int i = 0; i < 3; i++) {
        double centred = tdc_reference_round(x[i], TDC_BF16) - tdc_reference_round(1.7, TDC_BF16);
        e[i] = tdc_reference_round(exp(tdc_reference_round(centred, TDC_BF16)), TDC_BF16);
        sum += e[i];
    }
    sum = tdc_reference_round(sum, TDC_BF16);
    for (int i = 0; i < 3; i++)
        assert_exact(y[i], tdc_reference_round(e[i] / sum, TDC_BF16));
    const double *d = backward(b, "MintFunctional.softmax", TDC_BF16, matrix(b, TDC_F64, 0, 3, g));
    for (int i = 0; i < 3; i++)
        assert_exact(d[i], tdc_reference_round(d[i], TDC_BF16));
}

/* [1, 1, n] */
static void give_line(struct bench *b, tdc_dtype dtype, int64_t n, const double *values)
{
    struct tdc_reference_tensor *flat = matrix(b, dtype, 0, n, values), *t;
    t = tdc_reference_tensor_new(&b->arena, dtype, 3, (const int64_t[]){1, 1, n});
    assert_non_null(t);
    memcpy(t->real, flat->real, (size_t)n * sizeof *t->real);
    t->wants_gradient = true;
    give(b, t);
}

static void convolutions_accumulate_in_float32(void **state)
{
    struct bench *b = *state;
    const double wide[] = {0x1p12, 1, 1}, kernel[] = {1, 0x1p-11, 0x1p-11};
    const double x[] = {1, 1, 1, 1, 1}, ones[] = {1, 1, 1};
    give_line(b, TDC_F32, 3, wide);
    give_line(b, TDC_F32, 3, wide);
    assert_exact(forward(b, "MintFunctional.conv1d", TDC_F32)[0], 0x1p24);
    assert_exact(forward(b, "MintFunctional.conv1d", TDC_F64)[0], 0x1p24 + 2);
    b->count = 0;
    give_line(b, TDC_F16, 5, x);
    give_line(b, TDC_F16, 3, kernel);
    struct tdc_reference_tensor *g =
        tdc_reference_tensor_new(&b->arena, TDC_F64, 3, (const int64_t[]){1, 1, 3});
    memcpy(g->real, ones, sizeof ones);
    const double *d = backward(b, "MintFunctional.conv1d", TDC_F16, g);
    assert_exact(d[2], 1 + 0x1p-10); /* 1 if each of the three windows were rounded */
}

static void folded_windows_round_at_each_addition(void **state)
{
    struct bench *b = *state;
    /* windows of three on five elements: the middle one is in all of them */
    double columns[9] = {[2] = 1, [4] = 0x1p-11, [6] = 0x1p-11};
    give(b, matrix(b, TDC_F16, 3, 3, columns));
    struct tdc_reference_value sizes[2][2] = {
        {{.kind = TDC_VALUE_INT, .whole = 1}, {.kind = TDC_VALUE_INT, .whole = 5}},
        {{.kind = TDC_VALUE_INT, .whole = 1}, {.kind = TDC_VALUE_INT, .whole = 3}}};
    for (int i = 0; i < 2; i++)
        b->arguments[b->count++] = (struct tdc_reference_value){
            .kind = TDC_VALUE_LIST, .list = {.values = sizes[i], .count = 2}};
    assert_exact(forward(b, "MintFunctional.fold", TDC_F16)[2], 1);
    assert_exact(forward(b, "MintFunctional.fold", TDC_F64)[2], 1 + 0x1p-10);
}

static void pooled_means_stay_in_the_accumulator(void **state)
{
    struct bench *b = *state;
    const double large[] = {60000, 60000, 60000, 60000}, uneven[] = {4096, 2, 2, 0};
    give_line(b, TDC_F16, 4, large);
    give_whole(b, 2);
    assert_exact(forward(b, "MintFunctional.avg_pool1d", TDC_F16)[1], 60000);
    b->count = 0;
    give_line(b, TDC_F16, 4, uneven);
    give_whole(b, 1);
    assert_exact(forward(b, "MintFunctional.adaptive_avg_pool1d", TDC_F16)[0], 1025);
}

#define TOKENS 70 /* more than a block of rows */
#define DEPTH  3

/* Attention is done in blocks; its results are those of the products and the softmax one by one. */
static void attention_goes_step_by_step(void **state)
{
    struct bench *b = *state;
    static double q[TOKENS * DEPTH], turned[TOKENS * DEPTH], scores[TOKENS * TOKENS];
    double scale = (double)(float)(1 / sqrt((double)DEPTH));
    for (int i = 0; i < TOKENS * DEPTH; i++)
        q[i] = tdc_reference_round(sin((double)(i * i)), TDC_BF16);
    for (int i = 0; i < TOKENS * DEPTH; i++)
        turned[i] = q[i % TOKENS * DEPTH + i / TOKENS];
    give(b, matrix(b, TDC_BF16, TOKENS, DEPTH, q));
    give(b, matrix(b, TDC_BF16, DEPTH, TOKENS, turned));
    memcpy(scores, forward(b, "Mint.matmul", TDC_BF16), sizeof scores);
    for (int i = 0; i < TOKENS * TOKENS; i++)
        scores[i] *= scale;
    b->count = 0;
    give(b, matrix(b, TDC_BF16, TOKENS, TOKENS, scores));
    give_whole(b, 1);
    memcpy(scores, forward(b, "MintFunctional.softmax", TDC_BF16), sizeof scores);
    b->count = 0;
    give(b, matrix(b, TDC_BF16, TOKENS, TOKENS, scores));
    give(b, matrix(b, TDC_BF16, TOKENS, DEPTH, q));
    const double *want = forward(b, "Mint.matmul", TDC_BF16);
    static double kept[TOKENS * DEPTH], slopes[TOKENS * DEPTH];
    memcpy(kept, want, sizeof kept);
    b->count = 0;
    for (int i = 0; i < 3; i++)
        give(b, matrix(b, TDC_BF16, TOKENS, DEPTH, q));
    static const char api[] = "MintFunctional.scaled_dot_product_attention";
    assert_memory_equal(forward(b, api, TDC_BF16), kept, sizeof kept);
    struct tdc_reference_tensor *gradient = matrix(b, TDC_F64, TOKENS, DEPTH, q);
    memcpy(slopes, backward(b, api, TDC_BF16, gradient), sizeof slopes);
    const double *wide = backward(b, api, TDC_F64, gradient);
    for (int i = 0; i < TOKENS * DEPTH; i++) {
        assert_exact(slopes[i], tdc_reference_round(slopes[i], TDC_BF16));
        assert_true(fabs(slopes[i] - wide[i]) < 0.02);
    }
}

static void numbers_take_part_as_float32(void **state)
{
    struct bench *b = *state;
    const double x[] = {3};
    give_vector(b, TDC_F32, 1, x);
    b->arguments[b->count++] = (struct tdc_reference_value){.kind = TDC_VALUE_FLOAT, .real = 0.1};
    assert_exact(forward(b, "Mint.mul", TDC_F32)[0], (double)(3.0F * 0.1F));
}

static bool agree(double got, double want)
{
    return got == want || (isnan(got) && isnan(want)) ||
           fabs(got - want) <= 1e-6 * fmax(1, fabs(want));
}

/* Every function of one floating vector, near the reference and never far outside the dtype. */
static bool compare_both(void *context, const char *api, const char *family,
                         const struct tdc_operator *definition)
{
    struct bench *b = context;
    if ((strcmp(family, "activations") != 0 && strcmp(family, "elementwise") != 0) ||
        strncmp(api, "Mint.", 5) != 0 || tdc_reference_is_random(definition))
        return true;
    tdc_arena_reset(&b->arena);
    b->count = 0;
    const double x[] = {0.1, -0.4, 1.5, -2.75, 0.0, 3.5}, g[] = {1, 1, 1, 1, 1, 1};
    give_vector(b, TDC_F32, 6, x);
    struct tdc_reference_tensor *gradient = matrix(b, TDC_F64, 0, 6, g);
    for (int pass = 0; pass < 2; pass++) {
        double got[6];
        struct tdc_reference_call call = {
            .definition = definition, .arguments = b->arguments, .argument_count = 1};
        for (int narrow = 1; narrow >= 0; narrow--) {
            call.arithmetic = narrow ? TDC_F32 : TDC_F64;
            tdc_status status =
                pass == 0 ? tdc_reference_forward(&call, &b->arena, &b->results)
                          : tdc_reference_backward(&call, &gradient, 1, &b->arena, &b->results);
            if (status != TDC_OK || b->results.values[0].kind != TDC_VALUE_TENSOR ||
                b->results.values[0].tensor->count != 6 ||
                b->results.values[0].tensor->dtype != TDC_F64)
                return true; /* needs more arguments, or another shape */
            const double *real = b->results.values[0].tensor->real;
            if (narrow)
                memcpy(got, real, sizeof got);
            for (int i = 0; !narrow && i < 6; i++)
                if (!agree(got[i], real[i]))
                    fail_msg("%s pass %d [%d]: %.17g for %.17g", api, pass, i, got[i], real[i]);
        }
        b->compared++;
    }
    return true;
}

static void functions_in_float32_are_near_the_reference(void **state)
{
    tdc_reference_list(compare_both, *state);
    assert_in_range(((struct bench *)*state)->compared, 80, 999);
}

/* ---- the executor ---------------------------------------------------------------------------- */

static void results_have_the_widest_dtype_of_the_inputs(void **state)
{
    static const struct {
        tdc_dtype a, b, want;
    } cases[] = {{TDC_F16, TDC_F16, TDC_F16},  {TDC_F16, TDC_BF16, TDC_F32},
                 {TDC_BF16, TDC_F32, TDC_F32}, {TDC_I64, TDC_BF16, TDC_BF16},
                 {TDC_F64, TDC_F16, TDC_F64},  {TDC_I32, TDC_I64, TDC_I64}};
    struct bench *b = *state;
    const double x[] = {1, 2};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        b->count = 0;
        give_vector(b, cases[i].a, 2, x);
        give_vector(b, cases[i].b, 2, x);
        struct tdc_reference_call call = call_of(b, "Mint.add", TDC_DTYPE_NONE);
        assert_int_equal(tdc_executor_native.forward(NULL, &call, &b->arena, &b->results), TDC_OK);
        assert_int_equal(b->results.values[0].tensor->dtype, cases[i].want);
    }
}

static void a_gradient_has_the_dtype_of_its_input(void **state)
{
    struct bench *b = *state;
    const double x[] = {1.5, 2}, w[] = {0.1, 0.3};
    give_vector(b, TDC_F16, 2, x);
    give_vector(b, TDC_F32, 2, w);
    struct tdc_reference_call call = call_of(b, "Mint.mul", TDC_DTYPE_NONE);
    struct tdc_reference_tensor *gradient = matrix(b, TDC_F64, 0, 2, w);
    assert_int_equal(
        tdc_executor_native.backward(NULL, &call, &gradient, 1, &b->arena, &b->results), TDC_OK);
    assert_int_equal(b->results.count, 2);
    const struct tdc_reference_tensor *first = b->results.values[0].tensor;
    assert_int_equal(first->dtype, TDC_F16);
    assert_int_equal(b->results.values[1].tensor->dtype, TDC_F32);
    float product = (float)w[0] * (float)w[0];
    assert_exact(first->real[0], f16((double)product));
}

static void inputs_stay_as_they_are(void **state)
{
    struct bench *b = *state;
    const double x[] = {0.1, 1e-7, 70000, (double)NAN};
    give_vector(b, TDC_F32, 4, x);
    double before[4];
    struct tdc_reference_tensor *tensor = b->arguments[0].tensor;
    memcpy(before, tensor->real, sizeof before);
    forward(b, "Mint.exp", TDC_F16);
    forward(b, "Mint.flatten", TDC_F16);
    backward(b, "Mint.neg", TDC_F16, matrix(b, TDC_F64, 0, 4, x));
    assert_memory_equal(before, tensor->real, sizeof before);
}

static void conversions_are_computed_as_recorded(void **state)
{
    struct bench *b = *state;
    const double x[] = {0.1, 70000};
    give_vector(b, TDC_F32, 2, x);
    const double *y = forward(b, "Tensor.half", TDC_F32);
    assert_exact(y[0], f16((double)0.1F));
    assert_true(isinf(y[1]));
    assert_int_equal(b->results.values[0].tensor->dtype, TDC_F16);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(each_operation_is_rounded),
        TEST(slopes_are_rounded_step_by_step),
        TEST(sums_accumulate_in_float32),
        TEST(a_mean_does_not_overflow_where_its_sum_would),
        TEST(scattered_sums_round_at_each_addition),
        TEST(products_accumulate_in_float32),
        TEST(transposed_products_agree_with_plain_ones),
        TEST(softmax_goes_step_by_step),
        TEST(convolutions_accumulate_in_float32),
        TEST(folded_windows_round_at_each_addition),
        TEST(pooled_means_stay_in_the_accumulator),
        TEST(attention_goes_step_by_step),
        TEST(numbers_take_part_as_float32),
        TEST(functions_in_float32_are_near_the_reference),
        TEST(results_have_the_widest_dtype_of_the_inputs),
        TEST(a_gradient_has_the_dtype_of_its_input),
        TEST(inputs_stay_as_they_are),
        TEST(conversions_are_computed_as_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
