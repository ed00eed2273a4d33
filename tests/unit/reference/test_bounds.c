/* Bounds of the reference: float32 arithmetic in any order stays within them, a fault does not. */
#include <math.h>
#include <string.h>

#include "tests/unit/reference/bound_check.h"

#define ROWS    6
#define TERMS   96
#define COLUMNS 8
#define MOST    4096
/* Of the largest element. What is beyond it is found in float32, whatever the class. */
#define FAULT 2e-4

/* One wrong element, all elements scaled, all rounded to bfloat16. */
static void faults_are_found(const struct tdc_reference_tensor *b, struct tdc_reference_tensor *t)
{
    double top = 0;
    for (int64_t i = 0; i < b->count; i++)
        top = fmax(top, fabs(b->real[i]));
    int64_t at = b->count / 2;
    double kept = t->real[at];
    t->real[at] = (float)(kept + FAULT * top);
    assert_int_equal(tdc_check_bound(b, t).beyond, 1);
    t->real[at] = kept;
    for (int64_t i = 0; i < t->count; i++)
        t->real[i] = (float)(t->real[i] * 1.0005);
    assert_true(tdc_check_bound(b, t).beyond > 0);
    for (int64_t i = 0; i < t->count; i++)
        t->real[i] = tdc_reference_round(b->real[i], TDC_BF16);
    assert_true(tdc_check_bound(b, t).beyond > 0);
}

/* ---- float32, in an order drawn anew ----------------------------------------------------------
 */

static float summed(const float *terms, int n)
{
    float left[MOST], sum = 0;
    memcpy(left, terms, (size_t)n * sizeof *left);
    for (int i = n; i > 0; i--) {
        int at = (int)((drawn() + 1) / 2 * i) % i;
        sum += left[at];
        left[at] = left[i - 1];
    }
    return sum;
}

/* Of n elements that lie `step` apart. */
static float dot(const double *x, int64_t x_step, const double *y, int64_t y_step, int n)
{
    float terms[MOST];
    for (int i = 0; i < n; i++)
        terms[i] = (float)x[i * x_step] * (float)y[i * y_step];
    return summed(terms, n);
}

static void softened(const float *x, float *y, int n)
{
    float top = x[0];
    for (int i = 1; i < n; i++)
        top = fmaxf(top, x[i]);
    for (int i = 0; i < n; i++)
        y[i] = expf(x[i] - top);
    float sum = summed(y, n);
    for (int i = 0; i < n; i++)
        y[i] /= sum;
}

/* ---- classes ----------------------------------------------------------------------------------
 */

static void elementwise(void **state)
{
    (void)state;
    struct tdc_reference_value x = tensor(TDC_F32, 1, (const int64_t[]){TERMS});
    struct tdc_reference_tensor *b = reference("Torch.exp", TDC_F32, &x, 1, NULL, 0);
    struct tdc_reference_tensor *t = like(b, TDC_F32);
    for (int i = 0; i < TERMS; i++)
        t->real[i] = expf((float)x.tensor->real[i]);
    passes(b, t);
    faults_are_found(b, t);
}

static void sums(void **state)
{
    (void)state;
    struct tdc_reference_value arguments[2] = {tensor(TDC_F32, 2, (const int64_t[]){ROWS, TERMS}),
                                               whole(1)};
    struct tdc_reference_tensor *b = reference("Torch.sum", TDC_F32, arguments, 2, NULL, 0);
    struct tdc_reference_tensor *t = like(b, TDC_F32);
    const double one = 1;
    for (int i = 0; i < ROWS; i++)
        t->real[i] = dot(arguments[0].tensor->real + i * TERMS, 1, &one, 0, TERMS);
    passes(b, t);
    faults_are_found(b, t);
}

static void products(void **state)
{
    (void)state;
    struct tdc_reference_value arguments[2] = {
        tensor(TDC_F32, 2, (const int64_t[]){ROWS, TERMS}),
        tensor(TDC_F32, 2, (const int64_t[]){TERMS, COLUMNS})};
    const double *p = arguments[0].tensor->real, *q = arguments[1].tensor->real;
    struct tdc_reference_tensor *b = reference("Torch.matmul", TDC_F32, arguments, 2, NULL, 0);
    struct tdc_reference_tensor *t = like(b, TDC_F32);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        t->real[i] = dot(p + i / COLUMNS * TERMS, 1, q + i % COLUMNS, COLUMNS, TERMS);
    passes(b, t);
    faults_are_found(b, t);
    /* the gradient of the first: g q^T */
    struct tdc_reference_tensor *g = tensor(TDC_F32, 2, b->shape).tensor;
    b = reference("Torch.matmul", TDC_F32, arguments, 2, g, 0);
    t = like(b, TDC_F32);
    for (int i = 0; i < ROWS * TERMS; i++)
        t->real[i] = dot(g->real + i / TERMS * COLUMNS, 1, q + i % TERMS * COLUMNS, 1, COLUMNS);
    passes(b, t);
    faults_are_found(b, t);
}

