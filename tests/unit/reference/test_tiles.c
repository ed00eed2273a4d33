/* Convolutions and attention by tiles: what their definitions say, and the same bits with every
 * instruction set and any number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/pair.h"
#include "reference/primitives/vector/panel_softmax.h"
#include "reference/reference.h"

#define MOST_RESULTS 4

static double drawn(uint64_t i)
{
    i = (i + 1) * 0x9e3779b97f4a7c15u;
    i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9u;
    return (double)((i ^ i >> 27) >> 11) * 0x1p-52 - 1;
}

static struct tdc_reference_tensor *tensor(struct tdc_arena *arena, unsigned rank,
                                           const int64_t *shape, uint64_t seed)
{
    struct tdc_reference_tensor *t = tdc_reference_tensor_new(arena, TDC_F64, rank, shape);
    assert_non_null(t);
    for (int64_t i = 0; i < t->count; i++)
        t->real[i] = drawn((seed << 32) + (uint64_t)i);
    t->wants_gradient = true;
    return t;
}

static struct tdc_reference_value whole(int64_t number)
{
    return (struct tdc_reference_value){.kind = TDC_VALUE_INT, .whole = number};
}

static struct tdc_reference_value as_value(struct tdc_reference_tensor *t)
{
    return (struct tdc_reference_value){.kind = TDC_VALUE_TENSOR, .tensor = t};
}

/* The result and the gradients of the tensor arguments, for a drawn gradient of the result. */
struct answer {
    const double *x[MOST_RESULTS];
    int64_t count[MOST_RESULTS];
    const double *gradient;
};

static struct answer answer_of(struct tdc_arena *arena, struct tdc_reference_call *call)
{
    struct answer a = {{NULL}, {0}, NULL};
    struct tdc_reference_results forward, backward;
    assert_int_equal(tdc_reference_forward(call, arena, &forward), TDC_OK);
    struct tdc_reference_tensor *y = forward.values[0].tensor;
    struct tdc_reference_tensor *g = tensor(arena, y->rank, y->shape, 99);
    assert_int_equal(tdc_reference_backward(call, &g, 1, arena, &backward), TDC_OK);
    a.x[0] = y->real;
    a.count[0] = y->count;
    a.gradient = g->real;
    for (size_t i = 0; i < backward.count && i + 1 < MOST_RESULTS; i++) {
        a.x[i + 1] = backward.values[i].tensor->real;
        a.count[i + 1] = backward.values[i].tensor->count;
    }
    return a;
}

/* With every instruction set and one, two and three threads, which must agree to the bit. */
static struct answer same_answer(struct tdc_arena *arena, struct tdc_reference_call *call)
{
    struct answer first = {{NULL}, {0}, NULL};
    int before = omp_get_max_threads();
    for (int v = 0; v < TDC_CPU_VARIANTS; v++)
        for (int threads = 1; threads <= 3; threads++) {
            if (!tdc_cpu_variant_usable((enum tdc_cpu_variant)v))
                continue;
            setenv("TDC_CPU", tdc_cpu_variant_name((enum tdc_cpu_variant)v), 1);
            tdc_cpu_variant_look_again();
            omp_set_num_threads(threads);
            struct answer a = answer_of(arena, call);
            if (first.x[0] == NULL)
                first = a;
            for (int i = 0; i < MOST_RESULTS && a.x[i] != NULL; i++)
                assert_memory_equal(first.x[i], a.x[i], (size_t)a.count[i] * sizeof(double));
        }
    unsetenv("TDC_CPU");
    tdc_cpu_variant_look_again();
    omp_set_num_threads(before);
    return first;
}

static void assert_near(const double *x, const double *wanted, int64_t count, double bound)
{
    for (int64_t i = 0; i < count; i++)
        if (!(fabs(x[i] - wanted[i]) <= bound))
            fail_msg("element %lld is %.17g, not %.17g", (long long)i, x[i], wanted[i]);
}

/* ---- convolutions ---------------------------------------------------------------------------- */

struct layer {
    const char *api;
    unsigned n; /* spatial dimensions */
    int64_t samples, channels, rows, groups;
    int64_t size[3], kernel[3], stride, padding, dilation;
};

