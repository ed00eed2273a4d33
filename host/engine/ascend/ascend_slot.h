/*
 * ascend_slot.h - the memory and the stream of one launch on its way to a card and back.
 *
 * A slot owns one pinned block (both sides, the records) and its counterpart on the device, a
 * stream and an event. Everything of a launch runs on the slot's stream: copy n, copy b, kernel,
 * copy the records back, event. Pinned memory makes these calls return at once; the staging must
 * not be touched until the slot has been waited for.
 */
#ifndef TDC_ASCEND_SLOT_H
#define TDC_ASCEND_SLOT_H

#include "host/engine/ascend/ascend_device.h"
#include "kernels/pair.h"

/* Tiles of a slot: all of f32. */
#define TDC_SLOT_TILES (TDC_SLOT_SIDE / (4 * (size_t)TDC_TILE_PAIRS))

struct tdc_ascend_slot {
    struct tdc_slot base;
    unsigned char *memory; /* on the device: n, b, records; never read by the host */
    void *stream;
    void *events[TDC_SLOT_POINTS]; /* only TDC_POINT_DONE unless timed */
};

static inline struct tdc_ascend_device *tdc_ascend_slot_device(const struct tdc_ascend_slot *slot)
{
    return (struct tdc_ascend_device *)slot->base.card;
}

/* From one side to the other, in the staging and on the device: a piece is followed by the 32 bytes
 * of slack the vendor asks for. */
#define TDC_ASCEND_SIDE (TDC_SLOT_SIDE + 512)

/* Valid after a wait. */
const float *tdc_ascend_slot_records(const struct tdc_ascend_slot *slot);

/* Sends the staged tiles on their way, for at most so many blocks (0: one for each core). code 0 on
 * success. */
struct tdc_call_failure tdc_ascend_slot_launch(struct tdc_ascend_slot *slot, unsigned kernel,
                                               void *function, size_t tiles, uint32_t blocks);

/* Functions of tdc_family_ascend. */
struct tdc_call_failure tdc_acl_slot_open(struct tdc_slot *slot);
bool tdc_acl_slot_close(struct tdc_slot *slot, struct tdc_call_failure waited);
struct tdc_call_failure tdc_acl_slot_wait(struct tdc_slot *slot, double seconds);
struct tdc_call_failure tdc_acl_slot_poll(struct tdc_slot *slot, bool *done);
bool tdc_acl_slot_time(struct tdc_slot *slot, enum tdc_slot_point point, double *seconds);

#endif
