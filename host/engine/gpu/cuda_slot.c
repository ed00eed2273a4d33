/* cuda_slot.c - one chunk on its way through a CUDA device. */
#include "host/engine/gpu/cuda_slot.h"

static const struct tdc_call_failure none = {NULL, 0};

static const struct tdc_cuda_card *card_of(const struct tdc_slot *slot)
{
    return (const struct tdc_cuda_card *)slot->card;
}

/* Returns from the function with the call that failed. */
#define TRY(cuda, function, ...)                                                                   \
    do {                                                                                           \
        int code_ = (cuda)->function(__VA_ARGS__);                                                 \
        if (code_ != 0)                                                                            \
            return (struct tdc_call_failure){#function, code_};                                    \
    } while (0)

/* The event that times of all slots of the card are counted from; it is over when the slot is first
 * waited for. */
static struct tdc_call_failure begin_time(struct tdc_cuda_slot *own)
{
    struct tdc_cuda_card *card = (struct tdc_cuda_card *)own->base.base.card;
    void *event;
    if (card->beginning != NULL)
        return none;
    TRY(card->cuda, cuEventCreate, &event, TDC_CU_EVENT_DEFAULT);
    card->beginning = event;
    own->base.base.pending = true;
    TRY(card->cuda, cuEventRecord, event, own->stream);
    return none;
}

struct tdc_call_failure tdc_cuda_slot_open(struct tdc_slot *slot)
{
    const struct tdc_cuda *cuda = card_of(slot)->cuda;
    struct tdc_cuda_slot *own = (struct tdc_cuda_slot *)slot;
    void *made;
    uint64_t memory;
    TRY(cuda, cuMemHostAlloc, &made, TDC_GPU_PINNED_BYTES, 0);
    own->pinned = made;
    TRY(cuda, cuMemAlloc, &memory, TDC_GPU_INPUT_BYTES + TDC_GPU_LANE_BYTES + TDC_GPU_WORD_BYTES);
    own->memory = memory;
    TRY(cuda, cuStreamCreate, &made, TDC_CU_STREAM_NON_BLOCKING);
    own->stream = made;
    for (unsigned i = 0; slot->timed && i < TDC_SLOT_POINTS; i++) {
        TRY(cuda, cuEventCreate, &made, TDC_CU_EVENT_DEFAULT);
        own->events[i] = made;
    }
    tdc_gpu_slot_lay_out(&own->base, own->pinned);
    return slot->timed ? begin_time(own) : none;
}

/* Freeing memory waits for what uses it: a slot that does not end is left alone. */
bool tdc_cuda_slot_close(struct tdc_slot *slot, struct tdc_call_failure waited)
{
    const struct tdc_cuda *cuda = card_of(slot)->cuda;
    struct tdc_cuda_slot *own = (struct tdc_cuda_slot *)slot;
    (void)waited;
    if (slot->pending)
        return false;
    for (unsigned i = 0; i < TDC_SLOT_POINTS; i++)
        if (own->events[i] != NULL)
            cuda->cuEventDestroy(own->events[i]);
    if (own->stream != NULL)
        cuda->cuStreamDestroy(own->stream);
    if (own->memory != 0)
        cuda->cuMemFree(own->memory);
    if (own->pinned != NULL)
        cuda->cuMemFreeHost(own->pinned);
    return true;
}

int tdc_cuda_run(const struct tdc_cuda_card *card, unsigned kernel, uint64_t items, void *stream,
                 void **arguments)
{
    return card->cuda->cuLaunchKernel(card->functions[kernel], (unsigned)(items / TDC_GPU_GROUP), 1,
                                      1, TDC_GPU_GROUP, 1, 1, 0, stream, arguments, NULL);
}

static int mark(const struct tdc_cuda *cuda, const struct tdc_cuda_slot *own, unsigned point)
{
    return own->events[point] == NULL ? 0 : cuda->cuEventRecord(own->events[point], own->stream);
}

#define MARK(point)                                                                                \
    do {                                                                                           \
        int code_ = mark(cuda, own, point);                                                        \
        if (code_ != 0)                                                                            \
            return (struct tdc_call_failure){"cuEventRecord", code_};                              \
    } while (0)

struct tdc_call_failure tdc_cuda_slot_launch(struct tdc_slot *slot,
                                             const struct tdc_slot_load *load)
{
    const struct tdc_cuda_card *card = card_of(slot);
    const struct tdc_cuda *cuda = card->cuda;
    struct tdc_cuda_slot *own = (struct tdc_cuda_slot *)slot;
    struct tdc_gpu_launch launch = tdc_gpu_slot_prepare(&own->base, load);
    struct gpu_pair *told = &own->base.pair;
    uint64_t input = own->memory, lanes = input + TDC_GPU_INPUT_BYTES;
    uint64_t words = lanes + TDC_GPU_LANE_BYTES;
    void *pair[] = {&input, &input, &input, &lanes, told}, *join[] = {&input, &lanes, &words, told};
    MARK(TDC_POINT_START);
    TRY(cuda, cuMemcpyHtoDAsync, input, own->base.table, launch.n_bytes, own->stream);
    TRY(cuda, cuMemcpyHtoDAsync, input + TDC_GPU_B_AT, slot->b, launch.b_bytes, own->stream);
    MARK(TDC_POINT_COPIED);
    int code = tdc_cuda_run(card, launch.kernel, tdc_gpu_pair_items(told), own->stream, pair);
    if (code == 0)
        code = tdc_cuda_run(card, TDC_GPU_JOIN, tdc_gpu_join_items(told), own->stream, join);
    if (code != 0)
        return (struct tdc_call_failure){"cuLaunchKernel", code};
    MARK(TDC_POINT_COMPUTED);
    TRY(cuda, cuMemcpyDtoHAsync, own->base.words, words, launch.word_bytes, own->stream);
    MARK(TDC_POINT_DONE);
    return none;
}

struct tdc_call_failure tdc_cuda_slot_poll(struct tdc_slot *slot, bool *done)
{
    const struct tdc_cuda_slot *own = (const struct tdc_cuda_slot *)slot;
    int code = card_of(slot)->cuda->cuStreamQuery(own->stream);
    *done = code == 0;
    return code == 0 || code == TDC_CUDA_ERROR_NOT_READY
               ? none
               : (struct tdc_call_failure){"cuStreamQuery", code};
}

bool tdc_cuda_slot_time(struct tdc_slot *slot, enum tdc_slot_point point, double *seconds)
{
    const struct tdc_cuda_slot *own = (const struct tdc_cuda_slot *)slot;
    const struct tdc_cuda_card *card = card_of(slot);
    float milliseconds;
    if (own->events[point] == NULL || card->beginning == NULL ||
        card->cuda->cuEventElapsedTime(&milliseconds, card->beginning, own->events[point]) != 0)
        return false;
    *seconds = (double)milliseconds * 1e-3;
    return true;
}
