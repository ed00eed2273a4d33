/* The order of rows, in time linear in their length: stable radix sort of keys of 64 bits. */

#include "reference/primitives/sort.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#define DIGIT      11 /* bits of a pass */
#define PASSES     6
#define BUCKETS    (1 << DIGIT)
#define RADIX_FROM 512 /* elements; shorter rows are sorted by merging */

/* Keys are in the order of the elements as numbers: NaN above everything, -0 equal to 0. */
static uint64_t key_of(const tdc_array *x, int64_t i, bool descending)
{
    uint64_t key;
    if (tdc_dtype_is_floating(x->dtype)) {
        double v = isnan(x->real[i]) ? (double)NAN : x->real[i] + 0.0;
        memcpy(&key, &v, sizeof key);
        if (isnan(v))
            key = UINT64_MAX;
        else
            key = key >> 63 != 0 ? ~key : key | (uint64_t)1 << 63;
    } else {
        key = (uint64_t)x->whole[i] ^ (x->dtype == TDC_U64 ? 0 : (uint64_t)1 << 63);
    }
    return descending ? ~key : key;
}

struct item {
    uint64_t key;
    int64_t index;
};

/* Bottom-up merging. Gives where the result is. */
static struct item *merge_sort(struct item *from, struct item *to, int64_t n)
{
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t low = 0; low < n; low += 2 * width) {
            int64_t middle = low + width < n ? low + width : n;
            int64_t high = low + 2 * width < n ? low + 2 * width : n;
            for (int64_t i = low, j = middle, k = low; k < high; k++) {
                bool left = j >= high || (i < middle && from[i].key <= from[j].key);
                to[k] = left ? from[i++] : from[j++];
            }
        }
        struct item *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

static struct item *radix_sort(struct item *from, struct item *to, int64_t n, int64_t *counts)
{
    memset(counts, 0, sizeof *counts * BUCKETS * PASSES);
    for (int64_t i = 0; i < n; i++)
        for (int p = 0; p < PASSES; p++)
            counts[p * BUCKETS + (int64_t)(from[i].key >> p * DIGIT & (BUCKETS - 1))]++;
    for (int p = 0; p < PASSES; p++) {
        int64_t *count = counts + p * BUCKETS, sum = 0;
        if (count[from[0].key >> p * DIGIT & (BUCKETS - 1)] == n)
            continue; /* all alike in this digit */
        for (int b = 0; b < BUCKETS; b++) {
            int64_t here = count[b];
            count[b] = sum;
            sum += here;
        }
        for (int64_t i = 0; i < n; i++)
            to[count[from[i].key >> p * DIGIT & (BUCKETS - 1)]++] = from[i];
        struct item *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

tdc_array *tdc_order_rows(tdc_evaluation *e, tdc_array *rows, bool descending)
{
    int64_t n = rows->shape[rows->rank - 1], count = n == 0 ? 0 : rows->count / n;
    tdc_array *y = tdc_new_like(e, TDC_I64, rows);
    bool parallel = rows->count >= TDC_PARALLEL_FROM && count > 1 && !omp_in_parallel();
    int threads = parallel ? omp_get_max_threads() : 1;
    bool radix = n >= RADIX_FROM;
    struct item *items = tdc_take(e, 2 * threads * n, sizeof *items);
    int64_t *counts = tdc_take(e, radix ? threads * BUCKETS * PASSES : 0, sizeof *counts);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t r = 0; r < count; r++) {
        int64_t thread = omp_get_thread_num();
        struct item *first = items + 2 * thread * n, *second = first + n;
        for (int64_t i = 0; i < n; i++)
            first[i] = (struct item){key_of(rows, r * n + i, descending), i};
        struct item *sorted = radix
                                  ? radix_sort(first, second, n, counts + thread * BUCKETS * PASSES)
                                  : merge_sort(first, second, n);
        for (int64_t i = 0; i < n; i++)
            y->whole[r * n + i] = sorted[i].index;
    }
    return y;
}
