#include "reference/primitives/matrix/gemm.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "reference/primitives/matrix/panels.h"

#define DEPTH         TDC_CHAIN
#define PANEL_ROWS    64                 /* rows of a packed at once */
#define PANEL_COLS    768                /* a multiple of every tile's columns */
#define PARALLEL_FROM ((int64_t)1 << 18) /* multiplications */

const char *tdc_gemm_variant(void)
{
    return tdc_tile_chosen()->name;
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

/* b's panel is packed by all threads together, then each takes bands of rows. */
static void multiply_together(const struct operands *o, const struct tdc_tile *t, double *pb,
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
                    tdc_pack_right(t, o->b, column + c, least(t->columns, columns - c), start,
                                   depth, pb + c * depth);
#pragma omp for schedule(dynamic)
                for (int64_t index = 0; index < bands; index++) {
                    int64_t row = index * band, rows = least(band, o->m - row);
                    tdc_pack_left(t, o->a, row, rows, start, depth, pa);
                    tdc_multiply_panels(t, rows, columns, depth, pa, pb,
                                        o->c + row * o->line + column, o->line,
                                        o->add || start > 0);
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
    const struct tdc_tile *t = tdc_tile_chosen();
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
