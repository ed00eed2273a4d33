/* Bounds where frameworks store 16-bit numbers on the way, and where exact numbers must not count
 * as inexact: what correct kernels give stays within them, a fault does not. */
#include <math.h>

#include "kernels/dtype.h"
#include "tests/unit/reference/bound_check.h"

static double half(double x)
{
    return tdc_reference_round(x, TDC_F16);
}

static double brain(double x)
{
    return tdc_reference_round(x, TDC_BF16);
}

static void scale(struct tdc_reference_tensor *t, double factor)
{
    for (int64_t i = 0; i < t->count; i++)
        t->real[i] = tdc_reference_round(t->real[i] * factor, t->dtype);
}

static void is_found(const struct tdc_reference_tensor *b, const struct tdc_reference_tensor *t)
{
    assert_true(tdc_check_bound(b, t).beyond > 0);
}

/* The gradient of a kernel, summed sample by sample in float16: so small that each of these sums
 * loses half of float16's smallest number. */
static void gradients_of_half_convolutions(void **state)
{
    (void)state;
    enum {
        SAMPLES = 32,
        LENGTH = 12,
        OUT = LENGTH - 2
    };
    struct tdc_reference_value arguments[2] = {
        tensor(TDC_F16, 3, (const int64_t[]){SAMPLES, 1, LENGTH}),
        tensor(TDC_F16, 3, (const int64_t[]){4, 1, 3})};
    struct tdc_reference_tensor *x = arguments[0].tensor;
    struct tdc_reference_tensor *g = tensor(TDC_F16, 3, (const int64_t[]){SAMPLES, 4, OUT}).tensor;
    scale(g, 0x1p-20);
    struct tdc_reference_tensor *b = reference("Functional.conv1d", TDC_F16, arguments, 2, g, 1);
    struct tdc_reference_tensor *t = like(b, TDC_F16);
    for (int at = 0; at < 4 * 3; at++) {
        t->real[at] = 0;
        for (int s = 0; s < SAMPLES; s++) {
            double sum = 0;
            for (int i = 0; i < OUT; i++)
                sum += g->real[(s * 4 + at / 3) * OUT + i] * x->real[s * LENGTH + i + at % 3];
            t->real[at] = half(t->real[at] + half(sum));
        }
    }
    passes(b, t);
    for (int at = 0; at < 4 * 3; at++)
        t->real[at] = -t->real[at];
    is_found(b, t);
}

/* The gradients of keys and values that several heads share: each head's is stored before they are
 * added. */
static void heads_that_share_in_half(void **state)
{
    (void)state;
    enum {
        HEADS = 8,
        ROWS = 4,
        KEYS = 3,
        WIDTH = 4
    };
    struct tdc_reference_value arguments[3] = {
        tensor(TDC_F16, 4, (const int64_t[]){1, HEADS, ROWS, WIDTH}),
        tensor(TDC_F16, 4, (const int64_t[]){1, 1, KEYS, WIDTH}),
        tensor(TDC_F16, 4, (const int64_t[]){1, 1, KEYS, WIDTH})};
    const struct tdc_reference_keyword shared = {"enable_gqa",
                                                 {.kind = TDC_VALUE_BOOL, .whole = 1}};
    struct tdc_reference_tensor *g = tensor(TDC_F16, 4, arguments[0].tensor->shape).tensor;
    scale(g, 0x1p-18);
    struct tdc_reference_call call = {
        .definition = tdc_reference_find("Functional.scaled_dot_product_attention"),
        .arguments = arguments,
        .argument_count = 3,
        .keywords = &shared,
        .keyword_count = 1,
        .bounds_for = TDC_F16};
    struct tdc_reference_results results;
    assert_int_equal(tdc_reference_backward(&call, &g, 1, &arena, &results), TDC_OK);
    struct tdc_reference_tensor *b = results.values[2].tensor, *t = like(b, TDC_F16);
    const double *q = arguments[0].tensor->real, *k = arguments[1].tensor->real;
    double weights[HEADS * ROWS][KEYS];
    for (int r = 0; r < HEADS * ROWS; r++) {
        double sum = 0;
        for (int j = 0; j < KEYS; j++) {
            double score = 0;
            for (int c = 0; c < WIDTH; c++)
                score += q[r * WIDTH + c] * k[j * WIDTH + c];
            sum += weights[r][j] = exp(score / sqrt(WIDTH));
        }
        for (int j = 0; j < KEYS; j++)
            weights[r][j] /= sum;
    }
    for (int at = 0; at < KEYS * WIDTH; at++) {
        t->real[at] = 0;
        for (int h = 0; h < HEADS; h++) {
            double sum = 0;
            for (int r = h * ROWS; r < (h + 1) * ROWS; r++)
                sum += weights[r][at / WIDTH] * g->real[r * WIDTH + at % WIDTH];
            t->real[at] = half(t->real[at] + half(sum));
        }
    }
    passes(b, t);
    for (int at = 0; at < KEYS * WIDTH; at++)
        t->real[at] = half(-2 * t->real[at]);
    is_found(b, t);
}

