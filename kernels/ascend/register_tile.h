/*
 * register_tile.h - one tile on architecture 3510: its pieces in turn, each a vector function.
 *
 * Takes the place of memory_tile there. What both leave is the same to the bit, but where products
 * fall below the smallest normal number.
 */
#ifndef TDC_KERNELS_ASCEND_REGISTER_TILE_H
#define TDC_KERNELS_ASCEND_REGISTER_TILE_H

#include "register_relative.h"
#include "register_sums.h"
#include "tile_input.h"

namespace tdc_ascend
{

template <typename N, typename B, rule relative> class register_tile
{
  public:
    static constexpr bool widens = false; /* on the way into a register */

    __aicore__ inline void open(TPipe *pipe)
    {
        pipe->InitBuffer(shares_buffer, SHARES_FLOATS * sizeof(float));
        pipe->InitBuffer(even_buffer, ENDS_FLOATS * sizeof(float));
        pipe->InitBuffer(odd_buffer, ENDS_FLOATS * sizeof(float));
        shares = shares_buffer.template Get<float>();
        even = even_buffer.template Get<float>();
        odd = odd_buffer.template Get<float>();
    }

    __aicore__ inline void compute(const LocalTensor<N> &n_values, const LocalTensor<B> &b_values,
                                   const LocalTensor<float> &to)
    {
        __ubuf__ N *n = (__ubuf__ N *)n_values.GetPhyAddr();
        __ubuf__ B *b = (__ubuf__ B *)b_values.GetPhyAddr();
        __ubuf__ float *record = (__ubuf__ float *)to.GetPhyAddr();
        asc_vf_call<fold_tile<N, B>>(n, b, address(shares));
        asc_vf_call<find_extremes<N, B>>(n, b, record);
        PipeBarrier<PIPE_V>();
        if constexpr (relative == rule::exact) {
            asc_vf_call<relative_limits<N, B>>(n, b, record);
            PipeBarrier<PIPE_V>();
            asc_vf_call<relative_bounds<N, B>>(n, b, record);
        } else if constexpr (is_half<N>::value) {
            asc_vf_call<relative_half<N, B>>(n, b, record);
        } else {
            asc_vf_call<relative_native<N, B>>(n, b, record);
        }
        PipeBarrier<PIPE_V>();
        asc_vf_call<fold_shares>(address(shares), address(even), address(odd), record);
    }

  private:
    static __aicore__ inline __ubuf__ float *address(const LocalTensor<float> &tensor)
    {
        return (__ubuf__ float *)tensor.GetPhyAddr();
    }

    TBuf<TPosition::VECCALC> shares_buffer, even_buffer, odd_buffer;
    LocalTensor<float> shares, even, odd;
};

} // namespace tdc_ascend

#endif
