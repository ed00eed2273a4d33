/* verify_device.h - what a card computes, against the CPU. */
#ifndef TDC_BENCH_VERIFY_DEVICE_H
#define TDC_BENCH_VERIFY_DEVICE_H

#include "kernels/pair.h"

/* Prints one text about all cards; each kernel gets size bytes, whole chunks of them and no more
   than a slot holds. 0 when all is right, 1 when something is not, 2 without a card. */
int tdc_verify_device(uint64_t size);

/* Sums of a device: all that is exact equal to the CPU's, the rest within the promised error. */
bool tdc_sums_agree(const struct tdc_pair_sums *sums, const struct tdc_pair_sums *right);

#endif
