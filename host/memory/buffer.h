/*
 * buffer.h - a tensor in a caller's memory as the engine takes tensors.
 *
 * Nothing is copied: the caller's bytes, shape and strides must stay as long as the tensor is used.
 */
#ifndef TDC_HOST_BUFFER_H
#define TDC_HOST_BUFFER_H

#include "host/engine/engine.h"
#include "host/judge/rules.h"

/* TDC_ERR_ARGUMENT for what is no tensor of numbers; `side` is its name in the message. */
tdc_status tdc_buffer_take(const struct tdc_buffer *given, const char *side,
                           struct tdc_tensor *tensor, struct tdc_error *error);

/* Some elements in C order: where they lie, or gathered in a room of 16 bytes for each. */
const unsigned char *tdc_buffer_elements(const struct tdc_tensor *tensor, uint64_t first,
                                         size_t count, unsigned char *room);

/* One pass over the pair of a job, whose test side is in memory, on the CPU; small ones on this
 * thread alone. What cannot be read is an error. */
tdc_status tdc_memory_reduce(struct tdc_job *job, enum tdc_relative_rule rule,
                             const struct tdc_options *options, struct tdc_outcome *outcome,
                             struct tdc_error *error);

/* A pair of tensors in memory, and what one pass over it left. */
struct tdc_memory_pair {
    struct tdc_tensor n, b;
    const struct tdc_record *record; /* of a reference in a dump, in place of b; NULL: b */
    const struct tdc_rules *rules;
    struct tdc_outcome outcome;
};

/* As a table judges a row of them. False when out of memory. */
bool tdc_memory_judge(const struct tdc_memory_pair *buffers, struct tdc_difference *out);

#endif
