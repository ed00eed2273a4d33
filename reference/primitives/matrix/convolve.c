/* Convolutions as matrix products of unfolded pieces: a piece is a range of one sample's windows of
 * one group, small enough to stay in the cache. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "reference/bounds.h"
#include "reference/primitives/elementwise/binary.h"
#include "reference/primitives/matrix/narrow_gemm.h"
#include "reference/primitives/matrix/windows.h"
#include "reference/tape.h"

#define ADJOINT_ROUNDINGS 4.0
#define PIECE             131072 /* elements of an unfolded piece, about */

/* What all three products share. `image` stands for [N, groups * channels, size...], `map` for
 * [N, groups * rows, windows]. */
struct convolution {
    struct tdc_windows w;
    int64_t samples, groups, channels, rows; /* channels and rows of one group */
    int64_t depth, windows, plane, piece, pieces;
    int teams; /* threads that may work at once */
    double *room;
    tdc_multiply *multiply;
    tdc_dtype sums; /* of what is folded: narrow ones stay in float32, as the products do */
};

static void plan(tdc_evaluation *e, struct convolution *c)
{
    int64_t kernels = tdc_window_product(&c->w, c->w.kernel), total;
    c->windows = tdc_window_product(&c->w, c->w.count);
    c->plane = tdc_window_product(&c->w, c->w.size);
    if (__builtin_mul_overflow(c->channels, kernels, &c->depth) ||
        __builtin_mul_overflow(c->depth, c->windows, &total))
        tdc_refuse(e, TDC_ERR_MEMORY, "a size overflows");
    c->piece = c->depth < 1 ? 1 : PIECE / c->depth;
    c->piece = c->piece < 16 ? 16 : c->piece;
    c->piece = c->piece < c->windows ? c->piece : c->windows;
    c->pieces = c->piece < 1 ? 0 : (c->windows + c->piece - 1) / c->piece;
    c->teams = omp_in_parallel() ? 1 : omp_get_max_threads();
    if (__builtin_mul_overflow(c->depth * c->teams, c->piece, &total))
        tdc_refuse(e, TDC_ERR_MEMORY, "a size overflows");
    c->room = tdc_take(e, total, sizeof *c->room);
}

struct piece {
    int64_t from, to, image, map; /* windows, and where image and map of sample and group start */
    double *columns;
};

