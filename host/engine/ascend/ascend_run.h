/* ascend_run.h - what the workers of a run share; private to this folder. */
#ifndef TDC_ASCEND_RUN_H
#define TDC_ASCEND_RUN_H

#include "host/engine/ascend/backend_ascend.h"

struct tdc_ascend_run {
    struct tdc_device_run base;
    struct tdc_ascend_device devices[TDC_DEVICE_MOST];
    unsigned count;
    atomic_uint next;
};

/* A slot and the chunk in it. */
struct tdc_ascend_place {
    struct tdc_ascend_slot slot;
    size_t tiles;
    struct tdc_backend_chunk *chunk;
    struct tdc_acl_failure failure; /* of the launch */
};

struct tdc_ascend_worker {
    struct tdc_ascend_run *run;
    struct tdc_ascend_device *device;
    bool bound;
    unsigned slots, refusals;
    size_t submitted, waited; /* chunks; places are used in turns */
    struct tdc_ascend_place places[TDC_ASCEND_SLOTS];
    struct tdc_device_figures figures;
};

/* Keeps the first trouble of a run; name is the pair's or NULL. */
void tdc_ascend_note(struct tdc_ascend_run *run, const struct tdc_ascend_device *device,
                     struct tdc_acl_failure failure, const char *name);
void tdc_ascend_note_text(struct tdc_ascend_run *run, const struct tdc_ascend_device *device,
                          const char *text, const char *name);

extern const struct tdc_backend tdc_backend_ascend;

#endif
