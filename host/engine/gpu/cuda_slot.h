/* cuda_slot.h - a device and a slot of CUDA; private to this folder. */
#ifndef TDC_GPU_CUDA_SLOT_H
#define TDC_GPU_CUDA_SLOT_H

#include "host/engine/gpu/cuda_table.h"
#include "host/engine/gpu/gpu_family.h"

struct tdc_cuda_device {
    const struct tdc_cuda *cuda;
    int id;
    void *context; /* the primary one, ours until closing; NULL: the caller's is used */
    void *module;
    void *functions[TDC_GPU_KERNELS];
};

/* In the current context of the thread: PTX of the build, or else of NVRTC. */
tdc_status tdc_cuda_load(struct tdc_cuda_device *own, const char *device, struct tdc_error *error);

/* One kernel: the addresses of its arguments, as cuLaunchKernel takes them. */
int tdc_cuda_run(const struct tdc_cuda_device *own, unsigned kernel, uint64_t items, void *stream,
                 void **arguments);

struct tdc_call_failure tdc_cuda_slot_open(struct tdc_gpu_slot *slot);
void tdc_cuda_slot_close(struct tdc_gpu_slot *slot);
struct tdc_call_failure tdc_cuda_slot_launch(struct tdc_gpu_slot *slot, unsigned kernel,
                                             size_t bytes);
struct tdc_call_failure tdc_cuda_slot_poll(struct tdc_gpu_slot *slot, bool *done);
double tdc_cuda_slot_time(struct tdc_gpu_slot *slot, unsigned from, unsigned to);

#endif
