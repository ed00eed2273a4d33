#include "reference/primitives/primitives.h"

#include <string.h>

static int order_of(const array *x, int64_t a, int64_t b)
{
    if (tdc_dtype_is_floating(x->dtype))
        return tdc_compare_reals(x->real[a], x->real[b]);
    return (x->whole[a] > x->whole[b]) - (x->whole[a] < x->whole[b]);
}

/* Merges the sorted halves [low, middle) and [middle, high) of `from`. */
static void merge(const array *x, int64_t base, const int64_t *from, int64_t *to, int64_t low,
                  int64_t middle, int64_t high, int sign)
{
    int64_t i = low, j = middle;
    for (int64_t k = low; k < high; k++) {
        bool left =
            j >= high || (i < middle && sign * order_of(x, base + from[i], base + from[j]) <= 0);
        to[k] = left ? from[i++] : from[j++];
    }
}

array *tdc_order_rows(evaluation *e, array *rows, bool descending)
{
    int64_t n = rows->shape[rows->rank - 1];
    array *y = tdc_new_like(e, TDC_I64, rows);
    int64_t *other = tdc_take(e, n, sizeof *other);
    for (int64_t base = 0; base < rows->count; base += n) {
        int64_t *from = y->whole + base, *to = other;
        for (int64_t i = 0; i < n; i++)
            from[i] = i;
        for (int64_t width = 1; width < n; width *= 2) {
            for (int64_t low = 0; low < n; low += 2 * width) {
                int64_t middle = low + width < n ? low + width : n;
                int64_t high = low + 2 * width < n ? low + 2 * width : n;
                merge(rows, base, from, to, low, middle, high, descending ? -1 : 1);
            }
            int64_t *swap = from;
            from = to;
            to = swap;
        }
        if (from != y->whole + base)
            memcpy(y->whole + base, from, (size_t)n * sizeof *from);
    }
    return y;
}
