#include "reference/primitives/matrix/panels.h"

#include <math.h>
#include <string.h>

#include "kernels/pair.h"

#define MOST_ROWS 8 /* of a tile */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- tiles ----------------------------------------------------------------------------------- */

/* The whole tile stays in registers once its loops are unrolled: `rows` and `vectors` are known
 * where this is put in. */
#define TILE_BODY(name, code, vector, width, zero, load, store, broadcast, plus, madd)             \
    code static inline __attribute__((always_inline)) void name(                                   \
        const int rows, const int vectors, int64_t depth, const double *left, const double *right, \
        double *c, int64_t line, bool add)                                                         \
    {                                                                                              \
        vector sum[MOST_ROWS][3], b[3];                                                            \
        _Pragma("GCC unroll 8") for (int i = 0; i < rows; i++)                                     \
            _Pragma("GCC unroll 3") for (int j = 0; j < vectors; j++) sum[i][j] = zero();          \
        for (int64_t p = 0; p < depth; p++, left += rows, right += vectors * (width)) {            \
            _Pragma("GCC unroll 3") for (int j = 0; j < vectors; j++) b[j] =                       \
                load(right + j * (width));                                                         \
            _Pragma("GCC unroll 8") for (int i = 0; i < rows; i++)                                 \
            {                                                                                      \
                vector a = broadcast(left[i]);                                                     \
                _Pragma("GCC unroll 3") for (int j = 0; j < vectors; j++) sum[i][j] =              \
                    madd(a, b[j], sum[i][j]);                                                      \
            }                                                                                      \
        }                                                                                          \
        _Pragma("GCC unroll 8") for (int i = 0; i < rows; i++, c += line)                          \
            _Pragma("GCC unroll 3") for (int j = 0; j < vectors; j++)                              \
                store(c + j * (width), add ? plus(load(c + j * (width)), sum[i][j]) : sum[i][j]);  \
    }

#define TILE_CASE(body, r, v)                                                                      \
    case (r)*4 + (v):                                                                              \
        body(r, v, depth, left, right, c, line, add);                                              \
        break;
#define TILE_ROWS(body, r) TILE_CASE(body, r, 1) TILE_CASE(body, r, 2) TILE_CASE(body, r, 3)
#define TILE_4(body)       TILE_ROWS(body, 1) TILE_ROWS(body, 2) TILE_ROWS(body, 3) TILE_ROWS(body, 4)
#define TILE_8(body)                                                                               \
    TILE_4(body) TILE_ROWS(body, 5) TILE_ROWS(body, 6) TILE_ROWS(body, 7) TILE_ROWS(body, 8)
#define TILE(name, code, CASES, body)                                                              \
    code static void name(int rows, int vectors, int64_t depth, const double *left,                \
                          const double *right, double *c, int64_t line, bool add)                  \
    {                                                                                              \
        switch (rows * 4 + vectors) {                                                              \
            CASES(body)                                                                            \
        default:                                                                                   \
            break;                                                                                 \
        }                                                                                          \
    }

/* Lines [0, lines), element p of line l being x[l * line + p], to columns of `width`. */
static void transpose_plain(const double *x, int64_t line, int64_t lines, int64_t depth,
                            int64_t width, double *to)
{
    /* in squares, so that neither side leaves its cache lines half used */
    for (int64_t start = 0; start < depth; start += 8)
        for (int64_t i = 0; i < lines; i++)
            for (int64_t p = start; p < least(start + 8, depth); p++)
                to[p * width + i] = x[i * line + p];
}

#if !defined(__aarch64__)
/* fma(), though a CPU without the instruction needs a slow function for it: every machine is to get
 * the same bits. */
#define PLAIN_ZERO()      0.0
#define PLAIN_LOAD(p)     (*(p))
#define PLAIN_STORE(p, x) (*(p) = (x))
#define PLAIN_SAME(x)     (x)
#define PLAIN_PLUS(x, y)  ((x) + (y))
TILE_BODY(body_plain, , double, 1, PLAIN_ZERO, PLAIN_LOAD, PLAIN_STORE, PLAIN_SAME, PLAIN_PLUS, fma)
TILE(run_plain, , TILE_4, body_plain)
static const struct tdc_tile plain = {"plain", 4, 3, 1, run_plain, transpose_plain};
#define PLAIN_APART(a, b, c) ((a) * (b) + (c))
TILE_BODY(apart_plain, , double, 1, PLAIN_ZERO, PLAIN_LOAD, PLAIN_STORE, PLAIN_SAME, PLAIN_PLUS,
          PLAIN_APART)
TILE(run_plain_apart, , TILE_4, apart_plain)
static const struct tdc_tile plain_apart = {"plain", 4, 3, 1, run_plain_apart, transpose_plain};
#endif

