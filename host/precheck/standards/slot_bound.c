#include "host/precheck/standards/slot_bound.h"

#include <math.h>
#include <omp.h>

#include "kernels/dtype.h"

#define LAST_ROUNDING 1.05
/* Units that an operation which loses anything may lose: functions on devices are no better. */
#define LEAST_ERROR 8.0
/* Fewer elements than this are not worth waking threads for. */
#define PARALLEL_FROM 32768

/* Flushed to zero; some room, since what vanishes may still be multiplied. */
static double vanishing(tdc_dtype dtype)
{
    return dtype == TDC_F16 ? 0x1p-24 : dtype == TDC_F64 ? 0x1p-1020 : 0x1p-120;
}

double tdc_element_bound(double b, double error, tdc_dtype dtype)
{
    double unit = tdc_reference_unit(dtype), size = fabs(b);
    double lost = error > LEAST_ERROR * size ? error : LEAST_ERROR * size;
    return LAST_ROUNDING * tdc_reference_roundoff(dtype) * size + unit * lost + vanishing(dtype);
}

/* As an exact operation stores it: rounded once, or by way of float32; or flushed to zero. */
static bool is_rounded(double b, double t, tdc_dtype dtype)
{
    double smallest = dtype == TDC_F16 ? 0x1p-14 : dtype == TDC_F64 ? 0x1p-1022 : 0x1p-126;
    return t == tdc_reference_cast(b, dtype) || t == tdc_reference_round(b, dtype) ||
           (t == 0 && fabs(b) < smallest);
}

double tdc_element_ratio(double b, double t, double error, tdc_dtype dtype)
{
    if (isnan(b) || isnan(t))
        return isnan(b) && isnan(t) ? 0 : (double)INFINITY;
    bool rounded = is_rounded(b, t, dtype);
    if (rounded && (error == 0 || isinf(t)))
        return 0;
    if (error == 0 || isinf(b))
        return (double)INFINITY;
    double bound = tdc_element_bound(b, error, dtype);
    if (!isfinite(bound)) /* nothing is promised where the error has no limit */
        return 0;
    if (isinf(t)) {
        /* it may have come to an infinity when the bound reaches one */
        double reach = t > 0 ? b + bound : -b + bound;
        return reach >= tdc_dtype_largest(dtype) ? 1 : (double)INFINITY;
    }
    return fabs(t - b) / bound;
}

static void join(struct tdc_bound_check *all, const struct tdc_bound_check *part)
{
    all->beyond += part->beyond;
    if (part->worst >= 0 && (all->worst < 0 || part->ratio > all->ratio ||
                             (part->ratio == all->ratio && part->worst < all->worst))) {
        all->worst = part->worst;
        all->ratio = part->ratio;
    }
}

struct tdc_bound_check tdc_check_bound(const struct tdc_reference_tensor *reference,
                                       const struct tdc_reference_tensor *tested)
{
    struct tdc_bound_check all = {.worst = -1};
    const double *b = reference->real, *t = tested->real, *error = reference->error;
    tdc_dtype dtype = tested->dtype;
    omp_lock_t joining; /* a critical section would be a name that the library exports */
    omp_init_lock(&joining);
#pragma omp parallel if (reference->count >= PARALLEL_FROM)
    {
        struct tdc_bound_check part = {.worst = -1};
#pragma omp for schedule(static)
        for (int64_t i = 0; i < reference->count; i++) {
            double ratio = tdc_element_ratio(b[i], t[i], error == NULL ? 0 : error[i], dtype);
            part.beyond += ratio > 1;
            if (part.worst < 0 || ratio > part.ratio) {
                part.worst = i;
                part.ratio = ratio;
            }
        }
        omp_set_lock(&joining);
        join(&all, &part);
        omp_unset_lock(&joining);
    }
    omp_destroy_lock(&joining);
    if (all.worst >= 0) {
        double off = error == NULL ? 0 : error[all.worst];
        all.error = fabs(t[all.worst] - b[all.worst]);
        all.bound = off == 0 ? 0 : tdc_element_bound(b[all.worst], off, dtype);
    }
    return all;
}
