/*
 * family.h - the families of devices: the one table that Ascend, CUDA and OpenCL implement.
 *
 * A card is opened once per run. A slot is its memory for one launch: pinned staging for both sides
 * of some chunks, the same on the device, a queue of its own. What a family does not see is in this
 * room: slots shared by threads (slot_pool.h), chunks handed over and taken back (device_chunks.c),
 * patience, what is done about failures, the CPU in place of a device (device_run.h).
 */
#ifndef TDC_DEVICE_FAMILY_H
#define TDC_DEVICE_FAMILY_H

#include <stdatomic.h>

#include "host/engine/backend.h"
#include "host/engine/device/device_run.h"
#include "host/engine/device/listing.h"
#include "host/engine/device/remedy.h"

/* Pinned memory of one side of a slot: 8 chunks of f32. */
#define TDC_SLOT_SIDE ((size_t)8 << 20)
/* Chunks of a slot: tensors may be small. */
#define TDC_SLOT_CHUNKS 256

/* The first member of a family's own card. */
struct tdc_card {
    const struct tdc_device_family *family;
    int32_t id;
    char name[128]; /* "Ascend910B3" */
    /* Nothing more is sent to it in this run. */
    atomic_bool lost;
    atomic_uint refusals; /* calls that failed */
    /* Work of ours did not end: what it may use stays for good, and so does what would wait for it.
     */
    atomic_bool abandoned;
};

/* Points of a slot's queue between which the time is taken. */
enum tdc_slot_point {
    TDC_POINT_START,
    TDC_POINT_COPIED,
    TDC_POINT_COMPUTED,
    TDC_POINT_DONE,
    TDC_SLOT_POINTS
};

/* The first member of a family's own slot. */
struct tdc_slot {
    struct tdc_card *card;
    unsigned char *n, *b; /* pinned staging of the sides, TDC_SLOT_SIDE each */
    bool timed;
    bool pending; /* something may be under way */
};

/* What is in the staging of a slot: chunks of one kind. */
struct tdc_slot_load {
    struct tdc_pair_plan plan; /* of the first chunk; all are of its kind */
    size_t units;
    unsigned count;
    struct {
        size_t first, pairs; /* the unit where it begins */
    } chunks[TDC_SLOT_CHUNKS];
};

/* The pair of the staging at which a chunk of a load begins. */
size_t tdc_staged_at(const struct tdc_slot *slot, const struct tdc_slot_load *load, unsigned at);

struct tdc_device_family {
    const char *name; /* "ascend", as in --device */

    /* ---- cards ---- */

    /* How many devices the process sees; 0 with *error set when there is none, or its runtime
     * fails. */
    unsigned (*count)(struct tdc_error *error);
    /* What was loaded, or NULL. */
    const char *(*library)(void);
    /* False for what is the CPU under another name. */
    bool (*is_card)(unsigned id);
    /* TDC_ERR_NOT_FOUND when it is not there, TDC_ERR_DEVICE when it cannot be used. */
    tdc_status (*open)(unsigned id, struct tdc_card **card, struct tdc_error *error);
    /* By the thread that opened it, its slots closed. Frees it. */
    void (*close)(struct tdc_card *card);
    /* For a thread that works with it; *before is what unbind gives back to the thread. */
    struct tdc_call_failure (*bind)(struct tdc_card *card, void **before);
    void (*unbind)(struct tdc_card *card, void *before);
    bool stays_bound; /* the thread that opened it, until it closes it */
    /* All devices and what they can do, or why there is none. Returned is how many cards are
     * usable. */
    unsigned (*list)(const struct tdc_device_family *family, const struct tdc_listing *listing);

    /* ---- failures ---- */

    enum tdc_remedy (*remedy_of)(int code);
    /* "clFlush: -36 INVALID_COMMAND_QUEUE"; one line. */
    void (*describe)(struct tdc_call_failure failure, char *text, size_t size);

    /* ---- pairs ---- */

    size_t unit; /* chunks begin at a multiple of so many pairs in their slot */
    bool exact;  /* its sums have the bits of the CPU's */
    /* Chunks of equal numbers may share a launch; -1: such pairs are not for the device. */
    int (*kind_of)(const struct tdc_pair_plan *plan);
    /* Units of this kind that a slot of the card takes. */
    size_t (*room)(const struct tdc_card *card, const struct tdc_pair_plan *plan);
    /* Whether the kernel for a plan can be trusted: tested on the first call with the slot, which
     * is free. False with *error set on that call. Any thread. */
    bool (*proven)(struct tdc_slot *slot, const struct tdc_pair_plan *plan,
                   struct tdc_error *error);
    /* The sums of chunk number `at` of a load that came back. */
    void (*collect)(const struct tdc_slot *slot, const struct tdc_slot_load *load, unsigned at,
                    struct tdc_backend_chunk *chunk, struct tdc_device_figures *figures);

    /* ---- slots ---- */

    size_t slot_size; /* of the family's own slot */
    /* card and timed are set. What is open is closed by slot_close, also after a failure. */
    struct tdc_call_failure (*slot_open)(struct tdc_slot *slot);
    /* After a last wait if it was pending. False when something does not end: what that may use
     * stays. */
    bool (*slot_close)(struct tdc_slot *slot, struct tdc_call_failure waited);
    /* Sends the staged units on their way; the calls return at once. pending is set. */
    struct tdc_call_failure (*launch)(struct tdc_slot *slot, const struct tdc_slot_load *load);
    /* Until nothing is under way, which ends pending; after a failure that is not known. */
    struct tdc_call_failure (*wait)(struct tdc_slot *slot, double seconds);
    /* *done when wait would not have to; false where the runtime cannot tell. */
    struct tdc_call_failure (*poll)(struct tdc_slot *slot, bool *done);
    /* When the last launch of a timed slot, which is over, got to a point: seconds since a moment
     * that all slots of the card share. False when that is unknown. */
    bool (*time)(struct tdc_slot *slot, enum tdc_slot_point point, double *seconds);
};

extern const struct tdc_device_family tdc_family_ascend, tdc_family_cuda, tdc_family_opencl;

#define TDC_DEVICE_FAMILIES 3
extern const struct tdc_device_family *const tdc_device_families[TDC_DEVICE_FAMILIES];

#endif
