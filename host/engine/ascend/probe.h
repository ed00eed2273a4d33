/*
 * probe.h - what a card makes of single numbers: tdc_probe (kernels/ascend/probe_arithmetic.cpp).
 *
 * The kernels rely on additions, subtractions and products that are rounded to nearest even and
 * keep subnormals, on exact conversions, and on a quotient that is one unit off at most (or 0 where
 * it would be subnormal). Some thousand pairs of numbers tell: of every size, ties, subnormals.
 */
#ifndef TDC_ASCEND_PROBE_H
#define TDC_ASCEND_PROBE_H

#include "host/engine/ascend/ascend_slot.h"

enum tdc_probe_operation {
    TDC_PROBED_ADD,
    TDC_PROBED_SUB,
    TDC_PROBED_MUL,
    TDC_PROBED_SCALED,
    TDC_PROBED_DIV,
    TDC_PROBED_HALF,
    TDC_PROBED_BFLOAT,
    TDC_PROBED_OPERATIONS
};

/* Results that are 0, 1, 2, 3 to 4 and more units in the last place off. */
#define TDC_PROBE_BINS 5

struct tdc_probe_figures {
    unsigned samples;
    unsigned off[TDC_PROBED_OPERATIONS][TDC_PROBE_BINS];
    /* results that ought to be subnormal, and of these: 0 */
    unsigned subnormal[TDC_PROBED_OPERATIONS], flushed[TDC_PROBED_OPERATIONS];
    unsigned fused; /* multiply-adds that were rounded once */
};

const char *tdc_probe_name(enum tdc_probe_operation operation);

/* Runs the probe in a free slot, in the context of the calling thread. */
struct tdc_call_failure tdc_probe_run(struct tdc_ascend_slot *slot, void *function,
                                      struct tdc_probe_figures *figures);
/* False with a text of what is not as it must be. */
bool tdc_probe_sound(const struct tdc_probe_figures *figures, char *text, size_t size);

#endif
