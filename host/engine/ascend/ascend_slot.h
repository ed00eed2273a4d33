/*
 * ascend_slot.h - the memory and the stream of one chunk on its way to a device and back.
 *
 * A slot owns one pinned block (both sides of a chunk, the records) and its counterpart on the
 * device, a stream and an event. Everything of a chunk runs on the slot's stream: copy n, copy b,
 * kernel, copy the records back, event. Pinned memory makes these calls return at once; the staging
 * must not be touched until the slot has been waited for.
 */
#ifndef TDC_ASCEND_SLOT_H
#define TDC_ASCEND_SLOT_H

#include "host/engine/ascend/ascend_device.h"
#include "kernels/pair.h"

/* Tiles of a slot: 8 MiB a side of f32. */
#define TDC_SLOT_TILES 512

/* Points of a slot's stream between which the time is taken. */
enum {
    TDC_SLOT_START,
    TDC_SLOT_COPIED,
    TDC_SLOT_COMPUTED,
    TDC_SLOT_DONE,
    TDC_SLOT_EVENTS
};

struct tdc_ascend_slot {
    struct tdc_ascend_device *device;
    unsigned char *staging; /* pinned: n, b, records */
    unsigned char *memory;  /* on the device, the same layout: never read by the host */
    void *stream;
    void *events[TDC_SLOT_EVENTS]; /* only TDC_SLOT_DONE unless timed */
    bool timed;
    bool pending; /* something may be under way on the stream */
};

/* What is open is closed by tdc_ascend_slot_close, also after a failure. */
struct tdc_acl_failure tdc_ascend_slot_open(struct tdc_ascend_slot *slot,
                                            struct tdc_ascend_device *device, bool timed);
void tdc_ascend_slot_close(struct tdc_ascend_slot *slot);

void *tdc_ascend_slot_n(struct tdc_ascend_slot *slot);
void *tdc_ascend_slot_b(struct tdc_ascend_slot *slot);
/* Valid after tdc_ascend_slot_wait. */
const float *tdc_ascend_slot_records(const struct tdc_ascend_slot *slot);

/* Sends the staged tiles on their way, for at most so many blocks (0: one for each core). code 0 on
 * success. */
struct tdc_acl_failure tdc_ascend_slot_launch(struct tdc_ascend_slot *slot, unsigned kernel,
                                              void *function, size_t tiles, uint32_t blocks);
/* Waits until the stream is idle. After a failure the stream is to be regarded as dead. */
struct tdc_acl_failure tdc_ascend_slot_wait(struct tdc_ascend_slot *slot);

/* Whether all of it is over, without waiting; false where the runtime cannot tell. */
bool tdc_ascend_slot_over(const struct tdc_ascend_slot *slot);

/* Milliseconds between two points of the last launch of a timed slot; negative when unknown. */
double tdc_ascend_slot_time(struct tdc_ascend_slot *slot, unsigned from, unsigned to);

#endif
