/*
 * two_networks.h - one network as MindSpore and as PyTorch would dump it, with the names of each.
 *
 * Statistics only. Layers are renamed as guides for moving a network between the two frameworks
 * show it (attention and self_attention, qkv_proj and query_key_value, ...); a layer mapping with
 * those names comes along.
 */
#ifndef TDC_BENCH_TWO_NETWORKS_H
#define TDC_BENCH_TWO_NETWORKS_H

#include "tdcmp.h"

enum tdc_network_kind {
    TDC_NETWORK_LAYERS, /* a transformer of as many layers as it takes */
    TDC_NETWORK_PLACE   /* one cell and one function, called again and again in one place */
};

/*
 * Writes folder/npu, folder/bench and folder/shifted (dump.json, stack.json, construct.json) and
 * folder/layers.yaml. shifted is npu with other call numbers of its functions. Each dump has at
 * least so many records; *records says how many. The folder must exist.
 */
tdc_status tdc_two_networks_make(const char *folder, enum tdc_network_kind kind,
                                 uint64_t least_records, uint64_t *records,
                                 const struct tdc_cancel *cancel, struct tdc_error *error);

#endif
