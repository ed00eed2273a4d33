/* The reference where golden dumps do not reach: special values, refusals, limits, large sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "reference/primitives/matrix/gemm.h"
#include "reference/reference.h"

#define LIMIT ((size_t)64 << 20)

struct bench {
    struct tdc_arena arena;
    struct tdc_reference_results results;
};

static int start(void **state)
{
    static struct bench bench;
    tdc_arena_init(&bench.arena, LIMIT);
    *state = &bench;
    return 0;
}

static int stop(void **state)
{
    tdc_arena_free(&((struct bench *)*state)->arena);
    return 0;
}

static struct tdc_reference_value vector(struct bench *b, tdc_dtype dtype, int64_t n,
                                         const double *values)
{
    struct tdc_reference_tensor *t = tdc_reference_tensor_new(&b->arena, dtype, 1, &n);
    assert_non_null(t);
    for (int64_t i = 0; i < n; i++) {
        if (tdc_dtype_is_floating(dtype))
            t->real[i] = values[i];
        else
            t->whole[i] = (int64_t)values[i];
    }
    t->wants_gradient = tdc_dtype_is_floating(dtype);
    return (struct tdc_reference_value){.kind = TDC_VALUE_TENSOR, .tensor = t};
}

static struct tdc_reference_value whole(int64_t v)
{
    return (struct tdc_reference_value){.kind = TDC_VALUE_INT, .whole = v};
}

static tdc_status forward(struct bench *b, const char *api,
                          const struct tdc_reference_value *arguments, size_t count)
{
    struct tdc_reference_call call = {
        .definition = tdc_reference_find(api), .arguments = arguments, .argument_count = count};
    assert_non_null(call.definition);
    return tdc_reference_forward(&call, &b->arena, &b->results);
}

static tdc_status backward(struct bench *b, const char *api,
                           const struct tdc_reference_value *arguments, size_t count,
                           struct tdc_reference_tensor *gradient)
{
    struct tdc_reference_call call = {
        .definition = tdc_reference_find(api), .arguments = arguments, .argument_count = count};
    assert_non_null(call.definition);
    return tdc_reference_backward(&call, &gradient, 1, &b->arena, &b->results);
}

static const double *reals(struct bench *b, size_t i)
{
    assert_true(i < b->results.count);
    assert_int_equal(b->results.values[i].kind, TDC_VALUE_TENSOR);
    return b->results.values[i].tensor->real;
}

static void names_of_all_frameworks_are_found(void **state)
{
    (void)state;
    static const char *const same[] = {"Mint.add", "Tensor.add_", "Tensor.__iadd__", "Torch.add"};
    for (int i = 0; i < 4; i++)
        assert_ptr_equal(tdc_reference_find(same[i]), tdc_reference_find("Tensor.add"));
    assert_null(tdc_reference_find("Mint.no_such_api"));
    assert_null(tdc_reference_find("Nobody.add"));
    assert_null(tdc_reference_find("add"));
    assert_null(tdc_reference_find(""));
    assert_true(tdc_reference_is_random(tdc_reference_find("Mint.rand")));
    assert_true(tdc_reference_is_conversion(tdc_reference_find("Tensor.half")));
    assert_false(tdc_reference_has_gradient(tdc_reference_find("Mint.eq")));
}

static bool count_names(void *context, const char *api, const char *family,
                        const struct tdc_operator *definition)
{
    assert_non_null(family);
    assert_non_null(definition);
    assert_non_null(tdc_reference_find(api));
    ++*(size_t *)context;
    return true;
}

static void every_listed_name_is_found(void **state)
{
    (void)state;
    size_t count = 0;
    tdc_reference_list(count_names, &count);
    assert_true(count > 1000);
}

static void ties_share_the_gradient(void **state)
{
    struct bench *b = *state;
    struct tdc_reference_value x = vector(b, TDC_F32, 4, (double[]){3, 1, 3, 2});
    struct tdc_reference_tensor *one = tdc_reference_tensor_new(&b->arena, TDC_F32, 0, NULL);
    one->real[0] = 1;
    assert_int_equal(backward(b, "Mint.max", &x, 1, one), TDC_OK);
    const double wanted[] = {0.5, 0, 0.5, 0};
    assert_memory_equal(reals(b, 0), wanted, sizeof wanted);
    /* zeros in a product: no division */
    struct tdc_reference_value z = vector(b, TDC_F32, 3, (double[]){2, 0, 5});
    assert_int_equal(backward(b, "Mint.prod", &z, 1, one), TDC_OK);
    const double others[] = {0, 10, 0};
    assert_memory_equal(reals(b, 0), others, sizeof others);
}

