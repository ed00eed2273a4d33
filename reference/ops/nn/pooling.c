/* Pooling over one, two or three spatial dimensions. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "reference/arguments.h"
#include "reference/bounds.h"
#include "reference/operators.h"
#include "reference/ops/nn/window_arguments.h"
#include "reference/primitives/elementwise/binary.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/window/windows.h"
#include "reference/primitives/reduce.h"
#include "reference/tape.h"

/* Elements of window `index` that lie in a plane: their places; gives their number. */
static int64_t places_of(const struct tdc_windows *w, int64_t index, int64_t *places)
{
    int64_t low[3], high[3], step[3], found = 0, at[3], line = 1;
    for (unsigned i = w->n; i-- > 0;) {
        int64_t start = index % w->count[i] * w->stride[i] - w->before[i];
        index /= w->count[i];
        low[i] = start >= 0 ? 0 : (-start + w->dilation[i] - 1) / w->dilation[i];
        int64_t room = w->size[i] - 1 - start;
        high[i] = room < 0 ? 0 : room / w->dilation[i] + 1;
        high[i] = high[i] < w->kernel[i] ? high[i] : w->kernel[i];
        if (low[i] >= high[i])
            return 0;
        step[i] = line;
        at[i] = start;
        line *= w->size[i];
    }
    for (unsigned i = w->n; i < 3; i++) {
        low[i] = 0;
        high[i] = 1;
    }
    int64_t k[3];
    for (k[0] = low[0]; k[0] < high[0]; k[0]++)
        for (k[1] = low[1]; k[1] < high[1]; k[1]++)
            for (k[2] = low[2]; k[2] < high[2]; k[2]++) {
                int64_t place = 0;
                for (unsigned i = 0; i < w->n; i++)
                    place += (at[i] + k[i] * w->dilation[i]) * step[i];
                places[found++] = place;
            }
    return found;
}

/* A plane of every sample and channel, and how the work on it is shared. */
struct pooling {
    const struct tdc_windows *w;
    int64_t planes, plane, windows, kernels;
    int teams;
    int64_t *places; /* room for one window's per thread */
    double *values;
    const tdc_array *by; /* means: what each window's sum is divided by, or one number for all */
};

static double divisor(const struct pooling *p, int64_t window)
{
    return p->by->real[p->by->count == 1 ? 0 : window];
}

static struct pooling plan(tdc_evaluation *e, const struct tdc_windows *w, const tdc_array *x)
{
    struct pooling p = {.w = w, .planes = x->shape[0] * x->shape[1]};
    p.plane = tdc_window_product(w, w->size);
    p.windows = tdc_window_product(w, w->count);
    p.kernels = tdc_window_product(w, w->kernel);
    p.teams = omp_in_parallel() || x->count < TDC_PARALLEL_FROM ? 1 : omp_get_max_threads();
    /* a window shows at most the whole plane */
    p.kernels = p.kernels < p.plane ? p.kernels : p.plane;
    p.places = tdc_take(e, p.kernels * p.teams, sizeof *p.places);
    p.values = tdc_take(e, p.kernels * p.teams, sizeof *p.values);
    return p;
}

static tdc_array *new_pooled(tdc_evaluation *e, tdc_dtype dtype, const struct tdc_windows *w,
                             const tdc_array *x)
{
    int64_t shape[5] = {x->shape[0], x->shape[1]};
    memcpy(shape + 2, w->count, w->n * sizeof *shape);
    return tdc_new(e, dtype, 2 + w->n, shape);
}

/* ---- maxima ---------------------------------------------------------------------------------- */

/* The first of the largest of some places of a plane, NaN before all. */
static int64_t largest_of(const double *plane, const int64_t *places, int64_t count)
{
    int64_t best = places[0];
    for (int64_t i = 1; i < count; i++) {
        double v = plane[places[i]];
        if (plane[best] != plane[best])
            return best;
        if (v > plane[best] || v != v)
            best = places[i];
    }
    return best;
}

