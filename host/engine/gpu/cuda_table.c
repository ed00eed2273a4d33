/* cuda_table.c - finding and loading the CUDA driver, and its error codes. */
#include "host/engine/gpu/cuda_table.h"

#include <pthread.h>

#include "io/base/error.h"

static struct tdc_runtime_library library;
static struct tdc_cuda table;
static int start_code;
static pthread_once_t loaded = PTHREAD_ONCE_INIT;

static void load(void)
{
    static const char *const places[] = {"libcuda.so.1", NULL};
    if (!tdc_runtime_open(&library, "TDC_CUDA_LIBRARY", places))
        return;
#define CUDA_FN(result, name, symbol, arguments)                                                   \
    tdc_runtime_resolve(&library, true, #symbol, &table.name);
#define NVRTC_FN(name, arguments)
#define CUDA_CONST(name, value)
#include "host/engine/gpu/cuda_functions.h"
#undef CUDA_FN
#undef NVRTC_FN
#undef CUDA_CONST
    if (library.state == TDC_RUNTIME_USABLE)
        start_code = table.cuInit(0);
}

const struct tdc_runtime_library *tdc_cuda_library(void)
{
    pthread_once(&loaded, load);
    return &library;
}

const struct tdc_cuda *tdc_cuda_start(struct tdc_error *error)
{
    if (tdc_cuda_library()->state != TDC_RUNTIME_USABLE) {
        tdc_fail(error, TDC_ERR_NOT_FOUND, "CUDA: %s", library.reason);
        return NULL;
    }
    if (start_code == 0)
        return &table;
    bool absent = tdc_cuda_remedy_of(start_code) == TDC_REMEDY_NO_DEVICE;
    tdc_fail(error, absent ? TDC_ERR_NOT_FOUND : TDC_ERR_DEVICE, "CUDA: cuInit: %d %s", start_code,
             tdc_cuda_error_name(start_code));
    return NULL;
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* The driver knows the names of its codes. */
const char *tdc_cuda_error_name(int code)
{
    const char *name = NULL;
    if (table.cuGetErrorName == NULL || table.cuGetErrorName(code, &name) != 0 || name == NULL)
        return "error";
    return name;
}

enum tdc_remedy tdc_cuda_remedy_of(int code)
{
    switch (code) {
    case TDC_CUDA_ERROR_STUB_LIBRARY:
    case TDC_CUDA_ERROR_NO_DEVICE:
    case TDC_CUDA_ERROR_INVALID_DEVICE:
        return TDC_REMEDY_NO_DEVICE;
    case TDC_CUDA_ERROR_OUT_OF_MEMORY:
        return TDC_REMEDY_LESS_MEMORY;
    case TDC_CUDA_ERROR_INVALID_VALUE:
    case TDC_CUDA_ERROR_INVALID_HANDLE:
        return TDC_REMEDY_CHUNK_ON_CPU;
    case TDC_CUDA_ERROR_INVALID_IMAGE:
    case TDC_CUDA_ERROR_NO_BINARY_FOR_GPU:
    case TDC_CUDA_ERROR_INVALID_PTX:
    case TDC_CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
        return TDC_REMEDY_WRONG_KERNEL;
    default:
        return TDC_REMEDY_GIVE_UP; /* most are of a context that is dead */
    }
}