static void nan_wins_extremes(void **state)
{
    struct bench *b = *state;
    struct tdc_reference_value arguments[] = {vector(b, TDC_F64, 3, (double[]){1, (double)NAN, 2}),
                                              whole(0)};
    static const char *const names[] = {"Mint.max", "Mint.min", "Mint.median"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(forward(b, names[i], arguments, 2), TDC_OK);
        assert_true(isnan(reals(b, 0)[0]));
        assert_int_equal(b->results.values[1].tensor->whole[0], 1);
    }
}

static void integers_wrap_at_their_width(void **state)
{
    struct bench *b = *state;
    struct tdc_reference_value arguments[] = {vector(b, TDC_I8, 2, (double[]){127, -128}),
                                              whole(1)};
    assert_int_equal(forward(b, "Mint.add", arguments, 2), TDC_OK);
    const struct tdc_reference_tensor *y = b->results.values[0].tensor;
    assert_int_equal(y->dtype, TDC_I8);
    assert_int_equal(y->whole[0], -128);
    assert_int_equal(y->whole[1], -127);
    arguments[1] = whole(0);
    assert_int_equal(forward(b, "Mint.remainder", arguments, 2), TDC_ERR_ARGUMENT);
}

static void conversions_round_to_their_dtype(void **state)
{
    struct bench *b = *state;
    struct tdc_reference_value x =
        vector(b, TDC_F32, 4, (double[]){1 + 0x1p-11, 1 + 3 * 0x1p-11, 70000, 0x1p-25});
    assert_int_equal(forward(b, "Tensor.half", &x, 1), TDC_OK);
    assert_int_equal(b->results.values[0].tensor->dtype, TDC_F16);
    assert_true(reals(b, 0)[0] == 1 && reals(b, 0)[1] == 1 + 0x1p-9);
    assert_true(isinf(reals(b, 0)[2]) && reals(b, 0)[3] == 0);
    assert_true(tdc_reference_round(1 + 0x1p-8, TDC_BF16) == 1);
    assert_true(isinf(tdc_reference_round(0x1.ffp127, TDC_BF16)));
    assert_true(tdc_reference_round(0x1p-24, TDC_F16) == 0x1p-24);
}

static void wrong_calls_are_refused(void **state)
{
    struct bench *b = *state;
    struct tdc_reference_value three = vector(b, TDC_F32, 3, (double[]){1, 2, 3});
    struct tdc_reference_value four = vector(b, TDC_F32, 4, (double[]){1, 2, 3, 4});
    struct tdc_reference_value text = {.kind = TDC_VALUE_TEXT, .text = "xy"};
    struct tdc_reference_value index = vector(b, TDC_I64, 1, (double[]){7});
    const struct {
        const char *api;
        struct tdc_reference_value arguments[3];
        size_t count;
    } calls[] = {
        {"Mint.add", {three, four}, 2},
        {"Mint.add", {three}, 1},
        {"Mint.add", {three, text}, 2},
        {"Mint.abs", {three, three}, 2},
        {"Mint.sum", {three, whole(5)}, 2},
        {"Mint.reshape", {three, whole(2)}, 2},
        {"Mint.narrow", {three, whole(0), whole(INT64_MAX)}, 3},
        {"Mint.index_select", {three, whole(0), index}, 3},
        {"Mint.gather", {three, whole(0), index}, 3},
        {"Mint.topk", {three, whole(4)}, 2},
        {"Mint.matmul", {three, four}, 2},
        {"Mint.tile", {three, whole(-1)}, 2},
        {"Mint.inverse", {three}, 1},
        {"Mint.conv2d", {three, four}, 2},
        {"Mint.chunk", {three, whole(0)}, 2},
        {"Mint.eye", {whole(-3)}, 1},
        {"Torch.einsum", {text, three}, 2},
        {"MintFunctional.embedding", {index, three}, 2},
        {"MintFunctional.softmax", {three, whole(3)}, 2},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        tdc_status status = forward(b, calls[i].api, calls[i].arguments, calls[i].count);
        if (status != TDC_ERR_ARGUMENT && status != TDC_ERR_UNSUPPORTED)
            fail_msg("%s: status %d", calls[i].api, (int)status);
        assert_true(b->results.reason[0] != 0);
        assert_int_equal(b->results.count, 0);
    }
}

