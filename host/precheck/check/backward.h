/* backward.h - what the pairings of recorded gradients share. */
#ifndef TDC_PRECHECK_BACKWARD_H
#define TDC_PRECHECK_BACKWARD_H

#include "host/precheck/check/check.h"

/* What the reference and the executor get for a backward. */
struct tdc_gradient_work {
    struct tdc_reference_tensor **gradients; /* by output; NULL stands for zeros */
    size_t count;
    size_t given; /* gradients that are not NULL */
    size_t leaves;
};

/* The recorded gradients of the call's outputs, as float64. */
bool tdc_prepare_gradients(struct tdc_call_check *check, struct tdc_gradient_work *work,
                           struct tdc_reason *reason);
bool tdc_reference_gradients(struct tdc_call_check *check, const struct tdc_gradient_work *work,
                             struct tdc_values *values, struct tdc_reason *reason);
bool tdc_executed_gradients(struct tdc_call_check *check, const struct tdc_gradient_work *work,
                            struct tdc_values *values, struct tdc_reason *reason);
/* By position up to the shorter list; nulls leave their number unused. */
bool tdc_pair_values(struct tdc_call_check *check, enum tdc_direction direction,
                     const struct tdc_values *bench, const struct tdc_values *tested,
                     struct tdc_reason *reason);
void tdc_drop_nulls(struct tdc_values *values);

/* ---- ties (ties.c) ----------------------------------------------------------------------------
 */

/* Takes a tested position for the reference's where both point at equal elements (extended
 * profile). The list `bench` is changed, its tensors are not. False: out of memory. */
bool tdc_forgive_ties(struct tdc_call_check *check, struct tdc_values *bench,
                      const struct tdc_values *tested, struct tdc_reason *reason);
/* The gradient of the input of sort, topk, max, ...: that of the values, put at the recorded
 * positions. False when the call is no such one or its positions are impossible. */
bool tdc_gradient_of_chosen(struct tdc_call_check *check, struct tdc_reference_value *gradient);

/* ---- the last autograd node (last_step.c) -----------------------------------------------------
 */

#define TDC_STEP_ARGUMENTS 8

/*
 * A function that a call may end in: PyTorch's recorder keeps the gradients of that node, one for
 * each of its tensors, instead of those of the call's own arguments.
 */
struct tdc_last_step {
    const char *api; /* as the reference knows it: "Torch.addmm" */
    struct tdc_reference_value arguments[TDC_STEP_ARGUMENTS];
    size_t count;
    bool reshaped; /* the node saw its tensors in another shape of as many elements */
};

#define TDC_LAST_STEPS 6

/* What the call may have ended in, judged by its name and the number and shapes of the recorded
 * gradients. The values lie in the checker's arena. */
size_t tdc_last_steps(struct tdc_call_check *check, const struct tdc_values *recorded,
                      struct tdc_last_step steps[TDC_LAST_STEPS]);

#endif
