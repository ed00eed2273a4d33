#include "bench/cases/kernel_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <omp.h>

#include "bench/yardsticks/bare_read.h"
#include "bench/tools/measure.h"
#include "bench/synthetic/synthetic_chunk.h"
#include "io/base/error.h"
#include "reference/oracle/pair_reference.h"

/* Of both sides together: fits every L2 cache there is. */
#define CACHED_BYTES ((size_t)128 << 10)
/* What a run in cache goes through in all, so that it takes milliseconds. */
#define CACHED_WORK    ((size_t)64 << 20)
#define BUDGET_SECONDS 1.0

/* ---- data ------------------------------------------------------------------------------------ */

static void fill(const struct tdc_kernel_data *data, size_t first, bool equal)
{
    size_t left = data->elements - first;
    size_t count = left < TDC_CHUNK_ELEMENTS ? left : TDC_CHUNK_ELEMENTS;
    struct tdc_values values = {data->pair.npu, tdc_values_mix(1), 1.0F};
    struct tdc_chunk_plan plan = {
        .values = {values, values},
        .noisy = !equal,
        .mixed = data->pair.npu != data->pair.bench,
    };
    plan.values[TDC_SIDE_BENCH].dtype = data->pair.bench;
    struct tdc_values_statistics ignored[TDC_SIDES];
    struct tdc_values_statistics *statistics[TDC_SIDES] = {&ignored[0], &ignored[1]};
    for (int side = 0; side < TDC_SIDES; side++)
        tdc_values_statistics_clear(statistics[side]);
    unsigned char *buffers[TDC_SIDES] = {data->n + first * tdc_dtype_size(data->pair.npu),
                                         data->b + first * tdc_dtype_size(data->pair.bench)};
    uint32_t crcs[TDC_SIDES];
    tdc_chunk_make(&plan, first, count, buffers, statistics, crcs);
    if (!tdc_chunk_differs(&plan))
        memcpy(buffers[TDC_SIDE_NPU], buffers[TDC_SIDE_BENCH],
               count * tdc_dtype_size(data->pair.npu));
}

tdc_status tdc_kernel_data_make(struct tdc_kernel_data *data, const struct tdc_dtype_pair *pair,
                                bool equal, uint64_t bytes, int threads, struct tdc_error *error)
{
    size_t n_width = tdc_dtype_size(pair->npu), b_width = tdc_dtype_size(pair->bench);
    size_t wider = n_width > b_width ? n_width : b_width;
    *data = (struct tdc_kernel_data){.pair = *pair,
                                     .cached = CACHED_BYTES / (n_width + b_width),
                                     .equal = equal && pair->npu == pair->bench};
    /* whole chunks, at least one, and room for each thread's own */
    size_t least = data->cached * (size_t)threads;
    uint64_t wanted = bytes / wider > least ? bytes / wider : least;
    data->elements =
        (size_t)((wanted + TDC_CHUNK_ELEMENTS - 1) / TDC_CHUNK_ELEMENTS) * TDC_CHUNK_ELEMENTS;
    data->n = aligned_alloc(4096, data->elements * n_width);
    data->b = aligned_alloc(4096, data->elements * b_width);
    if (data->n == NULL || data->b == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %llu elements",
                        (unsigned long long)data->elements);
        /* by the threads that will read it, for machines with several memories */
#pragma omp parallel for num_threads(threads) schedule(static)
    for (size_t i = 0; i < data->elements; i += TDC_CHUNK_ELEMENTS)
        fill(data, i, equal);
    return TDC_OK;
}

void tdc_kernel_data_free(struct tdc_kernel_data *data)
{
    free(data->n);
    free(data->b);
    *data = (struct tdc_kernel_data){0};
}

/* ---- speed ----------------------------------------------------------------------------------- */

enum passage {
    PASS_KERNEL,
    PASS_BARE,
    PASS_MEMCMP,
    PASSAGES
};

/* The kernel, the bare read or memcmp over the same bytes. */
struct pass {
    enum passage passage;
    const struct tdc_kernel_data *data;
    const struct tdc_pair_plan *plan;
    int threads;
    bool cached;
    uint64_t bytes; /* read in one run */
    volatile double result;
};

static double go_over(const struct pass *pass, size_t first, size_t count)
{
    const struct tdc_kernel_data *data = pass->data;
    size_t n_width = tdc_dtype_size(data->pair.npu), b_width = tdc_dtype_size(data->pair.bench);
    const unsigned char *n = data->n + first * n_width, *b = data->b + first * b_width;
    if (pass->passage == PASS_MEMCMP)
        return memcmp(n, b, count * n_width) == 0 ? 1 : 0;
    if (pass->passage == PASS_BARE)
        return (double)(tdc_join_words(n, count * n_width) ^ tdc_join_words(b, count * b_width));
    struct tdc_pair_sums sums;
    tdc_pair_run(pass->plan, n, b, count, &sums);
    return sums.nb;
}

static void run_cached(const struct pass *pass, size_t rounds, double *result)
{
    double sum = 0;
#pragma omp parallel num_threads(pass->threads) reduction(+ : sum)
    {
        size_t count = pass->data->cached, first = count * (size_t)omp_get_thread_num();
        for (size_t i = 0; i < rounds; i++)
            sum += go_over(pass, first, count);
    }
    *result = sum;
}

/* Pieces of the size the engine hands to a kernel. */
static void run_memory(const struct pass *pass, double *result)
{
    double sum = 0;
    size_t elements = pass->data->elements;
#pragma omp parallel for num_threads(pass->threads) schedule(static) reduction(+ : sum)
    for (size_t i = 0; i < elements; i += TDC_PAIR_CHUNK)
        sum += go_over(pass, i, elements - i < TDC_PAIR_CHUNK ? elements - i : TDC_PAIR_CHUNK);
    *result = sum;
}