/* map: places in x, index: places in a plane */
static void give_maxima(tdc_evaluation *e, tdc_array *x, tdc_array *index, int64_t plane,
                        int64_t windows, bool single)
{
    int64_t *map = tdc_take(e, index->count, sizeof *map);
    for (int64_t i = 0; i < index->count; i++)
        map[i] = i / windows * plane + index->whole[i];
    tdc_give_batched(e, tdc_mapped(e, x, map, index->rank, index->shape, 0), single);
    if (tdc_bool_argument(e, "return_indices"))
        tdc_give_batched(e, index, single);
}

static void max_pool(tdc_evaluation *e)
{
    bool single;
    struct tdc_windows w = {.n = (unsigned)e->definition->variant};
    tdc_array *x = tdc_batched(e, tdc_real_array_argument(e, "input"), w.n, &single);
    tdc_read_window(e, &w, x->shape + 2, tdc_bool_argument(e, "ceil_mode"));
    for (unsigned i = 0; i < w.n; i++)
        if (2 * w.before[i] > w.kernel[i])
            tdc_refuse(e, TDC_ERR_ARGUMENT, "pad should be at most half of the kernel size");
    struct pooling p = plan(e, &w, x);
    tdc_array *index = new_pooled(e, TDC_I64, &w, x);
    for (int64_t l = 0; index->count > 0 && l < p.windows; l++)
        if (places_of(&w, l, p.places) == 0)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "a window lies outside the input");
#pragma omp parallel for schedule(static) num_threads(p.teams)
    for (int64_t i = 0; i < index->count; i++) {
        int64_t *places = p.places + omp_get_thread_num() * p.kernels;
        int64_t count = places_of(&w, i % p.windows, places);
        index->whole[i] = largest_of(x->real + i / p.windows * p.plane, places, count);
    }
    give_maxima(e, x, index, p.plane, p.windows, single);
}

/* ---- means ----------------------------------------------------------------------------------- */

/* Shares about to be added to g, as many to an element as windows overlap there. */
static void bound_shares(tdc_evaluation *e, const struct pooling *p, const tdc_array *gradient,
                         tdc_array *g)
{
    double terms = 1;
    for (unsigned i = 0; i < p->w->n; i++)
        terms *= ceil((double)p->w->kernel[i] / (double)p->w->stride[i]);
    double weight =
        tdc_sum_weight(terms) + TDC_BASIC + e->bounds.step * (terms > 1 ? 1 + sqrt(terms) : 0);
    tdc_array *errors = tdc_zeros(e, TDC_F64, g->rank, g->shape);
    if (g->error != NULL)
        memcpy(errors->real, g->error, (size_t)g->count * sizeof *errors->real);
    for (int64_t i = 0; i < gradient->count; i++) {
        int64_t plane = i / p->windows * p->plane;
        int64_t count = places_of(p->w, i % p->windows, p->places);
        double by = fabs(divisor(p, i % p->windows));
        double share = (weight * fabs(gradient->real[i]) + tdc_error_at(gradient, i)) / by;
        for (int64_t k = 0; k < count; k++)
            errors->real[plane + p->places[k]] += share;
    }
    tdc_bound_by(g, errors);
}

static void pull_window_means(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    const struct pooling *p = node->detail;
    tdc_array *x = node->inputs[0];
    if (tdc_is_bounded(e))
        bound_shares(e, p, gradient, tdc_gradient_of(e, x));
    double *g = tdc_gradient_of(e, x)->real;
#pragma omp parallel for schedule(static) num_threads(p->teams)
    for (int64_t plane = 0; plane < p->planes; plane++) {
        int64_t *places = p->places + omp_get_thread_num() * p->kernels;
        for (int64_t l = 0; l < p->windows; l++) {
            int64_t count = places_of(p->w, l, places);
            double share = tdc_step(e, 1 / divisor(p, l) * gradient->real[plane * p->windows + l]);
            for (int64_t i = 0; i < count; i++) {
                double *to = &g[plane * p->plane + places[i]];
                *to = tdc_step(e, *to + share);
            }
        }
    }
}

