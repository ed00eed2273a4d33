/* gather_codes.c - the numbers that quantised, e8m0 and e2m1 elements stand for. */
#include <math.h>
#include <string.h>

#include "host/engine/source.h"

/* float4_e2m1fn: sign, two bits of exponent, one of fraction. */
static double e2m1_value(unsigned bits)
{
    static const double magnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    double magnitude = magnitudes[bits & 7];
    return (bits & 8) != 0 ? -magnitude : magnitude;
}

static double stored_value(const struct tdc_tensor *tensor, const unsigned char *source)
{
    double imaginary;
    uint32_t whole;
    if (tensor->dtype != TDC_I32 || !tensor->swapped)
        return tdc_element_value(tensor->dtype, source, &imaginary);
    memcpy(&whole, source, sizeof whole);
    return (double)(int32_t)__builtin_bswap32(whole);
}

static double affine_value(const struct tdc_tensor *tensor, const unsigned char *source,
                           const uint64_t *index)
{
    const struct tdc_affine *affine = &tensor->affine;
    double scale = affine->scale;
    int64_t zero = affine->zero;
    if (affine->scales != NULL) {
        int64_t place = (int64_t)index[affine->axis];
        memcpy(&scale, affine->scales + place * affine->scale_stride * 8, sizeof scale);
        memcpy(&zero, affine->zeros + place * affine->zero_stride * 8, sizeof zero);
    }
    return (stored_value(tensor, source) - (double)zero) * scale;
}

/* The number an element at this index stands for. */
static double coded_value(const struct tdc_tensor *tensor, const unsigned char *source,
                          const uint64_t *index)
{
    if (tensor->coding == TDC_CODING_E8M0)
        return *source == 0xff ? (double)NAN : ldexp(1, *source - 127);
    if (tensor->coding == TDC_CODING_E2M1)
        return e2m1_value(index[tensor->dimensions - 1] == 0 ? *source & 15u : *source >> 4);
    return affine_value(tensor, source, index);
}

void tdc_gather_codes(const struct tdc_tensor *tensor, uint64_t first, size_t count, void *buffer)
{
    int64_t stored = (int64_t)tdc_dtype_size(tensor->dtype);
    unsigned char *target = buffer;
    uint64_t index[TDC_MAX_DIMENSIONS];
    int64_t at = 0; /* offset in elements; checked against the map when the file was opened */
    for (unsigned d = tensor->dimensions; d-- > 0;) {
        index[d] = first % tensor->shape[d];
        first /= tensor->shape[d];
        at += (int64_t)index[d] * tensor->strides[d];
    }
    for (; count > 0; count--, target += sizeof(double)) {
        double value = coded_value(tensor, tensor->data + at * stored, index);
        memcpy(target, &value, sizeof value);
        for (unsigned d = tensor->dimensions; d-- > 0;) {
            at += tensor->strides[d];
            if (++index[d] < tensor->shape[d])
                break;
            at -= (int64_t)tensor->shape[d] * tensor->strides[d];
            index[d] = 0;
        }
    }
}