/* A product may be stored in bfloat16 before its bias is added; five hundredths are a fault. */
static void biased_product(void **state)
{
    (void)state;
    struct tdc_reference_value arguments[3] = {
        tensor(TDC_BF16, 2, (const int64_t[]){ROWS, TERMS}),
        tensor(TDC_BF16, 2, (const int64_t[]){COLUMNS, TERMS}),
        tensor(TDC_BF16, 1, (const int64_t[]){COLUMNS})};
    struct tdc_reference_tensor *b =
        reference("Functional.linear", TDC_BF16, arguments, 3, NULL, 0);
    struct tdc_reference_tensor *t = like(b, TDC_BF16);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        double product = dot(arguments[0].tensor->real + i / COLUMNS * TERMS, 1,
                             arguments[1].tensor->real + i % COLUMNS * TERMS, 1, TERMS);
        t->real[i] = tdc_reference_round(tdc_reference_round(product, TDC_BF16) +
                                             arguments[2].tensor->real[i % COLUMNS],
                                         TDC_BF16);
    }
    passes(b, t);
    for (int64_t i = 0; i < t->count; i++)
        t->real[i] = tdc_reference_round(t->real[i] * 1.05, TDC_BF16);
    assert_true(tdc_check_bound(b, t).beyond > 0);
}

/* Over a line of three channels with a kernel of three; its bias gets equal gradients, which a
 * chain of additions rounds the same way. */
static void convolutions(void **state)
{
    (void)state;
    enum {
        CHANNELS = 3,
        LENGTH = 1026,
        OUT = LENGTH - 2
    };
    struct tdc_reference_value arguments[3] = {
        tensor(TDC_F32, 3, (const int64_t[]){1, CHANNELS, LENGTH}),
        tensor(TDC_F32, 3, (const int64_t[]){2, CHANNELS, 3}),
        tensor(TDC_F32, 1, (const int64_t[]){2})};
    struct tdc_reference_tensor *b = reference("Functional.conv1d", TDC_F32, arguments, 3, NULL, 0);
    struct tdc_reference_tensor *t = like(b, TDC_F32);
    for (int i = 0; i < 2 * OUT; i++) {
        float terms[CHANNELS * 3 + 1];
        for (int k = 0; k < CHANNELS * 3; k++)
            terms[k] = (float)arguments[0].tensor->real[k / 3 * LENGTH + i % OUT + k % 3] *
                       (float)arguments[1].tensor->real[i / OUT * CHANNELS * 3 + k];
        terms[CHANNELS * 3] = (float)arguments[2].tensor->real[i / OUT];
        t->real[i] = summed(terms, CHANNELS * 3 + 1);
    }
    passes(b, t);
    faults_are_found(b, t);
    struct tdc_reference_tensor *g = like(b, TDC_F32);
    for (int i = 0; i < 2 * OUT; i++)
        g->real[i] = 0.1F;
    b = reference("Functional.conv1d", TDC_F32, arguments, 3, g, 2);
    t = like(b, TDC_F32);
    const double one = 1;
    t->real[0] = t->real[1] = dot(g->real, 1, &one, 0, OUT);
    passes(b, t);
    t->real[0] *= 1.005;
    assert_int_equal(tdc_check_bound(b, t).beyond, 1);
}

static void norms(void **state)
{
    (void)state;
    struct tdc_reference_value arguments[2] = {tensor(TDC_F32, 2, (const int64_t[]){ROWS, TERMS}),
                                               whole(TERMS)};
    struct tdc_reference_tensor *b =
        reference("Functional.layer_norm", TDC_F32, arguments, 2, NULL, 0);
    struct tdc_reference_tensor *t = like(b, TDC_F32);
    const double one = 1;
    for (int r = 0; r < ROWS; r++) {
        const double *x = arguments[0].tensor->real + r * TERMS;
        float mean = dot(x, 1, &one, 0, TERMS) / TERMS, squares[TERMS];
        for (int i = 0; i < TERMS; i++)
            squares[i] = ((float)x[i] - mean) * ((float)x[i] - mean);
        float scale = 1 / sqrtf(summed(squares, TERMS) / TERMS + 1e-5F);
        for (int i = 0; i < TERMS; i++)
            t->real[r * TERMS + i] = (float)x[i] * scale - mean * scale;
    }
    passes(b, t);
    faults_are_found(b, t);
}

/* Equal gradients, added in bfloat16 until the sum stops growing; a sum of nothing is a fault where
 * it is made of few. */
