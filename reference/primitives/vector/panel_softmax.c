#include "reference/primitives/vector/panel_softmax.h"

#include <math.h>
#include <string.h>

#include "kernels/pair.h"

#define LOWEST  (-708.0)
#define LOG2_E  0x1.71547652b82fep+0
#define LN2     0x1.62e42fefa39efp-1
#define LN2_LOW 0x1.abc9e3b39803fp-56
/* Added to a number of at most 1023 it leaves the nearest integer, plus 1023, in its last bits. */
#define MAGIC (0x1.8p52 + 1023)

/*
 * exp(x) = 2^n exp(r), n = round(x log2 e), |r| <= 0.3466: Taylor's series to r^13, whose rest is
 * below 2^-57, in two chains by even and odd powers. Errors of r and of the series are small
 * against the last addition, which rounds: 0.6 ULP in all.
 */
#define EXPONENTIAL(code, name, V, SET, ADD, SUB, MUL, FMA, BELOW, POWER)                          \
    code static inline __attribute__((always_inline)) V name(V x)                                  \
    {                                                                                              \
        V low = SET(LOWEST), t = FMA(BELOW(x, low, low, x), SET(LOG2_E), SET(MAGIC));              \
        V n = SUB(t, SET(MAGIC));                                                                  \
        V r = FMA(n, SET(-LN2_LOW), FMA(n, SET(-LN2), BELOW(x, low, low, x)));                     \
        V square = MUL(r, r);                                                                      \
        V even = FMA(SET(1.0 / 479001600), square, SET(1.0 / 3628800));                            \
        V odd = FMA(SET(1.0 / 6227020800), square, SET(1.0 / 39916800));                           \
        even = FMA(even, square, SET(1.0 / 40320));                                                \
        odd = FMA(odd, square, SET(1.0 / 362880));                                                 \
        even = FMA(even, square, SET(1.0 / 720));                                                  \
        odd = FMA(odd, square, SET(1.0 / 5040));                                                   \
        even = FMA(even, square, SET(1.0 / 24));                                                   \
        odd = FMA(odd, square, SET(1.0 / 120));                                                    \
        even = FMA(even, square, SET(0.5));                                                        \
        odd = FMA(odd, square, SET(1.0 / 6));                                                      \
        V y = ADD(SET(1.0), FMA(square, FMA(odd, r, even), r));                                    \
        return BELOW(x, low, SET(0.0), MUL(y, POWER(t)));                                          \
    }

/* The exponential of key j + k of the vector at c, to the sums of chain k. */
#define SUMMED(name, V, k, LOAD, STORE, ADD, SUB)                                                  \
    {                                                                                              \
        double *at = scores + (j + (k)) * width + c;                                               \
        V y = name##_exponential(SUB(LOAD(at), base));                                             \
        STORE(at, y);                                                                              \
        sums[k] = ADD(sums[k], y);                                                                 \
    }

