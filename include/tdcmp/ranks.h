/* ranks.h - the ranks of one step against each other: what must be equal on all of a group is. */
#ifndef TDCMP_RANKS_H
#define TDCMP_RANKS_H

#include "tdcmp/options.h"

TDC_INTERFACE_BEGIN

/* docs/ranks.md says what must be equal, and how replicas are told. */
typedef enum {
    TDC_SHARED_NONE = 0,
    TDC_SHARED_PARAMETER, /* of ranks that are replicas of each other */
    TDC_SHARED_COLLECTIVE /* output of an all-reduce, all-gather or broadcast */
} tdc_shared_kind;

/* A tensor that is not the same on all ranks that share it. Lists of ranks are texts: "0-3,7". */
struct tdc_rank_deviation {
    tdc_shared_kind kind;
    const char *name;      /* of the record, on the first of the ranks */
    const char *ranks;     /* that share it */
    const char *deviating; /* those that are not like the largest part, or like the first of equal
                              parts */
    unsigned parts;        /* how many different values there are */
    long first;            /* deviating rank */
};

struct tdc_ranks_counts {
    uint64_t ranks;
    uint64_t parameters, collectives; /* tensors that several ranks share */
    uint64_t unshared;   /* parameters of ranks that nobody replicates, or on one rank alone */
    uint64_t unreadable; /* files that could not be read: they are compared with nothing */
    uint64_t async;      /* calls that had not ended when their output was recorded */
    uint64_t no_value;   /* records without data, checksum and statistics */
};

typedef struct tdc_ranks tdc_ranks;

/* The ranks of a step folder, or of a dump root with one step. Tensor files are read where the
 * dump has them, else checksums or statistics are taken. TDC_ERR_NOTHING for a single rank. Of the
 * options context, message, progress, cancel and threads count. */
tdc_status tdc_ranks_check(const char *step, const struct tdc_options *options, tdc_ranks **ranks,
                           struct tdc_error *error);
void tdc_ranks_free(tdc_ranks *ranks);
/* size: sizeof(struct tdc_ranks_counts), as the caller knows it. */
void tdc_ranks_counts(const tdc_ranks *ranks, struct tdc_ranks_counts *counts, size_t size);
/* In network order of the first rank of each. */
size_t tdc_ranks_deviations(const tdc_ranks *ranks);
const struct tdc_rank_deviation *tdc_ranks_deviation(const tdc_ranks *ranks, size_t index);
/* Ranks that hold the same parameters: "0-3". */
size_t tdc_ranks_groups(const tdc_ranks *ranks);
const char *tdc_ranks_group(const tdc_ranks *ranks, size_t index);

TDC_INTERFACE_END
#endif
