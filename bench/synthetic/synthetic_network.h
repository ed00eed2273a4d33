/*
 * synthetic_network.h - the calls of a transformer, as many as it takes to have a number of
 * tensors.
 *
 * Layers repeat, so that call, tensor and name are found from a number without walking the network.
 */
#ifndef TDC_BENCH_SYNTHETIC_NETWORK_H
#define TDC_BENCH_SYNTHETIC_NETWORK_H

#include "tdcmp.h"

#define TDC_NETWORK_NAME 128

/* An argument that is no tensor. */
struct tdc_network_scalar {
    const char *type;  /* "float" */
    const char *value; /* as json writes it */
};

struct tdc_network_call {
    char name[TDC_NETWORK_NAME]; /* "Functional.linear.7.forward" */
    uint64_t first;              /* number of its first tensor: inputs come before outputs */
    unsigned inputs, outputs;    /* tensors */
    unsigned weights;            /* the last so many inputs are parameters */
    bool module;                 /* modules have no is_recompute */
    const struct tdc_network_scalar *scalars; /* after the tensors of the inputs; type NULL ends */
    const char *axis;                         /* value of the keyword argument dim, or NULL */
    size_t stack;                             /* calls of one source line share their stack */
};

/* The number of calls of a network of so many tensors. */
uint64_t tdc_network_calls(uint64_t tensors);
/* Call number `call` of it. The last one takes what is left: a stack of tensors, or a random one.
 */
void tdc_network_call(uint64_t tensors, uint64_t call, struct tdc_network_call *description);
/* The number of the call a tensor belongs to. */
uint64_t tdc_network_call_of(uint64_t tensors, uint64_t tensor);

/* The lines of a call stack, innermost first, escaped as json wants them; false when there is no
 * such stack. */
#define TDC_NETWORK_FRAMES 4
bool tdc_network_stack(size_t stack, const char *frames[TDC_NETWORK_FRAMES]);

#endif
