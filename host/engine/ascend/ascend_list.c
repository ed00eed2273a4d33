/* ascend_list.c - what `tdcmp devices` tells of Ascend cards. */
#include "host/engine/ascend/ascend_device.h"
#include "host/engine/ascend/ascend_list.h"

static void put_places(const struct tdc_listing *listing)
{
    char place[512];
    tdc_listing_put(listing, "AscendCL was looked for as:");
    for (unsigned i = 0; tdc_acl_place(i, place, sizeof place) != NULL; i++)
        tdc_listing_put(listing, "  %s", place);
}

static void put_advice(const struct tdc_listing *listing, const struct tdc_acl_library *library)
{
    switch (library->base.state) {
    case TDC_RUNTIME_NOT_FOUND:
        put_places(listing);
        tdc_listing_put(listing, "CANN is not installed, or its set_env.sh was not sourced.");
        break;
    case TDC_RUNTIME_BROKEN:
        tdc_listing_put(listing,
                        "The library is there but does not load; usually the driver is missing "
                        "(libascend_hal.so).");
        break;
    case TDC_RUNTIME_TOO_OLD:
        tdc_listing_put(listing, "tdcmp needs CANN 8.5 or newer.");
        break;
    case TDC_RUNTIME_NO_LOADER: /* the reason says it all */
    case TDC_RUNTIME_USABLE:
        break;
    }
}

/* Every kernel is loaded and tested: that is what one wants to know of a new machine. */
static unsigned put_kernels(const struct tdc_listing *listing, struct tdc_ascend_device *device)
{
    unsigned usable = 0;
    for (unsigned i = 0; i < TDC_ASCEND_KERNELS; i++) {
        struct tdc_error error = {0};
        bool good = tdc_ascend_kernel(device, i, NULL, &error) != NULL;
        usable += good;
        if (good)
            tdc_listing_put(listing, "  %-24s self-test passed", tdc_ascend_kernels[i].name);
        else
            tdc_listing_put(listing, "  %-24s unusable: %s", tdc_ascend_kernels[i].name,
                            error.message);
    }
    return usable;
}

static bool put_device(const struct tdc_listing *listing, const struct tdc_acl *acl, uint32_t id)
{
    struct tdc_ascend_device device;
    struct tdc_error error = {0};
    if (tdc_ascend_device_open(acl, (int32_t)id, &device, &error) != TDC_OK) {
        tdc_listing_put(listing, "ascend:%u unusable: %s", (unsigned)id, error.message);
        return false;
    }
    tdc_listing_put(listing, "ascend:%u %s, %u vector cores, %.1f GiB free", (unsigned)id,
                    device.base.name, (unsigned)device.cores, (double)device.memory * 0x1p-30);
    unsigned usable = put_kernels(listing, &device);
    tdc_ascend_device_close(&device);
    return usable != 0;
}

unsigned tdc_ascend_list(const struct tdc_device_family *family, const struct tdc_listing *listing)
{
    (void)family;
    struct tdc_error error = {0};
    const struct tdc_acl *acl = tdc_acl_runtime_start(&error);
    uint32_t count = acl != NULL ? tdc_ascend_count(acl, &error) : 0;
    if (count == 0) {
        tdc_listing_put(listing, "no Ascend device: %s", error.message);
        put_advice(listing, tdc_acl_load());
        return 0;
    }
    tdc_listing_put(listing, "AscendCL: %s", tdc_acl_load()->base.path);
    unsigned usable = 0;
    for (uint32_t i = 0; i < count; i++)
        usable += put_device(listing, acl, i);
    return usable;
}
