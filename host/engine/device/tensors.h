/*
 * tensors.h - tensors that live on a device: what a family gives for tdc_compare_device.
 *
 * The kernels go over a tensor in batches of chunks, of which two are under way at a time. What
 * they cannot do is copied out, by a queue of its own, and done by the CPU kernel.
 */
#ifndef TDC_DEVICE_TENSORS_H
#define TDC_DEVICE_TENSORS_H

#include "host/engine/device/remedy.h"
#include "kernels/pair.h"

/* Chunks of one batch: enough work for a large card, and that a launch does not matter. */
#define TDC_BATCH_CHUNKS 64u
#define TDC_BATCH_PAIRS  ((uint64_t)TDC_BATCH_CHUNKS * TDC_PAIR_CHUNK)

/* Seconds for what the caller has put on the stream before, which is not ours to judge: longer than
 * any runtime lets a kernel run. */
#define TDC_CALLER_PATIENCE 1200.0
/* For what is ours, which takes milliseconds. */
double tdc_tensors_patience(void);

struct tdc_tensors_calls;

/* The first member of a family's own object. */
struct tdc_device {
    const struct tdc_tensors_calls *calls;
    /* Work of ours did not end: the object is of no use any more, and what it has stays for good.
     */
    bool given_up;
    /* Pinned, a chunk of the widest type each: what is copied out, in turns. */
    unsigned char *n[2], *b[2];
};

/* One comparison. */
struct tdc_tensors_work {
    struct tdc_device *device;
    struct tdc_pair_plan plan;
    const void *n, *b; /* where the device has them: never read here */
    size_t n_size, b_size;
    uint64_t count;
    void *stream;
    struct tdc_pair_sums total;
    struct tdc_device_sums *out; /* tiles, rescued, copied and why grow */
    struct tdc_call_failure failure;
};

/* All but `free` and `describe` return false with the failure set in the work. */
struct tdc_tensors_calls {
    void (*free)(struct tdc_device *device);
    void (*describe)(struct tdc_call_failure failure, char *text, size_t size);
    /* Waits for the caller's stream and makes the kernel ready. *why: NULL, or why it cannot be
     * used; a text that stays. */
    bool (*begin)(struct tdc_tensors_work *work, const char **why);
    /* Sends a batch on its way, in turn 0 or 1; what that had before has been taken. */
    bool (*launch)(struct tdc_tensors_work *work, unsigned turn, uint64_t first, uint64_t count);
    /* Until nothing of the turn is under way, also after a launch that failed. */
    bool (*wait)(struct tdc_tensors_work *work, unsigned turn);
    /* The sums of the batch into the total. */
    bool (*take)(struct tdc_tensors_work *work, unsigned turn, uint64_t first, uint64_t count);
    /* What is left when all batches have been taken; may be NULL. */
    bool (*end)(struct tdc_tensors_work *work);
    /* Elements to the host; the call returns at once. */
    bool (*copy)(struct tdc_tensors_work *work, void *n, void *b, uint64_t first, size_t count);
    /* Until all copies have ended, also after one that failed. */
    bool (*copied)(struct tdc_tensors_work *work);
};

/* In the current context of the thread; see tdc_device_of. */
tdc_status tdc_ascend_tensors_new(tdc_device **device, struct tdc_error *error);
tdc_status tdc_cuda_tensors_new(tdc_device **device, struct tdc_error *error);
/* For the context of the queues that are given with tensors. */
tdc_status tdc_opencl_tensors_new(tdc_device **device, struct tdc_error *error);

/* Keeps the first failure; true when there is none. */
bool tdc_tensors_keep(struct tdc_tensors_work *work, const char *function, int code);

/* Elements through the CPU kernel, at most a chunk. */
bool tdc_tensors_by_cpu(struct tdc_tensors_work *work, uint64_t first, size_t count,
                        struct tdc_pair_sums *sums);

/* As tdc_compare_device, with the rule for relative errors. */
tdc_status tdc_tensors_compare(struct tdc_tensors_work *work, tdc_dtype n_dtype, tdc_dtype b_dtype,
                               enum tdc_relative_rule rule, struct tdc_error *error);

#endif
