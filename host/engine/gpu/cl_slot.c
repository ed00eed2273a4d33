/* cl_slot.c - one chunk on its way through an OpenCL device. */
#include "host/engine/gpu/cl_slot.h"

static const struct tdc_call_failure none = {NULL, 0};

static const struct tdc_cl_card *card_of(const struct tdc_cl_slot *own)
{
    return (const struct tdc_cl_card *)own->base.base.card;
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

static struct tdc_call_failure make_buffers(struct tdc_cl_slot *own)
{
    const struct tdc_cl *cl = card_of(own)->cl;
    void *context = card_of(own)->context;
    const uint64_t plain = (uint64_t)TDC_CL_MEM_READ_WRITE;
    const uint64_t shared = plain | (uint64_t)TDC_CL_MEM_ALLOC_HOST_PTR;
    MAKE(own->pinned, "clCreateBuffer",
         cl->clCreateBuffer(context, shared, TDC_GPU_PINNED_BYTES, NULL, &code));
    MAKE(own->view, "clEnqueueMapBuffer",
         cl->clEnqueueMapBuffer(own->queue, own->pinned, 1,
                                (uint64_t)(TDC_CL_MAP_READ | TDC_CL_MAP_WRITE), 0,
                                TDC_GPU_PINNED_BYTES, 0, NULL, NULL, &code));
    MAKE(own->input, "clCreateBuffer",
         cl->clCreateBuffer(context, plain, TDC_GPU_INPUT_BYTES, NULL, &code));
    MAKE(own->lanes, "clCreateBuffer",
         cl->clCreateBuffer(context, plain, TDC_GPU_LANE_BYTES, NULL, &code));
    MAKE(own->words, "clCreateBuffer",
         cl->clCreateBuffer(context, plain, TDC_GPU_WORD_BYTES, NULL, &code));
    return none;
}

struct tdc_call_failure tdc_cl_slot_open(struct tdc_slot *slot)
{
    struct tdc_cl_slot *own = (struct tdc_cl_slot *)slot;
    const struct tdc_cl_card *card = card_of(own);
    uint64_t properties = slot->timed ? (uint64_t)TDC_CL_QUEUE_PROFILING_ENABLE : 0;
    MAKE(own->queue, "clCreateCommandQueue",
         card->cl->clCreateCommandQueue(card->context, card->device, properties, &code));
    struct tdc_call_failure failure = make_buffers(own);
    if (failure.code == 0)
        tdc_gpu_slot_lay_out(&own->base, own->view);
    return failure;
}

static void forget_events(const struct tdc_cl *cl, struct tdc_cl_slot *own)
{
    for (unsigned i = 0; i < TDC_CL_COMMANDS; i++) {
        if (own->events[i] != NULL)
            cl->clReleaseEvent(own->events[i]);
        own->events[i] = NULL;
    }
}

/* Releasing and finishing wait for what is under way: a slot that does not end is left alone. */
bool tdc_cl_slot_close(struct tdc_slot *slot, struct tdc_call_failure waited)
{
    struct tdc_cl_slot *own = (struct tdc_cl_slot *)slot;
    const struct tdc_cl *cl = card_of(own)->cl;
    (void)waited;
    if (slot->pending)
        return false;
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
    return true;
}

/* ---- launch ---------------------------------------------------------------------------------- */

static struct tdc_call_failure find_kernel(struct tdc_cl_slot *own, unsigned number)
{
    const struct tdc_cl_card *card = card_of(own);
    if (own->kernels[number] == NULL)
        MAKE(own->kernels[number], "clCreateKernel",
             card->cl->clCreateKernel(card->program, tdc_gpu_kernel_names[number], &code));
    return none;
}

/* Buffers first, then what is told of the pair. */
static struct tdc_call_failure run_kernel(struct tdc_cl_slot *own, unsigned number,
                                          void *const *buffers, unsigned buffer_count,
                                          uint64_t items, void **event)
{
    const struct tdc_cl *cl = card_of(own)->cl;
    const struct gpu_pair *pair = &own->base.pair;
    struct tdc_call_failure failure = find_kernel(own, number);
    if (failure.code != 0)
        return failure;
    void *kernel = own->kernels[number];
    const size_t all = (size_t)items, group = TDC_GPU_GROUP;
    for (unsigned i = 0; i < buffer_count; i++)
        TRY("clSetKernelArg", cl->clSetKernelArg(kernel, i, sizeof(void *), &buffers[i]));
    TRY("clSetKernelArg", cl->clSetKernelArg(kernel, buffer_count, sizeof *pair, pair));
    TRY("clEnqueueNDRangeKernel",
        cl->clEnqueueNDRangeKernel(own->queue, kernel, 1, NULL, &all, &group, 0, NULL, event));
    return none;
}

static struct tdc_call_failure run_kernels(struct tdc_cl_slot *own, unsigned kernel)
{
    void *const pair[] = {own->input, own->input, own->input, own->lanes};
    void *const join[] = {own->input, own->lanes, own->words};
    struct tdc_call_failure failure = run_kernel(
        own, kernel, pair, 4, tdc_gpu_pair_items(&own->base.pair), &own->events[TDC_CL_PAIR]);
    if (failure.code != 0)
        return failure;
    return run_kernel(own, TDC_GPU_JOIN, join, 3, tdc_gpu_join_items(&own->base.pair),
                      &own->events[TDC_CL_JOIN]);
}

struct tdc_call_failure tdc_cl_slot_launch(struct tdc_slot *slot, const struct tdc_slot_load *load)
{
    struct tdc_cl_slot *own = (struct tdc_cl_slot *)slot;
    const struct tdc_cl *cl = card_of(own)->cl;
    struct tdc_gpu_launch launch = tdc_gpu_slot_prepare(&own->base, load);
    forget_events(cl, own);
    TRY("clEnqueueWriteBuffer",
        cl->clEnqueueWriteBuffer(own->queue, own->input, 0, 0, launch.n_bytes, own->base.table, 0,
                                 NULL, &own->events[TDC_CL_WRITE_N]));
    TRY("clEnqueueWriteBuffer",
        cl->clEnqueueWriteBuffer(own->queue, own->input, 0, TDC_GPU_B_AT, launch.b_bytes, slot->b,
                                 0, NULL, &own->events[TDC_CL_WRITE_B]));
    struct tdc_call_failure failure = run_kernels(own, launch.kernel);
    if (failure.code != 0)
        return failure;
    TRY("clEnqueueReadBuffer",
        cl->clEnqueueReadBuffer(own->queue, own->words, 0, 0, launch.word_bytes, own->base.words, 0,
                                NULL, &own->events[TDC_CL_READ]));
    TRY("clFlush", cl->clFlush(own->queue));
    return none;
}

/* The queue is in order: the last command there is an event of ends last. */
static void *last_event(const struct tdc_cl_slot *own)
{
    for (unsigned i = TDC_CL_COMMANDS; i-- != 0;)
        if (own->events[i] != NULL)
            return own->events[i];
    return NULL;
}

struct tdc_call_failure tdc_cl_slot_poll(struct tdc_slot *slot, bool *done)
{
    struct tdc_cl_slot *own = (struct tdc_cl_slot *)slot;
    const struct tdc_cl *cl = card_of(own)->cl;
    void *last = last_event(own);
    int32_t status = 0;
    *done = last == NULL;
    if (last == NULL)
        return none;
    /* a launch that failed half way was not flushed */
    if (own->events[TDC_CL_READ] == NULL)
        TRY("clFlush", cl->clFlush(own->queue));
    TRY("clGetEventInfo", cl->clGetEventInfo(last, (uint32_t)TDC_CL_EVENT_COMMAND_EXECUTION_STATUS,
                                             sizeof status, &status, NULL));
    *done = status <= TDC_CL_COMPLETE;
    return status < 0 ? (struct tdc_call_failure){"a command of the queue", status} : none;
}

/* By the clock of the device, which all queues share. */
bool tdc_cl_slot_time(struct tdc_slot *slot, enum tdc_slot_point point, double *seconds)
{
    static const unsigned commands[TDC_SLOT_POINTS] = {TDC_CL_WRITE_N, TDC_CL_WRITE_B, TDC_CL_JOIN,
                                                       TDC_CL_READ};
    const struct tdc_cl_slot *own = (const struct tdc_cl_slot *)slot;
    void *event = own->events[commands[point]];
    int64_t what =
        point == TDC_POINT_START ? TDC_CL_PROFILING_COMMAND_START : TDC_CL_PROFILING_COMMAND_END;
    uint64_t nanoseconds;
    if (!slot->timed || event == NULL ||
        card_of(own)->cl->clGetEventProfilingInfo(event, (uint32_t)what, sizeof nanoseconds,
                                                  &nanoseconds, NULL) != 0)
        return false;
    *seconds = (double)nanoseconds * 1e-9;
    return true;
}
