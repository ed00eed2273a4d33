/* Errors of elementwise functions of one operand, and of what their slopes give. */

#include <string.h>

#include "reference/primitives/elementwise/elementwise_bounds.h"
#include "reference/primitives/elementwise/steps.h"

/* How much a function loses, in units: of its result y at x. */
enum loss {
    EXACT,     /* no rounding: copies, extremes, whole numbers */
    BASIC,     /* one or two basic operations */
    PLAIN,     /* an elementary function, relative to its result */
    GROWING,   /* the same where the argument's magnitude is lost: exponentials */
    ARGUMENT,  /* absolute as far as its argument: sine and cosine reduce theirs */
    ABSOLUTE,  /* relative to 1 at least */
    POWER_LOSS /* relative, with the logarithm of the result */
};

static enum loss loss_of(enum tdc_unary function, const double *p)
{
    int exponent;
    switch (function) {
    case TDC_ABS:
    case TDC_RELU:
    case TDC_CEIL:
    case TDC_FLOOR:
    case TDC_ROUND:
    case TDC_TRUNC:
    case TDC_SIGN:
    case TDC_FRAC:
    case TDC_HARDSHRINK:
    case TDC_HARDTANH:
    case TDC_CLAMP:
    case TDC_THRESHOLD:
    case TDC_NAN_TO_NUM:
        return EXACT;
    case TDC_SCALE: /* by a power of two nothing is lost */
        return fabs(frexp(p[0], &exponent)) == 0.5 || p[0] == 0 ? EXACT : BASIC;
    case TDC_SHIFT:
        return p[0] == 0 ? EXACT : BASIC;
    case TDC_SQRT:
    case TDC_RSQRT:
    case TDC_RECIPROCAL:
    case TDC_SQUARE:
    case TDC_LEAKY_RELU:
    case TDC_SOFTSHRINK:
        return BASIC;
    case TDC_EXP:
    case TDC_EXPM1:
    case TDC_EXP2:
    case TDC_SINH:
    case TDC_COSH:
    case TDC_I0:
        return GROWING;
    case TDC_SIN:
    case TDC_COS:
    case TDC_TAN:
    case TDC_LGAMMA:
    case TDC_DIGAMMA:
        return ARGUMENT;
    case TDC_ERF:
    case TDC_ERFC:
    case TDC_ACOS:
        return ABSOLUTE;
    case TDC_POWER:
        return p[0] == 1 ? EXACT : p[0] == 2 || p[0] == 0.5 || p[0] == -1 ? BASIC : POWER_LOSS;
    default:
        return PLAIN;
    }
}

static double own_loss(enum loss loss, double x, double y)
{
    switch (loss) {
    case EXACT:
        return 0;
    case BASIC:
        return TDC_BASIC;
    case GROWING:
        return TDC_ELEMENTARY * (1 + fabs(x));
    case ARGUMENT:
        return TDC_ELEMENTARY * (1 + fabs(x) / fabs(y));
    case ABSOLUTE:
        return TDC_ELEMENTARY * (1 + 1 / fabs(y));
    case POWER_LOSS:
        return TDC_ELEMENTARY * (1 + fabs(log(fabs(y))));
    default:
        return TDC_ELEMENTARY;
    }
}

/* What f makes of an error: the larger of what it moves to either side. A side that leaves the
 * function's domain does not count; a pole within reach bounds nothing. */
static double moved(double y, double above, double below, double unit)
{
    double up = isnan(above) ? 0 : fabs(above - y), down = isnan(below) ? 0 : fabs(below - y);
    return (up > down ? up : down) / unit;
}

static void carried_through(const tdc_evaluation *e, enum tdc_unary function, const double *p,
                            const double *x, const double *y, const double *error, size_t n,
                            double *result)
{
    double above[TDC_BLOCK] = {0}, below[TDC_BLOCK] = {0};
    for (size_t i = 0; i < n; i++) {
        above[i] = x[i] + error[i] * e->bounds.unit;
        below[i] = x[i] - error[i] * e->bounds.unit;
    }
    tdc_unary_functions[function].apply(above, above, n, p);
    tdc_unary_functions[function].apply(below, below, n, p);
    for (size_t i = 0; i < n; i++)
        result[i] = error[i] == 0 ? 0 : moved(y[i], above[i], below[i], e->bounds.unit);
}

