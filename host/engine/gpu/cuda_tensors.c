/* cuda_tensors.c - tensors that live on a CUDA device: nothing is copied out but the words of
 * chunks, and chunks that the CPU has to do. */
#include <stdlib.h>

#include "host/engine/device/tensors.h"
#include "host/engine/gpu/cuda_slot.h"
#include "io/base/error.h"

/* Chunks of one launch: enough work items for a large card. */
#define BATCH      ((uint64_t)64)
#define LANE_BYTES (GPU_CHUNK_BLOCKS * TDC_GPU_BLOCK_BYTES)

struct cuda_tensors {
    struct tdc_device base;
    struct tdc_cuda_card *own; /* in the caller's context */
    struct tdc_cuda_slot slot; /* for self-tests, and for what is copied out */
    gpu_u64 *words;            /* pinned, of a batch; then its table */
    gpu_u32 *table;
    uint64_t lanes, device_words, device_table;
};

/* One comparison. */
struct comparison {
    struct cuda_tensors *tensors;
    struct tdc_pair_plan plan;
    struct gpu_pair pair;
    unsigned kernel;
    uint64_t n, b; /* device addresses */
    size_t n_size, b_size;
    void *stream;
    struct tdc_call_failure failure;
};

static bool take(struct tdc_call_failure *failure, const char *function, int code)
{
    if (code != 0 && failure->code == 0)
        *failure = (struct tdc_call_failure){function, code};
    return code == 0;
}

