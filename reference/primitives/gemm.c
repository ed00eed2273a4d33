#include "reference/primitives/gemm.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROWS     8 /* of a tile */
#define MOST_COLUMNS  24
#define DEPTH         256 /* of a packed panel: a tile's panels stay in the first-level cache */
#define PANEL_ROWS    64  /* rows of a packed at once */
#define PANEL_COLS    768 /* a multiple of every tile's columns */
#define PARALLEL_FROM ((int64_t)1 << 18) /* multiplications */

/* Element (row, column) of op(x), x stored with `columns` per row of op(x). */
static double at(const double *x, bool transposed, int64_t rows, int64_t columns, int64_t row,
                 int64_t column)
{
    return transposed ? x[column * rows + row] : x[row * columns + column];
}

/* A tile of the result is what the registers hold: tile = pa x pb, panels packed depth by depth. */
struct tile {
    int64_t rows, columns;
    void (*run)(int64_t depth, const double *pa, const double *pb, double *tile);
};

static void tile_plain(int64_t depth, const double *pa, const double *pb, double *tile)
{
    double sum[4 * 4] = {0};
    for (int64_t p = 0; p < depth; p++, pa += 4, pb += 4)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                sum[i * 4 + j] += pa[i] * pb[j];
    memcpy(tile, sum, sizeof sum);
}
static const struct tile plain = {4, 4, tile_plain};

#if defined(__x86_64__)
#include <immintrin.h>
/* ROWS x 3 accumulators, three vectors of b and one of a. */
#define WIDE_TILE(name, target_text, vector, width, ROWS, zero, load, store, broadcast, fma)       \
    __attribute__((target(target_text))) static void name(int64_t depth, const double *pa,         \
                                                          const double *pb, double *tile)          \
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
                sum[i][0] = fma(a, b0, sum[i][0]);                                                 \
                sum[i][1] = fma(a, b1, sum[i][1]);                                                 \
                sum[i][2] = fma(a, b2, sum[i][2]);                                                 \
            }                                                                                      \
        }                                                                                          \
        for (int i = 0; i < ROWS; i++)                                                             \
            for (int j = 0; j < 3; j++)                                                            \
                store(tile + (i * 3 + j) * width, sum[i][j]);                                      \
    }
WIDE_TILE(tile_avx2, "avx2,fma", __m256d, 4, 4, _mm256_setzero_pd, _mm256_loadu_pd,
          _mm256_storeu_pd, _mm256_set1_pd, _mm256_fmadd_pd)
WIDE_TILE(tile_avx512, "avx512f", __m512d, 8, 8, _mm512_setzero_pd, _mm512_loadu_pd,
          _mm512_storeu_pd, _mm512_set1_pd, _mm512_fmadd_pd)
static const struct tile avx2 = {4, 12, tile_avx2};
static const struct tile avx512 = {8, 24, tile_avx512};

static const struct tile *choose_tile(void)
{
    if (__builtin_cpu_supports("avx512f"))
        return &avx512;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &avx2 : &plain;
}
#else
static const struct tile *choose_tile(void)
{
    return &plain;
}
#endif

struct operands {
    int64_t m, n, k;
    const double *a, *b;
    bool transpose_a, transpose_b;
    double *c;
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
        for (int64_t i = 0; i < here; i++)
            for (int64_t p = 0; p < depth; p++)
                to[p * width + i] = x[(l + i) * line + p * step];
    }
}

static void pack_a(const struct operands *o, const struct tile *t, int64_t row, int64_t rows,
                   int64_t start, int64_t depth, double *to)
{
    int64_t line = o->transpose_a ? 1 : o->k, step = o->transpose_a ? o->m : 1;
    pack(o->a + row * line + start * step, line, step, rows, depth, t->rows, to);
}

static void pack_b(const struct operands *o, const struct tile *t, int64_t column, int64_t columns,
                   int64_t start, int64_t depth, double *to)
{
    int64_t line = o->transpose_b ? o->k : 1, step = o->transpose_b ? 1 : o->n;
    pack(o->b + column * line + start * step, line, step, columns, depth, t->columns, to);
}