static void bound_means(tdc_evaluation *e, const struct pooling *p, const tdc_array *x,
                        tdc_array *y)
{
    double *errors = tdc_new_errors(e, y);
    for (int64_t i = 0; i < y->count; i++) {
        int64_t plane = i / p->windows * p->plane;
        int64_t count = places_of(p->w, i % p->windows, p->places);
        double magnitude = 0, carried = 0;
        for (int64_t k = 0; k < count; k++) {
            magnitude += fabs(x->real[plane + p->places[k]]);
            carried += tdc_error_at(x, plane + p->places[k]);
        }
        errors[i] = (tdc_sum_weight((double)count) * magnitude + carried) /
                        fabs(divisor(p, i % p->windows)) +
                    tdc_own_error(e, TDC_BASIC, y->real[i]);
    }
}

static tdc_array *window_means(tdc_evaluation *e, tdc_array *x, const struct tdc_windows *windows,
                               const tdc_array *by)
{
    struct tdc_windows *w = tdc_take(e, 1, sizeof *w);
    struct pooling *p = tdc_take(e, 1, sizeof *p);
    *w = *windows;
    *p = plan(e, w, x);
    p->by = by;
    tdc_array *y = new_pooled(e, TDC_F64, w, x);
#pragma omp parallel for schedule(static) num_threads(p->teams)
    for (int64_t i = 0; i < y->count; i++) {
        int64_t *places = p->places + omp_get_thread_num() * p->kernels;
        double *values = p->values + omp_get_thread_num() * p->kernels;
        const double *plane = x->real + i / p->windows * p->plane;
        int64_t count = places_of(w, i % p->windows, places);
        for (int64_t k = 0; k < count; k++)
            values[k] = plane[places[k]];
        y->real[i] = tdc_row_sum(e, values, count) / divisor(p, i % p->windows);
    }
    if (tdc_is_bounded(e))
        bound_means(e, p, x, y);
    tdc_note(e, y, pull_window_means, p, 1, &x);
    return y;
}

