/*
 * gpu_tensors.h - tensors that live on a GPU: nothing is copied out but the words of chunks, and
 * chunks that the CPU has to do. What OpenCL and CUDA have in common; private to this folder.
 */
#ifndef TDC_GPU_TENSORS_H
#define TDC_GPU_TENSORS_H

#include "host/engine/device/tensors.h"
#include "host/engine/gpu/gpu_card.h"

/* Of a batch on the device: the lanes of its blocks, then the words of its chunks, then its table.
 */
#define TDC_GPU_BATCH_LANES ((size_t)TDC_BATCH_CHUNKS * GPU_CHUNK_BLOCKS * TDC_GPU_BLOCK_BYTES)
#define TDC_GPU_BATCH_WORDS ((size_t)TDC_BATCH_CHUNKS * TDC_GPU_CHUNK_BYTES)
#define TDC_GPU_BATCH_TABLE ((size_t)TDC_BATCH_CHUNKS * TDC_GPU_ENTRY_BYTES)

/* Queues: of the two batches, of copies to the host, of the caller. */
enum {
    TDC_GPU_COPIES = 2,
    TDC_GPU_CALLER,
    TDC_GPU_QUEUES
};

struct tdc_gpu_batch {
    gpu_u64 *words; /* pinned */
    gpu_u32 *table; /* pinned */
    struct gpu_pair pair;
    bool sent;
};

/* The first member of an object of either. */
struct tdc_gpu_tensors {
    struct tdc_device base;
    struct tdc_slot *slot; /* for self-tests, and the memory for what is copied out */
    struct tdc_gpu_batch batches[2];
    unsigned kernel;
    struct gpu_pair pair;
    /* Enqueues table, kernels and the words' way back; keeps the failure. */
    bool (*enqueue)(struct tdc_tensors_work *work, unsigned turn, uint64_t first);
    /* Whether a queue has ended. */
    struct tdc_call_failure (*poll)(struct tdc_tensors_work *work, unsigned queue, bool *done);
};

/* The slot is open: its staging serves for copies, and its words for the words of batches. */
void tdc_gpu_tensors_lay_out(struct tdc_gpu_tensors *tensors);

/* Functions of tdc_tensors_calls. */
bool tdc_gpu_tensors_launch(struct tdc_tensors_work *work, unsigned turn, uint64_t first,
                            uint64_t count);
bool tdc_gpu_tensors_wait(struct tdc_tensors_work *work, unsigned turn);
bool tdc_gpu_tensors_take(struct tdc_tensors_work *work, unsigned turn, uint64_t first,
                          uint64_t count);
bool tdc_gpu_tensors_copied(struct tdc_tensors_work *work);

/* For `begin`, when the object has a slot: waits for the caller's queue, and makes the kernel ready
 * unless there is a reason already. */
bool tdc_gpu_tensors_begin(struct tdc_tensors_work *work, const char **why);

#endif