/* alpha on the gradient, or on the product, is an operation of its own. */
static void factors_of_products(void **state)
{
    (void)state;
    enum {
        BATCH = 2,
        M = 5,
        K = 24,
        N = 6
    };
    struct tdc_reference_value arguments[3] = {tensor(TDC_BF16, 3, (const int64_t[]){BATCH, M, N}),
                                               tensor(TDC_BF16, 3, (const int64_t[]){BATCH, M, K}),
                                               tensor(TDC_BF16, 3, (const int64_t[]){BATCH, K, N})};
    const struct tdc_reference_keyword alpha = {"alpha", {.kind = TDC_VALUE_FLOAT, .real = 0.7}};
    struct tdc_reference_tensor *g = tensor(TDC_BF16, 3, arguments[0].tensor->shape).tensor;
    struct tdc_reference_call call = {.definition = tdc_reference_find("Torch.baddbmm"),
                                      .arguments = arguments,
                                      .argument_count = 3,
                                      .keywords = &alpha,
                                      .keyword_count = 1,
                                      .bounds_for = TDC_BF16};
    struct tdc_reference_results results;
    assert_int_equal(tdc_reference_backward(&call, &g, 1, &arena, &results), TDC_OK);
    struct tdc_reference_tensor *b = results.values[1].tensor, *t = like(b, TDC_BF16);
    const double *right = arguments[2].tensor->real;
    for (int i = 0; i < BATCH * M * K; i++) {
        int row = i / K, batch = row / M;
        double sum = 0;
        for (int j = 0; j < N; j++)
            sum += g->real[row * N + j] * right[(batch * K + i % K) * N + j];
        t->real[i] = brain(0.7 * brain(sum));
    }
    passes(b, t);
    scale(t, 1.05);
    is_found(b, t);
}

/* The rows of a bag are exact: one far larger row elsewhere in the table must not hide a fault. */
static void bags_beside_a_large_row(void **state)
{
    (void)state;
    enum {
        LINES = 6,
        WIDTH = 4,
        USED = 8
    };
    struct tdc_reference_value arguments[3] = {{.kind = TDC_VALUE_TENSOR},
                                               tensor(TDC_F32, 2, (const int64_t[]){LINES, WIDTH}),
                                               {.kind = TDC_VALUE_TENSOR}};
    struct tdc_reference_tensor *index =
        tdc_reference_tensor_new(&arena, TDC_I64, 1, (const int64_t[]){USED});
    struct tdc_reference_tensor *offsets =
        tdc_reference_tensor_new(&arena, TDC_I64, 1, (const int64_t[]){2});
    const double *table = arguments[1].tensor->real;
    for (int i = 0; i < USED; i++)
        index->whole[i] = i < 4 ? 5 : i - 4;
    offsets->whole[0] = 0;
    offsets->whole[1] = 4;
    for (int c = 0; c < WIDTH; c++)
        arguments[1].tensor->real[5 * WIDTH + c] = 0x1p24;
    arguments[0].tensor = index;
    arguments[2].tensor = offsets;
    struct tdc_reference_tensor *b =
        reference("Functional.embedding_bag", TDC_F32, arguments, 3, NULL, 0);
    struct tdc_reference_tensor *t = like(b, TDC_F32);
    for (int c = 0; c < WIDTH; c++) {
        float sum = 0;
        for (int i = 0; i < 4; i++)
            sum += (float)table[i * WIDTH + c];
        t->real[c] = 0x1p24;
        t->real[WIDTH + c] = sum / 4;
    }
    passes(b, t);
    t->real[WIDTH] = (float)(t->real[WIDTH] + 1e-4);
    assert_int_equal(tdc_check_bound(b, t).beyond, 1);
}

/* The weights of a mean loss are exact: a heavy class must not hide a fault. */
static void heavy_class_of_a_loss(void **state)
{
    (void)state;
    enum {
        TARGETS = 64,
        CLASSES = 5
    };
    struct tdc_reference_value arguments[3] = {
        tensor(TDC_F32, 2, (const int64_t[]){TARGETS, CLASSES}),
        {.kind = TDC_VALUE_TENSOR},
        tensor(TDC_F32, 1, (const int64_t[]){CLASSES})};
    struct tdc_reference_tensor *target =
        tdc_reference_tensor_new(&arena, TDC_I64, 1, (const int64_t[]){TARGETS});
    double *x = arguments[0].tensor->real, *weight = arguments[2].tensor->real;
    float losses = 0, weights = 0;
    for (int c = 0; c < CLASSES; c++)
        weight[c] = c == 4 ? 1000 : 1;
    for (int i = 0; i < TARGETS; i++) {
        target->whole[i] = i == 7 ? 4 : i % 4;
        for (int c = 0; c < CLASSES; c++)
            x[i * CLASSES + c] = (float)(-2 - x[i * CLASSES + c]);
        float of_target = (float)weight[target->whole[i]];
        losses -= of_target * (float)x[i * CLASSES + target->whole[i]];
        weights += of_target;
    }
    arguments[1].tensor = target;
    arguments[2].tensor->wants_gradient = false;
    struct tdc_reference_tensor *b =
        reference("Functional.nll_loss", TDC_F32, arguments, 3, NULL, 0);
    struct tdc_reference_tensor *t = like(b, TDC_F32);
    t->real[0] = losses / weights;
    passes(b, t);
    t->real[0] = (float)(t->real[0] * 1.00005);
    is_found(b, t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_of_half_convolutions),
        cmocka_unit_test(heads_that_share_in_half),
        cmocka_unit_test(factors_of_products),
        cmocka_unit_test(bags_beside_a_large_row),
        cmocka_unit_test(heavy_class_of_a_loss),
    };
    return cmocka_run_group_tests(tests, open_arena, close_arena);
}
