/*
 * ge_layout.c - what the bytes of a tensor of a GE dump are: type, and the view of its format.
 *
 * Formats that cut an axis into blocks of C0 channels (NC1HWC0, FRACTAL_Z, FRACTAL_NZ, NDC1HWC0)
 * have the same form: all axes but that of the channels have one stride. So a view needs one
 * blocked axis (tensor_file.h) and nothing is copied here.
 */
#include <string.h>

#include "io/base/error.h"
#include "io/tensor/ge/ge_dump.h"
#include "io/tensor/tensor_layout.h"

/* Element types by the numbers of the header; TDC_DTYPE_NONE: nobody can read them. */
static const unsigned char plain_types[] = {
    [0] = TDC_I8,   [1] = TDC_F32,   [2] = TDC_F16,      [3] = TDC_I8,      [4] = TDC_U8,
    [5] = TDC_I16,  [6] = TDC_U16,   [7] = TDC_I32,      [8] = TDC_I64,     [9] = TDC_U32,
    [10] = TDC_U64, [11] = TDC_BOOL, [12] = TDC_F64,     [16] = TDC_C64,    [17] = TDC_C128,
    [23] = TDC_I64, [27] = TDC_BF16, [34] = TDC_F8_E5M2, [35] = TDC_F8_E4M3};

static bool find_type(uint64_t type, struct tdc_tensor *tensor)
{
    tensor->dtype = TDC_U8;
    switch (type) {
    case TDC_GE_HIFLOAT8:
        tensor->coding = TDC_CODING_HIF8;
        return true;
    case TDC_GE_INT4:
        tensor->coding = TDC_CODING_INT4;
        return true;
    case TDC_GE_UINT1:
        tensor->coding = TDC_CODING_UINT1;
        return true;
    case TDC_GE_F8_E8M0:
        tensor->coding = TDC_CODING_E8M0;
        return true;
    default:
        tensor->dtype = type < sizeof plain_types ? (tdc_dtype)plain_types[type] : TDC_DTYPE_NONE;
        return tensor->dtype != TDC_DTYPE_NONE;
    }
}

/* Bytes that so many elements take; false when no number holds them. */
static bool bytes_of(const struct tdc_tensor *tensor, uint64_t *bytes)
{
    uint64_t halves = tensor->count / 2 + tensor->count % 2;
    uint64_t eighths = tensor->count / 8 + (tensor->count % 8 != 0);
    *bytes = tensor->coding == TDC_CODING_INT4 ? halves : eighths;
    return tensor->coding == TDC_CODING_INT4 || tensor->coding == TDC_CODING_UINT1 ||
           !__builtin_mul_overflow(tensor->count, tdc_dtype_size(tensor->dtype), bytes);
}

/* ---- formats --------------------------------------------------------------------------------- */

static void set_axis(struct tdc_tensor *tensor, unsigned axis, uint64_t length, uint64_t stride)
{
    tensor->shape[axis] = length;
    tensor->strides[axis] = (int64_t)stride;
}

/* An axis of channels in blocks of C0, whose elements lie side by side. */
static void set_blocked(struct tdc_tensor *tensor, unsigned axis, uint64_t length, uint64_t block,
                        uint64_t way)
{
    set_axis(tensor, axis, length, 1);
    if (length <= block)
        return;
    tensor->block = block;
    tensor->block_way = (int64_t)way;
    tensor->block_axis = axis;
}

