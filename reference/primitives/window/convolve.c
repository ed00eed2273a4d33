#include <math.h>
#include <omp.h>
#include <string.h>

#include "reference/arithmetic.h"
#include "reference/bounds.h"
#include "reference/primitives/elementwise/binary.h"
#include "reference/primitives/window/convolution.h"
#include "reference/tape.h"

#define ADJOINT_ROUNDINGS 4.0

static tdc_array *new_image(tdc_evaluation *e, const struct tdc_convolution *c)
{
    int64_t shape[5] = {c->samples, c->groups * c->channels};
    memcpy(shape + 2, c->w.size, c->w.n * sizeof *shape);
    return tdc_zeros(e, TDC_F64, 2 + c->w.n, shape);
}

static tdc_array *new_map(tdc_evaluation *e, const struct tdc_convolution *c)
{
    int64_t shape[5] = {c->samples, c->groups * c->rows};
    memcpy(shape + 2, c->w.count, c->w.n * sizeof *shape);
    return tdc_zeros(e, TDC_F64, 2 + c->w.n, shape);
}

static struct tdc_convolution *new_convolution(tdc_evaluation *e, const struct tdc_windows *w,
                                               const tdc_array *x, const tdc_array *weight,
                                               int64_t groups)
{
    struct tdc_convolution *c = tdc_take(e, 1, sizeof *c);
    *c = (struct tdc_convolution){.w = *w,
                                  .samples = x->shape[0],
                                  .groups = groups,
                                  .channels = weight->shape[1],
                                  .rows = weight->shape[0] / groups,
                                  .kernels = tdc_window_product(w, w->kernel),
                                  .windows = tdc_window_product(w, w->count),
                                  .plane = tdc_window_product(w, w->size),
                                  .teams = omp_in_parallel() ? 1 : omp_get_max_threads()};
    int64_t total;
    if (__builtin_mul_overflow(c->channels, c->kernels, &c->depth) ||
        __builtin_mul_overflow(c->depth, c->windows, &total))
        tdc_refuse(e, TDC_ERR_MEMORY, "a size overflows");
    if (tdc_is_narrow(e))
        tdc_plan_narrow_products(e, c);
    else
        tdc_plan_products(e, c);
    return c;
}

/* Of `result` = how(x, y), sums of n products each. */
static void bound_combined(tdc_evaluation *e, const struct tdc_convolution *c,
                           tdc_conv_product *how, const tdc_array *x, const tdc_array *y, double n,
                           bool adjoint, tdc_array *result)
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
static double spread_terms(const struct tdc_convolution *c)
{
    double terms = (double)c->rows;
    for (unsigned i = 0; i < c->w.n; i++)
        terms *= ceil((double)c->w.kernel[i] / (double)c->w.stride[i]);
    return terms;
}

static double weigh_terms(const struct tdc_convolution *c)
{
    return (double)c->samples * (double)c->windows;
}

static void pull_weight(tdc_evaluation *e, const struct tdc_convolution *c, const tdc_array *weight,
                        const tdc_array *map, const tdc_array *image)
{
    if (!tdc_tracked(weight))
        return;
    tdc_array *g = tdc_zeros(e, TDC_F64, weight->rank, weight->shape);
    c->weigh(c, map->real, image->real, g->real);
    if (tdc_is_bounded(e))
        bound_combined(e, c, c->weigh, map, image, weigh_terms(c), true, g);
    tdc_collect(e, weight, g);
}

static void pull_convolve(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    const struct tdc_convolution *c = node->detail;
    tdc_array *x = node->inputs[0], *weight = node->inputs[1];
    if (tdc_tracked(x)) {
        tdc_array *g = new_image(e, c);
        c->spread(c, gradient->real, weight->real, g->real);
        if (tdc_is_bounded(e))
            bound_combined(e, c, c->spread, gradient, weight, spread_terms(c), true, g);
        tdc_collect(e, x, g);
    }
    pull_weight(e, c, weight, gradient, x);
}

static void pull_convolve_back(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    const struct tdc_convolution *c = node->detail;
    tdc_array *x = node->inputs[0], *weight = node->inputs[1];
    if (tdc_tracked(x)) {
        tdc_array *g = new_map(e, c);
        c->correlate(c, gradient->real, weight->real, g->real);
        if (tdc_is_bounded(e))
            bound_combined(e, c, c->correlate, gradient, weight, (double)c->depth, true, g);
        tdc_collect(e, x, g);
    }
    pull_weight(e, c, weight, x, gradient);
}

tdc_array *tdc_convolve(tdc_evaluation *e, tdc_array *x, tdc_array *weight,
                        const struct tdc_windows *w, int64_t groups)
{
    struct tdc_convolution *c = new_convolution(e, w, x, weight, groups);
    tdc_array *y = new_map(e, c);
    c->correlate(c, x->real, weight->real, y->real);
    if (tdc_is_bounded(e))
        bound_combined(e, c, c->correlate, x, weight, (double)c->depth, false, y);
    tdc_note(e, y, pull_convolve, c, 2, (tdc_array *[]){x, weight});
    return y;
}

tdc_array *tdc_convolve_back(tdc_evaluation *e, tdc_array *x, tdc_array *weight,
                             const struct tdc_windows *w, int64_t groups)
{
    struct tdc_convolution *c = new_convolution(e, w, x, weight, groups);
    tdc_array *y = new_image(e, c);
    c->spread(c, x->real, weight->real, y->real);
    if (tdc_is_bounded(e))
        bound_combined(e, c, c->spread, x, weight, spread_terms(c), true, y);
    tdc_note(e, y, pull_convolve_back, c, 2, (tdc_array *[]){x, weight});
    return y;
}
