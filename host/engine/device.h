/* device.h - which backend a run uses, and what is said about it afterwards. */
#ifndef TDC_HOST_DEVICE_H
#define TDC_HOST_DEVICE_H

#include "host/engine/device/family.h"

struct tdc_device_choice {
    const struct tdc_backend *backend;
    struct tdc_device_run *run; /* NULL: the CPU */
};

/*
 * By options->device, for `bytes` of tensors. `auto` takes the CPU when there is no card or too
 * little work, else it measures both on a few chunks and says which it takes. TDC_ERR_DEVICE when a
 * device that was asked for is not there, or fails and there is no fallback.
 */
tdc_status tdc_device_choose(const struct tdc_options *options, enum tdc_relative_rule rule,
                             uint64_t bytes, struct tdc_device_choice *choice,
                             struct tdc_error *error);

/* Ends what was chosen: one warning if a device failed. `status` is that of the run; returned is
 * TDC_ERR_DEVICE in its place when the device failed and there was no fallback. */
tdc_status tdc_device_finish(struct tdc_device_choice *choice, const struct tdc_options *options,
                             tdc_status status, struct tdc_error *error);

/* ---- for measurements and tests -------------------------------------------------------------- */

enum tdc_device_kind {
    TDC_DEVICE_AUTO,
    TDC_DEVICE_CPU,
    TDC_DEVICE_GPU, /* the first that is a card, of whatever family of GPUs */
    TDC_DEVICE_NAMED
};

struct tdc_device_request {
    enum tdc_device_kind kind;
    const struct tdc_device_family *family; /* of what is named */
    bool all;
    unsigned count;
    int32_t ids[TDC_DEVICE_MOST];
};

/* What is named, opened; `all` and `gpu` are settled first. */
tdc_status tdc_device_open(struct tdc_device_request *request, enum tdc_relative_rule rule,
                           bool no_fallback, bool timed, struct tdc_device_run **run,
                           struct tdc_error *error);

bool tdc_device_parse(const char *text, struct tdc_device_request *request);

#endif
