/* Convolutions as products whose right operand is packed straight from the image. */
#include "reference/primitives/window/convolution.h"

#include <omp.h>
#include <string.h>

#define PLACES_AT_ONCE 192 /* a multiple of every tile's columns */
#define ROWS_AT_ONCE   64  /* of weights, for their gradient */
#define LINES_AT_ONCE  192
#define PARTS          8 /* that the gradient of few weights is summed in */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t pieces_of(int64_t whole, int64_t piece)
{
    return (whole + piece - 1) / piece;
}

static double *own_room(const struct tdc_convolution *c)
{
    return c->strips + omp_get_thread_num() * c->strip_size;
}

/* `rows` lines of `depth` elements, packed chain by chain: the one from `start` at rows * start. */
static void pack_chains(const struct tdc_tile *t, const double *x, int64_t rows, int64_t depth,
                        double *to)
{
    for (int64_t start = 0; start < depth; start += TDC_CHAIN)
        tdc_pack_left(t, (struct tdc_matrix){x, depth, false}, 0, rows, start,
                      least(TDC_CHAIN, depth - start), to + rows * start);
}

/* Places of a group's planes times its packed rows; the result's rows are `line` apart. */
static void multiply_strip(const struct tdc_convolution *c, const struct tdc_taps *taps,
                           const double *image, int64_t place, int64_t places, const double *packed,
                           int64_t rows, int64_t depth, double *strip, double *to, int64_t line)
{
    for (int64_t start = 0; start < depth; start += TDC_CHAIN) {
        int64_t here = least(TDC_CHAIN, depth - start);
        tdc_pack_places(c->tile, taps, image, depth / taps->taps, place, places, start, here,
                        strip);
        tdc_multiply_panels(c->tile, rows, places, here, packed + rows * start, strip, to, line,
                            start > 0);
    }
}

static void correlate(const struct tdc_convolution *c, const double *image, const double *weight,
                      double *map)
{
    int64_t size = c->rows * c->depth, pieces = pieces_of(c->windows, PLACES_AT_ONCE);
    int64_t units = c->samples * c->groups * pieces;
    if (size == 0)
        return;
    for (int64_t g = 0; g < c->groups; g++)
        pack_chains(c->tile, weight + g * size, c->rows, c->depth, c->packed + g * size);
#pragma omp parallel for schedule(dynamic) num_threads(c->teams) if (units > 1)
    for (int64_t u = 0; u < units; u++) {
        int64_t unit = u / pieces, from = u % pieces * PLACES_AT_ONCE;
        int64_t end = least(from + PLACES_AT_ONCE, c->windows);
        for (int64_t place = from; place < end; place += c->tile->columns)
            multiply_strip(c, &c->taps, image + unit * c->channels * c->plane, place,
                           least(c->tile->columns, end - place),
                           c->packed + unit % c->groups * size, c->rows, c->depth, own_room(c),
                           map + unit * c->rows * c->windows + place, c->windows);
    }
}

/* ---- the adjoint ----------------------------------------------------------------------------- */

/* A group's weights for a phase: a line for each channel, of its rows' taps. */
static void turn(const struct tdc_convolution *c, const struct tdc_phase *phase,
                 const double *weight, double *to)
{
    for (int64_t channel = 0; channel < c->channels; channel++)
        for (int64_t row = 0; row < c->rows; row++)
            for (int64_t t = 0; t < phase->taps.taps; t++)
                *to++ = weight[row * c->depth + channel * c->kernels + phase->kernel[t]];
}

/* The channels' elements of a strip of places to where they lie in the image. */
static void place_strip(const struct tdc_convolution *c, const struct tdc_phase *phase,
                        const double *strip, int64_t place, int64_t places, double *image)
{
    const struct tdc_windows *w = &c->w;
    for (int64_t i = 0; i < places; i++) {
        int64_t rest = place + i, at = 0, step = 1;
        for (unsigned d = w->n; d-- > 0; rest /= phase->taps.count[d]) {
            at += (phase->first[d] + rest % phase->taps.count[d] * w->stride[d]) * step;
            step *= w->size[d];
        }
        for (int64_t channel = 0; channel < c->channels; channel++)
            image[channel * c->plane + at] = strip[channel * c->tile->columns + i];
    }
}

