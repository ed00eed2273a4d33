/* networks.h - the networks that can be computed, and what they share. */
#ifndef TDC_BENCH_NETWORK_NETWORKS_H
#define TDC_BENCH_NETWORK_NETWORKS_H

#include "bench/network/step.h"

struct tdc_network_size {
    int64_t layers, width, heads, batch, tokens, vocabulary;
};

/* Computes forward and returns the loss. */
typedef struct tdc_step_variable *tdc_network(struct tdc_step *step,
                                              const struct tdc_network_size *size);

/* Learned positions, layer norms, attention spelled out, GELU; a bias everywhere. */
tdc_network tdc_network_gpt;
/* Rotary positions, root mean square norms spelled out, fused attention, gated SiLU; no bias. */
tdc_network tdc_network_llama;

/* ---- layers of both -------------------------------------------------------------------------- */

struct tdc_step_variable *tdc_layer_embedding(struct tdc_step *step, const char *path,
                                              struct tdc_step_variable *indices, int64_t rows,
                                              int64_t width);
struct tdc_step_variable *tdc_layer_linear(struct tdc_step *step, const char *path,
                                           struct tdc_step_variable *x, int64_t from, int64_t to,
                                           bool bias);
struct tdc_step_variable *tdc_layer_add(struct tdc_step *step, struct tdc_step_variable *a,
                                        struct tdc_step_variable *b, const char *source);
/* batch x tokens x width to batch x heads x tokens x rest, and back */
struct tdc_step_variable *tdc_layer_split_heads(struct tdc_step *step, struct tdc_step_variable *x,
                                                const struct tdc_network_size *size);
struct tdc_step_variable *tdc_layer_join_heads(struct tdc_step *step, struct tdc_step_variable *x,
                                               const struct tdc_network_size *size);
/* Logits and targets to the loss, in float32; float16 gets a factor, so that gradients stay within
 * its range. */
struct tdc_step_variable *tdc_layer_loss(struct tdc_step *step, struct tdc_step_variable *x,
                                         const struct tdc_network_size *size);

#endif
