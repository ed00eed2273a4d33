/*
 * network.h - two dumps of one training step that was computed, forward and backward, by the
 * reference's operators: every call's outputs follow from its inputs, and errors travel.
 *
 * The test side is a machine that computes in float32 and rounds inside each call, the ref side one
 * that rounds once at its end; both are right. A fault makes one call of one side wrong.
 */
#ifndef TDC_BENCH_NETWORK_NETWORK_H
#define TDC_BENCH_NETWORK_NETWORK_H

#include "bench/network/fault.h"
#include "bench/network/networks.h"
#include "bench/network/step_files.h"

struct tdc_network_settings {
    tdc_network *network;
    struct tdc_network_size size;
    tdc_dtype dtype; /* f32, f16, bf16 */
    struct tdc_step_files files;
    bool exact;             /* both sides are one machine */
    struct tdc_fault fault; /* call[0] == 0: none */
    bool fault_in_ref;
    uint64_t seed;
};

struct tdc_network_totals {
    uint64_t calls, modules; /* of one side */
};

/* gpt in float32: 4 layers of width 64, 4 heads, 2 x 16 tokens of 128; tensors as .pt, level mix.
 */
void tdc_network_settings_init(struct tdc_network_settings *settings);

/* Writes folder/test and folder/ref, neither of which may exist. TDC_ERR_ARGUMENT: sizes that do
 * not fit, or a fault that no call can have. After a failure files may be left behind. */
tdc_status tdc_network_make(const struct tdc_network_settings *settings, const char *folder,
                            struct tdc_network_totals *totals, struct tdc_error *error);

#endif
