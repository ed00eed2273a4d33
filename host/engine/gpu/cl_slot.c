/* cl_slot.c - one chunk on its way through an OpenCL device. */
#include "host/engine/gpu/cl_slot.h"

#include <stdlib.h>

/* Commands of a launch, in the order of the queue. */
enum {
    WRITE,
    PAIR,
    JOIN,
    READ,
    COMMANDS
};

struct cl_slot {
    void *queue;
    void *pinned; /* a buffer whose memory the host sees: the staging, then the words */
    void *view;   /* where it sees it */
    void *input, *lanes, *words;
    void *kernels[TDC_GPU_KERNELS]; /* made when they are needed; arguments are the slot's own */
    void *events[COMMANDS];         /* of the last launch, as far as it came */
};

static const struct tdc_call_failure none = {NULL, 0};

static const struct tdc_cl_device *device_of(const struct tdc_gpu_slot *slot)
{
    return slot->device->own;
}

/* Returns from the function with the call that failed. */
#define TRY(name, call)                                                                            \
    do {                                                                                           \
        int32_t code_ = (call);                                                                    \
        if (code_ != 0)                                                                            \
            return (struct tdc_call_failure){name, code_};                                         \
    } while (0)

/* The same for those that return a handle and store the code. */
#define MAKE(into, name, call)                                                                     \
    do {                                                                                           \
        int32_t code = 0;                                                                          \
        void *made_ = (call);                                                                      \
        if (code != 0)                                                                             \
            return (struct tdc_call_failure){name, code};                                          \
        (into) = made_;                                                                            \
    } while (0)

/* ---- open and close -------------------------------------------------------------------------- */

static struct tdc_call_failure make_buffers(const struct tdc_gpu_slot *slot, struct cl_slot *own)
{
    const struct tdc_cl *cl = device_of(slot)->cl;
    void *context = device_of(slot)->context;
    const uint64_t plain = (uint64_t)TDC_CL_MEM_READ_WRITE;
    const uint64_t shared = plain | (uint64_t)TDC_CL_MEM_ALLOC_HOST_PTR;
    const size_t pinned = TDC_GPU_SLOT_BYTES + TDC_GPU_CHUNK_BYTES;
    MAKE(own->pinned, "clCreateBuffer", cl->clCreateBuffer(context, shared, pinned, NULL, &code));
    MAKE(own->view, "clEnqueueMapBuffer",
         cl->clEnqueueMapBuffer(own->queue, own->pinned, 1,
                                (uint64_t)(TDC_CL_MAP_READ | TDC_CL_MAP_WRITE), 0, pinned, 0, NULL,
                                NULL, &code));
    MAKE(own->input, "clCreateBuffer",
         cl->clCreateBuffer(context, plain, TDC_GPU_SLOT_BYTES, NULL, &code));
    MAKE(own->lanes, "clCreateBuffer",
         cl->clCreateBuffer(context, plain, TDC_GPU_LANE_BYTES, NULL, &code));
    MAKE(own->words, "clCreateBuffer",
         cl->clCreateBuffer(context, plain, TDC_GPU_CHUNK_BYTES, NULL, &code));
    return none;
}

struct tdc_call_failure tdc_cl_slot_open(struct tdc_gpu_slot *slot)
{
    const struct tdc_cl_device *device = device_of(slot);
    const struct tdc_cl *cl = device->cl;
    struct cl_slot *own = calloc(1, sizeof *own);
    slot->own = own;
    if (own == NULL)
        return (struct tdc_call_failure){"malloc", -6};
    uint64_t properties = slot->timed ? (uint64_t)TDC_CL_QUEUE_PROFILING_ENABLE : 0;
    MAKE(own->queue, "clCreateCommandQueue",
         cl->clCreateCommandQueue(device->context, device->id, properties, &code));
    struct tdc_call_failure failure = make_buffers(slot, own);
    if (failure.code == 0) {
        slot->staging = own->view;
        slot->words = (gpu_u64 *)(void *)(slot->staging + TDC_GPU_SLOT_BYTES);
    }
    return failure;
}

static void forget_events(const struct tdc_cl *cl, struct cl_slot *own)
{
    for (unsigned i = 0; i < COMMANDS; i++) {
        if (own->events[i] != NULL)
            cl->clReleaseEvent(own->events[i]);
        own->events[i] = NULL;
    }
}

void tdc_cl_slot_close(struct tdc_gpu_slot *slot)
{
    struct cl_slot *own = slot->own;
    const struct tdc_cl *cl = device_of(slot)->cl;
    if (own == NULL)
        return;
    forget_events(cl, own);
    for (unsigned i = 0; i < TDC_GPU_KERNELS; i++)
        if (own->kernels[i] != NULL)
            cl->clReleaseKernel(own->kernels[i]);
    if (own->view != NULL &&
        cl->clEnqueueUnmapMemObject(own->queue, own->pinned, own->view, 0, NULL, NULL) == 0)
        cl->clFinish(own->queue);
    void *buffers[] = {own->words, own->lanes, own->input, own->pinned};
    for (unsigned i = 0; i < 4; i++)
        if (buffers[i] != NULL)
            cl->clReleaseMemObject(buffers[i]);
    if (own->queue != NULL)
        cl->clReleaseCommandQueue(own->queue);
    free(own);
    slot->own = NULL;
}

