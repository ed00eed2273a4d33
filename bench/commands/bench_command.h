/*
 * bench_command.h - the subcommands of `tdcmp bench` and the option values they share.
 *
 * A subcommand gets argv[0] as its name and returns the exit code: 0, or 2 when it could not do the
 * work. Results go to stdout, everything else to stderr.
 */
#ifndef TDC_BENCH_COMMAND_H
#define TDC_BENCH_COMMAND_H

#include "tdcmp.h"

/* `tdcmp bench`: argv[1] says which. */
int tdc_command_bench(int argc, char **argv);

/* Without a subcommand: synthetic dumps, or the two named. */
int tdc_bench_plain(int argc, char **argv);
int tdc_bench_compare(int argc, char **argv);
int tdc_bench_kernels(int argc, char **argv);
int tdc_bench_io(int argc, char **argv);
int tdc_bench_match(int argc, char **argv);
int tdc_bench_make(int argc, char **argv);
int tdc_bench_device(int argc, char **argv);
int tdc_bench_reference(int argc, char **argv);

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
#define TDC_PAIR_NAMES "f32, f16, bf16, f64, i32, i64 or pairs as bf16/f32, with commas"
/* A list with commas; false when it is none or has more than TDC_MOST_PAIRS. */
bool tdc_parse_pairs(const char *list, struct tdc_dtype_pair *pairs, size_t *count);
void tdc_pair_text(const struct tdc_dtype_pair *pair, char text[16]);

/* Complains about the value of an option on stderr; returns false. */
bool tdc_wrong_value(const char *option, const char *value, const char *expected);

#endif
