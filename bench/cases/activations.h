/* activations.h - a dump of large calls, as those of a language model are. */
#ifndef TDC_BENCH_ACTIVATIONS_H
#define TDC_BENCH_ACTIVATIONS_H

#include "tdcmp.h"

/*
 * Writes folder/dump.json of a PyTorch dump (task tensor) and its files: calls of add, gelu, mul
 * and softmax on bfloat16 activations of [512, 4096], forward, until the files have `bytes`; the
 * recorded results are the reference's, rounded. Gives the number of calls. The folder must exist
 * and be empty.
 */
tdc_status tdc_activations_make(const char *folder, uint64_t bytes, int *calls,
                                struct tdc_error *error);

#endif
