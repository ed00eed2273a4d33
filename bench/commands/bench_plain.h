/* bench_plain.h - `tdcmp bench` without a subcommand: what its two halves need to know. */
#ifndef TDC_BENCH_PLAIN_H
#define TDC_BENCH_PLAIN_H

#include "bench/tools/option_values.h"
#include "bench/tools/bench_options.h"

#define TDC_MOST_SIZES 16

struct tdc_plain_settings {
    struct tdc_bench_options bench;
    /* synthetic dumps */
    struct tdc_dtype_pair pairs[TDC_MOST_PAIRS];
    size_t pair_count;
    uint64_t sizes[TDC_MOST_SIZES]; /* of a tensor of the NPU side */
    size_t size_count;
    uint64_t total; /* bytes of the NPU side of a dump, but at least one tensor */
    /* the user's dumps */
    const char *npu, *bench_dump;
    int step;
    bool warm, cold;
};

/* For tdc_bench_perform; context is a struct tdc_plain_settings. */
tdc_status tdc_bench_matrix(void *context, struct tdc_error *error);
tdc_status tdc_bench_dumps(void *context, struct tdc_error *error);

#endif
