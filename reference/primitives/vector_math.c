#include "reference/primitives/vector_math.h"

#include <sleef.h>
#include <string.h>

#include "kernels/pair.h"

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

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2_CODE __attribute__((target("avx2,fma")))
/* GCC's address sanitizer does not align its own frames to 64 bytes, which spilled vectors need. */
#define AVX512_CODE __attribute__((target("avx512f"), no_sanitize("address")))

/* SLEEF declares these only for files compiled for these instructions as a whole. */
#define X(name, bound)                                                                             \
    AVX2_CODE __m256d Sleef_finz_##name##d4_##bound##avx2(__m256d);                                \
    AVX512_CODE __m512d Sleef_finz_##name##d8_##bound##avx512f(__m512d);                           \
    ONE_OPERAND(name##_avx2, AVX2_CODE, 4, _mm256_loadu_pd, _mm256_storeu_pd,                      \
                Sleef_finz_##name##d4_##bound##avx2)                                               \
    ONE_OPERAND(name##_avx512, AVX512_CODE, 8, _mm512_loadu_pd, _mm512_storeu_pd,                  \
                Sleef_finz_##name##d8_##bound##avx512f)
TDC_VECTOR_UNARY(X)
#undef X
#define X(name, bound)                                                                             \
    AVX2_CODE __m256d Sleef_finz_##name##d4_##bound##avx2(__m256d, __m256d);                       \
    AVX512_CODE __m512d Sleef_finz_##name##d8_##bound##avx512f(__m512d, __m512d);                  \
    TWO_OPERANDS(name##_avx2, AVX2_CODE, 4, _mm256_loadu_pd, _mm256_storeu_pd,                     \
                 Sleef_finz_##name##d4_##bound##avx2)                                              \
    TWO_OPERANDS(name##_avx512, AVX512_CODE, 8, _mm512_loadu_pd, _mm512_storeu_pd,                 \
                 Sleef_finz_##name##d8_##bound##avx512f)
TDC_VECTOR_BINARY(X)
#undef X

#define WIDE(name, ...)                                                                            \
    switch (tdc_cpu_variant_chosen()) {                                                            \
    case TDC_CPU_X86_64_V4:                                                                        \
        name##_avx512(__VA_ARGS__);                                                                \
        return;                                                                                    \
    case TDC_CPU_X86_64_V3:                                                                        \
        name##_avx2(__VA_ARGS__);                                                                  \
        return;                                                                                    \
    default:                                                                                       \
        break;                                                                                     \
    }

static bool has_fma(void)
{
    return __builtin_cpu_supports("fma");
}
#elif defined(__aarch64__)
#include <arm_neon.h>

#define X(name, bound)                                                                             \
    ONE_OPERAND(name##_neon, , 2, vld1q_f64, vst1q_f64, Sleef_finz_##name##d2_##bound##advsimd)
TDC_VECTOR_UNARY(X)
#undef X
#define X(name, bound)                                                                             \
    TWO_OPERANDS(name##_neon, , 2, vld1q_f64, vst1q_f64, Sleef_finz_##name##d2_##bound##advsimd)
TDC_VECTOR_BINARY(X)
#undef X
#define WIDE(name, ...)                                                                            \
    if (has_fma()) {                                                                               \
        name##_neon(__VA_ARGS__);                                                                  \
        return;                                                                                    \
    }

static bool has_fma(void)
{
    return true;
}
#else
#define WIDE(name, ...)
static bool has_fma(void)
{
    return false;
}
#endif

/* One element at a time. SLEEF declares what needs the instruction only for files compiled for it.
 */
#define X(name, bound) double Sleef_finz_##name##d1_##bound##purecfma(double);
TDC_VECTOR_UNARY(X)
#undef X
#define X(name, bound) double Sleef_finz_##name##d1_##bound##purecfma(double, double);
TDC_VECTOR_BINARY(X)
#undef X
#if defined(__x86_64__) || defined(__aarch64__)
#define SCALAR(name, bound, ...)                                                                   \
    (has_fma() ? Sleef_finz_##name##d1_##bound##purecfma(__VA_ARGS__)                              \
               : Sleef_cinz_##name##d1_##bound##purec(__VA_ARGS__))
#else
#define SCALAR(name, bound, ...) Sleef_cinz_##name##d1_##bound##purec(__VA_ARGS__)
#endif

#define X(name, bound)                                                                             \
    double tdc_##name(double x)                                                                    \
    {                                                                                              \
        return SCALAR(name, bound, x);                                                             \
    }                                                                                              \
    void tdc_v##name(double *y, const double *x, size_t n)                                         \
    {                                                                                              \
        WIDE(name, y, x, n)                                                                        \
        for (size_t i = 0; i < n; i++)                                                             \
            y[i] = SCALAR(name, bound, x[i]);                                                      \
    }
TDC_VECTOR_UNARY(X)
#undef X
#define X(name, bound)                                                                             \
    void tdc_v##name(double *y, const double *a, const double *b, size_t n)                        \
    {                                                                                              \
        WIDE(name, y, a, b, n)                                                                     \
        for (size_t i = 0; i < n; i++)                                                             \
            y[i] = SCALAR(name, bound, a[i], b[i]);                                                \
    }
TDC_VECTOR_BINARY(X)
#undef X