#if defined(__x86_64__)
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2,fma")))
TILE_BODY(body_avx2, AVX2, __m256d, 4, _mm256_setzero_pd, _mm256_loadu_pd, _mm256_storeu_pd,
          _mm256_set1_pd, _mm256_add_pd, _mm256_fmadd_pd)
TILE(run_avx2, AVX2, TILE_4, body_avx2)
#define AVX512 __attribute__((target("avx512f")))
TILE_BODY(body_avx512, AVX512, __m512d, 8, _mm512_setzero_pd, _mm512_loadu_pd, _mm512_storeu_pd,
          _mm512_set1_pd, _mm512_add_pd, _mm512_fmadd_pd)
TILE(run_avx512, AVX512, TILE_8, body_avx512)
#define AVX2_APART(a, b, c) _mm256_add_pd(_mm256_mul_pd(a, b), c)
TILE_BODY(apart_avx2, AVX2, __m256d, 4, _mm256_setzero_pd, _mm256_loadu_pd, _mm256_storeu_pd,
          _mm256_set1_pd, _mm256_add_pd, AVX2_APART)
TILE(run_avx2_apart, AVX2, TILE_4, apart_avx2)
#define AVX512_APART(a, b, c) _mm512_add_pd(_mm512_mul_pd(a, b), c)
TILE_BODY(apart_avx512, AVX512, __m512d, 8, _mm512_setzero_pd, _mm512_loadu_pd, _mm512_storeu_pd,
          _mm512_set1_pd, _mm512_add_pd, AVX512_APART)
TILE(run_avx512_apart, AVX512, TILE_8, apart_avx512)

AVX2 static void transpose_avx2(const double *x, int64_t line, int64_t lines, int64_t depth,
                                int64_t width, double *to)
{
    int64_t i = 0, whole = depth & ~(int64_t)3;
    for (; i + 4 <= lines; i += 4) {
        const double *from = x + i * line;
        for (int64_t p = 0; p < whole; p += 4) {
            __m256d r0 = _mm256_loadu_pd(from + p), r1 = _mm256_loadu_pd(from + line + p);
            __m256d r2 = _mm256_loadu_pd(from + 2 * line + p);
            __m256d r3 = _mm256_loadu_pd(from + 3 * line + p);
            __m256d low = _mm256_unpacklo_pd(r0, r1), high = _mm256_unpackhi_pd(r0, r1);
            __m256d low2 = _mm256_unpacklo_pd(r2, r3), high2 = _mm256_unpackhi_pd(r2, r3);
            double *at = to + p * width + i;
            _mm256_storeu_pd(at, _mm256_permute2f128_pd(low, low2, 0x20));
            _mm256_storeu_pd(at + width, _mm256_permute2f128_pd(high, high2, 0x20));
            _mm256_storeu_pd(at + 2 * width, _mm256_permute2f128_pd(low, low2, 0x31));
            _mm256_storeu_pd(at + 3 * width, _mm256_permute2f128_pd(high, high2, 0x31));
        }
        transpose_plain(from + whole, line, 4, depth - whole, width, to + whole * width + i);
    }
    transpose_plain(x + i * line, line, lines - i, depth, width, to + i);
}

static const struct tdc_tile avx2 = {"avx2", 4, 12, 4, run_avx2, transpose_avx2};
static const struct tdc_tile avx512 = {"avx512", 8, 24, 8, run_avx512, transpose_avx2};
static const struct tdc_tile avx2_apart = {"avx2", 4, 12, 4, run_avx2_apart, transpose_avx2};
static const struct tdc_tile avx512_apart = {"avx512", 8, 24, 8, run_avx512_apart, transpose_avx2};

static const struct tdc_tile *chosen(bool fused)
{
    switch (tdc_cpu_variant_chosen()) {
    case TDC_CPU_X86_64_V4:
        return fused ? &avx512 : &avx512_apart;
    case TDC_CPU_X86_64_V3:
        return fused ? &avx2 : &avx2_apart;
    default:
        return fused ? &plain : &plain_apart;
    }
}
#elif defined(__aarch64__)
#include <arm_neon.h>
#define NEON_ZERO()         vdupq_n_f64(0)
#define NEON_FMA(a, b, c)   vfmaq_f64(c, a, b)
TILE_BODY(body_neon, , float64x2_t, 2, NEON_ZERO, vld1q_f64, vst1q_f64, vdupq_n_f64, vaddq_f64,
          NEON_FMA)
TILE(run_neon, , TILE_8, body_neon)
static const struct tdc_tile neon = {"neon", 8, 6, 2, run_neon, transpose_plain};
#define NEON_APART(a, b, c) vaddq_f64(vmulq_f64(a, b), c)
TILE_BODY(apart_neon, , float64x2_t, 2, NEON_ZERO, vld1q_f64, vst1q_f64, vdupq_n_f64, vaddq_f64,
          NEON_APART)