/* (..., C1, N1, N0, C0) of h matrices, each cut to the last two of the original sizes. */
static bool view_fractal_nz(const struct tdc_ge_shape *shape, const struct tdc_ge_shape *original,
                            struct tdc_tensor *tensor)
{
    if (shape->dimensions < 4)
        return false;
    const uint64_t *last = shape->dims + shape->dimensions - 4;
    uint64_t rows = original->dims[original->dimensions - 2];
    uint64_t columns = original->dims[original->dimensions - 1];
    uint64_t matrices = 1, stored = 1, padded_rows = last[1] * last[2];
    for (unsigned i = 0; i + 2 < original->dimensions; i++)
        if (__builtin_mul_overflow(matrices, original->dims[i], &matrices))
            return false;
    for (unsigned i = 0; i + 4 < shape->dimensions; i++)
        stored *= shape->dims[i];
    if (matrices != stored || rows > padded_rows || columns > last[0] * last[3])
        return false;
    unsigned axis = 0;
    if (original->dimensions > 2)
        set_axis(tensor, axis++, matrices, last[0] * padded_rows * last[3]);
    set_axis(tensor, axis++, rows, last[3]);
    set_blocked(tensor, axis, columns, last[3], padded_rows * last[3]);
    tensor->dimensions = axis + 1;
    return true;
}

static bool all_within(const uint64_t *wanted, const uint64_t *stored, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (wanted[i] > stored[i])
            return false;
    return true;
}

/* (N, C1, H, W, C0) */
static bool view_nc1hwc0(const struct tdc_ge_shape *shape, const struct tdc_ge_shape *original,
                         struct tdc_tensor *tensor)
{
    const uint64_t *s = shape->dims, *o = original->dims;
    if (shape->dimensions != 5)
        return false;
    const uint64_t whole[] = {s[0], s[1] * s[4], s[2], s[3]};
    if (!all_within(o, whole, 4))
        return false;
    uint64_t plane = s[2] * s[3] * s[4];
    set_axis(tensor, 0, o[0], s[1] * plane);
    set_blocked(tensor, 1, o[1], s[4], plane);
    set_axis(tensor, 2, o[2], s[3] * s[4]);
    set_axis(tensor, 3, o[3], s[4]);
    tensor->dimensions = 4;
    return true;
}

/* (C1*H*W, N1, N0, C0), with H and W of the original sizes. */
static bool view_fractal_z(const struct tdc_ge_shape *shape, const struct tdc_ge_shape *original,
                           struct tdc_tensor *tensor)
{
    const uint64_t *s = shape->dims, *o = original->dims;
    uint64_t window;
    if (shape->dimensions != 4 || __builtin_mul_overflow(o[2], o[3], &window) || window == 0 ||
        s[0] % window != 0)
        return false;
    uint64_t rows = s[1] * s[2], channels = s[0] / window * s[3], step = rows * s[3];
    if (o[0] > rows || o[1] > channels)
        return false;
    set_axis(tensor, 0, o[0], s[3]);
    set_blocked(tensor, 1, o[1], s[3], window * step);
    set_axis(tensor, 2, o[2], o[3] * step);
    set_axis(tensor, 3, o[3], step);
    tensor->dimensions = 4;
    return true;
}

/* (N, D, C1, H, W, C0) becomes (N, C, D, H, W). */
static bool view_ndc1hwc0(const struct tdc_ge_shape *shape, const struct tdc_ge_shape *original,
                          struct tdc_tensor *tensor)
{
    const uint64_t *s = shape->dims;
    if (shape->dimensions != 6 || original->dims[1] > s[2] * s[5])
        return false;
    uint64_t plane = s[3] * s[4] * s[5];
    set_axis(tensor, 0, s[0], s[1] * s[2] * plane);
    set_blocked(tensor, 1, original->dims[1], s[5], plane);
    set_axis(tensor, 2, s[1], s[2] * plane);
    set_axis(tensor, 3, s[3], s[4] * s[5]);
    set_axis(tensor, 4, s[4], s[5]);
    tensor->dimensions = 5;
    return true;
}

static void permute(struct tdc_tensor *tensor, const unsigned order[4])
{
    struct tdc_tensor stored = *tensor;
    for (unsigned i = 0; i < 4; i++)
        set_axis(tensor, i, stored.shape[order[i]], (uint64_t)stored.strides[order[i]]);
}

/*
 * The view that brings a tensor of this format into the order of its original shape. Four original
 * sizes mean NCHW, two or three ND; whatever has no rule stays as it is stored. False when the two
 * shapes do not fit.
 */
