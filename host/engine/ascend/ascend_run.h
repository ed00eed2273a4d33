/* ascend_run.h - what the workers of a run share; private to this folder. */
#ifndef TDC_ASCEND_RUN_H
#define TDC_ASCEND_RUN_H

#include "host/engine/ascend/backend_ascend.h"
#include "host/engine/ascend/slot_pool.h"

/* A card with its slots. */
struct tdc_ascend_card {
    struct tdc_ascend_device device;
    struct tdc_slot_pool pool;
    atomic_uint refusals;
};

struct tdc_ascend_run {
    struct tdc_device_run base;
    struct tdc_ascend_card cards[TDC_DEVICE_MOST];
    unsigned count;
    atomic_uint next;
};

struct tdc_ascend_worker {
    struct tdc_ascend_run *run;
    struct tdc_ascend_card *card;
    bool bound;
    struct tdc_backend_chunk *oldest, *newest; /* under way */
    struct tdc_device_figures figures;
};

/* Keeps the first trouble of a run; name is the pair's or NULL. */
void tdc_ascend_note(struct tdc_ascend_run *run, const struct tdc_ascend_device *device,
                     struct tdc_acl_failure failure, const char *name);
void tdc_ascend_note_text(struct tdc_ascend_run *run, const struct tdc_ascend_device *device,
                          const char *text, const char *name);

extern const struct tdc_backend tdc_backend_ascend;

#endif
