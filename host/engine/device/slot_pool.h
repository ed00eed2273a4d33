/*
 * slot_pool.h - the slots of a card, shared by all threads that work with it.
 *
 * A slot holds many chunks, of whichever tensor and thread, as long as one kernel serves them: they
 * go to the card in one launch. It leaves when it is full, when somebody waits
 * for what is in it, or when it holds half of what the card has to do. It is free again when
 * all of its chunks have been taken back. So the streams of a card and its pinned memory do not
 * grow with the threads.
 *
 * All functions may be called from any thread that is bound to the card.
 */
#ifndef TDC_DEVICE_SLOT_POOL_H
#define TDC_DEVICE_SLOT_POOL_H

#include <pthread.h>

#include "host/engine/device/family.h"

/* Slots of a card: some copy and compute in turns while others are filled and read. */
#define TDC_CARD_SLOTS 8

enum tdc_place_state {
    TDC_PLACE_FREE,
    TDC_PLACE_CLAIMED, /* by a thread that tests a kernel with it */
    TDC_PLACE_FILLING,
    TDC_PLACE_FLYING,
    TDC_PLACE_DONE,
    TDC_PLACE_STUCK /* what is under way does not end */
};

/* A slot of the pool; under the lock but for what the owner of a piece reads. */
struct tdc_place {
    struct tdc_slot *slot; /* NULL: not opened yet */
    enum tdc_place_state state;
    int kind;
    struct tdc_slot_load load;
    unsigned filling;                /* threads that copy into it */
    unsigned chunks;                 /* that have not been taken back */
    bool closed;                     /* it leaves as soon as nobody copies into it */
    bool awaited;                    /* by a thread */
    struct tdc_call_failure failure; /* of the launch, or of the wait */
    bool told;                       /* the failure */
};

struct tdc_slot_pool {
    struct tdc_card *card;
    bool timed;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned opened, most;           /* slots: fewer where memory is short */
    struct tdc_call_failure failure; /* why there is no slot at all */
    double link_until, kernel_until; /* until when they are known to have been in use */
    struct tdc_place places[TDC_CARD_SLOTS];
};

/* Nothing is opened yet. */
void tdc_slot_pool_init(struct tdc_slot_pool *pool, struct tdc_card *card, bool timed);
/* All chunks have been taken back. Where the thread is not `inside` the context of the card, the
 * slots are left alone. */
void tdc_slot_pool_close(struct tdc_slot_pool *pool, bool inside);

/* Whether the kernel for a plan can be trusted; before threads work with the pool. */
bool tdc_slot_pool_proven(struct tdc_slot_pool *pool, const struct tdc_pair_plan *plan,
                          struct tdc_error *error);

enum tdc_room {
    TDC_ROOM_GIVEN,
    TDC_ROOM_NONE_NOW, /* others have all slots */
    TDC_ROOM_NEVER     /* no kernel or no slot; *error says why where it was not told before */
};

/*
 * Room for a chunk of `kind`, whose kernel is tested where that has not been done: *place, as
 * number *at of its load. To be filled and given back to tdc_slot_pool_filled at once.
 */
enum tdc_room tdc_slot_pool_room(struct tdc_slot_pool *pool, int kind,
                                 const struct tdc_pair_plan *plan, size_t pairs,
                                 struct tdc_place **place, unsigned *at, struct tdc_error *error);
/* `kept`: the data is there, and the chunk will be waited for. */
void tdc_slot_pool_filled(struct tdc_slot_pool *pool, struct tdc_place *place, bool kept);

/* Whether the chunks of the place are done; `wait`: until they are. place->failure says how. The
 * one who sees it first gets *first_to_see. */
bool tdc_slot_pool_done(struct tdc_slot_pool *pool, struct tdc_place *place, bool wait,
                        bool *first_to_see);
/* Adds the times of a launch that is over. */
void tdc_slot_pool_times(struct tdc_slot_pool *pool, struct tdc_place *place,
                         struct tdc_device_figures *figures);
/* One of its chunks has been taken back. */
void tdc_slot_pool_taken(struct tdc_slot_pool *pool, struct tdc_place *place);
/* All slots are in use. */
bool tdc_slot_pool_busy(struct tdc_slot_pool *pool);
/* Waits until there may be room; does not wait when there is no hope. */
void tdc_slot_pool_wait_for_room(struct tdc_slot_pool *pool);

#endif
