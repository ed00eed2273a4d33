/*
 * executor.h - who computes the tested side when nothing was recorded (task statistics).
 *
 * An executor runs an API by name on given inputs, forward and backward, and gives its results in
 * the dtypes the device would give. `native` computes on this CPU; one for a device implements the
 * same two functions: it copies the tensors over, calls the operator (for Ascend: aclnn, looked up
 * by tdc_reference_find's name), copies back into the arena, and reports what it lacks with
 * TDC_ERR_UNSUPPORTED and a reason.
 */
#ifndef TDC_PRECHECK_EXECUTOR_H
#define TDC_PRECHECK_EXECUTOR_H

#include "reference/reference.h"

struct tdc_executor {
    const char *name;
    void *state;
    /* Both as the functions of the reference: same arguments, same order of the results, memory
     * from the arena. Called from several threads at once. */
    tdc_status (*forward)(void *state, const struct tdc_reference_call *call,
                          struct tdc_arena *arena, struct tdc_reference_results *outputs);
    tdc_status (*backward)(void *state, const struct tdc_reference_call *call,
                           struct tdc_reference_tensor *const *gradients, size_t gradient_count,
                           struct tdc_arena *arena, struct tdc_reference_results *results);
};

/*
 * Results in the dtype the frameworks would give: the widest floating dtype of the input tensors
 * (float16 with bfloat16: float32), float32 when there is none. The API's definition is computed in
 * that dtype's own arithmetic, each operation rounded (reference/arithmetic.h), so that it shows
 * which APIs are delicate in it. Float64 has no such arithmetic: there the result is the reference.
 */
extern const struct tdc_executor tdc_executor_native;

#endif
