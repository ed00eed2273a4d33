/* convert_logical.c - elements of a logical tensor as float64: terms added, then rounded. */
#include <math.h>
#include <string.h>

#include "host/engine/logical/logical.h"
#include "kernels/pair.h"

/* Elements that are converted at a time; they stay in the cache of a core. */
#define CONVERTED ((size_t)4096)

void tdc_widen(tdc_dtype dtype, const unsigned char *elements, size_t count, double *values)
{
    if (dtype == TDC_F32) {
        for (size_t i = 0; i < count; i++) {
            float value;
            memcpy(&value, elements + i * sizeof value, sizeof value);
            values[i] = (double)value;
        }
    } else if (dtype == TDC_BF16) {
        for (size_t i = 0; i < count; i++) {
            uint16_t half;
            memcpy(&half, elements + i * sizeof half, sizeof half);
            uint32_t bits = (uint32_t)half << 16;
            float value;
            memcpy(&value, &bits, sizeof value);
            values[i] = (double)value;
        }
    } else if (dtype == TDC_F64) {
        memcpy(values, elements, count * sizeof *values);
    } else {
        size_t size = tdc_dtype_size(dtype);
        double imaginary;
        for (size_t i = 0; i < count; i++)
            values[i] = tdc_element_value(dtype, elements + i * size, &imaginary);
    }
}

/* To the nearest number of `digits` binary digits whose exponents end at `lowest` and `highest`,
 * ties to even. */
static double round_to(double value, int digits, int lowest, int highest)
{
    int exponent;
    if (!isfinite(value) || value == 0)
        return value;
    frexp(value, &exponent);
    int last = (exponent - 1 > lowest ? exponent - 1 : lowest) - (digits - 1);
    /* the quotient is exact, and so is what is multiplied back */
    double rounded = ldexp(nearbyint(ldexp(value, -last)), last);
    return fabs(rounded) >= ldexp(1, highest + 1) ? copysign((double)INFINITY, value) : rounded;
}

/* The same for numbers within its normal range, by their bits: what is cut off is added to half of
 * its last place, so that it carries where it must. */
static double round_normal(double value, int digits, int lowest, int highest)
{
    uint64_t bits, unit = (uint64_t)1 << (53 - digits);
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    if (exponent < lowest || exponent >= highest)
        return round_to(value, digits, lowest, highest);
    bits += unit / 2 - 1 + ((bits & unit) != 0);
    bits &= ~(unit - 1);
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void round_all(enum tdc_rounding rounding, double *values, size_t count)
{
    if (rounding == TDC_ROUND_F32)
        for (size_t i = 0; i < count; i++)
            values[i] = (double)(float)values[i];
    else if (rounding == TDC_ROUND_F16)
        for (size_t i = 0; i < count; i++)
            values[i] = round_normal(values[i], 11, -14, 15);
    else if (rounding == TDC_ROUND_BF16)
        for (size_t i = 0; i < count; i++)
            values[i] = round_normal(values[i], 8, -126, 127);
}

/* A term as float64. Parts of several types are gathered as that already. */
static bool widened_term(const struct tdc_assembled *assembled, uint32_t term, uint64_t first,
                         size_t count, double *values)
{
    unsigned char raw[CONVERTED * 16];
    tdc_dtype dtype = assembled->mixed ? TDC_F64 : assembled->stored;
    if (assembled->logical->sparse)
        memset(raw, 0, count * tdc_dtype_size(dtype));
    if (!tdc_assembled_term(assembled, term, first, count, tdc_dtype_size(dtype), raw))
        return false;
    tdc_widen(dtype, raw, count, values);
    return true;
}

static bool convert(const struct tdc_assembled *assembled, uint64_t first, size_t count,
                    double *values)
{
    const struct tdc_logical *logical = assembled->logical;
    double term_values[CONVERTED], group_values[CONVERTED];
    for (uint32_t group = 0; group < logical->group_count; group++) {
        double *into = group == 0 ? values : group_values;
        memset(into, 0, count * sizeof *into);
        for (uint32_t term = logical->group_starts[group]; term < logical->group_starts[group + 1];
             term++) {
            bool begins = term == logical->group_starts[group];
            if (!widened_term(assembled, term, first, count, begins ? into : term_values))
                return false;
            for (size_t i = 0; i < count && !begins; i++)
                into[i] += term_values[i];
        }
        for (size_t i = 0; i < count && group != 0; i++)
            values[i] += group_values[i];
    }
    round_all(logical->rounding, values, count);
    return true;
}

bool tdc_assembled_gather(const struct tdc_assembled *assembled, uint64_t first, size_t count,
                          void *buffer)
{
    if (!assembled->convert)
        return tdc_assembled_term(assembled, 0, first, count, tdc_dtype_size(assembled->stored),
                                  buffer);
    double values[CONVERTED]; /* the buffer may have the alignment of a byte */
    for (size_t done = 0; done < count; done += CONVERTED) {
        size_t part = count - done < CONVERTED ? count - done : CONVERTED;
        if (!convert(assembled, first + done, part, values))
            return false;
        memcpy((unsigned char *)buffer + done * sizeof *values, values, part * sizeof *values);
    }
    return true;
}