static tdc_status run_pass(void *context, double laps[TDC_LAPS], struct tdc_error *error)
{
    (void)error;
    struct pass *pass = context;
    const struct tdc_kernel_data *data = pass->data;
    size_t width = tdc_dtype_size(data->pair.npu) + tdc_dtype_size(data->pair.bench);
    size_t all = data->elements * width; /* a small --size asks for a quick look */
    size_t rounds = (all < CACHED_WORK ? all : CACHED_WORK) / (data->cached * width);
    double result, start = tdc_seconds();
    if (pass->cached)
        run_cached(pass, rounds, &result);
    else
        run_memory(pass, &result);
    laps[0] = tdc_seconds() - start;
    pass->result = result;
    pass->bytes = pass->cached ? rounds * data->cached * width * (size_t)pass->threads
                               : data->elements * width;
    return TDC_OK;
}

/* GB/s of each passage; of memcmp 0 unless the sides are equal. */
static tdc_status measure_speed(const struct tdc_kernel_setup *setup,
                                const struct tdc_kernel_data *data,
                                const struct tdc_pair_plan *plan, bool cached,
                                double speeds[PASSAGES], struct tdc_error *error)
{
    struct pass passes[PASSAGES];
    struct tdc_work works[PASSAGES];
    size_t count = data->equal ? PASSAGES : PASS_MEMCMP;
    for (unsigned i = 0; i < count; i++) {
        passes[i] = (struct pass){
            .passage = i, .data = data, .plan = plan, .threads = setup->threads, .cached = cached};
        works[i] = (struct tdc_work){.run = run_pass, .context = &passes[i]};
    }
    tdc_status status =
        tdc_measure(works, count, setup->repeat, BUDGET_SECONDS, setup->cancel, error);
    for (unsigned i = 0; i < PASSAGES; i++)
        speeds[i] = status == TDC_OK && i < count && works[i].best[0] > 0
                        ? (double)passes[i].bytes / 1e9 / works[i].best[0]
                        : 0;
    return status;
}

/* ---- error ----------------------------------------------------------------------------------- */

static double relative(double value, double right, double magnitude)
{
    return magnitude > 0 ? fabs(value - right) / magnitude : fabs(value - right);
}

static bool same_positions(const struct tdc_pair_sums *a, const struct tdc_pair_sums *b)
{
    bool same = a->count == b->count && a->finite == b->finite && a->n_min == b->n_min &&
                a->n_max == b->n_max && a->b_min == b->b_min && a->b_max == b->b_max &&
                a->abs_max == b->abs_max && a->abs_at == b->abs_at && a->rel_max == b->rel_max &&
                a->rel_at == b->rel_at && a->rel_nan == b->rel_nan;
    for (int i = 0; i < TDC_PAIR_LIMITS; i++)
        same = same && a->below[i] == b->below[i];
    return same && a->n_nan == b->n_nan && a->b_nan == b->b_nan && a->n_inf == b->n_inf &&
           a->b_inf == b->b_inf && a->nan_apart == b->nan_apart && a->inf_apart == b->inf_apart &&
           a->nonfinite_equal == b->nonfinite_equal;
}

static void measure_error(const struct tdc_kernel_setup *setup, const struct tdc_kernel_data *data,
                          const struct tdc_pair_plan *plan, struct tdc_kernel_figures *figures)
{
    size_t count = data->elements < TDC_PAIR_CHUNK ? data->elements : TDC_PAIR_CHUNK;
    struct tdc_pair_sums sums, right;
    struct tdc_pair_magnitudes size;
    struct tdc_pair_plan full = *plan;
    full.extremes = true; /* timed with or without: the error counts them */
    tdc_pair_run(&full, data->n, data->b, count, &sums);
    tdc_pair_reference(data->pair.npu, data->pair.bench, setup->rule, data->n, data->b, count,
                       &right, &size);
    const double errors[] = {
        relative(sums.nb, right.nb, size.nb),    relative(sums.nn, right.nn, size.nn),
        relative(sums.bb, right.bb, size.bb),    relative(sums.dd, right.dd, size.dd),
        relative(sums.n, right.n, size.n),       relative(sums.b, right.b, size.b),
        relative(sums.abs, right.abs, size.abs),
    };
    figures->error = 0;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        figures->error = errors[i] > figures->error ? errors[i] : figures->error;
    figures->exact = same_positions(&sums, &right);
}

tdc_status tdc_kernel_measure(const struct tdc_kernel_setup *setup,
                              const struct tdc_kernel_data *data,
                              struct tdc_kernel_figures *figures, struct tdc_error *error)
{
    struct tdc_pair_plan plan;
    if (!tdc_pair_plan_make(data->pair.npu, data->pair.bench, setup->rule, setup->variant, &plan))
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "no kernel for these types");
    measure_error(setup, data, &plan, figures);
    plan.extremes = setup->extremes;
    double cache[PASSAGES], memory[PASSAGES] = {0};
    tdc_status status = measure_speed(setup, data, &plan, true, cache, error);
    if (status == TDC_OK)
        status = measure_speed(setup, data, &plan, false, memory, error);
    figures->cache_speed = cache[PASS_KERNEL];
    figures->cache_bare = cache[PASS_BARE];
    figures->memory_speed = memory[PASS_KERNEL];
    figures->memory_bare = memory[PASS_BARE];
    figures->memory_memcmp = memory[PASS_MEMCMP];
    return status;
}
