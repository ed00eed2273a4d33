/*
 * tape.h - how results came about, for gradients.
 *
 * The tape: while gradients are asked for, every primitive that computes an array out of tracked
 * ones notes how to pull a gradient back through itself. Nodes are walked in reverse order of their
 * making, which is a topological order.
 */
#ifndef TDC_REFERENCE_TAPE_H
#define TDC_REFERENCE_TAPE_H

#include "reference/evaluation.h"

/* Gives each tracked input its share of `gradient`, which has the shape of node->output. */
typedef void tdc_pull(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient);

struct tdc_tape_node {
    struct tdc_tape_node *previous;
    tdc_pull *pull; /* NULL for leaves */
    tdc_array **inputs;
    size_t input_count;
    tdc_array *output;
    const void *detail;  /* what pull needs besides */
    tdc_array *gradient; /* collected so far, NULL is zero */
    bool owned;          /* gradient belongs to this node alone and may be added to */
    bool leaf;
};

/* Notes how output came about; does nothing unless recording and some input is tracked. */
void tdc_note(tdc_evaluation *e, tdc_array *output, tdc_pull *pull, const void *detail,
              size_t input_count, tdc_array *const *inputs);
static inline bool tdc_tracked(const tdc_array *a)
{
    return a->made != NULL;
}
/* Adds to what `input` has collected. The gradient array may be shared, it is never written. */
void tdc_collect(tdc_evaluation *e, const tdc_array *input, tdc_array *gradient);
/* What the tracked `input` has collected, to add to in place: a view's share costs no more than the
 * view. */
tdc_array *tdc_gradient_of(tdc_evaluation *e, const tdc_array *input);
void tdc_track_leaf(tdc_evaluation *e, tdc_array *leaf);
void tdc_pull_all(tdc_evaluation *e);

#endif
