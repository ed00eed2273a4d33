/* Interpolation and adaptive pooling: weighted sums along one spatial dimension after the other, as
 * all modes separate. */
#include <math.h>
#include <string.h>

#include "reference/arguments.h"
#include "reference/arithmetic.h"
#include "reference/bounds.h"
#include "reference/operators.h"
#include "reference/primitives/move.h"
#include "reference/tape.h"

#define RANK TDC_REFERENCE_RANK

/* Element j of m is the sum of weight[j][t] times element source[j][t] of n, t below `width`. */
struct taps {
    int64_t n, m, width;
    int64_t *source;
    double *weight;
    unsigned dim;
    bool averages; /* equal weights, not from coordinates */
};

static struct taps *new_taps(tdc_evaluation *e, unsigned dim, int64_t n, int64_t m, int64_t width)
{
    struct taps *t = tdc_take(e, 1, sizeof *t);
    int64_t count;
    if (__builtin_mul_overflow(m, width, &count))
        tdc_refuse(e, TDC_ERR_MEMORY, "a size overflows");
    *t = (struct taps){.n = n, .m = m, .width = width, .dim = dim};
    t->source = tdc_take(e, count, sizeof *t->source);
    t->weight = tdc_take(e, count, sizeof *t->weight);
    memset(t->source, 0, (size_t)count * sizeof *t->source);
    memset(t->weight, 0, (size_t)count * sizeof *t->weight);
    return t;
}

#define STRIP 512 /* elements behind the dimension that are handled at once */

/* Lines along the dimension: `outer` before it, `inner` behind it, in strips. */
struct lines {
    int64_t outer, inner, strips;
};

static struct lines lines_of(const tdc_array *x, unsigned dim)
{
    struct lines l = {1, 1, 0};
    for (unsigned d = 0; d < x->rank; d++) {
        l.outer *= d < dim ? x->shape[d] : 1;
        l.inner *= d > dim ? x->shape[d] : 1;
    }
    l.strips = (l.inner + STRIP - 1) / STRIP;
    return l;
}

static int64_t strip_width(const struct lines *l, int64_t unit)
{
    int64_t left = l->inner - unit % l->strips * STRIP;
    return left < STRIP ? left : STRIP;
}

/* to += weight * from */
static void add_weighted(const tdc_evaluation *e, double *to, double weight, const double *from,
                         int64_t n)
{
    if (tdc_is_narrow(e))
        for (int64_t k = 0; k < n; k++)
            to[k] = (double)((float)to[k] + (float)weight * (float)from[k]);
    else
        for (int64_t k = 0; k < n; k++)
            to[k] += weight * from[k];
}

/* Weights come from coordinates in float32, off by the length of the line: so is each term. Errors
 * of y, or of the gradient x brings back to y. */
static tdc_array *resampling_errors(tdc_evaluation *e, const tdc_array *x, const struct taps *t,
                                    const tdc_array *y, bool back)
{
    struct lines l = lines_of(x, t->dim);
    tdc_array *errors = tdc_zeros(e, TDC_F64, y->rank, y->shape);
    double terms = (double)t->width * (back && t->m > t->n ? (double)t->m / (double)t->n : 1);
    double length = (double)(t->n > t->m ? t->n : t->m);
    double rounds = back && terms > 1 ? e->bounds.step * (1 + sqrt(terms)) : 0;
    double weight = tdc_sum_weight(terms) + TDC_BASIC + rounds;
    for (int64_t o = 0; o < l.outer; o++)
        for (int64_t i = 0; i < t->m * t->width; i++) {
            int64_t wide = (o * t->m + i / t->width) * l.inner;
            int64_t own = (o * t->n + t->source[i]) * l.inner;
            double by = fabs(t->weight[i]), off = t->width > 1 && !t->averages ? length : 0;
            bool whole = by == 1 && off == 0;
            for (int64_t k = 0; k < l.inner; k++) {
                int64_t from = back ? wide + k : own + k, to = back ? own + k : wide + k;
                errors->real[to] += tdc_error_times(by, tdc_error_at(x, from)) +
                                    (whole && !back ? 0 : weight * by + off) * fabs(x->real[from]);
            }
        }
    /* what a gradient has collected, or the rounding between one dimension and the next */
    for (int64_t i = 0; i < y->count; i++)
        errors->real[i] += back ? tdc_error_at(y, i) : tdc_own_error(e, 0, y->real[i]);
    return errors;
}

