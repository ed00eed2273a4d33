/*
 * join_lanes.h - the second kernel: the blocks of each chunk in their order, one work item for each
 * word of each lane. A chunk leaves 1216 bytes of what the first kernel left, which is all that
 * leaves the device.
 */
#ifndef TDC_GPU_JOIN_LANES_H
#define TDC_GPU_JOIN_LANES_H

/* From one block to the next. */
#define GPU_BLOCK_STRIDE (GPU_LANE_WORDS * GPU_LANES)

GPU_INLINE double gpu_join_sum(GPU_GLOBAL const gpu_u64 *from, gpu_u64 blocks)
{
    double sum = 0.0;
    for (gpu_u64 i = 0ul; i < blocks; i++)
        sum = GPU_ADD(sum, GPU_AS_DOUBLE(from[i * GPU_BLOCK_STRIDE]));
    return sum;
}

/* The lowest value for sign -1, the highest for 1. */
GPU_INLINE double gpu_join_extreme(GPU_GLOBAL const gpu_u64 *from, gpu_u64 blocks, double sign)
{
    double extreme = -GPU_AS_DOUBLE(GPU_INFINITY_BITS);
    for (gpu_u64 i = 0ul; i < blocks; i++) {
        double value = sign * GPU_AS_DOUBLE(from[i * GPU_BLOCK_STRIDE]);
        extreme = value > extreme ? value : extreme;
    }
    return sign * extreme;
}

/* The first of the highest; the place is `shift` bits up in its word. */
GPU_INLINE void gpu_join_maximum(GPU_GLOBAL const gpu_u64 *from, GPU_GLOBAL const gpu_u64 *places,
                                 int shift, gpu_u64 blocks, GPU_GLOBAL gpu_u64 *to,
                                 GPU_GLOBAL gpu_u64 *place_to)
{
    double maximum = -1.0;
    gpu_u64 place = 0ul;
    for (gpu_u64 i = 0ul; i < blocks; i++) {
        double value = GPU_AS_DOUBLE(from[i * GPU_BLOCK_STRIDE]);
        if (value > maximum) {
            maximum = value;
            place = places[i * GPU_BLOCK_STRIDE] >> shift & 0xfffffffful;
        }
    }
    *to = GPU_AS_BITS(maximum);
    *place_to = place;
}

/* 256 blocks of up to 128 each: 16 bits are enough. */
GPU_INLINE void gpu_join_counts(GPU_GLOBAL const gpu_u64 *from, gpu_u64 blocks,
                                GPU_GLOBAL gpu_u64 *even_to, GPU_GLOBAL gpu_u64 *odd_to)
{
    gpu_u64 even = 0ul, odd = 0ul;
    for (gpu_u64 i = 0ul; i < blocks; i++) {
        gpu_u64 counts = from[i * GPU_BLOCK_STRIDE];
        even += counts & 0x00ff00ff00ff00fful;
        odd += counts >> 8 & 0x00ff00ff00ff00fful;
    }
    *even_to = even;
    *odd_to = odd;
}

GPU_KERNEL void tdc_join_lanes(GPU_GLOBAL const gpu_u32 *table, GPU_GLOBAL const gpu_u64 *lanes,
                               GPU_GLOBAL gpu_u64 *chunks, struct gpu_pair pair)
{
    gpu_u64 item = GPU_WORK_ITEM(), lane = item % GPU_LANES;
    gpu_u64 word = item / GPU_LANES % pair.words, chunk = item / GPU_LANES / pair.words;
    if (chunk >= pair.chunks)
        return;
    gpu_u64 first = table[2u * chunk];
    gpu_u64 blocks = ((gpu_u64)table[2u * chunk + 1u] + (GPU_BLOCK - 1)) / GPU_BLOCK;
    GPU_GLOBAL const gpu_u64 *block = lanes + first * GPU_BLOCK_STRIDE + lane;
    GPU_GLOBAL const gpu_u64 *from = block + word * GPU_LANES, *places = block + GPU_AT * GPU_LANES;
    GPU_GLOBAL gpu_u64 *to = chunks + chunk * GPU_CHUNK_WORDS * GPU_LANES + lane;
    GPU_GLOBAL gpu_u64 *own = to + word * GPU_LANES;
    if (word <= GPU_SUM_ABS || word == GPU_SUM_N || word == GPU_SUM_B)
        *own = GPU_AS_BITS(gpu_join_sum(from, blocks));
    else if (word == GPU_ABS_MAX)
        gpu_join_maximum(from, places, 32, blocks, own, to + GPU_AT * GPU_LANES);
    else if (word == GPU_REL_MAX)
        gpu_join_maximum(from, places, 0, blocks, own, to + GPU_REL_AT * GPU_LANES);
    else if (word == GPU_RELATIONS)
        gpu_join_counts(from, blocks, own, to + GPU_RELATIONS_ODD * GPU_LANES);
    else if (word == GPU_ODDITIES)
        gpu_join_counts(from, blocks, own, to + GPU_ODDITIES_ODD * GPU_LANES);
    else if (word != GPU_AT)
        *own = GPU_AS_BITS(
            gpu_join_extreme(from, blocks, word == GPU_N_MIN || word == GPU_B_MIN ? -1.0 : 1.0));
}

#endif
