/* gpu_opencl.c - the devices of all OpenCL platforms, counted through. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/engine/gpu/cl_slot.h"
#include "io/base/error.h"

#define MOST_PLATFORMS 16
#define MOST_DEVICES   64

void tdc_cl_describe(struct tdc_call_failure failure, char *text, size_t size)
{
    tdc_gpu_describe(failure, tdc_cl_error_name(failure.code), text, size);
}

static tdc_status fail_with(struct tdc_error *error, const char *function, int code)
{
    char text[200];
    tdc_cl_describe((struct tdc_call_failure){function, code}, text, sizeof text);
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
    if (number(cl, device, TDC_CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(uint64_t)) <
        TDC_GPU_PINNED_BYTES)
        return "it has no room for a slot";
    return NULL;
}

static void describe(struct tdc_cl_card *card)
{
    const struct tdc_cl *cl = card->cl;
    char *name = card->base.base.name;
    size_t size = sizeof card->base.base.name;
    if (cl->clGetDeviceInfo(card->device, (uint32_t)TDC_CL_DEVICE_NAME, size - 1, name, NULL) != 0)
        snprintf(name, size, "OpenCL device");
    for (char *at = name; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20)
            *at = ' ';
    card->base.units =
        (unsigned)number(cl, card->device, TDC_CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(uint32_t));
    card->base.memory = number(cl, card->device, TDC_CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(uint64_t));
}

/* The first line of what the compiler said, behind the error. */
static void add_log(const struct tdc_cl_card *own, char *text, size_t size)
{
    char log[1024] = "";
    size_t length = strlen(text);
    if (own->cl->clGetProgramBuildInfo(own->program, own->device,
                                       (uint32_t)TDC_CL_PROGRAM_BUILD_LOG, sizeof log - 1, log,
                                       NULL) != 0)
        return;
    log[strcspn(log, "\n")] = '\0';
    snprintf(text + length, size - length, " (%.300s)", log);
}

tdc_status tdc_cl_build(struct tdc_cl_card *own, struct tdc_error *error)
{
    const struct tdc_cl *cl = own->cl;
    const char *texts[1 + TDC_GPU_TEXTS] = {tdc_gpu_dialect_opencl};
    memcpy(texts + 1, tdc_gpu_texts, sizeof tdc_gpu_texts);
    int32_t code = 0;
    void *program =
        cl->clCreateProgramWithSource(own->context, 1 + TDC_GPU_TEXTS, texts, NULL, &code);
    if (code != 0)
        return fail_with(error, "clCreateProgramWithSource", code);
    own->program = program;
    code = cl->clBuildProgram(own->program, 1, &own->device, "-cl-std=CL1.2", NULL, NULL);
    if (code == 0)
        return TDC_OK;
    char text[600];
    tdc_cl_describe((struct tdc_call_failure){"clBuildProgram", code}, text, sizeof text);
    add_log(own, text, sizeof text);
    return tdc_fail(error, TDC_ERR_DEVICE, "%s: %s", own->base.base.name, text);
}

static void cl_close(struct tdc_card *card)
{
    struct tdc_cl_card *own = (struct tdc_cl_card *)card;
    /* ending a context waits for what it does, which may be for ever */
    if (atomic_load(&card->abandoned))
        return;
    if (own->program != NULL)
        own->cl->clReleaseProgram(own->program);
    if (own->context != NULL)
        own->cl->clReleaseContext(own->context);
    pthread_mutex_destroy(&own->base.lock);
    free(own);
}

static tdc_status start(struct tdc_cl_card *own, struct tdc_error *error)
{
    const char *missing = what_is_missing(own->cl, own->device);
    int32_t code = 0;
    if (missing != NULL)
        return tdc_fail(error, TDC_ERR_DEVICE, "opencl:%d (%s) cannot be used: %s",
                        (int)own->base.base.id, own->base.base.name, missing);
    void *context = own->cl->clCreateContext(NULL, 1, &own->device, NULL, NULL, &code);
    if (code != 0)
        return fail_with(error, "clCreateContext", code);
    own->context = context;
    return tdc_cl_build(own, error);
}

struct tdc_cl_card *tdc_cl_card_new(const struct tdc_cl *cl, int32_t id, void *device)
{
    struct tdc_cl_card *own = calloc(1, sizeof *own);
    if (own == NULL)
        return NULL;
    tdc_card_init(&own->base.base, &tdc_family_opencl, id);
    pthread_mutex_init(&own->base.lock, NULL);
    own->cl = cl;
    own->device = device;
    describe(own);
    return own;
}

static tdc_status cl_open(unsigned id, struct tdc_card **card, struct tdc_error *error)
{
    void *devices[MOST_DEVICES];
    unsigned count;
    const struct tdc_cl *cl = tdc_cl_start(error);
    if (cl == NULL)
        return error->status;
    tdc_status status = list_devices(cl, devices, &count, error);
    if (status != TDC_OK)
        return status;
    if (id >= count)
        return tdc_fail(error, TDC_ERR_NOT_FOUND, "there is no device %u (%u found)", id, count);
    struct tdc_cl_card *own = tdc_cl_card_new(cl, (int32_t)id, devices[id]);
    if (own == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for a device");
    status = start(own, error);
    if (status == TDC_OK)
        *card = &own->base.base;
    else
        cl_close(&own->base.base);
    return status;
}

static struct tdc_call_failure cl_bind(struct tdc_card *card, void **before)
{
    (void)card;
    *before = NULL;
    return (struct tdc_call_failure){NULL, 0};
}

static void cl_unbind(struct tdc_card *card, void *before)
{
    (void)card;
    (void)before;
}

const struct tdc_device_family tdc_family_opencl = {
    .name = "opencl",
    .count = count_devices,
    .library = library_path,
    .is_card = is_card,
    .open = cl_open,
    .close = cl_close,
    .bind = cl_bind,
    .unbind = cl_unbind,
    .list = tdc_gpu_list,
    .remedy_of = tdc_cl_remedy_of,
    .describe = tdc_cl_describe,
    .unit = GPU_BLOCK,
    .exact = true,
    .kind_of = tdc_gpu_kind_of,
    .room = tdc_gpu_room,
    .proven = tdc_gpu_proven,
    .collect = tdc_gpu_collect,
    .slot_size = sizeof(struct tdc_cl_slot),
    .slot_open = tdc_cl_slot_open,
    .slot_close = tdc_cl_slot_close,
    .launch = tdc_cl_slot_launch,
    .wait = tdc_slot_wait_polling,
    .poll = tdc_cl_slot_poll,
    .time = tdc_cl_slot_time,
};