static const struct layer layers[] = {
    {"Functional.conv2d", 2, 3, 5, 9, 1, {13, 29}, {3, 3}, 1, 0, 1},
    {"Functional.conv2d", 2, 2, 5, 9, 1, {13, 29}, {3, 3}, 1, 1, 1},
    {"Functional.conv2d", 2, 1, 40, 13, 1, {11, 9}, {3, 3}, 1, 1, 1}, /* longer than a chain */
    {"Functional.conv2d", 2, 2, 3, 17, 1, {20, 23}, {5, 4}, 2, 2, 1},
    {"Functional.conv2d", 2, 2, 4, 6, 2, {17, 19}, {3, 2}, 3, 1, 2},
    {"Functional.conv2d", 2, 1, 3, 8, 1, {16, 24}, {8, 8}, 8, 0, 1}, /* patches */
    {"Functional.conv2d", 2, 1, 3, 4, 1, {9, 9}, {2, 2}, 5, 0, 1},   /* with gaps between them */
    {"Functional.conv2d", 2, 2, 30, 70, 1, {5, 6}, {1, 1}, 1, 0, 1},
    {"Functional.conv2d", 2, 2, 6, 6, 6, {19, 30}, {3, 3}, 1, 1, 1}, /* depthwise */
    {"Functional.conv2d", 2, 2, 6, 6, 6, {19, 30}, {3, 3}, 2, 1, 1},
    {"Functional.conv2d", 2, 1, 3, 6, 3, {40, 30}, {5, 3}, 1, 4, 2},
    {"Functional.conv1d", 1, 2, 4, 5, 1, {300}, {7}, 2, 3, 2},
    {"Functional.conv3d", 3, 1, 2, 3, 1, {6, 7, 9}, {2, 3, 2}, 1, 1, 1},
    {"Functional.conv3d", 3, 1, 4, 4, 2, {6, 5, 9}, {2, 2, 3}, 2, 1, 1},
};

static int64_t product(const int64_t *v, unsigned n)
{
    int64_t p = 1;
    for (unsigned i = 0; i < n; i++)
        p *= v[i];
    return p;
}

/* Coordinates of a flat index. */
static void unflatten(int64_t flat, const int64_t *size, unsigned n, int64_t *at)
{
    for (unsigned i = n; i-- > 0; flat /= size[i])
        at[i] = flat % size[i];
}

/* The sum over all products of the definition: y += x w, dx += g w, dw += g x. */
static void define(const struct layer *l, const double *x, const double *w, const double *g,
                   double *y, double *dx, double *dw)
{
    int64_t count[3];
    for (unsigned i = 0; i < l->n; i++)
        count[i] =
            (l->size[i] + 2 * l->padding - l->dilation * (l->kernel[i] - 1) - 1) / l->stride + 1;
    int64_t windows = product(count, l->n), plane = product(l->size, l->n);
    int64_t kernels = product(l->kernel, l->n), of_group = l->channels / l->groups;
    for (int64_t s = 0; s < l->samples; s++)
        for (int64_t row = 0; row < l->rows; row++)
            for (int64_t window = 0; window < windows; window++)
                for (int64_t c = 0; c < of_group; c++)
                    for (int64_t k = 0; k < kernels; k++) {
                        int64_t at[3], tap[3], flat = 0;
                        bool inside = true;
                        unflatten(window, count, l->n, at);
                        unflatten(k, l->kernel, l->n, tap);
                        for (unsigned i = 0; i < l->n; i++) {
                            int64_t p = at[i] * l->stride + tap[i] * l->dilation - l->padding;
                            inside = inside && p >= 0 && p < l->size[i];
                            flat = flat * l->size[i] + p;
                        }
                        if (!inside)
                            continue;
                        int64_t channel = row / (l->rows / l->groups) * of_group + c;
                        int64_t from = (s * l->channels + channel) * plane + flat;
                        int64_t weight = (row * of_group + c) * kernels + k;
                        int64_t to = (s * l->rows + row) * windows + window;
                        y[to] += x[from] * w[weight];
                        dx[from] += g[to] * w[weight];
                        dw[weight] += g[to] * x[from];
                    }
}

