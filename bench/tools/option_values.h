/* option_values.h - values of options that several subcommands take. */
#ifndef TDC_BENCH_OPTION_VALUES_H
#define TDC_BENCH_OPTION_VALUES_H

#include "tdcmp.h"

/* "4096", "64K", "256M", "2G": powers of 1024. At least 1. */
bool tdc_parse_size(const char *text, uint64_t *size);
/* "f32", "bf16", "i64", ... */
bool tdc_parse_dtype(const char *text, size_t length, tdc_dtype *dtype);
/* The short name. */
const char *tdc_short_dtype(tdc_dtype dtype);

/* The types of the two sides: "f32" for both, "bf16/f32" for NPU and bench. */
struct tdc_dtype_pair {
    tdc_dtype npu, bench;
};
#define TDC_MOST_PAIRS 16
#define TDC_PAIR_NAMES                                                                             \
    "f32, f16, bf16, f64, i64, i32, i16, i8, bool or pairs as bf16/f32, with commas"
/* A list with commas; false when it is none or has more than TDC_MOST_PAIRS. */
bool tdc_parse_pairs(const char *list, struct tdc_dtype_pair *pairs, size_t *count);
void tdc_pair_text(const struct tdc_dtype_pair *pair, char text[16]);

#endif
