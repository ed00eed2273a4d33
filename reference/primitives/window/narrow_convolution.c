/* Convolutions with sums in float32, as matrix products of unfolded pieces: a piece is a range of
 * one sample's windows of one group. */
#include <omp.h>

#include "reference/primitives/window/convolution.h"
#include "reference/primitives/matrix/narrow_gemm.h"

#define PIECE 131072 /* elements of an unfolded piece, about */

struct piece {
    int64_t from, to, image, map; /* windows, and where image and map of sample and group start */
    double *columns;
};

static struct piece piece_at(const struct tdc_convolution *c, int64_t sample, int64_t group,
                             int64_t index)
{
    struct piece p = {.from = index * c->piece};
    p.to = p.from + c->piece < c->windows ? p.from + c->piece : c->windows;
    p.image = (sample * c->groups + group) * c->channels * c->plane;
    p.map = (sample * c->groups + group) * c->rows * c->windows;
    p.columns = c->room + omp_get_thread_num() * c->depth * c->piece;
    return p;
}

/* map = weight * unfolded image */
static void correlate(const struct tdc_convolution *c, const double *image, const double *weight,
                      double *map)
{
    int64_t units = c->samples * c->groups * c->pieces;
#pragma omp parallel for schedule(dynamic) num_threads(c->teams) if (units > 1)
    for (int64_t u = 0; u < units; u++) {
        int64_t group = u / c->pieces % c->groups;
        struct piece p = piece_at(c, u / c->pieces / c->groups, group, u % c->pieces);
        tdc_unfold_columns(&c->w, image + p.image, c->channels, p.from, p.to, p.columns);
        tdc_narrow_gemm(c->rows, p.to - p.from, c->depth,
                        (struct tdc_matrix){weight + group * c->rows * c->depth, c->depth, false},
                        (struct tdc_matrix){p.columns, p.to - p.from, false}, map + p.map + p.from,
                        c->windows, false);
    }
}

/* image += folded(weight^T * map); image comes zeroed. Pieces of one sample and group overlap in
 * the image and are taken in turn. */
static void spread(const struct tdc_convolution *c, const double *map, const double *weight,
                   double *image)
{
    int64_t units = c->samples * c->groups;
#pragma omp parallel for schedule(dynamic) num_threads(c->teams) if (units >= c->teams)
    for (int64_t u = 0; u < units; u++)
        for (int64_t i = 0; i < c->pieces; i++) {
            int64_t group = u % c->groups;
            struct piece p = piece_at(c, u / c->groups, group, i);
            tdc_narrow_gemm(
                c->depth, p.to - p.from, c->rows,
                (struct tdc_matrix){weight + group * c->rows * c->depth, c->depth, true},
                (struct tdc_matrix){map + p.map + p.from, c->windows, false}, p.columns,
                p.to - p.from, false);
            tdc_fold_columns(&c->w, p.columns, c->channels, p.from, p.to, image + p.image, TDC_F32);
        }
}

/* weight += map * unfolded image^T over all samples; weight comes zeroed. */
static void weigh(const struct tdc_convolution *c, const double *map, const double *image,
                  double *weight)
{
#pragma omp parallel for schedule(dynamic) num_threads(c->teams) if (c->groups >= c->teams)
    for (int64_t group = 0; group < c->groups; group++)
        for (int64_t s = 0; s < c->samples; s++)
            for (int64_t i = 0; i < c->pieces; i++) {
                struct piece p = piece_at(c, s, group, i);
                tdc_unfold_columns(&c->w, image + p.image, c->channels, p.from, p.to, p.columns);
                tdc_narrow_gemm(c->rows, c->depth, p.to - p.from,
                                (struct tdc_matrix){map + p.map + p.from, c->windows, false},
                                (struct tdc_matrix){p.columns, p.to - p.from, true},
                                weight + group * c->rows * c->depth, c->depth, true);
            }
}

void tdc_plan_narrow_products(tdc_evaluation *e, struct tdc_convolution *c)
{
    int64_t total;
    c->correlate = correlate;
    c->spread = spread;
    c->weigh = weigh;
    c->piece = c->depth < 1 ? 1 : PIECE / c->depth;
    c->piece = c->piece < 16 ? 16 : c->piece;
    c->piece = c->piece < c->windows ? c->piece : c->windows;
    c->pieces = c->piece < 1 ? 0 : (c->windows + c->piece - 1) / c->piece;
    if (__builtin_mul_overflow(c->depth * c->teams, c->piece, &total))
        tdc_refuse(e, TDC_ERR_MEMORY, "a size overflows");
    c->room = tdc_take(e, total, sizeof *c->room);
}
