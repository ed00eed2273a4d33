/*
 * pair_ways.h - tensors that lead kernels along each of their short ways: whole blocks of 1024
 * pairs, of which the first raises the maxima and the others are of one kind. Every way is one of a
 * block's, so what a kernel did with the blocks before must not show.
 */
#ifndef TDC_TESTS_PAIR_WAYS_H
#define TDC_TESTS_PAIR_WAYS_H

#include "tests/unit/kernels/pair_values.h"

enum way {
    WAY_EQUAL,    /* equal to the bit: block_equal.h */
    WAY_ROUNDING, /* the last place of every eighth number: groups of near pairs */
    WAY_NOISE,    /* a few units of bf16, changes of sign near 0: products exact in any order */
    WAY_ZEROS,    /* the same with every other number 0, some on one side only */
    WAY_SPREAD,   /* the same over 24 binades: n - b exact in f32, products added in order */
    WAY_FAR,      /* sides that have nothing to do with each other: all added in order */
    WAY_LIMITS,   /* quotients on a limit and as near to it as bf16 and f16 can be */
    WAY_LARGE,    /* whole numbers beyond 2^24, which f32 does not hold */
    WAYS
};

#define WAY_BLOCK 1024

/* About a bell curve. */
static inline double random_bell(void)
{
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += random_unit();
    return sum - 2;
}

static inline void draw_at_limit(double *n, double *b)
{
    static const double inverse[] = {1000, 200, 100, 10};
    double k = inverse[random_below(4)], unit = ldexp(1, (int)random_below(12) - 6);
    double steps = (double)(1 + random_below(20));
    double rest = (double)random_below(5) - 2;
    *b = unit * (k * steps + rest);
    *n = *b + random_sign() * unit * steps;
}

static inline void draw_way(enum way way, size_t i, double scale, double *n, double *b)
{
    double value = random_bell() * scale, noise = random_bell(), flat = random_bell();
    if (way == WAY_SPREAD)
        value = ldexp(value, -(int)random_below(24));
    if (way == WAY_ZEROS && i % 2 == 0)
        value = 0;
    if (way == WAY_LARGE)
        value = floor(value * 0x1p40);
    *b = *n = value;
    if (way == WAY_ROUNDING && i % 8 == 3)
        *n = value * (1 + 0x1p-7);
    if (way == WAY_NOISE || way == WAY_SPREAD || (way == WAY_ZEROS && i % 7 != 0) ||
        way == WAY_LARGE)
        *n = value * (1 + noise * 0x1p-7) + flat * scale * (way == WAY_NOISE ? 0x1p-9 : 0);
    if (way == WAY_ZEROS && i % 64 == 2)
        *n = flat * scale;
    if (way == WAY_FAR)
        *n = flat * scale;
    if (way == WAY_LIMITS)
        draw_at_limit(n, b);
}

/* `count` of both sides; integers of a byte and more get numbers of their size. */
static inline void fill_way(enum way way, tdc_dtype n_dtype, unsigned char *n, tdc_dtype b_dtype,
                            unsigned char *b, size_t count)
{
    size_t n_size = tdc_dtype_size(n_dtype), b_size = tdc_dtype_size(b_dtype);
    double scale = ldexp(1, (int)random_below(9) - 4);
    if (n_dtype < TDC_F16)
        scale = random_below(2) ? 60 : 150; /* bytes of all sizes, some of them cut off */
    if (n_dtype < TDC_F16 && n_size > 1 && random_below(2))
        scale = random_below(2) ? 9000 : 30000; /* and numbers of two bytes */
    for (size_t i = 0; i < count; i++) {
        double x, y, imaginary = random_bell();
        draw_way(way, i, scale, &x, &y);
        if (i < WAY_BLOCK && i % 16 == 5)
            x = y + scale * random_bell(); /* maxima that others seldom surpass */
        encode(n_dtype, x, imaginary, n + i * n_size);
        encode(b_dtype, y, way == WAY_FAR ? -imaginary : imaginary, b + i * b_size);
        if (way == WAY_EQUAL && n_dtype == b_dtype && i >= WAY_BLOCK)
            memcpy(n + i * n_size, b + i * b_size, n_size);
    }
}

#endif
