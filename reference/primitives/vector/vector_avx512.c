/* SLEEF's functions by vectors of eight; compiled for AVX-512F. */
#include "reference/primitives/vector/vector_loops.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define X(name, bound)                                                                             \
    __m512d Sleef_finz_##name##d8_##bound##avx512f(__m512d);                                       \
    TDC_ONE_OPERAND(tdc_v##name##_avx512, , 8, _mm512_loadu_pd, _mm512_storeu_pd,                  \
                    Sleef_finz_##name##d8_##bound##avx512f)
TDC_VECTOR_UNARY(X)
#undef X
#define X(name, bound)                                                                             \
    __m512d Sleef_finz_##name##d8_##bound##avx512f(__m512d, __m512d);                              \
    TDC_TWO_OPERANDS(tdc_v##name##_avx512, , 8, _mm512_loadu_pd, _mm512_storeu_pd,                 \
                     Sleef_finz_##name##d8_##bound##avx512f)
TDC_VECTOR_BINARY(X)
#undef X
#endif