/* The adjoint; a line's elements are added in the order of the taps. */
static void pull_resampled(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    const struct taps *t = node->detail;
    tdc_array *x = node->inputs[0];
    if (tdc_is_bounded(e)) {
        tdc_array *own = tdc_gradient_of(e, x);
        tdc_bound_by(own, resampling_errors(e, gradient, t, own, true));
    }
    double *g = tdc_gradient_of(e, x)->real;
    struct lines l = lines_of(x, t->dim);
    TDC_SPREAD(gradient->count, unit, l.outer * l.strips, {
        int64_t o = unit / l.strips, at = unit % l.strips * STRIP, width = strip_width(&l, unit);
        for (int64_t i = 0; i < t->m * t->width; i++) {
            const double *from = gradient->real + (o * t->m + i / t->width) * l.inner + at;
            double *to = g + (o * t->n + t->source[i]) * l.inner + at;
            if (t->weight[i] != 0)
                add_weighted(e, to, t->weight[i], from, width);
        }
    });
}

static tdc_array *resampled(tdc_evaluation *e, tdc_array *x, const struct taps *t)
{
    int64_t shape[RANK];
    memcpy(shape, x->shape, sizeof shape);
    shape[t->dim] = t->m;
    tdc_array *y = tdc_zeros(e, TDC_F64, x->rank, shape);
    struct lines l = lines_of(x, t->dim);
    TDC_SPREAD(y->count, unit, l.outer * l.strips, {
        int64_t o = unit / l.strips, at = unit % l.strips * STRIP, width = strip_width(&l, unit);
        for (int64_t i = 0; i < t->m * t->width; i++) {
            const double *from = x->real + (o * t->n + t->source[i]) * l.inner + at;
            double *to = y->real + (o * t->m + i / t->width) * l.inner + at;
            if (t->weight[i] != 0)
                add_weighted(e, to, t->weight[i], from, width);
        }
    });
    if (tdc_is_bounded(e))
        tdc_bound_by(y, resampling_errors(e, x, t, y, false));
    tdc_note(e, y, pull_resampled, t, 1, &x);
    return y;
}

/* ---- adaptive average pooling
 * --------------------------------------------------------------------- */

static const struct taps *averages(tdc_evaluation *e, unsigned dim, int64_t n, int64_t m)
{
    struct taps *t = new_taps(e, dim, n, m, n / m + 2);
    t->averages = true;
    for (int64_t j = 0; j < m; j++) {
        int64_t from = j * n / m, to = ((j + 1) * n + m - 1) / m;
        for (int64_t i = from; i < to; i++) {
            t->source[j * t->width + i - from] = i;
            t->weight[j * t->width + i - from] = 1 / (double)(to - from);
        }
    }
    return t;
}

static void adaptive_avg_pool(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input");
    unsigned n = (unsigned)e->definition->variant;
    const tdc_call_value *size = tdc_argument(e, "output_size");
    if (x->rank != n + 1 && x->rank != n + 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "input must have %u or %u dimensions", n + 1, n + 2);
    for (unsigned i = 0; i < n; i++) {
        unsigned dim = x->rank - n + i;
        const tdc_call_value *own = size;
        if (size->kind == TDC_VALUE_LIST) {
            if (size->list.count != n && size->list.count != 1)
                tdc_refuse(e, TDC_ERR_ARGUMENT, "output_size has a wrong length");
            own = &size->list.values[size->list.count == 1 ? 0 : i];
        }
        if (own->kind == TDC_VALUE_NULL)
            continue;
        if (own->kind != TDC_VALUE_INT || own->whole < 1 || own->whole > INT32_MAX ||
            x->shape[dim] > INT32_MAX || x->shape[dim] < 1)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "output_size must be positive");
        x = resampled(e, x, averages(e, dim, x->shape[dim], own->whole));
    }
    tdc_give(e, x);
}

/* ---- interpolation
 * ------------------------------------------------------------------------------- */

enum mode {
    NEAREST,
    NEAREST_EXACT,
    LINEAR,
    CUBIC,
    AREA
};

