#include <math.h>
#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/binary.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/matrix/product.h"
#include "reference/primitives/move.h"

enum padding {
    ZEROS,
    BORDER,
    REFLECTION
};

/* Of images [N, C, size...] of two or three spatial dimensions. */
struct sampler {
    tdc_array *x;
    unsigned n;
    tdc_array *at[3]; /* coordinates in pixels, [N, out...], along each spatial dimension */
    enum padding padding;
    bool align;
};

static int choice(tdc_evaluation *e, const char *name, const char *const *names, int count)
{
    const tdc_call_value *v = tdc_argument(e, name);
    if (v->kind == TDC_VALUE_INT && v->whole >= 0 && v->whole < count)
        return (int)v->whole; /* torch's number for it */
    const char *text = tdc_text_argument(e, name);
    for (int i = 0; i < count; i++)
        if (strcmp(text, names[i]) == 0)
            return i;
    tdc_refuse(e, TDC_ERR_ARGUMENT, "unknown %s", name);
}

/* Mirrors v at low and high; *slope is the sign of the last leg. */
static double reflected(double v, double low, double high, double *slope)
{
    double span = high - low;
    if (!(span > 0) || !isfinite(v)) {
        *slope = 0;
        return span > 0 ? v : 0;
    }
    double away = v - low, sign = away < 0 ? -1 : 1;
    away = fabs(away);
    double flips = floor(away / span), rest = away - flips * span;
    bool even = fmod(flips, 2) == 0;
    *slope = even ? sign : -sign;
    return even ? low + rest : high - rest;
}

static void mirror_bounds(bool align, int64_t n, double *low, double *high)
{
    *low = align ? 0 : -0.5;
    *high = align ? (double)n - 1 : (double)n - 0.5;
}

/* Coordinates brought inside as the padding mode says, with their derivative. */
static tdc_array *folded(tdc_evaluation *e, const struct sampler *s, tdc_array *c, int64_t n)
{
    if (s->padding == REFLECTION) {
        double low, high;
        tdc_array *slope = tdc_new_like(e, TDC_F64, c), *term = tdc_new_like(e, TDC_F64, c);
        mirror_bounds(s->align, n, &low, &high);
        for (int64_t i = 0; i < c->count; i++) {
            double v = reflected(c->real[i], low, high, &slope->real[i]);
            term->real[i] = v - slope->real[i] * c->real[i];
        }
        c = tdc_add(e, tdc_mul(e, c, slope), term);
    }
    if (s->padding != ZEROS)
        c = tdc_apply_with(e, TDC_HARDTANH, c, 0, (double)n - 1, 0);
    return c;
}

/* An index in 0..n-1, or -1 for a zero. */
static int64_t pixel(const struct sampler *s, double v, int64_t n)
{
    double low, high, slope;
    if (s->padding == REFLECTION) {
        mirror_bounds(s->align, n, &low, &high);
        v = reflected(v, low, high, &slope);
    }
    if (s->padding != ZEROS)
        v = v < 0 ? 0 : v > (double)n - 1 ? (double)n - 1 : v;
    return v >= 0 && v <= (double)n - 1 ? (int64_t)v : -1;
}

/* x at floor(coordinates) + offset, or at the nearest: [N, C, out...] */
static tdc_array *at(tdc_evaluation *e, const struct sampler *s, const int *offset, bool nearest)
{
    const tdc_array *x = s->x, *like = s->at[0];
    int64_t channels = x->shape[1], shape[5] = {x->shape[0], channels}, places = 1, plane = 1;
    for (unsigned i = 0; i < s->n; i++) {
        shape[2 + i] = like->shape[1 + i];
        places *= like->shape[1 + i];
        plane *= x->shape[2 + i];
    }
    tdc_array *room = tdc_new(e, TDC_I64, 2 + s->n, shape); /* checks the sizes */
    int64_t *map = room->whole;
    TDC_SPREAD(room->count, p, shape[0] * places, {
        int64_t from = 0;
        for (unsigned i = 0; i < s->n && from >= 0; i++) {
            double c = s->at[i]->real[p];
            int64_t size = x->shape[2 + i];
            int64_t own = pixel(s, (nearest ? rint(c) : floor(c)) + offset[i], size);
            from = own < 0 ? -1 : from * size + own;
        }
        for (int64_t k = 0; k < channels; k++) {
            int64_t image = p / places * channels + k;
            map[image * places + p % places] = from < 0 ? -1 : image * plane + from;
        }
    });
    return tdc_mapped(e, s->x, map, 2 + s->n, shape, 0);
}

