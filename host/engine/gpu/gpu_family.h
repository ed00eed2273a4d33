/*
 * gpu_family.h - what a runtime of GPUs can do for a chunk: one table for OpenCL and one for CUDA.
 *
 * A device is opened once per run; a slot belongs to one worker at a time and has a queue of its
 * own. Its staging is pinned, so that copies go on while the processor does: the staging must not
 * be touched from launch until poll says that all is done.
 */
#ifndef TDC_GPU_FAMILY_H
#define TDC_GPU_FAMILY_H

#include <pthread.h>
#include <stdatomic.h>

#include "host/engine/device/remedy.h"
#include "kernels/gpu/pair_gpu.h"

/* Both sides of a chunk of the widest type, each at an address that suits every device. */
#define TDC_GPU_ALIGNMENT  ((size_t)256)
#define TDC_GPU_SLOT_BYTES (2 * 16 * TDC_PAIR_CHUNK)

struct tdc_gpu_family;

struct tdc_gpu_device {
    const struct tdc_gpu_family *family;
    unsigned id;
    char name[128];
    unsigned units;  /* multiprocessors, compute units */
    uint64_t memory; /* bytes of the device */
    double patience; /* seconds that a chunk may take */
    void *own;       /* the family's */
    atomic_bool lost;
    pthread_mutex_t lock; /* of proven */
    /* by rule and dtypes: 0 not asked yet, 1 the kernel passed its test, -1 it did not */
    signed char proven[3][TDC_DTYPE_COUNT][TDC_DTYPE_COUNT];
};

/* Points of a slot's queue between which the time is taken. */
enum {
    TDC_GPU_START,
    TDC_GPU_COPIED,
    TDC_GPU_COMPUTED,
    TDC_GPU_DONE,
    TDC_GPU_POINTS
};

struct tdc_gpu_slot {
    struct tdc_gpu_device *device; /* NULL: not open */
    unsigned char *staging;        /* TDC_GPU_SLOT_BYTES, pinned */
    gpu_u64 *words;                /* of one chunk, pinned: what came back */
    struct gpu_pair pair;
    bool timed;
    bool pending; /* something may be under way */
    void *own;    /* the family's */
};

struct tdc_gpu_family {
    const char *name; /* "opencl", as in --device */
    /* Loads the runtime. 0 with *error set when it cannot be had or there is no device. */
    unsigned (*count)(struct tdc_error *error);
    /* What was loaded, or NULL. */
    const char *(*library)(void);
    /* False for what is the CPU under another name. */
    bool (*is_card)(unsigned id);
    /* id and family are set. Fills in the rest and makes the kernels ready. TDC_ERR_DEVICE when it
     * cannot be used. Closing needs the same thread. */
    tdc_status (*open)(struct tdc_gpu_device *device, struct tdc_error *error);
    void (*close)(struct tdc_gpu_device *device);
    /* For a thread that works with it; *before is what unbind gives back to the thread. */
    struct tdc_call_failure (*bind)(struct tdc_gpu_device *device, void **before);
    void (*unbind)(struct tdc_gpu_device *device, void *before);

    /* Everything of *slot but own, staging and words is set. What is open is closed by slot_close,
     * also after a failure; nothing is pending then. */
    struct tdc_call_failure (*slot_open)(struct tdc_gpu_slot *slot);
    void (*slot_close)(struct tdc_gpu_slot *slot);
    /* Sends the first `bytes` of the staging, both kernels for slot->pair, and the words back. */
    struct tdc_call_failure (*launch)(struct tdc_gpu_slot *slot, unsigned kernel, size_t bytes);
    /* *done when nothing of the slot is under way any more, be it for a failure. */
    struct tdc_call_failure (*poll)(struct tdc_gpu_slot *slot, bool *done);
    /* Seconds between two points of the last launch of a timed slot; negative when unknown. */
    double (*time)(struct tdc_gpu_slot *slot, unsigned from, unsigned to);

    enum tdc_remedy (*remedy_of)(int code);
    const char *(*error_name)(int code);
};

extern const struct tdc_gpu_family tdc_gpu_opencl, tdc_gpu_cuda;

/* "clFlush: -36 INVALID_COMMAND_QUEUE" */
void tdc_gpu_describe(const struct tdc_gpu_family *family, struct tdc_call_failure failure,
                      char *text, size_t size);

/* Opens a device; TDC_ERR_NOT_FOUND when there is no such number. */
tdc_status tdc_gpu_device_open(const struct tdc_gpu_family *family, unsigned id,
                               struct tdc_gpu_device *device, struct tdc_error *error);
void tdc_gpu_device_close(struct tdc_gpu_device *device);
/* A device in whose context the caller is already; its lock is to be destroyed, nothing else. */
void tdc_gpu_device_adopt(struct tdc_gpu_device *device, const struct tdc_gpu_family *family,
                          void *own);

struct tdc_call_failure tdc_gpu_slot_open(struct tdc_gpu_slot *slot, struct tdc_gpu_device *device,
                                          bool timed);
/* False when something does not end: what it may still read and write stays, for good, and so must
 * the device. */
bool tdc_gpu_slot_close(struct tdc_gpu_slot *slot);
/* Copies nothing: the staging holds n at 0 and b at tdc_gpu_b_at. */
struct tdc_call_failure tdc_gpu_slot_launch(struct tdc_gpu_slot *slot,
                                            const struct tdc_pair_plan *plan, size_t count);
/* At most as long as the device's patience. After a failure the device is to be regarded as dead if
 * the slot is still pending.
 */
struct tdc_call_failure tdc_gpu_slot_wait(struct tdc_gpu_slot *slot);
size_t tdc_gpu_b_at(const struct tdc_pair_plan *plan, size_t count);

/*
 * Whether the kernel for a plan can be trusted: on the first call some thousand pairs whose answer
 * the CPU knows go through the slot, which must be free. False with *error set on that call.
 */
bool tdc_gpu_proven(struct tdc_gpu_slot *slot, const struct tdc_pair_plan *plan,
                    struct tdc_error *error);

#endif
