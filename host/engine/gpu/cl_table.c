/* cl_table.c - finding and loading OpenCL, and its error codes. */
#include "host/engine/gpu/cl_table.h"

#include <pthread.h>

#include "io/base/error.h"

static struct tdc_runtime_library library;
static struct tdc_cl table;
static pthread_once_t loaded = PTHREAD_ONCE_INIT;

static void load(void)
{
    static const char *const places[] = {"libOpenCL.so.1", "libOpenCL.so", NULL};
    if (!tdc_runtime_open(&library, "TDC_OPENCL_LIBRARY", places))
        return;
#define CL_FN(result, name, arguments) tdc_runtime_resolve(&library, true, #name, &table.name);
#define CL_CONST(name, value)
#include "host/engine/gpu/cl_functions.h"
#undef CL_FN
#undef CL_CONST
}

const struct tdc_runtime_library *tdc_cl_library(void)
{
    pthread_once(&loaded, load);
    return &library;
}

const struct tdc_cl *tdc_cl_start(struct tdc_error *error)
{
    if (tdc_cl_library()->state == TDC_RUNTIME_USABLE)
        return &table;
    tdc_fail(error, TDC_ERR_NOT_FOUND, "OpenCL: %s", library.reason);
    return NULL;
}

/* ---- errors ---------------------------------------------------------------------------------- */

static const struct tdc_known_code errors[] = {
    {-1, TDC_REMEDY_NO_DEVICE, "DEVICE_NOT_FOUND"},
    {-2, TDC_REMEDY_NO_DEVICE, "DEVICE_NOT_AVAILABLE"},
    {-3, TDC_REMEDY_WRONG_KERNEL, "COMPILER_NOT_AVAILABLE"},
    {-4, TDC_REMEDY_LESS_MEMORY, "MEM_OBJECT_ALLOCATION_FAILURE"},
    {-5, TDC_REMEDY_LESS_MEMORY, "OUT_OF_RESOURCES"},
    {-6, TDC_REMEDY_LESS_MEMORY, "OUT_OF_HOST_MEMORY"},
    {-11, TDC_REMEDY_WRONG_KERNEL, "BUILD_PROGRAM_FAILURE"},
    {-12, TDC_REMEDY_CHUNK_ON_CPU, "MAP_FAILURE"},
    {-14, TDC_REMEDY_GIVE_UP, "EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    {-30, TDC_REMEDY_CHUNK_ON_CPU, "INVALID_VALUE"},
    {-33, TDC_REMEDY_NO_DEVICE, "INVALID_DEVICE"},
    {-34, TDC_REMEDY_GIVE_UP, "INVALID_CONTEXT"},
    {-36, TDC_REMEDY_GIVE_UP, "INVALID_COMMAND_QUEUE"},
    {-38, TDC_REMEDY_CHUNK_ON_CPU, "INVALID_MEM_OBJECT"},
    {-45, TDC_REMEDY_WRONG_KERNEL, "INVALID_PROGRAM_EXECUTABLE"},
    {-46, TDC_REMEDY_WRONG_KERNEL, "INVALID_KERNEL_NAME"},
    {-48, TDC_REMEDY_WRONG_KERNEL, "INVALID_KERNEL"},
    {-51, TDC_REMEDY_WRONG_KERNEL, "INVALID_ARG_SIZE"},
    {-52, TDC_REMEDY_WRONG_KERNEL, "INVALID_KERNEL_ARGS"},
    {-54, TDC_REMEDY_WRONG_KERNEL, "INVALID_WORK_GROUP_SIZE"},
    {-58, TDC_REMEDY_CHUNK_ON_CPU, "INVALID_EVENT"},
    {-59, TDC_REMEDY_CHUNK_ON_CPU, "INVALID_OPERATION"},
    {-61, TDC_REMEDY_LESS_MEMORY, "INVALID_BUFFER_SIZE"},
    {-1001, TDC_REMEDY_NO_DEVICE, "PLATFORM_NOT_FOUND"},
};

static const struct tdc_known_code *known(int code)
{
    return tdc_known_code(errors, sizeof errors / sizeof *errors, code);
}

const char *tdc_cl_error_name(int code)
{
    return known(code) != NULL ? known(code)->name : "error";
}

enum tdc_remedy tdc_cl_remedy_of(int code)
{
    return known(code) != NULL ? known(code)->remedy : TDC_REMEDY_GIVE_UP;
}
