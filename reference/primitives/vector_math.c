#include "reference/primitives/vector_math.h"

#include <sleef.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2_CODE __attribute__((target("avx2,fma")))
/* GCC's address sanitizer does not align its own frames to 64 bytes, which spilled vectors need. */
#define AVX512_CODE __attribute__((target("avx512f"), no_sanitize("address")))

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

/* Loops over whole vectors; the rest of n goes through a padded one, so that an element's value
 * does not depend on its place. */
#define ONE_OPERAND(function, code, width, load, store, call)                                      \
    code static void function(double *y, const double *x, size_t n)                                \
    {                                                                                              \
        size_t i = 0;                                                                              \
        for (; i + width <= n; i += width)                                                         \
            store(y + i, call(load(x + i)));                                                       \
        if (i < n) {                                                                               \
            double rest[width];                                                                    \
            for (size_t k = 0; k < width; k++)                                                     \
                rest[k] = k < n - i ? x[i + k] : 1;                                                \
            store(rest, call(load(rest)));                                                         \
            memcpy(y + i, rest, (n - i) * sizeof *y);                                              \
        }                                                                                          \
    }
#define TWO_OPERANDS(function, code, width, load, store, call)                                     \
    code static void function(double *y, const double *a, const double *b, size_t n)               \
    {                                                                                              \
        size_t i = 0;                                                                              \
        for (; i + width <= n; i += width)                                                         \
            store(y + i, call(load(a + i), load(b + i)));                                          \
        if (i < n) {                                                                               \
            double first[width], second[width];                                                    \
            for (size_t k = 0; k < width; k++) {                                                   \
                first[k] = k < n - i ? a[i + k] : 1;                                               \
                second[k] = k < n - i ? b[i + k] : 1;                                              \
            }                                                                                      \
            store(first, call(load(first), load(second)));                                         \
            memcpy(y + i, first, (n - i) * sizeof *y);                                             \
        }                                                                                          \
    }
#define X(name, bound)                                                                             \
    ONE_OPERAND(name##_avx2, AVX2_CODE, 4, _mm256_loadu_pd, _mm256_storeu_pd,                      \
                Sleef_##name##d4_##bound##avx2)
TDC_VECTOR_UNARY(X)
#undef X
#define X(name, bound)                                                                             \
    ONE_OPERAND(name##_avx512, AVX512_CODE, 8, _mm512_loadu_pd, _mm512_storeu_pd,                  \
                Sleef_##name##d8_##bound##avx512f)
TDC_VECTOR_STEADY(X)
#undef X
#define sin_avx512 sin_avx2
#define cos_avx512 cos_avx2
#define tan_avx512 tan_avx2
#define X(name, bound)                                                                             \
    TWO_OPERANDS(name##_avx2, AVX2_CODE, 4, _mm256_loadu_pd, _mm256_storeu_pd,                     \
                 Sleef_##name##d4_##bound##avx2)                                                   \
    TWO_OPERANDS(name##_avx512, AVX512_CODE, 8, _mm512_loadu_pd, _mm512_storeu_pd,                 \
                 Sleef_##name##d8_##bound##avx512f)
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
