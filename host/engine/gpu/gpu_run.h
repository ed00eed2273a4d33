/*
 * gpu_run.h - chunks on one or several GPUs, with the CPU as the net below.
 *
 * Each worker thread works with one device, in turns. The slots of a device are shared by its
 * workers: one is staged while others copy and compute. Results are those of the CPU to the bit, so
 * that it does not matter which of the two did a chunk.
 */
#ifndef TDC_GPU_RUN_H
#define TDC_GPU_RUN_H

#include "host/engine/device/device_run.h"
#include "host/engine/gpu/gpu_family.h"

/*
 * Opens the devices with these ids and tests the kernel for f32 pairs of the rule on each. Fails
 * with TDC_ERR_NOT_FOUND when one of them is not there, with TDC_ERR_DEVICE when it cannot be used;
 * error must not be NULL. `timed`: the time of every hop is taken.
 */
tdc_status tdc_gpu_run_open(const struct tdc_gpu_family *family, const int32_t *ids, unsigned count,
                            enum tdc_relative_rule rule, bool no_fallback, bool timed,
                            struct tdc_device_run **run, struct tdc_error *error);

#endif
