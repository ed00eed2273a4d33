/* cuda_tensors.c - tensors that live on a CUDA device, in the context of the caller. */
#include <stdlib.h>

#include "host/engine/gpu/cuda_slot.h"
#include "host/engine/gpu/gpu_tensors.h"
#include "io/base/error.h"

struct cuda_tensors {
    struct tdc_gpu_tensors base;
    struct tdc_cuda_card *card; /* in the caller's context */
    struct tdc_cuda_slot slot;  /* its stream is that of copies */
    void *streams[2];           /* of the batches */
    uint64_t memory[2];         /* of the batches: lanes, words, table */
};

static struct cuda_tensors *tensors_of(const struct tdc_tensors_work *work)
{
    return (struct cuda_tensors *)work->device;
}

static struct tdc_call_failure poll(struct tdc_tensors_work *work, unsigned queue, bool *done)
{
    const struct cuda_tensors *tensors = tensors_of(work);
    void *stream = queue == TDC_GPU_CALLER   ? work->stream
                   : queue == TDC_GPU_COPIES ? tensors->slot.stream
                                             : tensors->streams[queue];
    int code = tensors->card->cuda->cuStreamQuery(stream);
    *done = code == 0;
    return (struct tdc_call_failure){"cuStreamQuery", code == TDC_CUDA_ERROR_NOT_READY ? 0 : code};
}

static bool copy(struct tdc_tensors_work *work, void *n, void *b, uint64_t first, size_t count)
{
    const struct cuda_tensors *tensors = tensors_of(work);
    const struct tdc_cuda *cuda = tensors->card->cuda;
    uint64_t n_from = (uint64_t)(uintptr_t)work->n + first * work->n_size;
    uint64_t b_from = (uint64_t)(uintptr_t)work->b + first * work->b_size;
    return tdc_tensors_keep(
               work, "cuMemcpyDtoHAsync",
               cuda->cuMemcpyDtoHAsync(n, n_from, count * work->n_size, tensors->slot.stream)) &&
           tdc_tensors_keep(
               work, "cuMemcpyDtoHAsync",
               cuda->cuMemcpyDtoHAsync(b, b_from, count * work->b_size, tensors->slot.stream));
}

static bool enqueue(struct tdc_tensors_work *work, unsigned turn, uint64_t first)
{
    struct cuda_tensors *tensors = tensors_of(work);
    struct tdc_gpu_batch *batch = &tensors->base.batches[turn];
    struct gpu_pair *told = &batch->pair;
    const struct tdc_cuda *cuda = tensors->card->cuda;
    void *stream = tensors->streams[turn];
    uint64_t n = (uint64_t)(uintptr_t)work->n + first * work->n_size;
    uint64_t b = (uint64_t)(uintptr_t)work->b + first * work->b_size;
    uint64_t lanes = tensors->memory[turn], words = lanes + TDC_GPU_BATCH_LANES;
    uint64_t table = words + TDC_GPU_BATCH_WORDS;
    void *pair[] = {&n, &b, &table, &lanes, told}, *join[] = {&table, &lanes, &words, told};
    return tdc_tensors_keep(work, "cuMemcpyHtoDAsync",
                            cuda->cuMemcpyHtoDAsync(table, batch->table,
                                                    told->chunks * TDC_GPU_ENTRY_BYTES, stream)) &&
           tdc_tensors_keep(work, "cuLaunchKernel",
                            tdc_cuda_run(tensors->card, tensors->base.kernel,
                                         tdc_gpu_pair_items(told), stream, pair)) &&
           tdc_tensors_keep(
               work, "cuLaunchKernel",
               tdc_cuda_run(tensors->card, TDC_GPU_JOIN, tdc_gpu_join_items(told), stream, join)) &&
           tdc_tensors_keep(work, "cuMemcpyDtoHAsync",
                            cuda->cuMemcpyDtoHAsync(batch->words, words,
                                                    told->chunks * TDC_GPU_CHUNK_BYTES, stream));
}

