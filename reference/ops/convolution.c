/* Convolutions and pooling over one, two or three spatial dimensions, as matrix products and
 * reductions of unfolded windows. */
#include <math.h>
#include <string.h>

#include "reference/primitives/primitives.h"

#define RANK TDC_REFERENCE_RANK

struct windows {
    unsigned n; /* spatial dimensions */
    int64_t size[3], kernel[3], stride[3], before[3], after[3], dilation[3], count[3];
};

static int64_t product(const int64_t *v, unsigned n)
{
    int64_t p = 1;
    for (unsigned i = 0; i < n; i++)
        if (__builtin_mul_overflow(p, v[i], &p))
            return INT64_MAX; /* refused where the map of windows is made */
    return p;
}

/* One number for all dimensions or one for each; `least` is the smallest allowed. */
static void read_sizes(evaluation *e, const char *name, unsigned n, int64_t *to, int64_t least)
{
    int64_t v[3];
    size_t given = tdc_ints_argument(e, name, v, 3);
    if (given != 1 && given != n)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "%s has a wrong length", name);
    for (unsigned i = 0; i < n; i++) {
        to[i] = v[given == 1 ? 0 : i];
        if (to[i] < least || to[i] > INT32_MAX)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "%s is out of range", name);
    }
}

static void count_windows(evaluation *e, struct windows *w, bool ceil_mode)
{
    for (unsigned i = 0; i < w->n; i++) {
        int64_t extent = w->dilation[i] * (w->kernel[i] - 1) + 1;
        int64_t room = w->size[i] + w->before[i] + w->after[i] - extent;
        if (room < 0)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "kernel is larger than the padded input");
        w->count[i] = room / w->stride[i] + 1;
        /* with ceil_mode the last window must start inside the input or its left padding */
        if (ceil_mode && room % w->stride[i] != 0 &&
            w->count[i] * w->stride[i] < w->size[i] + w->before[i])
            w->count[i]++;
    }
}

/* Source of every element of [channels, kernel..., samples, windows...] in
 * [samples, channels, size...], -1 in the padding. */
static int64_t *window_map(evaluation *e, const struct windows *w, int64_t samples,
                           int64_t channels, int64_t *total)
{
    int64_t kernels = product(w->kernel, w->n), windows = product(w->count, w->n);
    int64_t plane = product(w->size, w->n), per_channel;
    if (__builtin_mul_overflow(kernels, samples, &per_channel) ||
        __builtin_mul_overflow(per_channel, windows, &per_channel) ||
        __builtin_mul_overflow(per_channel, channels, total))
        tdc_refuse(e, TDC_ERR_MEMORY, "a size overflows");
    int64_t *map = tdc_take(e, *total, sizeof *map);
    /* places of one kernel element in a plane, the same for all channels and samples */
    int64_t *inside = tdc_take(e, windows, sizeof *inside);
    for (int64_t k = 0; k < kernels; k++) {
        for (int64_t l = 0; l < windows; l++) {
            int64_t rest_k = k, rest_l = l, at = 0, step = 1;
            for (unsigned i = w->n; i-- > 0;) {
                int64_t p = rest_l % w->count[i] * w->stride[i] - w->before[i] +
                            rest_k % w->kernel[i] * w->dilation[i];
                rest_k /= w->kernel[i];
                rest_l /= w->count[i];
                if (p < 0 || p >= w->size[i])
                    at = INT64_MIN / 2;
                at += p * step;
                step *= w->size[i];
            }
            inside[l] = at;
        }
        for (int64_t c = 0; c < channels; c++)
            for (int64_t s = 0; s < samples; s++) {
                int64_t *to = map + ((c * kernels + k) * samples + s) * windows;
                for (int64_t l = 0; l < windows; l++)
                    to[l] = inside[l] < 0 ? -1 : (s * channels + c) * plane + inside[l];
            }
    }
    return map;
}

/* Adds the batch dimension when it is missing. */
static array *batched(evaluation *e, array *x, unsigned n, bool *single)
{
    *single = x->rank == n + 1;
    if (*single)
        x = tdc_unsqueeze(e, x, 0);
    if (x->rank != n + 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "input must have %u or %u dimensions", n + 1, n + 2);
    for (unsigned d = 0; d < x->rank; d++)
        if (x->shape[d] > INT32_MAX)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "a dimension is too large");
    return x;
}

static void give_batched(evaluation *e, array *y, bool single)
{
    tdc_give(e, single ? tdc_squeeze(e, y, 0) : y);
}

