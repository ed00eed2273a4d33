/*
 * gpu_library.h - the runtime under a test of GPUs: TDC_TEST_GPU says which family. Of the CUDA
 * stand-in and of OpenCL with failing calls the environment names the libraries (TDC_CUDA_LIBRARY,
 * TDC_OPENCL_LIBRARY); either can be told to let a call fail, and to hang.
 */
#ifndef TDC_TESTS_GPU_LIBRARY_H
#define TDC_TESTS_GPU_LIBRARY_H

#include <dlfcn.h>
#include <stdlib.h>

#include "host/engine/device.h"
#include "io/file/mapping_guard.h"
#include "tests/twin/gpu/cuda_twin.h"
#include "tests/unit/kernels/pair_data.h"

static struct {
    void *handle;
    void (*arm)(long call, int code);
    long (*calls)(void);
    const char *(*failed)(void);
    long (*live)(void);
    void (*behave)(int how); /* of the CUDA stand-in: NULL where the device is a real one */
    void (*hang)(int on);    /* of OpenCL */
} library;
static struct tdc_device_request device;

static void find(void *handle, const char *stem, const char *name, void *slot)
{
    char symbol[64];
    snprintf(symbol, sizeof symbol, "%s_%s", stem, name);
    void *address = dlsym(handle, symbol);
    memcpy(slot, &address, sizeof address);
}

static int find_library(void **state)
{
    (void)state;
    const char *name = getenv("TDC_TEST_GPU");
    assert_true(tdc_device_parse(name, &device) && device.family != NULL);
    bool cuda = device.family == &tdc_family_cuda;
    const char *place = getenv(cuda ? "TDC_CUDA_LIBRARY" : "TDC_OPENCL_LIBRARY");
    const char *stem = cuda ? "cuda_twin" : "cl_shim";
    void *handle = dlopen(place, RTLD_NOW | RTLD_LOCAL);
    library.handle = handle;
    if (handle == NULL)
        fail_msg("%s", dlerror());
    find(handle, stem, "arm", &library.arm);
    find(handle, stem, "calls", &library.calls);
    find(handle, stem, "failed", &library.failed);
    find(handle, stem, "live", &library.live);
    find(handle, stem, "behave", &library.behave);
    find(handle, stem, "hang", &library.hang);
    assert_true(library.arm != NULL && library.live != NULL);
    return tdc_guard_begin() ? 0 : -1;
}

static int forget_library(void **state)
{
    (void)state;
    tdc_guard_end();
    return 0;
}

/* From now on nothing that is enqueued ends, or all does again. Waits are short then. */
static inline void let_hang(bool on)
{
    setenv("TDC_DEVICE_TIMEOUT", "0.3", 1);
    if (library.behave != NULL)
        library.behave(on ? CUDA_TWIN_HANG : CUDA_TWIN_RIGHT);
    else
        library.hang(on);
}

#endif
