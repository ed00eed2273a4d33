#include "reference/primitives/matrix/narrow_gemm.h"

#include <string.h>

#define ROWS     64 /* of the result that share a packed piece */
#define COLUMNS  256
#define DEPTH    64                 /* of a packed piece: 64 KiB with COLUMNS */
#define MULTIPLY ((int64_t)1 << 18) /* multiplications from which on threads pay */

static float element(struct tdc_matrix m, int64_t i, int64_t j)
{
    return (float)m.x[m.transposed ? j * m.line + i : i * m.line + j];
}

/* Rows [top, top + rows) and columns [left, left + columns) of c. Between pieces the sums stay in
 * c, which holds a float32 exactly. */
struct part {
    int64_t top, rows, left, columns, k;
};

static void multiply_part(const struct part *p, struct tdc_matrix a, struct tdc_matrix b, double *c,
                          int64_t line)
{
    float packed[DEPTH * COLUMNS], sums[COLUMNS];
    for (int64_t first = 0; first < p->k; first += DEPTH) {
        int64_t depth = p->k - first < DEPTH ? p->k - first : DEPTH;
        for (int64_t d = 0; d < depth; d++)
            for (int64_t j = 0; j < p->columns; j++)
                packed[d * COLUMNS + j] = element(b, first + d, p->left + j);
        for (int64_t i = p->top; i < p->top + p->rows; i++) {
            double *row = c + i * line + p->left;
            for (int64_t j = 0; j < p->columns; j++)
                sums[j] = (float)row[j];
            for (int64_t d = 0; d < depth; d++) {
                float factor = element(a, i, first + d);
                for (int64_t j = 0; j < p->columns; j++)
                    sums[j] += factor * packed[d * COLUMNS + j];
            }
            for (int64_t j = 0; j < p->columns; j++)
                row[j] = (double)sums[j];
        }
    }
}

void tdc_narrow_gemm(int64_t m, int64_t n, int64_t k, struct tdc_matrix a, struct tdc_matrix b,
                     double *c, int64_t line, bool add)
{
    int64_t bands = (m + ROWS - 1) / ROWS, strips = (n + COLUMNS - 1) / COLUMNS;
    for (int64_t i = 0; !add && i < m; i++)
        memset(c + i * line, 0, (size_t)n * sizeof *c);
#pragma omp parallel for schedule(static) if (bands * strips > 1 && m * n * k >= MULTIPLY)
    for (int64_t unit = 0; unit < bands * strips; unit++) {
        struct part p = {.top = unit / strips * ROWS, .left = unit % strips * COLUMNS, .k = k};
        p.rows = m - p.top < ROWS ? m - p.top : ROWS;
        p.columns = n - p.left < COLUMNS ? n - p.left : COLUMNS;
        multiply_part(&p, a, b, c, line);
    }
}
