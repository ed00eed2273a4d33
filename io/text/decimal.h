/*
 * decimal.h - a decimal number text taken apart, and the double nearest to it.
 *
 * Scanning and converting are two steps because the JSON reader has a stricter grammar than
 * tdc_float_parse and often needs no double at all.
 */
#ifndef TDC_IO_DECIMAL_H
#define TDC_IO_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tdc_decimal {
    uint64_t digits;  /* the first 19 significant digits as one number */
    int64_t exponent; /* the value is digits * 10^exponent, or a little more if `cut` */
    bool negative;
    bool cut; /* digits other than 0 follow the first 19 significant ones */
    /* what was written, for the caller's grammar */
    bool point, power;
    size_t whole_digits, fraction_digits, power_digits;
};

/* Takes the longest beginning of the form -digits.digits e +-digits, every part of which may be
 * missing or empty, and returns its end. */
const char *tdc_decimal_scan(const char *at, const char *end, struct tdc_decimal *decimal);

/* A number that needs no second look. */
struct tdc_plain_number {
    double value;
    bool whole;    /* digits alone */
    bool negative; /* as written: of 0, too */
};

/*
 * The same in one step for what nearly all numbers are: the JSON grammar, at most 19 digits before
 * an exponent of at most three, and at least 32 bytes to the end of the input. NULL for all others,
 * malformed ones included, and for those that 128 bits of a power of ten do not decide.
 */
const char *tdc_plain_number_read(const char *at, const char *end, struct tdc_plain_number *number);

/* The nearest double, ties to even, of what tdc_decimal_scan made of this text; infinity on
 * overflow. */
double tdc_decimal_double(const struct tdc_decimal *decimal, const char *text, size_t length);

#endif
