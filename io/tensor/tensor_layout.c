#include "io/tensor/tensor_layout.h"

size_t tdc_layout_element_size(const struct tdc_tensor *tensor)
{
    return tensor->dtype == TDC_TEXT ? tensor->text_width : tdc_dtype_size(tensor->dtype);
}

bool tdc_layout_count(struct tdc_tensor *tensor)
{
    int64_t product = 1;
    bool empty = false;
    for (unsigned i = 0; i < tensor->dimensions; i++) {
        if (tensor->shape[i] == 0)
            empty = true;
        else if (__builtin_mul_overflow(product, tensor->shape[i], &product))
            return false;
    }
    tensor->count = empty ? 0 : (uint64_t)product;
    return true;
}

void tdc_layout_contiguous(struct tdc_tensor *tensor, bool fortran_order)
{
    int64_t stride = 1;
    for (unsigned k = 0; k < tensor->dimensions; k++) {
        unsigned i = fortran_order ? k : tensor->dimensions - 1 - k;
        tensor->strides[i] = stride;
        if (tensor->shape[i] != 0)
            stride *= (int64_t)tensor->shape[i];
    }
}

int64_t tdc_layout_at(const struct tdc_tensor *tensor, const uint64_t *index)
{
    int64_t at = 0;
    for (unsigned d = 0; d < tensor->dimensions; d++) {
        uint64_t place = index[d];
        if (tensor->block != 0 && d == tensor->block_axis) {
            at += (int64_t)(place / tensor->block) * tensor->block_way;
            place %= tensor->block;
        }
        at += (int64_t)place * tensor->strides[d];
    }
    return at;
}

void tdc_layout_dense(struct tdc_tensor *tensor)
{
    tensor->dense = true;
    if (tensor->count <= 1)
        return;
    if (tensor->block != 0) {
        tensor->dense = false;
        return;
    }
    int64_t expected = 1;
    for (unsigned i = tensor->dimensions; i-- > 0;) {
        if (tensor->shape[i] == 1)
            continue;
        if (tensor->strides[i] != expected) {
            tensor->dense = false;
            return;
        }
        expected *= (int64_t)tensor->shape[i];
    }
}

bool tdc_layout_extent(const struct tdc_tensor *tensor, uint64_t *extent)
{
    int64_t last = 0;
    for (unsigned i = 0; i < tensor->dimensions; i++) {
        if (tensor->strides[i] < 0)
            return false;
        int64_t reach;
        if (tensor->count == 0)
            continue;
        if (__builtin_mul_overflow(tensor->shape[i] - 1, tensor->strides[i], &reach) ||
            __builtin_add_overflow(last, reach, &last))
            return false;
    }
    *extent = tensor->count == 0 ? 0 : (uint64_t)last + 1;
    return true;
}

bool tdc_layout_swapped(const struct tdc_tensor *tensor, bool stored_big_endian)
{
    if (tensor->dtype == TDC_TEXT ? !tensor->text_wide : tdc_dtype_size(tensor->dtype) == 1)
        return false;
    return stored_big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}
