#include "reference/primitives/vector/vector_math.h"

#include <sleef.h>

#include "kernels/pair.h"
#include "reference/primitives/vector/vector_loops.h"

#if defined(__x86_64__)
#define WIDE(name, ...)                                                                            \
    switch (tdc_cpu_variant_chosen()) {                                                            \
    case TDC_CPU_X86_64_V4:                                                                        \
        tdc_v##name##_avx512(__VA_ARGS__);                                                         \
        return;                                                                                    \
    case TDC_CPU_X86_64_V3:                                                                        \
        tdc_v##name##_avx2(__VA_ARGS__);                                                           \
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
    TDC_ONE_OPERAND(name##_neon, static, 2, vld1q_f64, vst1q_f64,                                  \
                    Sleef_finz_##name##d2_##bound##advsimd)
TDC_VECTOR_UNARY(X)
#undef X
#define X(name, bound)                                                                             \
    TDC_TWO_OPERANDS(name##_neon, static, 2, vld1q_f64, vst1q_f64,                                 \
                     Sleef_finz_##name##d2_##bound##advsimd)
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
