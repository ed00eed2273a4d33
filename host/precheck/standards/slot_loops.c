#include "host/precheck/standards/slot_loops.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels/pair.h"

#define BODY static inline __attribute__((always_inline)) bool

/* The order of numbers from 0 on is that of their bits; a NaN is above them all. */
static inline int64_t bits_of(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double number_of(int64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static bool is_plain(int64_t most)
{
    return most <= bits_of(DBL_MAX);
}

BODY finite_body(const double *b, const double *t, size_t n, double largest)
{
    int64_t most = 0, tested = 0;
    for (size_t i = 0; i < n; i++) {
        most = larger(most, bits_of(fabs(b[i])));
        tested = larger(tested, bits_of(fabs(t[i])));
    }
    return most <= bits_of(largest) && is_plain(tested);
}

BODY maxima_body(const double *b, const double *t, size_t n, double epsilon, double *most,
                 double *relative)
{
    int64_t differences = 0, shares = 0;
    for (size_t i = 0; i < n; i++) {
        double size = fabs(b[i]), difference = fabs(b[i] - t[i]);
        differences = larger(differences, bits_of(difference));
        shares = larger(shares, bits_of(difference / (size == 0 ? epsilon : size)));
    }
    *most = number_of(differences);
    *relative = number_of(shares);
    return is_plain(differences) && is_plain(shares);
}

BODY units_body(const double *b, const double *t, size_t n, int least, int digits, double *most)
{
    int64_t units = 0, differences = 0, lowest = (int64_t)(least + 1023) << 52;
    int64_t exponents = (int64_t)0x7ff << 52, lower = (int64_t)digits << 52;
    for (size_t i = 0; i < n; i++) {
        double difference = fabs(b[i] - t[i]);
        int64_t size = larger(bits_of(fabs(b[i])), bits_of(fabs(t[i]))) & exponents;
        double unit = number_of(larger(size, lowest) - lower);
        differences = larger(differences, bits_of(difference));
        units = larger(units, bits_of(difference / unit));
    }
    *most = number_of(units);
    return is_plain(differences) && is_plain(units);
}

BODY ratios_body(const double *b, const double *t, const double *error, size_t n,
                 const struct tdc_slot_limits *limits, double *ratios, double *most, bool *exact)
{
    const double last = limits->last, unit = limits->unit, factor = limits->factor;
    const double rest = limits->rest;
    int64_t ratio = 0, bounds = 0, offs = 0, least = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        double size = fabs(b[i]), own = factor * size;
        double lost = error[i] > own ? error[i] : own;
        double bound = last * size + unit * lost + rest, off = fabs(t[i] - b[i]);
        ratios[i] = off / bound;
        ratio = larger(ratio, bits_of(ratios[i]));
        bounds = larger(bounds, bits_of(bound));
        offs = larger(offs, bits_of(off));
        int64_t bits = bits_of(error[i]); /* not negative, but for a NaN */
        least = bits < least ? bits : least;
    }
    *most = number_of(ratio);
    *exact = least == 0;
    return is_plain(ratio) && is_plain(bounds) && is_plain(offs);
}

BODY rounded_body(const double *b, const double *t, size_t n)
{
    uint64_t odd = 0;
    for (size_t i = 0; i < n; i++)
        odd |= (uint64_t)bits_of(t[i] - (double)(float)b[i]) << 1; /* 0 of either sign */
    return odd == 0;
}

BODY to_brains_body(const double *x, size_t n, double *to)
{
    int64_t most = 0;
    for (size_t i = 0; i < n; i++) {
        float narrow = (float)x[i];
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000; /* to nearest even */
        memcpy(&narrow, &bits, sizeof narrow);
        to[i] = narrow;
        most = larger(most, bits_of(fabs(x[i])));
    }
    return is_plain(most);
}

/* ---- by vectors ------------------------------------------------------------------------------ */

#if defined(__x86_64__)
#define WITH_VECTORS(name, body, parameters, arguments)                                            \
    __attribute__((target("avx2"))) static bool body##_avx2 parameters                             \
    {                                                                                              \
        return body arguments;                                                                     \
    }                                                                                              \
    bool name parameters                                                                           \
    {                                                                                              \
        return tdc_cpu_variant_chosen() >= TDC_CPU_X86_64_V3 ? body##_avx2 arguments               \
                                                             : body arguments;                     \
    }
#else
#define WITH_VECTORS(name, body, parameters, arguments)                                            \
    bool name parameters                                                                           \
    {                                                                                              \
        return body arguments;                                                                     \
    }
#endif

WITH_VECTORS(tdc_slot_finite, finite_body,
             (const double *b, const double *t, size_t n, double largest), (b, t, n, largest))
WITH_VECTORS(tdc_slot_maxima, maxima_body,
             (const double *b, const double *t, size_t n, double epsilon, double *most,
              double *relative),
             (b, t, n, epsilon, most, relative))
WITH_VECTORS(tdc_slot_units, units_body,
             (const double *b, const double *t, size_t n, int least, int digits, double *most),
             (b, t, n, least, digits, most))
WITH_VECTORS(tdc_slot_ratios, ratios_body,
             (const double *b, const double *t, const double *error, size_t n,
              const struct tdc_slot_limits *limits, double *ratios, double *most, bool *exact),
             (b, t, error, n, limits, ratios, most, exact))
WITH_VECTORS(tdc_slot_rounded, rounded_body, (const double *b, const double *t, size_t n),
             (b, t, n))
WITH_VECTORS(tdc_slot_to_brains, to_brains_body, (const double *x, size_t n, double *to),
             (x, n, to))
