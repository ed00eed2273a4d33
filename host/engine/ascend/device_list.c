/* device_list.c - what `tdcmp devices` tells: the cards, or why there is none. */
#include <stdarg.h>
#include <stdio.h>

#include "host/engine/ascend/ascend_device.h"

struct listing {
    void (*line)(void *context, const char *text);
    void *context;
};

static void __attribute__((format(printf, 2, 3)))
put(const struct listing *listing, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    listing->line(listing->context, text);
}

static void put_places(const struct listing *listing)
{
    char place[512];
    put(listing, "AscendCL was looked for as:");
    for (unsigned i = 0; tdc_acl_place(i, place, sizeof place) != NULL; i++)
        put(listing, "  %s", place);
}

static void put_advice(const struct listing *listing, const struct tdc_acl_library *library)
{
    switch (library->state) {
    case TDC_ACL_NOT_FOUND:
        put_places(listing);
        put(listing, "CANN is not installed, or its set_env.sh was not sourced.");
        break;
    case TDC_ACL_BROKEN:
        put(listing, "The library is there but does not load; usually the driver is missing "
                     "(libascend_hal.so).");
        break;
    case TDC_ACL_TOO_OLD:
        put(listing, "tdcmp needs CANN 8.5 or newer.");
        break;
    case TDC_ACL_NO_LOADER: /* the reason says it all */
    case TDC_ACL_USABLE:
        break;
    }
}

/* Every kernel is loaded and tested: that is what one wants to know of a new machine. */
static unsigned put_kernels(const struct listing *listing, struct tdc_ascend_device *device)
{
    unsigned usable = 0;
    for (unsigned i = 0; i < TDC_ASCEND_KERNELS; i++) {
        struct tdc_error error = {0};
        bool good = tdc_ascend_kernel(device, i, NULL, &error) != NULL;
        usable += good;
        if (good)
            put(listing, "  %-24s self-test passed", tdc_ascend_kernels[i].name);
        else
            put(listing, "  %-24s unusable: %s", tdc_ascend_kernels[i].name, error.message);
    }
    return usable;
}

static bool put_device(const struct listing *listing, const struct tdc_acl *acl, uint32_t id)
{
    struct tdc_ascend_device device;
    struct tdc_error error = {0};
    if (tdc_ascend_device_open(acl, (int32_t)id, &device, &error) != TDC_OK) {
        put(listing, "ascend:%u unusable: %s", (unsigned)id, error.message);
        return false;
    }
    put(listing, "ascend:%u %s, %u vector cores, %.1f GiB free", (unsigned)id, device.soc,
        (unsigned)device.cores, (double)device.memory * 0x1p-30);
    unsigned usable = put_kernels(listing, &device);
    tdc_ascend_device_close(&device);
    return usable != 0;
}

tdc_status tdc_devices(void (*line)(void *context, const char *text), void *context)
{
    struct listing listing = {line, context};
    put(&listing, "cpu %s kernels", tdc_cpu_name());
    struct tdc_error error = {0};
    const struct tdc_acl *acl = tdc_acl_runtime_start(&error);
    uint32_t count = acl != NULL ? tdc_ascend_count(acl, &error) : 0;
    if (count == 0) {
        put(&listing, "no Ascend device: %s", error.message);
        put_advice(&listing, tdc_acl_load());
        return TDC_ERR_NOT_FOUND;
    }
    put(&listing, "AscendCL: %s", tdc_acl_load()->path);
    unsigned usable = 0;
    for (uint32_t i = 0; i < count; i++)
        usable += put_device(&listing, acl, i);
    return usable != 0 ? TDC_OK : TDC_ERR_NOT_FOUND;
}

void tdc_devices_end(void)
{
    tdc_acl_runtime_stop();
}
