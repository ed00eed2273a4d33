/*
 * tile_data.h - tiles that are hard on the device kernels and yet, most of them, not rescued.
 */
#ifndef TDC_TESTS_TWIN_TILE_DATA_H
#define TDC_TESTS_TWIN_TILE_DATA_H

#include "kernels/ascend/tile_layout.h"
#include "tests/unit/kernels/pair_data.h"

enum tile_flavour {
    TILE_NEAR,      /* n a little off b */
    TILE_LIMITS,    /* relative errors on the limits and a few units beside them */
    TILE_ZEROS,     /* zeros on one side or both, of both signs, among ordinary values */
    TILE_EQUAL,     /* n = b, in some tiles all 0 */
    TILE_CANCEL,    /* magnitudes from 2^-20 to 2^20 and sums that nearly vanish */
    TILE_INTEGERS,  /* small integers: the same maxima everywhere */
    TILE_QUOTIENTS, /* quotients as close to the middle between two floats as they get */
    TILE_SMALL,     /* magnitudes of gradients: around 2^-30 */
    TILE_POWERS,    /* b a power of 2: differences are rounded, quotients are not */
    TILE_TINY,      /* a few differences below the smallest normal number decide the maximum */
    TILE_SPECIAL,   /* tile by tile the flavours of pair_data.h and those above */
    TILE_FLAVOURS
};

static inline const char *tile_flavour_name(enum tile_flavour flavour)
{
    static const char *const names[TILE_FLAVOURS] = {"near",       "limits",   "zeros",     "equal",
                                                     "cancelling", "integers", "quotients", "small",
                                                     "powers",     "tiny",     "special"};
    return names[flavour];
}

/* The inverse of an odd number modulo 2^32, by Newton. */
static inline uint32_t odd_inverse(uint32_t odd)
{
    uint32_t inverse = odd;
    for (int i = 0; i < 5; i++)
        inverse *= 2 - odd * inverse;
    return inverse;
}

/*
 * b = y and |n - b| = x with x / y = m / 2^25 - j / (2^25 y): m / 2^25 has 25 bits and is the
 * middle between two floats, and j is 1 or 3.
 */
static inline void draw_quotient(double *n, double *b)
{
    uint64_t y, m, j = random_below(2) ? 1 : 3;
    do {
        y = (1u << 23 | random_below(1u << 23)) | 1;
        m = (uint32_t)j * odd_inverse((uint32_t)y) & 0x1ffffff;
    } while (m < 1u << 24);
    uint64_t x = (y * m - j) >> 25;
    *b = (double)y;
    *n = (double)(y - x);
}

static inline void draw_zeros(double *n, double *b)
{
    draw(FLAVOUR_NEAR, n, b);
    size_t kind = random_below(8);
    if (kind == 0 || kind == 1)
        *n = random_below(2) ? 0.0 : -0.0;
    if (kind == 1 || kind == 2)
        *b = random_below(2) ? 0.0 : -0.0;
}

static inline void draw_tile_pair(enum tile_flavour flavour, double *n, double *b)
{
    switch (flavour) {
    case TILE_LIMITS:
        draw_limits(n, b);
        break;
    case TILE_ZEROS:
        draw_zeros(n, b);
        break;
    case TILE_CANCEL:
        *b = (random_unit() - 0.5) * ldexp(1, (int)random_below(41) - 20);
        *n = random_below(3) ? (random_unit() - 0.5) * ldexp(1, (int)random_below(41) - 20) : -*b;
        break;
    case TILE_INTEGERS:
        *b = (double)random_below(9) - 4;
        *n = (double)random_below(9) - 4;
        break;
    case TILE_QUOTIENTS:
        draw_quotient(n, b);
        break;
    case TILE_POWERS:
        *b = (random_below(2) ? 1 : -1) * ldexp(1, -(int)random_below(20));
        *n = (random_unit() - 0.5) * 0x1p14;
        break;
    case TILE_TINY:
        draw(FLAVOUR_NEAR, n, b);
        if (random_below(64) == 0) {
            *b = (1 + random_unit()) * 0x1p-126;
            *n = *b * (1 + 0.5 * random_unit());
        }
        break;
    case TILE_SMALL:
        draw(FLAVOUR_NEAR, n, b);
        *n *= 0x1p-36;
        *b *= 0x1p-36;
        break;
    default:
        draw(FLAVOUR_NEAR, n, b);
        break;
    }
}

/* After so many tiles TILE_SPECIAL begins again. */
#define TILE_SPECIAL_PERIOD ((size_t)FLAVOURS + TILE_SPECIAL)

static inline void fill_tile(enum tile_flavour flavour, size_t tile, tdc_dtype n_dtype,
                             unsigned char *n, tdc_dtype b_dtype, unsigned char *b)
{
    size_t n_size = tdc_dtype_size(n_dtype), b_size = tdc_dtype_size(b_dtype);
    bool all_zero = flavour == TILE_EQUAL && random_below(3) == 0;
    if (flavour == TILE_SPECIAL) {
        size_t which = tile % TILE_SPECIAL_PERIOD;
        if (which < FLAVOURS) {
            fill_pair((enum flavour)which, n_dtype, n, b_dtype, b, TDC_TILE_PAIRS);
            return;
        }
        flavour = (enum tile_flavour)(which - FLAVOURS);
    }
    for (size_t i = 0; i < TDC_TILE_PAIRS; i++) {
        double x, y;
        draw_tile_pair(flavour, &x, &y);
        if (n_dtype == TDC_F16 && (flavour == TILE_CANCEL || flavour == TILE_SMALL)) {
            double scale = flavour == TILE_CANCEL ? 0x1p-6 : 0x1p24;
            x *= scale;
            y *= scale;
        }
        if (flavour == TILE_EQUAL) {
            /* 8 bits: the same in every dtype */
            y = all_zero ? 0.0 : (double)random_below(256);
            x = y;
        }
        encode(n_dtype, x, 0, n + i * n_size);
        encode(b_dtype, y, 0, b + i * b_size);
    }
}

#endif
