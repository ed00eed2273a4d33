/*
 * plain_leaf.h - a record straight from the text of a leaf.
 *
 * Nearly all leaves of a dump are tensors, and plain values with their type, written alike
 * (io/text/json_layout.h). Of these no tree is made: their record is what tdc_records_add_leaf
 * would have made of it. Internal to host/dump.
 */
#ifndef TDC_HOST_PLAIN_LEAF_H
#define TDC_HOST_PLAIN_LEAF_H

#include "host/dump/record_builder.h"
#include "io/text/json_layout.h"

/* False, with nothing done, for every other leaf, and for what msprobe refuses. Out of memory is
 * noted in the builder. */
bool tdc_plain_leaf_add(struct tdc_record_builder *builder, const struct tdc_json_taken *taken,
                        enum tdc_state state);

#endif
