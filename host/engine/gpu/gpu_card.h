/*
 * gpu_card.h - what OpenCL and CUDA have in common: cards and slots for the kernels of kernels/gpu.
 *
 * Each has its own tdc_device_family (host/engine/device/family.h); what does not depend on the
 * runtime is here. Results are those of the CPU to the bit, so that it does not matter which of the
 * two did a chunk.
 */
#ifndef TDC_GPU_CARD_H
#define TDC_GPU_CARD_H

#include <pthread.h>

#include "host/engine/device/slot.h"
#include "kernels/gpu/pair_gpu.h"

/*
 * Staging and its counterpart on the device: the table of the chunks, n, b. So the table goes with
 * n in one copy. Blocks of a slot: all of f32, half of what 16-bit numbers would have room for.
 */
#define TDC_GPU_TABLE_BYTES (TDC_SLOT_CHUNKS * TDC_GPU_ENTRY_BYTES)
#define TDC_GPU_N_AT        TDC_GPU_TABLE_BYTES
#define TDC_GPU_B_AT        (TDC_GPU_N_AT + TDC_SLOT_SIDE)
#define TDC_GPU_INPUT_BYTES (TDC_GPU_B_AT + TDC_SLOT_SIDE)
#define TDC_GPU_SLOT_BLOCKS (TDC_SLOT_SIDE / (4 * (size_t)GPU_BLOCK))
#define TDC_GPU_LANE_BYTES  (TDC_GPU_SLOT_BLOCKS * TDC_GPU_BLOCK_BYTES)
#define TDC_GPU_WORD_BYTES  (TDC_SLOT_CHUNKS * TDC_GPU_CHUNK_BYTES)
/* Of pinned memory: what is sent, then what comes back. */
#define TDC_GPU_PINNED_BYTES (TDC_GPU_INPUT_BYTES + TDC_GPU_WORD_BYTES)

/* The first member of a card of either. */
struct tdc_gpu_card {
    struct tdc_card base;
    unsigned units;       /* multiprocessors, compute units */
    uint64_t memory;      /* bytes of the device */
    pthread_mutex_t lock; /* of proven */
    /* by rule and dtypes: 0 not asked yet, 1 the kernel passed its test, -1 it did not */
    signed char proven[3][TDC_DTYPE_COUNT][TDC_DTYPE_COUNT];
};

/* The first member of a slot of either. */
struct tdc_gpu_slot {
    struct tdc_slot base;
    gpu_u32 *table; /* pinned */
    gpu_u64 *words; /* pinned: what came back */
    struct gpu_pair pair;
};

/* From the pinned memory of a slot. */
void tdc_gpu_slot_lay_out(struct tdc_gpu_slot *slot, void *pinned);

/* What a launch sends and brings back. */
struct tdc_gpu_launch {
    unsigned kernel;
    size_t n_bytes, b_bytes, word_bytes; /* n with the table in front of it */
};
/* Fills in the pair and the table of the slot; it is pending from here on. */
struct tdc_gpu_launch tdc_gpu_slot_prepare(struct tdc_gpu_slot *slot,
                                           const struct tdc_slot_load *load);

/* ---- the same in both tables of functions ---- */

int tdc_gpu_kind_of(const struct tdc_pair_plan *plan);
size_t tdc_gpu_room(const struct tdc_card *card, const struct tdc_pair_plan *plan);
/* Some thousand pairs whose answer the CPU knows go through the slot. */
bool tdc_gpu_proven(struct tdc_slot *slot, const struct tdc_pair_plan *plan,
                    struct tdc_error *error);
void tdc_gpu_collect(const struct tdc_slot *slot, const struct tdc_slot_load *load, unsigned at,
                     struct tdc_backend_chunk *chunk, struct tdc_device_figures *figures);
unsigned tdc_gpu_list(const struct tdc_device_family *family, const struct tdc_listing *listing);
/* "clFlush: -36 INVALID_COMMAND_QUEUE", or how long it was waited for. */
void tdc_gpu_describe(struct tdc_call_failure failure, const char *name, char *text, size_t size);

#endif
