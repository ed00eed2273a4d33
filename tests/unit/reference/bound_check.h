/* bound_check.h - calls of the reference with bounds, and results held to them. */
#ifndef TDC_TEST_BOUND_CHECK_H
#define TDC_TEST_BOUND_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "host/precheck/standards/slot_bound.h"
#include "reference/reference.h"

static struct tdc_arena arena;
static uint64_t state_of_draws;

static inline double drawn(void)
{
    uint64_t i = ++state_of_draws * 0x9e3779b97f4a7c15u;
    i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9u;
    return (double)((i ^ i >> 27) >> 11) * 0x1p-52 - 1;
}

static inline struct tdc_reference_value tensor(tdc_dtype dtype, unsigned rank,
                                                const int64_t *shape)
{
    struct tdc_reference_tensor *t = tdc_reference_tensor_new(&arena, dtype, rank, shape);
    assert_non_null(t);
    for (int64_t i = 0; i < t->count; i++)
        t->real[i] = tdc_reference_round(drawn(), dtype);
    t->wants_gradient = true;
    return (struct tdc_reference_value){.kind = TDC_VALUE_TENSOR, .tensor = t};
}

static inline struct tdc_reference_value whole(int64_t number)
{
    return (struct tdc_reference_value){.kind = TDC_VALUE_INT, .whole = number};
}

/* The forward's output, or with a gradient that of argument `which`. */
static inline struct tdc_reference_tensor *
reference(const char *api, tdc_dtype dtype, const struct tdc_reference_value *arguments,
          size_t count, struct tdc_reference_tensor *gradient, size_t which)
{
    struct tdc_reference_call call = {.definition = tdc_reference_find(api),
                                      .arguments = arguments,
                                      .argument_count = count,
                                      .bounds_for = dtype};
    struct tdc_reference_results results;
    assert_non_null(call.definition);
    tdc_status status = gradient == NULL
                            ? tdc_reference_forward(&call, &arena, &results)
                            : tdc_reference_backward(&call, &gradient, 1, &arena, &results);
    assert_int_equal(status, TDC_OK);
    assert_true(which < results.count);
    return results.values[which].tensor;
}

static inline struct tdc_reference_tensor *like(const struct tdc_reference_tensor *b,
                                                tdc_dtype dtype)
{
    struct tdc_reference_tensor *t = tdc_reference_tensor_new(&arena, dtype, b->rank, b->shape);
    assert_non_null(t);
    return t;
}

static inline void passes(const struct tdc_reference_tensor *b,
                          const struct tdc_reference_tensor *t)
{
    struct tdc_bound_check check = tdc_check_bound(b, t);
    if (check.beyond != 0)
        fail_msg("a correct result is off by %g, bound %g", check.error, check.bound);
}

static inline int open_arena(void **state)
{
    (void)state;
    tdc_arena_init(&arena, (size_t)1 << 26);
    return 0;
}

static inline int close_arena(void **state)
{
    (void)state;
    tdc_arena_free(&arena);
    return 0;
}

#endif
