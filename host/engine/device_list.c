/* device_list.c - the families of devices there are, and what `tdcmp devices` tells of them. */
#include "host/engine/ascend/acl_runtime.h"
#include "host/engine/device/family.h"

const struct tdc_device_family *const tdc_device_families[TDC_DEVICE_FAMILIES] = {
    &tdc_family_ascend, &tdc_family_cuda, &tdc_family_opencl};

tdc_status tdc_devices(void (*line)(void *context, const char *text), void *context)
{
    struct tdc_listing listing = {line, context};
    unsigned usable = 0;
    tdc_listing_put(&listing, "cpu %s kernels", tdc_cpu_name());
    for (unsigned i = 0; i < TDC_DEVICE_FAMILIES; i++)
        usable += tdc_device_families[i]->list(tdc_device_families[i], &listing);
    return usable != 0 ? TDC_OK : TDC_ERR_NOT_FOUND;
}

void tdc_devices_end(void)
{
    tdc_acl_runtime_stop();
}
