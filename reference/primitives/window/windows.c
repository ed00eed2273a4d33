#include "reference/primitives/window/windows.h"

#include <string.h>

#include "reference/bounds.h"
#include "reference/tape.h"

int64_t tdc_window_product(const struct tdc_windows *w, const int64_t *v)
{
    int64_t p = 1;
    for (unsigned i = 0; i < w->n; i++)
        if (__builtin_mul_overflow(p, v[i], &p))
            return INT64_MAX;
    return p;
}

/* One kernel element in windows [from, to) of one row of windows: where it lies in the image's row
 * of `size`, and which of the windows have it inside. */
struct segment {
    int64_t first; /* window whose element is inside, of those from `from` on */
    int64_t end;   /* one behind the last such */
    int64_t start; /* place in the row of window `from` */
};

static struct segment inside(int64_t from, int64_t to, int64_t stride, int64_t shift, int64_t size)
{
    struct segment s = {.start = from * stride + shift};
    int64_t length = to - from;
    s.first = s.start >= 0 ? 0 : (-s.start + stride - 1) / stride;
    int64_t room = size - 1 - s.start;
    s.end = room < 0 ? 0 : room / stride + 1;
    s.end = s.end < length ? s.end : length;
    s.first = s.first < s.end ? s.first : s.end;
    return s;
}

/* Start of the image's row that kernel element k meets in row `line` of windows; -1: outside. */
static int64_t image_row(const struct tdc_windows *w, int64_t line, int64_t k)
{
    int64_t at = 0, step = w->size[w->n - 1];
    k /= w->kernel[w->n - 1];
    for (unsigned i = w->n - 1; i-- > 0;) {
        int64_t p =
            line % w->count[i] * w->stride[i] - w->before[i] + k % w->kernel[i] * w->dilation[i];
        line /= w->count[i];
        k /= w->kernel[i];
        if (p < 0 || p >= w->size[i])
            return -1;
        at += p * step;
        step *= w->size[i];
    }
    return at;
}

void tdc_unfold_row(const struct tdc_windows *w, const double *plane, int64_t k, int64_t from,
                    int64_t to, double *row)
{
    unsigned last = w->n - 1;
    int64_t width = w->count[last], stride = w->stride[last];
    int64_t shift = k % w->kernel[last] * w->dilation[last] - w->before[last];
    for (int64_t at = from; at < to;) {
        int64_t line = at / width, first = at % width;
        int64_t end = to - at < width - first ? first + (to - at) : width;
        int64_t base = image_row(w, line, k);
        struct segment s = inside(first, end, stride, shift, w->size[last]);
        double *out = row + (at - from);
        if (base < 0)
            s.first = s.end = 0;
        memset(out, 0, (size_t)s.first * sizeof *out);
        const double *source = plane + base + s.start;
        if (stride == 1 && s.end > s.first)
            memcpy(out + s.first, source + s.first, (size_t)(s.end - s.first) * sizeof *out);
        else
            for (int64_t i = s.first; i < s.end; i++)
                out[i] = source[i * stride];
        memset(out + s.end, 0, (size_t)(end - first - s.end) * sizeof *out);
        at += end - first;
    }
}

static void add_run(double *to, int64_t stride, const double *from, int64_t n, tdc_dtype sums)
{
    if (sums == TDC_F64)
        for (int64_t i = 0; i < n; i++)
            to[i * stride] += from[i];
    else
        for (int64_t i = 0; i < n; i++)
            to[i * stride] = tdc_reference_round(to[i * stride] + from[i], sums);
}

static void fold_row(const struct tdc_windows *w, const double *row, int64_t k, int64_t from,
                     int64_t to, double *plane, tdc_dtype sums)
{
    unsigned last = w->n - 1;
    int64_t width = w->count[last], stride = w->stride[last];
    int64_t shift = k % w->kernel[last] * w->dilation[last] - w->before[last];
    for (int64_t at = from; at < to;) {
        int64_t line = at / width, first = at % width;
        int64_t end = to - at < width - first ? first + (to - at) : width;
        int64_t base = image_row(w, line, k);
        struct segment s = inside(first, end, stride, shift, w->size[last]);
        const double *in = row + (at - from);
        if (base >= 0 && s.end > s.first)
            add_run(plane + base + s.start + s.first * stride, stride, in + s.first,
                    s.end - s.first, sums);
        at += end - first;
    }
}

