/*
 * decimal_power.h - powers of ten as 128-bit binary fractions, for reading and writing doubles.
 *
 * 10^k = (high * 2^64 + low + t) * 2^(tdc_floor_log2_power10(k) - 127) with 0 <= t < 1 and the top
 * bit of high set; t is 0 exactly when tdc_power10_exact(k).
 */
#ifndef TDC_IO_DECIMAL_POWER_H
#define TDC_IO_DECIMAL_POWER_H

#include <stdbool.h>
#include <stdint.h>

/* Below the least exponent any 19-digit number is nearer to 0 than to the least double; the
 * greatest turns the least double into a number of 16 digits. */
#define TDC_POWER10_LEAST    (-342)
#define TDC_POWER10_GREATEST 340

struct tdc_power10 {
    uint64_t high, low;
};

extern const struct tdc_power10 tdc_power10_table[TDC_POWER10_GREATEST - TDC_POWER10_LEAST + 1];

static inline struct tdc_power10 tdc_power10(int k)
{
    return tdc_power10_table[k - TDC_POWER10_LEAST];
}

/* 5^55 is the last power of five below 2^128. */
static inline bool tdc_power10_exact(int k)
{
    return k >= 0 && k <= 55;
}

/* floor(log2(10^k)), exact for |k| <= 1233. */
static inline int tdc_floor_log2_power10(int k)
{
    return (k * 1741647) >> 19;
}

/* floor(log10(2^e)), exact for |e| <= 1500. */
static inline int tdc_floor_log10_power2(int e)
{
    return (e * 1262611) >> 22;
}

/* The 192-bit product of a 64-bit factor and the 128 bits of a power. */
struct tdc_product {
    uint64_t high, middle, low;
};

__extension__ typedef unsigned __int128 tdc_u128;

static inline struct tdc_product tdc_multiply_power(uint64_t factor, struct tdc_power10 power)
{
    tdc_u128 below = (tdc_u128)factor * power.low;
    tdc_u128 above = (tdc_u128)factor * power.high + (uint64_t)(below >> 64);
    return (struct tdc_product){(uint64_t)(above >> 64), (uint64_t)above, (uint64_t)below};
}

/*
 * Whether the high word of factor * 10^k is certain although the table cuts 10^k short: the true
 * product lies strictly between the computed one and `factor` units of the low word above it.
 */
static inline bool tdc_product_certain(const struct tdc_product *product, uint64_t factor)
{
    return product->middle != UINT64_MAX || product->low <= UINT64_MAX - factor;
}

#endif
