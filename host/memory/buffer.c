#include "host/memory/buffer.h"

#include <string.h>

#include "io/base/error.h"
#include "io/base/sized.h"
#include "io/tensor/tensor_layout.h"
#include "kernels/dtype.h"

/* Tensors of less are not worth a second thread. */
#define WORTH_THREADS ((uint64_t)4 << 20)

void tdc_buffer_init(struct tdc_buffer *buffer, size_t size, const void *data, tdc_dtype dtype,
                     unsigned dimensions, const int64_t *shape, const int64_t *strides)
{
    struct tdc_buffer made = {.size = size,
                              .dtype = dtype,
                              .dimensions = dimensions,
                              .data = data,
                              .shape = shape,
                              .strides = strides};
    tdc_sized_init(buffer, size, &made, sizeof made);
}

/* Whether no index leaves what an address can say, whichever the sign of the strides. */
static bool reachable(const struct tdc_tensor *tensor)
{
    int64_t size = (int64_t)tdc_dtype_size(tensor->dtype), lowest = 0, highest = 0;
    for (unsigned i = 0; i < tensor->dimensions && tensor->count != 0; i++) {
        int64_t reach;
        if (__builtin_mul_overflow((int64_t)tensor->shape[i] - 1, tensor->strides[i], &reach) ||
            __builtin_mul_overflow(reach, size, &reach) ||
            __builtin_add_overflow(reach < 0 ? lowest : highest, reach,
                                   reach < 0 ? &lowest : &highest))
            return false;
    }
    return true;
}

static bool take_layout(const struct tdc_buffer *buffer, struct tdc_tensor *tensor)
{
    for (unsigned i = 0; i < buffer->dimensions; i++) {
        if (buffer->shape[i] < 0)
            return false;
        tensor->shape[i] = (uint64_t)buffer->shape[i];
    }
    if (!tdc_layout_count(tensor))
        return false;
    tdc_layout_contiguous(tensor, false);
    if (buffer->strides != NULL)
        memcpy(tensor->strides, buffer->strides, buffer->dimensions * sizeof *buffer->strides);
    tdc_layout_dense(tensor);
    return reachable(tensor);
}

tdc_status tdc_buffer_take(const struct tdc_buffer *given, const char *side,
                           struct tdc_tensor *tensor, struct tdc_error *error)
{
    struct tdc_buffer buffer = {0};
    tdc_status status = tdc_sized_read(given, offsetof(struct tdc_buffer, strides), &buffer,
                                       sizeof buffer, "tdc_buffer_init", error);
    if (status != TDC_OK)
        return status;
    if (buffer.dimensions > TDC_MAX_DIMENSIONS || tdc_dtype_size(buffer.dtype) == 0 ||
        (buffer.dimensions != 0 && buffer.shape == NULL))
        return tdc_fail(error, TDC_ERR_ARGUMENT,
                        "%s: no tensor of numbers (dtype %d, %u dimensions)", side,
                        (int)buffer.dtype, buffer.dimensions);
    *tensor = (struct tdc_tensor){
        .dtype = buffer.dtype,
        .dimensions = buffer.dimensions,
        .data = buffer.data,
        .map_size = SIZE_MAX, /* the caller knows how much memory it has */
        .descriptor = -1,
    };
    if (!take_layout(&buffer, tensor))
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: a shape or strides that cannot be", side);
    if (tensor->count != 0 && tensor->data == NULL)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: no data", side);
    return TDC_OK;
}

const unsigned char *tdc_buffer_elements(const struct tdc_tensor *tensor, uint64_t first,
                                         size_t count, unsigned char *room)
{
    if (tensor->dense)
        return tensor->data + first * tdc_dtype_size(tensor->dtype);
    tdc_gather_elements(tensor, first, count, room);
    return room;
}

static void keep_outcome(void *context, const struct tdc_job *job,
                         const struct tdc_outcome *outcome)
{
    (void)job;
    *(struct tdc_outcome *)context = *outcome;
}

tdc_status tdc_memory_reduce(struct tdc_job *job, enum tdc_relative_rule rule,
                             const struct tdc_options *options, struct tdc_outcome *outcome,
                             struct tdc_error *error)
{
    uint64_t bytes;
    bool small = !__builtin_mul_overflow(job->n_tensor->count, tdc_dtype_size(job->n_tensor->dtype),
                                         &bytes) &&
                 bytes <= WORTH_THREADS;
    struct tdc_options silent = *options;
    silent.progress = NULL;
    struct tdc_engine engine = {
        .rule = rule,
        .threads = small ? 1 : options->threads,
        .io = options->io,
        .backend = &tdc_backend_cpu,
        .extremes = true,
        .options = &silent,
        .done = keep_outcome,
        .context = outcome,
    };
    tdc_status status = tdc_engine_run(&engine, job, 1, error);
    if (status == TDC_OK && outcome->code == TDC_OUTCOME_UNREADABLE)
        status = tdc_fail(error, outcome->error.status, "%s", outcome->error.message);
    return status;
}
