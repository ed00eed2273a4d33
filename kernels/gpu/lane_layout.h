/*
 * lane_layout.h - what the kernels of a GPU leave in memory, read by them and by the host.
 *
 * The first kernel has one work item per block of 1024 elements and lane of 8, as kernels/pair.h
 * counts them, and leaves GPU_LANE_WORDS words each. The second adds up the blocks of a chunk in
 * their order, lane by lane, and leaves GPU_CHUNK_WORDS words of 8 lanes. The host joins the lanes.
 *
 * A launch has many chunks, of one tensor or of several. Each begins with a block of its own; a
 * table has two numbers for each: its first block and its elements.
 */
#ifndef TDC_GPU_LANE_LAYOUT_H
#define TDC_GPU_LANE_LAYOUT_H

#define GPU_LANES        8
#define GPU_BLOCK        1024
#define GPU_CHUNK        262144
#define GPU_CHUNK_BLOCKS 256

/* Words of a lane of a block; those from GPU_SUM_N on only where the plan wants the extremes. */
#define GPU_SUM_NB    0
#define GPU_SUM_NN    1
#define GPU_SUM_BB    2
#define GPU_SUM_DD    3
#define GPU_SUM_ABS   4
#define GPU_ABS_MAX   5
#define GPU_REL_MAX   6
#define GPU_RELATIONS 7 /* counts of one byte each, see below: a lane of a block has 128 pairs */
#define GPU_ODDITIES  8
#define GPU_AT        9 /* places of both maxima in the chunk, that of the absolute one above */
#define GPU_SUM_N     10
#define GPU_SUM_B     11
#define GPU_N_MIN     12
#define GPU_N_MAX     13
#define GPU_B_MIN     14
#define GPU_B_MAX     15

#define GPU_SHORT_WORDS 10
#define GPU_LANE_WORDS  16

/* Bytes of GPU_RELATIONS; the first four are pairs below each limit. */
#define GPU_BYTE_FINITE  4
#define GPU_BYTE_REL_NAN 5
#define GPU_BYTE_BEYOND  6 /* pairs that float64 cannot hold: the chunk is the CPU's */

/* Bytes of GPU_ODDITIES. */
#define GPU_BYTE_N_NAN     0
#define GPU_BYTE_B_NAN     1
#define GPU_BYTE_N_INF     2
#define GPU_BYTE_B_INF     3
#define GPU_BYTE_NAN_APART 4
#define GPU_BYTE_INF_APART 5
#define GPU_BYTE_EQUAL     6

/*
 * Words of a lane of a chunk: those of a block, where that of places is of the absolute maximum
 * alone; counts have 16 bits in two words, even bytes and odd ones.
 */
#define GPU_REL_AT        16
#define GPU_RELATIONS_ODD 17
#define GPU_ODDITIES_ODD  18
#define GPU_CHUNK_WORDS   19

/* How an element is stored: GPU_CODE(kind, bytes, digits behind the point, bits of the exponent).
 */
#define GPU_KIND_TRUTH    1u
#define GPU_KIND_UNSIGNED 2u
#define GPU_KIND_SIGNED   3u
#define GPU_KIND_FLOAT    4u
#define GPU_KIND_FLOAT_FN 5u /* no infinity; all bits set is the only NaN */
#define GPU_KIND_COMPLEX  6u /* bytes of both parts */
#define GPU_KIND_F80      7u

#define GPU_CODE(kind, size, digits, exponent)                                                     \
    ((kind) | (size) << 8 | (unsigned)(digits) << 16 | (unsigned)(exponent) << 24)
#define GPU_CODE_KIND(code)     ((code)&255u)
#define GPU_CODE_SIZE(code)     ((code) >> 8 & 255u)
#define GPU_CODE_DIGITS(code)   ((code) >> 16 & 255u)
#define GPU_CODE_EXPONENT(code) ((code) >> 24 & 255u)

#define GPU_CODE_F16  GPU_CODE(GPU_KIND_FLOAT, 2u, 10, 5)
#define GPU_CODE_BF16 GPU_CODE(GPU_KIND_FLOAT, 2u, 7, 8)
#define GPU_CODE_F32  GPU_CODE(GPU_KIND_FLOAT, 4u, 23, 8)
#define GPU_CODE_F64  GPU_CODE(GPU_KIND_FLOAT, 8u, 52, 11)

/* The arithmetic of a pair. */
#define GPU_EXACT_REAL    0u /* TDC_RELATIVE_F64 */
#define GPU_EXACT_WIDE    1u /* ..., of types that float64 need not hold */
#define GPU_EXACT_INTEGER 2u /* ..., integers of which one has 64 bits */
#define GPU_EXACT_COMPLEX 3u /* ..., a side is complex */
#define GPU_NATIVE_F16    4u /* the other rules: rounded to f16, f32, f64 */
#define GPU_NATIVE_F32    5u
#define GPU_NATIVE_F64    6u

/* Everything a kernel is told of a pair besides its bytes; the same layout on host and device. */
struct gpu_pair {
    gpu_u64 blocks;     /* of all chunks of the launch */
    gpu_u64 n_at, b_at; /* bytes into the memory of each side */
    gpu_u32 n_code, b_code;
    gpu_u32 mode, n_single; /* n + epsilon is rounded to f32 */
    gpu_u32 words, chunks;  /* GPU_SHORT_WORDS or GPU_LANE_WORDS; entries of the table */
    double n_epsilon, b_epsilon;
    double limits[4];
};

#endif