static void spread_phase(const struct tdc_convolution *c, const struct tdc_phase *phase,
                         const double *map, const double *weight, double *image)
{
    int64_t depth = c->rows * phase->taps.taps, size = c->channels * depth;
    int64_t places = phase->taps.places, pieces = pieces_of(places, PLACES_AT_ONCE);
    int64_t units = c->samples * c->groups * pieces;
    bool dense = places == c->plane; /* each element of the image once, in its order */
    for (int64_t g = 0; g < c->groups; g++) {
        turn(c, phase, weight + g * c->rows * c->depth, c->turned);
        pack_chains(c->tile, c->turned, c->channels, depth, c->packed + g * size);
    }
#pragma omp parallel for schedule(dynamic) num_threads(c->teams) if (units > 1)
    for (int64_t u = 0; u < units; u++) {
        int64_t unit = u / pieces, from = u % pieces * PLACES_AT_ONCE;
        int64_t end = least(from + PLACES_AT_ONCE, places);
        const double *packed = c->packed + unit % c->groups * size;
        double *to = image + unit * c->channels * c->plane, *strip = own_room(c);
        double *tile = strip + c->tile->columns * TDC_CHAIN + TDC_STRIP_SLACK;
        for (int64_t place = from; place < end; place += c->tile->columns) {
            int64_t here = least(c->tile->columns, end - place);
            multiply_strip(c, &phase->taps, map + unit * c->rows * c->windows, place, here, packed,
                           c->channels, depth, strip, dense ? to + place : tile,
                           dense ? c->plane : c->tile->columns);
            if (!dense)
                place_strip(c, phase, tile, place, here, to);
        }
    }
}

static void spread(const struct tdc_convolution *c, const double *map, const double *weight,
                   double *image)
{
    if (c->rows == 0 || c->channels == 0 || c->windows == 0)
        return;
    for (int64_t i = 0; i < c->phase_count; i++)
        spread_phase(c, &c->phases[i], map, weight, image);
}

/* ---- weights --------------------------------------------------------------------------------- */

/* Some rows and lines of a group's weights. */
struct corner {
    int64_t group, row, rows, line, lines;
};

/* Lines of a group's unfolded image as the columns of a right operand. */
static void pack_lines(const struct tdc_convolution *c, const struct corner *k, const double *image,
                       int64_t place, int64_t places, double *unfolded, double *to)
{
    const struct tdc_tile *t = c->tile;
    for (int64_t from = 0; from < k->lines; from += t->columns) {
        int64_t here = least(t->columns, k->lines - from);
        for (int64_t i = 0; i < here; i++) {
            int64_t line = k->line + from + i;
            tdc_unfold_row(&c->w, image + line / c->kernels * c->plane, line % c->kernels, place,
                           place + places, unfolded + i * TDC_CHAIN);
        }
        tdc_pack_right(t, (struct tdc_matrix){unfolded, TDC_CHAIN, true}, 0, here, 0, places,
                       to + from * places);
    }
}

/* weight += over chains [from, to) of all samples' windows, in their order. */
static void weigh_corner(const struct tdc_convolution *c, const struct corner *k, const double *map,
                         const double *image, int64_t from, int64_t to, double *weight)
{
    int64_t chains = pieces_of(c->windows, TDC_CHAIN);
    double *left = own_room(c), *right = left + k->rows * TDC_CHAIN;
    double *unfolded = right + tdc_strip_columns(c->tile, k->lines) * TDC_CHAIN;
    for (int64_t i = from; i < to; i++) {
        int64_t unit = i / chains * c->groups + k->group, place = i % chains * TDC_CHAIN;
        int64_t places = least(TDC_CHAIN, c->windows - place);
        tdc_pack_left(c->tile,
                      (struct tdc_matrix){map + unit * c->rows * c->windows, c->windows, false},
                      k->row, k->rows, place, places, left);
        pack_lines(c, k, image + unit * c->channels * c->plane, place, places, unfolded, right);
        tdc_multiply_panels(c->tile, k->rows, k->lines, places, left, right,
                            weight + (k->group * c->rows + k->row) * c->depth + k->line, c->depth,
                            true);
    }
}