/* Weights of the neighbours from first on, from the fraction t of a coordinate. */
static void linear_weights(tdc_evaluation *e, tdc_array *t, tdc_array **w)
{
    w[0] = tdc_shift(e, tdc_scale(e, t, -1), 1);
    w[1] = t;
}

static tdc_array *cubic_near(tdc_evaluation *e, tdc_array *x)
{
    tdc_array *slope = tdc_shift(e, tdc_scale(e, x, 1.25), -2.25);
    return tdc_shift(e, tdc_mul(e, slope, tdc_apply(e, TDC_SQUARE, x)), 1);
}

static tdc_array *cubic_far(tdc_evaluation *e, tdc_array *x)
{
    tdc_array *y = tdc_mul(e, tdc_shift(e, tdc_scale(e, x, -0.75), 3.75), x);
    return tdc_shift(e, tdc_mul(e, tdc_shift(e, y, -6), x), 3);
}

static void cubic_weights(tdc_evaluation *e, tdc_array *t, tdc_array **w)
{
    tdc_array *back = tdc_shift(e, tdc_scale(e, t, -1), 1);
    w[0] = cubic_far(e, tdc_shift(e, t, 1));
    w[1] = cubic_near(e, t);
    w[2] = cubic_near(e, back);
    w[3] = cubic_far(e, tdc_shift(e, back, 1));
}

static tdc_array *fraction(tdc_evaluation *e, tdc_array *c)
{
    return tdc_sub(e, c, tdc_apply(e, TDC_FLOOR, tdc_constant(e, c)));
}

static tdc_array *blended(tdc_evaluation *e, const struct sampler *s, bool cubic)
{
    tdc_array *w[3][4], *sum = NULL;
    int n = cubic ? 4 : 2, first = cubic ? -1 : 0, total = 1;
    for (unsigned i = 0; i < s->n; i++) {
        (cubic ? cubic_weights : linear_weights)(e, fraction(e, s->at[i]), w[i]);
        total *= n;
    }
    for (int which = 0; which < total; which++) {
        int rest = which, offset[3];
        tdc_array *weight = NULL;
        for (unsigned i = s->n; i-- > 0; rest /= n) {
            offset[i] = first + rest % n;
            tdc_array *own = w[i][rest % n];
            weight = weight == NULL ? own : tdc_mul(e, own, weight);
        }
        tdc_array *term = tdc_mul(e, at(e, s, offset, false), tdc_unsqueeze(e, weight, 1));
        sum = sum == NULL ? term : tdc_add(e, sum, term);
    }
    return sum;
}

/* Component `which` of the grid, in pixels. */
static tdc_array *coordinate(tdc_evaluation *e, tdc_array *grid, int64_t which, int64_t size,
                             bool align)
{
    unsigned last = grid->rank - 1;
    tdc_array *c = tdc_squeeze(e, tdc_slice(e, grid, last, which, 1, 1), last);
    if (align)
        return tdc_scale(e, tdc_shift(e, c, 1), 0.5 * (double)(size - 1));
    return tdc_scale(e, tdc_shift(e, tdc_scale(e, tdc_shift(e, c, 1), (double)size), -1), 0.5);
}

