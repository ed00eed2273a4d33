/*
 * cl_tensors.c - tensors in buffers of OpenCL.
 *
 * OpenCL has no current context: it is that of the queue which comes with the tensors, and the
 * kernels are built for it when the first ones come. Buffers of another context are a new
 * beginning.
 */
#include <stdlib.h>

#include "host/engine/gpu/cl_slot.h"
#include "host/engine/gpu/gpu_tensors.h"
#include "io/base/error.h"

struct cl_tensors {
    struct tdc_gpu_tensors base;
    const struct tdc_cl *cl;
    struct tdc_cl_card *card; /* NULL before the first comparison */
    struct tdc_cl_slot slot;  /* its queue is that of copies */
    void *queues[2];          /* of the batches */
    void *lanes[2], *words[2], *tables[2];
    void *kernels[2][2]; /* of the batches: pair and join */
    unsigned kernel;     /* that the first of them is */
    void *events[TDC_GPU_QUEUES];
};

static struct cl_tensors *tensors_of(const struct tdc_tensors_work *work)
{
    return (struct cl_tensors *)work->device;
}

/* ---- queues ---------------------------------------------------------------------------------- */

static void forget_event(struct cl_tensors *tensors, unsigned queue)
{
    if (tensors->events[queue] != NULL)
        tensors->cl->clReleaseEvent(tensors->events[queue]);
    tensors->events[queue] = NULL;
}

/* The last event of a queue that is in order. Before it nothing was enqueued, or it is there. */
static struct tdc_call_failure poll(struct tdc_tensors_work *work, unsigned queue, bool *done)
{
    struct cl_tensors *tensors = tensors_of(work);
    int32_t status = 0;
    *done = tensors->events[queue] == NULL;
    if (*done)
        return (struct tdc_call_failure){NULL, 0};
    int code = tensors->cl->clGetEventInfo(tensors->events[queue],
                                           (uint32_t)TDC_CL_EVENT_COMMAND_EXECUTION_STATUS,
                                           sizeof status, &status, NULL);
    if (code != 0)
        return (struct tdc_call_failure){"clGetEventInfo", code};
    *done = status <= TDC_CL_COMPLETE;
    return (struct tdc_call_failure){"a command of the queue", status < 0 ? status : 0};
}

/* Whatever was enqueued is sent, and there is an event behind it; else nobody can wait for it. */
static bool mark(struct tdc_tensors_work *work, void *queue, unsigned number)
{
    struct cl_tensors *tensors = tensors_of(work);
    forget_event(tensors, number);
    return tdc_tensors_keep(work, "clEnqueueMarkerWithWaitList",
                            tensors->cl->clEnqueueMarkerWithWaitList(queue, 0, NULL,
                                                                     &tensors->events[number])) &&
           tdc_tensors_keep(work, "clFlush", tensors->cl->clFlush(queue));
}

static bool copy_side(struct tdc_tensors_work *work, void *to, const void *buffer, uint64_t at,
                      size_t bytes)
{
    struct cl_tensors *tensors = tensors_of(work);
    return tdc_tensors_keep(work, "clEnqueueReadBuffer",
                            tensors->cl->clEnqueueReadBuffer(tensors->slot.queue,
                                                             (void *)(uintptr_t)buffer, 0,
                                                             (size_t)at, bytes, to, 0, NULL, NULL));
}

static bool copy(struct tdc_tensors_work *work, void *n, void *b, uint64_t first, size_t count)
{
    bool sent = copy_side(work, n, work->n, first * work->n_size, count * work->n_size) &&
                copy_side(work, b, work->b, first * work->b_size, count * work->b_size);
    return mark(work, tensors_of(work)->slot.queue, TDC_GPU_COPIES) && sent;
}

/* ---- launches -------------------------------------------------------------------------------- */

static bool run_kernel(struct tdc_tensors_work *work, unsigned turn, void *kernel,
                       void *const *buffers, unsigned count, uint64_t items)
{
    struct cl_tensors *tensors = tensors_of(work);
    const struct gpu_pair *pair = &tensors->base.batches[turn].pair;
    const size_t all = (size_t)items, group = TDC_GPU_GROUP;
    bool good = true;
    for (unsigned i = 0; i < count && good; i++)
        good =
            tdc_tensors_keep(work, "clSetKernelArg",
                             tensors->cl->clSetKernelArg(kernel, i, sizeof(void *), &buffers[i]));
    return good &&
           tdc_tensors_keep(work, "clSetKernelArg",
                            tensors->cl->clSetKernelArg(kernel, count, sizeof *pair, pair)) &&
           tdc_tensors_keep(work, "clEnqueueNDRangeKernel",
                            tensors->cl->clEnqueueNDRangeKernel(tensors->queues[turn], kernel, 1,
                                                                NULL, &all, &group, 0, NULL, NULL));
}