static void sizes_that_do_not_fit_are_refused(void **state)
{
    struct bench *b = *state;
    struct tdc_reference_value huge = whole((int64_t)1 << 40);
    assert_int_equal(forward(b, "Mint.ones", &huge, 1), TDC_ERR_MEMORY);
    struct tdc_reference_value shape[] = {whole((int64_t)1 << 40), whole((int64_t)1 << 40)};
    assert_int_equal(forward(b, "Mint.ones", shape, 2), TDC_ERR_MEMORY);
    struct tdc_reference_value x[] = {vector(b, TDC_F32, 2, (double[]){1, 2}),
                                      whole((int64_t)1 << 62)};
    assert_int_equal(forward(b, "Mint.tile", x, 2), TDC_ERR_MEMORY);
    struct tdc_reference_value list = {.kind = TDC_VALUE_LIST}, nest[8];
    for (int i = 0; i < 8; i++) {
        nest[i] = list;
        nest[i].list.values = i == 0 ? NULL : &nest[i - 1];
        nest[i].list.count = i != 0;
    }
    assert_int_equal(forward(b, "Mint.cat", &nest[7], 1), TDC_ERR_UNSUPPORTED);
}

static void gradients_are_checked(void **state)
{
    struct bench *b = *state;
    struct tdc_reference_value x = vector(b, TDC_F32, 3, (double[]){1, 2, 3});
    struct tdc_reference_value g = vector(b, TDC_F32, 4, (double[]){1, 1, 1, 1});
    assert_int_equal(backward(b, "Mint.exp", &x, 1, g.tensor), TDC_ERR_ARGUMENT);
    assert_int_equal(backward(b, "Mint.isfinite", &x, 1, x.tensor), TDC_ERR_ARGUMENT);
    assert_int_equal(backward(b, "Mint.exp", &x, 1, NULL), TDC_OK);
    assert_int_equal(b->results.values[0].kind, TDC_VALUE_NULL);
    assert_int_equal(backward(b, "Mint.floor", &x, 1, x.tensor), TDC_OK);
    const double zeros[3] = {0};
    assert_memory_equal(reals(b, 0), zeros, sizeof zeros);
}

static void subscripts_read_and_write(void **state)
{
    struct bench *b = *state;
    struct tdc_reference_value bounds[3] = {whole(1), {.kind = TDC_VALUE_NULL}, whole(2)};
    struct tdc_reference_value slice = {.kind = TDC_VALUE_SLICE};
    slice.list.values = bounds;
    slice.list.count = 3;
    struct tdc_reference_value x = vector(b, TDC_F32, 5, (double[]){1, 2, 3, 4, 5});
    struct tdc_reference_value mask = vector(b, TDC_BOOL, 5, (double[]){1, 0, 0, 0, 1});
    assert_int_equal(forward(b, "Tensor.__getitem__", (struct tdc_reference_value[]){x, slice}, 2),
                     TDC_OK);
    assert_int_equal(b->results.values[0].tensor->count, 2);
    assert_true(reals(b, 0)[0] == 2 && reals(b, 0)[1] == 4);
    struct tdc_reference_value write[] = {x, mask, whole(9)};
    assert_int_equal(forward(b, "Tensor.__setitem__", write, 3), TDC_OK);
    const double wanted[] = {9, 2, 3, 4, 9};
    assert_memory_equal(reals(b, 0), wanted, sizeof wanted);
    /* the gradient of what was overwritten is zero */
    struct tdc_reference_value g = vector(b, TDC_F32, 5, (double[]){1, 1, 1, 1, 1});
    assert_int_equal(backward(b, "Tensor.__setitem__", write, 3, g.tensor), TDC_OK);
    const double kept[] = {0, 1, 1, 1, 0};
    assert_memory_equal(reals(b, 0), kept, sizeof kept);
}