static void check_layer(const struct layer *l)
{
    struct tdc_arena arena;
    tdc_arena_init(&arena, (size_t)1 << 30);
    int64_t image[5] = {l->samples, l->channels}, kernels[5] = {l->rows, l->channels / l->groups};
    memcpy(image + 2, l->size, l->n * sizeof *image);
    memcpy(kernels + 2, l->kernel, l->n * sizeof *kernels);
    struct tdc_reference_tensor *x = tensor(&arena, l->n + 2, image, 1);
    struct tdc_reference_tensor *w = tensor(&arena, l->n + 2, kernels, 2);
    struct tdc_reference_value arguments[] = {as_value(x), as_value(w)};
    struct tdc_reference_keyword keywords[] = {{"stride", whole(l->stride)},
                                               {"padding", whole(l->padding)},
                                               {"dilation", whole(l->dilation)},
                                               {"groups", whole(l->groups)}};
    struct tdc_reference_call call = {.definition = tdc_reference_find(l->api),
                                      .arguments = arguments,
                                      .argument_count = 2,
                                      .keywords = keywords,
                                      .keyword_count = 4};
    struct answer a = same_answer(&arena, &call);
    double *wanted[3];
    for (int i = 0; i < 3; i++)
        wanted[i] = tdc_arena_zeroed(&arena, (size_t)a.count[i], sizeof(double));
    define(l, x->real, w->real, a.gradient, wanted[0], wanted[1], wanted[2]);
    for (int i = 0; i < 3; i++)
        assert_near(a.x[i], wanted[i], a.count[i], 1e-12);
    tdc_arena_free(&arena);
}

static void convolutions_are_what_they_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        check_layer(&layers[i]);
}

/* ---- attention ------------------------------------------------------------------------------- */

struct attention {
    int64_t heads, shared, rows, columns, depth, width;
    bool causal;
};

static const struct attention attentions[] = {
    {2, 1, 3, 5, 4, 3, false},
    {1, 1, 250, 270, 5, 6, false}, /* several blocks of queries and keys */
    {2, 2, 130, 300, 3, 2, false}, /* heads that share keys */
    {1, 1, 260, 270, 4, 3, true},
    {3, 1, 1, 300, 8, 8, false},
    {1, 1, 4, 9, 300, 3, false}, /* longer than a chain */
};

/* One head by the definition. */
static void define_head(const struct attention *t, const double *q, const double *k,
                        const double *v, const double *g, double *y, double *dq, double *dk,
                        double *dv)
{
    int64_t n = t->columns;
    double *w = calloc((size_t)n, sizeof *w), *d = calloc((size_t)n, sizeof *d);
    assert_true(w != NULL && d != NULL);
    double scale = 1 / sqrt((double)t->depth);
    for (int64_t i = 0; i < t->rows; i++) {
        int64_t seen = t->causal && i + 1 < n ? i + 1 : n;
        double sum = 0, mean = 0;
        for (int64_t j = 0; j < seen; j++) {
            double score = 0;
            for (int64_t c = 0; c < t->depth; c++)
                score += q[i * t->depth + c] * k[j * t->depth + c];
            sum += w[j] = exp(score * scale);
        }
        for (int64_t j = 0; j < seen; j++) {
            w[j] /= sum;
            d[j] = 0;
            for (int64_t c = 0; c < t->width; c++) {
                y[i * t->width + c] += w[j] * v[j * t->width + c];
                dv[j * t->width + c] += w[j] * g[i * t->width + c];
                d[j] += g[i * t->width + c] * v[j * t->width + c];
            }
            mean += w[j] * d[j];
        }
        for (int64_t j = 0; j < seen; j++)
            for (int64_t c = 0; c < t->depth; c++) {
                double slope = w[j] * (d[j] - mean) * scale;
                dq[i * t->depth + c] += slope * k[j * t->depth + c];
                dk[j * t->depth + c] += slope * q[i * t->depth + c];
            }
    }
    free(w);
    free(d);
}

