/* From what a pickle says about a tensor to a tensor in memory, with every claim checked. */
#include "io/base/error.h"
#include "io/tensor/pickle/pt.h"
#include "io/tensor/tensor_layout.h"

static tdc_status lies(struct tdc_pickle *pickle, const char *reason)
{
    return tdc_fail(pickle->error, TDC_ERR_FORMAT, "%s: wrong tensor: %s", pickle->file, reason);
}

tdc_status tdc_pt_require_tensor(struct tdc_pickle *pickle, const struct tdc_pickle_value *value)
{
    if (value->kind == TDC_PICKLE_TENSOR)
        return TDC_OK;
    return tdc_pickle_unsupported(pickle, value->kind == TDC_PICKLE_REFUSED ? value->name->reason
                                                                            : "not a tensor");
}

const struct tdc_pickle_value *tdc_pt_storage_of(const struct tdc_pickle *pickle,
                                                 const struct tdc_pickle_value *value)
{
    return &pickle->items[pickle->items[value->first + TDC_TENSOR_STORAGE].first];
}

size_t tdc_pt_storage_unit(const struct tdc_pickle_value *storage)
{
    tdc_dtype dtype = storage[TDC_STORAGE_CLASS].name->dtype;
    return dtype == TDC_DTYPE_NONE ? 1 : tdc_dtype_size(dtype);
}

static tdc_status fill_dtype(struct tdc_pickle *pickle, const struct tdc_pickle_value *field,
                             const struct tdc_pickle_value *storage, struct tdc_tensor *tensor)
{
    const struct tdc_pt_name *name = field[TDC_TENSOR_DTYPE].kind == TDC_PICKLE_NAME
                                         ? field[TDC_TENSOR_DTYPE].name
                                         : storage[TDC_STORAGE_CLASS].name;
    tensor->dtype = name->dtype;
    tensor->coding = name->coding;
    bool quantised = field[TDC_TENSOR_QUANTISER].kind == TDC_PICKLE_TUPLE;
    if (tensor->dtype == TDC_DTYPE_NONE || quantised != (tensor->coding == TDC_CODING_AFFINE))
        return tdc_fail(pickle->error, TDC_ERR_UNSUPPORTED, "%s: elements of type %s.%s",
                        pickle->file, name->module, name->name);
    return TDC_OK;
}

static tdc_status fill_layout(struct tdc_pickle *pickle, const struct tdc_pickle_value *size,
                              const struct tdc_pickle_value *stride, struct tdc_tensor *tensor)
{
    if (size->count != stride->count)
        return lies(pickle, "sizes and strides differ in number");
    if (size->count > TDC_MAX_DIMENSIONS)
        return tdc_pickle_unsupported(pickle, "more than 64 dimensions");
    tensor->dimensions = size->count;
    for (unsigned i = 0; i < tensor->dimensions; i++) {
        const struct tdc_pickle_value *length = &pickle->items[size->first + i];
        const struct tdc_pickle_value *step = &pickle->items[stride->first + i];
        if (length->kind != TDC_PICKLE_INTEGER || step->kind != TDC_PICKLE_INTEGER ||
            length->integer < 0 || step->integer < 0)
            return lies(pickle, "a size or stride is not a number from 0 on");
        tensor->shape[i] = (uint64_t)length->integer;
        tensor->strides[i] = step->integer;
    }
    if (!tdc_layout_count(tensor))
        return lies(pickle, "too many elements");
    tdc_layout_dense(tensor);
    return TDC_OK;
}

struct span {
    uint64_t start; /* bytes from the start of the storage */
    uint64_t size;
};

/* The part of a storage that the tensor may use: all of it, or the view that files of torch 0.x
 * name. */
static tdc_status storage_span(struct tdc_pickle *pickle, const struct tdc_pickle_value *storage,
                               size_t available, struct span *span)
{
    uint64_t unit = tdc_pt_storage_unit(storage), whole;
    int64_t count = storage[TDC_STORAGE_COUNT].integer;
    if (count < 0 || __builtin_mul_overflow((uint64_t)count, unit, &whole) || whole > available)
        return lies(pickle, "its storage is cut off");
    *span = (struct span){0, whole};
    const struct tdc_pickle_value *view = &storage[TDC_STORAGE_VIEW];
    if (view->kind != TDC_PICKLE_TUPLE)
        return TDC_OK;
    const struct tdc_pickle_value *start = &pickle->items[view->first + 1];
    const struct tdc_pickle_value *length = &pickle->items[view->first + 2];
    if (start->kind != TDC_PICKLE_INTEGER || length->kind != TDC_PICKLE_INTEGER ||
        start->integer < 0 || length->integer < 0 || start->integer > count ||
        length->integer > count - start->integer)
        return lies(pickle, "its view leaves the storage");
    *span = (struct span){(uint64_t)start->integer * unit, (uint64_t)length->integer * unit};
    return TDC_OK;
}

/* Two numbers a byte: a last dimension for the halves, which leads nowhere else. */
static tdc_status add_halves(struct tdc_pickle *pickle, struct tdc_tensor *tensor)
{
    if (tensor->dimensions == TDC_MAX_DIMENSIONS)
        return tdc_pickle_unsupported(pickle, "more than 64 dimensions");
    tensor->shape[tensor->dimensions] = 2;
    tensor->strides[tensor->dimensions++] = 0;
    if (!tdc_layout_count(tensor))
        return lies(pickle, "too many elements");
    tensor->dense = false;
    return TDC_OK;
}

tdc_status tdc_pt_describe(struct tdc_pickle *pickle, const struct tdc_pickle_value *value,
                           const unsigned char *storage, size_t size, bool big_endian,
                           struct tdc_tensor *tensor)
{
    const struct tdc_pickle_value *field = &pickle->items[value->first];
    const struct tdc_pickle_value *storage_field = tdc_pt_storage_of(pickle, value);
    struct span span = {0, 0};
    tdc_status status = fill_dtype(pickle, field, storage_field, tensor);
    if (status == TDC_OK)
        status = fill_layout(pickle, &field[TDC_TENSOR_SIZE], &field[TDC_TENSOR_STRIDE], tensor);
    if (status == TDC_OK)
        status = storage_span(pickle, storage_field, size, &span);
    if (status != TDC_OK)
        return status;
    uint64_t element = tdc_dtype_size(tensor->dtype), extent, offset_bytes, end;
    int64_t offset = field[TDC_TENSOR_OFFSET].integer;
    if (offset < 0 || !tdc_layout_extent(tensor, &extent))
        return lies(pickle, "its offset or strides leave the storage");
    if (tensor->count == 0)
        offset = 0; /* nothing is there to be reached, and the offset may be anywhere */
    if (__builtin_mul_overflow((uint64_t)offset, element, &offset_bytes) ||
        __builtin_mul_overflow(extent, element, &end) ||
        __builtin_add_overflow(end, offset_bytes, &end) || end > span.size)
        return lies(pickle, "its offset or strides leave the storage");
    tensor->data = storage + span.start + offset_bytes;
    tensor->swapped = tdc_layout_swapped(tensor, big_endian);
    return tensor->coding == TDC_CODING_E2M1 ? add_halves(pickle, tensor) : TDC_OK;
}
