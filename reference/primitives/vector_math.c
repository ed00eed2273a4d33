#include "reference/primitives/vector_math.h"

#include <sleef.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2_CODE   __attribute__((target("avx2,fma")))
#define AVX512_CODE __attribute__((target("avx512f")))

/* SLEEF declares these only for files compiled for these instructions as a whole. */
#define X(name, bound) AVX2_CODE __m256d Sleef_##name##d4_##bound##avx2(__m256d);
TDC_VECTOR_UNARY(X)
#undef X
#define X(name, bound) AVX512_CODE __m512d Sleef_##name##d8_##bound##avx512f(__m512d);
TDC_VECTOR_STEADY(X)
#undef X
#define X(name, bound)                                                                             \
    AVX2_CODE __m256d Sleef_##name##d4_##bound##avx2(__m256d, __m256d);                            \
    AVX512_CODE __m512d Sleef_##name##d8_##bound##avx512f(__m512d, __m512d);
TDC_VECTOR_BINARY(X)
#undef X

/* Loops over whole vectors; the rest of n goes through one filled up with ones, so that an
 * element's value does not depend on its place. */
#define X(name, bound)                                                                             \
    AVX2_CODE static void name##_avx2(double *y, const double *x, size_t n)                        \
    {                                                                                              \
        size_t i = 0;                                                                              \
        for (; i + 4 <= n; i += 4)                                                                 \
            _mm256_storeu_pd(y + i, Sleef_##name##d4_##bound##avx2(_mm256_loadu_pd(x + i)));       \
        if (i < n) {                                                                               \
            double rest[4] = {1, 1, 1, 1};                                                         \
            memcpy(rest, x + i, (n - i) * sizeof *x);                                              \
            _mm256_storeu_pd(rest, Sleef_##name##d4_##bound##avx2(_mm256_loadu_pd(rest)));         \
            memcpy(y + i, rest, (n - i) * sizeof *x);                                              \
        }                                                                                          \
    }
TDC_VECTOR_UNARY(X)
#undef X
#define X(name, bound)                                                                             \
    AVX512_CODE static void name##_avx512(double *y, const double *x, size_t n)                    \
    {                                                                                              \
        for (size_t i = 0; i < n; i += 8) {                                                        \
            __mmask8 own = (__mmask8)(n - i < 8 ? (1u << (n - i)) - 1 : 0xffu);                    \
            __m512d v = _mm512_mask_loadu_pd(_mm512_set1_pd(1), own, x + i);                       \
            _mm512_mask_storeu_pd(y + i, own, Sleef_##name##d8_##bound##avx512f(v));               \
        }                                                                                          \
    }
TDC_VECTOR_STEADY(X)
#undef X
#define sin_avx512 sin_avx2
#define cos_avx512 cos_avx2
#define tan_avx512 tan_avx2
#define X(name, bound)                                                                             \
    AVX2_CODE static void name##_avx2(double *y, const double *a, const double *b, size_t n)       \
    {                                                                                              \
        size_t i = 0;                                                                              \
        for (; i + 4 <= n; i += 4)                                                                 \
            _mm256_storeu_pd(y + i, Sleef_##name##d4_##bound##avx2(_mm256_loadu_pd(a + i),         \
                                                                   _mm256_loadu_pd(b + i)));       \
        if (i < n) {                                                                               \
            double first[4] = {1, 1, 1, 1}, second[4] = {1, 1, 1, 1};                              \
            memcpy(first, a + i, (n - i) * sizeof *a);                                             \
            memcpy(second, b + i, (n - i) * sizeof *b);                                            \
            _mm256_storeu_pd(first, Sleef_##name##d4_##bound##avx2(_mm256_loadu_pd(first),         \
                                                                   _mm256_loadu_pd(second)));      \
            memcpy(y + i, first, (n - i) * sizeof *a);                                             \
        }                                                                                          \
    }                                                                                              \
    AVX512_CODE static void name##_avx512(double *y, const double *a, const double *b, size_t n)   \
    {                                                                                              \
        for (size_t i = 0; i < n; i += 8) {                                                        \
            __mmask8 own = (__mmask8)(n - i < 8 ? (1u << (n - i)) - 1 : 0xffu);                    \
            __m512d p = _mm512_mask_loadu_pd(_mm512_set1_pd(1), own, a + i);                       \
            __m512d q = _mm512_mask_loadu_pd(_mm512_set1_pd(1), own, b + i);                       \
            _mm512_mask_storeu_pd(y + i, own, Sleef_##name##d8_##bound##avx512f(p, q));            \
        }                                                                                          \
    }
TDC_VECTOR_BINARY(X)
#undef X
#define WIDE(name, ...)                                                                            \
    if (__builtin_cpu_supports("avx512f")) {                                                       \
        name##_avx512(__VA_ARGS__);                                                                \
        return;                                                                                    \
    }                                                                                              \
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {                         \
        name##_avx2(__VA_ARGS__);                                                                  \
        return;                                                                                    \
    }
#else
#define WIDE(name, ...)
#endif

#define X(name, bound)                                                                             \
    void tdc_v##name(double *y, const double *x, size_t n)                                         \
    {                                                                                              \
        WIDE(name, y, x, n)                                                                        \
        for (size_t i = 0; i < n; i++)                                                             \
            y[i] = Sleef_##name##_##bound(x[i]);                                                   \
    }
TDC_VECTOR_UNARY(X)
#undef X
#define X(name, bound)                                                                             \
    void tdc_v##name(double *y, const double *a, const double *b, size_t n)                        \
    {                                                                                              \
        WIDE(name, y, a, b, n)                                                                     \
        for (size_t i = 0; i < n; i++)                                                             \
            y[i] = Sleef_##name##_##bound(a[i], b[i]);                                             \
    }
TDC_VECTOR_BINARY(X)
#undef X
