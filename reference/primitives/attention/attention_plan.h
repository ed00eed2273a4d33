/* attention_plan.h - what attention.c and attention_bounds.c share. */
#ifndef TDC_REFERENCE_ATTENTION_PLAN_H
#define TDC_REFERENCE_ATTENTION_PLAN_H

#include "reference/primitives/attention/attention.h"
#include "reference/primitives/matrix/narrow_gemm.h"
#include "reference/primitives/matrix/panels.h"

#define TDC_ATTENTION_BLOCK 64 /* rows of scores at a time */

/* Sizes, and where the planes of broadcast operands start. */
struct tdc_attention_plan {
    struct tdc_attention a;
    int64_t units, shared; /* heads of q in all, and how many share one of k and v */
    int64_t rows, columns, depth, width, blocks;
    unsigned outer_rank;
    int64_t outer[TDC_REFERENCE_RANK];
    int teams;
    const struct tdc_tile *tile;
    double *tiles; /* tiles_size elements per thread, for float64 */
    int64_t tiles_size;
    bool calm;               /* a band's hidden blocks can be passed over */
    tdc_array *most, *sum;   /* of the rows' scores and exponentials, known from the forward pass */
    double *room;            /* 2 * TDC_ATTENTION_BLOCK * columns per thread; NULL: not needed */
    const tdc_evaluation *e; /* whose arithmetic it is */
    tdc_multiply *multiply;
    double kept_factor;       /* of weights that are not dropped */
    tdc_array *scores_pulled; /* gradient of the scores, kept when shift or bias want one */
};

/* Where an operand that is broadcast to [outer..., rows, columns] stands for one head. */
struct tdc_attention_plane {
    const tdc_array *x;
    int64_t at, row, column; /* element of row 0, and steps */
};
struct tdc_attention_plane tdc_attention_plane_of(const struct tdc_attention_plan *p,
                                                  const tdc_array *x, int64_t unit);

/* ---- float64, by tiles ------------------------------------------------------------------------
 */

int64_t tdc_attention_tiles_size(const struct tdc_attention_plan *p);

/* The result, and the rows' largest score and sum of exponentials. */
struct tdc_attended {
    double *y, *most, *sum;
};
void tdc_attend_tiles(const struct tdc_attention_plan *p, const struct tdc_attended *to);

struct tdc_attention_pull {
    double *q, *k, *v;           /* gradients, zeroed; NULL where none is asked for */
    const double *out;           /* gradient of the result */
    struct tdc_attended forward; /* what the forward pass gave */
    bool dq_pass, dk_pass;       /* which of them a pass makes */
};
/* Also fills plan->scores_pulled. */
void tdc_pull_attention_tiles(const struct tdc_attention_plan *p,
                              const struct tdc_attention_pull *slopes);

/* ---- by rows, in any arithmetic ----------------------------------------------------------------
 */

/* A block of rows of one head. */
struct tdc_attention_block {
    int64_t unit, key, from, rows;
    const double *q, *k, *v;
    double *scores, *second; /* [rows, columns] each */
};

struct tdc_attention_block tdc_attention_block_at(const struct tdc_attention_plan *p, int64_t unit,
                                                  int64_t index);
/* The block's softmax of scores; top and total, one per row, may be NULL. */
void tdc_attention_soften(const struct tdc_attention_plan *p, const struct tdc_attention_block *b,
                          double *top, double *total);
/* x *= kept / keep, element by element */
void tdc_attention_drop(const struct tdc_attention_plan *p, const struct tdc_attention_block *b,
                        double *x);

/* Errors of the result, and of the gradients (NULL where none is asked for), which come zeroed; and
 * of plan->scores_pulled. */
void tdc_bound_attention(tdc_evaluation *e, const struct tdc_attention_plan *p, tdc_array *y);
void tdc_bound_attention_pull(tdc_evaluation *e, const struct tdc_attention_plan *p,
                              const tdc_array *gradient, tdc_array *dq, tdc_array *dk,
                              tdc_array *dv);

#endif