/* Rows [row, row+rows) of c, columns [column, column+columns), one depth block. */
static void panel(const struct operands *o, const struct tile *t, const double *pa,
                  const double *pb, int64_t row, int64_t rows, int64_t column, int64_t columns,
                  int64_t depth, bool first)
{
    double tile[MOST_ROWS * MOST_COLUMNS];
    for (int64_t c = 0; c < columns; c += t->columns)
        for (int64_t r = 0; r < rows; r += t->rows) {
            t->run(depth, pa + r * depth, pb + c * depth, tile);
            for (int64_t i = 0; i < least(t->rows, rows - r); i++) {
                double *to = o->c + (row + r + i) * o->n + column + c;
                for (int64_t j = 0; j < least(t->columns, columns - c); j++)
                    to[j] = first ? tile[i * t->columns + j] : to[j] + tile[i * t->columns + j];
            }
        }
}

static void multiply_rows(const struct operands *o, const struct tile *t, int64_t from, int64_t to,
                          double *pa, double *pb)
{
    for (int64_t column = 0; column < o->n; column += PANEL_COLS) {
        int64_t columns = least(PANEL_COLS, o->n - column);
        for (int64_t start = 0; start < o->k; start += DEPTH) {
            int64_t depth = least(DEPTH, o->k - start);
            pack_b(o, t, column, columns, start, depth, pb);
            for (int64_t row = from; row < to; row += PANEL_ROWS) {
                int64_t rows = least(PANEL_ROWS, to - row);
                pack_a(o, t, row, rows, start, depth, pa);
                panel(o, t, pa, pb, row, rows, column, columns, depth, start == 0);
            }
        }
    }
}

/* Small products, and the way out when there is no memory for panels. */
static void multiply_plainly(const struct operands *o)
{
    for (int64_t i = 0; i < o->m; i++)
        for (int64_t p = 0; p < o->k; p++) {
            double factor = at(o->a, o->transpose_a, o->m, o->k, i, p);
            for (int64_t j = 0; j < o->n; j++)
                o->c[i * o->n + j] += factor * at(o->b, o->transpose_b, o->k, o->n, p, j);
        }
}

void tdc_gemm(int64_t m, int64_t n, int64_t k, const double *a, bool transpose_a, const double *b,
              bool transpose_b, double *c)
{
    struct operands o = {m, n, k, a, b, transpose_a, transpose_b, c};
    memset(c, 0, (size_t)(m * n) * sizeof *c);
    double work = (double)m * (double)n * (double)k;
    if (work < 20000) {
        multiply_plainly(&o);
        return;
    }
    const struct tile *t = choose_tile();
    int64_t bands = work < (double)PARALLEL_FROM ? 1 : (m + PANEL_ROWS - 1) / PANEL_ROWS;
    int64_t band = bands == 1 ? m : PANEL_ROWS;
    int64_t threads = omp_get_max_threads();
    if (bands > threads) { /* b is packed once per band */
        bands = threads;
        band = (m / bands + t->rows) / t->rows * t->rows;
    }
#pragma omp parallel for schedule(dynamic) if (bands > 1)
    for (int64_t index = 0; index < bands; index++) {
        int64_t from = least(index * band, m), to = least(from + band, m);
        double *pa = malloc(sizeof *pa * (size_t)((PANEL_ROWS + MOST_ROWS) * DEPTH));
        double *pb = malloc(sizeof *pb * (size_t)((PANEL_COLS + MOST_COLUMNS) * DEPTH));
        if (pa != NULL && pb != NULL) {
            multiply_rows(&o, t, from, to, pa, pb);
        } else if (from < to) {
            struct operands rows = o;
            rows.m = to - from;
            if (!transpose_a) {
                rows.a += from * k;
                rows.c += from * n;
                multiply_plainly(&rows);
            } else {
                for (int64_t i = from; i < to; i++)
                    for (int64_t p = 0; p < k; p++)
                        for (int64_t j = 0; j < n; j++)
                            c[i * n + j] += a[p * m + i] * at(b, transpose_b, k, n, p, j);
            }
        }
        free(pa);
        free(pb);
    }
}