static void weigh(const struct tdc_convolution *c, const double *map, const double *image,
                  double *weight)
{
    int64_t row_pieces = pieces_of(c->rows, ROWS_AT_ONCE);
    int64_t line_pieces = pieces_of(c->depth, LINES_AT_ONCE);
    int64_t corners = c->groups * row_pieces * line_pieces;
    int64_t terms = c->samples * pieces_of(c->windows, TDC_CHAIN);
    int64_t weights = c->groups * c->rows * c->depth;
    if (c->parts > 1)
        memset(c->partial, 0, (size_t)(weights * c->parts) * sizeof *c->partial);
#pragma omp parallel for schedule(dynamic) num_threads(c->teams) if (corners * c->parts > 1)
    for (int64_t u = 0; u < corners * c->parts; u++) {
        int64_t part = u / corners, at = u % corners;
        struct corner k = {.group = at / (row_pieces * line_pieces),
                           .row = at / line_pieces % row_pieces * ROWS_AT_ONCE,
                           .line = at % line_pieces * LINES_AT_ONCE};
        k.rows = least(ROWS_AT_ONCE, c->rows - k.row);
        k.lines = least(LINES_AT_ONCE, c->depth - k.line);
        weigh_corner(c, &k, map, image, terms * part / c->parts, terms * (part + 1) / c->parts,
                     c->parts > 1 ? c->partial + part * weights : weight);
    }
    for (int64_t part = 0; c->parts > 1 && part < c->parts; part++)
        for (int64_t i = 0; i < weights; i++)
            weight[i] += c->partial[part * weights + i];
}

void tdc_plan_products(tdc_evaluation *e, struct tdc_convolution *c)
{
    int64_t weights, rows = least(c->rows, ROWS_AT_ONCE), total;
    c->correlate = correlate;
    c->spread = spread;
    c->weigh = weigh;
    c->tile = tdc_tile_chosen();
    c->taps = tdc_window_taps(e, &c->w);
    c->phases = tdc_window_phases(e, &c->w, &c->phase_count);
    if (__builtin_mul_overflow(c->groups * c->rows, c->depth, &weights) ||
        __builtin_mul_overflow(c->channels, c->tile->columns, &total))
        tdc_refuse(e, TDC_ERR_MEMORY, "a size overflows");
    c->packed = tdc_take(e, weights, sizeof *c->packed);
    c->turned = tdc_take(e, weights, sizeof *c->turned);
    /* a strip with the tile it is multiplied to, or both operands of the weights' gradient */
    int64_t lines = least(tdc_strip_columns(c->tile, c->depth), LINES_AT_ONCE);
    int64_t forward = c->tile->columns * TDC_CHAIN + TDC_STRIP_SLACK + total;
    int64_t backward = (rows + lines + c->tile->columns) * TDC_CHAIN;
    c->strip_size = forward > backward ? forward : backward;
    int64_t units =
        c->groups * pieces_of(c->rows, ROWS_AT_ONCE) * pieces_of(c->depth, LINES_AT_ONCE);
    int64_t terms = c->samples * pieces_of(c->windows, TDC_CHAIN);
    c->parts = units >= PARTS || units < 1 ? 1 : PARTS / units;
    c->parts = terms < 2 * c->parts ? 1 : c->parts;
    if (c->parts > 1)
        c->partial = tdc_take(e, weights * c->parts, sizeof *c->partial);
    if (__builtin_mul_overflow(c->strip_size, (int64_t)c->teams, &total))
        tdc_refuse(e, TDC_ERR_MEMORY, "a size overflows");
    c->strips = tdc_take(e, total, sizeof *c->strips);
}
