/* gpu_cuda.c - NVIDIA's devices through the CUDA driver. */
#include <stdio.h>
#include <stdlib.h>

#include "host/engine/gpu/cuda_slot.h"
#include "io/base/error.h"

/* PTX of the build, "" where it had no nvcc. */
extern const char tdc_gpu_ptx[];

/* Float64 is everywhere; below 7.0 nothing was compiled. */
#define LEAST_ARCHITECTURE 70

static tdc_status fail_with(struct tdc_error *error, const char *function, int code)
{
    bool absent = tdc_cuda_remedy_of(code) == TDC_REMEDY_NO_DEVICE;
    return tdc_fail(error, absent ? TDC_ERR_NOT_FOUND : TDC_ERR_DEVICE, "CUDA: %s: %d %s", function,
                    code, tdc_cuda_error_name(code));
}

static unsigned count_devices(struct tdc_error *error)
{
    int count = 0;
    const struct tdc_cuda *cuda = tdc_cuda_start(error);
    if (cuda == NULL)
        return 0;
    int code = cuda->cuDeviceGetCount(&count);
    if (code != 0)
        fail_with(error, "cuDeviceGetCount", code);
    else if (count <= 0)
        tdc_fail(error, TDC_ERR_NOT_FOUND, "CUDA works, but there is no device");
    return code == 0 && count > 0 ? (unsigned)count : 0;
}

static bool is_card(unsigned id)
{
    (void)id;
    return true;
}

static const char *library_path(void)
{
    const struct tdc_runtime_library *library = tdc_cuda_library();
    return library->state == TDC_RUNTIME_USABLE ? library->path : NULL;
}

/* ---- kernels --------------------------------------------------------------------------------- */

static int architecture_of(const struct tdc_cuda_device *own)
{
    int major = 0, minor = 0;
    if (own->cuda->cuDeviceGetAttribute(&major, TDC_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                                        own->id) != 0 ||
        own->cuda->cuDeviceGetAttribute(&minor, TDC_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                                        own->id) != 0)
        return 0;
    return 10 * major + minor;
}

static tdc_status load_module(struct tdc_cuda_device *own, const char *device,
                              struct tdc_error *error)
{
    int architecture = architecture_of(own), code = TDC_CUDA_ERROR_INVALID_IMAGE;
    if (architecture < LEAST_ARCHITECTURE)
        return tdc_fail(error, TDC_ERR_DEVICE, "%s: compute capability %d.%d is below 7.0", device,
                        architecture / 10, architecture % 10);
    void *module = NULL;
    if (tdc_gpu_ptx[0] != '\0')
        code = own->cuda->cuModuleLoadData(&module, tdc_gpu_ptx);
    if (code != 0) {
        char *made = tdc_cuda_compile(architecture, error);
        if (made == NULL)
            return TDC_ERR_DEVICE;
        code = own->cuda->cuModuleLoadData(&module, made);
        free(made);
    }
    if (code != 0)
        return fail_with(error, "cuModuleLoadData", code);
    own->module = module;
    return TDC_OK;
}

tdc_status tdc_cuda_load(struct tdc_cuda_device *own, const char *device, struct tdc_error *error)
{
    tdc_status status = load_module(own, device, error);
    if (status != TDC_OK)
        return status;
    for (unsigned i = 0; i < TDC_GPU_KERNELS; i++) {
        int code = own->cuda->cuModuleGetFunction(&own->functions[i], own->module,
                                                  tdc_gpu_kernel_names[i]);
        if (code != 0)
            return fail_with(error, "cuModuleGetFunction", code);
    }
    return TDC_OK;
}

/* ---- opening --------------------------------------------------------------------------------- */

static void describe(const struct tdc_cuda *cuda, int id, struct tdc_gpu_device *device)
{
    int units = 0;
    size_t memory = 0;
    if (cuda->cuDeviceGetName(device->name, (int)sizeof device->name - 1, id) != 0)
        snprintf(device->name, sizeof device->name, "CUDA device");
    if (cuda->cuDeviceGetAttribute(&units, TDC_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, id) == 0 &&
        units > 0)
        device->units = (unsigned)units;
    if (cuda->cuDeviceTotalMem(&memory, id) == 0)
        device->memory = memory;
}

static struct tdc_call_failure cuda_bind(struct tdc_gpu_device *device, void **before)
{
    const struct tdc_cuda_device *own = device->own;
    if (own->cuda->cuCtxGetCurrent(before) != 0)
        *before = NULL;
    return (struct tdc_call_failure){"cuCtxSetCurrent", own->cuda->cuCtxSetCurrent(own->context)};
}

static void cuda_unbind(struct tdc_gpu_device *device, void *before)
{
    const struct tdc_cuda_device *own = device->own;
    own->cuda->cuCtxSetCurrent(before);
}

static void cuda_close(struct tdc_gpu_device *device)
{
    struct tdc_cuda_device *own = device->own;
    void *before = NULL;
    if (own == NULL)
        return;
    if (own->module != NULL && cuda_bind(device, &before).code == 0) {
        own->cuda->cuModuleUnload(own->module);
        cuda_unbind(device, before);
    }
    if (own->context != NULL)
        own->cuda->cuDevicePrimaryCtxRelease(own->id);
    free(own);
    device->own = NULL;
}

static tdc_status start(struct tdc_gpu_device *device, struct tdc_error *error)
{
    struct tdc_cuda_device *own = device->own;
    void *before = NULL, *context = NULL;
    int code = own->cuda->cuDeviceGet(&own->id, (int)device->id);
    if (code != 0)
        return fail_with(error, "cuDeviceGet", code);
    describe(own->cuda, own->id, device);
    code = own->cuda->cuDevicePrimaryCtxRetain(&context, own->id);
    if (code != 0)
        return fail_with(error, "cuDevicePrimaryCtxRetain", code);
    own->context = context;
    struct tdc_call_failure failure = cuda_bind(device, &before);
    if (failure.code != 0)
        return fail_with(error, failure.function, failure.code);
    tdc_status status = tdc_cuda_load(own, device->name, error);
    cuda_unbind(device, before);
    return status;
}

static tdc_status cuda_open(struct tdc_gpu_device *device, struct tdc_error *error)
{
    const struct tdc_cuda *cuda = tdc_cuda_start(error);
    if (cuda == NULL)
        return error->status;
    struct tdc_cuda_device *own = calloc(1, sizeof *own);
    if (own == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for a device");
    own->cuda = cuda;
    device->own = own;
    tdc_status status = start(device, error);
    if (status != TDC_OK)
        cuda_close(device);
    return status;
}

const struct tdc_gpu_family tdc_gpu_cuda = {
    .name = "cuda",
    .count = count_devices,
    .library = library_path,
    .is_card = is_card,
    .open = cuda_open,
    .close = cuda_close,
    .bind = cuda_bind,
    .unbind = cuda_unbind,
    .slot_open = tdc_cuda_slot_open,
    .slot_close = tdc_cuda_slot_close,
    .launch = tdc_cuda_slot_launch,
    .poll = tdc_cuda_slot_poll,
    .time = tdc_cuda_slot_time,
    .remedy_of = tdc_cuda_remedy_of,
    .error_name = tdc_cuda_error_name,
};
