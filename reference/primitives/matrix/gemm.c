#include "reference/primitives/matrix/gemm.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/pair.h"

#define MOST_ROWS     8 /* of a tile */
#define MOST_COLUMNS  24
#define DEPTH         256 /* of a packed panel: a tile's panels stay in the first-level cache */
#define PANEL_ROWS    64  /* rows of a packed at once */
#define PANEL_COLS    768 /* a multiple of every tile's columns */
#define PARALLEL_FROM ((int64_t)1 << 18) /* multiplications */

/* A tile of the result is what the registers hold: tile = pa x pb, panels packed depth by depth. */
struct tile {
    const char *name;
    int64_t rows, columns;
    void (*run)(int64_t depth, const double *pa, const double *pb, double *tile);
};

#if !defined(__aarch64__)
/* fma(), though a CPU without the instruction needs a slow function for it: every machine is to get
 * the same bits. */
static void tile_plain(int64_t depth, const double *pa, const double *pb, double *tile)
{
    double sum[4 * 4] = {0};
    for (int64_t p = 0; p < depth; p++, pa += 4, pb += 4)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                sum[i * 4 + j] = fma(pa[i], pb[j], sum[i * 4 + j]);
    memcpy(tile, sum, sizeof sum);
}
static const struct tile plain = {"plain", 4, 4, tile_plain};
#endif

/* ROWS x 3 accumulators, three vectors of b and one of a. */
#define WIDE_TILE(name, code, vector, width, ROWS, zero, load, store, broadcast, madd)             \
    code static void name(int64_t depth, const double *pa, const double *pb, double *tile)         \
    {                                                                                              \
        vector sum[ROWS][3];                                                                       \
        for (int i = 0; i < ROWS; i++)                                                             \
            for (int j = 0; j < 3; j++)                                                            \
                sum[i][j] = zero();                                                                \
        for (int64_t p = 0; p < depth; p++, pa += ROWS, pb += 3 * width) {                         \
            vector b0 = load(pb), b1 = load(pb + width), b2 = load(pb + 2 * width);                \
            _Pragma("GCC unroll 8") for (int i = 0; i < ROWS; i++)                                 \
            {                                                                                      \
                vector a = broadcast(pa[i]);                                                       \
                sum[i][0] = madd(a, b0, sum[i][0]);                                                \
                sum[i][1] = madd(a, b1, sum[i][1]);                                                \
                sum[i][2] = madd(a, b2, sum[i][2]);                                                \
            }                                                                                      \
        }                                                                                          \
        for (int i = 0; i < ROWS; i++)                                                             \
            for (int j = 0; j < 3; j++)                                                            \
                store(tile + (i * 3 + j) * width, sum[i][j]);                                      \
    }

#if defined(__x86_64__)
#include <immintrin.h>
WIDE_TILE(tile_avx2, __attribute__((target("avx2,fma"))), __m256d, 4, 4, _mm256_setzero_pd,
          _mm256_loadu_pd, _mm256_storeu_pd, _mm256_set1_pd, _mm256_fmadd_pd)
WIDE_TILE(tile_avx512, __attribute__((target("avx512f"))), __m512d, 8, 8, _mm512_setzero_pd,
          _mm512_loadu_pd, _mm512_storeu_pd, _mm512_set1_pd, _mm512_fmadd_pd)
static const struct tile avx2 = {"avx2", 4, 12, tile_avx2};
static const struct tile avx512 = {"avx512", 8, 24, tile_avx512};

static const struct tile *choose_tile(void)
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
#define NEON_ZERO()       vdupq_n_f64(0)
#define NEON_FMA(a, b, c) vfmaq_f64(c, a, b)
WIDE_TILE(tile_neon, , float64x2_t, 2, 8, NEON_ZERO, vld1q_f64, vst1q_f64, vdupq_n_f64, NEON_FMA)
static const struct tile neon = {"neon", 8, 6, tile_neon};

static const struct tile *choose_tile(void)
{
    return &neon;
}
#else
static const struct tile *choose_tile(void)
{
    return &plain;
}
#endif

const char *tdc_gemm_variant(void)
{
    return choose_tile()->name;
}

