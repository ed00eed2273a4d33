/* cuda_slot.c - one chunk on its way through a CUDA device. */
#include "host/engine/gpu/cuda_slot.h"

#include <stdlib.h>

struct cuda_slot {
    void *stream;
    void *pinned;
    uint64_t memory;              /* on the device: input, lanes, words */
    void *events[TDC_GPU_POINTS]; /* only when timed */
};

static const struct tdc_call_failure none = {NULL, 0};

static const struct tdc_cuda_device *device_of(const struct tdc_gpu_slot *slot)
{
    return slot->device->own;
}

/* Returns from the function with the call that failed. */
#define TRY(cuda, function, ...)                                                                   \
    do {                                                                                           \
        int code_ = (cuda)->function(__VA_ARGS__);                                                 \
        if (code_ != 0)                                                                            \
            return (struct tdc_call_failure){#function, code_};                                    \
    } while (0)

struct tdc_call_failure tdc_cuda_slot_open(struct tdc_gpu_slot *slot)
{
    const struct tdc_cuda *cuda = device_of(slot)->cuda;
    struct cuda_slot *own = calloc(1, sizeof *own);
    slot->own = own;
    if (own == NULL)
        return (struct tdc_call_failure){"malloc", TDC_CUDA_ERROR_OUT_OF_MEMORY};
    void *made;
    uint64_t memory;
    TRY(cuda, cuMemHostAlloc, &made, TDC_GPU_SLOT_BYTES + TDC_GPU_CHUNK_BYTES, 0);
    own->pinned = made;
    TRY(cuda, cuMemAlloc, &memory, TDC_GPU_SLOT_BYTES + TDC_GPU_LANE_BYTES + TDC_GPU_CHUNK_BYTES);
    own->memory = memory;
    TRY(cuda, cuStreamCreate, &made, TDC_CU_STREAM_NON_BLOCKING);
    own->stream = made;
    for (unsigned i = 0; slot->timed && i < TDC_GPU_POINTS; i++) {
        TRY(cuda, cuEventCreate, &made, TDC_CU_EVENT_DEFAULT);
        own->events[i] = made;
    }
    slot->staging = own->pinned;
    slot->words = (gpu_u64 *)(void *)(slot->staging + TDC_GPU_SLOT_BYTES);
    return none;
}

void tdc_cuda_slot_close(struct tdc_gpu_slot *slot)
{
    const struct tdc_cuda *cuda = device_of(slot)->cuda;
    struct cuda_slot *own = slot->own;
    if (own == NULL)
        return;
    for (unsigned i = 0; i < TDC_GPU_POINTS; i++)
        if (own->events[i] != NULL)
            cuda->cuEventDestroy(own->events[i]);
    if (own->stream != NULL)
        cuda->cuStreamDestroy(own->stream);
    if (own->memory != 0)
        cuda->cuMemFree(own->memory);
    if (own->pinned != NULL)
        cuda->cuMemFreeHost(own->pinned);
    free(own);
    slot->own = NULL;
}

int tdc_cuda_run(const struct tdc_cuda_device *own, unsigned kernel, uint64_t items, void *stream,
                 void **arguments)
{
    return own->cuda->cuLaunchKernel(own->functions[kernel], (unsigned)(items / TDC_GPU_GROUP), 1,
                                     1, TDC_GPU_GROUP, 1, 1, 0, stream, arguments, NULL);
}

static int mark(const struct tdc_cuda *cuda, const struct cuda_slot *own, unsigned point)
{
    return own->events[point] == NULL ? 0 : cuda->cuEventRecord(own->events[point], own->stream);
}

#define MARK(point)                                                                                \
    do {                                                                                           \
        int code_ = mark(cuda, own, point);                                                        \
        if (code_ != 0)                                                                            \
            return (struct tdc_call_failure){"cuEventRecord", code_};                              \
    } while (0)

struct tdc_call_failure tdc_cuda_slot_launch(struct tdc_gpu_slot *slot, unsigned kernel,
                                             size_t bytes)
{
    const struct tdc_cuda_device *device = device_of(slot);
    const struct tdc_cuda *cuda = device->cuda;
    struct cuda_slot *own = slot->own;
    uint64_t input = own->memory, lanes = input + TDC_GPU_SLOT_BYTES;
    uint64_t words = lanes + TDC_GPU_LANE_BYTES;
    void *pair[] = {&input, &input, &lanes, &slot->pair}, *join[] = {&lanes, &words, &slot->pair};
    MARK(TDC_GPU_START);
    TRY(cuda, cuMemcpyHtoDAsync, input, slot->staging, bytes, own->stream);
    MARK(TDC_GPU_COPIED);
    int code = tdc_cuda_run(device, kernel, tdc_gpu_pair_items(&slot->pair), own->stream, pair);
    if (code == 0)
        code =
            tdc_cuda_run(device, TDC_GPU_JOIN, tdc_gpu_join_items(&slot->pair), own->stream, join);
    if (code != 0)
        return (struct tdc_call_failure){"cuLaunchKernel", code};
    MARK(TDC_GPU_COMPUTED);
    TRY(cuda, cuMemcpyDtoHAsync, slot->words, words, TDC_GPU_CHUNK_BYTES, own->stream);
    MARK(TDC_GPU_DONE);
    return none;
}

struct tdc_call_failure tdc_cuda_slot_poll(struct tdc_gpu_slot *slot, bool *done)
{
    const struct cuda_slot *own = slot->own;
    int code = device_of(slot)->cuda->cuStreamQuery(own->stream);
    *done = code == 0;
    return code == 0 || code == TDC_CUDA_ERROR_NOT_READY
               ? none
               : (struct tdc_call_failure){"cuStreamQuery", code};
}

double tdc_cuda_slot_time(struct tdc_gpu_slot *slot, unsigned from, unsigned to)
{
    const struct cuda_slot *own = slot->own;
    float milliseconds;
    if (own->events[from] == NULL || own->events[to] == NULL ||
        device_of(slot)->cuda->cuEventElapsedTime(&milliseconds, own->events[from],
                                                  own->events[to]) != 0)
        return -1;
    return (double)milliseconds * 1e-3;
}
