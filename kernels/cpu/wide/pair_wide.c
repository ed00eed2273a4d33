/*
 * pair_wide.c - TDC_RELATIVE_F64 where float64 would lose what the files hold: x87 extended, and
 * 64-bit integers against numbers that are none. One pair at a time; such tensors are rare. Built
 * once, so every CPU variant has these bits.
 */
#include "kernels/cpu/pair_kernel.h"
#include "kernels/cpu/wide_value.h"

#define LANES 8
#define BLOCK 1024

/* Of a block, and of all blocks: nb, nn, bb, dd, abs, and n, b where the extremes are wanted. */
enum {
    NB,
    NN,
    BB,
    DD,
    ABS,
    N,
    B,
    TERMS
};

struct wide_lanes {
    double sums[TERMS][LANES];
};

static void add_block(struct wide_lanes *all, const struct wide_lanes *block)
{
    for (int term = 0; term < TERMS; term++)
        for (int lane = 0; lane < LANES; lane++)
            all->sums[term][lane] += block->sums[term][lane];
}

static double joined(const struct wide_lanes *all, int term)
{
    double sum = all->sums[term][0];
    for (int lane = 1; lane < LANES; lane++)
        sum += all->sums[term][lane];
    return sum == sum ? sum : (double)NAN;
}

static void count_apart(wide n, wide b, struct tdc_pair_sums *sums)
{
    bool n_nan = n != n, b_nan = b != b;
    bool n_inf = !n_nan && !wide_is_finite(n), b_inf = !b_nan && !wide_is_finite(b);
    sums->n_nan += n_nan;
    sums->b_nan += b_nan;
    sums->n_inf += n_inf;
    sums->b_inf += b_inf;
    sums->nan_apart += n_nan != b_nan;
    sums->inf_apart += n_inf != b_inf;
    sums->nonfinite_equal += (n_nan && b_nan) || (n_inf && b_inf && n == b);
}

static void enter_maximum(double value, size_t at, double *maximum, uint64_t *position)
{
    if (value > *maximum) {
        *maximum = value;
        *position = at;
    }
}

static void enter_extremes(double n, double b, size_t lane, struct wide_lanes *block,
                           struct tdc_pair_sums *sums)
{
    n += 0.0; /* never -0 */
    b += 0.0;
    block->sums[N][lane] += n;
    block->sums[B][lane] += b;
    sums->n_min = n < sums->n_min ? n : sums->n_min;
    sums->n_max = n > sums->n_max ? n : sums->n_max;
    sums->b_min = b < sums->b_min ? b : sums->b_min;
    sums->b_max = b > sums->b_max ? b : sums->b_max;
}

/* |n-b| and e. Numbers that float64 holds are left to it. */
static double distance_of(wide n, wide b, double *e)
{
    double narrow_n = (double)n, narrow_b = (double)b, distance;
    if ((wide)narrow_n == n && (wide)narrow_b == b && isfinite(narrow_n - narrow_b)) {
        distance = fabs(narrow_n - narrow_b);
        *e = narrow_b == 0 ? 1 : distance / fabs(narrow_b);
    } else {
        wide difference = wide_abs(n - b);
        distance = wide_is_finite(difference) ? nearest_f64(difference) : DBL_MAX;
        *e = b == 0 ? 1 : nearest_f64(difference / wide_abs(b));
    }
    if (distance == 0)
        *e = 0;
    return distance;
}

static void enter_pair(bool extremes, wide wide_n, wide wide_b, size_t at, struct wide_lanes *block,
                       struct tdc_pair_sums *sums)
{
    size_t lane = at % LANES;
    double n = nearest_f64(wide_n), b = nearest_f64(wide_b), e;
    double distance = distance_of(wide_n, wide_b, &e);
    sums->finite++;
    block->sums[NB][lane] += n * b;
    block->sums[NN][lane] += n * n;
    block->sums[BB][lane] += b * b;
    block->sums[DD][lane] += distance * distance;
    block->sums[ABS][lane] += distance;
    if (extremes)
        enter_extremes(n, b, lane, block, sums);
    enter_maximum(distance, at, &sums->abs_max, &sums->abs_at);
    enter_maximum(e, at, &sums->rel_max, &sums->rel_at);
    for (int k = 0; k < TDC_PAIR_LIMITS; k++)
        sums->below[k] += e < tdc_pair_limits[k];
}

static void run_wide(const struct tdc_pair_plan *plan, const void *n, const void *b, size_t count,
                     struct tdc_pair_sums *sums)
{
    size_t n_size = tdc_dtype_size(plan->n_dtype), b_size = tdc_dtype_size(plan->b_dtype);
    struct wide_lanes all = {0}, block;
    wide imaginary;
    tdc_pair_clear(sums);
    sums->count = count;
    for (size_t start = 0; start < count; start += BLOCK) {
        size_t end = count - start < BLOCK ? count : start + BLOCK;
        block = (struct wide_lanes){0};
        for (size_t i = start; i < end; i++) {
            wide x = wide_value(plan->n_dtype, (const char *)n + i * n_size, &imaginary);
            wide y = wide_value(plan->b_dtype, (const char *)b + i * b_size, &imaginary);
            if (wide_is_finite(x) && wide_is_finite(y))
                enter_pair(plan->extremes, x, y, i, &block, sums);
            else
                count_apart(x, y, sums);
        }
        add_block(&all, &block);
    }
    sums->nb = joined(&all, NB);
    sums->nn = joined(&all, NN);
    sums->bb = joined(&all, BB);
    sums->dd = joined(&all, DD);
    sums->abs = joined(&all, ABS);
    sums->n = joined(&all, N);
    sums->b = joined(&all, B);
}

static bool needs_width(tdc_dtype dtype, tdc_dtype other)
{
    return dtype == TDC_F80 || ((dtype == TDC_I64 || dtype == TDC_U64) && !dtype_is_integer(other));
}

pair_run *tdc_pair_wide(tdc_dtype n, tdc_dtype b)
{
    bool complex = tdc_dtype_is_complex(n) || tdc_dtype_is_complex(b);
    return !complex && (needs_width(n, b) || needs_width(b, n)) ? run_wide : NULL;
}
