/*
 * panels.h - operands of matrix products packed in the order in which registers want them, and the
 * product of two that are.
 *
 * A left operand is packed in bands of lines, a right one in strips of columns, depth by depth. A
 * product is made tile by tile: what the registers hold at once. Each element of a product is one
 * chain of fused multiply-adds over the depth, first to last, begun with 0: the same bits whatever
 * the tile, the machine and the place of the element.
 */
#ifndef TDC_REFERENCE_PANELS_H
#define TDC_REFERENCE_PANELS_H

#include <stdbool.h>
#include <stdint.h>

/* Longest chain of a product: longer ones are sums of several, so that errors do not grow with
 * every term; panels of this depth stay in the caches. */
#define TDC_CHAIN 256

/* op(x) of a matrix in memory: element (i, j) is x[i * line + j], or x[j * line + i] when
 * transposed. */
struct tdc_matrix {
    const double *x;
    int64_t line;
    bool transposed;
};

/* The tile of an instruction set: at most `rows` x `columns`, columns by vectors of `lanes`. */
struct tdc_tile {
    const char *name; /* "avx512", "avx2", "neon" or "plain" */
    int64_t rows, columns, lanes;
    void (*run)(int rows, int vectors, int64_t depth, const double *left, const double *right,
                double *c, int64_t line, bool add);
    void (*transpose)(const double *x, int64_t line, int64_t lines, int64_t depth, int64_t width,
                      double *to);
};

/* Of this CPU, or of the one that is asked for. */
const struct tdc_tile *tdc_tile_chosen(void);
/* The same with each product rounded before it is added. */
const struct tdc_tile *tdc_tile_apart(void);
/* What any tile has at most. */
#define TDC_TILE_COLUMNS 24

/* The columns that a packed right operand of `columns` has, those of its last strip filled up. */
int64_t tdc_strip_columns(const struct tdc_tile *t, int64_t columns);

/* The first line of band i of `rows` lines: bands are as tall as they can be alike. */
int64_t tdc_band_start(const struct tdc_tile *t, int64_t rows, int64_t i);

/* Rows [row, row + rows) and depth [start, start + depth) of a; `to` gets rows * depth elements. */
void tdc_pack_left(const struct tdc_tile *t, struct tdc_matrix a, int64_t row, int64_t rows,
                   int64_t start, int64_t depth, double *to);
/* Columns and depth of b; `to` gets tdc_strip_columns() * depth elements. */
void tdc_pack_right(const struct tdc_tile *t, struct tdc_matrix b, int64_t column, int64_t columns,
                    int64_t start, int64_t depth, double *to);

/* c = left right, or c += when `add`; c's rows are `line` apart. */
void tdc_multiply_panels(const struct tdc_tile *t, int64_t rows, int64_t columns, int64_t depth,
                         const double *left, const double *right, double *c, int64_t line,
                         bool add);

#endif