TILE(run_neon_apart, , TILE_8, apart_neon)
static const struct tdc_tile neon_apart = {"neon", 8, 6, 2, run_neon_apart, transpose_plain};

static const struct tdc_tile *chosen(bool fused)
{
    return fused ? &neon : &neon_apart;
}
#else
static const struct tdc_tile *chosen(bool fused)
{
    return fused ? &plain : &plain_apart;
}
#endif

const struct tdc_tile *tdc_tile_chosen(void)
{
    return chosen(true);
}

const struct tdc_tile *tdc_tile_apart(void)
{
    return chosen(false);
}

/* ---- packing --------------------------------------------------------------------------------- */

int64_t tdc_strip_columns(const struct tdc_tile *t, int64_t columns)
{
    return (columns + t->lanes - 1) / t->lanes * t->lanes;
}

static int64_t band_count(const struct tdc_tile *t, int64_t rows)
{
    return (rows + t->rows - 1) / t->rows;
}

int64_t tdc_band_start(const struct tdc_tile *t, int64_t rows, int64_t i)
{
    return rows * i / band_count(t, rows);
}

/* One panel: line l of depth p is x[l * line + p * step]; columns from `lines` on are 0. */
static void pack(const struct tdc_tile *t, const double *x, int64_t line, int64_t step,
                 int64_t lines, int64_t depth, int64_t width, double *to)
{
    if (lines < width)
        memset(to, 0, (size_t)(width * depth) * sizeof *to);
    if (line == 1)
        for (int64_t p = 0; p < depth; p++)
            memcpy(to + p * width, x + p * step, (size_t)lines * sizeof *to);
    else if (step == 1)
        t->transpose(x, line, lines, depth, width, to);
    else
        for (int64_t p = 0; p < depth; p++)
            for (int64_t i = 0; i < lines; i++)
                to[p * width + i] = x[i * line + p * step];
}

void tdc_pack_left(const struct tdc_tile *t, struct tdc_matrix a, int64_t row, int64_t rows,
                   int64_t start, int64_t depth, double *to)
{
    int64_t line = a.transposed ? 1 : a.line, step = a.transposed ? a.line : 1;
    const double *x = a.x + row * line + start * step;
    for (int64_t i = 0; i < band_count(t, rows); i++) {
        int64_t from = tdc_band_start(t, rows, i), tall = tdc_band_start(t, rows, i + 1) - from;
        pack(t, x + from * line, line, step, tall, depth, tall, to + from * depth);
    }
}

void tdc_pack_right(const struct tdc_tile *t, struct tdc_matrix b, int64_t column, int64_t columns,
                    int64_t start, int64_t depth, double *to)
{
    int64_t line = b.transposed ? b.line : 1, step = b.transposed ? 1 : b.line;
    const double *x = b.x + column * line + start * step;
    for (int64_t from = 0; from < columns; from += t->columns) {
        int64_t here = least(t->columns, columns - from);
        pack(t, x + from * line, line, step, here, depth, tdc_strip_columns(t, here),
             to + from * depth);
    }
}

/* ---- products -------------------------------------------------------------------------------- */

/* A tile whose last vector reaches behind the columns of c. */
static void run_at_edge(const struct tdc_tile *t, int64_t rows, int64_t columns, int64_t depth,
                        const double *left, const double *right, double *c, int64_t line, bool add)
{
    double tile[MOST_ROWS * TDC_TILE_COLUMNS] __attribute__((aligned(64)));
    int64_t wide = tdc_strip_columns(t, columns);
    t->run((int)rows, (int)(wide / t->lanes), depth, left, right, tile, wide, false);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            c[i * line + j] = add ? c[i * line + j] + tile[i * wide + j] : tile[i * wide + j];
}

void tdc_multiply_panels(const struct tdc_tile *t, int64_t rows, int64_t columns, int64_t depth,
                         const double *left, const double *right, double *c, int64_t line, bool add)
{
    int64_t bands = band_count(t, rows);
    for (int64_t column = 0; column < columns; column += t->columns) {
        int64_t here = least(t->columns, columns - column);
        bool whole = here % t->lanes == 0;
        for (int64_t i = 0; i < bands; i++) {
            int64_t row = tdc_band_start(t, rows, i), tall = tdc_band_start(t, rows, i + 1) - row;
            double *to = c + row * line + column;
            if (whole)
                t->run((int)tall, (int)(here / t->lanes), depth, left + row * depth,
                       right + column * depth, to, line, add);
            else
                run_at_edge(t, tall, here, depth, left + row * depth, right + column * depth, to,
                            line, add);
        }
    }
}
