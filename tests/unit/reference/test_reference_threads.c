/* The reference's results are the same to the bit whatever the number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "reference/reference.h"

enum fill {
    NONE,
    REALS,
    PLACES, /* integers below `number` */
    INT     /* the number itself */
};

struct argument {
    enum fill fill;
    unsigned rank;
    int64_t shape[4];
    int64_t number;
};

/* Large enough for every loop to use several threads. */
static const struct {
    const char *api;
    struct argument arguments[4];
} cases[] = {
    {"Torch.matmul", {{REALS, 2, {203, 180}, 0}, {REALS, 2, {180, 151}, 0}}},
    {"Torch.bmm", {{REALS, 3, {9, 40, 30}, 0}, {REALS, 3, {9, 30, 50}, 0}}},
    {"Functional.linear",
     {{REALS, 3, {4, 70, 64}, 0}, {REALS, 2, {90, 64}, 0}, {REALS, 1, {90}, 0}}},
    {"Functional.conv2d", {{REALS, 4, {3, 8, 40, 37}, 0}, {REALS, 4, {16, 8, 3, 3}, 0}}},
    {"Functional.conv2d", {{REALS, 4, {1, 8, 80, 77}, 0}, {REALS, 4, {6, 8, 5, 5}, 0}}},
    {"Functional.conv_transpose2d", {{REALS, 4, {2, 8, 30, 33}, 0}, {REALS, 4, {8, 5, 3, 3}, 0}}},
    {"Functional.avg_pool2d", {{REALS, 4, {2, 6, 60, 70}, 0}, {INT, 0, {0}, 3}}},
    {"Functional.max_pool2d", {{REALS, 4, {2, 6, 60, 70}, 0}, {INT, 0, {0}, 3}}},
    {"Functional.interpolate", {{REALS, 3, {4, 30, 300}, 0}, {INT, 0, {0}, 417}}},
    {"Functional.scaled_dot_product_attention",
     {{REALS, 4, {2, 3, 90, 24}, 0},
      {REALS, 4, {2, 3, 130, 24}, 0},
      {REALS, 4, {2, 3, 130, 24}, 0}}},
    {"Torch.softmax", {{REALS, 2, {300, 200}, 0}, {INT, 0, {0}, 1}}},
    {"Torch.sum", {{REALS, 1, {90001}, 0}}},
    {"Torch.sum", {{REALS, 2, {500, 130}, 0}, {INT, 0, {0}, 0}}},
    {"Torch.max", {{REALS, 1, {200003}, 0}}},
    {"Torch.cumsum", {{REALS, 2, {300, 200}, 0}, {INT, 0, {0}, 1}}},
    {"Torch.norm", {{REALS, 2, {300, 200}, 0}}},
    {"Torch.exp", {{REALS, 1, {70001}, 0}}},
    {"Torch.mul", {{REALS, 2, {300, 200}, 0}, {REALS, 1, {200}, 0}}},
    {"Torch.transpose", {{REALS, 3, {40, 30, 50}, 0}, {INT, 0, {0}, 0}, {INT, 0, {0}, 2}}},
    {"Torch.gather", {{REALS, 2, {300, 200}, 0}, {INT, 0, {0}, 1}, {PLACES, 2, {300, 400}, 200}}},
    {"Torch.scatter_add",
     {{REALS, 2, {300, 200}, 0},
      {INT, 0, {0}, 0},
      {PLACES, 2, {300, 200}, 300},
      {REALS, 2, {300, 200}, 0}}},
    {"Torch.index_select", {{REALS, 2, {300, 200}, 0}, {INT, 0, {0}, 0}, {PLACES, 1, {500}, 300}}},
    {"Torch.sort", {{REALS, 2, {100, 700}, 0}}},
    {"Functional.layer_norm", {{REALS, 2, {300, 200}, 0}, {INT, 0, {0}, 200}}},
};

static double drawn(uint64_t i)
{
    i = (i + 1) * 0x9e3779b97f4a7c15u;
    i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9u;
    return (double)((i ^ i >> 27) >> 11) * 0x1p-53;
}

static struct tdc_reference_value make(struct tdc_arena *arena, const struct argument *a,
                                       uint64_t seed)
{
    if (a->fill == INT)
        return (struct tdc_reference_value){.kind = TDC_VALUE_INT, .whole = a->number};
    struct tdc_reference_tensor *t =
        tdc_reference_tensor_new(arena, a->fill == PLACES ? TDC_I64 : TDC_F64, a->rank, a->shape);
    assert_non_null(t);
    for (int64_t i = 0; i < t->count; i++) {
        double v = drawn(seed + (uint64_t)i);
        if (a->fill == PLACES)
            t->whole[i] = (int64_t)(v * (double)a->number);
        else
            t->real[i] = 2 * v - 1;
    }
    t->wants_gradient = a->fill == REALS;
    return (struct tdc_reference_value){.kind = TDC_VALUE_TENSOR, .tensor = t};
}

/* All elements of the outputs and of the gradients, one after the other. */
static double *computed(size_t which, int threads, size_t *count)
{
    struct tdc_arena arena;
    struct tdc_reference_value arguments[4];
    struct tdc_reference_call call = {.definition = tdc_reference_find(cases[which].api)};
    struct tdc_reference_results forward, backward;
    tdc_arena_init(&arena, (size_t)1 << 30);
    assert_non_null(call.definition);
    for (size_t i = 0; i < 4 && cases[which].arguments[i].fill != NONE; i++) {
        arguments[i] = make(&arena, &cases[which].arguments[i], i << 32);
        call.argument_count = i + 1;
    }
    call.arguments = arguments;
    omp_set_num_threads(threads);
    assert_int_equal(tdc_reference_forward(&call, &arena, &forward), TDC_OK);
    const struct tdc_reference_tensor *y = forward.values[0].tensor;
    struct argument like = {.fill = REALS, .rank = y->rank};
    memcpy(like.shape, y->shape, y->rank * sizeof *y->shape);
    struct tdc_reference_tensor *gradient = make(&arena, &like, (uint64_t)7 << 40).tensor;
    assert_int_equal(tdc_reference_backward(&call, &gradient, 1, &arena, &backward), TDC_OK);
    *count = 0;
    for (int side = 0; side < 2; side++) {
        const struct tdc_reference_results *r = side == 0 ? &forward : &backward;
        for (size_t i = 0; i < r->count; i++)
            *count +=
                r->values[i].kind == TDC_VALUE_TENSOR ? (size_t)r->values[i].tensor->count : 0;
    }
    double *all = malloc((*count + 1) * sizeof *all), *to = all;
    assert_non_null(all);
    for (int side = 0; side < 2; side++) {
        const struct tdc_reference_results *r = side == 0 ? &forward : &backward;
        for (size_t i = 0; i < r->count; i++) {
            const struct tdc_reference_tensor *t = r->values[i].tensor;
            if (r->values[i].kind != TDC_VALUE_TENSOR)
                continue;
            memcpy(to, t->real, (size_t)t->count * sizeof *to);
            to += t->count;
        }
    }
    tdc_arena_free(&arena);
    return all;
}

static void same_bits(void **state)
{
    (void)state;
    int before = omp_get_max_threads();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t count, other;
        double *one = computed(i, 1, &count);
        for (int threads = 2; threads <= 3; threads++) {
            double *several = computed(i, threads, &other);
            assert_int_equal(count, other);
            if (memcmp(one, several, count * sizeof *one) != 0)
                fail_msg("%s differs with %d threads", cases[i].api, threads);
            free(several);
        }
        free(one);
    }
    omp_set_num_threads(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
