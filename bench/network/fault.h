/*
 * fault.h - what can be wrong with one call of a computed network.
 *
 * A fault changes how a call is computed, never what is said of it: the record shows the arguments
 * that were asked for, and the outputs that came.
 */
#ifndef TDC_BENCH_NETWORK_FAULT_H
#define TDC_BENCH_NETWORK_FAULT_H

#include "reference/reference.h"

#define TDC_FAULT_NAME 128

enum tdc_fault_kind {
    TDC_FAULT_SCALE,      /* all outputs times 1.05 */
    TDC_FAULT_ELEMENT,    /* one element off by three times the root of the mean square */
    TDC_FAULT_ROW,        /* one row zero */
    TDC_FAULT_NAN,        /* one element NaN */
    TDC_FAULT_INF,        /* one element infinite */
    TDC_FAULT_ARGUMENT,   /* its last number (an epsilon, a scale) times 100 */
    TDC_FAULT_INPUTS,     /* inputs of fewer bits: bfloat16, or four bits of it */
    TDC_FAULT_ACCUMULATE, /* every operation rounded to bfloat16, or to float16 when that is it */
    TDC_FAULT_SWAP,       /* the first two tensors of one shape exchanged */
    TDC_FAULT_KINDS
};

struct tdc_fault {
    char call[TDC_FAULT_NAME]; /* "Functional.linear.3.backward" */
    enum tdc_fault_kind kind;
};

/* NAME[:KIND]: a name without direction means forward; without a kind, scale. False: neither. */
bool tdc_fault_parse(const char *text, struct tdc_fault *fault);
/* "scale", ...; NULL past the last. */
const char *tdc_fault_kind_name(int kind);

/* Before the call is computed: changes its arguments and arithmetic. NULL, or why it cannot be. */
const char *tdc_fault_before(const struct tdc_fault *fault, struct tdc_reference_call *call,
                             struct tdc_arena *arena);
/* After it: changes the first floating result, which is already of its dtype. */
const char *tdc_fault_after(const struct tdc_fault *fault, struct tdc_reference_tensor **results,
                            size_t count);

#endif