/* Keys' cubic through neighbours, at distance x. */
static double cubic(double x, double a)
{
    x = fabs(x);
    if (x <= 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static int64_t within(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* One dimension of n elements turned into m; scale is the step in the source per element. */
struct request {
    unsigned dim;
    int64_t n, m;
    enum mode mode;
    double scale;
    bool align;
};

/* A filter as wide as the step when the result is smaller, its weights summing to 1. */
static const struct taps *antialiased(tdc_evaluation *e, const struct request *r)
{
    double reach = (r->mode == LINEAR ? 1 : 2) * fmax(r->scale, 1), squeeze = fmax(r->scale, 1);
    double most = 2 * reach + 3;
    if (!(most < 0x1p31))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "scale is out of range");
    struct taps *t = new_taps(e, r->dim, r->n, r->m, (int64_t)most);
    for (int64_t j = 0; j < r->m; j++) {
        double centre = r->scale * ((double)j + 0.5), total = 0;
        int64_t from = within((int64_t)(centre - reach + 0.5), r->n);
        from = centre - reach + 0.5 < 0 ? 0 : from;
        int64_t to = (int64_t)(centre + reach + 0.5);
        to = to < r->n ? to : r->n;
        double *weight = t->weight + j * t->width;
        for (int64_t i = from; i < to && i - from < t->width; i++) {
            double x = ((double)i - centre + 0.5) / squeeze;
            double w = r->mode == LINEAR ? fmax(1 - fabs(x), 0) : cubic(x, -0.5);
            t->source[j * t->width + i - from] = i;
            weight[i - from] = w;
            total += w;
        }
        for (int64_t i = 0; total != 0 && i < t->width; i++)
            weight[i] /= total;
    }
    return t;
}

static const struct taps *interpolation(tdc_evaluation *e, struct request r)
{
    if (r.mode == AREA)
        return averages(e, r.dim, r.n, r.m);
    if (r.align)
        r.scale = r.m > 1 ? (double)(r.n - 1) / (double)(r.m - 1) : 0;
    if (tdc_bool_argument(e, "antialias") && (r.mode == LINEAR || r.mode == CUBIC))
        return antialiased(e, &r);
    int64_t width = r.mode <= NEAREST_EXACT ? 1 : r.mode == LINEAR ? 2 : 4;
    struct taps *t = new_taps(e, r.dim, r.n, r.m, width);
    for (int64_t j = 0; j < r.m; j++) {
        int64_t *source = t->source + j * width;
        double *weight = t->weight + j * width;
        if (width == 1) {
            double at = floor(((double)j + (r.mode == NEAREST ? 0 : 0.5)) * r.scale);
            source[0] = at < (double)r.n ? within((int64_t)at, r.n) : r.n - 1;
            weight[0] = 1;
            continue;
        }
        double place = r.align ? (double)j * r.scale : ((double)j + 0.5) * r.scale - 0.5;
        if (r.mode == LINEAR && place < 0)
            place = 0;
        place = fmin(place, 0x1p40);
        int64_t first = (int64_t)floor(place) - (width == 4);
        for (int64_t i = 0; i < width; i++) {
            double away = place - (double)(first + i);
            source[i] = within(first + i, r.n);
            weight[i] = width == 4 ? cubic(away, -0.75) : 1 - fabs(away);
        }
    }
    return t;
}

static enum mode mode_argument(tdc_evaluation *e)
{
    static const struct {
        const char *name;
        enum mode mode;
    } modes[] = {{"nearest", NEAREST},  {"nearest-exact", NEAREST_EXACT},
                 {"linear", LINEAR},    {"bilinear", LINEAR},
                 {"trilinear", LINEAR}, {"bicubic", CUBIC},
                 {"area", AREA}};
    const char *text = tdc_text_argument(e, "mode");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(modes[i].name, text) == 0)
            return modes[i].mode;
    tdc_refuse(e, TDC_ERR_ARGUMENT, "unknown mode");
}

/* Number i of a list argument, or the number itself. */
static double number_at(tdc_evaluation *e, const tdc_call_value *v, unsigned i, unsigned n)
{
    if (v->kind == TDC_VALUE_LIST) {
        if (v->list.count != n && v->list.count != 1)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "a list has a wrong length");
        v = &v->list.values[v->list.count == 1 ? 0 : i];
    }
    if (v->kind == TDC_VALUE_INT)
        return (double)v->whole;
    if (v->kind == TDC_VALUE_FLOAT)
        return v->real;
    tdc_refuse(e, TDC_ERR_ARGUMENT, "a number expected");
}

