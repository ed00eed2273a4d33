/* family.h - the families of devices: one entry for everything that devices are told by. */
#ifndef TDC_DEVICE_FAMILY_H
#define TDC_DEVICE_FAMILY_H

#include "host/engine/device/device_run.h"
#include "host/engine/device/listing.h"

struct tdc_device_family {
    const char *name; /* "ascend", as in --device */
    /* How many devices the process sees; 0 with *error set when there is none, or its runtime
     * fails. */
    unsigned (*count)(struct tdc_error *error);
    /* False for what is the CPU under another name. */
    bool (*is_card)(unsigned id);
    /*
     * Opens devices and tests a kernel on each. TDC_ERR_NOT_FOUND when one of them is not there,
     * TDC_ERR_DEVICE when it cannot be used; error must not be NULL. `timed`: the time of every hop
     * is taken.
     */
    tdc_status (*open)(const int32_t *ids, unsigned count, enum tdc_relative_rule rule,
                       bool no_fallback, bool timed, struct tdc_device_run **run,
                       struct tdc_error *error);
    /* All devices and what they can do, or why there is none. Returned is how many cards are
     * usable. */
    unsigned (*list)(const struct tdc_listing *listing);
};

extern const struct tdc_device_family tdc_family_ascend, tdc_family_cuda, tdc_family_opencl;

#define TDC_DEVICE_FAMILIES 3
extern const struct tdc_device_family *const tdc_device_families[TDC_DEVICE_FAMILIES];

#endif