static tdc_status explain(struct tdc_call_failure failure, struct tdc_error *error)
{
    char text[400];
    tdc_family_cuda.describe(failure, text, sizeof text);
    return tdc_fail(error, TDC_ERR_DEVICE, "CUDA: %s", text);
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* A chunk from the device through the CPU kernel. */
static bool by_cpu(struct comparison *work, uint64_t first, size_t count,
                   struct tdc_pair_sums *sums)
{
    const struct tdc_cuda *cuda = work->tensors->own->cuda;
    unsigned char *n = work->tensors->slot.base.base.n, *b = work->tensors->slot.base.base.b;
    bool sent = take(&work->failure, "cuMemcpyDtoHAsync",
                     cuda->cuMemcpyDtoHAsync(n, work->n + first * work->n_size,
                                             count * work->n_size, work->stream)) &&
                take(&work->failure, "cuMemcpyDtoHAsync",
                     cuda->cuMemcpyDtoHAsync(b, work->b + first * work->b_size,
                                             count * work->b_size, work->stream));
    /* also after a failure: the other copy may be under way */
    if (!take(&work->failure, "cuStreamSynchronize", cuda->cuStreamSynchronize(work->stream)) ||
        !sent)
        return false;
    tdc_pair_run(&work->plan, n, b, count, sums);
    return true;
}

/* The chunks from element `first` on, their words on the host when it returns. */
static bool launch(struct comparison *work, uint64_t first, uint64_t count)
{
    struct cuda_tensors *tensors = work->tensors;
    const struct tdc_cuda *cuda = tensors->own->cuda;
    uint64_t n = work->n + first * work->n_size, b = work->b + first * work->b_size;
    work->pair.blocks = work->pair.chunks = 0;
    for (uint64_t at = 0; at < count; at += GPU_CHUNK)
        tdc_gpu_table_add(tensors->table, &work->pair,
                          count - at < GPU_CHUNK ? (size_t)(count - at) : GPU_CHUNK);
    uint64_t chunks = work->pair.chunks;
    void *pair[] = {&n, &b, &tensors->device_table, &tensors->lanes, &work->pair};
    void *join[] = {&tensors->device_table, &tensors->lanes, &tensors->device_words, &work->pair};
    bool sent = take(&work->failure, "cuMemcpyHtoDAsync",
                     cuda->cuMemcpyHtoDAsync(tensors->device_table, tensors->table,
                                             chunks * TDC_GPU_ENTRY_BYTES, work->stream)) &&
                take(&work->failure, "cuLaunchKernel",
                     tdc_cuda_run(tensors->own, work->kernel, tdc_gpu_pair_items(&work->pair),
                                  work->stream, pair)) &&
                take(&work->failure, "cuLaunchKernel",
                     tdc_cuda_run(tensors->own, TDC_GPU_JOIN, tdc_gpu_join_items(&work->pair),
                                  work->stream, join)) &&
                take(&work->failure, "cuMemcpyDtoHAsync",
                     cuda->cuMemcpyDtoHAsync(tensors->words, tensors->device_words,
                                             chunks * TDC_GPU_CHUNK_BYTES, work->stream));
    return take(&work->failure, "cuStreamSynchronize", cuda->cuStreamSynchronize(work->stream)) &&
           sent;
}

static bool compare_batch(struct comparison *work, bool on_device, uint64_t first, uint64_t count,
                          struct tdc_device_sums *out, struct tdc_pair_sums *total)
{
    if (on_device && !launch(work, first, count))
        return false;
    for (uint64_t at = 0; at < count; at += GPU_CHUNK) {
        size_t here = count - at < GPU_CHUNK ? (size_t)(count - at) : GPU_CHUNK;
        const gpu_u64 *words = work->tensors->words + at / GPU_CHUNK * TDC_GPU_CHUNK_WORDS;
        struct tdc_pair_sums sums;
        bool joined = on_device && tdc_gpu_chunk_join(&work->pair, words, here, &sums);
        out->tiles += on_device ? 1 : 0;
        out->rescued += on_device && !joined ? 1 : 0;
        if (!joined && !by_cpu(work, first + at, here, &sums))
            return false;
        tdc_pair_merge(total, &sums);
    }
    return true;
}

static tdc_status compare(tdc_device *base, const void *n, tdc_dtype n_dtype, const void *b,
                          tdc_dtype b_dtype, uint64_t count, enum tdc_relative_rule rule,
                          void *stream, struct tdc_device_sums *sums, struct tdc_error *error)
{
    struct comparison work = {
        .tensors = (struct cuda_tensors *)base,
        .n = (uint64_t)(uintptr_t)n,
        .b = (uint64_t)(uintptr_t)b,
        .n_size = tdc_dtype_size(n_dtype),
        .b_size = tdc_dtype_size(b_dtype),
        .stream = stream,
    };
    *sums = (struct tdc_device_sums){0};
    tdc_status status = tdc_tensors_plan(n_dtype, b_dtype, rule, count, &work.plan, error);
    if (status != TDC_OK)
        return status;
    work.kernel = tdc_gpu_pair_make(&work.plan, &work.pair);
    /* elements that are not aligned, and kernels that are not to be trusted, are copied out */
    bool on_device = work.n % work.n_size == 0 && work.b % work.b_size == 0 &&
                     tdc_gpu_proven(&work.tensors->slot.base.base, &work.plan, NULL);
    struct tdc_pair_sums total;
    tdc_pair_clear(&total);
    for (uint64_t first = 0; first < count; first += BATCH * GPU_CHUNK) {
        uint64_t here = count - first < BATCH * GPU_CHUNK ? count - first : BATCH * GPU_CHUNK;
        if (!compare_batch(&work, on_device, first, here, sums, &total))
            return explain(work.failure, error);
    }
    tdc_tensors_publish(&total, sums);
    return TDC_OK;
}

/* ---- making ---------------------------------------------------------------------------------- */

static void free_tensors(tdc_device *base)
{
    struct cuda_tensors *tensors = (struct cuda_tensors *)base;
    const struct tdc_cuda *cuda = tensors->own->cuda;
    tdc_slot_close(&tensors->slot.base.base);
    if (tensors->words != NULL)
        cuda->cuMemFreeHost(tensors->words);
    if (tensors->lanes != 0)
        cuda->cuMemFree(tensors->lanes);
    if (tensors->own->module != NULL)
        cuda->cuModuleUnload(tensors->own->module);
    pthread_mutex_destroy(&tensors->own->base.lock);
    free(tensors->own);
    free(tensors);
}

static tdc_status start(struct cuda_tensors *tensors, struct tdc_error *error)
{
    struct tdc_cuda_card *own = tensors->own;
    void *words = NULL;
    uint64_t memory = 0;
    struct tdc_call_failure failure = {NULL, 0};
    if (!take(&failure, "cuCtxGetDevice", own->cuda->cuCtxGetDevice(&own->device)))
        return explain(failure, error);
    own->base.base.id = own->device;
    tdc_status status = tdc_cuda_load(own, error);
    if (status != TDC_OK)
        return status;
    failure = tdc_slot_open(&tensors->slot.base.base, &own->base.base, false);
    if (failure.code == 0 &&
        take(&failure, "cuMemHostAlloc",
             own->cuda->cuMemHostAlloc(&words, BATCH * (TDC_GPU_CHUNK_BYTES + TDC_GPU_ENTRY_BYTES),
                                       0))) {
        tensors->words = words;
        tensors->table = (gpu_u32 *)(tensors->words + BATCH * TDC_GPU_CHUNK_WORDS);
    }
    if (failure.code == 0 &&
        take(&failure, "cuMemAlloc",
             own->cuda->cuMemAlloc(
                 &memory, BATCH * (LANE_BYTES + TDC_GPU_CHUNK_BYTES + TDC_GPU_ENTRY_BYTES)))) {
        tensors->lanes = memory;
        tensors->device_words = memory + BATCH * LANE_BYTES;
        tensors->device_table = tensors->device_words + BATCH * TDC_GPU_CHUNK_BYTES;
    }
    return failure.code == 0 ? TDC_OK : explain(failure, error);
}

tdc_status tdc_cuda_tensors_new(tdc_device **made, struct tdc_error *error)
{
    *made = NULL;
    struct tdc_error own_error = {0};
    const struct tdc_cuda *cuda = tdc_cuda_start(&own_error);
    if (cuda == NULL)
        return tdc_fail(error, TDC_ERR_DEVICE, "%s", own_error.message);
    void *context = NULL;
    int code = cuda->cuCtxGetCurrent(&context);
    if (code != 0)
        return explain((struct tdc_call_failure){"cuCtxGetCurrent", code}, error);
    if (context == NULL)
        return tdc_fail(error, TDC_ERR_DEVICE, "CUDA: the thread has no current context");
    struct cuda_tensors *tensors = calloc(1, sizeof *tensors);
    struct tdc_cuda_card *own = tdc_cuda_card_new(cuda, 0);
    if (tensors == NULL || own == NULL) {
        free(tensors);
        free(own);
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for a device");
    }
    tensors->base = (struct tdc_device){free_tensors, compare};
    tensors->own = own;
    tdc_status status = start(tensors, error);
    if (status == TDC_OK)
        *made = &tensors->base;
    else
        free_tensors(&tensors->base);
    return status;
}
