/*
 * gather.c - any view, byte order or text as dense native elements.
 *
 * Native elements are copied by gather_boxes.c. Other byte orders and texts are rare, so this aims
 * at being right: runs along the innermost dimension, after joining dimensions where it can, are
 * copied element by element.
 */
#include <stdio.h>
#include <string.h>

#include "host/engine/logical/logical.h"
#include "host/engine/source.h"
#include "io/text/pytext.h"
#include "kernels/dtype.h"

static void swap_bytes(unsigned char *element, size_t size)
{
    for (size_t i = 0; i < size / 2; i++) {
        unsigned char kept = element[i];
        element[i] = element[size - 1 - i];
        element[size - 1 - i] = kept;
    }
}

static void swap_element(tdc_dtype dtype, unsigned char *element, size_t size)
{
    if (tdc_dtype_is_complex(dtype)) {
        swap_bytes(element, size / 2);
        swap_bytes(element + size / 2, size / 2);
    } else {
        swap_bytes(element, size);
    }
}

/* Numbers as text: ASCII only, blanks around them allowed, at most LONGEST characters. */
static bool text_value(const struct tdc_tensor *tensor, const unsigned char *element, double *value)
{
    enum {
        LONGEST = 400
    };
    char text[LONGEST];
    size_t unit = tensor->text_wide ? 4 : 1, length = 0;
    for (size_t at = 0; at + unit <= tensor->text_width; at += unit) {
        uint32_t c = element[at];
        if (tensor->text_wide) {
            memcpy(&c, element + at, 4);
            if (tensor->swapped)
                c = __builtin_bswap32(c);
        }
        if (c == 0)
            break; /* numpy pads with NUL */
        if (c > 0x7e || length == LONGEST)
            return false;
        text[length++] = (char)c;
    }
    size_t start = 0;
    while (start < length && strchr(" \t\n\r\v\f", text[start]) != NULL)
        start++;
    while (length > start && strchr(" \t\n\r\v\f", text[length - 1]) != NULL)
        length--;
    return tdc_python_float(text + start, length - start, value);
}

/* One element at `source` becomes one dense element of `size` bytes at `target`. */
static bool copy_element(const struct tdc_tensor *tensor, const unsigned char *source,
                         unsigned char *target, size_t size)
{
    if (tensor->dtype == TDC_TEXT) {
        double value;
        if (tensor->opaque || !text_value(tensor, source, &value))
            return false;
        memcpy(target, &value, sizeof value);
        return true;
    }
    unsigned char element[16];
    size_t stored = tdc_dtype_size(tensor->dtype);
    memcpy(element, source, stored);
    if (tensor->swapped)
        swap_element(tensor->dtype, element, stored);
    if (stored != size) {
        double imaginary, value = tdc_element_value(tensor->dtype, element, &imaginary);
        memcpy(target, &value, sizeof value);
    } else {
        memcpy(target, element, size);
    }
    return true;
}

/* The dimensions of a view with those joined that one stride walks through. */
struct walk {
    unsigned dimensions;
    uint64_t shape[TDC_MAX_DIMENSIONS], index[TDC_MAX_DIMENSIONS];
    int64_t strides[TDC_MAX_DIMENSIONS]; /* in elements, as the offset */
    int64_t at;                          /* checked against the map when the file was opened */
};

static void start_walk(struct walk *walk, const struct tdc_tensor *tensor, uint64_t first)
{
    unsigned last = 0; /* dimension of the walk that can still grow */
    walk->dimensions = 0;
    for (unsigned d = 0; d < tensor->dimensions; d++) {
        uint64_t length = tensor->shape[d];
        int64_t stride = tensor->strides[d], whole;
        if (length == 1)
            continue;
        if (walk->dimensions != 0 && !__builtin_mul_overflow(stride, (int64_t)length, &whole) &&
            walk->strides[last] == whole) {
            walk->shape[last] *= length; /* no more than the count of all elements */
            walk->strides[last] = stride;
            continue;
        }
        last = walk->dimensions++;
        walk->shape[last] = length;
        walk->strides[last] = stride;
    }
    walk->at = 0;
    for (unsigned d = walk->dimensions; d-- > 0;) {
        walk->index[d] = first % walk->shape[d];
        first /= walk->shape[d];
        walk->at += (int64_t)walk->index[d] * walk->strides[d];
    }
}

/* Elements up to the end of the innermost dimension, and the way between two of them. */
static size_t run_length(const struct walk *walk, size_t left, int64_t *stride)
{
    *stride = 0;
    if (walk->dimensions == 0)
        return left;
    unsigned inner = walk->dimensions - 1;
    uint64_t rest = walk->shape[inner] - walk->index[inner];
    *stride = walk->strides[inner];
    return rest < left ? (size_t)rest : left;
}

static void go_on(struct walk *walk, size_t length)
{
    for (unsigned d = walk->dimensions; d-- > 0; length = 1) {
        walk->at += (int64_t)length * walk->strides[d];
        walk->index[d] += length;
        if (walk->index[d] < walk->shape[d])
            return;
        walk->at -= (int64_t)walk->shape[d] * walk->strides[d];
        walk->index[d] = 0;
    }
}

bool tdc_gather_elements(const struct tdc_tensor *tensor, uint64_t first, size_t count,
                         void *buffer)
{
    size_t stored = tensor->dtype == TDC_TEXT ? tensor->text_width : tdc_dtype_size(tensor->dtype);
    size_t dense = tdc_dtype_size(tdc_source_dtype(tensor));
    if (tensor->assembled != NULL)
        return tdc_assembled_gather(tensor->assembled, first, count, buffer);
    if (tensor->coding != TDC_CODING_PLAIN) {
        tdc_gather_codes(tensor, first, count, buffer);
        return true;
    }
    bool text = tensor->dtype == TDC_TEXT;
    if (!text && stored == dense) {
        tdc_gather_boxes(tensor, first, count, buffer);
        for (size_t i = 0; i < count && tensor->swapped; i++)
            swap_element(tensor->dtype, (unsigned char *)buffer + i * stored, stored);
        return true;
    }
    unsigned char *target = buffer;
    struct walk walk;
    start_walk(&walk, tensor, first);
    while (count != 0) {
        int64_t stride;
        size_t length = run_length(&walk, count, &stride);
        const unsigned char *source = tensor->data + walk.at * (int64_t)stored;
        int64_t way = stride * (int64_t)stored;
        for (size_t i = 0; i < length; i++)
            if (!copy_element(tensor, source + (int64_t)i * way, target + i * dense, dense))
                return false;
        target += length * dense;
        count -= length;
        go_on(&walk, length);
    }
    return true;
}
