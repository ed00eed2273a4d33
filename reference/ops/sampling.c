/* Interpolation and adaptive pooling: one matrix per spatial dimension, as all modes separate. */
#include <math.h>
#include <string.h>

#include "reference/primitives/primitives.h"

#define RANK TDC_REFERENCE_RANK

/* x with dimension dim of n elements turned into m by the [n, m] matrix. */
static array *through(evaluation *e, array *x, unsigned dim, array *matrix)
{
    array *y = tdc_matmul(e, tdc_dim_last(e, x, dim), matrix);
    return tdc_dim_back(e, y, dim);
}

/* ---- adaptive average pooling
 * --------------------------------------------------------------------- */

static array *averages(evaluation *e, int64_t n, int64_t m)
{
    array *matrix = tdc_zeros(e, TDC_F64, 2, (const int64_t[]){n, m});
    for (int64_t j = 0; j < m; j++) {
        int64_t from = j * n / m, to = ((j + 1) * n + m - 1) / m;
        for (int64_t i = from; i < to; i++)
            matrix->real[i * m + j] = 1 / (double)(to - from);
    }
    return matrix;
}

static void adaptive_avg_pool(evaluation *e)
{
    array *x = tdc_real_array_argument(e, "input");
    unsigned n = (unsigned)e->operator->variant;
    const value *size = tdc_argument(e, "output_size");
    if (x->rank != n + 1 && x->rank != n + 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "input must have %u or %u dimensions", n + 1, n + 2);
    for (unsigned i = 0; i < n; i++) {
        unsigned dim = x->rank - n + i;
        const value *own = size;
        if (size->kind == TDC_VALUE_LIST) {
            if (size->items.count != n && size->items.count != 1)
                tdc_refuse(e, TDC_ERR_ARGUMENT, "output_size has a wrong length");
            own = &size->items.values[size->items.count == 1 ? 0 : i];
        }
        if (own->kind == TDC_VALUE_NULL)
            continue;
        if (own->kind != TDC_VALUE_INT || own->whole < 1 || own->whole > INT32_MAX ||
            x->shape[dim] > INT32_MAX)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "output_size must be positive");
        x = through(e, x, dim, averages(e, x->shape[dim], own->whole));
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

/* Weights of the four neighbours at distance t behind the second; A = -0.75. */
static void cubic_weights(double t, double w[4])
{
    const double a = -0.75;
    double d[4] = {t + 1, t, 1 - t, 2 - t};
    for (int i = 0; i < 4; i++) {
        double x = d[i];
        w[i] = i == 1 || i == 2 ? ((a + 2) * x - (a + 3)) * x * x + 1
                                : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
    }
}

static int64_t within(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* scale is the step in the source per element of the result. */
static array *interpolation(evaluation *e, int64_t n, int64_t m, enum mode mode, double scale,
                            bool align)
{
    if (mode == AREA)
        return averages(e, n, m);
    array *matrix = tdc_zeros(e, TDC_F64, 2, (const int64_t[]){n, m});
    if (align)
        scale = m > 1 ? (double)(n - 1) / (double)(m - 1) : 0;
    for (int64_t j = 0; j < m; j++) {
        if (mode <= NEAREST_EXACT) {
            double at = floor(((double)j + (mode == NEAREST ? 0 : 0.5)) * scale);
            matrix->real[within((int64_t)at, n) * m + j] += 1;
            continue;
        }
        double source = align ? (double)j * scale : ((double)j + 0.5) * scale - 0.5;
        if (mode == LINEAR && source < 0)
            source = 0;
        int64_t first = (int64_t)floor(source);
        double t = source - (double)first, w[4];
        if (mode == LINEAR) {
            matrix->real[within(first, n) * m + j] += 1 - t;
            matrix->real[within(first + 1, n) * m + j] += t;
            continue;
        }
        cubic_weights(t, w);
        for (int i = 0; i < 4; i++)
            matrix->real[within(first - 1 + i, n) * m + j] += w[i];
    }
    return matrix;
}

static enum mode mode_argument(evaluation *e)
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
static double number_at(evaluation *e, const value *v, unsigned i, unsigned n)
{
    if (v->kind == TDC_VALUE_LIST) {
        if (v->items.count != n && v->items.count != 1)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "a list has a wrong length");
        v = &v->items.values[v->items.count == 1 ? 0 : i];
    }
    if (v->kind == TDC_VALUE_INT)
        return (double)v->whole;
    if (v->kind == TDC_VALUE_FLOAT)
        return v->real;
    tdc_refuse(e, TDC_ERR_ARGUMENT, "a number expected");
}

static void interpolate(evaluation *e)
{
    array *x = tdc_real_array_argument(e, "input");
    enum mode mode = mode_argument(e);
    bool align = tdc_bool_argument(e, "align_corners") && mode != NEAREST;
    bool sized = tdc_given(e, "size");
    if (x->rank < 3 || x->rank > 5 || sized == tdc_given(e, "scale_factor"))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "either size or scale_factor, for 3 to 5 dimensions");
    const value *asked = tdc_argument(e, sized ? "size" : "scale_factor");
    unsigned n = x->rank - 2;
    for (unsigned i = 0; i < n; i++) {
        int64_t old = x->shape[2 + i];
        double factor = number_at(e, asked, i, n);
        double size = sized ? factor : floor((double)old * factor);
        if (!(size >= 1) || !(size < 0x1p31) || old < 1 || old > INT32_MAX)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "sizes must be positive");
        bool by_factor = !sized && !tdc_bool_argument(e, "recompute_scale_factor");
        double scale = by_factor ? 1 / factor : (double)old / size;
        x = through(e, x, 2 + i, interpolation(e, old, (int64_t)size, mode, scale, align));
    }
    tdc_give(e, x);
}

static void pixel_shuffle(evaluation *e)
{
    array *x = tdc_array_argument(e, "input");
    int64_t r = tdc_int_argument(e, "factor");
    bool up = e->operator->variant != 0;
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
    {"adaptive_avg_pool2d", FUNCTIONALS | TDC_IN_TORCH, "input, output_size", adaptive_avg_pool, 2,
     0},
    {"adaptive_avg_pool3d", FUNCTIONALS | TDC_IN_TORCH, "input, output_size", adaptive_avg_pool, 3,
     0},
    {"interpolate upsample", FUNCTIONALS,
     "input, size=None, scale_factor=None, mode='nearest', align_corners=None, "
     "recompute_scale_factor=None, antialias=False",
     interpolate, 0, 0},
    {"pixel_shuffle", FUNCTIONALS | TDC_IN_TORCH, "input, factor", pixel_shuffle, 1, 0},
    {"pixel_unshuffle", FUNCTIONALS | TDC_IN_TORCH, "input, factor", pixel_shuffle, 0, 0},
};
const struct tdc_operator_family tdc_sampling_family = TDC_FAMILY("sampling", rows);