void tdc_unfold_columns(const struct tdc_windows *w, const double *image, int64_t channels,
                        int64_t from, int64_t to, double *columns)
{
    int64_t kernels = tdc_window_product(w, w->kernel), plane = tdc_window_product(w, w->size);
    TDC_SPREAD(channels * kernels * (to - from), r, channels * kernels, {
        tdc_unfold_row(w, image + r / kernels * plane, r % kernels, from, to,
                       columns + r * (to - from));
    });
}

void tdc_fold_columns(const struct tdc_windows *w, const double *columns, int64_t channels,
                      int64_t from, int64_t to, double *image, tdc_dtype sums)
{
    int64_t kernels = tdc_window_product(w, w->kernel), plane = tdc_window_product(w, w->size);
    TDC_SPREAD(channels * kernels * (to - from), c, channels, {
        for (int64_t k = 0; k < kernels; k++)
            fold_row(w, columns + (c * kernels + k) * (to - from), k, from, to, image + c * plane,
                     sums);
    });
}

/* ---- whole tensors -------------------------------------------------------------------------- */

static tdc_array *unfolded(tdc_evaluation *e, const tdc_array *x, const struct tdc_windows *w)
{
    int64_t kernels = tdc_window_product(w, w->kernel), shape[3] = {x->shape[0]};
    shape[2] = tdc_window_product(w, w->count);
    if (__builtin_mul_overflow(x->shape[1], kernels, &shape[1]))
        tdc_refuse(e, TDC_ERR_MEMORY, "a size overflows");
    tdc_array *y = tdc_new(e, TDC_F64, 3, shape);
    int64_t image = x->shape[1] * tdc_window_product(w, w->size);
    for (int64_t s = 0; y->count > 0 && s < shape[0]; s++)
        tdc_unfold_columns(w, x->real + s * image, x->shape[1], 0, shape[2],
                           y->real + s * shape[1] * shape[2]);
    return y;
}

static tdc_array *folded(tdc_evaluation *e, const tdc_array *x, const struct tdc_windows *w)
{
    int64_t channels = x->shape[1] / tdc_window_product(w, w->kernel);
    int64_t shape[5] = {x->shape[0], channels};
    memcpy(shape + 2, w->size, w->n * sizeof *shape);
    tdc_array *y = tdc_zeros(e, TDC_F64, 2 + w->n, shape);
    int64_t image = channels * tdc_window_product(w, w->size);
    for (int64_t s = 0; x->count > 0 && s < shape[0]; s++)
        tdc_fold_columns(w, x->real + s * x->shape[1] * x->shape[2], channels, 0, x->shape[2],
                         y->real + s * image, e->arithmetic);
    return y;
}

static void bound_unfolded(tdc_evaluation *e, tdc_array *y, const tdc_array *x,
                           const struct tdc_windows *w)
{
    const tdc_array *errors = tdc_error_array(e, x);
    tdc_bound_by(y, errors == NULL ? NULL : unfolded(e, errors, w));
}

/* Sums of as many terms as windows overlap. */
static void bound_folded(tdc_evaluation *e, tdc_array *y, const tdc_array *x,
                         const struct tdc_windows *w)
{
    double terms = 1;
    for (unsigned i = 0; i < w->n; i++)
        terms *= ceil((double)w->kernel[i] / (double)w->stride[i]);
    if (tdc_is_bounded(e))
        tdc_bound_by(y, folded(e, tdc_magnitudes(e, x, tdc_sum_weight(terms) + e->bounds.step), w));
}

static void pull_unfold(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *g = folded(e, gradient, node->detail);
    bound_folded(e, g, gradient, node->detail);
    tdc_collect(e, node->inputs[0], g);
}

static void pull_fold(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *g = unfolded(e, gradient, node->detail);
    bound_unfolded(e, g, gradient, node->detail);
    tdc_collect(e, node->inputs[0], g);
}

static struct tdc_windows *kept(tdc_evaluation *e, const struct tdc_windows *w)
{
    struct tdc_windows *copy = tdc_take(e, 1, sizeof *copy);
    *copy = *w;
    return copy;
}

tdc_array *tdc_unfold(tdc_evaluation *e, tdc_array *x, const struct tdc_windows *w)
{
    tdc_array *y = unfolded(e, x, w);
    bound_unfolded(e, y, x, w);
    tdc_note(e, y, pull_unfold, kept(e, w), 1, &x);
    return y;
}

tdc_array *tdc_fold(tdc_evaluation *e, tdc_array *x, const struct tdc_windows *w)
{
    tdc_array *y = folded(e, x, w);
    bound_folded(e, y, x, w);
    tdc_note(e, y, pull_fold, kept(e, w), 1, &x);
    return y;
}