/* [channels, samples, count...] to [samples, channels, count...] */
static array *samples_first(evaluation *e, array *y, int64_t channels, int64_t samples,
                            const struct windows *w)
{
    int64_t shape[5] = {channels, samples};
    memcpy(shape + 2, w->count, w->n * sizeof *shape);
    return tdc_swap(e, tdc_reshape(e, y, 2 + w->n, shape), 0, 1);
}

static array *add_bias(evaluation *e, array *y, unsigned n)
{
    array *bias = tdc_optional_real_array(e, "bias");
    int64_t shape[5] = {1, bias == NULL ? 0 : bias->count, 1, 1, 1};
    return bias == NULL ? y : tdc_add(e, y, tdc_reshape(e, bias, 2 + n, shape));
}

static void read_padding(evaluation *e, struct windows *w)
{
    const value *padding = tdc_argument(e, "padding");
    if (padding->kind != TDC_VALUE_TEXT) {
        read_sizes(e, "padding", w->n, w->before, 0);
        memcpy(w->after, w->before, sizeof w->after);
        return;
    }
    bool same = strcmp(padding->text, "same") == 0;
    if (!same && strcmp(padding->text, "valid") != 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "padding must be 'valid' or 'same'");
    for (unsigned i = 0; i < w->n; i++) {
        int64_t whole = same ? w->dilation[i] * (w->kernel[i] - 1) : 0;
        w->before[i] = whole / 2;
        w->after[i] = whole - whole / 2;
    }
}

static void convolution(evaluation *e)
{
    bool single;
    struct windows w = {.n = (unsigned)e->operator->variant };
    array *x = batched(e, tdc_real_array_argument(e, "input"), w.n, &single);
    array *weight = tdc_real_array_argument(e, "weight");
    int64_t groups = tdc_int_argument(e, "groups"), samples = x->shape[0], total;
    int64_t channels = x->shape[1], outputs = weight->shape[0];
    if (weight->rank != w.n + 2 || groups < 1 || channels % groups != 0 || outputs % groups != 0 ||
        weight->shape[1] != channels / groups)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "weight does not fit input and groups");
    memcpy(w.size, x->shape + 2, w.n * sizeof *w.size);
    memcpy(w.kernel, weight->shape + 2, w.n * sizeof *w.kernel);
    read_sizes(e, "stride", w.n, w.stride, 1);
    read_sizes(e, "dilation", w.n, w.dilation, 1);
    read_padding(e, &w);
    count_windows(e, &w, false);
    int64_t *map = window_map(e, &w, samples, channels, &total);
    int64_t depth = channels / groups * product(w.kernel, w.n);
    int64_t places = samples * product(w.count, w.n);
    array *columns = tdc_mapped(e, x, map, 3, (const int64_t[]){groups, depth, places}, 0);
    array *matrix = tdc_reshape(e, weight, 3, (const int64_t[]){groups, outputs / groups, depth});
    array *y = tdc_batch_product(e, matrix, columns, false, false);
    give_batched(e, add_bias(e, samples_first(e, y, outputs, samples, &w), w.n), single);
}

/* The adjoint: windows of the output are summed from products with the input. */
static void transposed_convolution(evaluation *e)
{
    bool single;
    struct windows w = {.n = (unsigned)e->operator->variant };
    array *x = batched(e, tdc_real_array_argument(e, "input"), w.n, &single);
    array *weight = tdc_real_array_argument(e, "weight");
    int64_t groups = tdc_int_argument(e, "groups"), samples = x->shape[0], total, extra[3];
    int64_t channels = x->shape[1], shape[5];
    if (weight->rank != w.n + 2 || weight->count == 0 || groups < 1 || groups > channels ||
        weight->shape[0] != channels || channels % groups != 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "weight does not fit input and groups");
    int64_t outputs = weight->shape[1] * groups;
    memcpy(w.kernel, weight->shape + 2, w.n * sizeof *w.kernel);
    memcpy(w.count, x->shape + 2, w.n * sizeof *w.count);
    read_sizes(e, "stride", w.n, w.stride, 1);
    read_sizes(e, "dilation", w.n, w.dilation, 1);
    read_sizes(e, "padding", w.n, w.before, 0);
    read_sizes(e, "output_padding", w.n, extra, 0);
    shape[0] = samples;
    shape[1] = outputs;
    for (unsigned i = 0; i < w.n; i++) {
        w.size[i] = (w.count[i] - 1) * w.stride[i] - 2 * w.before[i] +
                    w.dilation[i] * (w.kernel[i] - 1) + extra[i] + 1;
        if (w.size[i] < 1)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "output would be empty");
        shape[2 + i] = w.size[i];
    }
    int64_t *map = window_map(e, &w, samples, outputs, &total);
    int64_t width = outputs / groups * product(w.kernel, w.n);
    int64_t places = samples * product(w.count, w.n);
    array *rows = tdc_reshape(e, tdc_swap(e, x, 0, 1), 3,
                              (const int64_t[]){groups, channels / groups, places});
    array *matrix = tdc_reshape(e, weight, 3, (const int64_t[]){groups, channels / groups, width});
    array *columns = tdc_batch_product(e, matrix, rows, true, false);
    array *y = tdc_scatter_add(e, columns, map, w.n + 2, shape);
    give_batched(e, add_bias(e, y, w.n), single);
}

