/*
 * cl_shim.c - OpenCL with one call that fails: every function is the system's, but the n-th call
 * after cl_shim_arm(n, code) returns the code and does nothing. While cl_shim_hang(1) holds, what
 * is enqueued never seems to end, markers included; with 2 all but markers of other queues. What
 * waits for such a queue as drivers do ends the process with a line. Stands where
 * TDC_OPENCL_LIBRARY says.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- hanging --------------------------------------------------------------------------------- */

enum {
    MOST = 4096
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *stuck[MOST]; /* queues and events */
static size_t stuck_count;
static atomic_int hanging;

void cl_shim_hang(int on)
{
    atomic_store(&hanging, on);
}

static bool is_stuck(const void *object)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < stuck_count; i++)
        found |= stuck[i] == object;
    pthread_mutex_unlock(&lock);
    return found;
}

static void keep_stuck(void *object)
{
    if (object == NULL || is_stuck(object))
        return;
    pthread_mutex_lock(&lock);
    if (stuck_count < MOST)
        stuck[stuck_count++] = object;
    pthread_mutex_unlock(&lock);
}

/* A marker hangs with its queue; 1: every one does. */
static void enqueued(void *queue, void **event, bool marker)
{
    int how = atomic_load(&hanging);
    if (how == 0 || (marker && how == 2 && !is_stuck(queue)))
        return;
    keep_stuck(queue);
    keep_stuck(event != NULL ? *event : NULL);
}

static void no_wait(const char *name, const void *object)
{
    if (!is_stuck(object))
        return;
    fprintf(stderr, "cl_shim: %s waits for a command that never ends\n", name);
    abort();
}

static void no_wait_at_all(const char *name)
{
    if (stuck_count == 0)
        return;
    fprintf(stderr, "cl_shim: %s waits for a command that never ends\n", name);
    abort();
}

/* ---- failing --------------------------------------------------------------------------------- */

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

/* What a function of this name waits for: releasing and finishing wait for the queue, and releasing
 * the context for all of them. */
static const void *waits_for(const char *name, const void *first)
{
    if (strcmp(name, "clReleaseContext") == 0)
        no_wait_at_all(name);
    return strcmp(name, "clFinish") == 0 || strcmp(name, "clReleaseCommandQueue") == 0 ? first
                                                                                       : NULL;
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
        no_wait(#name, waits_for(#name, (const void *)(uintptr_t)(a)));                            \
        if ((change) < 0) {                                                                        \
            atomic_fetch_sub(&live, 1);                                                            \
            next arguments;                                                                        \
            return code;                                                                           \
        }                                                                                          \
        return code != 0 ? code : next arguments;                                                  \
    }

/* Enqueues to queue a; the event comes last. */
#define ENQUEUES(name, parameters, arguments, event, marker)                                       \
    int32_t name parameters;                                                                       \
    __attribute__((visibility("default"))) int32_t name parameters                                 \
    {                                                                                              \
        static int32_t(*next) parameters;                                                          \
        if (next == NULL)                                                                          \
            next = (int32_t(*) parameters)(intptr_t)real(#name);                                   \
        int code = fails(#name);                                                                   \
        if (code == 0)                                                                             \
            code = next arguments;                                                                 \
        if (code == 0)                                                                             \
            enqueued(a, event, marker);                                                            \
        return code;                                                                               \
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
ENQUEUES(clEnqueueWriteBuffer, (void *a, void *b, uint32_t c, size_t d, size_t e, const void *f, uint32_t g, void *const *h, void **i), (a, b, c, d, e, f, g, h, i), i, false)
ENQUEUES(clEnqueueReadBuffer, (void *a, void *b, uint32_t c, size_t d, size_t e, void *f, uint32_t g, void *const *h, void **i), (a, b, c, d, e, f, g, h, i), i, false)
ENQUEUES(clEnqueueNDRangeKernel, (void *a, void *b, uint32_t c, const size_t *d, const size_t *e, const size_t *f, uint32_t g, void *const *h, void **i), (a, b, c, d, e, f, g, h, i), i, false)
ENQUEUES(clEnqueueMarkerWithWaitList, (void *a, uint32_t b, void *const *c, void **d), (a, b, c, d), d, true)
FORWARD(clGetCommandQueueInfo, (void *a, uint32_t b, size_t c, void *d, size_t *e), (a, b, c, d, e), 0)
FORWARD(clGetMemObjectInfo, (void *a, uint32_t b, size_t c, void *d, size_t *e), (a, b, c, d, e), 0)
FORWARD(clFlush, (void *a), (a), 0)
FORWARD(clFinish, (void *a), (a), 0)
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

/* A reference more is to be released, too. */
int32_t clRetainContext(void *context);
__attribute__((visibility("default"))) int32_t clRetainContext(void *context)
{
    static int32_t (*next)(void *);
    if (next == NULL)
        next = (int32_t(*)(void *))(intptr_t)real("clRetainContext");
    int code = fails("clRetainContext");
    if (code != 0)
        return code;
    atomic_fetch_add(&live, 1);
    return next(context);
}

int32_t clGetEventInfo(void *event, uint32_t what, size_t size, void *value, size_t *written);
__attribute__((visibility("default"))) int32_t
clGetEventInfo(void *event, uint32_t what, size_t size, void *value, size_t *written)
{
    typedef int32_t ask(void *, uint32_t, size_t, void *, size_t *);
    static ask *next;
    if (next == NULL)
        next = (ask *)(intptr_t)real("clGetEventInfo");
    int code = fails("clGetEventInfo");
    if (code == 0)
        code = next(event, what, size, value, written);
    if (code == 0 && is_stuck(event))
        *(int32_t *)value = 2; /* CL_SUBMITTED */
    return code;
}
