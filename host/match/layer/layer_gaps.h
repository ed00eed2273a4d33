/*
 * layer_gaps.h - why a place in the NPU network has no counterpart, in words for the author of the
 * mapping. Internal to host/match.
 *
 * Whole parts of a network miss the same layer: there is one text for all of their calls.
 */
#ifndef TDC_HOST_LAYER_GAPS_H
#define TDC_HOST_LAYER_GAPS_H

#include "host/match/layer/layer.h"

struct tdc_layer_gaps {
    const struct tdc_layer_side *bench;
    struct tdc_arena *arena; /* of the texts; not owned */
    struct tdc_name_table known;
    const char **texts; /* by number in known */
    size_t capacity;
    struct tdc_text key, text;
};

void tdc_layer_gaps_init(struct tdc_layer_gaps *gaps, const struct tdc_layer_side *bench,
                         struct tdc_arena *arena);
void tdc_layer_gaps_free(struct tdc_layer_gaps *gaps);

/* "ref layer 'a.b' has no 'c'"; NULL when out of memory. */
const char *tdc_layer_gap_name(struct tdc_layer_gaps *gaps, uint32_t node, const char *missing,
                               size_t length);
/* "ref layer 'a.b' has no further forward call"; NULL when out of memory. */
const char *tdc_layer_gap_call(struct tdc_layer_gaps *gaps, uint32_t node, const char *state);

#endif