struct operands {
    int64_t m, n, k;
    struct tdc_matrix a, b;
    double *c;
    int64_t line;
    bool add;
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Panels of `width` lines each: line l of depth p is x[l * line + p * step]; missing lines are 0.
 */
static void pack(const double *x, int64_t line, int64_t step, int64_t lines, int64_t depth,
                 int64_t width, double *to)
{
    for (int64_t l = 0; l < lines; l += width, to += width * depth) {
        int64_t here = least(width, lines - l);
        if (here < width)
            memset(to, 0, (size_t)(width * depth) * sizeof *to);
        if (line == 1) {
            for (int64_t p = 0; p < depth; p++)
                memcpy(to + p * width, x + l + p * step, (size_t)here * sizeof *to);
            continue;
        }
        /* in squares, so that neither side leaves its cache lines half used */
        for (int64_t start = 0; start < depth; start += 8)
            for (int64_t i = 0; i < here; i++)
                for (int64_t p = start; p < least(start + 8, depth); p++)
                    to[p * width + i] = x[(l + i) * line + p * step];
    }
}

static void pack_a(const struct operands *o, const struct tile *t, int64_t row, int64_t rows,
                   int64_t start, int64_t depth, double *to)
{
    int64_t line = o->a.transposed ? 1 : o->a.line, step = o->a.transposed ? o->a.line : 1;
    pack(o->a.x + row * line + start * step, line, step, rows, depth, t->rows, to);
}

static void pack_b(const struct operands *o, const struct tile *t, int64_t column, int64_t columns,
                   int64_t start, int64_t depth, double *to)
{
    int64_t line = o->b.transposed ? o->b.line : 1, step = o->b.transposed ? 1 : o->b.line;
    pack(o->b.x + column * line + start * step, line, step, columns, depth, t->columns, to);
}

/* A piece of c and the packed panels it is the product of. */
struct block {
    const double *pa, *pb;
    int64_t row, rows, column, columns, depth;
    bool add;
};

static void multiply_block(const struct operands *o, const struct tile *t, const struct block *b)
{
    double tile[MOST_ROWS * MOST_COLUMNS] __attribute__((aligned(64)));
    for (int64_t c = 0; c < b->columns; c += t->columns)
        for (int64_t r = 0; r < b->rows; r += t->rows) {
            t->run(b->depth, b->pa + r * b->depth, b->pb + c * b->depth, tile);
            int64_t width = least(t->columns, b->columns - c);
            for (int64_t i = 0; i < least(t->rows, b->rows - r); i++) {
                double *to = o->c + (b->row + r + i) * o->line + b->column + c;
                const double *from = tile + i * t->columns;
                if (b->add)
                    for (int64_t j = 0; j < width; j++)
                        to[j] += from[j];
                else
                    memcpy(to, from, (size_t)width * sizeof *to);
            }
        }
}

/* b's panel is packed by all threads together, then each takes bands of rows. */
static void multiply_together(const struct operands *o, const struct tile *t, double *pb,
                              double *panels, int64_t panel_size, int64_t band, int threads)
{
    int64_t bands = (o->m + band - 1) / band;
#pragma omp parallel num_threads(threads)
    {
        double *pa = panels + omp_get_thread_num() * panel_size;
        for (int64_t column = 0; column < o->n; column += PANEL_COLS) {
            int64_t columns = least(PANEL_COLS, o->n - column);
            for (int64_t start = 0; start < o->k; start += DEPTH) {
                int64_t depth = least(DEPTH, o->k - start);
#pragma omp for schedule(static)
                for (int64_t c = 0; c < columns; c += t->columns)
                    pack_b(o, t, column + c, least(t->columns, columns - c), start, depth,
                           pb + c * depth);
#pragma omp for schedule(dynamic)
                for (int64_t index = 0; index < bands; index++) {
                    struct block b = {pa,     pb,      index * band, 0,
                                      column, columns, depth,        o->add || start > 0};
                    b.rows = least(band, o->m - b.row);
                    pack_a(o, t, b.row, b.rows, start, depth, pa);
                    multiply_block(o, t, &b);
                }
            }
        }
    }
}

/* Line by line, each depth block summed on its own as in the tiles. `fused` is known where this is
 * put in; the two functions are kept whole, as gcc's loops are a third slower inside multiply(). */
static inline __attribute__((always_inline)) void multiply_lines(const struct operands *o,
                                                                 bool fused)
{
    int64_t row = o->a.transposed ? 1 : o->a.line, depth_a = o->a.transposed ? o->a.line : 1;
    int64_t depth_b = o->b.transposed ? 1 : o->b.line, column = o->b.transposed ? o->b.line : 1;
    double sum[128];
    for (int64_t i = 0; i < o->m; i++)
        for (int64_t first = 0; first < o->n; first += 128) {
            int64_t width = least(128, o->n - first);
            double *to = o->c + i * o->line + first;
            for (int64_t start = 0; start < o->k || start == 0; start += DEPTH) {
                memset(sum, 0, sizeof sum);
                for (int64_t p = start; p < least(start + DEPTH, o->k); p++) {
                    double factor = o->a.x[i * row + p * depth_a];
                    const double *from = o->b.x + p * depth_b + first * column;
                    for (int64_t j = 0; j < width; j++)
                        sum[j] = fused ? fma(factor, from[j * column], sum[j])
                                       : sum[j] + factor * from[j * column];
                }
                for (int64_t j = 0; j < width; j++)
                    to[j] = o->add || start > 0 ? to[j] + sum[j] : sum[j];
            }
        }
}

static __attribute__((noinline)) void multiply_plainly(const struct operands *o)
{
    multiply_lines(o, false);
}

/* The way out when there is no memory for panels: slow, with the bits of the tiles. */
static __attribute__((noinline)) void multiply_without_panels(const struct operands *o)
{
    multiply_lines(o, true);
}

static bool is_small(int64_t m, int64_t n, int64_t k)
{
    return (double)m * (double)n * (double)k < 20000;
}

static void multiply(const struct operands *o, bool alone)
{
    if (is_small(o->m, o->n, o->k)) {
        multiply_plainly(o);
        return;
    }
    const struct tile *t = choose_tile();
    bool parallel = !alone && (double)o->m * (double)o->n * (double)o->k >= (double)PARALLEL_FROM;
    int threads = parallel && !omp_in_parallel() ? omp_get_max_threads() : 1;
    /* a few bands per thread, so that a thread that was held up does not hold up all */
    int64_t band = (o->m / (3 * threads) + t->rows) / t->rows * t->rows;
    band = threads == 1 || band > PANEL_ROWS ? PANEL_ROWS : band;
    int64_t columns = least(PANEL_COLS, o->n) + t->columns, depth = least(DEPTH, o->k);
    int64_t panel_size = (band + t->rows) * depth;
    double *pb = aligned_alloc(64, (size_t)(columns * depth * 8 + 63) & ~(size_t)63);
    double *panels = aligned_alloc(64, (size_t)(panel_size * threads * 8 + 63) & ~(size_t)63);
    if (pb == NULL || panels == NULL)
        multiply_without_panels(o);
    else
        multiply_together(o, t, pb, panels, panel_size, band, threads);
    free(pb);
    free(panels);
}

void tdc_gemm(int64_t m, int64_t n, int64_t k, struct tdc_matrix a, struct tdc_matrix b, double *c,
              int64_t line, bool add)
{
    if (m > 0 && n > 0)
        multiply(&(struct operands){m, n, k, a, b, c, line, add}, false);
}

void tdc_gemm_batch(int64_t count, int64_t m, int64_t n, int64_t k, const double *a,
                    bool transposed_a, const double *b, bool transposed_b, double *c)
{
    if (m < 1 || n < 1)
        return;
    double work = (double)m * (double)n * (double)k;
    bool spread = count >= 4 * omp_get_max_threads() || work < (double)PARALLEL_FROM;
#pragma omp parallel for schedule(dynamic) if (spread && work * (double)count >= PARALLEL_FROM)
    for (int64_t i = 0; i < count; i++) {
        struct operands o = {m,
                             n,
                             k,
                             {a + i * m * k, transposed_a ? m : k, transposed_a},
                             {b + i * k * n, transposed_b ? k : n, transposed_b},
                             c + i * m * n,
                             n,
                             false};
        multiply(&o, spread);
    }
}