/* ---- launch ---------------------------------------------------------------------------------- */

static struct tdc_call_failure find_kernel(const struct tdc_gpu_slot *slot, unsigned number)
{
    const struct tdc_cl_device *device = device_of(slot);
    struct cl_slot *own = slot->own;
    if (own->kernels[number] == NULL)
        MAKE(own->kernels[number], "clCreateKernel",
             device->cl->clCreateKernel(device->program, tdc_gpu_kernel_names[number], &code));
    return none;
}

/* Buffers first, then what is told of the pair. */
static struct tdc_call_failure run_kernel(const struct tdc_gpu_slot *slot, unsigned number,
                                          void *const *buffers, unsigned buffer_count,
                                          uint64_t items, void **event)
{
    const struct tdc_cl *cl = device_of(slot)->cl;
    struct cl_slot *own = slot->own;
    struct tdc_call_failure failure = find_kernel(slot, number);
    if (failure.code != 0)
        return failure;
    void *kernel = own->kernels[number];
    const size_t all = (size_t)items, group = TDC_GPU_GROUP;
    for (unsigned i = 0; i < buffer_count; i++)
        TRY("clSetKernelArg", cl->clSetKernelArg(kernel, i, sizeof(void *), &buffers[i]));
    TRY("clSetKernelArg", cl->clSetKernelArg(kernel, buffer_count, sizeof slot->pair, &slot->pair));
    TRY("clEnqueueNDRangeKernel",
        cl->clEnqueueNDRangeKernel(own->queue, kernel, 1, NULL, &all, &group, 0, NULL, event));
    return none;
}

struct tdc_call_failure tdc_cl_slot_launch(struct tdc_gpu_slot *slot, unsigned kernel, size_t bytes)
{
    const struct tdc_cl *cl = device_of(slot)->cl;
    struct cl_slot *own = slot->own;
    forget_events(cl, own);
    TRY("clEnqueueWriteBuffer",
        cl->clEnqueueWriteBuffer(own->queue, own->input, 0, 0, bytes, slot->staging, 0, NULL,
                                 &own->events[WRITE]));
    void *const pair[] = {own->input, own->input, own->lanes}, *const join[] = {own->lanes,
                                                                                own->words};
    struct tdc_call_failure failure =
        run_kernel(slot, kernel, pair, 3, tdc_gpu_pair_items(&slot->pair), &own->events[PAIR]);
    if (failure.code == 0)
        failure = run_kernel(slot, TDC_GPU_JOIN, join, 2, tdc_gpu_join_items(&slot->pair),
                             &own->events[JOIN]);
    if (failure.code != 0)
        return failure;
    TRY("clEnqueueReadBuffer",
        cl->clEnqueueReadBuffer(own->queue, own->words, 0, 0, TDC_GPU_CHUNK_BYTES, slot->words, 0,
                                NULL, &own->events[READ]));
    TRY("clFlush", cl->clFlush(own->queue));
    return none;
}

/* The queue is in order: the last command there is an event of ends last. */
static void *last_event(const struct cl_slot *own)
{
    for (unsigned i = COMMANDS; i-- != 0;)
        if (own->events[i] != NULL)
            return own->events[i];
    return NULL;
}

struct tdc_call_failure tdc_cl_slot_poll(struct tdc_gpu_slot *slot, bool *done)
{
    const struct tdc_cl *cl = device_of(slot)->cl;
    struct cl_slot *own = slot->own;
    void *last = last_event(own);
    int32_t status = 0;
    *done = last == NULL;
    if (last == NULL)
        return none;
    /* a launch that failed half way was not flushed */
    if (own->events[READ] == NULL)
        TRY("clFlush", cl->clFlush(own->queue));
    TRY("clGetEventInfo", cl->clGetEventInfo(last, (uint32_t)TDC_CL_EVENT_COMMAND_EXECUTION_STATUS,
                                             sizeof status, &status, NULL));
    *done = status <= TDC_CL_COMPLETE;
    return status < 0 ? (struct tdc_call_failure){"a command of the queue", status} : none;
}

double tdc_cl_slot_time(struct tdc_gpu_slot *slot, unsigned from, unsigned to)
{
    static const unsigned commands[TDC_GPU_POINTS] = {WRITE, WRITE, JOIN, READ};
    const struct tdc_cl *cl = device_of(slot)->cl;
    const struct cl_slot *own = slot->own;
    uint64_t times[2];
    const unsigned points[2] = {from, to};
    for (unsigned i = 0; i < 2; i++) {
        int64_t what = points[i] == TDC_GPU_START ? TDC_CL_PROFILING_COMMAND_START
                                                  : TDC_CL_PROFILING_COMMAND_END;
        if (!slot->timed || own->events[commands[points[i]]] == NULL ||
            cl->clGetEventProfilingInfo(own->events[commands[points[i]]], (uint32_t)what,
                                        sizeof times[i], &times[i], NULL) != 0)
            return -1;
    }
    return ((double)times[1] - (double)times[0]) * 1e-9;
}
