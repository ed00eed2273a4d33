#include "bench/yardsticks/fma_peak.h"

#include <omp.h>

#include "kernels/pair.h"

/* As many chains as hide the latency of the instruction, and no more than there are registers. */
typedef double chains(long rounds);

#define LOOP(vector, count, zero, fma, first)                                                      \
    vector sum[count], a = zero(1.0 + 1e-9), b = zero(1e-9);                                       \
    for (int i = 0; i < count; i++)                                                                \
        sum[i] = zero(1e-9 * i);                                                                   \
    for (long round = 0; round < rounds; round++)                                                  \
        _Pragma("GCC unroll 24") for (int i = 0; i < count; i++) sum[i] = fma(sum[i], a, b);       \
    double total = 0;                                                                              \
    for (int i = 0; i < count; i++)                                                                \
        total += first(sum[i]);                                                                    \
    return total;

#if !defined(__aarch64__)
#define AS_IS(x)           (x)
#define PLAIN_FMA(x, a, b) ((x) * (a) + (b))
static double plain(long rounds)
{
    LOOP(double, 12, AS_IS, PLAIN_FMA, AS_IS)
}
#endif

struct variant {
    const char *name;
    chains *run;
    int lanes, chains; /* doubles of a vector, vectors */
};

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx2,fma"))) static double avx2(long rounds)
{
    LOOP(__m256d, 12, _mm256_set1_pd, _mm256_fmadd_pd, _mm256_cvtsd_f64)
}

__attribute__((target("avx512f"))) static double avx512(long rounds)
{
    LOOP(__m512d, 24, _mm512_set1_pd, _mm512_fmadd_pd, _mm512_cvtsd_f64)
}

static struct variant best(void)
{
    switch (tdc_cpu_variant_chosen()) {
    case TDC_CPU_X86_64_V4:
        return (struct variant){"avx512", avx512, 8, 24};
    case TDC_CPU_X86_64_V3:
        return (struct variant){"avx2", avx2, 4, 12};
    default:
        return (struct variant){"plain", plain, 1, 12};
    }
}
#elif defined(__aarch64__)
#include <arm_neon.h>

#define NEON_FMA(x, a, b) vfmaq_f64(b, x, a)
#define NEON_FIRST(x)     vgetq_lane_f64(x, 0)
static double neon(long rounds)
{
    LOOP(float64x2_t, 24, vdupq_n_f64, NEON_FMA, NEON_FIRST)
}

static struct variant best(void)
{
    return (struct variant){"neon", neon, 2, 24};
}
#else
static struct variant best(void)
{
    return (struct variant){"plain", plain, 1, 12};
}
#endif

const char *tdc_fma_variant(void)
{
    return best().name;
}

/* Read by nobody, so that the sums must be computed. */
static volatile double sink;

double tdc_fma_run(int threads, long rounds)
{
    struct variant v = best();
    double total = 0;
#pragma omp parallel num_threads(threads) reduction(+ : total)
    total += v.run(rounds);
    sink = total;
    return 2.0 * v.lanes * v.chains * (double)rounds * threads;
}
