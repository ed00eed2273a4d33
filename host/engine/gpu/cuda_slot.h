/* cuda_slot.h - a device and a slot of CUDA; private to this folder. */
#ifndef TDC_GPU_CUDA_SLOT_H
#define TDC_GPU_CUDA_SLOT_H

#include "host/engine/gpu/cuda_table.h"
#include "host/engine/gpu/gpu_card.h"

struct tdc_cuda_card {
    struct tdc_gpu_card base;
    const struct tdc_cuda *cuda;
    int device;
    void *context; /* the primary one, ours until closing; NULL: the caller's is used */
    void *module;
    void *functions[TDC_GPU_KERNELS];
    void *beginning; /* an event, of timed runs */
};

/* Without a device as yet; NULL when out of memory. */
struct tdc_cuda_card *tdc_cuda_card_new(const struct tdc_cuda *cuda, int32_t id);
/* In the current context of the thread: PTX of the build, or else of NVRTC. */
tdc_status tdc_cuda_load(struct tdc_cuda_card *card, struct tdc_error *error);

/* One kernel: the addresses of its arguments, as cuLaunchKernel takes them. */
int tdc_cuda_run(const struct tdc_cuda_card *card, unsigned kernel, uint64_t items, void *stream,
                 void **arguments);

struct tdc_cuda_slot {
    struct tdc_gpu_slot base;
    void *stream;
    void *pinned;
    uint64_t memory;               /* on the device: input, lanes, words */
    void *events[TDC_SLOT_POINTS]; /* only when timed */
};

/* Functions of tdc_family_cuda. */
void tdc_cuda_describe(struct tdc_call_failure failure, char *text, size_t size);
struct tdc_call_failure tdc_cuda_slot_open(struct tdc_slot *slot);
bool tdc_cuda_slot_close(struct tdc_slot *slot, struct tdc_call_failure waited);
struct tdc_call_failure tdc_cuda_slot_launch(struct tdc_slot *slot,
                                             const struct tdc_slot_load *load);
struct tdc_call_failure tdc_cuda_slot_poll(struct tdc_slot *slot, bool *done);
bool tdc_cuda_slot_time(struct tdc_slot *slot, enum tdc_slot_point point, double *seconds);

#endif