/* BELOW(a, b, c, d) is a < b ? c : d; LARGER(x, m) is x > m ? x : m. */
#define PANEL(code, name, V, lanes, LOAD, STORE, SET, ADD, SUB, MUL, FMA, BELOW, LARGER)           \
    code static void name##_soften(int64_t keys, int64_t width, double scale, double *scores,      \
                                   const struct tdc_softmax_state *state)                          \
    {                                                                                              \
        for (int64_t c = 0; c < width; c += (lanes)) {                                             \
            V before = LOAD(state->most + c), top = before;                                        \
            V sums[4] = {SET(0.0), SET(0.0), SET(0.0), SET(0.0)};                                  \
            for (int64_t j = 0; j < keys; j++) {                                                   \
                V x = MUL(LOAD(scores + j * width + c), SET(scale));                               \
                STORE(scores + j * width + c, x);                                                  \
                top = LARGER(x, top);                                                              \
            }                                                                                      \
            /* where nothing is seen yet the exponentials are 0, not NaN */                        \
            V base = BELOW(top, SET(-0x1.fffffffffffffp1023), SET(0.0), top);                      \
            STORE(state->most + c, top);                                                           \
            int64_t j = 0;                                                                         \
            for (; j + 4 <= keys; j += 4) {                                                        \
                SUMMED(name, V, 0, LOAD, STORE, ADD, SUB)                                          \
                SUMMED(name, V, 1, LOAD, STORE, ADD, SUB)                                          \
                SUMMED(name, V, 2, LOAD, STORE, ADD, SUB)                                          \
                SUMMED(name, V, 3, LOAD, STORE, ADD, SUB)                                          \
            }                                                                                      \
            if (j < keys)                                                                          \
                SUMMED(name, V, 0, LOAD, STORE, ADD, SUB)                                          \
            if (j + 1 < keys)                                                                      \
                SUMMED(name, V, 1, LOAD, STORE, ADD, SUB)                                          \
            if (j + 2 < keys)                                                                      \
                SUMMED(name, V, 2, LOAD, STORE, ADD, SUB)                                          \
            V factor = name##_exponential(SUB(before, base));                                      \
            V all = ADD(ADD(sums[0], sums[1]), ADD(sums[2], sums[3]));                             \
            STORE(state->factor + c, factor);                                                      \
            STORE(state->sum + c, FMA(LOAD(state->sum + c), factor, all));                         \
        }                                                                                          \
    }                                                                                              \
    code static void name##_weigh(int64_t keys, int64_t width, double scale, double *scores,       \
                                  const struct tdc_softmax_known *known)                           \
    {                                                                                              \
        for (int64_t j = 0; j < keys; j++)                                                         \
            for (int64_t c = 0; c < width; c += (lanes)) {                                         \
                double *at = scores + j * width + c;                                               \
                V x = SUB(MUL(LOAD(at), SET(scale)), LOAD(known->most + c));                       \
                STORE(at, MUL(name##_exponential(x), LOAD(known->inverse + c)));                   \
            }                                                                                      \
    }                                                                                              \
    code static void name##_pull(int64_t keys, int64_t width, const double *weights,               \
                                 double *slopes, const struct tdc_softmax_known *known)            \
    {                                                                                              \
        for (int64_t j = 0; j < keys; j++)                                                         \
            for (int64_t c = 0; c < width; c += (lanes)) {                                         \
                double *at = slopes + j * width + c;                                               \
                V w = LOAD(weights + j * width + c);                                               \
                V y = MUL(w, SUB(LOAD(at), LOAD(known->mean + c)));                                \
                /* weights are not negative: 0 is what is below the least number */                \
                STORE(at, BELOW(w, SET(0x1p-1074), SET(0.0), y));                                  \
            }                                                                                      \
    }

struct panel_functions {
    void (*soften)(int64_t keys, int64_t width, double scale, double *scores,
                   const struct tdc_softmax_state *state);
    void (*weigh)(int64_t keys, int64_t width, double scale, double *scores,
                  const struct tdc_softmax_known *known);
    void (*pull)(int64_t keys, int64_t width, const double *weights, double *slopes,
                 const struct tdc_softmax_known *known);
};

/* ---- plain ----------------------------------------------------------------------------------- */

static inline double power_of(double t)
{
    uint64_t bits;
    double power;
    memcpy(&bits, &t, sizeof bits);
    bits <<= 52;
    memcpy(&power, &bits, sizeof power);
    return power;
}

#define PLAIN_LOAD(p)           (*(p))
#define PLAIN_STORE(p, x)       (*(p) = (x))
#define PLAIN_SET(x)            (x)
#define PLAIN_ADD(a, b)         ((a) + (b))
#define PLAIN_SUB(a, b)         ((a) - (b))
#define PLAIN_MUL(a, b)         ((a) * (b))
#define PLAIN_BELOW(a, b, c, d) ((a) < (b) ? (c) : (d))
#define PLAIN_LARGER(x, m)      ((x) > (m) ? (x) : (m))
EXPONENTIAL(, plain_exponential, double, PLAIN_SET, PLAIN_ADD, PLAIN_SUB, PLAIN_MUL, fma,
            PLAIN_BELOW, power_of)

double tdc_exp_down(double x)
{
    return plain_exponential(x);
}

#if !defined(__aarch64__)
PANEL(, plain, double, 1, PLAIN_LOAD, PLAIN_STORE, PLAIN_SET, PLAIN_ADD, PLAIN_SUB, PLAIN_MUL, fma,
      PLAIN_BELOW, PLAIN_LARGER)
static const struct panel_functions plain = {plain_soften, plain_weigh, plain_pull};
#endif

/* ---- vectors --------------------------------------------------------------------------------- */

#if defined(__x86_64__)
#include <immintrin.h>
#define AVX2                   __attribute__((target("avx2,fma")))
#define AVX2_BELOW(a, b, c, d) _mm256_blendv_pd(d, c, _mm256_cmp_pd(a, b, _CMP_LT_OQ))
#define AVX2_POWER(t)          _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_castpd_si256(t), 52))
EXPONENTIAL(AVX2, avx2_exponential, __m256d, _mm256_set1_pd, _mm256_add_pd, _mm256_sub_pd,
            _mm256_mul_pd, _mm256_fmadd_pd, AVX2_BELOW, AVX2_POWER)
PANEL(AVX2, avx2, __m256d, 4, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_set1_pd, _mm256_add_pd,
      _mm256_sub_pd, _mm256_mul_pd, _mm256_fmadd_pd, AVX2_BELOW, _mm256_max_pd)
static const struct panel_functions avx2 = {avx2_soften, avx2_weigh, avx2_pull};

#define AVX512                   __attribute__((target("avx512f")))
#define AVX512_BELOW(a, b, c, d) _mm512_mask_blend_pd(_mm512_cmp_pd_mask(a, b, _CMP_LT_OQ), d, c)
#define AVX512_POWER(t)          _mm512_castsi512_pd(_mm512_slli_epi64(_mm512_castpd_si512(t), 52))
EXPONENTIAL(AVX512, avx512_exponential, __m512d, _mm512_set1_pd, _mm512_add_pd, _mm512_sub_pd,
            _mm512_mul_pd, _mm512_fmadd_pd, AVX512_BELOW, AVX512_POWER)
PANEL(AVX512, avx512, __m512d, 8, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_set1_pd, _mm512_add_pd,
      _mm512_sub_pd, _mm512_mul_pd, _mm512_fmadd_pd, AVX512_BELOW, _mm512_max_pd)
static const struct panel_functions avx512 = {avx512_soften, avx512_weigh, avx512_pull};

static const struct panel_functions *chosen(void)
{
    switch (tdc_cpu_variant_chosen()) {
    case TDC_CPU_X86_64_V4:
        return &avx512;
    case TDC_CPU_X86_64_V3:
        return &avx2;
    default:
        return &plain;
    }
}
#elif defined(__aarch64__)
#include <arm_neon.h>
#define NEON_BELOW(a, b, c, d) vbslq_f64(vcltq_f64(a, b), c, d)
#define NEON_LARGER(x, m)      vbslq_f64(vcgtq_f64(x, m), x, m)
#define NEON_FMA(a, b, c)      vfmaq_f64(c, a, b)
#define NEON_POWER(t)          vreinterpretq_f64_u64(vshlq_n_u64(vreinterpretq_u64_f64(t), 52))
EXPONENTIAL(, neon_exponential, float64x2_t, vdupq_n_f64, vaddq_f64, vsubq_f64, vmulq_f64, NEON_FMA,
            NEON_BELOW, NEON_POWER)
PANEL(, neon, float64x2_t, 2, vld1q_f64, vst1q_f64, vdupq_n_f64, vaddq_f64, vsubq_f64, vmulq_f64,
      NEON_FMA, NEON_BELOW, NEON_LARGER)
static const struct panel_functions neon = {neon_soften, neon_weigh, neon_pull};

static const struct panel_functions *chosen(void)
{
    return &neon;
}
#else
static const struct panel_functions *chosen(void)
{
    return &plain;
}
#endif

void tdc_soften_panel(int64_t keys, int64_t width, double scale, double *scores,
                      const struct tdc_softmax_state *state)
{
    chosen()->soften(keys, width, scale, scores, state);
}

void tdc_weigh_panel(int64_t keys, int64_t width, double scale, double *scores,
                     const struct tdc_softmax_known *known)
{
    chosen()->weigh(keys, width, scale, scores, known);
}

void tdc_pull_panel(int64_t keys, int64_t width, const double *weights, double *slopes,
                    const struct tdc_softmax_known *known)
{
    chosen()->pull(keys, width, weights, slopes, known);
}
