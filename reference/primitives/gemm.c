#include "reference/primitives/gemm.h"

#include <stdlib.h>
#include <string.h>

#define TILE_ROWS     4
#define TILE_COLUMNS  12
#define DEPTH         256 /* of a packed panel: a tile's panels stay in the first-level cache */
#define PANEL_ROWS    64  /* rows of a packed at once */
#define PANEL_COLS    (TILE_COLUMNS * 64)
#define PARALLEL_FROM ((int64_t)1 << 18) /* multiplications */

/* Element (row, column) of op(x), x stored with `columns` per row of op(x). */
static double at(const double *x, bool transposed, int64_t rows, int64_t columns, int64_t row,
                 int64_t column)
{
    return transposed ? x[column * rows + row] : x[row * columns + column];
}

/* One tile: c[rows, columns] (+)= pa x pb, panels packed depth by depth. */
typedef void tile_function(int64_t depth, const double *pa, const double *pb, double *tile);

static void tile_plain(int64_t depth, const double *pa, const double *pb, double *tile)
{
    double sum[TILE_ROWS * TILE_COLUMNS] = {0};
    for (int64_t p = 0; p < depth; p++, pa += TILE_ROWS, pb += TILE_COLUMNS)
        for (int i = 0; i < TILE_ROWS; i++)
            for (int j = 0; j < TILE_COLUMNS; j++)
                sum[i * TILE_COLUMNS + j] += pa[i] * pb[j];
    memcpy(tile, sum, sizeof sum);
}

#if defined(__x86_64__)
#include <immintrin.h>
__attribute__((target("avx2,fma"))) static void tile_wide(int64_t depth, const double *pa,
                                                          const double *pb, double *tile)
{
    __m256d sum[TILE_ROWS][3];
    for (int i = 0; i < TILE_ROWS; i++)
        for (int j = 0; j < 3; j++)
            sum[i][j] = _mm256_setzero_pd();
    for (int64_t p = 0; p < depth; p++, pa += TILE_ROWS, pb += TILE_COLUMNS) {
        __m256d b0 = _mm256_loadu_pd(pb), b1 = _mm256_loadu_pd(pb + 4),
                b2 = _mm256_loadu_pd(pb + 8);
#pragma GCC unroll 4
        for (int i = 0; i < TILE_ROWS; i++) {
            __m256d a = _mm256_broadcast_sd(pa + i);
            sum[i][0] = _mm256_fmadd_pd(a, b0, sum[i][0]);
            sum[i][1] = _mm256_fmadd_pd(a, b1, sum[i][1]);
            sum[i][2] = _mm256_fmadd_pd(a, b2, sum[i][2]);
        }
    }
    for (int i = 0; i < TILE_ROWS; i++)
        for (int j = 0; j < 3; j++)
            _mm256_storeu_pd(tile + i * TILE_COLUMNS + 4 * j, sum[i][j]);
}
static tile_function *choose_tile(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? tile_wide : tile_plain;
}
#else
static tile_function *choose_tile(void)
{
    return tile_plain;
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

static void pack_a(const struct operands *o, int64_t row, int64_t rows, int64_t start,
                   int64_t depth, double *to)
{
    for (int64_t r = 0; r < rows; r += TILE_ROWS)
        for (int64_t p = 0; p < depth; p++)
            for (int64_t i = 0; i < TILE_ROWS; i++)
                *to++ =
                    r + i < rows ? at(o->a, o->transpose_a, o->m, o->k, row + r + i, start + p) : 0;
}

static void pack_b(const struct operands *o, int64_t column, int64_t columns, int64_t start,
                   int64_t depth, double *to)
{
    for (int64_t c = 0; c < columns; c += TILE_COLUMNS)
        for (int64_t p = 0; p < depth; p++)
            for (int64_t j = 0; j < TILE_COLUMNS; j++)
                *to++ = c + j < columns
                            ? at(o->b, o->transpose_b, o->k, o->n, start + p, column + c + j)
                            : 0;
}

/* Rows [row, row+rows) of c, columns [column, column+columns), one depth block. */
static void panel(const struct operands *o, tile_function *tile_of, const double *pa,
                  const double *pb, int64_t row, int64_t rows, int64_t column, int64_t columns,
                  int64_t depth, bool first)
{
    double tile[TILE_ROWS * TILE_COLUMNS];
    for (int64_t c = 0; c < columns; c += TILE_COLUMNS)
        for (int64_t r = 0; r < rows; r += TILE_ROWS) {
            tile_of(depth, pa + r * depth, pb + c * depth, tile);
            for (int64_t i = 0; i < least(TILE_ROWS, rows - r); i++) {
                double *to = o->c + (row + r + i) * o->n + column + c;
                for (int64_t j = 0; j < least(TILE_COLUMNS, columns - c); j++)
                    to[j] = first ? tile[i * TILE_COLUMNS + j] : to[j] + tile[i * TILE_COLUMNS + j];
            }
        }
}

static void multiply_rows(const struct operands *o, tile_function *tile_of, int64_t from,
                          int64_t to, double *pa, double *pb)
{
    for (int64_t column = 0; column < o->n; column += PANEL_COLS) {
        int64_t columns = least(PANEL_COLS, o->n - column);
        for (int64_t start = 0; start < o->k; start += DEPTH) {
            int64_t depth = least(DEPTH, o->k - start);
            pack_b(o, column, columns, start, depth, pb);
            for (int64_t row = from; row < to; row += PANEL_ROWS) {
                int64_t rows = least(PANEL_ROWS, to - row);
                pack_a(o, row, rows, start, depth, pa);
                panel(o, tile_of, pa, pb, row, rows, column, columns, depth, start == 0);
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
    tile_function *tile_of = choose_tile();
    int64_t bands = work < (double)PARALLEL_FROM ? 1 : (m + PANEL_ROWS - 1) / PANEL_ROWS;
    int64_t band = bands == 1 ? m : PANEL_ROWS;
    if (bands > 8) { /* fewer, larger bands: b is packed once per band */
        bands = 8;
        band = (m / bands + TILE_ROWS) / TILE_ROWS * TILE_ROWS;
    }
#pragma omp parallel for schedule(dynamic) if (bands > 1)
    for (int64_t index = 0; index < bands; index++) {
        int64_t from = least(index * band, m), to = least(from + band, m);
        double *pa = malloc(sizeof *pa * (size_t)((PANEL_ROWS + TILE_ROWS) * DEPTH));
        double *pb = malloc(sizeof *pb * (size_t)((PANEL_COLS + TILE_COLUMNS) * DEPTH));
        if (pa != NULL && pb != NULL) {
            multiply_rows(&o, tile_of, from, to, pa, pb);
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
