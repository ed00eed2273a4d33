/*
 * offline_rows.h - which tensors of two folders of dump files face each other, and why others do
 * not.
 */
#ifndef TDC_HOST_OFFLINE_ROWS_H
#define TDC_HOST_OFFLINE_ROWS_H

#include "host/offline/fusion_rule.h"
#include "host/offline/offline_side.h"
#include "host/offline/offline_sums.h"

/* A tensor of a file: an input or output of GE's, or all of an array. */
struct tdc_offline_tensor {
    const struct tdc_offline_file *file; /* NULL: there is none */
    bool output;
    uint64_t place;
};

struct tdc_offline_row {
    size_t index;              /* of the operator, or of the group a rule has put it into */
    const char *type;          /* of the operator; NULL: not told */
    const char *mine, *golden; /* operators; "*": none */
    const char *op;            /* the one the row is about, for messages */
    const char *tensor;        /* "Add:input:0"; NULL: a row about the operator as a whole */
    const char *reason;        /* why nothing is compared; NULL: it is */
    struct tdc_offline_tensor tensors[2]; /* mine, golden */
    bool stored;        /* type and shape are told as stored; else as they are compared */
    const char *format; /* of golden's array, as the rule says; "": not told */

    /* filled in by tdc_offline_fill */
    const char *dtypes[2];
    uint64_t addresses[2];             /* 0: not told */
    char *shape;                       /* "[6,18]"; its own memory, as those below */
    struct tdc_offline_result *result; /* NULL: there are no metrics */
    char *remark;                      /* what is odd, or why there are none */
};

struct tdc_offline_rows {
    struct tdc_offline_row *rows;
    size_t count, room;
    size_t lonely;  /* operators without a counterpart */
    size_t matched; /* and with one */
};

/* Operators of equal names, all their tensors; texts live in the arena. TDC_ERR_MEMORY. */
tdc_status tdc_offline_match(struct tdc_arena *arena, const struct tdc_offline_side *mine,
                             const struct tdc_offline_side *golden,
                             const struct tdc_options *options, struct tdc_offline_rows *rows,
                             struct tdc_error *error);

/* What the rule says. */
tdc_status tdc_offline_match_by_rule(struct tdc_arena *arena, const struct tdc_fusion_rule *rule,
                                     const struct tdc_offline_side *mine,
                                     const struct tdc_offline_side *golden,
                                     const struct tdc_options *options,
                                     struct tdc_offline_rows *rows, struct tdc_error *error);

/* offline_fill.c: reads and compares. What is wrong with a file is the remark of its row. */
tdc_status tdc_offline_fill(struct tdc_offline_rows *rows, const struct tdc_options *options,
                            struct tdc_error *error);
void tdc_offline_rows_free(struct tdc_offline_rows *rows);

/* ---- for both ways of matching ----------------------------------------------------------------
 */

struct tdc_offline_matching {
    struct tdc_arena *arena;
    const struct tdc_offline_side *mine, *golden;
    const struct tdc_options *options;
    struct tdc_offline_rows *rows;
    bool failed; /* out of memory */
};

const char *tdc_offline_text(struct tdc_offline_matching *matching, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void tdc_offline_add(struct tdc_offline_matching *matching, const struct tdc_offline_row *row);

#endif