static struct answer attend(struct tdc_arena *arena, const struct attention *t,
                            struct tdc_reference_tensor *x[3], bool once)
{
    static struct tdc_reference_keyword keywords[] = {
        {"is_causal", {.kind = TDC_VALUE_BOOL, .whole = 0}},
        {"enable_gqa", {.kind = TDC_VALUE_BOOL, .whole = 1}}};
    keywords[0].value.whole = t->causal;
    struct tdc_reference_value arguments[] = {as_value(x[0]), as_value(x[1]), as_value(x[2])};
    struct tdc_reference_call call = {
        .definition = tdc_reference_find("Functional.scaled_dot_product_attention"),
        .arguments = arguments,
        .argument_count = 3,
        .keywords = keywords,
        .keyword_count = 2};
    return once ? answer_of(arena, &call) : same_answer(arena, &call);
}

static void operands(struct tdc_arena *arena, const struct attention *t,
                     struct tdc_reference_tensor *x[3])
{
    x[0] = tensor(arena, 4, (int64_t[]){1, t->heads * t->shared, t->rows, t->depth}, 1);
    x[1] = tensor(arena, 4, (int64_t[]){1, t->heads, t->columns, t->depth}, 2);
    x[2] = tensor(arena, 4, (int64_t[]){1, t->heads, t->columns, t->width}, 3);
}

static void check_attention(const struct attention *t)
{
    struct tdc_arena arena;
    struct tdc_reference_tensor *x[3];
    tdc_arena_init(&arena, (size_t)1 << 30);
    operands(&arena, t, x);
    struct answer a = attend(&arena, t, x, false);
    double *wanted[4];
    for (int i = 0; i < 4; i++)
        wanted[i] = tdc_arena_zeroed(&arena, (size_t)a.count[i], sizeof(double));
    for (int64_t u = 0; u < t->heads * t->shared; u++) {
        int64_t row = u * t->rows, key = u / t->shared * t->columns;
        define_head(t, x[0]->real + row * t->depth, x[1]->real + key * t->depth,
                    x[2]->real + key * t->width, a.gradient + row * t->width,
                    wanted[0] + row * t->width, wanted[1] + row * t->depth,
                    wanted[2] + key * t->depth, wanted[3] + key * t->width);
    }
    for (int i = 0; i < 4; i++)
        assert_near(a.x[i], wanted[i], a.count[i], 1e-12);
    tdc_arena_free(&arena);
}

static void attention_is_what_it_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof attentions / sizeof *attentions; i++)
        check_attention(&attentions[i]);
}

/* What a band hides is passed over only where it would have added nothing: a NaN behind it is felt,
 * as it is by weights of 0 times NaN. */
static void hidden_nan_is_felt(void **state)
{
    (void)state;
    const struct attention t = {1, 1, 300, 600, 4, 4, true};
    for (int which = 1; which <= 2; which++) {
        struct tdc_arena arena;
        struct tdc_reference_tensor *x[3];
        tdc_arena_init(&arena, (size_t)1 << 30);
        operands(&arena, &t, x);
        x[which]->real[x[which]->count - 1] = (double)NAN; /* of the last key, that nobody sees */
        struct answer a = attend(&arena, &t, x, true);
        for (int64_t i = 3; i < a.count[0]; i += 4)
            assert_true(isnan(a.x[0][i]));
        tdc_arena_free(&arena);
    }
}

/* ---- the exponential ------------------------------------------------------------------------- */

static void exponentials_are_near(void **state)
{
    (void)state;
    double worst = 0;
    for (int i = 0; i <= 200000; i++) {
        double x = -700.0 * i / 200000;
        long double exact = expl((long double)x);
        double ulp = nextafter((double)exact, INFINITY) - (double)exact;
        double off = (double)(fabsl((long double)tdc_exp_down(x) - exact) / (long double)ulp);
        worst = off > worst ? off : worst;
    }
    assert_true(worst < 1);
    assert_true(tdc_exp_down(0) == 1 && tdc_exp_down(-709) == 0);
    assert_true(tdc_exp_down(-(double)INFINITY) == 0 && isnan(tdc_exp_down((double)NAN)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions_are_what_they_say),
        cmocka_unit_test(attention_is_what_it_says),
        cmocka_unit_test(hidden_nan_is_felt),
        cmocka_unit_test(exponentials_are_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
