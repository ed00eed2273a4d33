/*
 * cl_shim.c - OpenCL with one call that fails: every function is the system's, but the n-th call
 * after cl_shim_arm(n, code) returns the code and does nothing. Stands where TDC_OPENCL_LIBRARY
 * says.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/twin/gpu/cl_shim.h"

static atomic_long calls, failing;
static atomic_int failing_code;
static _Atomic(const char *) failed;
static atomic_long live;

void cl_shim_arm(long call, int code)
{
    atomic_store(&calls, 0);
    atomic_store(&failing, call);
    atomic_store(&failing_code, code);
    atomic_store(&failed, NULL);
}

long cl_shim_calls(void)
{
    return atomic_load(&calls);
}

const char *cl_shim_failed(void)
{
    return atomic_load(&failed);
}

long cl_shim_live(void)
{
    return atomic_load(&live);
}

static int fails(const char *name)
{
    if (atomic_fetch_add(&calls, 1) + 1 != atomic_load(&failing))
        return 0;
    atomic_store(&failed, name);
    return atomic_load(&failing_code);
}

static void *real(const char *name)
{
    static void *library;
    if (library == NULL)
        library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    void *symbol = library != NULL ? dlsym(library, name) : NULL;
    if (symbol == NULL) {
        fprintf(stderr, "no %s in libOpenCL.so.1\n", name);
        abort();
    }
    return symbol;
}

/* A handle that is made must be released: a release that is told to fail still does it. */
#define FORWARD(name, parameters, arguments, change)                                               \
    int32_t name parameters;                                                                       \
    __attribute__((visibility("default"))) int32_t name parameters                                 \
    {                                                                                              \
        static int32_t(*next) parameters;                                                          \
        if (next == NULL)                                                                          \
            next = (int32_t(*) parameters)(intptr_t)real(#name);                                   \
        int code = fails(#name);                                                                   \
        if ((change) < 0) {                                                                        \
            atomic_fetch_sub(&live, 1);                                                            \
            next arguments;                                                                        \
            return code;                                                                           \
        }                                                                                          \
        return code != 0 ? code : next arguments;                                                  \
    }

#define MAKES(name, parameters, arguments, status)                                                 \
    void *name parameters;                                                                         \
    __attribute__((visibility("default"))) void *name parameters                                   \
    {                                                                                              \
        static void *(*next)parameters;                                                            \
        if (next == NULL)                                                                          \
            next = (void *(*)parameters)(intptr_t)real(#name);                                     \
        int code = fails(#name);                                                                   \
        if (code != 0) {                                                                           \
            *(status) = code;                                                                      \
            return NULL;                                                                           \
        }                                                                                          \
        void *made = next arguments;                                                               \
        atomic_fetch_add(&live, made != NULL ? 1 : 0);                                             \
        return made;                                                                               \
    }

/* clang-format off */
FORWARD(clGetPlatformIDs, (uint32_t a, void **b, uint32_t *c), (a, b, c), 0)
FORWARD(clGetDeviceIDs, (void *a, uint64_t b, uint32_t c, void **d, uint32_t *e), (a, b, c, d, e), 0)
FORWARD(clGetDeviceInfo, (void *a, uint32_t b, size_t c, void *d, size_t *e), (a, b, c, d, e), 0)
MAKES(clCreateContext, (const intptr_t *a, uint32_t b, void *const *c, void (*d)(const char *, const void *, size_t, void *), void *e, int32_t *f), (a, b, c, d, e, f), f)
FORWARD(clReleaseContext, (void *a), (a), -1)
MAKES(clCreateCommandQueue, (void *a, void *b, uint64_t c, int32_t *d), (a, b, c, d), d)
FORWARD(clReleaseCommandQueue, (void *a), (a), -1)
MAKES(clCreateProgramWithSource, (void *a, uint32_t b, const char **c, const size_t *d, int32_t *e), (a, b, c, d, e), e)
FORWARD(clBuildProgram, (void *a, uint32_t b, void *const *c, const char *d, void (*e)(void *, void *), void *f), (a, b, c, d, e, f), 0)
FORWARD(clGetProgramBuildInfo, (void *a, void *b, uint32_t c, size_t d, void *e, size_t *f), (a, b, c, d, e, f), 0)
FORWARD(clReleaseProgram, (void *a), (a), -1)
MAKES(clCreateKernel, (void *a, const char *b, int32_t *c), (a, b, c), c)
FORWARD(clReleaseKernel, (void *a), (a), -1)
FORWARD(clSetKernelArg, (void *a, uint32_t b, size_t c, const void *d), (a, b, c, d), 0)
MAKES(clCreateBuffer, (void *a, uint64_t b, size_t c, void *d, int32_t *e), (a, b, c, d, e), e)
FORWARD(clReleaseMemObject, (void *a), (a), -1)
FORWARD(clEnqueueUnmapMemObject, (void *a, void *b, void *c, uint32_t d, void *const *e, void **f), (a, b, c, d, e, f), 0)
FORWARD(clEnqueueWriteBuffer, (void *a, void *b, uint32_t c, size_t d, size_t e, const void *f, uint32_t g, void *const *h, void **i), (a, b, c, d, e, f, g, h, i), 0)
FORWARD(clEnqueueReadBuffer, (void *a, void *b, uint32_t c, size_t d, size_t e, void *f, uint32_t g, void *const *h, void **i), (a, b, c, d, e, f, g, h, i), 0)
FORWARD(clEnqueueNDRangeKernel, (void *a, void *b, uint32_t c, const size_t *d, const size_t *e, const size_t *f, uint32_t g, void *const *h, void **i), (a, b, c, d, e, f, g, h, i), 0)
FORWARD(clFlush, (void *a), (a), 0)
FORWARD(clFinish, (void *a), (a), 0)
FORWARD(clGetEventInfo, (void *a, uint32_t b, size_t c, void *d, size_t *e), (a, b, c, d, e), 0)
FORWARD(clGetEventProfilingInfo, (void *a, uint32_t b, size_t c, void *d, size_t *e), (a, b, c, d, e), 0)
FORWARD(clReleaseEvent, (void *a), (a), 0)
/* clang-format on */

/* What it returns is no object of its own. */
void *clEnqueueMapBuffer(void *queue, void *buffer, uint32_t blocking, uint64_t flags,
                         size_t offset, size_t size, uint32_t waits, void *const *list,
                         void **event, int32_t *status);
__attribute__((visibility("default"))) void *
clEnqueueMapBuffer(void *queue, void *buffer, uint32_t blocking, uint64_t flags, size_t offset,
                   size_t size, uint32_t waits, void *const *list, void **event, int32_t *status)
{
    typedef void *map(void *, void *, uint32_t, uint64_t, size_t, size_t, uint32_t, void *const *,
                      void **, int32_t *);
    static map *next;
    if (next == NULL)
        next = (map *)(intptr_t)real("clEnqueueMapBuffer");
    int code = fails("clEnqueueMapBuffer");
    if (code == 0)
        return next(queue, buffer, blocking, flags, offset, size, waits, list, event, status);
    *status = code;
    return NULL;
}