static bool send(struct tdc_tensors_work *work, unsigned turn)
{
    struct cl_tensors *tensors = tensors_of(work);
    const struct tdc_gpu_batch *batch = &tensors->base.batches[turn];
    void *queue = tensors->queues[turn], *table = tensors->tables[turn];
    void *lanes = tensors->lanes[turn], *words = tensors->words[turn];
    void *const pair[] = {(void *)(uintptr_t)work->n, (void *)(uintptr_t)work->b, table, lanes};
    void *const join[] = {table, lanes, words};
    return tdc_tensors_keep(work, "clEnqueueWriteBuffer",
                            tensors->cl->clEnqueueWriteBuffer(
                                queue, table, 0, 0, batch->pair.chunks * TDC_GPU_ENTRY_BYTES,
                                batch->table, 0, NULL, NULL)) &&
           run_kernel(work, turn, tensors->kernels[turn][0], pair, 4,
                      tdc_gpu_pair_items(&batch->pair)) &&
           run_kernel(work, turn, tensors->kernels[turn][1], join, 3,
                      tdc_gpu_join_items(&batch->pair)) &&
           tdc_tensors_keep(work, "clEnqueueReadBuffer",
                            tensors->cl->clEnqueueReadBuffer(
                                queue, words, 0, 0, batch->pair.chunks * TDC_GPU_CHUNK_BYTES,
                                batch->words, 0, NULL, NULL));
}

static bool enqueue(struct tdc_tensors_work *work, unsigned turn, uint64_t first)
{
    struct gpu_pair *pair = &tensors_of(work)->base.batches[turn].pair;
    pair->n_at = first * work->n_size;
    pair->b_at = first * work->b_size;
    bool sent = send(work, turn);
    return mark(work, tensors_of(work)->queues[turn], turn) && sent;
}

/* ---- a context ------------------------------------------------------------------------------- */

static void release(struct cl_tensors *tensors, void **object, int32_t (*by)(void *))
{
    (void)tensors;
    if (*object != NULL)
        by(*object);
    *object = NULL;
}

static void leave_context(struct cl_tensors *tensors)
{
    const struct tdc_cl *cl = tensors->cl;
    for (unsigned i = 0; i < TDC_GPU_QUEUES; i++)
        forget_event(tensors, i);
    tdc_slot_close(&tensors->slot.base.base);
    tensors->slot = (struct tdc_cl_slot){.base = {.base = {.card = NULL}}};
    for (unsigned i = 0; i < 2; i++) {
        release(tensors, &tensors->kernels[i][0], cl->clReleaseKernel);
        release(tensors, &tensors->kernels[i][1], cl->clReleaseKernel);
        release(tensors, &tensors->lanes[i], cl->clReleaseMemObject);
        release(tensors, &tensors->words[i], cl->clReleaseMemObject);
        release(tensors, &tensors->tables[i], cl->clReleaseMemObject);
        release(tensors, &tensors->queues[i], cl->clReleaseCommandQueue);
    }
    if (tensors->card != NULL)
        tdc_family_opencl.close(&tensors->card->base.base);
    tensors->card = NULL;
}

static bool make_buffer(struct tdc_tensors_work *work, void **buffer, size_t bytes)
{
    struct cl_tensors *tensors = tensors_of(work);
    int32_t code = 0;
    void *made = tensors->cl->clCreateBuffer(tensors->card->context,
                                             (uint64_t)TDC_CL_MEM_READ_WRITE, bytes, NULL, &code);
    if (code == 0)
        *buffer = made;
    return tdc_tensors_keep(work, "clCreateBuffer", code);
}

static bool make_batch(struct tdc_tensors_work *work, unsigned turn)
{
    struct cl_tensors *tensors = tensors_of(work);
    const struct tdc_cl_card *card = tensors->card;
    int32_t code = 0;
    void *made = tensors->cl->clCreateCommandQueue(card->context, card->device, 0, &code);
    if (code == 0)
        tensors->queues[turn] = made;
    if (!tdc_tensors_keep(work, "clCreateCommandQueue", code))
        return false;
    made = tensors->cl->clCreateKernel(card->program, tdc_gpu_kernel_names[TDC_GPU_JOIN], &code);
    if (code == 0)
        tensors->kernels[turn][1] = made;
    return tdc_tensors_keep(work, "clCreateKernel", code) &&
           make_buffer(work, &tensors->lanes[turn], TDC_GPU_BATCH_LANES) &&
           make_buffer(work, &tensors->words[turn], TDC_GPU_BATCH_WORDS) &&
           make_buffer(work, &tensors->tables[turn], TDC_GPU_BATCH_TABLE);
}

