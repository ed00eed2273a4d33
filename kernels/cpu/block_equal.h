/*
 * block_equal.h - blocks whose sides are equal to the bit, as most are when all is well.
 *
 * Their three sums of products are one, their differences and relative errors 0. The lanes are
 * those of block_sums.h, so the sums have the bits that every pair taken by itself would give.
 */
#ifndef TDC_KERNELS_CPU_BLOCK_EQUAL_H
#define TDC_KERNELS_CPU_BLOCK_EQUAL_H

#include "kernels/cpu/relative.h"
#if HAS_HALF_BLOCKS
#include "kernels/cpu/vector/shorts.h"
#endif

/* Ends at the first difference, so that other blocks lose little by it. */
static inline bool block_is_equal(const struct tdc_pair_plan *plan, const void *n, const void *b,
                                  size_t count)
{
    return plan->n_dtype == plan->b_dtype &&
           memcmp(n, b, count * tdc_dtype_size(plan->n_dtype)) == 0;
}

/* The same by groups. */
static inline bool sides_are_equal(const struct tdc_pair_plan *plan, const struct block_sides *at,
                                   size_t count)
{
    size_t size = tdc_dtype_size(plan->n_dtype);
    if (at->n_groups == NULL && at->b_groups == NULL)
        return block_is_equal(plan, at->n, at->b, count);
    bool equal = plan->n_dtype == plan->b_dtype;
    for (size_t i = 0; i < BLOCK && equal; i += TDC_PAIR_GROUP)
        equal = memcmp(group_at(at->n, at->n_groups, i, size),
                       group_at(at->b, at->b_groups, i, size), TDC_PAIR_GROUP * size) == 0;
    return equal;
}

/* The sums of a block from those of its squares. */
ALWAYS_INLINE void equal_lanes(const f64v *squares, struct lane_sums *sums)
{
    clear_lanes(sums);
    for (size_t r = 0; r < SUM_REGISTERS; r++)
        sums->nb[r] = sums->nn[r] = sums->bb[r] = squares[r];
}

/* Blocks that are squared side by side: one alone waits for each addition to end. */
#define EQUAL_BLOCKS 2

ALWAYS_INLINE void square_blocks_f32(size_t blocks, const f32_unaligned *const *n, size_t count,
                                     const struct prefetch *ahead, struct lane_sums *sums)
{
    f64v squares[EQUAL_BLOCKS][SUM_REGISTERS];
    for (size_t k = 0; k < blocks; k++)
        for (size_t r = 0; r < SUM_REGISTERS; r++)
            squares[k][r] = f64_splat(0);
    for (size_t i = 0; i < count; i += 2 * SUM_LANES) {
        for (size_t k = 0; k < blocks; k++)
            prefetch_pair(ahead, i + k * BLOCK);
        for (size_t r = 0; r < 2 * SUM_REGISTERS; r++)
            for (size_t k = 0; k < blocks; k++) {
                f64v x = f64_widen(n[k] + i + r * F64_LANES);
                squares[k][r % SUM_REGISTERS] =
                    f64_add_product(squares[k][r % SUM_REGISTERS], x, x);
            }
    }
    for (size_t k = 0; k < blocks; k++)
        equal_lanes(squares[k], &sums[k]);
}

#if HAS_HALF_BLOCKS
/* The sum of squares of a whole block of small integers: exact, and so in any lane. False for other
 * blocks. */
static bool square_integers(tdc_dtype dtype, const void *n, const struct prefetch *ahead,
                            struct lane_sums *sums)
{
    int64_t total = 0;
    bool done = true;
    switch (dtype) {
    case TDC_BOOL:
        total = truth_squares(n, ahead->n, ahead->b);
        break;
    case TDC_U8:
        total = byte_squares(false, n, ahead->n, ahead->b);
        break;
    case TDC_I8:
        total = byte_squares(true, n, ahead->n, ahead->b);
        break;
    case TDC_U16:
        done = short_squares(false, n, ahead->n, ahead->b, &total);
        break;
    case TDC_I16:
        done = short_squares(true, n, ahead->n, ahead->b, &total);
        break;
    default:
        return false;
    }
    const double squares[SUM_LANES] = {(double)total};
    f64v lanes[SUM_REGISTERS];
    memcpy(lanes, squares, sizeof lanes);
    equal_lanes(lanes, sums);
    return done;
}
#else
/* Sums of squares of small integers as integers: exact, as the sums in f64 are. `width` sums of
 * which every SUM_LANES'th belongs to one lane. */
