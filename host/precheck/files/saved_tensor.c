#include "host/precheck/files/saved_tensor.h"

#include <string.h>
#include <zlib.h>

#include "io/base/little_endian.h"
#include "io/tensor/npy_writer.h"
#include "io/tensor/pickle/pt_writer.h"

#define BLOCK        1024 /* elements converted at a time */
#define AROUND_LIMIT ((size_t)1 << 16)

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
static size_t element_bytes(const struct tdc_reference_tensor *tensor, int64_t at,
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
    tdc_set_le32(bytes, (uint32_t)bits);
    tdc_set_le32(bytes + 4, (uint32_t)(bits >> 32));
    return size;
}

/* All elements, without a file none of them; their CRC-32 when `crc` is given. */
static bool write_elements(FILE *file, const struct tdc_reference_tensor *tensor, uint32_t *crc)
{
    unsigned char block[BLOCK * 8];
    uLong sum = crc32(0, NULL, 0);
    for (int64_t i = 0; i < tensor->count;) {
        size_t filled = 0;
        for (int k = 0; k < BLOCK && i < tensor->count; k++, i++)
            filled += element_bytes(tensor, i, block + filled);
        if (crc != NULL)
            sum = crc32(sum, block, (uInt)filled);
        if (file != NULL && fwrite(block, 1, filled, file) != filled)
            return false;
    }
    if (crc != NULL)
        *crc = (uint32_t)sum;
    return true;
}

static bool write_text(FILE *file, const struct tdc_text *text)
{
    return fwrite(text->data, 1, text->length, file) == text->length;
}

static void copy_shape(const struct tdc_reference_tensor *tensor,
                       uint64_t shape[TDC_REFERENCE_RANK])
{
    for (unsigned d = 0; d < tensor->rank; d++)
        shape[d] = (uint64_t)tensor->shape[d];
}

bool tdc_write_npy(FILE *file, const struct tdc_reference_tensor *tensor)
{
    struct tdc_reference_tensor shown = *tensor;
    if (tensor->dtype == TDC_BF16)
        shown.dtype = TDC_F32;
    uint64_t shape[TDC_REFERENCE_RANK];
    copy_shape(tensor, shape);
    struct tdc_text head;
    tdc_text_init(&head, AROUND_LIMIT);
    bool written = tdc_npy_head(&head, shown.dtype, tensor->rank, shape) &&
                   write_text(file, &head) && write_elements(file, &shown, NULL);
    tdc_text_free(&head);
    return written;
}

bool tdc_write_pt(FILE *file, const struct tdc_reference_tensor *tensor, const char *name)
{
    uint64_t shape[TDC_REFERENCE_RANK];
    copy_shape(tensor, shape);
    struct tdc_pt_writer writer;
    struct tdc_text head, tail;
    tdc_text_init(&head, AROUND_LIMIT);
    tdc_text_init(&tail, AROUND_LIMIT);
    uint32_t crc;
    bool written = tdc_pt_head(&writer, &head, name, tensor->dtype, tensor->rank, shape) &&
                   write_text(file, &head) && write_elements(file, tensor, &crc) &&
                   tdc_pt_tail(&writer, &tail, crc) && write_text(file, &tail);
    tdc_text_free(&head);
    tdc_text_free(&tail);
    return written;
}

uint32_t tdc_tensor_crc(const struct tdc_reference_tensor *tensor)
{
    uint32_t crc;
    write_elements(NULL, tensor, &crc);
    return crc;
}
