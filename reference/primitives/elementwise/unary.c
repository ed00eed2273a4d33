#include <string.h>

#include "reference/arithmetic.h"
#include "reference/primitives/elementwise/elementwise_bounds.h"
#include "reference/primitives/elementwise/steps.h"
#include "reference/tape.h"

struct unary_detail {
    enum tdc_unary function;
    double p[3];
};

/* The slope is a result of its own, rounded before it meets the gradient. */
static tdc_array *narrow_pull(tdc_evaluation *e, const struct unary_detail *detail, tdc_array *x,
                              tdc_array *y, const tdc_array *gradient)
{
    tdc_array *slope = tdc_slope_steps(e, detail->function, x, y, detail->p);
    if (slope == NULL) {
        const struct tdc_unary_function *function = &tdc_unary_functions[detail->function];
        slope = tdc_zeros(e, TDC_F64, x->rank, x->shape);
        for (int64_t start = 0; function->slope != NULL && start < x->count; start += TDC_BLOCK)
            function->slope(slope->real + start, x->real + start, y->real + start,
                            tdc_block_size(x->count, start), detail->p);
    }
    return tdc_slope_times(e, slope, gradient);
}

static void pull_unary(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    const struct unary_detail *detail = node->detail;
    const struct tdc_unary_function *function = &tdc_unary_functions[detail->function];
    tdc_array *x = node->inputs[0], *y = node->output;
    if (tdc_is_narrow(e)) {
        tdc_collect(e, x, narrow_pull(e, detail, x, y, gradient));
        return;
    }
    tdc_array *g = tdc_new_like(e, TDC_F64, x);
    TDC_SPREAD_BLOCKS(x->count, start, {
        size_t n = tdc_block_size(x->count, start);
        double *d = g->real + start;
        if (function->slope == NULL) {
            memset(d, 0, n * sizeof *d);
            continue;
        }
        function->slope(d, x->real + start, y->real + start, n, detail->p);
        for (size_t i = 0; i < n; i++)
            d[i] = d[i] == 0 ? 0 : d[i] * gradient->real[start + (int64_t)i];
    });
    if (tdc_is_bounded(e))
        tdc_bound_unary_pull(e, detail->function, x, y, detail->p, gradient, g);
    tdc_collect(e, x, g);
}

tdc_array *tdc_apply_with(tdc_evaluation *e, enum tdc_unary function, tdc_array *x, double p0,
                          double p1, double p2)
{
    x = tdc_to_real(e, x);
    struct unary_detail *detail = tdc_take(e, 1, sizeof *detail);
    *detail = (struct unary_detail){function, {p0, p1, p2}};
    /* called, not put in: gcc 12 loses these roundings when it makes vectors of them */
    if (tdc_is_narrow(e))
        tdc_round_elements(detail->p, 3, TDC_F32);
    tdc_array *y = tdc_is_narrow(e) ? tdc_unary_steps(e, function, x, detail->p) : NULL;
    if (y != NULL) {
        tdc_note(e, y, pull_unary, detail, 1, &x);
        return y;
    }
    y = tdc_new_like(e, TDC_F64, x);
    TDC_SPREAD_BLOCKS(x->count, start, {
        tdc_unary_functions[function].apply(y->real + start, x->real + start,
                                            tdc_block_size(x->count, start), detail->p);
    });
    if (tdc_is_bounded(e))
        tdc_bound_unary(e, function, x, y, detail->p);
    tdc_note(e, y, pull_unary, detail, 1, &x);
    return y;
}

tdc_array *tdc_apply(tdc_evaluation *e, enum tdc_unary function, tdc_array *x)
{
    return tdc_apply_with(e, function, x, 0, 0, 0);
}

tdc_array *tdc_scale(tdc_evaluation *e, tdc_array *x, double factor)
{
    return tdc_apply_with(e, TDC_SCALE, x, factor, 0, 0);
}

tdc_array *tdc_shift(tdc_evaluation *e, tdc_array *x, double term)
{
    return tdc_apply_with(e, TDC_SHIFT, x, term, 0, 0);
}
