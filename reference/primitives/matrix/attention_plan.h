/* attention_plan.h - what attention.c and attention_bounds.c share. */
#ifndef TDC_REFERENCE_ATTENTION_PLAN_H
#define TDC_REFERENCE_ATTENTION_PLAN_H

#include "reference/primitives/matrix/attention.h"
#include "reference/primitives/matrix/narrow_gemm.h"

#define TDC_ATTENTION_BLOCK 64 /* rows of scores at a time */

/* Sizes, and where the planes of broadcast operands start. */
struct tdc_attention_plan {
    struct tdc_attention a;
    int64_t units, shared; /* heads of q in all, and how many share one of k and v */
    int64_t rows, columns, depth, width, blocks;
    unsigned outer_rank;
    int64_t outer[TDC_REFERENCE_RANK];
    int teams;
    double *room;            /* 2 * TDC_ATTENTION_BLOCK * columns per thread */
    const tdc_evaluation *e; /* whose arithmetic it is */
    tdc_multiply *multiply;
    double kept_factor;       /* of weights that are not dropped */
    tdc_array *scores_pulled; /* gradient of the scores, kept when shift or bias want one */
};

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
