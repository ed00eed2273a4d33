#include "host/engine/logical/series.h"

#include <math.h>

#include "host/engine/logical/logical.h"

/* Elements that are turned to float64 at a time. */
#define WIDENED ((size_t)2048)

static void add_element(struct tdc_series_sums *sums, double n, double b)
{
    sums->count++;
    if (!isfinite(n) || !isfinite(b))
        return;
    double apart = fabs(n - b);
    sums->finite++;
    sums->nb += n * b;
    sums->nn += n * n;
    sums->bb += b * b;
    sums->dd += apart * apart;
    if (apart > sums->abs_max)
        sums->abs_max = apart;
}

static void add_values(const struct tdc_series *series, uint64_t first, const double *n,
                       const double *b, size_t count)
{
    uint64_t index = first / series->inner % series->length;
    uint64_t left = series->inner - first % series->inner;
    for (size_t i = 0; i < count;) {
        size_t run = left < count - i ? (size_t)left : count - i;
        for (size_t end = i + run; i < end; i++)
            add_element(&series->sums[index], n[i], b[i]);
        left = series->inner;
        index = index + 1 == series->length ? 0 : index + 1;
    }
}

void tdc_series_add(const struct tdc_series *series, const struct tdc_pair_plan *plan,
                    uint64_t first, const void *n, const void *b, size_t count)
{
    size_t n_size = tdc_dtype_size(plan->n_dtype), b_size = tdc_dtype_size(plan->b_dtype);
    double n_values[WIDENED], b_values[WIDENED];
    for (size_t done = 0; done < count; done += WIDENED) {
        size_t part = count - done < WIDENED ? count - done : WIDENED;
        tdc_widen(plan->n_dtype, (const unsigned char *)n + done * n_size, part, n_values);
        tdc_widen(plan->b_dtype, (const unsigned char *)b + done * b_size, part, b_values);
        for (const struct tdc_series *one = series; one != NULL; one = one->next)
            add_values(one, first + done, n_values, b_values, part);
    }
}
