#include "host/judge/element_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/text/pytext.h"
#include "kernels/dtype.h"

void tdc_index_text(struct tdc_text *out, const char *shape, uint64_t index)
{
    uint64_t sizes[64], product = 1;
    size_t dimensions = 0;
    for (const char *at = shape; *at != '\0' && dimensions < 64;) {
        if (*at < '0' || *at > '9') {
            at++;
            continue;
        }
        char *end;
        sizes[dimensions] = strtoull(at, &end, 10);
        if (__builtin_mul_overflow(product, sizes[dimensions], &product))
            product = 0;
        dimensions++;
        at = end;
    }
    /* the shape in the json may not be that of the file */
    if (strcmp(shape, "[]") == 0) {
        tdc_text_adds(out, "[]");
        return;
    }
    if (dimensions < 2 || index >= product) {
        tdc_text_addc(out, '[');
        tdc_text_add_number(out, index);
        tdc_text_addc(out, ']');
        return;
    }
    uint64_t parts[64];
    for (size_t d = dimensions; d-- > 0;) {
        parts[d] = index % sizes[d];
        index /= sizes[d];
    }
    tdc_text_addc(out, '[');
    tdc_text_add_sizes(out, parts, dimensions, ", ");
    tdc_text_addc(out, ']');
}

/* A finite number beyond float64; false for an infinity. Nobody else reads the text back. */
static bool add_extended(const unsigned char *bytes, struct tdc_text *out)
{
    long double value;
    if (!tdc_element_extended(bytes, &value))
        return false;
    return tdc_text_addf(out, "%.18Lg", value);
}

bool tdc_element_number(tdc_dtype dtype, const struct tdc_element *element, double *number,
                        struct tdc_text *out)
{
    double imaginary;
    *number = tdc_element_value(dtype, element->bytes, &imaginary);
    char text[TDC_FLOAT_TEXT];
    if (tdc_dtype_is_complex(dtype)) {
        tdc_text_add(out, text, tdc_float_g16(*number, text));
        if (!signbit(imaginary))
            tdc_text_addc(out, '+');
        tdc_text_add(out, text, tdc_float_g16(imaginary, text));
        tdc_text_addc(out, 'j');
        return false;
    }
    if (dtype == TDC_F80 && isinf(*number) && add_extended(element->bytes, out))
        return false;
    if ((dtype != TDC_I64 && dtype != TDC_U64) || fabs(*number) < 0x1p53)
        return true;
    uint64_t bits;
    memcpy(&bits, element->bytes, sizeof bits);
    if (dtype == TDC_I64)
        tdc_text_addf(out, "%" PRId64, (int64_t)bits);
    else
        tdc_text_addf(out, "%" PRIu64, bits);
    return false;
}
