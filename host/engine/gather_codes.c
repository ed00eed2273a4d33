/* gather_codes.c - the numbers that quantised, packed and other coded elements stand for. */
#include <math.h>
#include <string.h>

#include "host/engine/source.h"
#include "io/tensor/tensor_layout.h"

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

/* The exponent of HiFloat8: of several bits the first is its sign, and a 1 stands before the rest.
 */
static int hif8_exponent(unsigned field, unsigned length)
{
    if (length == 0)
        return 0;
    unsigned leading = 1u << (length - 1);
    int exponent = (int)(leading | (field & (leading - 1)));
    return (field & leading) != 0 ? -exponent : exponent;
}

/*
 * HiFloat8: a sign, a prefix that says how many bits the exponent has, the exponent, and what is
 * left of the eight bits behind the point. The old tools take the prefixes of three and four bits
 * for two, so that their ends become part of the number.
 */
static double hif8_value(unsigned bits, bool loose)
{
    unsigned low = bits & 0x7f, prefix = 2, length;
    double sign = bits < 0x80 ? 1 : -1;
    if (low == 0)
        return bits == 0 ? 0 : (double)NAN;
    if (low == 0x6f)
        return sign * (double)INFINITY;
    if (low >> 3 == 0) /* 0000: numbers without a leading 1 */
        return sign * ldexp(1, (int)low - 23);
    if (low >> 5 != 0) { /* 11, 10, 01 */
        length = (low >> 5) + 1;
    } else { /* 001, 0001 */
        length = low >> 4;
        prefix = loose ? 2 : 4 - length;
    }
    unsigned digits = 7 - prefix - length; /* behind the point */
    int exponent = hif8_exponent(low >> digits, length);
    return sign * ldexp(1 + ldexp(low & ((1u << digits) - 1), -(int)digits), exponent);
}

static double e8m0_value(unsigned bits)
{
    return bits == 0xff ? (double)NAN : ldexp(1, (int)bits - 127);
}

/* Codes of a byte each: gathered as bytes at the end of the buffer, from where they become numbers
 * by a table, first to last: no number reaches a byte that has not been read. */
static void gather_bytes(const struct tdc_tensor *tensor, uint64_t first, size_t count,
                         unsigned char *buffer)
{
    double values[256];
    for (unsigned i = 0; i < 256; i++)
        values[i] = tensor->coding == TDC_CODING_E8M0
                        ? e8m0_value(i)
                        : hif8_value(i, tensor->coding == TDC_CODING_HIF8_LOOSE);
    unsigned char *bytes = buffer + count * (sizeof(double) - 1);
    tdc_gather_boxes(tensor, first, count, bytes);
    for (size_t i = 0; i < count; i++)
        memcpy(buffer + i * sizeof(double), &values[bytes[i]], sizeof(double));
}

/* The number of an element, `at` its place in elements. */
static double coded_value(const struct tdc_tensor *tensor, int64_t at, const uint64_t *index)
{
    const unsigned char *data = tensor->data;
    if (tensor->coding == TDC_CODING_INT4) {
        int half = data[at / 2] >> (at % 2 * 4) & 15;
        return half < 8 ? half : half - 16;
    }
    if (tensor->coding == TDC_CODING_UINT1)
        return data[at / 8] >> (7 - at % 8) & 1;
    data += at * (int64_t)tdc_dtype_size(tensor->dtype);
    if (tensor->coding == TDC_CODING_E2M1)
        return e2m1_value(index[tensor->dimensions - 1] == 0 ? *data & 15u : *data >> 4);
    return affine_value(tensor, data, index);
}

void tdc_gather_codes(const struct tdc_tensor *tensor, uint64_t first, size_t count, void *buffer)
{
    unsigned char *target = buffer;
    uint64_t index[TDC_MAX_DIMENSIONS];
    if (tensor->coding == TDC_CODING_HIF8 || tensor->coding == TDC_CODING_HIF8_LOOSE ||
        tensor->coding == TDC_CODING_E8M0) {
        gather_bytes(tensor, first, count, buffer);
        return;
    }
    for (unsigned d = tensor->dimensions; d-- > 0;) {
        index[d] = first % tensor->shape[d];
        first /= tensor->shape[d];
    }
    for (; count > 0; count--, target += sizeof(double)) {
        double value = coded_value(tensor, tdc_layout_at(tensor, index), index);
        memcpy(target, &value, sizeof value);
        for (unsigned d = tensor->dimensions; d-- > 0;) {
            if (++index[d] < tensor->shape[d])
                break;
            index[d] = 0;
        }
    }
}
