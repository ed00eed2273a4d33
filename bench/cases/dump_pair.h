/* dump_pair.h - dumps to measure with: made in a temporary folder, or the user's own. */
#ifndef TDC_BENCH_DUMP_PAIR_H
#define TDC_BENCH_DUMP_PAIR_H

#include "bench/yardsticks/bare_read.h"
#include "bench/tools/scratch.h"
#include "bench/synthetic/synthetic.h"

/* A temporary folder and the names in it. */
struct tdc_bench_place {
    struct tdc_scratch scratch;
    char npu[4200], bench[4200], result[4200];
};

tdc_status tdc_place_open(struct tdc_bench_place *place, const char *parent,
                          struct tdc_error *error);
void tdc_place_close(const struct tdc_bench_place *place);

/* A pair of dumps: the comparisons to do and their tensor files. */
struct tdc_dump_pair {
    tdc_tasks *tasks;
    struct tdc_bare_files files;
};

/* Makes the dumps place->npu and place->bench. To be dropped in any case. */
tdc_status tdc_dump_pair_make(struct tdc_dump_pair *dumps, const struct tdc_bench_place *place,
                              struct tdc_synthetic *synthetic, const struct tdc_options *options,
                              struct tdc_error *error);
/* Finds the dumps as `tdcmp compare` does; step as for tdc_tasks_find. To be freed in any case. */
tdc_status tdc_dump_pair_find(struct tdc_dump_pair *dumps, const char *npu, const char *bench,
                              int step, const struct tdc_options *options, struct tdc_error *error);
void tdc_dump_pair_free(struct tdc_dump_pair *dumps);
/* Frees, and removes the dumps from the place. */
void tdc_dump_pair_drop(struct tdc_dump_pair *dumps, const struct tdc_bench_place *place);

#endif
