#include <math.h>
#include <string.h>

#include "reference/arithmetic.h"
#include "reference/primitives/elementwise/elementwise_bounds.h"
#include "reference/primitives/elementwise/promote.h"
#include "reference/primitives/elementwise/steps.h"
#include "reference/primitives/move.h"
#include "reference/primitives/vector/vector_math.h"
#include "reference/tape.h"

#define BINARY(name, value_of, slope_a, slope_b)                                                   \
    static void name(double *out, const double *a, const double *b, size_t n, int which)           \
    {                                                                                              \
        if (which == 0)                                                                            \
            for (size_t i = 0; i < n; i++)                                                         \
                out[i] = (value_of);                                                               \
        else if (which == 1)                                                                       \
            for (size_t i = 0; i < n; i++)                                                         \
                out[i] = (slope_a);                                                                \
        else                                                                                       \
            for (size_t i = 0; i < n; i++)                                                         \
                out[i] = (slope_b);                                                                \
        (void)a;                                                                                   \
        (void)b;                                                                                   \
    }

static double remainder_of(double a, double b)
{
    double r = fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* As the frameworks do it: from the remainder, so that a - floor(a/b)*b fits. */
static double floor_quotient(double a, double b)
{
    if (b == 0)
        return a / b;
    double r = fmod(a, b), q = (a - r) / b;
    if (r != 0 && (b < 0) != (r < 0))
        q -= 1;
    if (q == 0)
        return copysign(0.0, a / b);
    double f = floor(q);
    return q - f > 0.5 ? f + 1 : f;
}

static double larger(double a, double b)
{
    return isnan(a) || isnan(b) ? (double)NAN : a > b ? a : b;
}

static double smaller(double a, double b)
{
    return isnan(a) || isnan(b) ? (double)NAN : a < b ? a : b;
}

BINARY(added, a[i] + b[i], 1.0, 1.0)
BINARY(subtracted, a[i] - b[i], 1.0, -1.0)
BINARY(multiplied, a[i] * b[i], b[i], a[i])
BINARY(divided, a[i] / b[i], 1 / b[i], -(a[i] / b[i]) / b[i])
BINARY(maximum, larger(a[i], b[i]),
       a[i] == b[i]  ? 0.5
       : a[i] < b[i] ? 0.0
                     : 1.0,
       a[i] == b[i]  ? 0.5
       : b[i] < a[i] ? 0.0
                     : 1.0)
BINARY(minimum, smaller(a[i], b[i]),
       a[i] == b[i]  ? 0.5
       : a[i] > b[i] ? 0.0
                     : 1.0,
       a[i] == b[i]  ? 0.5
       : b[i] > a[i] ? 0.0
                     : 1.0)
BINARY(remainders, remainder_of(a[i], b[i]), 1.0, -floor_quotient(a[i], b[i]))
BINARY(truncated_remainders, fmod(a[i], b[i]), 1.0, -trunc(a[i] / b[i]))
BINARY(floor_divided, floor_quotient(a[i], b[i]), 0.0, 0.0)
BINARY(trunc_divided, trunc(a[i] / b[i]), 0.0, 0.0)
BINARY(sign_copied, copysign(a[i], b[i]),
       a[i] == 0 ? 0.0 : (signbit(a[i]) == signbit(b[i]) ? 1.0 : -1.0), 0.0)
BINARY(prelu, a[i] > 0 ? a[i] : b[i] * a[i], a[i] > 0 ? 1.0 : b[i], a[i] > 0 ? 0.0 : a[i])

static void angle(double *out, const double *a, const double *b, size_t n, int which)
{
    if (which == 0) {
        tdc_vatan2(out, a, b, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        double r = a[i] * a[i] + b[i] * b[i];
        out[i] = r == 0 ? 0 : which == 1 ? b[i] / r : -a[i] / r;
    }
}

static void hypotenuse(double *out, const double *a, const double *b, size_t n, int which)
{
    tdc_vhypot(out, a, b, n);
    for (size_t i = 0; which != 0 && i < n; i++)
        out[i] = (which == 1 ? a[i] : b[i]) / out[i];
}

static void raised(double *out, const double *a, const double *b, size_t n, int which)
{
    double t[TDC_BLOCK] = {0};
    if (which == 1) {
        for (size_t i = 0; i < n; i++)
            t[i] = b[i] - 1;
        tdc_vpow(out, a, t, n);
        for (size_t i = 0; i < n; i++)
            out[i] = b[i] == 0 ? 0 : b[i] * out[i];
        return;
    }
    tdc_vpow(out, a, b, n);
    if (which == 2) {
        tdc_vlog(t, a, n);
        for (size_t i = 0; i < n; i++)
            out[i] = a[i] == 0 && b[i] >= 0 ? 0 : out[i] * t[i];
    }
}

static void log_add_exp(double *out, const double *a, const double *b, size_t n, int which)
{
    double t[TDC_BLOCK] = {0};
    for (size_t i = 0; i < n; i++)
        t[i] = -fabs(a[i] - b[i]);
    tdc_vexp(t, t, n);
    if (which == 0) {
        tdc_vlog1p(t, t, n);
        for (size_t i = 0; i < n; i++)
            out[i] = a[i] == b[i] && isinf(a[i]) ? a[i] : larger(a[i], b[i]) + t[i];
        return;
    }
    for (size_t i = 0; i < n; i++) {
        bool own = which == 1 ? a[i] >= b[i] : b[i] >= a[i];
        out[i] = own ? 1 / (1 + t[i]) : t[i] / (1 + t[i]);
    }
}

static void x_log_y(double *out, const double *a, const double *b, size_t n, int which)
{
    double t[TDC_BLOCK] = {0};
    tdc_vlog(t, b, n);
    for (size_t i = 0; i < n; i++) {
        if (which == 0)
            out[i] = isnan(b[i]) ? b[i] : a[i] == 0 ? 0 : a[i] * t[i];
        else if (which == 1)
            out[i] = a[i] == 0 && b[i] <= 0 ? 0 : t[i];
        else
            out[i] = a[i] / b[i];
    }
}

static tdc_binary_block *const blocks[TDC_BINARY_COUNT] = {
    [TDC_ADD] = added,
    [TDC_SUB] = subtracted,
    [TDC_MUL] = multiplied,
    [TDC_DIV] = divided,
    [TDC_MAXIMUM] = maximum,
    [TDC_MINIMUM] = minimum,
    [TDC_ATAN2] = angle,
    [TDC_POW] = raised,
    [TDC_LOGADDEXP] = log_add_exp,
    [TDC_XLOGY] = x_log_y,
    [TDC_REMAINDER] = remainders,
    [TDC_FMOD] = truncated_remainders,
    [TDC_FLOOR_DIV] = floor_divided,
    [TDC_TRUNC_DIV] = trunc_divided,
    [TDC_HYPOT] = hypotenuse,
    [TDC_COPYSIGN] = sign_copied,
    [TDC_PRELU] = prelu,
};

static void run_blocks(tdc_binary_block *block, double *out, const tdc_array *a, const tdc_array *b,
                       int which, const double *times)
{
    int64_t count = a->count;
    TDC_SPREAD_BLOCKS(count, start, {
        size_t n = (size_t)(count - start < TDC_BLOCK ? count - start : TDC_BLOCK);
        double *o = out + start;
        block(o, a->real + start, b->real + start, n, which);
        for (size_t i = 0; times != NULL && i < n; i++)
            o[i] = o[i] == 0 ? 0 : o[i] * times[start + (int64_t)i];
    });
}

static void pull_binary(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    enum tdc_binary function = *(const enum tdc_binary *)node->detail;
    tdc_binary_block *block = blocks[function];
    tdc_array *a = node->inputs[0], *b = node->inputs[1];
    for (int side = 1; side <= 2; side++) {
        tdc_array *input = side == 1 ? a : b;
        if (!tdc_tracked(input))
            continue;
        tdc_array *g = tdc_new_like(e, TDC_F64, input);
        run_blocks(block, g->real, a, b, side, tdc_is_narrow(e) ? NULL : gradient->real);
        if (tdc_is_narrow(e))
            g = tdc_slope_times(e, g, gradient);
        if (tdc_is_bounded(e))
            tdc_bound_binary_pull(e, function, block, a, b, side, gradient, g);
        tdc_collect(e, input, g);
    }
}

tdc_array *tdc_combine(tdc_evaluation *e, enum tdc_binary function, tdc_array *a, tdc_array *b)
{
    a = tdc_to_real(e, a);
    b = tdc_to_real(e, b);
    unsigned rank;
    int64_t shape[TDC_REFERENCE_RANK];
    tdc_broadcast_shape(e, a, b, &rank, shape);
    a = tdc_expand(e, a, rank, shape);
    b = tdc_expand(e, b, rank, shape);
    tdc_array *y = tdc_is_narrow(e) ? tdc_binary_steps(e, function, a, b) : NULL;
    if (y == NULL) {
        y = tdc_new(e, TDC_F64, rank, shape);
        run_blocks(blocks[function], y->real, a, b, 0, NULL);
    }
    if (tdc_is_bounded(e))
        tdc_bound_binary(e, function, blocks[function], a, b, y);
    enum tdc_binary *detail = tdc_take(e, 1, sizeof *detail);
    *detail = function;
    tdc_note(e, y, pull_binary, detail, 2, (tdc_array *[]){a, b});
    return y;
}

tdc_array *tdc_add(tdc_evaluation *e, tdc_array *a, tdc_array *b)
{
    return tdc_combine(e, TDC_ADD, a, b);
}

tdc_array *tdc_sub(tdc_evaluation *e, tdc_array *a, tdc_array *b)
{
    return tdc_combine(e, TDC_SUB, a, b);
}

tdc_array *tdc_mul(tdc_evaluation *e, tdc_array *a, tdc_array *b)
{
    return tdc_combine(e, TDC_MUL, a, b);
}

tdc_array *tdc_div(tdc_evaluation *e, tdc_array *a, tdc_array *b)
{
    return tdc_combine(e, TDC_DIV, a, b);
}

static void pull_select(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *condition = node->inputs[0];
    for (int side = 1; side <= 2; side++) {
        tdc_array *input = node->inputs[side];
        if (!tdc_tracked(input))
            continue;
        tdc_array *g = tdc_new_like(e, TDC_F64, input);
        TDC_SPREAD(g->count, i, g->count, {
            g->real[i] = (condition->whole[i] != 0) == (side == 1) ? gradient->real[i] : 0;
        });
        double *errors = gradient->error != NULL ? tdc_new_errors(e, g) : NULL;
        for (int64_t i = 0; errors != NULL && i < g->count; i++)
            errors[i] = (condition->whole[i] != 0) == (side == 1) ? gradient->error[i] : 0;
        tdc_bound_exactly(g);
        tdc_collect(e, input, g);
    }
}

tdc_array *tdc_select(tdc_evaluation *e, tdc_array *condition, tdc_array *a, tdc_array *b)
{
    unsigned rank;
    int64_t shape[TDC_REFERENCE_RANK];
    tdc_dtype dtype = tdc_promoted(a, b);
    a = tdc_convert(e, a, dtype);
    b = tdc_convert(e, b, dtype);
    condition = tdc_truth(e, condition);
    tdc_broadcast_shape(e, a, b, &rank, shape);
    tdc_array *both = tdc_expand(e, a, rank, shape);
    tdc_broadcast_shape(e, both, condition, &rank, shape);
    a = tdc_expand(e, a, rank, shape);
    b = tdc_expand(e, b, rank, shape);
    condition = tdc_expand(e, condition, rank, shape);
    tdc_array *y = tdc_new(e, dtype, rank, shape);
    TDC_SPREAD(y->count, i, y->count,
               { y->whole[i] = condition->whole[i] != 0 ? a->whole[i] : b->whole[i]; });
    double *errors = a->error != NULL || b->error != NULL ? tdc_new_errors(e, y) : NULL;
    for (int64_t i = 0; errors != NULL && i < y->count; i++)
        errors[i] = tdc_error_at(condition->whole[i] != 0 ? a : b, i);
    tdc_bound_exactly(y);
    tdc_note(e, y, pull_select, NULL, 3, (tdc_array *[]){condition, a, b});
    return y;
}
