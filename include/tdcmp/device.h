/* device.h - Ascend cards and GPUs: which there are, and comparing tensors that lie on one. */
#ifndef TDCMP_DEVICE_H
#define TDCMP_DEVICE_H

#include "tdcmp/options.h"

TDC_INTERFACE_BEGIN

/* Is it a text for tdc_options.device? Says nothing about whether the device exists. */
bool tdc_device_valid(const char *text);

/* What devices there are, or why there is none, line by line. TDC_ERR_NOT_FOUND: none is usable. */
tdc_status tdc_devices(void (*line)(void *context, const char *text), void *context);

/* Ends AscendCL in this process if this library started it, for good. To be called once at the end,
 * not from a destructor or atexit; without it the system cleans up. */
void tdc_devices_end(void);

/* What one pass over a pair of tensors yields; docs/kernels.md has the definitions. */
struct tdc_device_sums {
    uint64_t count, finite;            /* pairs; pairs with both values finite */
    double nb, nn, bb, dd, n, b, abs;  /* sums of n*b, n*n, b*b, (n-b)^2, n, b, |n-b| */
    double n_min, n_max, b_min, b_max; /* over finite pairs */
    double abs_max, rel_max;           /* maxima of |n-b| and of the relative error, -1: none */
    uint64_t abs_at, rel_at;           /* index of their first occurrence */
    uint64_t below_thousandth, below_five_thousandths; /* pairs by their relative error */
    uint64_t n_nan, b_nan, n_inf, b_inf;
    /* pieces (4096 pairs, GPUs: up to 2^18) done by the device; of these again by the CPU */
    uint64_t tiles, rescued;
    uint64_t copied; /* bytes of the tensors that were copied to the host */
    const char *why; /* why all of them were; NULL: the device compared. A text that stays */
};

typedef struct tdc_device tdc_device;

/*
 * For a process that has tensors on an Ascend device: AscendCL is running and the calling thread
 * has a current context. Loads the kernels of that device as they are needed. To be used and freed
 * in the same context.
 */
tdc_status tdc_device_new(tdc_device **device, struct tdc_error *error);
/* The same for a device of a family: "ascend", "cuda" with a current context of the CUDA driver (a
 * process that uses the CUDA runtime has one), or "opencl" for buffers of whatever context. */
tdc_status tdc_device_of(const char *family, tdc_device **device, struct tdc_error *error);
void tdc_device_free(tdc_device *device);

/*
 * Compares `count` elements at two device addresses without copying them out. The work follows what
 * the caller's stream (aclrtStream, CUstream or cudaStream_t; NULL is the default one of CUDA)
 * already holds, and the call returns when it is done. Both tensors are dense. OpenCL: n and b are
 * buffers (cl_mem) from their beginning, which may be sub-buffers, and the stream is a queue of
 * their context (cl_command_queue).
 *
 * Tails, tiles with NaN or infinity and types the device has no kernel for are copied to the host
 * and done there: sums->copied and sums->why tell. Equal to what a comparison of files yields, on
 * Ascend but for the last digits of sums. size: sizeof(struct tdc_device_sums), as the caller knows
 * it. TDC_ERR_DEVICE when a call fails or work of ours does not end; after the latter the object is
 * of no use any more.
 */
tdc_status tdc_compare_device(tdc_device *device, const void *n, tdc_dtype n_dtype, const void *b,
                              tdc_dtype b_dtype, uint64_t count, tdc_rules_id rules, void *stream,
                              struct tdc_device_sums *sums, size_t size, struct tdc_error *error);

TDC_INTERFACE_END
#endif
