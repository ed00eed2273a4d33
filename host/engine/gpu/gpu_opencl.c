/* gpu_opencl.c - the devices of all OpenCL platforms, counted through. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/engine/gpu/cl_slot.h"
#include "io/base/error.h"

#define MOST_PLATFORMS 16
#define MOST_DEVICES   64

static tdc_status fail_with(struct tdc_error *error, const char *function, int code)
{
    char text[200];
    tdc_gpu_describe(&tdc_gpu_opencl, (struct tdc_call_failure){function, code}, text, sizeof text);
    bool absent = tdc_cl_remedy_of(code) == TDC_REMEDY_NO_DEVICE;
    return tdc_fail(error, absent ? TDC_ERR_NOT_FOUND : TDC_ERR_DEVICE, "OpenCL: %s", text);
}

/* ---- counting -------------------------------------------------------------------------------- */

/* A platform without devices says so by an error, which is none here. */
static tdc_status list_devices(const struct tdc_cl *cl, void **devices, unsigned *count,
                               struct tdc_error *error)
{
    void *platforms[MOST_PLATFORMS];
    uint32_t found = 0;
    *count = 0;
    int code = cl->clGetPlatformIDs(MOST_PLATFORMS, platforms, &found);
    if (code != 0)
        return fail_with(error, "clGetPlatformIDs", code);
    for (uint32_t i = 0; i < found && i < MOST_PLATFORMS; i++) {
        uint32_t here = 0, room = MOST_DEVICES - *count;
        if (room == 0)
            break;
        code = cl->clGetDeviceIDs(platforms[i], (uint64_t)TDC_CL_DEVICE_TYPE_ALL, room,
                                  devices + *count, &here);
        if (code != 0 && code != TDC_CL_DEVICE_NOT_FOUND)
            return fail_with(error, "clGetDeviceIDs", code);
        if (code == 0)
            *count += here < room ? here : room;
    }
    return *count != 0 ? TDC_OK
                       : tdc_fail(error, TDC_ERR_NOT_FOUND, "OpenCL works, but there is no device");
}

static unsigned count_devices(struct tdc_error *error)
{
    void *devices[MOST_DEVICES];
    unsigned count;
    const struct tdc_cl *cl = tdc_cl_start(error);
    return cl != NULL && list_devices(cl, devices, &count, error) == TDC_OK ? count : 0;
}

static uint64_t number(const struct tdc_cl *cl, void *device, int64_t what, size_t size)
{
    uint64_t wide = 0;
    uint32_t narrow = 0;
    int code = cl->clGetDeviceInfo(device, (uint32_t)what, size,
                                   size == sizeof wide ? (void *)&wide : (void *)&narrow, NULL);
    return code != 0 ? 0 : size == sizeof wide ? wide : narrow;
}

static bool is_card(unsigned id)
{
    void *devices[MOST_DEVICES];
    unsigned count;
    struct tdc_error ignored;
    const struct tdc_cl *cl = tdc_cl_start(&ignored);
    return cl != NULL && list_devices(cl, devices, &count, &ignored) == TDC_OK && id < count &&
           (number(cl, devices[id], TDC_CL_DEVICE_TYPE, sizeof(uint64_t)) &
            (uint64_t)TDC_CL_DEVICE_TYPE_CPU) == 0;
}