static bool view_of_format(const struct tdc_ge_item *item, struct tdc_tensor *tensor)
{
    static const unsigned from_nhwc[] = {0, 3, 1, 2}, from_hwcn[] = {3, 2, 0, 1};
    const struct tdc_ge_shape *shape = &item->shape, *original = &item->original;
    bool nchw = original->dimensions == 4;
    bool nd = original->dimensions == 2 || original->dimensions == 3;
    if (item->format == TDC_GE_FRACTAL_NZ && (nd || nchw))
        return view_fractal_nz(shape, original, tensor);
    if (item->format == TDC_GE_NDC1HWC0 && nd)
        return view_ndc1hwc0(shape, original, tensor);
    if (!nchw)
        return true;
    if (item->format == TDC_GE_NC1HWC0)
        return view_nc1hwc0(shape, original, tensor);
    if (item->format == TDC_GE_FRACTAL_Z)
        return view_fractal_z(shape, original, tensor);
    if (item->format == TDC_GE_NHWC && shape->dimensions == 4)
        permute(tensor, from_nhwc);
    else if (item->format == TDC_GE_HWCN && shape->dimensions == 4)
        permute(tensor, from_hwcn);
    return true;
}

/* ---- tensors --------------------------------------------------------------------------------- */

/* As stored: C order without gaps. */
static void take_shape(const struct tdc_ge_item *item, struct tdc_tensor *tensor)
{
    if (item->type == TDC_GE_UNDEFINED) {
        tensor->dimensions = 1;
        tensor->shape[0] = item->size;
        return;
    }
    tensor->dimensions = item->shape.dimensions;
    memcpy(tensor->shape, item->shape.dims, tensor->dimensions * sizeof *tensor->shape);
}

tdc_status tdc_ge_tensor(const unsigned char *bytes, const char *name,
                         const struct tdc_ge_item *item, bool stored, struct tdc_tensor *tensor,
                         struct tdc_error *error)
{
    uint64_t needed;
    if (!find_type(item->type, tensor))
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: GE data type %llu cannot be read", name,
                        (unsigned long long)item->type);
    take_shape(item, tensor);
    if (!tdc_layout_count(tensor) || !bytes_of(tensor, &needed))
        return tdc_fail(error, TDC_ERR_FORMAT, "%s: bad GE dump: the shape is too large", name);
    if (needed > item->size)
        return tdc_fail(error, TDC_ERR_FORMAT,
                        "%s: bad GE dump: a shape of %llu bytes, of which there are %llu", name,
                        (unsigned long long)needed, (unsigned long long)item->size);
    tdc_layout_contiguous(tensor, false);
    tensor->data = bytes + item->offset;
    if (tensor->count == 0) { /* numpy's type of an array without elements */
        tensor->dtype = TDC_F64;
        tensor->coding = TDC_CODING_PLAIN;
    } else if (!stored && item->type != TDC_GE_UNDEFINED && !view_of_format(item, tensor)) {
        return tdc_fail(error, TDC_ERR_FORMAT,
                        "%s: bad GE dump: its format, shape and original shape do not fit", name);
    }
    tdc_layout_count(tensor); /* no more than was stored */
    tdc_layout_dense(tensor);
    tensor->swapped = tdc_layout_swapped(tensor, false);
    return TDC_OK;
}

const char *tdc_ge_format_name(uint64_t format)
{
    switch (format) {
    case TDC_GE_NCHW:
        return "NCHW";
    case TDC_GE_NHWC:
        return "NHWC";
    case TDC_GE_ND:
        return "ND";
    case TDC_GE_NC1HWC0:
        return "NC1HWC0";
    case TDC_GE_FRACTAL_Z:
        return "FRACTAL_Z";
    case TDC_GE_HWCN:
        return "HWCN";
    case TDC_GE_FRACTAL_NZ:
        return "FRACTAL_NZ";
    case TDC_GE_NDC1HWC0:
        return "NDC1HWC0";
    default:
        return NULL;
    }
}
