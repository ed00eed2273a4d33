/* Errors of elementwise functions of two operands, and of what their slopes give. */

#include "reference/primitives/elementwise/elementwise_bounds.h"
#include "reference/primitives/elementwise/steps.h"

static double own_weight(enum tdc_binary function)
{
    switch (function) {
    case TDC_MAXIMUM:
    case TDC_MINIMUM:
    case TDC_COPYSIGN:
        return 0;
    case TDC_ADD:
    case TDC_SUB:
    case TDC_MUL:
    case TDC_DIV:
    case TDC_PRELU:
    case TDC_FMOD:
        return TDC_BASIC;
    default:
        return TDC_ELEMENTARY;
    }
}

static bool jumps(enum tdc_binary function)
{
    return function == TDC_REMAINDER || function == TDC_FMOD || function == TDC_FLOOR_DIV ||
           function == TDC_TRUNC_DIV;
}

/* Quotients are rounded before their fraction is cut off: where one comes that near to a whole
 * number, the next one is as good. */
static double jump_error(const tdc_evaluation *e, enum tdc_binary function, double a, double b,
                         double ea, double eb)
{
    double q = a / b, unit = e->bounds.unit;
    double near = fabs(q) * (TDC_BASIC + (e->bounds.narrow > 1 ? e->bounds.narrow : 0)) +
                  ea / fabs(b) + fabs(q) * eb / fabs(b);
    bool close = fabs(q - rint(q)) <= near * unit && q != rint(q);
    close |= q == rint(q) && (ea != 0 || eb != 0);
    bool rest = function == TDC_REMAINDER || function == TDC_FMOD;
    return (close ? (rest ? fabs(b) : 1) / unit : 0) + (rest ? TDC_BASIC * fabs(a) : 0);
}

static double own_loss(enum tdc_binary function, double y)
{
    double weight = own_weight(function);
    if (function == TDC_POW && y != 0)
        weight *= 1 + fabs(log(fabs(y)));
    return weight;
}

void tdc_bound_binary(tdc_evaluation *e, enum tdc_binary function, tdc_binary_block *block,
                      tdc_array *a, tdc_array *b, tdc_array *y)
{
    if (own_weight(function) == 0 && a->error == NULL && b->error == NULL) {
        tdc_bound_exactly(y);
        return;
    }
    bool recording = e->recording;
    e->recording = false;
    tdc_array *steps = tdc_binary_steps(e, function, a, b);
    e->recording = recording;
    if (steps != NULL) {
        tdc_bound_as(y, steps);
        return;
    }
    double *errors = tdc_new_errors(e, y);
    TDC_SPREAD_BLOCKS(y->count, start, {
        size_t n = tdc_block_size(y->count, start);
        double *to = errors + start, slope[TDC_BLOCK];
        for (size_t i = 0; i < n; i++) {
            double v = y->real[start + (int64_t)i];
            to[i] = own_weight(function) == 0 ? 0 : tdc_own_error(e, own_loss(function, v), v);
        }
        for (int side = 1; side <= 2 && !jumps(function); side++) {
            const tdc_array *x = side == 1 ? a : b;
            if (x->error == NULL)
                continue;
            block(slope, a->real + start, b->real + start, n, side);
            for (size_t i = 0; i < n; i++) {
                /* either may turn out to be the extreme */
                double s = own_weight(function) == 0 ? 1 : slope[i];
                to[i] += tdc_error_times(s, x->error[start + (int64_t)i]);
            }
        }
        for (size_t i = 0; jumps(function) && i < n; i++) {
            int64_t at = start + (int64_t)i;
            to[i] = b->real[at] == 0 ? 0
                                     : jump_error(e, function, a->real[at], b->real[at],
                                                  tdc_error_at(a, at), tdc_error_at(b, at));
        }
    });
}

/* The slope's own error, and how it moves with the operands. */
static void slope_errors(const tdc_evaluation *e, enum tdc_binary function, tdc_binary_block *block,
                         const tdc_array *a, const tdc_array *b, int side, int64_t start, size_t n,
                         const double *slope, double *to)
{
    double moved[TDC_BLOCK], near[TDC_BLOCK], unit = e->bounds.unit;
    bool given = own_weight(function) == 0 || function == TDC_ADD || function == TDC_SUB ||
                 function == TDC_MUL || function == TDC_PRELU || jumps(function);
    for (size_t i = 0; i < n; i++)
        to[i] = given
                    ? 0
                    : tdc_own_error(e, function == TDC_DIV ? TDC_BASIC : TDC_ELEMENTARY, slope[i]);
    if (n == 0 || function == TDC_ADD || function == TDC_SUB || own_weight(function) == 0)
        return;
    for (int which = 1; which <= 2; which++) {
        const tdc_array *x = which == 1 ? a : b;
        if (x->error == NULL)
            continue;
        for (size_t i = 0; i < n; i++)
            moved[i] = x->real[start + (int64_t)i] + x->error[start + (int64_t)i] * unit;
        block(near, which == 1 ? moved : a->real + start, which == 2 ? moved : b->real + start, n,
              side);
        for (size_t i = 0; i < n; i++)
            to[i] += isnan(near[i]) ? 0 : fabs(near[i] - slope[i]) / unit;
    }
}

void tdc_bound_binary_pull(tdc_evaluation *e, enum tdc_binary function, tdc_binary_block *block,
                           const tdc_array *a, const tdc_array *b, int side,
                           const tdc_array *gradient, tdc_array *g)
{
    double *errors = tdc_new_errors(e, g);
    TDC_SPREAD_BLOCKS(g->count, start, {
        size_t n = tdc_block_size(g->count, start);
        double slope[TDC_BLOCK], own[TDC_BLOCK];
        block(slope, a->real + start, b->real + start, n, side);
        slope_errors(e, function, block, a, b, side, start, n, slope, own);
        for (size_t i = 0; i < n; i++) {
            int64_t at = start + (int64_t)i;
            errors[at] = tdc_pulled_error(e, slope[i], own[i], gradient->real[at],
                                          tdc_error_at(gradient, at));
        }
    });
}