static void gradients_of_norms(void **state)
{
    (void)state;
    for (int64_t rows = 32; rows <= 512; rows += 480) {
        struct tdc_reference_value arguments[4] = {
            tensor(TDC_BF16, 2, (const int64_t[]){rows, COLUMNS}), whole(COLUMNS),
            tensor(TDC_BF16, 1, (const int64_t[]){COLUMNS}),
            tensor(TDC_BF16, 1, (const int64_t[]){COLUMNS})};
        struct tdc_reference_tensor *g = like(arguments[0].tensor, TDC_BF16);
        for (int64_t i = 0; i < g->count; i++)
            g->real[i] = tdc_reference_round(0.1, TDC_BF16);
        struct tdc_reference_tensor *b =
            reference("Functional.layer_norm", TDC_BF16, arguments, 4, g, 2);
        struct tdc_reference_tensor *t = like(b, TDC_BF16);
        double sum = 0;
        for (int64_t i = 0; i < rows; i++)
            sum = tdc_reference_round(sum + g->real[0], TDC_BF16);
        for (int64_t i = 0; i < t->count; i++)
            t->real[i] = sum;
        passes(b, t);
        t->real[0] = 0;
        assert_int_equal(tdc_check_bound(b, t).beyond, rows == 32);
    }
}

/* The slope x / 3 + 1 / 2 vanishes at -1.5. */
static void cancelling_slope(void **state)
{
    (void)state;
    struct tdc_reference_value x = tensor(TDC_F32, 1, (const int64_t[]){TERMS});
    for (int i = 0; i < TERMS; i++)
        x.tensor->real[i] = (float)(-1.5 + 1e-4 * x.tensor->real[i]);
    struct tdc_reference_tensor *g = tensor(TDC_F32, 1, x.tensor->shape).tensor;
    struct tdc_reference_tensor *b = reference("Functional.hardswish", TDC_F32, &x, 1, g, 0);
    struct tdc_reference_tensor *t = like(b, TDC_F32);
    for (int i = 0; i < TERMS; i++)
        t->real[i] = (float)g->real[i] * ((float)x.tensor->real[i] / 3 + 0.5F);
    passes(b, t);
    t->real[1] = (float)(t->real[1] + 1e-5);
    assert_int_equal(tdc_check_bound(b, t).beyond, 1);
}

static void soft_maxima(void **state)
{
    (void)state;
    struct tdc_reference_value arguments[2] = {tensor(TDC_F32, 2, (const int64_t[]){ROWS, TERMS}),
                                               whole(1)};
    struct tdc_reference_tensor *b = reference("Torch.softmax", TDC_F32, arguments, 2, NULL, 0);
    struct tdc_reference_tensor *t = like(b, TDC_F32);
    for (int r = 0; r < ROWS; r++) {
        float x[TERMS], y[TERMS];
        for (int i = 0; i < TERMS; i++)
            x[i] = (float)arguments[0].tensor->real[r * TERMS + i];
        softened(x, y, TERMS);
        for (int i = 0; i < TERMS; i++)
            t->real[r * TERMS + i] = y[i];
    }
    passes(b, t);
    faults_are_found(b, t);
}

/* In float32, and in bfloat16 with rounded weights. */
static void attention(tdc_dtype dtype)
{
    struct tdc_reference_value arguments[3] = {
        tensor(dtype, 3, (const int64_t[]){1, ROWS, COLUMNS}),
        tensor(dtype, 3, (const int64_t[]){1, TERMS, COLUMNS}),
        tensor(dtype, 3, (const int64_t[]){1, TERMS, COLUMNS})};
    const double *q = arguments[0].tensor->real, *k = arguments[1].tensor->real;
    struct tdc_reference_tensor *b =
        reference("Functional.scaled_dot_product_attention", dtype, arguments, 3, NULL, 0);
    struct tdc_reference_tensor *t = like(b, dtype);
    for (int r = 0; r < ROWS; r++) {
        float scores[TERMS], weights[TERMS];
        double wide[TERMS];
        for (int j = 0; j < TERMS; j++)
            scores[j] = dot(q + r * COLUMNS, 1, k + j * COLUMNS, 1, COLUMNS) / sqrtf(COLUMNS);
        softened(scores, weights, TERMS);
        for (int j = 0; j < TERMS; j++)
            wide[j] = tdc_reference_round((double)weights[j], dtype);
        for (int c = 0; c < COLUMNS; c++)
            t->real[r * COLUMNS + c] = tdc_reference_round(
                (double)dot(wide, 1, arguments[2].tensor->real + c, COLUMNS, TERMS), dtype);
    }
    passes(b, t);
    if (dtype == TDC_F32)
        faults_are_found(b, t);
    for (int64_t i = 0; i < t->count; i++)
        t->real[i] = tdc_reference_round(b->real[i] * 1.05, dtype);
    assert_true(tdc_check_bound(b, t).beyond > 0);
}

static void attentions(void **state)
{
    (void)state;
    attention(TDC_F32);
    attention(TDC_BF16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elementwise),        cmocka_unit_test(sums),
        cmocka_unit_test(products),           cmocka_unit_test(biased_product),
        cmocka_unit_test(convolutions),       cmocka_unit_test(norms),
        cmocka_unit_test(gradients_of_norms), cmocka_unit_test(cancelling_slope),
        cmocka_unit_test(soft_maxima),        cmocka_unit_test(attentions),
    };
    return cmocka_run_group_tests(tests, open_arena, close_arena);
}
