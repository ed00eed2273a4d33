/* ascend_device.c - see ascend_device.h. */
#include "host/engine/ascend/ascend_device.h"

#include <limits.h>
#include <stdio.h>

#include "host/engine/ascend/kernel_file.h"
#include "host/engine/ascend/self_test.h"
#include "io/base/error.h"

/* Of every Atlas A2 there are at least so many; for a CANN that does not tell. */
#define FEWEST_CORES 40
#define MOST_CORES   1024
/* Less than any wait for a slot (ascend_slot.c). */
#define KERNEL_SECONDS 5u

static tdc_status fail_with(const struct tdc_acl *acl, struct tdc_error *error,
                            const char *function, int code)
{
    char text[512];
    tdc_acl_describe(acl, function, code, text, sizeof text);
    bool absent = tdc_acl_remedy_of(code) == TDC_REMEDY_NO_DEVICE;
    return tdc_fail(error, absent ? TDC_ERR_NOT_FOUND : TDC_ERR_DEVICE, "%s", text);
}

uint32_t tdc_ascend_count(const struct tdc_acl *acl, struct tdc_error *error)
{
    uint32_t count = 0;
    int code = acl->aclrtGetDeviceCount(&count);
    if (code == 0 && count != 0)
        return count;
    if (code == TDC_ACL_ERROR_COMPILING_STUB_MODE)
        tdc_fail(error, TDC_ERR_NOT_FOUND,
                 "AscendCL: %s is a stub for building (no driver is installed)",
                 tdc_acl_load()->base.path);
    else if (code != 0)
        fail_with(acl, error, "aclrtGetDeviceCount", code);
    else
        tdc_fail(error, TDC_ERR_NOT_FOUND, "AscendCL works, but there is no device");
    return 0;
}

/* ---- properties ------------------------------------------------------------------------------ */

static void describe(struct tdc_ascend_device *device)
{
    const struct tdc_acl *acl = device->acl;
    const char *soc = acl->aclrtGetSocName();
    snprintf(device->base.name, sizeof device->base.name, "%s", soc != NULL ? soc : "unknown");
    int64_t cores = 0;
    if (acl->aclrtGetDeviceInfo == NULL ||
        acl->aclrtGetDeviceInfo((uint32_t)device->base.id, TDC_ACL_DEV_ATTR_VECTOR_CORE_NUM,
                                &cores) != 0 ||
        cores < 1 || cores > MOST_CORES)
        cores = FEWEST_CORES;
    device->cores = (uint32_t)cores;
    size_t total;
    if (acl->aclrtGetMemInfo(TDC_ACL_HBM_MEM, &device->memory, &total) != 0)
        device->memory = 0;
}

void tdc_ascend_device_adopt(const struct tdc_acl *acl, struct tdc_ascend_device *device)
{
    *device = (struct tdc_ascend_device){.acl = acl};
    tdc_card_init(&device->base, &tdc_family_ascend, 0);
    if (acl->aclrtGetDevice == NULL || acl->aclrtGetDevice(&device->base.id) != 0)
        device->base.id = 0;
    pthread_mutex_init(&device->lock, NULL);
    describe(device);
}

/*
 * The runtime ends a kernel that takes longer; by itself it would wait 1,091 s. Ours take
 * milliseconds. It holds for the whole process, so it is not set where somebody else computes.
 */
static void limit_kernels(const struct tdc_acl *acl)
{
    uint64_t microseconds;
    if (!tdc_acl_runtime_ours())
        return;
    if (acl->aclrtSetOpExecuteTimeOutV2 != NULL &&
        acl->aclrtSetOpExecuteTimeOutV2(KERNEL_SECONDS * UINT64_C(1000000), &microseconds) == 0)
        return;
    if (acl->aclrtSetOpExecuteTimeOut != NULL)
        acl->aclrtSetOpExecuteTimeOut(KERNEL_SECONDS);
}

tdc_status tdc_ascend_device_open(const struct tdc_acl *acl, int32_t id,
                                  struct tdc_ascend_device *device, struct tdc_error *error)
{
    *device = (struct tdc_ascend_device){.acl = acl};
    tdc_card_init(&device->base, &tdc_family_ascend, id);
    int code = acl->aclrtSetDevice(id);
    if (code != 0)
        return fail_with(acl, error, "aclrtSetDevice", code);
    pthread_mutex_init(&device->lock, NULL);
    limit_kernels(acl);
    describe(device);
    return TDC_OK;
}