static struct piece piece_at(const struct convolution *c, int64_t sample, int64_t group,
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
static void correlate(const struct convolution *c, const double *image, const double *weight,
                      double *map)
{
    int64_t units = c->samples * c->groups * c->pieces;
#pragma omp parallel for schedule(dynamic) num_threads(c->teams) if (units > 1)
    for (int64_t u = 0; u < units; u++) {
        int64_t group = u / c->pieces % c->groups;
        struct piece p = piece_at(c, u / c->pieces / c->groups, group, u % c->pieces);
        tdc_unfold_columns(&c->w, image + p.image, c->channels, p.from, p.to, p.columns);
        c->multiply(c->rows, p.to - p.from, c->depth,
                    (struct tdc_matrix){weight + group * c->rows * c->depth, c->depth, false},
                    (struct tdc_matrix){p.columns, p.to - p.from, false}, map + p.map + p.from,
                    c->windows, false);
    }
}

/* image += folded(weight^T * map); image comes zeroed. Pieces of one sample and group overlap in
 * the image and are taken in turn. */
static void spread(const struct convolution *c, const double *map, const double *weight,
                   double *image)
{
    int64_t units = c->samples * c->groups;
#pragma omp parallel for schedule(dynamic) num_threads(c->teams) if (units >= c->teams)
    for (int64_t u = 0; u < units; u++)
        for (int64_t i = 0; i < c->pieces; i++) {
            int64_t group = u % c->groups;
            struct piece p = piece_at(c, u / c->groups, group, i);
            c->multiply(c->depth, p.to - p.from, c->rows,
                        (struct tdc_matrix){weight + group * c->rows * c->depth, c->depth, true},
                        (struct tdc_matrix){map + p.map + p.from, c->windows, false}, p.columns,
                        p.to - p.from, false);
            tdc_fold_columns(&c->w, p.columns, c->channels, p.from, p.to, image + p.image, c->sums);
        }
}

/* weight += map * unfolded image^T over all samples; weight comes zeroed. */
static void weigh(const struct convolution *c, const double *map, const double *image,
                  double *weight)
{
#pragma omp parallel for schedule(dynamic) num_threads(c->teams) if (c->groups >= c->teams)
    for (int64_t group = 0; group < c->groups; group++)
        for (int64_t s = 0; s < c->samples; s++)
            for (int64_t i = 0; i < c->pieces; i++) {
                struct piece p = piece_at(c, s, group, i);
                tdc_unfold_columns(&c->w, image + p.image, c->channels, p.from, p.to, p.columns);
                c->multiply(c->rows, c->depth, p.to - p.from,
                            (struct tdc_matrix){map + p.map + p.from, c->windows, false},
                            (struct tdc_matrix){p.columns, p.to - p.from, true},
                            weight + group * c->rows * c->depth, c->depth, true);
            }
}

static tdc_array *new_image(tdc_evaluation *e, const struct convolution *c)
{
    int64_t shape[5] = {c->samples, c->groups * c->channels};
    memcpy(shape + 2, c->w.size, c->w.n * sizeof *shape);
    return tdc_zeros(e, TDC_F64, 2 + c->w.n, shape);
}

static tdc_array *new_map(tdc_evaluation *e, const struct convolution *c)
{
    int64_t shape[5] = {c->samples, c->groups * c->rows};
    memcpy(shape + 2, c->w.count, c->w.n * sizeof *shape);
    return tdc_zeros(e, TDC_F64, 2 + c->w.n, shape);
}

static struct convolution *new_convolution(tdc_evaluation *e, const struct tdc_windows *w,
                                           const tdc_array *x, const tdc_array *weight,
                                           int64_t groups)
{
    struct convolution *c = tdc_take(e, 1, sizeof *c);
    *c = (struct convolution){.w = *w,
                              .samples = x->shape[0],
                              .groups = groups,
                              .channels = weight->shape[1],
                              .rows = weight->shape[0] / groups,
                              .multiply = tdc_multiplication(e),
                              .sums = tdc_is_narrow(e) ? TDC_F32 : TDC_F64};
    plan(e, c);
    return c;
}

/* One of the three products: of an image or a map and weights, or of both. */
typedef void combine(const struct convolution *c, const double *x, const double *y, double *to);

/* Of `result` = how(x, y), sums of n products each. */
static void bound_combined(tdc_evaluation *e, const struct convolution *c, combine *how,
                           const tdc_array *x, const tdc_array *y, double n, bool adjoint,
                           tdc_array *result)
{
    struct tdc_quiet before = tdc_quietly(e);
    double weight = n > 1 ? tdc_sum_weight(n) : TDC_BASIC;
    /* kernels of the adjoints keep partial sums in the tested dtype */
    weight += adjoint && e->bounds.narrow > 1 ? ADJOINT_ROUNDINGS * e->bounds.narrow : 0;
    tdc_array *errors = tdc_zeros(e, TDC_F64, result->rank, result->shape);
    how(c, tdc_absolute(e, x)->real, tdc_magnitudes(e, y, weight)->real, errors->real);
    if (x->error != NULL) {
        tdc_array *more = tdc_zeros(e, TDC_F64, result->rank, result->shape);
        how(c, x->error, tdc_absolute(e, y)->real, more->real);
        errors = tdc_add(e, errors, more);
    }
    tdc_as_before(e, before);
    /* each of which float16 may take below its smallest normal number */
    double vanished = adjoint && e->bounds.tested == TDC_F16 ? 1 + sqrt(n) : 0;
    for (int64_t i = 0; i < result->count; i++)
        errors->real[i] += tdc_own_error(e, tdc_chain_weight(n), result->real[i]) +
                           (errors->real[i] != 0 ? vanished : 0);
    tdc_bound_by(result, errors);
}

/* Terms of an element that is spread to: every row's, of the kernel elements that can meet it. */
static double spread_terms(const struct convolution *c)
{
    double terms = (double)c->rows;
    for (unsigned i = 0; i < c->w.n; i++)
        terms *= ceil((double)c->w.kernel[i] / (double)c->w.stride[i]);
    return terms;
}

static double weigh_terms(const struct convolution *c)
{
    return (double)c->samples * (double)c->windows;
}

static void pull_weight(tdc_evaluation *e, const struct convolution *c, const tdc_array *weight,
                        const tdc_array *map, const tdc_array *image)
{
    if (!tdc_tracked(weight))
        return;
    tdc_array *g = tdc_zeros(e, TDC_F64, weight->rank, weight->shape);
    weigh(c, map->real, image->real, g->real);
    if (tdc_is_bounded(e))
        bound_combined(e, c, weigh, map, image, weigh_terms(c), true, g);
    tdc_collect(e, weight, g);
}

static void pull_convolve(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    const struct convolution *c = node->detail;
    tdc_array *x = node->inputs[0], *weight = node->inputs[1];
    if (tdc_tracked(x)) {
        tdc_array *g = new_image(e, c);
        spread(c, gradient->real, weight->real, g->real);
        if (tdc_is_bounded(e))
            bound_combined(e, c, spread, gradient, weight, spread_terms(c), true, g);
        tdc_collect(e, x, g);
    }
    pull_weight(e, c, weight, gradient, x);
}

static void pull_convolve_back(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    const struct convolution *c = node->detail;
    tdc_array *x = node->inputs[0], *weight = node->inputs[1];
    if (tdc_tracked(x)) {
        tdc_array *g = new_map(e, c);
        correlate(c, gradient->real, weight->real, g->real);
        if (tdc_is_bounded(e))
            bound_combined(e, c, correlate, gradient, weight, (double)c->depth, true, g);
        tdc_collect(e, x, g);
    }
    pull_weight(e, c, weight, x, gradient);
}

tdc_array *tdc_convolve(tdc_evaluation *e, tdc_array *x, tdc_array *weight,
                        const struct tdc_windows *w, int64_t groups)
{
    struct convolution *c = new_convolution(e, w, x, weight, groups);
    tdc_array *y = new_map(e, c);
    correlate(c, x->real, weight->real, y->real);
    if (tdc_is_bounded(e))
        bound_combined(e, c, correlate, x, weight, (double)c->depth, false, y);
    tdc_note(e, y, pull_convolve, c, 2, (tdc_array *[]){x, weight});
    return y;
}

tdc_array *tdc_convolve_back(tdc_evaluation *e, tdc_array *x, tdc_array *weight,
                             const struct tdc_windows *w, int64_t groups)
{
    struct convolution *c = new_convolution(e, w, x, weight, groups);
    tdc_array *y = new_image(e, c);
    spread(c, x->real, weight->real, y->real);
    if (tdc_is_bounded(e))
        bound_combined(e, c, spread, x, weight, spread_terms(c), true, y);
    tdc_note(e, y, pull_convolve_back, c, 2, (tdc_array *[]){x, weight});
    return y;
}
