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
#define TINY          20000              /* multiplications below which none is fused */
#define LEFT_ROOM     ((int64_t)8 * 1024)

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

/* The way out when there is no memory for panels: line by line, each depth block summed on its own,
 * slow, with the bits of the tiles. */
static void multiply_without_panels(const struct operands *o)
{
    int64_t row = o->a.transposed ? 1 : o->a.line, depth_a = o->a.transposed ? o->a.line : 1;
    int64_t depth_b = o->b.transposed ? 1 : o->b.line, column = o->b.transposed ? o->b.line : 1;
    for (int64_t i = 0; i < o->m; i++)
        for (int64_t j = 0; j < o->n; j++)
            for (int64_t start = 0; start < o->k; start += DEPTH) {
                double sum = 0, *to = o->c + i * o->line + j;
                for (int64_t p = start; p < least(start + DEPTH, o->k); p++)
                    sum = fma(o->a.x[i * row + p * depth_a], o->b.x[p * depth_b + j * column], sum);
                *to = o->add || start > 0 ? *to + sum : sum;
            }
}

/* By one thread, without asking for memory. The smallest products are not fused. */
static void multiply_here(const struct operands *o)
{
    double left[LEFT_ROOM] __attribute__((aligned(64)));
    double right[TDC_TILE_COLUMNS * DEPTH] __attribute__((aligned(64)));
    bool tiny = (double)o->m * (double)o->n * (double)o->k < TINY;
    const struct tdc_tile *t = tiny ? tdc_tile_apart() : tdc_tile_chosen();
    for (int64_t start = 0; start < o->k; start += DEPTH) {
        int64_t depth = least(DEPTH, o->k - start), band = LEFT_ROOM / depth, rows;
        for (int64_t row = 0; row < o->m; row += rows) {
            rows = least(band, o->m - row);
            tdc_pack_left(t, o->a, row, rows, start, depth, left);
            for (int64_t column = 0; column < o->n; column += t->columns) {
                int64_t columns = least(t->columns, o->n - column);
                tdc_pack_right(t, o->b, column, columns, start, depth, right);
                tdc_multiply_panels(t, rows, columns, depth, left, right,
                                    o->c + row * o->line + column, o->line, o->add || start > 0);
            }
        }
    }
}

static void clear(const struct operands *o)
{
    for (int64_t i = 0; i < o->m && !o->add; i++)
        memset(o->c + i * o->line, 0, (size_t)o->n * sizeof *o->c);
}

static void multiply(const struct operands *o, bool alone)
{
    double work = (double)o->m * (double)o->n * (double)o->k;
    if (work < (double)PARALLEL_FROM) {
        if (o->k == 0)
            clear(o);
        multiply_here(o);
        return;
    }
    const struct tdc_tile *t = tdc_tile_chosen();
    int threads = !alone && !omp_in_parallel() ? omp_get_max_threads() : 1;
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

struct batch {
    int64_t m, n, k;
    const double *a, *b;
    double *c;
    bool transposed_a, transposed_b;
};

static void multiply_one(const struct batch *p, int64_t i, bool alone)
{
    struct operands o = {p->m,
                         p->n,
                         p->k,
                         {p->a + i * p->m * p->k, p->transposed_a ? p->m : p->k, p->transposed_a},
                         {p->b + i * p->k * p->n, p->transposed_b ? p->k : p->n, p->transposed_b},
                         p->c + i * p->m * p->n,
                         p->n,
                         false};
    multiply(&o, alone);
}

void tdc_gemm_batch(int64_t count, int64_t m, int64_t n, int64_t k, const double *a,
                    bool transposed_a, const double *b, bool transposed_b, double *c)
{
    if (m < 1 || n < 1)
        return;
    double work = (double)m * (double)n * (double)k;
    bool spread = count >= 4 * omp_get_max_threads() || work < (double)PARALLEL_FROM;
    struct batch batch = {m, n, k, a, b, c, transposed_a, transposed_b};
    if (!spread || work * (double)count < (double)PARALLEL_FROM) {
        for (int64_t i = 0; i < count; i++)
            multiply_one(&batch, i, spread);
        return;
    }
#pragma omp parallel for schedule(dynamic)
    for (int64_t i = 0; i < count; i++)
        multiply_one(&batch, i, true);
}