static void interpolate(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input");
    enum mode mode = mode_argument(e);
    bool align = tdc_bool_argument(e, "align_corners") && mode != NEAREST;
    bool sized = tdc_given(e, "size");
    if (x->rank < 3 || x->rank > 5 || sized == tdc_given(e, "scale_factor"))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "either size or scale_factor, for 3 to 5 dimensions");
    const tdc_call_value *asked = tdc_argument(e, sized ? "size" : "scale_factor");
    unsigned n = x->rank - 2;
    for (unsigned i = 0; i < n; i++) {
        int64_t old = x->shape[2 + i];
        double factor = number_at(e, asked, i, n);
        double size = sized ? factor : floor((double)old * factor);
        if (!(size >= 1) || !(size < 0x1p31) || old < 1 || old > INT32_MAX)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "sizes must be positive");
        bool by_factor = !sized && !tdc_bool_argument(e, "recompute_scale_factor");
        double scale = by_factor ? 1 / factor : (double)old / size;
        x = resampled(
            e, x,
            interpolation(e, (struct request){2 + i, old, (int64_t)size, mode, scale, align}));
    }
    tdc_give(e, x);
}

static void pixel_shuffle(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    int64_t r = tdc_int_argument(e, "factor");
    bool up = e->definition->variant != 0;
    if (x->rank < 3 || x->rank + 2 > RANK || r < 1 || r > 65536 || x->count == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "at least three dimensions expected");
    unsigned lead = x->rank - 3;
    int64_t c = x->shape[lead], h = x->shape[lead + 1], w = x->shape[lead + 2];
    if (up ? c % (r * r) != 0 : h % r != 0 || w % r != 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "sizes are not divisible by the factor");
    int64_t outer = 1, shape[RANK];
    for (unsigned d = 0; d < lead; d++)
        outer *= x->shape[d];
    memcpy(shape, x->shape, sizeof shape);
    if (up) {
        x = tdc_reshape(e, x, 6, (const int64_t[]){outer, c / (r * r), r, r, h, w});
        x = tdc_permute(e, x, (const unsigned[]){0, 1, 4, 2, 5, 3});
    } else {
        x = tdc_reshape(e, x, 6, (const int64_t[]){outer, c, h / r, r, w / r, r});
        x = tdc_permute(e, x, (const unsigned[]){0, 1, 3, 5, 2, 4});
    }
    shape[lead] = up ? c / (r * r) : c * r * r;
    shape[lead + 1] = up ? h * r : h / r;
    shape[lead + 2] = up ? w * r : w / r;
    tdc_give(e, tdc_reshape(e, x, lead + 3, shape));
}

#define FUNCTIONALS TDC_IN_FUNCTIONALS
static const struct tdc_operator rows[] = {
    {"adaptive_avg_pool1d", FUNCTIONALS | TDC_IN_TORCH, "input, output_size", adaptive_avg_pool, 1,
     0},
    {"adaptive_avg_pool2d _adaptive_avg_pool2d", FUNCTIONALS | TDC_IN_TORCH, "input, output_size",
     adaptive_avg_pool, 2, 0},
    {"adaptive_avg_pool3d", FUNCTIONALS | TDC_IN_TORCH, "input, output_size", adaptive_avg_pool, 3,
     0},
    {"upsample_nearest", FUNCTIONALS,
     "input, size=None, scale_factor=None, *, mode='nearest', align_corners=None, "
     "recompute_scale_factor=None, antialias=False",
     interpolate, 0, 0},
    {"upsample_bilinear", FUNCTIONALS,
     "input, size=None, scale_factor=None, *, mode='bilinear', align_corners=True, "
     "recompute_scale_factor=None, antialias=False",
     interpolate, 0, 0},
    {"interpolate upsample", FUNCTIONALS,
     "input, size=None, scale_factor=None, mode='nearest', align_corners=None, "
     "recompute_scale_factor=None, antialias=False",
     interpolate, 0, 0},
    {"pixel_shuffle", FUNCTIONALS | TDC_IN_TORCH, "input, factor", pixel_shuffle, 1, 0},
    {"pixel_unshuffle", FUNCTIONALS | TDC_IN_TORCH, "input, factor", pixel_shuffle, 0, 0},
};
const struct tdc_operator_family tdc_sampling_family = TDC_FAMILY("sampling", rows);
