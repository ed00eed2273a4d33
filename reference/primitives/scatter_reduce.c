/* Places that several elements go to, joined otherwise than by adding. */
#include <math.h>
#include <string.h>

#include "reference/arithmetic.h"
#include "reference/bounds.h"
#include "reference/primitives/complex_parts.h"
#include "reference/primitives/gather.h"
#include "reference/tape.h"

struct detail {
    enum tdc_join how;
    const int64_t *map;
    bool self; /* what was there takes part */
    const double *counts;
};

static double join(enum tdc_join how, double a, double b)
{
    if (how == TDC_JOIN_PRODUCT)
        return a * b;
    if (how == TDC_JOIN_SUM || how == TDC_JOIN_MEAN)
        return a + b;
    if (isnan(a) || isnan(b))
        return (double)NAN;
    return how == TDC_JOIN_LARGEST ? fmax(a, b) : fmin(a, b);
}

/* Product of all factors of each place but this one: prefix times suffix, without dividing. */
static void others_of_products(tdc_evaluation *e, const struct detail *d, const tdc_array *x,
                               const tdc_array *src, const double *gradient, double *dx, double *ds)
{
    double *run = tdc_take(e, x->count, sizeof *run);
    for (int64_t i = 0; i < x->count; i++)
        run[i] = d->self || d->counts[i] == 0 ? x->real[i] : 1;
    for (int64_t i = 0; i < src->count; i++) {
        ds[i] = run[d->map[i]];
        run[d->map[i]] = tdc_partial(e, run[d->map[i]] * src->real[i]);
    }
    for (int64_t i = 0; i < x->count; i++)
        run[i] = 1;
    for (int64_t i = src->count; i-- > 0;) {
        ds[i] *= tdc_partial(e, run[d->map[i]] * gradient[d->map[i]]);
        run[d->map[i]] = tdc_partial(e, run[d->map[i]] * src->real[i]);
    }
    for (int64_t i = 0; i < x->count; i++)
        dx[i] = d->self || d->counts[i] == 0 ? gradient[i] * run[i] : 0;
}

/* Extremes share the gradient equally among equals. */
static void shares_of_extremes(tdc_evaluation *e, const struct detail *d, const tdc_array *x,
                               const tdc_array *src, const tdc_array *y, const double *gradient,
                               double *dx, double *ds)
{
    double *equals = tdc_take(e, x->count, sizeof *equals);
    for (int64_t i = 0; i < x->count; i++)
        equals[i] = (d->self || d->counts[i] == 0) && x->real[i] == y->real[i];
    for (int64_t i = 0; i < src->count; i++)
        equals[d->map[i]] += src->real[i] == y->real[d->map[i]];
    for (int64_t i = 0; i < x->count; i++)
        dx[i] = (d->self || d->counts[i] == 0) && x->real[i] == y->real[i] ? gradient[i] / equals[i]
                                                                           : 0;
    for (int64_t i = 0; i < src->count; i++)
        ds[i] = src->real[i] == y->real[d->map[i]] ? gradient[d->map[i]] / equals[d->map[i]] : 0;
}

static void pull_scatter_reduce(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    const struct detail *d = node->detail;
    tdc_array *x = node->inputs[0], *src = node->inputs[1];
    tdc_array *dx = tdc_new_like(e, TDC_F64, x), *ds = tdc_new_like(e, TDC_F64, src);
    const double *g = gradient->real;
    if (d->how == TDC_JOIN_PRODUCT) {
        others_of_products(e, d, x, src, g, dx->real, ds->real);
    } else if (d->how == TDC_JOIN_LARGEST || d->how == TDC_JOIN_SMALLEST) {
        shares_of_extremes(e, d, x, src, node->output, g, dx->real, ds->real);
    } else {
        for (int64_t i = 0; i < x->count; i++) {
            double by = d->how == TDC_JOIN_MEAN ? fmax(d->counts[i] + (d->self ? 1 : 0), 1) : 1;
            dx->real[i] = d->self || d->counts[i] == 0 ? g[i] / by : 0;
        }
        for (int64_t i = 0; i < src->count; i++) {
            double by =
                d->how == TDC_JOIN_MEAN ? fmax(d->counts[d->map[i]] + (d->self ? 1 : 0), 1) : 1;
            ds->real[i] = g[d->map[i]] / by;
        }
    }
    bool moves = d->how == TDC_JOIN_SUM && gradient->error == NULL;
    if (moves) {
        tdc_bound_exactly(dx);
        tdc_bound_exactly(ds);
    }
    tdc_collect(e, x, dx);
    tdc_collect(e, src, ds);
}

static void bound_joined(tdc_evaluation *e, const struct detail *d, const tdc_array *x,
                         const tdc_array *src, tdc_array *y)
{
    double *errors = tdc_new_errors(e, y), *magnitude = tdc_take(e, y->count, sizeof *magnitude);
    bool adds = d->how == TDC_JOIN_SUM || d->how == TDC_JOIN_MEAN;
    double each = e->bounds.narrow > 1 ? e->bounds.narrow : 0;
    for (int64_t i = 0; i < y->count; i++) {
        bool own = d->self || d->counts[i] == 0;
        magnitude[i] = own ? fabs(x->real[i]) : 0;
        errors[i] = own ? tdc_error_at(x, i) : 0;
    }
    for (int64_t i = 0; i < src->count; i++) {
        magnitude[d->map[i]] += fabs(src->real[i]);
        errors[d->map[i]] += tdc_error_at(src, i);
    }
    for (int64_t i = 0; i < y->count; i++) {
        double terms = d->counts[i] + (d->self ? 1 : 0);
        double weight = tdc_sum_weight(terms) + each * (1 + sqrt(terms));
        if (adds && terms > 1)
            errors[i] += weight * magnitude[i];
        else if (d->how == TDC_JOIN_PRODUCT && terms > 1)
            errors[i] += TDC_BASIC * weight * fabs(y->real[i]);
        if (d->how == TDC_JOIN_MEAN && terms > 1)
            errors[i] = errors[i] / terms + tdc_own_error(e, TDC_BASIC, y->real[i]);
    }
}

tdc_array *tdc_scatter_joined(tdc_evaluation *e, enum tdc_join how, tdc_array *x, tdc_array *src,
                              const int64_t *map, bool self)
{
    struct detail *d = tdc_take(e, 1, sizeof *d);
    *d = (struct detail){.how = how, .map = map, .self = self};
    tdc_array *y = tdc_new_like(e, TDC_F64, x);
    double *counts = tdc_take(e, x->count, sizeof *counts);
    memcpy(y->real, x->real, (size_t)x->count * sizeof *x->real);
    memset(counts, 0, (size_t)x->count * sizeof *counts);
    for (int64_t i = 0; i < src->count; i++) {
        double *to = &y->real[map[i]];
        *to = counts[map[i]] == 0 && !self ? src->real[i]
                                           : tdc_step(e, join(d->how, *to, src->real[i]));
        counts[map[i]] += 1;
    }
    for (int64_t i = 0; d->how == TDC_JOIN_MEAN && i < x->count; i++)
        y->real[i] /= fmax(counts[i] + (self ? 1 : 0), 1);
    d->counts = counts;
    if (tdc_is_bounded(e))
        bound_joined(e, d, x, src, y);
    tdc_note(e, y, pull_scatter_reduce, d, 2, (tdc_array *[]){x, src});
    return y;
}
