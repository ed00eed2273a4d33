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

static int architecture_of(const struct tdc_cuda_card *own)
{
    int major = 0, minor = 0;
    if (own->cuda->cuDeviceGetAttribute(&major, TDC_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                                        own->device) != 0 ||
        own->cuda->cuDeviceGetAttribute(&minor, TDC_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                                        own->device) != 0)
        return 0;
    return 10 * major + minor;
}

static tdc_status load_module(struct tdc_cuda_card *own, struct tdc_error *error)
{
    int architecture = architecture_of(own), code = TDC_CUDA_ERROR_INVALID_IMAGE;
    if (architecture < LEAST_ARCHITECTURE)
        return tdc_fail(error, TDC_ERR_DEVICE, "%s: compute capability %d.%d is below 7.0",
                        own->base.base.name, architecture / 10, architecture % 10);
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

tdc_status tdc_cuda_load(struct tdc_cuda_card *own, struct tdc_error *error)
{
    tdc_status status = load_module(own, error);
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

static void describe(struct tdc_cuda_card *own)
{
    const struct tdc_cuda *cuda = own->cuda;
    char *name = own->base.base.name;
    size_t size = sizeof own->base.base.name, memory = 0;
    int units = 0;
    if (cuda->cuDeviceGetName(name, (int)size - 1, own->device) != 0)
        snprintf(name, size, "CUDA device");
    if (cuda->cuDeviceGetAttribute(&units, TDC_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                                   own->device) == 0 &&
        units > 0)
        own->base.units = (unsigned)units;
    if (cuda->cuDeviceTotalMem(&memory, own->device) == 0)
        own->base.memory = memory;
}

static struct tdc_call_failure cuda_bind(struct tdc_card *card, void **before)
{
    const struct tdc_cuda_card *own = (const struct tdc_cuda_card *)card;
    if (own->cuda->cuCtxGetCurrent(before) != 0)
        *before = NULL;
    return (struct tdc_call_failure){"cuCtxSetCurrent", own->cuda->cuCtxSetCurrent(own->context)};
}

static void cuda_unbind(struct tdc_card *card, void *before)
{
    const struct tdc_cuda_card *own = (const struct tdc_cuda_card *)card;
    own->cuda->cuCtxSetCurrent(before);
}

static void cuda_close(struct tdc_card *card)
{
    struct tdc_cuda_card *own = (struct tdc_cuda_card *)card;
    void *before = NULL;
    /* ending a context waits for what it does, which may be for ever */
    if (atomic_load(&card->abandoned))
        return;
    if (own->module != NULL && cuda_bind(card, &before).code == 0) {
        own->cuda->cuModuleUnload(own->module);
        if (own->beginning != NULL)
            own->cuda->cuEventDestroy(own->beginning);
        cuda_unbind(card, before);
    }
    if (own->context != NULL)
        own->cuda->cuDevicePrimaryCtxRelease(own->device);
    pthread_mutex_destroy(&own->base.lock);
    free(own);
}

static tdc_status start(struct tdc_cuda_card *own, struct tdc_error *error)
{
    struct tdc_card *card = &own->base.base;
    void *before = NULL, *context = NULL;
    int code = own->cuda->cuDeviceGet(&own->device, (int)card->id);
    if (code != 0)
        return fail_with(error, "cuDeviceGet", code);
    describe(own);
    code = own->cuda->cuDevicePrimaryCtxRetain(&context, own->device);
    if (code != 0)
        return fail_with(error, "cuDevicePrimaryCtxRetain", code);
    own->context = context;
    struct tdc_call_failure failure = cuda_bind(card, &before);
    if (failure.code != 0)
        return fail_with(error, failure.function, failure.code);
    tdc_status status = tdc_cuda_load(own, error);
    cuda_unbind(card, before);
    return status;
}

struct tdc_cuda_card *tdc_cuda_card_new(const struct tdc_cuda *cuda, int32_t id)
{
    struct tdc_cuda_card *own = calloc(1, sizeof *own);
    if (own == NULL)
        return NULL;
    tdc_card_init(&own->base.base, &tdc_family_cuda, id);
    pthread_mutex_init(&own->base.lock, NULL);
    own->cuda = cuda;
    return own;
}

static tdc_status cuda_open(unsigned id, struct tdc_card **card, struct tdc_error *error)
{
    unsigned count = count_devices(error);
    if (count == 0)
        return error->status;
    if (id >= count)
        return tdc_fail(error, TDC_ERR_NOT_FOUND, "there is no device %u (%u found)", id, count);
    struct tdc_cuda_card *own = tdc_cuda_card_new(tdc_cuda_start(error), (int32_t)id);
    if (own == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for a device");
    tdc_status status = start(own, error);
    if (status == TDC_OK)
        *card = &own->base.base;
    else
        cuda_close(&own->base.base);
    return status;
}

void tdc_cuda_describe(struct tdc_call_failure failure, char *text, size_t size)
{
    tdc_gpu_describe(failure, tdc_cuda_error_name(failure.code), text, size);
}

const struct tdc_device_family tdc_family_cuda = {
    .name = "cuda",
    .count = count_devices,
    .library = library_path,
    .is_card = is_card,
    .open = cuda_open,
    .close = cuda_close,
    .bind = cuda_bind,
    .unbind = cuda_unbind,
    .list = tdc_gpu_list,
    .remedy_of = tdc_cuda_remedy_of,
    .describe = tdc_cuda_describe,
    .unit = GPU_BLOCK,
    .exact = true,
    .kind_of = tdc_gpu_kind_of,
    .room = tdc_gpu_room,
    .proven = tdc_gpu_proven,
    .collect = tdc_gpu_collect,
    .slot_size = sizeof(struct tdc_cuda_slot),
    .slot_open = tdc_cuda_slot_open,
    .slot_close = tdc_cuda_slot_close,
    .launch = tdc_cuda_slot_launch,
    .wait = tdc_slot_wait_polling,
    .poll = tdc_cuda_slot_poll,
    .time = tdc_cuda_slot_time,
};