/* What each window's sum is divided by. */
static tdc_array *divisors(tdc_evaluation *e, const struct tdc_windows *w, bool include_padding)
{
    tdc_array *y = tdc_new(e, TDC_F64, w->n, w->count);
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

static void avg_pool(tdc_evaluation *e)
{
    bool single;
    struct tdc_windows w = {.n = (unsigned)e->definition->variant};
    tdc_array *x = tdc_batched(e, tdc_real_array_argument(e, "input"), w.n, &single);
    tdc_read_window(e, &w, x->shape + 2, tdc_bool_argument(e, "ceil_mode"));
    tdc_array *by = tdc_given(e, "divisor_override")
                        ? tdc_number(e, tdc_real_argument(e, "divisor_override"))
                        : divisors(e, &w, tdc_bool_argument(e, "count_include_pad"));
    tdc_give_batched(e, window_means(e, x, &w, by), single);
}

/* (mean of x^p times the kernel's size)^(1/p), as the framework writes it: in a window that
 * ceil_mode lets hang over, the mean is of fewer elements than the kernel has. */
static void lp_pool(tdc_evaluation *e)
{
    bool single;
    struct tdc_windows w = {.n = (unsigned)e->definition->variant};
    double p = tdc_real_argument(e, "norm_type");
    tdc_array *x = tdc_batched(e, tdc_real_array_argument(e, "input"), w.n, &single);
    tdc_read_window(e, &w, x->shape + 2, tdc_bool_argument(e, "ceil_mode"));
    tdc_array *power = tdc_apply_with(e, TDC_POWER, x, p, 0, 0);
    tdc_array *mean = window_means(e, power, &w, divisors(e, &w, true));
    mean = tdc_mul(e, tdc_apply(e, TDC_SIGN, mean),
                   tdc_apply(e, TDC_RELU, tdc_apply(e, TDC_ABS, mean)));
    tdc_array *total = tdc_scale(e, mean, (double)tdc_window_product(&w, w.kernel));
    tdc_give_batched(e, tdc_apply_with(e, TDC_POWER, total, 1 / p, 0, 0), single);
}

/* ---- windows that follow from the size of the output ------------------------------------------
 */

/* output_size: a number, or one for each dimension, None for the input's. */
static void read_output_size(tdc_evaluation *e, unsigned n, const int64_t *size, int64_t *to)
{
    const tdc_call_value *v = tdc_argument(e, "output_size");
    for (unsigned i = 0; i < n; i++) {
        const tdc_call_value *own = v;
        if (v->kind == TDC_VALUE_LIST) {
            if (v->list.count != n && v->list.count != 1)
                tdc_refuse(e, TDC_ERR_ARGUMENT, "output_size has a wrong length");
            own = &v->list.values[v->list.count == 1 ? 0 : i];
        }
        if (own->kind != TDC_VALUE_NULL &&
            (own->kind != TDC_VALUE_INT || own->whole < 1 || own->whole > INT32_MAX))
            tdc_refuse(e, TDC_ERR_ARGUMENT, "output_size must be positive");
        to[i] = own->kind == TDC_VALUE_NULL ? size[i] : own->whole;
    }
}

/* Window `index` of an adaptive pooling as a window of its own. */
static struct tdc_windows adaptive_window(const struct tdc_windows *w, int64_t index)
{
    struct tdc_windows one = *w;
    for (unsigned i = w->n; i-- > 0;) {
        int64_t place = index % w->count[i], n = w->size[i], m = w->count[i];
        index /= m;
        one.before[i] = -(place * n / m);
        one.kernel[i] = ((place + 1) * n + m - 1) / m + one.before[i];
        one.count[i] = one.stride[i] = one.dilation[i] = 1;
    }
    return one;
}

static void adaptive_max_pool(tdc_evaluation *e)
{
    bool single;
    struct tdc_windows w = {.n = (unsigned)e->definition->variant};
    tdc_array *x = tdc_batched(e, tdc_real_array_argument(e, "input"), w.n, &single);
    memcpy(w.size, x->shape + 2, w.n * sizeof *w.size);
    read_output_size(e, w.n, w.size, w.count);
    for (unsigned i = 0; i < w.n; i++) {
        if (w.size[i] < 1)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "the input is empty");
        w.kernel[i] = w.size[i] / w.count[i] + 2;
    }
    struct pooling p = plan(e, &w, x);
    tdc_array *index = new_pooled(e, TDC_I64, &w, x);
#pragma omp parallel for schedule(static) num_threads(p.teams)
    for (int64_t i = 0; i < index->count; i++) {
        int64_t *places = p.places + omp_get_thread_num() * p.kernels;
        struct tdc_windows one = adaptive_window(&w, i % p.windows);
        int64_t count = places_of(&one, 0, places);
        index->whole[i] = largest_of(x->real + i / p.windows * p.plane, places, count);
    }
    give_maxima(e, x, index, p.plane, p.windows, single);
}

/* The inverse of max_pool: values go back to their places, zeros elsewhere. */
static void max_unpool(tdc_evaluation *e)
{
    bool single;
    struct tdc_windows w = {.n = (unsigned)e->definition->variant};
    tdc_array *x = tdc_batched(e, tdc_real_array_argument(e, "input"), w.n, &single);
    tdc_array *index = tdc_array_argument(e, "index");
    int64_t shape[5] = {x->shape[0], x->shape[1]}, plane = 1, inner = 1;
    tdc_read_sizes(e, "kernel_size", w.n, w.kernel, 1);
    memcpy(w.stride, w.kernel, sizeof w.stride);
    if (tdc_given(e, "stride"))
        tdc_read_sizes(e, "stride", w.n, w.stride, 1);
    tdc_read_sizes(e, "padding", w.n, w.before, 0);
    for (unsigned i = 0; i < w.n; i++)
        w.size[i] = (x->shape[2 + i] - 1) * w.stride[i] - 2 * w.before[i] + w.kernel[i];
    if (tdc_given(e, "output_size")) {
        int64_t size[5];
        size_t count = tdc_ints_argument(e, "output_size", size, 5);
        if (count < w.n)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "output_size has a wrong length");
        memcpy(w.size, size + count - w.n, w.n * sizeof *size);
    }
    for (unsigned i = 0; i < w.n; i++) {
        if (w.size[i] < 1 || w.size[i] > INT32_MAX)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "output_size is out of range");
        shape[2 + i] = w.size[i];
        plane *= w.size[i];
        inner *= x->shape[2 + i];
    }
    if (index->count != x->count || tdc_dtype_is_floating(index->dtype))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "indices do not fit the input");
    int64_t *map = tdc_take(e, x->count, sizeof *map);
    for (int64_t i = 0; i < x->count; i++) {
        if (index->whole[i] < 0 || index->whole[i] >= plane)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "index out of range");
        map[i] = i / inner * plane + index->whole[i];
    }
    tdc_array *zeros = tdc_zeros(e, TDC_F64, 2 + w.n, shape);
    tdc_give_batched(e, tdc_overwritten(e, zeros, x, map), single);
}