static void einsum_takes_diagonals_and_sums(void **state)
{
    struct bench *b = *state;
    struct tdc_reference_value m = vector(b, TDC_F64, 4, (double[]){1, 2, 3, 4});
    m.tensor->rank = 2;
    m.tensor->shape[0] = m.tensor->shape[1] = 2;
    struct tdc_reference_value trace = {.kind = TDC_VALUE_TEXT, .text = "ii->"};
    struct tdc_reference_value square = {.kind = TDC_VALUE_TEXT, .text = "ij,jk->ki"};
    assert_int_equal(forward(b, "Torch.einsum", (struct tdc_reference_value[]){trace, m}, 2),
                     TDC_OK);
    assert_true(b->results.values[0].tensor->rank == 0 && reals(b, 0)[0] == 5);
    assert_int_equal(forward(b, "Torch.einsum", (struct tdc_reference_value[]){square, m, m}, 3),
                     TDC_OK);
    const double wanted[] = {7, 15, 10, 22};
    assert_memory_equal(reals(b, 0), wanted, sizeof wanted);
}

/* Panels, edges and both transpositions against the definition. */
static void products_of_odd_sizes(void **state)
{
    struct bench *b = *state;
    const int64_t sizes[][3] = {{1, 1, 1}, {5, 13, 3}, {67, 41, 300}, {130, 29, 7}, {3, 800, 17}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int64_t m = sizes[s][0], n = sizes[s][1], k = sizes[s][2];
        double *a = tdc_arena_take(&b->arena, (size_t)(m * k) * sizeof *a);
        double *c = tdc_arena_take(&b->arena, (size_t)(k * n) * sizeof *c);
        double *y = tdc_arena_take(&b->arena, (size_t)(m * n) * sizeof *y);
        for (int64_t i = 0; i < m * k; i++)
            a[i] = sin((double)i);
        for (int64_t i = 0; i < k * n; i++)
            c[i] = cos((double)(3 * i));
        for (int way = 0; way < 4; way++) {
            bool ta = way & 1, tb = way & 2;
            tdc_gemm(m, n, k, (struct tdc_matrix){a, ta ? m : k, ta},
                     (struct tdc_matrix){c, tb ? k : n, tb}, y, n, false);
            for (int64_t i = 0; i < m; i++)
                for (int64_t j = 0; j < n; j++) {
                    long double sum = 0;
                    for (int64_t p = 0; p < k; p++)
                        sum += (long double)a[ta ? p * m + i : i * k + p] *
                               c[tb ? j * k + p : p * n + j];
                    assert_true(fabs(y[i * n + j] - (double)sum) < 1e-12);
                }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_all_frameworks_are_found),
        cmocka_unit_test(every_listed_name_is_found),
        cmocka_unit_test_setup_teardown(ties_share_the_gradient, start, stop),
        cmocka_unit_test_setup_teardown(nan_wins_extremes, start, stop),
        cmocka_unit_test_setup_teardown(integers_wrap_at_their_width, start, stop),
        cmocka_unit_test_setup_teardown(conversions_round_to_their_dtype, start, stop),
        cmocka_unit_test_setup_teardown(wrong_calls_are_refused, start, stop),
        cmocka_unit_test_setup_teardown(sizes_that_do_not_fit_are_refused, start, stop),
        cmocka_unit_test_setup_teardown(gradients_are_checked, start, stop),
        cmocka_unit_test_setup_teardown(subscripts_read_and_write, start, stop),
        cmocka_unit_test_setup_teardown(einsum_takes_diagonals_and_sums, start, stop),
        cmocka_unit_test_setup_teardown(products_of_odd_sizes, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
