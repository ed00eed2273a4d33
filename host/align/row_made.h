/* row_made.h - a row of two sides, or three, while it is made. Internal to host/align. */
#ifndef TDC_ALIGN_ROW_MADE_H
#define TDC_ALIGN_ROW_MADE_H

#include "host/align/align.h"

/* What one side has for the row. */
struct tdc_row_half {
    const struct tdc_row_side *side;
    struct tdc_placed *placed; /* by entry that was found */
    const struct tdc_part_group **groups;
    size_t found;
    bool done;
    /* of all entries together */
    unsigned axes;
    const char *const *names;
    uint64_t sizes[TDC_LOGICAL_AXES];
    unsigned order[TDC_LOGICAL_AXES]; /* by axis of the result */
};

struct tdc_row_made {
    struct tdc_row_making *making;
    struct tdc_aligned_row *row;
    struct tdc_row_half halves[TDC_ALIGN_SIDES];
    struct tdc_token_pairs pairs;
    bool paired;
    uint64_t sizes[TDC_LOGICAL_AXES]; /* of the result */
};

tdc_status tdc_row_no_memory(const struct tdc_row_made *making);
/* Places a side; open products take their sizes from the other, which may be placed already. */
tdc_status tdc_row_place_with_hints(struct tdc_row_made *making, struct tdc_row_half *half,
                                    const struct tdc_row_half *other);
/* The axis of a name; beyond the last: none. */
unsigned tdc_row_axis(const struct tdc_row_half *half, const char *name, size_t length);
bool tdc_row_same_axes(const struct tdc_row_half *a, const struct tdc_row_half *b);
/* NULL: no token axis. */
const struct tdc_token_axis *tdc_row_tokens(const struct tdc_row_half *half);
/* Texts of the row about a side. False when out of memory. */
bool tdc_row_describe(struct tdc_row_made *making, int index);

/* The boxes of a side, and of the truth where it fits. */
tdc_status tdc_row_finish(struct tdc_row_made *making, int index);
tdc_status tdc_row_finish_truth(struct tdc_row_made *making);
/* Series that rules or options ask for. False when out of memory. */
bool tdc_row_list_series(struct tdc_row_made *making);

#endif
