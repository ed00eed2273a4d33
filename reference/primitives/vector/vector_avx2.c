/* SLEEF's functions by vectors of four; compiled for AVX2 and FMA. */
#include "reference/primitives/vector/vector_loops.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define X(name, bound)                                                                             \
    __m256d Sleef_finz_##name##d4_##bound##avx2(__m256d);                                          \
    TDC_ONE_OPERAND(tdc_v##name##_avx2, , 4, _mm256_loadu_pd, _mm256_storeu_pd,                    \
                    Sleef_finz_##name##d4_##bound##avx2)
TDC_VECTOR_UNARY(X)
#undef X
#define X(name, bound)                                                                             \
    __m256d Sleef_finz_##name##d4_##bound##avx2(__m256d, __m256d);                                 \
    TDC_TWO_OPERANDS(tdc_v##name##_avx2, , 4, _mm256_loadu_pd, _mm256_storeu_pd,                   \
                     Sleef_finz_##name##d4_##bound##avx2)
TDC_VECTOR_BINARY(X)
#undef X
#endif