#define SQUARE_INTEGERS(type, square, sum_type, width)                                             \
    do {                                                                                           \
        const type *from = source;                                                                 \
        sum_type sum[width] = {0};                                                                 \
        for (size_t i = 0; i < BLOCK; i += (width))                                                \
            _Pragma("omp simd") for (size_t lane = 0; lane < (width); lane++)                      \
            {                                                                                      \
                int32_t x = (int32_t)from[i + lane];                                               \
                sum[lane] = (sum_type)(sum[lane] + (square));                                      \
            }                                                                                      \
        for (size_t lane = 0; lane < (width); lane++)                                              \
            squares[lane % SUM_LANES] += (double)sum[lane];                                        \
    } while (0)

static bool square_integers(tdc_dtype dtype, const void *source, const struct prefetch *ahead,
                            struct lane_sums *sums)
{
    (void)ahead; /* such blocks are short, and the hardware knows what comes */
    double squares[SUM_LANES] __attribute__((aligned(64))) = {0};
    f64v lanes[SUM_REGISTERS];
    switch (dtype) {
    case TDC_BOOL:
        SQUARE_INTEGERS(uint8_t, x != 0 ? 1 : 0, uint8_t, 64);
        break;
    case TDC_U8:
        SQUARE_INTEGERS(uint8_t, (uint32_t)(x * x), uint32_t, 2 * SUM_LANES);
        break;
    case TDC_I8:
        SQUARE_INTEGERS(int8_t, (uint32_t)(x * x), uint32_t, 2 * SUM_LANES);
        break;
    default:
        return false;
    }
    memcpy(lanes, squares, sizeof lanes);
    equal_lanes(lanes, sums);
    return true;
}
#undef SQUARE_INTEGERS
#endif

static void square_block_f64(const f64_unaligned *n, size_t count, const struct prefetch *ahead,
                             struct lane_sums *sums)
{
    f64v squares[SUM_REGISTERS];
    for (size_t r = 0; r < SUM_REGISTERS; r++)
        squares[r] = f64_splat(0);
    for (size_t i = 0; i < count; i += SUM_LANES) {
        prefetch_pair(ahead, i);
        for (size_t r = 0; r < SUM_REGISTERS; r++) {
            f64v x = f64_load(n + i + r * F64_LANES);
            squares[r] += x * x;
        }
    }
    equal_lanes(squares, sums);
}

static void square_block_complex(const double *re, const double *im, size_t count,
                                 const struct prefetch *ahead, struct lane_sums *sums)
{
    f64v squares[SUM_REGISTERS];
    for (size_t r = 0; r < SUM_REGISTERS; r++)
        squares[r] = f64_splat(0);
    for (size_t i = 0; i < count; i += SUM_LANES) {
        prefetch_pair(ahead, i);
        for (size_t r = 0; r < SUM_REGISTERS; r++) {
            f64v x = f64_load(re + i + r * F64_LANES), y = f64_load(im + i + r * F64_LANES);
            squares[r] += x * x + y * y;
        }
    }
    equal_lanes(squares, sums);
}

/* Enters a block of finite pairs that are equal, of which `undefined` have an e of 0/0; `first` is
 * the first of the others. */
static void enter_equal(size_t start, size_t count, size_t undefined, size_t first, size_t limits,
                        struct tdc_pair_sums *sums)
{
    const struct block_relative counts = {.nan = undefined};
    sums->finite += count;
    enter_relative(&counts, count, limits, sums);
    if (sums->abs_max < 0) {
        sums->abs_max = 0;
        sums->abs_at = start;
    }
    if (sums->rel_max < 0 && undefined < count) {
        sums->rel_max = 0;
        sums->rel_at = start + first;
    }
}

static size_t count_zeros(const f32_unaligned *n, size_t count)
{
    unsigned zeros = 0;
#pragma omp simd reduction(+ : zeros)
    for (size_t i = 0; i < count; i++)
        zeros += n[i] == 0 ? 1 : 0;
    return zeros;
}

#endif
