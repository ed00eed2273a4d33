/* Choices of elements: combinations and products of lists. */
#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/move.h"

/* Adds `count` to a size that is bounded by what an array may hold. */
static int64_t grown(tdc_evaluation *e, int64_t size, int64_t count)
{
    if (__builtin_mul_overflow(size, count, &size) || size > ((int64_t)1 << 40))
        tdc_refuse(e, TDC_ERR_MEMORY, "a size overflows");
    return size;
}

/* Number of ways to choose r of n, with repetition n + r - 1. */
static int64_t ways(tdc_evaluation *e, int64_t n, int64_t r)
{
    int64_t y = 1;
    if (r > n)
        return 0;
    for (int64_t i = 1; i <= r; i++)
        y = grown(e, y, n - r + i) / i;
    return y;
}

/* The next rising (or not falling) list of indices in the order of dictionaries. */
static void advance(int64_t *pick, int64_t r, int64_t n, bool repeated)
{
    int64_t at = r - 1;
    while (at >= 0 && pick[at] == (repeated ? n - 1 : n - r + at))
        at--;
    if (at < 0)
        return;
    int64_t next = pick[at] + 1;
    for (; at < r; at++, next += !repeated)
        pick[at] = next;
}

static void combinations(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    int64_t r = tdc_int_argument(e, "r");
    bool repeated = tdc_bool_argument(e, "with_replacement");
    if (x->rank != 1 || r < 0 || r > 64)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a vector and how many to choose expected");
    int64_t n = x->shape[0], pick[64];
    if (r == 0) {
        tdc_give(e, tdc_zeros(e, x->dtype, 1, &r));
        return;
    }
    int64_t lines = n == 0 ? 0 : ways(e, repeated ? n + r - 1 : n, r);
    tdc_array *room = tdc_new(e, TDC_I64, 2, (const int64_t[]){lines, r});
    for (int64_t i = 0; i < r; i++)
        pick[i] = repeated ? 0 : i;
    for (int64_t l = 0; l < lines; l++) {
        memcpy(room->whole + l * r, pick, (size_t)r * sizeof *pick);
        advance(pick, r, n, repeated);
    }
    tdc_give(e, tdc_mapped(e, x, room->whole, 2, room->shape, 0));
}

/* Every choice of one element of each vector, the last changing fastest. */
static void cartesian_product(tdc_evaluation *e)
{
    tdc_array **list;
    size_t count = tdc_arrays_argument(e, "tensors", &list);
    int64_t lines = 1;
    for (size_t i = 0; i < count; i++) {
        if (list[i]->rank != 1)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "vectors expected");
        lines = grown(e, lines, list[i]->shape[0]);
    }
    if (count == 1) {
        tdc_give(e, list[0]);
        return;
    }
    tdc_array **columns = tdc_take(e, (int64_t)count, sizeof(tdc_array *));
    int64_t period = lines;
    for (size_t i = 0; i < count; i++) {
        int64_t n = list[i]->shape[0];
        tdc_array *map = tdc_new(e, TDC_I64, 2, (const int64_t[]){lines, 1});
        period = n == 0 ? 0 : period / n;
        for (int64_t l = 0; l < lines; l++)
            map->whole[l] = l / period % n;
        columns[i] = tdc_mapped(e, list[i], map->whole, 2, map->shape, 0);
    }
    tdc_give(e, tdc_concatenate(e, columns, count, 1));
}

/* Powers of each element; falling unless told otherwise, linalg's rising. */
static void vander(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input");
    if (x->rank == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "at least one dimension expected");
    int64_t n = tdc_given(e, "N") ? tdc_int_argument(e, "N") : x->shape[x->rank - 1];
    /* torch.vander and torch.linalg.vander are recorded under one name: a first column of ones
     * tells that powers rise */
    bool rising = tdc_bool_argument(e, "increasing") || x->rank > 1;
    if (e->record_count > 0 && e->record[0].kind == TDC_VALUE_TENSOR && n > 1) {
        const tdc_array *y = e->record[0].tensor;
        rising = y->count > 0;
        for (int64_t i = 0; i + n <= y->count; i += n)
            rising &= tdc_element(y, i) == 1;
    }
    if (n < 0 || n > INT32_MAX)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "N is out of range");
    tdc_array **columns = tdc_take(e, n + 1, sizeof(tdc_array *));
    if (n == 0) {
        tdc_give(e, tdc_slice(e, tdc_unsqueeze(e, x, x->rank), x->rank, 0, 0, 1));
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        double power = (double)(rising ? i : n - 1 - i);
        columns[i] = tdc_unsqueeze(e, tdc_apply_with(e, TDC_POWER, x, power, 0, 0), x->rank);
    }
    tdc_give(e, tdc_concatenate(e, columns, (size_t)n, x->rank));
}

#define OTHERS (TDC_IN_TORCH | TDC_IN_MINT)
static const struct tdc_operator rows[] = {
    {"combinations", OTHERS, "input, r=2, with_replacement=False", combinations, 0, 0},
    {"cartesian_prod", OTHERS, "*tensors", cartesian_product, 0, 0},
    {"vander", OTHERS, "input, N=None, increasing=False", vander, 0, TDC_TAKES_RECORD},
};
const struct tdc_operator_family tdc_selection_family = TDC_FAMILY("choices of elements", rows);
