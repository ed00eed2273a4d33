/*
 * shared.h - tensors that several ranks hold. Internal to host/analysis/ranks.
 *
 * A slot is one tensor on one rank. Slots with the same key ought to have the same value; keys and
 * values are numbers of texts, so that equal texts are equal numbers.
 */
#ifndef TDC_ANALYSIS_SHARED_H
#define TDC_ANALYSIS_SHARED_H

#include "host/analysis/analysis.h"
#include "host/dump/dump.h"
#include "io/base/arena.h"
#include "io/base/name_table.h"

#define TDC_NO_VALUE UINT32_MAX

struct tdc_slot {
    uint32_t key, rank; /* rank: place among the ranks */
    uint32_t value;     /* TDC_NO_VALUE: not known */
    uint32_t order;     /* of the record in its dump */
    uint8_t kind;       /* tdc_shared_kind */
    bool has_checksum;
    uint32_t checksum; /* of the file's elements */
    uint64_t bytes;
    const char *name; /* of the record */
    const char *file; /* NULL: none */
    const char
        *description; /* dtype, shape, and what stands for the value where there is no file */
};

struct tdc_ranks {
    struct tdc_rank_dumps dumps;
    char **data_folders; /* by rank */
    struct tdc_arena arena;
    struct tdc_name_table keys, values;
    struct tdc_slot *slots;
    size_t slot_count, slot_capacity;
    uint32_t *replica; /* by rank: the place of the rank whose parameters it repeats */
    struct tdc_ranks_counts counts;
    struct tdc_rank_deviation *deviations;
    size_t deviation_count;
    const char **groups;
    size_t group_count;
};

/* Appends the slots of one rank. */
tdc_status tdc_slots_load(struct tdc_ranks *ranks, uint32_t rank, const struct tdc_options *options,
                          struct tdc_error *error);
/* Reads the files of all slots and gives every slot its value. */
tdc_status tdc_slots_value(struct tdc_ranks *ranks, const struct tdc_options *options,
                           struct tdc_error *error);
/* Fills replica and groups from the parameters. False when out of memory. */
bool tdc_replicas_find(struct tdc_ranks *ranks);
/* "0-3,7" of the ranks for which `in` holds; NULL when out of memory. */
const char *tdc_rank_list(struct tdc_ranks *ranks, const bool *in);

#endif