/* ---- im2col and back
 * ------------------------------------------------------------------------------ */

static void read_window(evaluation *e, struct windows *w, const int64_t *size, bool ceil_mode)
{
    memcpy(w->size, size, w->n * sizeof *size);
    read_sizes(e, "kernel_size", w->n, w->kernel, 1);
    read_sizes(e, "dilation", w->n, w->dilation, 1);
    if (tdc_given(e, "stride") && !(tdc_argument(e, "stride")->kind == TDC_VALUE_LIST &&
                                    tdc_argument(e, "stride")->items.count == 0))
        read_sizes(e, "stride", w->n, w->stride, 1);
    else
        memcpy(w->stride, w->kernel, sizeof w->stride);
    read_sizes(e, "padding", w->n, w->before, 0);
    memcpy(w->after, w->before, sizeof w->after);
    count_windows(e, w, ceil_mode);
}

static void unfold(evaluation *e)
{
    bool single;
    struct windows w = {.n = 2};
    array *x = batched(e, tdc_array_argument(e, "input"), 2, &single);
    int64_t total;
    read_window(e, &w, x->shape + 2, false);
    int64_t *map = window_map(e, &w, x->shape[0], x->shape[1], &total);
    int64_t depth = x->shape[1] * product(w.kernel, 2), places = product(w.count, 2);
    array *y = tdc_mapped(e, x, map, 3, (const int64_t[]){depth, x->shape[0], places}, 0);
    give_batched(e, tdc_swap(e, y, 0, 1), single);
}

static void fold(evaluation *e)
{
    struct windows w = {.n = 2};
    array *x = tdc_array_argument(e, "input");
    bool single = x->rank == 2;
    int64_t size[3], total;
    if (single)
        x = tdc_unsqueeze(e, x, 0);
    read_sizes(e, "output_size", 2, size, 1);
    read_window(e, &w, size, false);
    int64_t kernels = product(w.kernel, 2);
    if (x->rank != 3 || x->shape[1] % kernels != 0 || x->shape[2] != product(w.count, 2))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "input does not fit the windows");
    int64_t channels = x->shape[1] / kernels, samples = x->shape[0];
    int64_t *map = window_map(e, &w, samples, channels, &total);
    array *y = tdc_scatter_add(e, tdc_swap(e, x, 0, 1), map, 4,
                               (const int64_t[]){samples, channels, size[0], size[1]});
    give_batched(e, y, single);
}

/* ---- pooling
 * -------------------------------------------------------------------------------------- */

/* Rows of one window each: [samples, channels, count..., kernel] */
static array *pooled_rows(evaluation *e, array *x, const struct windows *w, double fill,
                          const int64_t **map)
{
    int64_t total, shape[6] = {x->shape[1], product(w->kernel, w->n), x->shape[0]};
    unsigned order[6];
    *map = window_map(e, w, x->shape[0], x->shape[1], &total);
    memcpy(shape + 3, w->count, w->n * sizeof *shape);
    array *y = tdc_mapped(e, x, *map, 3 + w->n, shape, fill);
    order[0] = 2;
    order[1] = 0;
    for (unsigned i = 0; i < w->n; i++)
        order[2 + i] = 3 + i;
    order[2 + w->n] = 1;
    return tdc_permute(e, y, order);
}

