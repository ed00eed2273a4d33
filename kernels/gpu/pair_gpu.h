/*
 * pair_gpu.h - the host's side of the kernels for GPUs: what they are told of a pair, and what the
 * words they leave (lane_layout.h) mean. The result equals that of the CPU kernels to the bit.
 */
#ifndef TDC_KERNELS_GPU_PAIR_GPU_H
#define TDC_KERNELS_GPU_PAIR_GPU_H

#include "kernels/pair.h"

typedef uint32_t gpu_u32;
typedef uint64_t gpu_u64;
#include "kernels/gpu/lane_layout.h"

_Static_assert(GPU_CHUNK == TDC_PAIR_CHUNK, "a chunk is part of the result");

/* Bytes on the device besides the elements: of a block, of an entry of the table; and those of a
 * chunk that come back. */
#define TDC_GPU_BLOCK_BYTES ((size_t)GPU_LANE_WORDS * GPU_LANES * sizeof(gpu_u64))
#define TDC_GPU_ENTRY_BYTES (2 * sizeof(gpu_u32))
#define TDC_GPU_CHUNK_WORDS ((size_t)GPU_CHUNK_WORDS * GPU_LANES)
#define TDC_GPU_CHUNK_BYTES (TDC_GPU_CHUNK_WORDS * sizeof(gpu_u64))

/* Entry points: the first takes any pair, the others know theirs; the join comes last. */
#define TDC_GPU_KERNELS 12
#define TDC_GPU_ANY     0u
#define TDC_GPU_JOIN    (TDC_GPU_KERNELS - 1u)
extern const char *const tdc_gpu_kernel_names[TDC_GPU_KERNELS];

/* Work items of both kernels, a multiple of this many; groups have as many. */
#define TDC_GPU_GROUP 64u
uint64_t tdc_gpu_pair_items(const struct gpu_pair *pair);
uint64_t tdc_gpu_join_items(const struct gpu_pair *pair);

/* For a plan, without chunks as yet; returned is the kernel that serves it best. */
unsigned tdc_gpu_pair_make(const struct tdc_pair_plan *plan, struct gpu_pair *pair);
/* One more chunk of `count` elements, behind the blocks there are. */
void tdc_gpu_table_add(gpu_u32 *table, struct gpu_pair *pair, size_t count);

/*
 * The sums of one chunk of `count` elements from its TDC_GPU_CHUNK_WORDS words. False when a pair
 * is among them that float64 cannot hold (long double, or 64-bit integers against fractions): the
 * CPU kernel has to do the chunk.
 */
bool tdc_gpu_chunk_join(const struct gpu_pair *pair, const gpu_u64 *words, size_t count,
                        struct tdc_pair_sums *sums);

/* The kernels as texts: all but the first in this order make a program of CUDA C with
 * dialect_cuda.h in front, and one of OpenCL C with dialect_opencl.h. */
extern const char tdc_gpu_dialect_opencl[], tdc_gpu_dialect_cuda[];
#define TDC_GPU_TEXTS 4
extern const char *const tdc_gpu_texts[TDC_GPU_TEXTS];

#endif