static bool enter_context(struct tdc_tensors_work *work, void *context, void *device)
{
    struct cl_tensors *tensors = tensors_of(work);
    struct tdc_error error = {0};
    struct tdc_cl_card *card = tensors->card;
    if (card != NULL && card->context == context && card->device == device)
        return true;
    leave_context(tensors);
    tensors->card = card = tdc_cl_card_new(tensors->cl, 0, device);
    if (card == NULL)
        return tdc_tensors_keep(work, "malloc", TDC_NO_MEMORY);
    int code = tensors->cl->clRetainContext(context);
    if (code == 0)
        card->context = context;
    if (!tdc_tensors_keep(work, "clRetainContext", code))
        return false;
    if (tdc_cl_build(card, &error) != TDC_OK)
        return tdc_tensors_keep(work, "clBuildProgram", (int)TDC_CL_BUILD_PROGRAM_FAILURE);
    struct tdc_call_failure failure =
        tdc_slot_open(&tensors->slot.base.base, &card->base.base, false);
    if (!tdc_tensors_keep(work, failure.function, failure.code) || !make_batch(work, 0) ||
        !make_batch(work, 1))
        return false;
    tensors->kernel = TDC_GPU_KERNELS;
    tdc_gpu_tensors_lay_out(&tensors->base);
    return true;
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* A buffer that is smaller than what it should hold would be read behind its end. */
static bool is_large_enough(struct tdc_tensors_work *work, const void *buffer, size_t element)
{
    size_t size = 0;
    int code = tensors_of(work)->cl->clGetMemObjectInfo(
        (void *)(uintptr_t)buffer, (uint32_t)TDC_CL_MEM_SIZE, sizeof size, &size, NULL);
    if (code == 0 && size / element < work->count)
        code = (int)TDC_CL_INVALID_BUFFER_SIZE;
    return tdc_tensors_keep(work, "clGetMemObjectInfo", code);
}

/* Each batch has kernels of its own: arguments belong to them. */
static bool find_kernels(struct tdc_tensors_work *work)
{
    struct cl_tensors *tensors = tensors_of(work);
    unsigned wanted = tensors->base.kernel;
    for (unsigned i = 0; i < 2 && tensors->kernel != wanted; i++) {
        int32_t code = 0;
        release(tensors, &tensors->kernels[i][0], tensors->cl->clReleaseKernel);
        void *made = tensors->cl->clCreateKernel(tensors->card->program,
                                                 tdc_gpu_kernel_names[wanted], &code);
        if (!tdc_tensors_keep(work, "clCreateKernel", code)) {
            tensors->kernel = TDC_GPU_KERNELS;
            return false;
        }
        tensors->kernels[i][0] = made;
    }
    tensors->kernel = wanted;
    return true;
}

static bool begin(struct tdc_tensors_work *work, const char **why)
{
    struct cl_tensors *tensors = tensors_of(work);
    void *context = NULL, *device = NULL;
    if (work->stream == NULL)
        return tdc_tensors_keep(work, "the queue of the tensors",
                                (int)TDC_CL_INVALID_COMMAND_QUEUE);
    for (unsigned i = 0; i < 2; i++)
        if (!tdc_tensors_keep(work, "clGetCommandQueueInfo",
                              tensors->cl->clGetCommandQueueInfo(
                                  work->stream,
                                  (uint32_t)(i == 0 ? TDC_CL_QUEUE_CONTEXT : TDC_CL_QUEUE_DEVICE),
                                  sizeof(void *), i == 0 ? &context : &device, NULL)))
            return false;
    if (!is_large_enough(work, work->n, work->n_size) ||
        !is_large_enough(work, work->b, work->b_size))
        return false;
    if (!enter_context(work, context, device)) {
        leave_context(tensors);
        return false;
    }
    return mark(work, work->stream, TDC_GPU_CALLER) && tdc_gpu_tensors_begin(work, why) &&
           find_kernels(work);
}

/* ---- the object ------------------------------------------------------------------------------ */

static void free_tensors(tdc_device *base)
{
    struct cl_tensors *tensors = (struct cl_tensors *)base;
    if (base->given_up)
        return; /* releasing waits for what does not end, and that may still use all of it */
    leave_context(tensors);
    free(tensors);
}

static const struct tdc_tensors_calls calls = {
    .free = free_tensors,
    .describe = tdc_cl_describe,
    .begin = begin,
    .launch = tdc_gpu_tensors_launch,
    .wait = tdc_gpu_tensors_wait,
    .take = tdc_gpu_tensors_take,
    .copy = copy,
    .copied = tdc_gpu_tensors_copied,
};

tdc_status tdc_opencl_tensors_new(tdc_device **made, struct tdc_error *error)
{
    *made = NULL;
    struct tdc_error own_error = {0};
    const struct tdc_cl *cl = tdc_cl_start(&own_error);
    if (cl == NULL)
        return tdc_fail(error, TDC_ERR_DEVICE, "%s", own_error.message);
    struct cl_tensors *tensors = calloc(1, sizeof *tensors);
    if (tensors == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for a device");
    tensors->base.base.calls = &calls;
    tensors->base.slot = &tensors->slot.base.base;
    tensors->base.enqueue = enqueue;
    tensors->base.poll = poll;
    tensors->cl = cl;
    *made = &tensors->base.base;
    return TDC_OK;
}
