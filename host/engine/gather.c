/*
 * gather.c - any view, byte order or text as dense native elements.
 *
 * Views are rare (the dumper writes contiguous tensors), so this aims at being right; a run along
 * the innermost dimension is copied element by element.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/engine/source.h"
#include "io/pytext.h"

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
    if (dtype == TDC_C64 || dtype == TDC_C128) {
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

/* float4_e2m1fn: sign, two bits of exponent, one of fraction. */
static double e2m1_value(unsigned bits)
{
    static const double magnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    double magnitude = magnitudes[bits & 7];
    return bits & 8 ? -magnitude : magnitude;
}

static double affine_value(const struct tdc_tensor *tensor, const unsigned char *element,
                           const uint64_t *index)
{
    const struct tdc_affine *affine = &tensor->affine;
    double imaginary, scale = affine->scale;
    int64_t zero = affine->zero;
    if (affine->scales != NULL) {
        int64_t place = (int64_t)index[affine->axis];
        memcpy(&scale, affine->scales + place * affine->scale_stride * 8, sizeof scale);
        memcpy(&zero, affine->zeros + place * affine->zero_stride * 8, sizeof zero);
    }
    return (tdc_element_value(tensor->dtype, element, &imaginary) - (double)zero) * scale;
}

/* The number an element at this index stands for. */
static double coded_value(const struct tdc_tensor *tensor, const unsigned char *source,
                          const uint64_t *index)
{
    unsigned char element[16];
    size_t stored = tdc_dtype_size(tensor->dtype);
    memcpy(element, source, stored);
    switch (tensor->coding) {
    case TDC_CODING_E8M0:
        return element[0] == 0xff ? (double)NAN : ldexp(1, element[0] - 127);
    case TDC_CODING_E2M1:
        return e2m1_value(index[tensor->dimensions - 1] == 0 ? element[0] & 15 : element[0] >> 4);
    case TDC_CODING_PLAIN:
    case TDC_CODING_AFFINE:
        break;
    }
    if (tensor->swapped)
        swap_element(tensor->dtype, element, stored);
    return affine_value(tensor, element, index);
}

bool tdc_gather_elements(const struct tdc_tensor *tensor, uint64_t first, size_t count,
                         void *buffer)
{
    size_t stored = tensor->dtype == TDC_TEXT ? tensor->text_width : tdc_dtype_size(tensor->dtype);
    size_t dense = tdc_dtype_size(tdc_source_dtype(tensor));
    unsigned char *target = buffer;
    uint64_t index[TDC_MAX_DIMENSIONS];
    uint64_t rest = first;
    int64_t at = 0; /* offset in elements; checked against the map when the file was opened */
    for (unsigned d = tensor->dimensions; d-- > 0;) {
        index[d] = rest % tensor->shape[d];
        rest /= tensor->shape[d];
        at += (int64_t)index[d] * tensor->strides[d];
    }
    for (size_t i = 0; i < count; i++) {
        const unsigned char *source = tensor->data + at * (int64_t)stored;
        if (tensor->coding != TDC_CODING_PLAIN)
            memcpy(target, &(double){coded_value(tensor, source, index)}, sizeof(double));
        else if (!copy_element(tensor, source, target, dense))
            return false;
        target += dense;
        for (unsigned d = tensor->dimensions; d-- > 0;) {
            at += tensor->strides[d];
            if (++index[d] < tensor->shape[d])
                break;
            at -= (int64_t)tensor->shape[d] * tensor->strides[d];
            index[d] = 0;
        }
    }
    return true;
}