void tdc_ascend_device_unload(struct tdc_ascend_device *device)
{
    for (unsigned i = 0; i <= TDC_ASCEND_PROBE; i++)
        if (device->kernels[i].binary != NULL && !atomic_load(&device->base.abandoned))
            device->acl->aclrtBinaryUnLoad(device->kernels[i].binary);
    pthread_mutex_destroy(&device->lock);
}

void tdc_ascend_device_close(struct tdc_ascend_device *device)
{
    /* the thread may have been bound to another card since */
    bool bound = tdc_ascend_bind(device) == 0;
    tdc_ascend_device_unload(device);
    if (device->beginning != NULL && !atomic_load(&device->base.abandoned))
        device->acl->aclrtDestroyEvent(device->beginning);
    if (bound)
        tdc_ascend_unbind(device);
    if (!atomic_load(&device->left_alone))
        device->acl->aclrtResetDevice(device->base.id);
}

void tdc_ascend_abandon(struct tdc_ascend_device *device, bool forced)
{
    atomic_store(&device->base.lost, true);
    atomic_store(&device->base.abandoned, true);
    if (forced)
        return;
    atomic_store(&device->left_alone, true);
    tdc_acl_runtime_leave();
}

int tdc_ascend_bind(struct tdc_ascend_device *device)
{
    return device->acl->aclrtSetDevice(device->base.id);
}

void tdc_ascend_unbind(struct tdc_ascend_device *device)
{
    device->acl->aclrtResetDevice(device->base.id);
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* Under the lock of the kernels. */
static void load(struct tdc_ascend_device *device, unsigned number, struct tdc_ascend_slot *slot,
                 struct tdc_error *error)
{
    const struct tdc_acl *acl = device->acl;
    struct tdc_ascend_kernel *kernel = &device->kernels[number];
    const char *name = tdc_ascend_kernels[number].name;
    char path[PATH_MAX];
    if (!tdc_kernel_file(device->base.name, name, path, sizeof path)) {
        tdc_fail(error, TDC_ERR_DEVICE, "no kernel %s for %s (looked for %.300s)", name,
                 device->base.name, path);
        return;
    }
    if (tdc_kernel_is_unlinked(path)) {
        tdc_fail(error, TDC_ERR_DEVICE,
                 "kernel %.300s is not linked: build it again (ld.lld -m aicorelinux)", path);
        return;
    }
    const char *call = "aclrtBinaryLoadFromFile";
    int code = acl->aclrtBinaryLoadFromFile(path, NULL, &kernel->binary);
    if (code != 0)
        kernel->binary = NULL;
    if (code == 0) {
        call = "aclrtBinaryGetFunction";
        code = acl->aclrtBinaryGetFunction(kernel->binary, name, &kernel->function);
    }
    if (code == 0) {
        kernel->loaded = kernel->function;
        if (!tdc_self_test(device, number, kernel->function, slot, error))
            kernel->function = NULL;
        return;
    }
    kernel->function = NULL;
    char text[400];
    tdc_acl_describe(acl, call, code, text, sizeof text);
    tdc_fail(error, TDC_ERR_DEVICE, "kernel %.300s on %s: %s", path, device->base.name, text);
}

/* Loads and tests it on the first call; *error of that one. */
static void *ask_for(struct tdc_ascend_device *device, unsigned kernel,
                     struct tdc_ascend_slot *slot, struct tdc_error *error)
{
    struct tdc_ascend_kernel *found = &device->kernels[kernel];
    if (!found->asked) {
        found->asked = true;
        load(device, kernel, slot, error);
    }
    return found->function;
}

void *tdc_ascend_kernel(struct tdc_ascend_device *device, unsigned kernel,
                        struct tdc_ascend_slot *slot, struct tdc_error *error)
{
    pthread_mutex_lock(&device->lock);
    void *function = NULL;
    if (ask_for(device, TDC_ASCEND_PROBE, slot, error) != NULL)
        function = ask_for(device, kernel, slot, error);
    else if (error != NULL && error->status == TDC_OK && !device->kernels[kernel].asked)
        tdc_fail(error, TDC_ERR_DEVICE, "the arithmetic of the device is not to be trusted");
    device->kernels[kernel].asked = true;
    pthread_mutex_unlock(&device->lock);
    return function;
}
