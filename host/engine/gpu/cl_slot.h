/* cl_slot.h - a device and a slot of OpenCL; private to this folder. */
#ifndef TDC_GPU_CL_SLOT_H
#define TDC_GPU_CL_SLOT_H

#include "host/engine/gpu/cl_table.h"
#include "host/engine/gpu/gpu_family.h"

struct tdc_cl_device {
    const struct tdc_cl *cl;
    void *id, *context, *program;
};

struct tdc_call_failure tdc_cl_slot_open(struct tdc_gpu_slot *slot);
void tdc_cl_slot_close(struct tdc_gpu_slot *slot);
struct tdc_call_failure tdc_cl_slot_launch(struct tdc_gpu_slot *slot, unsigned kernel,
                                           size_t bytes);
struct tdc_call_failure tdc_cl_slot_poll(struct tdc_gpu_slot *slot, bool *done);
double tdc_cl_slot_time(struct tdc_gpu_slot *slot, unsigned from, unsigned to);

#endif
