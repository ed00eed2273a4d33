#include "reference/bounds.h"

#include <string.h>

#include "reference/operators.h"

/* Of the largest element, for what has no bound of its own. */
#define CRUDE 64.0

double tdc_reference_roundoff(tdc_dtype dtype)
{
    return dtype == TDC_F64    ? 0x1p-53
           : dtype == TDC_F16  ? 0x1p-11
           : dtype == TDC_BF16 ? 0x1p-8
                               : 0x1p-24;
}

double tdc_reference_unit(tdc_dtype dtype)
{
    return dtype == TDC_F64 ? 0x1p-53 : 0x1p-24;
}

void tdc_bounds_start(tdc_evaluation *e, const struct tdc_reference_call *call, bool backward)
{
    tdc_dtype tested = call->bounds_for;
    bool conversion = (e->definition->flags & TDC_IS_CONVERSION) != 0;
    if (!tdc_dtype_is_floating(tested) || conversion || e->arithmetic != TDC_F64)
        return;
    e->bounds.on = true;
    e->bounds.tested = tested;
    e->bounds.unit = tdc_reference_unit(tested);
    e->bounds.narrow = tdc_reference_roundoff(tested) / e->bounds.unit;
    double roundings = call->bounds_for_steps ? 1 : tdc_bound_rules(e->definition, backward);
    e->bounds.spread = backward ? tdc_chained_sums(e->definition, e->bounds.narrow) : 0;
    if (e->bounds.narrow > 1) {
        e->bounds.step = roundings * e->bounds.narrow;
        e->bounds.quantum = tested == TDC_F16 ? roundings : 0;
        e->bounds.inner = call->bounds_for_steps ? e->bounds.step : 0;
    }
}

double *tdc_new_errors(tdc_evaluation *e, tdc_array *y)
{
    y->error = tdc_take(e, y->count, sizeof *y->error);
    y->bounded = true;
    return y->error;
}

void tdc_bound_given(tdc_evaluation *e, tdc_array *y)
{
    y->bounded = true;
    for (int64_t i = 0; i < y->count; i++) {
        double v = y->real[i];
        if (!isfinite(v) || tdc_reference_round(v, e->bounds.tested) == v)
            continue;
        if (y->error == NULL) {
            tdc_new_errors(e, y);
            memset(y->error, 0, (size_t)y->count * sizeof *y->error);
        }
        y->error[i] = e->bounds.narrow * fabs(v);
    }
}

static double largest(const double *x, int64_t n)
{
    double top = 0;
    for (int64_t i = 0; i < n; i++)
        if (fabs(x[i]) > top && isfinite(x[i]))
            top = fabs(x[i]);
    return top;
}

void tdc_bound_crudely(tdc_evaluation *e, tdc_array *y, size_t input_count,
                       tdc_array *const *inputs)
{
    if (y->count == 0) {
        y->bounded = true;
        return;
    }
    double top = largest(y->real, y->count), error = (CRUDE + e->bounds.step) * top;
    for (size_t i = 0; i < input_count; i++) {
        if (inputs[i]->error == NULL || inputs[i]->count == 0)
            continue;
        double size = largest(inputs[i]->real, inputs[i]->count);
        double growth = size > 0 && top > size ? top / size : 1;
        error += tdc_error_times(growth, largest(inputs[i]->error, inputs[i]->count));
    }
    double *errors = tdc_new_errors(e, y);
    for (int64_t i = 0; i < y->count; i++)
        errors[i] = error;
}

tdc_array *tdc_error_array(tdc_evaluation *e, const tdc_array *x)
{
    if (x->error == NULL)
        return NULL;
    tdc_array *errors = tdc_take(e, 1, sizeof *errors);
    *errors = *x;
    errors->real = x->error;
    errors->error = NULL;
    errors->made = NULL;
    errors->dtype = TDC_F64;
    errors->number = false;
    errors->bounded = true;
    return errors;
}

tdc_array *tdc_magnitudes(tdc_evaluation *e, const tdc_array *x, double factor)
{
    tdc_array *y = tdc_new_like(e, TDC_F64, x);
    TDC_SPREAD(y->count, i, y->count,
               { y->real[i] = factor * fabs(x->real[i]) + tdc_error_at(x, i); });
    y->bounded = true;
    return y;
}

tdc_array *tdc_absolute(tdc_evaluation *e, const tdc_array *x)
{
    tdc_array plain = *x;
    plain.error = NULL;
    return tdc_magnitudes(e, &plain, 1);
}

void tdc_bound_by(tdc_array *y, const tdc_array *errors)
{
    y->error = errors == NULL ? NULL : errors->real;
    y->bounded = true;
}

void tdc_bound_scattered(tdc_evaluation *e, tdc_array *to, const tdc_array *from,
                         const int64_t *map)
{
    double *magnitude = tdc_take(e, to->count, sizeof *magnitude);
    double *hits = tdc_take(e, to->count, sizeof *hits);
    double *error = tdc_take(e, to->count, sizeof *error);
    for (int64_t i = 0; i < to->count; i++) {
        magnitude[i] = fabs(to->real[i]);
        hits[i] = to->real[i] != 0;
        error[i] = tdc_error_at(to, i);
    }
    for (int64_t i = 0; i < from->count; i++) {
        int64_t at = map[i];
        if (at < 0)
            continue;
        magnitude[at] += fabs(from->real[i]);
        hits[at] += from->real[i] != 0;
        error[at] += tdc_error_at(from, i);
    }
    /* rounded to the dtype at each addition */
    double each = e->bounds.narrow > 1 ? e->bounds.narrow : 0;
    for (int64_t i = 0; i < to->count; i++)
        if (hits[i] > 1)
            error[i] += (tdc_sum_weight(hits[i]) + each * (1 + sqrt(hits[i]))) * magnitude[i];
    to->error = error;
    to->bounded = true;
}
