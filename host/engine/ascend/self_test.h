/*
 * self_test.h - tiles whose answer is known, before a kernel is trusted.
 *
 * There are three kinds, and they come in turns: six tiles on one core and three on each, so that
 * every buffer is used again while the other is at work. Records of tiles of a kind must be equal
 * to the bit, on whichever core.
 *
 * One holds ordinary numbers with ties, zeros of both signs and quotients around the limits: its
 * counts, extremes and maxima must be right to the bit and its sums within the promised error. One
 * holds subnormal numbers: a device that flushes them shows here. One holds infinities, NaN and
 * the limits of the range: the pairs that are finite must be counted right.
 */
#ifndef TDC_ASCEND_SELF_TEST_H
#define TDC_ASCEND_SELF_TEST_H

#include "host/engine/ascend/ascend_device.h"

/* In the context of the calling thread, with a free slot or NULL. False with *error set: the kernel
 * must not be used. */
bool tdc_self_test(struct tdc_ascend_device *device, unsigned kernel, void *function,
                   struct tdc_ascend_slot *slot, struct tdc_error *error);

/* ---- for the tests --------------------------------------------------------------------------- */

/* One of each kind. */
#define TDC_SELF_TEST_TILES 3

/* Fills both sides with the three tiles of a kernel. */
void tdc_self_test_fill(unsigned kernel, void *n, void *b);
/* NULL when the records are right, else what is wrong with them. */
const char *tdc_self_test_check(unsigned kernel, const void *n, const void *b,
                                const float *records);

#endif
