/* ascend_slot.c - see ascend_slot.h. */
#include "host/engine/ascend/ascend_slot.h"

#include <string.h>

#define RECORD_BYTES (TDC_SLOT_TILES * TDC_TILE_RECORD_BYTES)
#define SLOT_BYTES   (2 * TDC_ASCEND_SIDE + RECORD_BYTES + 512)
/* Behind the records in pinned memory, which outlives a kernel that never ends. */
#define ARGUMENTS_AT (2 * TDC_ASCEND_SIDE + RECORD_BYTES)

static const struct tdc_call_failure none = {NULL, 0};

/* Returns from the function with the call that failed. */
#define TRY(acl, function, ...)                                                                    \
    do {                                                                                           \
        int code_ = (acl)->function(__VA_ARGS__);                                                  \
        if (code_ != 0)                                                                            \
            return (struct tdc_call_failure){#function, code_};                                    \
    } while (0)

/* The event that times of all slots of the card are counted from; it is over when the slot is first
 * waited for. */
static struct tdc_call_failure begin_time(struct tdc_ascend_slot *slot)
{
    struct tdc_ascend_device *device = tdc_ascend_slot_device(slot);
    void *event;
    if (device->beginning != NULL)
        return none;
    TRY(device->acl, aclrtCreateEvent, &event);
    device->beginning = event;
    slot->base.pending = true;
    TRY(device->acl, aclrtRecordEvent, event, slot->stream);
    return none;
}

struct tdc_call_failure tdc_acl_slot_open(struct tdc_slot *base)
{
    struct tdc_ascend_slot *slot = (struct tdc_ascend_slot *)base;
    const struct tdc_acl *acl = tdc_ascend_slot_device(slot)->acl;
    void *staging, *memory, *stream;
    TRY(acl, aclrtMallocHost, &staging, SLOT_BYTES);
    base->n = staging;
    base->b = base->n + TDC_ASCEND_SIDE;
    TRY(acl, aclrtMalloc, &memory, SLOT_BYTES, TDC_ACL_MEM_MALLOC_HUGE_FIRST);
    slot->memory = memory;
    TRY(acl, aclrtCreateStream, &stream);
    slot->stream = stream;
    for (unsigned i = base->timed ? 0 : TDC_POINT_DONE; i < TDC_SLOT_POINTS; i++) {
        void *event;
        TRY(acl, aclrtCreateEvent, &event);
        slot->events[i] = event;
    }
    return base->timed ? begin_time(slot) : none;
}

struct tdc_call_failure tdc_acl_slot_wait(struct tdc_slot *base, double seconds)
{
    struct tdc_ascend_slot *slot = (struct tdc_ascend_slot *)base;
    TRY(tdc_ascend_slot_device(slot)->acl, aclrtSynchronizeStreamWithTimeout, slot->stream,
        (int32_t)(seconds * 1e3));
    base->pending = false;
    return none;
}

/*
 * Functions that end a stream or a card wait for unfinished work, which may be a quarter of an hour
 * and more. So a stream that does not end is destroyed by force where the runtime can do that; else
 * it is left alone, and so is its card. The memory stays in either case: a kernel that was given up
 * may still write there.
 */
static void abandon(struct tdc_ascend_slot *slot)
{
    const struct tdc_acl *acl = tdc_ascend_slot_device(slot)->acl;
    bool forced =
        acl->aclrtDestroyStreamForce != NULL && acl->aclrtDestroyStreamForce(slot->stream) == 0;
    tdc_ascend_abandon(tdc_ascend_slot_device(slot), forced);
}

bool tdc_acl_slot_close(struct tdc_slot *base, struct tdc_call_failure waited)
{
    struct tdc_ascend_slot *slot = (struct tdc_ascend_slot *)base;
    const struct tdc_acl *acl = tdc_ascend_slot_device(slot)->acl;
    /* any other failure says that the stream is dead */
    if (base->pending && tdc_acl_is_timeout(waited.code)) {
        abandon(slot);
        return false;
    }
    for (unsigned i = 0; i < TDC_SLOT_POINTS; i++)
        if (slot->events[i] != NULL)
            acl->aclrtDestroyEvent(slot->events[i]);
    if (slot->stream != NULL)
        acl->aclrtDestroyStream(slot->stream);
    if (slot->memory != NULL)
        acl->aclrtFree(slot->memory);
    if (base->n != NULL)
        acl->aclrtFreeHost(base->n);
    return true;
}

const float *tdc_ascend_slot_records(const struct tdc_ascend_slot *slot)
{
    return (const float *)(const void *)(slot->base.n + 2 * TDC_ASCEND_SIDE);
}

static int mark(struct tdc_ascend_slot *slot, unsigned point)
{
    if (slot->events[point] == NULL)
        return 0;
    return tdc_ascend_slot_device(slot)->acl->aclrtRecordEvent(slot->events[point], slot->stream);
}

#define MARK(slot, point)                                                                          \
    do {                                                                                           \
        int code_ = mark(slot, point);                                                             \
        if (code_ != 0)                                                                            \
            return (struct tdc_call_failure){"aclrtRecordEvent", code_};                           \
    } while (0)

struct tdc_call_failure tdc_ascend_slot_launch(struct tdc_ascend_slot *slot, unsigned kernel,
                                               void *function, size_t tiles, uint32_t blocks)
{
    const struct tdc_acl *acl = tdc_ascend_slot_device(slot)->acl;
    const struct tdc_ascend_kernel_spec *spec = &tdc_ascend_kernels[kernel];
    size_t n_bytes = tiles * spec->pairs * tdc_dtype_size(spec->n_dtype);
    size_t b_bytes = tiles * spec->pairs * tdc_dtype_size(spec->b_dtype);
    size_t record_bytes = tiles * TDC_TILE_RECORD_BYTES;
    unsigned char *n = slot->memory, *b = n + TDC_ASCEND_SIDE, *records = b + TDC_ASCEND_SIDE;
    if (blocks == 0)
        blocks = tdc_ascend_slot_device(slot)->cores;
    if (blocks > tiles)
        blocks = (uint32_t)tiles;
    /* pending from the first call on: one that reports a failure may have begun */
    slot->base.pending = true;
    MARK(slot, TDC_POINT_START);
    TRY(acl, aclrtMemcpyAsync, n, TDC_ASCEND_SIDE, slot->base.n, n_bytes,
        TDC_ACL_MEMCPY_HOST_TO_DEVICE, slot->stream);
    TRY(acl, aclrtMemcpyAsync, b, TDC_ASCEND_SIDE, slot->base.b, b_bytes,
        TDC_ACL_MEMCPY_HOST_TO_DEVICE, slot->stream);
    MARK(slot, TDC_POINT_COPIED);
    /* alive until the slot is waited for, as the launch may read it late */
    uint64_t *arguments = (uint64_t *)(void *)(slot->base.n + ARGUMENTS_AT);
    const void *pointers[] = {n, b, records};
    for (unsigned i = 0; i < 3; i++)
        arguments[i] = (uint64_t)(uintptr_t)pointers[i];
    arguments[3] = tiles;
    TRY(acl, aclrtLaunchKernelWithHostArgs, function, blocks, slot->stream, NULL, arguments,
        4 * sizeof *arguments, NULL, 0);
    MARK(slot, TDC_POINT_COMPUTED);
    TRY(acl, aclrtMemcpyAsync, slot->base.n + 2 * TDC_ASCEND_SIDE, RECORD_BYTES, records,
        record_bytes, TDC_ACL_MEMCPY_DEVICE_TO_HOST, slot->stream);
    MARK(slot, TDC_POINT_DONE);
    return none;
}

/* A question that is not answered does no harm: the wait will tell. */
struct tdc_call_failure tdc_acl_slot_poll(struct tdc_slot *base, bool *done)
{
    const struct tdc_ascend_slot *slot = (const struct tdc_ascend_slot *)base;
    const struct tdc_acl *acl = tdc_ascend_slot_device(slot)->acl;
    int status = 0;
    *done = acl->aclrtQueryEventStatus != NULL &&
            acl->aclrtQueryEventStatus(slot->events[TDC_POINT_DONE], &status) == 0 &&
            status == TDC_ACL_EVENT_RECORDED_STATUS_COMPLETE;
    return none;
}

bool tdc_acl_slot_time(struct tdc_slot *base, enum tdc_slot_point point, double *seconds)
{
    const struct tdc_ascend_slot *slot = (const struct tdc_ascend_slot *)base;
    const struct tdc_ascend_device *device = tdc_ascend_slot_device(slot);
    float milliseconds;
    if (slot->events[point] == NULL || device->beginning == NULL ||
        device->acl->aclrtEventElapsedTime(&milliseconds, device->beginning, slot->events[point]) !=
            0)
        return false;
    *seconds = (double)milliseconds * 1e-3;
    return true;
}