#define FUNCTIONALS (TDC_IN_FUNCTIONALS | TDC_IN_TORCH)
#define WITH_INDICES                                                                               \
    "input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, "                    \
    "return_indices=True"
#define UNPOOL "input, index, kernel_size, stride=None, padding=0, output_size=None"
#define MAX_POOL                                                                                   \
    "input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, "                    \
    "return_indices=False"
#define AVG_POOL                                                                                   \
    "input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, "        \
    "divisor_override=None, dilation=1"
#define LP_POOL                                                                                    \
    "input, norm_type, kernel_size, stride=None, ceil_mode=False, *, padding=0, dilation=1"
#define ADAPTIVE "input, output_size, return_indices=False"
static const struct tdc_operator rows[] = {
    {"max_pool1d", FUNCTIONALS, MAX_POOL, max_pool, 1, 0},
    {"max_pool2d", FUNCTIONALS, MAX_POOL, max_pool, 2, 0},
    {"max_pool3d", FUNCTIONALS, MAX_POOL, max_pool, 3, 0},
    {"max_pool1d_with_indices", FUNCTIONALS, WITH_INDICES, max_pool, 1, 0},
    {"max_unpool1d", TDC_IN_FUNCTIONALS, UNPOOL, max_unpool, 1, 0},
    {"adaptive_max_pool1d_with_indices", TDC_IN_FUNCTIONALS,
     "input, output_size, return_indices=True", adaptive_max_pool, 1, 0},
    {"max_pool2d_with_indices", FUNCTIONALS, WITH_INDICES, max_pool, 2, 0},
    {"max_unpool2d", TDC_IN_FUNCTIONALS, UNPOOL, max_unpool, 2, 0},
    {"adaptive_max_pool2d_with_indices", TDC_IN_FUNCTIONALS,
     "input, output_size, return_indices=True", adaptive_max_pool, 2, 0},
    {"max_pool3d_with_indices", FUNCTIONALS, WITH_INDICES, max_pool, 3, 0},
    {"max_unpool3d", TDC_IN_FUNCTIONALS, UNPOOL, max_unpool, 3, 0},
    {"adaptive_max_pool3d_with_indices", TDC_IN_FUNCTIONALS,
     "input, output_size, return_indices=True", adaptive_max_pool, 3, 0},
    {"avg_pool1d", FUNCTIONALS, AVG_POOL, avg_pool, 1, 0},
    {"avg_pool2d", FUNCTIONALS, AVG_POOL, avg_pool, 2, 0},
    {"avg_pool3d", FUNCTIONALS, AVG_POOL, avg_pool, 3, 0},
    {"lp_pool1d", TDC_IN_FUNCTIONALS, LP_POOL, lp_pool, 1, 0},
    {"lp_pool2d", TDC_IN_FUNCTIONALS, LP_POOL, lp_pool, 2, 0},
    {"lp_pool3d", TDC_IN_FUNCTIONALS, LP_POOL, lp_pool, 3, 0},
    {"adaptive_max_pool1d", TDC_IN_TORCH, "input, output_size, *, return_indices=True",
     adaptive_max_pool, 1, 0},
    {"adaptive_max_pool1d", TDC_IN_FUNCTIONALS, ADAPTIVE, adaptive_max_pool, 1, 0},
    {"adaptive_max_pool2d", TDC_IN_FUNCTIONALS, ADAPTIVE, adaptive_max_pool, 2, 0},
    {"adaptive_max_pool3d", TDC_IN_FUNCTIONALS, ADAPTIVE, adaptive_max_pool, 3, 0},
};
const struct tdc_operator_family tdc_pooling_family = TDC_FAMILY("pooling", rows);
