/*
 * register_sums.h - the seven sums of a tile and its extremes, in vector registers.
 *
 * A tile is halved as in tile_fold.h, in the same order: eight vectors that belong together at a
 * time, and what they leave once more in the same way.
 */
#ifndef TDC_KERNELS_ASCEND_REGISTER_SUMS_H
#define TDC_KERNELS_ASCEND_REGISTER_SUMS_H

#include "register_lanes.h"

namespace tdc_ascend
{

constexpr uint16_t SUMS = 7;
constexpr uint16_t GROUP = 8; /* vectors that become one */
static_assert(GROUP * GROUP == TILE_VECTORS, "two rounds make one vector of a tile");
/* Floats of UB: eight vectors of high parts and as many of low ones for each sum; then one of each,
 * twice, and one more behind the end that is read with the last. */
constexpr uint32_t SHARES_FLOATS = SUMS * 2 * GROUP * WIDTH;
constexpr uint32_t ENDS_FLOATS = SUMS * 2 * WIDTH + WIDTH;
constexpr float LARGEST_FINITE = 3.4028234663852886e+38f;

/* ---- what is summed ------------------------------------------------------------------------- */

struct product_term {
    template <bool short_values>
    static __simd_callee__ inline void take(vector &high, vector &low, vector &x, vector &y,
                                            flags &all)
    {
        if constexpr (short_values) { /* 16 or 22 bits: nothing is lost */
            Reg::Mul(high, x, y, all);
            Reg::Duplicate(low, 0.0f, all);
        } else {
            multiply(high, low, x, y, all);
        }
    }
};

struct n_b_term {
    template <bool short_values>
    static __simd_callee__ inline void take(vector &high, vector &low, vector &n, vector &b,
                                            flags &all)
    {
        product_term::take<short_values>(high, low, n, b, all);
    }
};

struct n_n_term {
    template <bool short_values>
    static __simd_callee__ inline void take(vector &high, vector &low, vector &n, vector &,
                                            flags &all)
    {
        product_term::take<short_values>(high, low, n, n, all);
    }
};

struct b_b_term {
    template <bool short_values>
    static __simd_callee__ inline void take(vector &high, vector &low, vector &, vector &b,
                                            flags &all)
    {
        product_term::take<short_values>(high, low, b, b, all);
    }
};

struct n_term {
    template <bool>
    static __simd_callee__ inline void take(vector &high, vector &low, vector &n, vector &,
                                            flags &all)
    {
        Reg::Muls(high, n, 1.0f, all);
        Reg::Duplicate(low, 0.0f, all);
    }
};

struct b_term {
    template <bool>
    static __simd_callee__ inline void take(vector &high, vector &low, vector &, vector &b,
                                            flags &all)
    {
        Reg::Muls(high, b, 1.0f, all);
        Reg::Duplicate(low, 0.0f, all);
    }
};

/* (n-b)^2 = d^2 + 2 d e + e^2 with d + e = n - b; e^2, at most 2^-48 of it, is left out. */
struct d_d_term {
    template <bool>
    static __simd_callee__ inline void take(vector &high, vector &low, vector &n, vector &b,
                                            flags &all)
    {
        vector distance, lacking;
        take_distance(distance, lacking, n, b, all);
        multiply(high, low, distance, distance, all);
        Reg::Mul(lacking, distance, lacking, all);
        Reg::Add(lacking, lacking, lacking, all);
        Reg::Add(low, low, lacking, all);
    }
};

struct d_term {
    template <bool>
    static __simd_callee__ inline void take(vector &high, vector &low, vector &n, vector &b,
                                            flags &all)
    {
        take_distance(high, low, n, b, all);
    }
};

/* ---- halving -------------------------------------------------------------------------------- */

/* Vectors `at` and `at` + half a tile. */
template <typename term, typename N, typename B>
__simd_callee__ inline void take_pair(vector &high, vector &low, __ubuf__ N *n, __ubuf__ B *b,
                                      uint16_t at, flags &all)
{
    constexpr bool short_values = sizeof(N) == 2 && sizeof(B) == 2;
    constexpr uint16_t half_tile = TILE_VECTORS / 2;
    vector x, y, more_high, more_low;
    load(x, n + at * WIDTH, all);
    load(y, b + at * WIDTH, all);
    term::template take<short_values>(high, low, x, y, all);
    load(x, n + (at + half_tile) * WIDTH, all);
    load(y, b + (at + half_tile) * WIDTH, all);
    term::template take<short_values>(more_high, more_low, x, y, all);
    add(high, low, more_high, more_low, all);
}

/* Eight vectors of a sum, the high parts and then the low ones. */
template <typename term, typename N, typename B>
__simd_callee__ inline void fold_term(__ubuf__ float *share, __ubuf__ N *n, __ubuf__ B *b,
                                      flags &all)
{
    for (uint16_t i = 0; i < GROUP; i++) {
        vector high, low, second_high, second_low, third_high, third_low;
        take_pair<term>(high, low, n, b, i, all);
        take_pair<term>(second_high, second_low, n, b, i + 2 * GROUP, all);
        add(high, low, second_high, second_low, all);
        take_pair<term>(second_high, second_low, n, b, i + GROUP, all);
        take_pair<term>(third_high, third_low, n, b, i + 3 * GROUP, all);
        add(second_high, second_low, third_high, third_low, all);
        add(high, low, second_high, second_low, all);
        Reg::StoreAlign(share + i * WIDTH, high, all);
        Reg::StoreAlign(share + (GROUP + i) * WIDTH, low, all);
    }
}

/* In the order of the record. */
template <typename N, typename B>
__simd_vf__ inline void fold_tile(__ubuf__ N *n, __ubuf__ B *b, __ubuf__ float *shares)
{
    constexpr uint32_t step = 2 * GROUP * WIDTH;
    flags all = Reg::CreateMask<float>();
    fold_term<n_b_term>(shares, n, b, all);
    fold_term<n_n_term>(shares + step, n, b, all);
    fold_term<b_b_term>(shares + 2 * step, n, b, all);
    fold_term<n_term>(shares + 3 * step, n, b, all);
    fold_term<b_term>(shares + 4 * step, n, b, all);
    fold_term<d_d_term>(shares + 5 * step, n, b, all);
    fold_term<d_term>(shares + 6 * step, n, b, all);
}

__simd_callee__ inline void load_pair(vector &high, vector &low, __ubuf__ float *share, uint16_t at,
                                      flags &all)
{
    constexpr uint16_t half = GROUP / 2;
    vector more_high, more_low;
    Reg::LoadAlign(high, share + at * WIDTH);
    Reg::LoadAlign(low, share + (GROUP + at) * WIDTH);
    Reg::LoadAlign(more_high, share + (at + half) * WIDTH);
    Reg::LoadAlign(more_low, share + (GROUP + at + half) * WIDTH);
    add(high, low, more_high, more_low, all);
}

/* The first `floats` of a vector and as many behind them, of each sum. What stands in the
 * rest of the registers is of no use. */
__simd_callee__ inline void halve_ends(__ubuf__ float *to, __ubuf__ float *from, uint16_t floats,
                                       flags &all)
{
    Reg::LocalMemBar<Reg::MemType::VEC_STORE, Reg::MemType::VEC_LOAD>();
    for (uint16_t sum = 0; sum < SUMS; sum++) {
        vector high, low, more_high, more_low;
        Reg::LoadAlign(high, from + 2 * sum * WIDTH);
        Reg::LoadAlign(more_high, from + 2 * sum * WIDTH + floats);
        Reg::LoadAlign(low, from + (2 * sum + 1) * WIDTH);
        Reg::LoadAlign(more_low, from + (2 * sum + 1) * WIDTH + floats);
        add(high, low, more_high, more_low, all);
        Reg::StoreAlign(to + 2 * sum * WIDTH, high, all);
        Reg::StoreAlign(to + (2 * sum + 1) * WIDTH, low, all);
    }
}

__simd_callee__ inline void store_zeros(__ubuf__ float *to, flags &all)
{
    vector zero;
    Reg::Duplicate(zero, 0.0f, all);
    Reg::StoreAlign(to, zero, all);
}

/* What fold_tile left, down to 8 lanes of each sum in the record. */
__simd_vf__ inline void fold_shares(__ubuf__ float *shares, __ubuf__ float *even,
                                    __ubuf__ float *odd, __ubuf__ float *record)
{
    flags all = Reg::CreateMask<float>();
    flags few = Reg::CreateMask<float, Reg::MaskPattern::VL8>();
    store_zeros(even + SUMS * 2 * WIDTH, all);
    store_zeros(odd + SUMS * 2 * WIDTH, all);
    for (uint16_t sum = 0; sum < SUMS; sum++) {
        __ubuf__ float *share = shares + sum * 2 * GROUP * WIDTH;
        vector high, low, second_high, second_low, third_high, third_low;
        load_pair(high, low, share, 0, all);
        load_pair(second_high, second_low, share, 2, all);
        add(high, low, second_high, second_low, all);
        load_pair(second_high, second_low, share, 1, all);
        load_pair(third_high, third_low, share, 3, all);
        add(second_high, second_low, third_high, third_low, all);
        add(high, low, second_high, second_low, all);
        Reg::StoreAlign(even + 2 * sum * WIDTH, high, all);
        Reg::StoreAlign(even + (2 * sum + 1) * WIDTH, low, all);
    }
    halve_ends(odd, even, WIDTH / 2, all);
    Reg::LocalMemBar<Reg::MemType::VEC_LOAD, Reg::MemType::VEC_STORE>();
    halve_ends(even, odd, WIDTH / 4, all);
    Reg::LocalMemBar<Reg::MemType::VEC_STORE, Reg::MemType::VEC_LOAD>();
    for (uint16_t sum = 0; sum < SUMS; sum++) {
        vector high, low, more_high, more_low;
        Reg::LoadAlign(high, even + 2 * sum * WIDTH);
        Reg::LoadAlign(more_high, even + 2 * sum * WIDTH + TDC_TILE_SUM_LANES);
        Reg::LoadAlign(low, even + (2 * sum + 1) * WIDTH);
        Reg::LoadAlign(more_low, even + (2 * sum + 1) * WIDTH + TDC_TILE_SUM_LANES);
        add(high, low, more_high, more_low, all);
        Reg::StoreAlign(record + sum * TDC_TILE_SUM_LANES, high, few);
        Reg::StoreAlign(record + TDC_TILE_SUM_LOW + sum * TDC_TILE_SUM_LANES, low, few);
    }
}

/* ---- extremes ------------------------------------------------------------------------------- */

template <typename N, typename B>
__simd_vf__ inline void find_extremes(__ubuf__ N *n, __ubuf__ B *b, __ubuf__ float *record)
{
    flags all = Reg::CreateMask<float>();
    vector n_max, n_min, b_max, b_min, distance_max, lacking_max, finite, one, zero;
    load(n_max, n, all);
    load(n_min, n, all);
    load(b_max, b, all);
    load(b_min, b, all);
    Reg::Duplicate(one, 1.0f, all);
    Reg::Duplicate(zero, 0.0f, all);
    Reg::Duplicate(distance_max, 0.0f, all);
    Reg::Duplicate(lacking_max, 0.0f, all);
    Reg::Duplicate(finite, 0.0f, all);
    for (uint16_t i = 0; i < TILE_VECTORS; i++) {
        vector x, y, distance, lacking;
        flags x_finite, y_finite;
        load(x, n + i * WIDTH, all);
        load(y, b + i * WIDTH, all);
        Reg::Max(n_max, n_max, x, all);
        Reg::Min(n_min, n_min, x, all);
        Reg::Max(b_max, b_max, y, all);
        Reg::Min(b_min, b_min, y, all);
        take_distance(distance, lacking, x, y, all);
        Reg::Abs(lacking, lacking, all);
        Reg::Max(distance_max, distance_max, distance, all);
        Reg::Max(lacking_max, lacking_max, lacking, all);
        Reg::Abs(x, x, all);
        Reg::Abs(y, y, all);
        Reg::Compares<float, CMPMODE::LE>(x_finite, x, LARGEST_FINITE, all);
        Reg::Compares<float, CMPMODE::LE>(y_finite, y, LARGEST_FINITE, all);
        Reg::And(x_finite, x_finite, y_finite, all);
        count(finite, x_finite, one, zero, all);
    }
    store_reduced<ReduceType::MAX>(record + TDC_TILE_N_MAX, n_max, all);
    store_reduced<ReduceType::MIN>(record + TDC_TILE_N_MIN, n_min, all);
    store_reduced<ReduceType::MAX>(record + TDC_TILE_B_MAX, b_max, all);
    store_reduced<ReduceType::MIN>(record + TDC_TILE_B_MIN, b_min, all);
    store_reduced<ReduceType::MAX>(record + TDC_TILE_ABS_MAX, distance_max, all);
    store_reduced<ReduceType::MAX>(record + TDC_TILE_ABS_ERR, lacking_max, all);
    store_reduced<ReduceType::SUM>(record + TDC_TILE_FINITE, finite, all);
}

} // namespace tdc_ascend

#endif
