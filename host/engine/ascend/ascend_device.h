/*
 * ascend_device.h - one card: its properties, its kernels, and whether it can be trusted.
 *
 * Opened by the thread that starts a run; worker threads bind themselves to it. A kernel is loaded
 * when the first pair needs it and then proves itself on the self-test (self_test.h) before it is
 * used; one that does not is never used again.
 */
#ifndef TDC_ASCEND_DEVICE_H
#define TDC_ASCEND_DEVICE_H

#include <pthread.h>

#include "host/engine/ascend/acl_runtime.h"
#include "host/engine/ascend/kernel_list.h"
#include "host/engine/device/slot.h"

struct tdc_ascend_kernel {
    bool asked;
    void *binary, *function; /* function is NULL when the kernel cannot be used */
    void *loaded;            /* the function also when it failed its test: for reports */
};

struct tdc_ascend_device {
    struct tdc_card base; /* its name is that of the SoC */
    const struct tdc_acl *acl;
    uint32_t cores; /* vector cores: blocks of a launch */
    size_t memory;  /* bytes free at open; 0: unknown */
    /* Of an abandoned card kernels stay loaded. Unless its streams are gone by force, it is not
     * reset either, which would wait. */
    atomic_bool left_alone;
    void *beginning;      /* an event, of timed runs */
    pthread_mutex_t lock; /* of kernels */
    struct tdc_ascend_kernel kernels[TDC_ASCEND_KERNELS + 1];
};

/* How many cards the process sees. 0 with *error set when there is none or AscendCL fails. */
uint32_t tdc_ascend_count(const struct tdc_acl *acl, struct tdc_error *error);

/*
 * Binds this thread to card `id` and asks for its properties. TDC_ERR_NOT_FOUND when there is no
 * such card, TDC_ERR_DEVICE when it fails. Closing needs the same thread; all other threads must
 * have unbound before.
 */
tdc_status tdc_ascend_device_open(const struct tdc_acl *acl, int32_t id,
                                  struct tdc_ascend_device *device, struct tdc_error *error);
void tdc_ascend_device_close(struct tdc_ascend_device *device);

/* For a device in whose context the caller already is: nothing is bound, closing only unloads. */
void tdc_ascend_device_adopt(const struct tdc_acl *acl, struct tdc_ascend_device *device);
void tdc_ascend_device_unload(struct tdc_ascend_device *device);

/* A stream with unfinished work was destroyed by force, or could not be. */
void tdc_ascend_abandon(struct tdc_ascend_device *device, bool forced);

/* Binds a worker thread; 0 or the code of aclrtSetDevice. */
int tdc_ascend_bind(struct tdc_ascend_device *device);
void tdc_ascend_unbind(struct tdc_ascend_device *device);

struct tdc_ascend_slot;

/*
 * The function of a kernel, loaded and tested on the first call, in the context of the calling
 * thread, with a slot that is free just now (NULL: with one of its own). NULL when it cannot be
 * used; then *error (of the first call only) says why. No kernel is used on a card whose arithmetic
 * is not what it should be (probe.h).
 */
void *tdc_ascend_kernel(struct tdc_ascend_device *device, unsigned kernel,
                        struct tdc_ascend_slot *slot, struct tdc_error *error);

#endif
