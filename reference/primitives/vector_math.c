#include "reference/primitives/vector_math.h"

#include <sleef.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>

#define WIDE_CODE __attribute__((target("avx2,fma")))

/* SLEEF declares these only for files compiled for AVX as a whole. */
#define X(name, bound) WIDE_CODE __m256d Sleef_##name##d4_##bound##avx2(__m256d);
TDC_VECTOR_UNARY(X)
#undef X
#define X(name, bound) WIDE_CODE __m256d Sleef_##name##d4_##bound##avx2(__m256d, __m256d);
TDC_VECTOR_BINARY(X)
#undef X

/* The wide loops; the rest of n goes through a padded vector, so that an element's value does not
 * depend on its place. */
#define X(name, bound)                                                                             \
    WIDE_CODE static void name##_wide(double *y, const double *x, size_t n)                        \
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
    WIDE_CODE static void name##_wide(double *y, const double *a, const double *b, size_t n)       \
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
    }
TDC_VECTOR_BINARY(X)
#undef X
#define IS_WIDE (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#define WIDE(call)                                                                                 \
    if (IS_WIDE) {                                                                                 \
        call;                                                                                      \
        return;                                                                                    \
    }
#else
#define WIDE(call)
#endif

#define X(name, bound)                                                                             \
    void tdc_v##name(double *y, const double *x, size_t n)                                         \
    {                                                                                              \
        WIDE(name##_wide(y, x, n))                                                                 \
        for (size_t i = 0; i < n; i++)                                                             \
            y[i] = Sleef_##name##_##bound(x[i]);                                                   \
    }
TDC_VECTOR_UNARY(X)
#undef X
#define X(name, bound)                                                                             \
    void tdc_v##name(double *y, const double *a, const double *b, size_t n)                        \
    {                                                                                              \
        WIDE(name##_wide(y, a, b, n))                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            y[i] = Sleef_##name##_##bound(a[i], b[i]);                                             \
    }
TDC_VECTOR_BINARY(X)
#undef X
