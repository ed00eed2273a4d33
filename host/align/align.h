/*
 * align.h - two runs laid out differently as rows of logical tensors.
 *
 * An alignment opens the sides, reads the rules, finds the records of each logical tensor and puts
 * them in their places. What fails for one tensor is the text of its row; no compared tensor is
 * read here, only lengths, masks and ids of tokens.
 */
#ifndef TDC_HOST_ALIGN_H
#define TDC_HOST_ALIGN_H

#include "host/align/place/place.h"
#include "host/dump/dump.h"
#include "host/engine/logical/series.h"

/* Sides: under test, reference, truth. */
#define TDC_ALIGN_SIDES 3

struct tdc_aligned_row {
    const char *name;
    const struct tdc_logical *sides[TDC_ALIGN_SIDES]; /* NULL: could not be put together */
    const char *parts[TDC_ALIGN_SIDES];               /* how they were; NULL: no records */
    const char *axes;                                 /* "b s head d" */
    const char *shapes[TDC_ALIGN_SIDES], *dtypes[TDC_ALIGN_SIDES];
    const struct tdc_side_record *first[TDC_ALIGN_SIDES]; /* records; NULL: none */
    uint8_t settled;  /* tdc_row_class, with a text, before any data is read; 0: to be compared */
    const char *text; /* of what settled it; else a note, NULL for none */
    struct tdc_series *series; /* NULL: none */
    /* From the statistics of the parts; valid where a side has no data. */
    double statistics[2][TDC_STATISTICS];
};

struct tdc_alignment {
    struct tdc_arena arena;
    struct tdc_align_rules rules;
    struct tdc_side *sides[TDC_ALIGN_SIDES]; /* NULL: none */
    struct tdc_sided sided[TDC_ALIGN_SIDES];
    struct tdc_aligned_row *rows;
    size_t count, room;
    bool from_statistics; /* a side has no data: its statistics are compared */
    size_t rest[2];       /* records that are in no rule and are to be told */
    struct tdc_name_table seen;
    struct tdc_dump dumps[2]; /* a record for each row a side takes part in */
};

struct tdc_align_request {
    const char *paths[TDC_ALIGN_SIDES]; /* NULL for no truth */
    const char *file;                   /* rules, or the name of a preset; NULL: equal names */
    const char *const *series;          /* axes to report for every tensor that has them */
    size_t series_count;
    int step;        /* < 0: all */
    const char *key; /* of torch files */
    const struct tdc_options *options;
};

/* TDC_ERR_ARGUMENT: a mistake of the rules, as `FILE:LINE: text`. */
tdc_status tdc_alignment_new(const struct tdc_align_request *request,
                             struct tdc_alignment **alignment, struct tdc_error *error);
void tdc_alignment_free(struct tdc_alignment *alignment);

/* ---- between the files of this folder -------------------------------------------------------- */

/* The entries of one side for a tensor, with the records each has found. */
struct tdc_row_side {
    const struct tdc_sided *sided;
    const struct tdc_rule_entries *entries;
    struct tdc_used_entry *used;
    struct tdc_part_groups *groups;
    size_t count;
};

/* A tensor whose rows are being made. */
struct tdc_row_making {
    struct tdc_alignment *alignment;
    const struct tdc_align_request *request;
    const struct tdc_rule_tensor *tensor; /* NULL: records as they are called */
    bool each_rank;                       /* records as they are called, rank by rank */
    struct tdc_row_side sides[TDC_ALIGN_SIDES];
    struct tdc_arena scratch; /* of one row */
    struct tdc_error *error;
};

/* Makes the row of a name: TDC_ERR_ARGUMENT and TDC_ERR_MEMORY end all. */
tdc_status tdc_row_make(struct tdc_row_making *making, const char *name,
                        struct tdc_aligned_row *row);

/* Placed entries as one logical tensor in the axes of the result. */
struct tdc_finish {
    const struct tdc_placed *placed; /* entries */
    size_t count;
    const char *cat;       /* NULL: one entry; "+": added */
    unsigned axes;         /* of the result */
    const unsigned *order; /* by axis of the result: that of the placed */
    const uint64_t *sizes; /* by axis of the result */
    /* of a token axis: which of its intervals are kept, and where; NULL: all */
    const struct tdc_runs *tokens;
    unsigned token_axis; /* of the placed */
    enum tdc_rounding rounding;
    double agree;
    char letter;
};
struct tdc_logical *tdc_logical_finish(const struct tdc_finish *finish, struct tdc_arena *arena);

/* Sequences of B in order, each with the one of A that has the same ids, as maps of both token
 * axes; *pairs is their number. False when out of memory. */
struct tdc_token_pairs {
    struct tdc_runs maps[2];
    uint64_t tokens;
    size_t pairs;
    uint32_t *sequence, *position; /* by token of the result, as B counts them */
};
bool tdc_tokens_pair(const struct tdc_token_axis *a, const struct tdc_token_axis *b,
                     struct tdc_arena *arena, struct tdc_token_pairs *pairs);

/* Max, Min, Mean and Norm of the joined parts; false where statistics cannot tell. */
bool tdc_row_statistics(const struct tdc_placed *placed, size_t count, bool joined,
                        double statistics[TDC_STATISTICS]);

/* A dump for each side that has a record for each row. */
bool tdc_alignment_dumps(struct tdc_alignment *alignment);

#endif