static void grid_sample(tdc_evaluation *e)
{
    static const char *const modes[] = {"bilinear", "nearest", "bicubic"};
    static const char *const paddings[] = {"zeros", "border", "reflection"};
    struct sampler s = {.x = tdc_real_array_argument(e, "input")};
    tdc_array *grid = tdc_real_array_argument(e, "grid");
    s.n = s.x->rank - 2;
    if ((s.x->rank != 4 && s.x->rank != 5) || grid->rank != s.x->rank ||
        grid->shape[s.n + 1] != s.n || grid->shape[0] != s.x->shape[0])
        tdc_refuse(e, TDC_ERR_ARGUMENT, "grid does not fit an input of four or five dimensions");
    int mode = choice(e, "mode", modes, 3);
    if (mode == 2 && s.n == 3)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "bicubic needs four dimensions");
    s.padding = (enum padding)choice(e, "padding_mode", paddings, 3);
    s.align = tdc_bool_argument(e, "align_corners");
    for (unsigned i = 0; i < s.n; i++) { /* the grid's first component is the last dimension's */
        int64_t size = s.x->shape[2 + i];
        s.at[i] = coordinate(e, grid, s.n - 1 - i, size, s.align);
        if (mode != 2)
            s.at[i] = folded(e, &s, s.at[i], size);
    }
    if (mode != 1) {
        tdc_give(e, blended(e, &s, mode == 2));
        return;
    }
    /* the grid's gradient is zero, not none */
    tdc_array *ones = tdc_shift(e, tdc_scale(e, s.at[0], 0), 1);
    tdc_array *y = at(e, &s, (const int[]){0, 0, 0}, true);
    tdc_give(e, tdc_mul(e, y, tdc_unsqueeze(e, ones, 1)));
}

/* Coordinates -1 .. 1 of the pixels of a size, through theta: [N, 2, 3] or [N, 3, 4]. */
static void affine_grid(tdc_evaluation *e)
{
    tdc_array *theta = tdc_real_array_argument(e, "theta");
    int64_t size[5], total = 1;
    size_t rank = tdc_ints_argument(e, "shape", size, 5);
    bool align = tdc_bool_argument(e, "align_corners");
    if ((rank != 4 && rank != 5) || theta->rank != 3 || theta->shape[0] != size[0] ||
        theta->shape[1] != (int64_t)rank - 2 || theta->shape[2] != (int64_t)rank - 1)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "theta does not fit the size");
    unsigned n = (unsigned)rank - 2;
    for (unsigned i = 0; i < n; i++)
        if (size[2 + i] < 1 || __builtin_mul_overflow(total, size[2 + i], &total))
            tdc_refuse(e, TDC_ERR_ARGUMENT, "size is out of range");
    tdc_array *base = tdc_new(e, TDC_F64, 2, (const int64_t[]){total, n + 1});
    for (int64_t p = 0; p < total; p++) {
        int64_t rest = p;
        for (unsigned i = 0; i < n; i++) { /* the last dimension's coordinate comes first */
            int64_t m = size[1 + n - i], at = rest % m;
            rest /= m;
            double span = align ? (double)(m - 1) : (double)m;
            double v = align ? 2 * (double)at - span : 2 * (double)at + 1 - span;
            base->real[p * (n + 1) + i] = span == 0 ? 0 : v / span;
        }
        base->real[p * (n + 1) + n] = 1;
    }
    int64_t shape[5] = {size[0]};
    memcpy(shape + 1, size + 2, n * sizeof *shape);
    shape[n + 1] = n;
    tdc_array *y = tdc_matmul(e, base, tdc_swap(e, theta, 1, 2));
    tdc_give(e, tdc_reshape(e, y, n + 2, shape));
}

static const struct tdc_operator rows[] = {
    {"affine_grid", TDC_IN_FUNCTIONALS, "theta, shape, align_corners=None", affine_grid, 0, 0},
    {"affine_grid_generator", TDC_IN_TORCH, "theta, shape, align_corners", affine_grid, 0, 0},
    {"grid_sampler grid_sampler_2d grid_sampler_3d", TDC_IN_TORCH,
     "input, grid, mode, padding_mode, align_corners", grid_sample, 0, 0},
    {"grid_sample", TDC_IN_FUNCTIONALS,
     "input, grid, mode='bilinear', padding_mode='zeros', align_corners=False", grid_sample, 0, 0},
};
const struct tdc_operator_family tdc_grid_family = TDC_FAMILY("grid sampling", rows);
