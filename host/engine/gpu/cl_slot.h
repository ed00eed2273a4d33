/* cl_slot.h - a device and a slot of OpenCL; private to this folder. */
#ifndef TDC_GPU_CL_SLOT_H
#define TDC_GPU_CL_SLOT_H

#include "host/engine/gpu/cl_table.h"
#include "host/engine/gpu/gpu_card.h"

struct tdc_cl_card {
    struct tdc_gpu_card base;
    const struct tdc_cl *cl;
    void *device, *context, *program;
};

/* Without a context as yet; NULL when out of memory. */
struct tdc_cl_card *tdc_cl_card_new(const struct tdc_cl *cl, int32_t id, void *device);
/* The program, in the context of the card. */
tdc_status tdc_cl_build(struct tdc_cl_card *card, struct tdc_error *error);

/* Commands of a launch, in the order of the queue. */
enum {
    TDC_CL_WRITE_N, /* with the table in front of it */
    TDC_CL_WRITE_B,
    TDC_CL_PAIR,
    TDC_CL_JOIN,
    TDC_CL_READ,
    TDC_CL_COMMANDS
};

struct tdc_cl_slot {
    struct tdc_gpu_slot base;
    void *queue;
    void *pinned; /* a buffer whose memory the host sees: the staging, then the words */
    void *view;   /* where it sees it */
    void *input, *lanes, *words;
    void *kernels[TDC_GPU_KERNELS]; /* made when they are needed; arguments are the slot's own */
    void *events[TDC_CL_COMMANDS];  /* of the last launch, as far as it came */
};

/* Functions of tdc_family_opencl. */
void tdc_cl_describe(struct tdc_call_failure failure, char *text, size_t size);
struct tdc_call_failure tdc_cl_slot_open(struct tdc_slot *slot);
bool tdc_cl_slot_close(struct tdc_slot *slot, struct tdc_call_failure waited);
struct tdc_call_failure tdc_cl_slot_launch(struct tdc_slot *slot, const struct tdc_slot_load *load);
struct tdc_call_failure tdc_cl_slot_poll(struct tdc_slot *slot, bool *done);
bool tdc_cl_slot_time(struct tdc_slot *slot, enum tdc_slot_point point, double *seconds);

#endif
