/* bench_options.h - the options all measuring subcommands take, and how they start and end. */
#ifndef TDC_BENCH_OPTIONS_H
#define TDC_BENCH_OPTIONS_H

#include <getopt.h>

#include "tdcmp.h"

struct tdc_bench_options {
    struct tdc_options options; /* threads, rules, cancel */
    int repeat;
    const char *folder; /* parent of the temporary folder; NULL: $TMPDIR or /tmp */
    bool json, help;
};

enum {
    TDC_BENCH_OPTION_RULES = 512,
    TDC_BENCH_OPTION_DIR,
    TDC_BENCH_OPTION_IO,
    TDC_BENCH_OPTION_JSON,
    TDC_BENCH_OPTION_FIRST_FREE
};

#define TDC_BENCH_SHORT_OPTIONS "t:r:h"

/* clang-format off */
#define TDC_BENCH_LONG_OPTIONS                                    \
    {"threads", required_argument, NULL, 't'},                    \
    {"repeat", required_argument, NULL, 'r'},                     \
    {"json", no_argument, NULL, TDC_BENCH_OPTION_JSON},           \
    {"help", no_argument, NULL, 'h'},
#define TDC_BENCH_COMPARE_LONG_OPTIONS                            \
    {"rules", required_argument, NULL, TDC_BENCH_OPTION_RULES},   \
    {"io", required_argument, NULL, TDC_BENCH_OPTION_IO},
#define TDC_BENCH_DIR_LONG_OPTION {"dir", required_argument, NULL, TDC_BENCH_OPTION_DIR},
/* clang-format on */

enum tdc_taken {
    TDC_TAKEN,
    TDC_NOT_TAKEN,  /* none of these */
    TDC_TAKEN_WRONG /* complained about */
};

/* Looks at an option getopt_long has found (its value in optarg). */
enum tdc_taken tdc_take_bench_option(int option, struct tdc_bench_options *options);

void tdc_bench_options_init(struct tdc_bench_options *options);

/* How many threads to measure with, all processors for 0: what OpenMP will get, which ends the
 * process when it gets less than it wants. Says when that is less than asked for. */
int tdc_bench_threads(int asked);

/* Runs the work with all processors unless told otherwise and with signals caught; complains about
 * a failure. Returns the exit code. */
int tdc_bench_perform(struct tdc_bench_options *options,
                      tdc_status (*work)(void *context, struct tdc_error *error), void *context);

/* A subcommand that takes options only; `bench` is part of its settings. */
struct tdc_bench_subcommand {
    const char *name; /* "kernels" */
    const char *usage;
    const char *short_options;
    const struct option *long_options;
    bool (*take)(void *settings, int option); /* false: complained about */
    tdc_status (*run)(void *settings, struct tdc_error *error);
};

/* What `take` does with options that are not its own. */
bool tdc_take_common_option(int option, struct tdc_bench_options *bench);

/* Reads the command line into the settings and performs the run. Returns the exit code. */
int tdc_bench_subcommand_run(const struct tdc_bench_subcommand *subcommand, int argc, char **argv,
                             struct tdc_bench_options *bench, void *settings);

/* "sound" or "compat" */
const char *tdc_rules_name(tdc_rules_id rules);
/* "auto", "mmap", ... */
const char *tdc_io_name(tdc_io io);

#endif