static bool begin(struct tdc_tensors_work *work, const char **why)
{
    if ((uintptr_t)work->n % work->n_size != 0 || (uintptr_t)work->b % work->b_size != 0)
        *why = "an address is not a multiple of the size of its elements";
    return tdc_gpu_tensors_begin(work, why);
}

/* ---- the object ------------------------------------------------------------------------------ */

static void free_tensors(tdc_device *base)
{
    struct cuda_tensors *tensors = (struct cuda_tensors *)base;
    const struct tdc_cuda *cuda = tensors->card->cuda;
    if (base->given_up)
        return; /* freeing waits for what does not end, and that may still use all of it */
    tdc_slot_close(&tensors->slot.base.base);
    for (unsigned i = 0; i < 2; i++) {
        if (tensors->streams[i] != NULL)
            cuda->cuStreamDestroy(tensors->streams[i]);
        if (tensors->memory[i] != 0)
            cuda->cuMemFree(tensors->memory[i]);
    }
    if (tensors->card->module != NULL)
        cuda->cuModuleUnload(tensors->card->module);
    pthread_mutex_destroy(&tensors->card->base.lock);
    free(tensors->card);
    free(tensors);
}

static const struct tdc_tensors_calls calls = {
    .free = free_tensors,
    .describe = tdc_cuda_describe,
    .begin = begin,
    .launch = tdc_gpu_tensors_launch,
    .wait = tdc_gpu_tensors_wait,
    .take = tdc_gpu_tensors_take,
    .copy = copy,
    .copied = tdc_gpu_tensors_copied,
};

static struct tdc_call_failure make_batch(struct cuda_tensors *tensors, unsigned turn)
{
    const struct tdc_cuda *cuda = tensors->card->cuda;
    void *stream = NULL;
    uint64_t memory = 0;
    int code = cuda->cuStreamCreate(&stream, TDC_CU_STREAM_NON_BLOCKING);
    if (code != 0)
        return (struct tdc_call_failure){"cuStreamCreate", code};
    tensors->streams[turn] = stream;
    code =
        cuda->cuMemAlloc(&memory, TDC_GPU_BATCH_LANES + TDC_GPU_BATCH_WORDS + TDC_GPU_BATCH_TABLE);
    if (code != 0)
        return (struct tdc_call_failure){"cuMemAlloc", code};
    tensors->memory[turn] = memory;
    return (struct tdc_call_failure){NULL, 0};
}

static tdc_status explain(struct tdc_call_failure failure, struct tdc_error *error)
{
    char text[400];
    tdc_cuda_describe(failure, text, sizeof text);
    return tdc_fail(error, TDC_ERR_DEVICE, "CUDA: %s", text);
}

static tdc_status start(struct cuda_tensors *tensors, struct tdc_error *error)
{
    struct tdc_cuda_card *card = tensors->card;
    int code = card->cuda->cuCtxGetDevice(&card->device);
    if (code != 0)
        return explain((struct tdc_call_failure){"cuCtxGetDevice", code}, error);
    card->base.base.id = card->device;
    tdc_status status = tdc_cuda_load(card, error);
    if (status != TDC_OK)
        return status;
    struct tdc_call_failure failure =
        tdc_slot_open(&tensors->slot.base.base, &card->base.base, false);
    for (unsigned i = 0; i < 2 && failure.code == 0; i++)
        failure = make_batch(tensors, i);
    if (failure.code != 0)
        return explain(failure, error);
    tdc_gpu_tensors_lay_out(&tensors->base);
    return TDC_OK;
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
    struct tdc_cuda_card *card = tdc_cuda_card_new(cuda, 0);
    if (tensors == NULL || card == NULL) {
        free(tensors);
        free(card);
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for a device");
    }
    tensors->base.base.calls = &calls;
    tensors->base.slot = &tensors->slot.base.base;
    tensors->base.enqueue = enqueue;
    tensors->base.poll = poll;
    tensors->card = card;
    tdc_status status = start(tensors, error);
    if (status == TDC_OK)
        *made = &tensors->base.base;
    else
        free_tensors(&tensors->base.base);
    return status;
}
