/* Distinct elements and slices. */
#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/move.h"
#include "reference/primitives/sort.h"

static bool same_element(const tdc_array *x, int64_t a, int64_t b)
{
    if (tdc_dtype_is_floating(x->dtype))
        return x->real[a] == x->real[b];
    return x->whole[a] == x->whole[b];
}

static int order_of_elements(const tdc_array *x, int64_t a, int64_t b)
{
    if (tdc_dtype_is_floating(x->dtype))
        return tdc_compare_reals(x->real[a], x->real[b]);
    return (x->whole[a] > x->whole[b]) - (x->whole[a] < x->whole[b]);
}

/* Whole rows compared element by element. */
static int order_of_rows(const tdc_array *rows, int64_t a, int64_t b)
{
    int64_t n = rows->shape[1];
    int order = 0;
    for (int64_t i = 0; order == 0 && i < n; i++)
        order = order_of_elements(rows, a * n + i, b * n + i);
    return order;
}

/* Row numbers in the order of the rows, by merging. */
static int64_t *sorted_rows(tdc_evaluation *e, const tdc_array *rows)
{
    int64_t n = rows->shape[0], *from = tdc_take(e, n, sizeof *from);
    int64_t *to = tdc_take(e, n, sizeof *to);
    for (int64_t i = 0; i < n; i++)
        from[i] = i;
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t low = 0; low < n; low += 2 * width) {
            int64_t middle = low + width < n ? low + width : n;
            int64_t high = low + 2 * width < n ? low + 2 * width : n;
            for (int64_t i = low, j = middle, k = low; k < high; k++) {
                bool left = j >= high || (i < middle && order_of_rows(rows, from[i], from[j]) <= 0);
                to[k] = left ? from[i++] : from[j++];
            }
        }
        int64_t *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

/* x as [n, rest], dimension dim first. */
static tdc_array *rows_of(tdc_evaluation *e, tdc_array *x, unsigned dim, tdc_array **moved)
{
    unsigned order[TDC_REFERENCE_RANK], next = 1;
    order[0] = dim;
    for (unsigned d = 0; d < x->rank; d++)
        if (d != dim)
            order[next++] = d;
    *moved = tdc_permute(e, x, order);
    int64_t n = x->shape[dim];
    return tdc_reshape(e, *moved, 2, (const int64_t[]){n, n == 0 ? 0 : x->count / n});
}

struct found {
    int64_t count, *firsts; /* where in the order each stretch of equals starts, and the end */
    tdc_array *inverse;
};

static void give_found(tdc_evaluation *e, tdc_array *values, const struct found *f)
{
    tdc_array *counts = tdc_new(e, TDC_I64, 1, &f->count);
    for (int64_t i = 0; i < f->count; i++)
        counts->whole[i] = f->firsts[i + 1] - f->firsts[i];
    tdc_give(e, values);
    if (tdc_bool_argument(e, "return_inverse"))
        tdc_give(e, f->inverse);
    if (tdc_bool_argument(e, "return_counts"))
        tdc_give(e, counts);
}

/* Distinct slices along dim; consecutive: of each stretch of equals one, unsorted. */
static void unique_slices(tdc_evaluation *e, tdc_array *x, unsigned dim, bool consecutive)
{
    tdc_array *moved, *rows = rows_of(e, x, dim, &moved);
    int64_t n = rows->shape[0], size = rows->shape[1], shape[TDC_REFERENCE_RANK];
    int64_t *order = tdc_take(e, n, sizeof *order);
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    if (!consecutive)
        order = sorted_rows(e, rows);
    struct found f = {0, tdc_take(e, n + 1, sizeof *f.firsts), tdc_new(e, TDC_I64, 1, &n)};
    for (int64_t i = 0; i < n; i++) {
        if (i == 0 || order_of_rows(rows, order[i], order[i - 1]) != 0)
            f.firsts[f.count++] = i;
        f.inverse->whole[order[i]] = f.count - 1;
    }
    f.firsts[f.count] = n;
    memcpy(shape, moved->shape, sizeof shape);
    shape[0] = f.count;
    tdc_array *values = tdc_new(e, x->dtype, moved->rank, shape);
    for (int64_t i = 0; i < f.count; i++)
        memcpy(values->whole + i * size, rows->whole + order[f.firsts[i]] * size,
               (size_t)size * sizeof *values->whole);
    unsigned back[TDC_REFERENCE_RANK];
    for (unsigned d = 0; d < x->rank; d++)
        back[d] = d == dim ? 0 : d < dim ? d + 1 : d;
    give_found(e, tdc_permute(e, values, back), &f);
}

static void unique(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    if (tdc_given(e, "dim") && x->rank > 0) {
        unique_slices(e, x, tdc_dim_argument(e, "dim", x->rank), false);
        return;
    }
    tdc_array *flat = tdc_reshape(e, x, 1, &x->count);
    tdc_array *order = tdc_order_rows(e, flat, false);
    struct found f = {0, tdc_take(e, x->count + 1, sizeof *f.firsts), tdc_new_like(e, TDC_I64, x)};
    for (int64_t i = 0; i < x->count; i++) {
        if (i == 0 || !same_element(x, order->whole[i], order->whole[i - 1]))
            f.firsts[f.count++] = i;
        f.inverse->whole[order->whole[i]] = f.count - 1;
    }
    f.firsts[f.count] = x->count;
    tdc_array *values = tdc_new(e, x->dtype, 1, &f.count);
    for (int64_t i = 0; i < f.count; i++)
        values->whole[i] = x->whole[order->whole[f.firsts[i]]];
    give_found(e, values, &f);
}

static void unique_consecutive(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    if (tdc_given(e, "dim") && x->rank > 0) {
        unique_slices(e, x, tdc_dim_argument(e, "dim", x->rank), true);
        return;
    }
    struct found f = {0, tdc_take(e, x->count + 1, sizeof *f.firsts), tdc_new_like(e, TDC_I64, x)};
    for (int64_t i = 0; i < x->count; i++) {
        if (i == 0 || !same_element(x, i, i - 1))
            f.firsts[f.count++] = i;
        f.inverse->whole[i] = f.count - 1;
    }
    f.firsts[f.count] = x->count;
    tdc_array *values = tdc_new(e, x->dtype, 1, &f.count);
    for (int64_t i = 0; i < f.count; i++)
        values->whole[i] = x->whole[f.firsts[i]];
    give_found(e, values, &f);
}

#define METHODS TDC_IN_METHODS
static const struct tdc_operator rows[] = {
    {"unique", METHODS, "input, sorted=True, return_inverse=False, return_counts=False, dim=None",
     unique, 0, TDC_NO_GRADIENT},
    {"unique_consecutive", METHODS, "input, return_inverse=False, return_counts=False, dim=None",
     unique_consecutive, 0, TDC_NO_GRADIENT},
};
const struct tdc_operator_family tdc_unique_family = TDC_FAMILY("distinct elements", rows);