static void max_pool(evaluation *e)
{
    bool single;
    struct windows w = {.n = (unsigned)e->operator->variant };
    array *x = batched(e, tdc_real_array_argument(e, "input"), w.n, &single);
    const int64_t *map;
    read_window(e, &w, x->shape + 2, tdc_bool_argument(e, "ceil_mode"));
    array *rows = pooled_rows(e, x, &w, -(double)INFINITY, &map);
    array *index = tdc_extreme_index(e, rows, true);
    give_batched(e, tdc_pick(e, rows, index), single);
    if (!tdc_bool_argument(e, "return_indices"))
        return;
    int64_t kernels = product(w.kernel, w.n), windows = product(w.count, w.n);
    int64_t plane = product(w.size, w.n), samples = x->shape[0], channels = x->shape[1];
    for (int64_t i = 0; i < index->count; i++) {
        int64_t l = i % windows, c = i / windows % channels, s = i / windows / channels;
        int64_t from = map[((c * kernels + index->whole[i]) * samples + s) * windows + l];
        index->whole[i] = from < 0 ? 0 : from % plane;
    }
    give_batched(e, index, single);
}

/* What each window's sum is divided by. */
static array *divisors(evaluation *e, const struct windows *w, bool include_padding)
{
    array *y = tdc_new(e, TDC_F64, w->n, w->count);
    for (int64_t l = 0; l < y->count; l++) {
        int64_t rest = l;
        double size = 1;
        for (unsigned i = w->n; i-- > 0;) {
            int64_t start = rest % w->count[i] * w->stride[i] - w->before[i];
            int64_t end = start + w->kernel[i], high = w->size[i];
            rest /= w->count[i];
            if (include_padding)
                high += w->after[i];
            else if (start < 0)
                start = 0;
            size *= (double)((end < high ? end : high) - start);
        }
        y->real[l] = size;
    }
    return y;
}

static void avg_pool(evaluation *e)
{
    bool single;
    struct windows w = {.n = (unsigned)e->operator->variant };
    array *x = batched(e, tdc_real_array_argument(e, "input"), w.n, &single);
    const int64_t *map;
    read_window(e, &w, x->shape + 2, tdc_bool_argument(e, "ceil_mode"));
    array *sum = tdc_sum_rows(e, pooled_rows(e, x, &w, 0, &map));
    array *by = tdc_given(e, "divisor_override")
                    ? tdc_number(e, tdc_real_argument(e, "divisor_override"))
                    : divisors(e, &w, tdc_bool_argument(e, "count_include_pad"));
    give_batched(e, tdc_div(e, sum, by), single);
}

#define FUNCTIONALS (TDC_IN_FUNCTIONALS | TDC_IN_TORCH)
#define CONVOLUTION "input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1"
#define TRANSPOSED                                                                                 \
    "input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1"
#define MAX_POOL                                                                                   \
    "input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, "                    \
    "return_indices=False"
#define AVG_POOL                                                                                   \
    "input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, "        \
    "divisor_override=None, dilation=1"
static const struct tdc_operator rows[] = {
    {"conv1d", FUNCTIONALS, CONVOLUTION, convolution, 1, 0},
    {"conv2d", FUNCTIONALS, CONVOLUTION, convolution, 2, 0},
    {"conv3d", FUNCTIONALS, CONVOLUTION, convolution, 3, 0},
    {"conv_transpose1d", FUNCTIONALS, TRANSPOSED, transposed_convolution, 1, 0},
    {"conv_transpose2d", FUNCTIONALS, TRANSPOSED, transposed_convolution, 2, 0},
    {"conv_transpose3d", FUNCTIONALS, TRANSPOSED, transposed_convolution, 3, 0},
    {"unfold", TDC_IN_FUNCTIONALS, "input, kernel_size, dilation=1, padding=0, stride=1", unfold, 0,
     0},
    {"fold", TDC_IN_FUNCTIONALS, "input, output_size, kernel_size, dilation=1, padding=0, stride=1",
     fold, 0, 0},
    {"max_pool1d", FUNCTIONALS, MAX_POOL, max_pool, 1, 0},
    {"max_pool2d", FUNCTIONALS, MAX_POOL, max_pool, 2, 0},
    {"max_pool3d", FUNCTIONALS, MAX_POOL, max_pool, 3, 0},
    {"avg_pool1d", FUNCTIONALS, AVG_POOL, avg_pool, 1, 0},
    {"avg_pool2d", FUNCTIONALS, AVG_POOL, avg_pool, 2, 0},
    {"avg_pool3d", FUNCTIONALS, AVG_POOL, avg_pool, 3, 0},
};
const struct tdc_operator_family tdc_convolution_family =
    TDC_FAMILY("convolution and pooling", rows);