static const char *library_path(void)
{
    const struct tdc_runtime_library *library = tdc_cl_library();
    return library->state == TDC_RUNTIME_USABLE ? library->path : NULL;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Everything the kernels rely on; NULL or what is missing. */
static const char *what_is_missing(const struct tdc_cl *cl, void *device)
{
    const uint64_t wanted =
        (uint64_t)(TDC_CL_FP_DENORM | TDC_CL_FP_INF_NAN | TDC_CL_FP_ROUND_TO_NEAREST);
    uint64_t doubles = number(cl, device, TDC_CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(uint64_t));
    if (doubles == 0)
        return "it has no float64";
    if ((doubles & wanted) != wanted)
        return "its float64 is not that of IEEE 754";
    if (number(cl, device, TDC_CL_DEVICE_ENDIAN_LITTLE, sizeof(uint32_t)) == 0)
        return "its bytes are in another order";
    if (number(cl, device, TDC_CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(uint64_t)) < TDC_GPU_SLOT_BYTES)
        return "it has no room for a chunk";
    return NULL;
}

static void describe(const struct tdc_cl *cl, void *id, struct tdc_gpu_device *device)
{
    if (cl->clGetDeviceInfo(id, (uint32_t)TDC_CL_DEVICE_NAME, sizeof device->name - 1, device->name,
                            NULL) != 0)
        snprintf(device->name, sizeof device->name, "OpenCL device");
    for (char *at = device->name; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20)
            *at = ' ';
    device->units = (unsigned)number(cl, id, TDC_CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(uint32_t));
    device->memory = number(cl, id, TDC_CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(uint64_t));
}

/* The first line of what the compiler said, behind the error. */
static void add_log(const struct tdc_cl *cl, const struct tdc_cl_device *own, char *text,
                    size_t size)
{
    char log[1024] = "";
    size_t length = strlen(text);
    if (cl->clGetProgramBuildInfo(own->program, own->id, (uint32_t)TDC_CL_PROGRAM_BUILD_LOG,
                                  sizeof log - 1, log, NULL) != 0)
        return;
    log[strcspn(log, "\n")] = '\0';
    snprintf(text + length, size - length, " (%.300s)", log);
}

static tdc_status build(struct tdc_gpu_device *device, struct tdc_error *error)
{
    struct tdc_cl_device *own = device->own;
    const struct tdc_cl *cl = own->cl;
    const char *texts[1 + TDC_GPU_TEXTS] = {tdc_gpu_dialect_opencl};
    memcpy(texts + 1, tdc_gpu_texts, sizeof tdc_gpu_texts);
    int32_t code = 0;
    own->context = cl->clCreateContext(NULL, 1, &own->id, NULL, NULL, &code);
    if (code != 0)
        return fail_with(error, "clCreateContext", code);
    own->program =
        cl->clCreateProgramWithSource(own->context, 1 + TDC_GPU_TEXTS, texts, NULL, &code);
    if (code != 0)
        return fail_with(error, "clCreateProgramWithSource", code);
    code = cl->clBuildProgram(own->program, 1, &own->id, "-cl-std=CL1.2", NULL, NULL);
    if (code == 0)
        return TDC_OK;
    char text[600];
    tdc_gpu_describe(&tdc_gpu_opencl, (struct tdc_call_failure){"clBuildProgram", code}, text,
                     sizeof text);
    add_log(cl, own, text, sizeof text);
    return tdc_fail(error, TDC_ERR_DEVICE, "%s: %s", device->name, text);
}

static void cl_close(struct tdc_gpu_device *device)
{
    struct tdc_cl_device *own = device->own;
    if (own == NULL)
        return;
    if (own->program != NULL)
        own->cl->clReleaseProgram(own->program);
    if (own->context != NULL)
        own->cl->clReleaseContext(own->context);
    free(own);
    device->own = NULL;
}

static tdc_status cl_open(struct tdc_gpu_device *device, struct tdc_error *error)
{
    void *devices[MOST_DEVICES];
    unsigned count;
    const struct tdc_cl *cl = tdc_cl_start(error);
    if (cl == NULL)
        return error->status;
    tdc_status status = list_devices(cl, devices, &count, error);
    if (status != TDC_OK)
        return status;
    if (device->id >= count)
        return tdc_fail(error, TDC_ERR_NOT_FOUND, "there is no device %u", device->id);
    describe(cl, devices[device->id], device);
    const char *missing = what_is_missing(cl, devices[device->id]);
    if (missing != NULL)
        return tdc_fail(error, TDC_ERR_DEVICE, "opencl:%u (%s) cannot be used: %s", device->id,
                        device->name, missing);
    struct tdc_cl_device *own = calloc(1, sizeof *own);
    if (own == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for a device");
    own->cl = cl;
    own->id = devices[device->id];
    device->own = own;
    status = build(device, error);
    if (status != TDC_OK)
        cl_close(device);
    return status;
}

static struct tdc_call_failure cl_bind(struct tdc_gpu_device *device, void **before)
{
    (void)device;
    *before = NULL;
    return (struct tdc_call_failure){NULL, 0};
}

static void cl_unbind(struct tdc_gpu_device *device, void *before)
{
    (void)device;
    (void)before;
}

const struct tdc_gpu_family tdc_gpu_opencl = {
    .name = "opencl",
    .count = count_devices,
    .library = library_path,
    .is_card = is_card,
    .open = cl_open,
    .close = cl_close,
    .bind = cl_bind,
    .unbind = cl_unbind,
    .slot_open = tdc_cl_slot_open,
    .slot_close = tdc_cl_slot_close,
    .launch = tdc_cl_slot_launch,
    .poll = tdc_cl_slot_poll,
    .time = tdc_cl_slot_time,
    .remedy_of = tdc_cl_remedy_of,
    .error_name = tdc_cl_error_name,
};
