/* ascend_slot.c - see ascend_slot.h. */
#include "host/engine/ascend/ascend_slot.h"

#include <string.h>

/* Both sides start at full-bandwidth addresses, and a piece is followed by the 32 bytes of slack
 * the vendor asks for. */
#define ALIGNMENT    512u
#define SIDE_BYTES   ((size_t)TDC_SLOT_TILES * TDC_TILE_PAIRS * 4 + ALIGNMENT)
#define RECORD_BYTES ((size_t)TDC_SLOT_TILES * TDC_TILE_RECORD_BYTES)
#define SLOT_BYTES   (2 * SIDE_BYTES + RECORD_BYTES + ALIGNMENT)
/* Behind the records in pinned memory, which outlives a kernel that never ends. */
#define ARGUMENTS_AT (2 * SIDE_BYTES + RECORD_BYTES)

/* 60 s per GB of slot and at least 10 s: a slot has 16 MiB. */
#define TIMEOUT_MILLISECONDS 10000
/* For what a stream that failed may still do; nobody wants its result. */
#define LAST_TIMEOUT_MILLISECONDS 1000

static const struct tdc_acl_failure none = {NULL, 0};

/* Returns from the function with the call that failed. */
#define TRY(acl, function, ...)                                                                    \
    do {                                                                                           \
        int code_ = (acl)->function(__VA_ARGS__);                                                  \
        if (code_ != 0)                                                                            \
            return (struct tdc_acl_failure){#function, code_};                                     \
    } while (0)

struct tdc_acl_failure tdc_ascend_slot_open(struct tdc_ascend_slot *slot,
                                            struct tdc_ascend_device *device, bool timed)
{
    const struct tdc_acl *acl = device->acl;
    *slot = (struct tdc_ascend_slot){.device = device, .timed = timed};
    void *staging, *memory, *stream;
    TRY(acl, aclrtMallocHost, &staging, SLOT_BYTES);
    slot->staging = staging;
    TRY(acl, aclrtMalloc, &memory, SLOT_BYTES, TDC_ACL_MEM_MALLOC_HUGE_FIRST);
    slot->memory = memory;
    TRY(acl, aclrtCreateStream, &stream);
    slot->stream = stream;
    for (unsigned i = timed ? 0 : TDC_SLOT_DONE; i < TDC_SLOT_EVENTS; i++) {
        void *event;
        TRY(acl, aclrtCreateEvent, &event);
        slot->events[i] = event;
    }
    return none;
}

static struct tdc_acl_failure wait_for(struct tdc_ascend_slot *slot, int32_t milliseconds)
{
    TRY(slot->device->acl, aclrtSynchronizeStreamWithTimeout, slot->stream, milliseconds);
    slot->pending = false;
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
    const struct tdc_acl *acl = slot->device->acl;
    bool forced =
        acl->aclrtDestroyStreamForce != NULL && acl->aclrtDestroyStreamForce(slot->stream) == 0;
    tdc_ascend_abandon(slot->device, forced);
    slot->device = NULL;
}

void tdc_ascend_slot_close(struct tdc_ascend_slot *slot)
{
    if (slot->device == NULL)
        return;
    const struct tdc_acl *acl = slot->device->acl;
    /* the device may still be reading the staging; a wait that was refused says nothing about it */
    if (slot->pending && tdc_acl_is_timeout(wait_for(slot, LAST_TIMEOUT_MILLISECONDS).code)) {
        abandon(slot);
        return;
    }
    for (unsigned i = 0; i < TDC_SLOT_EVENTS; i++)
        if (slot->events[i] != NULL)
            acl->aclrtDestroyEvent(slot->events[i]);
    if (slot->stream != NULL)
        acl->aclrtDestroyStream(slot->stream);
    if (slot->memory != NULL)
        acl->aclrtFree(slot->memory);
    if (slot->staging != NULL)
        acl->aclrtFreeHost(slot->staging);
    slot->device = NULL;
}

void *tdc_ascend_slot_n(struct tdc_ascend_slot *slot)
{
    return slot->staging;
}

void *tdc_ascend_slot_b(struct tdc_ascend_slot *slot)
{
    return slot->staging + SIDE_BYTES;
}

const float *tdc_ascend_slot_records(const struct tdc_ascend_slot *slot)
{
    return (const float *)(const void *)(slot->staging + 2 * SIDE_BYTES);
}

static int mark(struct tdc_ascend_slot *slot, unsigned point)
{
    if (slot->events[point] == NULL)
        return 0;
    return slot->device->acl->aclrtRecordEvent(slot->events[point], slot->stream);
}

#define MARK(slot, point)                                                                          \
    do {                                                                                           \
        int code_ = mark(slot, point);                                                             \
        if (code_ != 0)                                                                            \
            return (struct tdc_acl_failure){"aclrtRecordEvent", code_};                            \
    } while (0)

struct tdc_acl_failure tdc_ascend_slot_launch(struct tdc_ascend_slot *slot, unsigned kernel,
                                              void *function, size_t tiles, uint32_t blocks)
{
    const struct tdc_acl *acl = slot->device->acl;
    const struct tdc_ascend_kernel_spec *spec = &tdc_ascend_kernels[kernel];
    size_t n_bytes = tiles * spec->pairs * tdc_dtype_size(spec->n_dtype);
    size_t b_bytes = tiles * spec->pairs * tdc_dtype_size(spec->b_dtype);
    size_t record_bytes = tiles * TDC_TILE_RECORD_BYTES;
    unsigned char *n = slot->memory, *b = n + SIDE_BYTES, *records = b + SIDE_BYTES;
    if (blocks == 0)
        blocks = slot->device->cores;
    if (blocks > tiles)
        blocks = (uint32_t)tiles;
    /* pending from the first call on: one that reports a failure may have begun */
    slot->pending = true;
    MARK(slot, TDC_SLOT_START);
    TRY(acl, aclrtMemcpyAsync, n, SIDE_BYTES, tdc_ascend_slot_n(slot), n_bytes,
        TDC_ACL_MEMCPY_HOST_TO_DEVICE, slot->stream);
    TRY(acl, aclrtMemcpyAsync, b, SIDE_BYTES, tdc_ascend_slot_b(slot), b_bytes,
        TDC_ACL_MEMCPY_HOST_TO_DEVICE, slot->stream);
    MARK(slot, TDC_SLOT_COPIED);
    /* alive until the slot is waited for, as the launch may read it late */
    uint64_t *arguments = (uint64_t *)(void *)(slot->staging + ARGUMENTS_AT);
    const void *pointers[] = {n, b, records};
    for (unsigned i = 0; i < 3; i++)
        arguments[i] = (uint64_t)(uintptr_t)pointers[i];
    arguments[3] = tiles;
    TRY(acl, aclrtLaunchKernelWithHostArgs, function, blocks, slot->stream, NULL, arguments,
        4 * sizeof *arguments, NULL, 0);
    MARK(slot, TDC_SLOT_COMPUTED);
    TRY(acl, aclrtMemcpyAsync, slot->staging + 2 * SIDE_BYTES, RECORD_BYTES, records, record_bytes,
        TDC_ACL_MEMCPY_DEVICE_TO_HOST, slot->stream);
    MARK(slot, TDC_SLOT_DONE);
    return none;
}

struct tdc_acl_failure tdc_ascend_slot_wait(struct tdc_ascend_slot *slot)
{
    return wait_for(slot, TIMEOUT_MILLISECONDS);
}

bool tdc_ascend_slot_over(const struct tdc_ascend_slot *slot)
{
    const struct tdc_acl *acl = slot->device->acl;
    int status = 0;
    return acl->aclrtQueryEventStatus != NULL &&
           acl->aclrtQueryEventStatus(slot->events[TDC_SLOT_DONE], &status) == 0 &&
           status == TDC_ACL_EVENT_RECORDED_STATUS_COMPLETE;
}

double tdc_ascend_slot_time(struct tdc_ascend_slot *slot, unsigned from, unsigned to)
{
    float milliseconds;
    if (slot->events[from] == NULL || slot->events[to] == NULL ||
        slot->device->acl->aclrtEventElapsedTime(&milliseconds, slot->events[from],
                                                 slot->events[to]) != 0)
        return -1;
    return (double)milliseconds;
}
