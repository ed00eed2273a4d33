#include "host/precheck/files/saved_tensor.h"

#include <string.h>

#include "host/precheck/check/verdict.h"
#include "kernels/dtype.h"

/* Bits of a value that is exact in float16. */
static uint16_t half_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    uint64_t fraction = bits & 0xfffffffffffffu;
    if (exponent == 1024)
        return (uint16_t)(sign | 0x7c00 | (fraction != 0 ? 0x200 : 0));
    if (exponent >= -14)
        return (uint16_t)(sign | ((exponent + 15) << 10) | (int)(fraction >> 42));
    if (exponent < -24)
        return sign;
    return (uint16_t)(sign | ((fraction | 0x10000000000000u) >> (28 - exponent)));
}

/* Numbers of a whole dtype keep their low bytes. */
size_t tdc_element_bytes(const struct tdc_reference_tensor *tensor, int64_t at,
                         unsigned char bytes[8])
{
    size_t size = tdc_dtype_size(tensor->dtype);
    uint64_t bits = 0;
    if (!tdc_dtype_is_floating(tensor->dtype)) {
        bits = (uint64_t)tensor->whole[at];
    } else if (tensor->dtype == TDC_F64) {
        memcpy(&bits, &tensor->real[at], sizeof bits);
    } else if (tensor->dtype == TDC_F16) {
        bits = half_bits(tensor->real[at]);
    } else {
        float narrow = (float)tensor->real[at];
        uint32_t word;
        memcpy(&word, &narrow, sizeof word);
        bits = tensor->dtype == TDC_BF16 ? word >> 16 : word;
    }
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(bits >> (8 * i));
    return size;
}

static const char *npy_type(tdc_dtype dtype)
{
    return tdc_dtype_entry(dtype == TDC_BF16 ? TDC_F32 : dtype)->numpy;
}

static bool write_header(FILE *file, const struct tdc_reference_tensor *tensor, const char *type)
{
    char shape[TDC_SHAPE_TEXT], header[TDC_SHAPE_TEXT + 128];
    tdc_shape_text(tensor, shape);
    int length = snprintf(header, sizeof header,
                          "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
    /* magic, version and length before it, a line end after it: a multiple of 64 in all */
    int padded = (10 + length + 1 + 63) / 64 * 64 - 10;
    unsigned char start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    start[8] = (unsigned char)(padded & 0xff);
    start[9] = (unsigned char)(padded >> 8);
    return fwrite(start, 1, sizeof start, file) == sizeof start &&
           fprintf(file, "%-*s\n", padded - 1, header) == padded;
}

bool tdc_write_npy(FILE *file, const struct tdc_reference_tensor *tensor)
{
    const char *type = npy_type(tensor->dtype);
    struct tdc_reference_tensor shown = *tensor;
    if (tensor->dtype == TDC_BF16)
        shown.dtype = TDC_F32;
    if (type == NULL || !write_header(file, tensor, type))
        return false;
    for (int64_t i = 0; i < tensor->count; i++) {
        unsigned char bytes[8];
        size_t size = tdc_element_bytes(&shown, i, bytes);
        if (fwrite(bytes, 1, size, file) != size)
            return false;
    }
    return true;
}