void tdc_bound_unary(tdc_evaluation *e, enum tdc_unary function, const tdc_array *x, tdc_array *y,
                     const double p[3])
{
    enum loss loss = loss_of(function, p);
    if (loss == EXACT && x->error == NULL) {
        tdc_bound_exactly(y);
        return;
    }
    bool recording = e->recording;
    e->recording = false;
    tdc_array *steps = tdc_unary_steps(e, function, (tdc_array *)x, p);
    e->recording = recording;
    if (steps != NULL) {
        tdc_bound_as(y, steps);
        return;
    }
    double *errors = tdc_new_errors(e, y);
    TDC_SPREAD_BLOCKS(y->count, start, {
        size_t n = tdc_block_size(y->count, start);
        double *to = errors + start;
        const double *in = x->real + start, *out = y->real + start;
        if (x->error != NULL)
            carried_through(e, function, p, in, out, x->error + start, n, to);
        else
            memset(to, 0, n * sizeof *to);
        for (size_t i = 0; loss != EXACT && i < n; i++) {
            if (loss == ARGUMENT && out[i] == 0)
                to[i] += TDC_ELEMENTARY * fabs(in[i]);
            else if (loss == ABSOLUTE && out[i] == 0)
                to[i] += in[i] == 0 || function == TDC_ACOS ? 0 : TDC_ELEMENTARY;
            else
                to[i] += tdc_own_error(e, own_loss(loss, in[i], out[i]), out[i]);
            if (function == TDC_SHIFT)
                to[i] += fabs(p[0]); /* the constant is rounded */
        }
    });
}

/* ---- slopes ---------------------------------------------------------------------------------- */

/* The slope and its errors: by its steps, or as one operation whose operands move. */
static tdc_array *slope_of(tdc_evaluation *e, enum tdc_unary function, tdc_array *x, tdc_array *y,
                           const double p[3])
{
    tdc_array *slope = tdc_slope_steps(e, function, x, y, p);
    if (slope != NULL)
        return slope;
    const struct tdc_unary_function *f = &tdc_unary_functions[function];
    slope = tdc_zeros(e, TDC_F64, x->rank, x->shape);
    enum loss loss = loss_of(function, p);
    if (f->slope == NULL) {
        tdc_bound_exactly(slope);
        return slope;
    }
    /* constants, or the argument itself */
    bool given = loss == EXACT || function == TDC_SCALE || function == TDC_SHIFT ||
                 function == TDC_LEAKY_RELU || function == TDC_SOFTSHRINK || function == TDC_SQUARE;
    double *errors = tdc_new_errors(e, slope), unit = e->bounds.unit;
    TDC_SPREAD_BLOCKS(x->count, start, {
        size_t n = tdc_block_size(x->count, start);
        double *d = slope->real + start, *to = errors + start;
        f->slope(d, x->real + start, y->real + start, n, p);
        for (size_t i = 0; i < n; i++)
            to[i] = given ? 0 : tdc_own_error(e, TDC_ELEMENTARY, d[i]);
        for (int side = -1; side <= 1 && !given; side += 2) {
            double in[TDC_BLOCK] = {0}, out[TDC_BLOCK] = {0}, near[TDC_BLOCK];
            for (size_t i = 0; i < n; i++) {
                in[i] =
                    x->real[start + (int64_t)i] + side * tdc_error_at(x, start + (int64_t)i) * unit;
                out[i] =
                    y->real[start + (int64_t)i] + side * tdc_error_at(y, start + (int64_t)i) * unit;
            }
            f->slope(near, in, y->real + start, n, p);
            for (size_t i = 0; i < n; i++)
                to[i] += in[i] == x->real[start + (int64_t)i] || isnan(near[i])
                             ? 0
                             : fabs(near[i] - d[i]) / unit;
            f->slope(near, x->real + start, out, n, p);
            for (size_t i = 0; i < n; i++)
                to[i] += isnan(near[i]) ? 0 : fabs(near[i] - d[i]) / unit;
        }
        for (size_t i = 0; function == TDC_SQUARE && i < n; i++)
            to[i] += 2 * tdc_error_at(x, start + (int64_t)i);
    });
    return slope;
}

void tdc_bound_unary_pull(tdc_evaluation *e, enum tdc_unary function, tdc_array *x, tdc_array *y,
                          const double p[3], const tdc_array *gradient, tdc_array *g)
{
    const tdc_array *slope = slope_of(e, function, x, y, p);
    double *errors = tdc_new_errors(e, g);
    TDC_SPREAD(g->count, i, g->count, {
        double by = gradient->real[i];
        errors[i] = tdc_pulled_error(e, slope->real[i], tdc_error_at(slope, i), by,
                                     tdc_error_at(gradient, i));
        /* at its kinks frameworks take the slope of either side */
        if (function == TDC_HARDSWISH && fabs(x->real[i]) == 3)
            errors[i] += 0.5 * fabs(by) / e->bounds.unit;
    });
}
