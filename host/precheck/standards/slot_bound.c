#include "host/precheck/standards/slot_bound.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "host/precheck/standards/slot_loops.h"
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

/* Ratios of elements at a time. */
#define BLOCK 1024

struct side {
    const double *b, *t, *error; /* error: NULL where nothing is lost */
    tdc_dtype dtype;
};

static struct tdc_slot_limits limits_of(tdc_dtype dtype)
{
    return (struct tdc_slot_limits){LAST_ROUNDING * tdc_reference_roundoff(dtype),
                                    tdc_reference_unit(dtype), LEAST_ERROR, vanishing(dtype)};
}

/* The ratios of a block, and the largest. */
static double ratios_of(const struct side *s, int64_t count, double *ratios)
{
    struct tdc_slot_limits limits = limits_of(s->dtype);
    double most = 0;
    bool exact = false, plain = false;
    if (s->error != NULL)
        plain =
            tdc_slot_ratios(s->b, s->t, s->error, (size_t)count, &limits, ratios, &most, &exact);
    else if (s->dtype == TDC_F32 && tdc_slot_rounded(s->b, s->t, (size_t)count)) {
        memset(ratios, 0, (size_t)count * sizeof *ratios);
        return 0;
    }
    if (plain && !exact)
        return most;
    most = 0;
    for (int64_t i = 0; i < count; i++) {
        double error = s->error == NULL ? 0 : s->error[i];
        if (!plain || error == 0)
            ratios[i] = tdc_element_ratio(s->b[i], s->t[i], error, s->dtype);
        most = ratios[i] > most ? ratios[i] : most;
    }
    return most;
}

static void check_block(const struct side *s, int64_t first, int64_t count,
                        struct tdc_bound_check *part)
{
    double ratios[BLOCK], most = ratios_of(s, count, ratios);
    if (part->worst >= 0 && most <= part->ratio && most <= 1)
        return;
    for (int64_t i = 0; i < count; i++) {
        part->beyond += ratios[i] > 1;
        if (part->worst < 0 || ratios[i] > part->ratio) {
            part->worst = first + i;
            part->ratio = ratios[i];
        }
    }
}

/* Blocks [from, to) of the slot. */
static struct tdc_bound_check check_blocks(const struct side *all, int64_t count, int64_t from,
                                           int64_t to)
{
    struct tdc_bound_check part = {.worst = -1};
    for (int64_t first = from * BLOCK; first < count && first < to * BLOCK; first += BLOCK) {
        struct side s = {all->b + first, all->t + first,
                         all->error == NULL ? NULL : all->error + first, all->dtype};
        check_block(&s, first, count - first < BLOCK ? count - first : BLOCK, &part);
    }
    return part;
}

static struct tdc_bound_check check_together(const struct side *s, int64_t count)
{
    struct tdc_bound_check all = {.worst = -1};
    int64_t blocks = (count + BLOCK - 1) / BLOCK;
    omp_lock_t joining; /* a critical section would be a name that the library exports */
    omp_init_lock(&joining);
#pragma omp parallel
    {
        int64_t threads = omp_get_num_threads(), own = omp_get_thread_num();
        struct tdc_bound_check part =
            check_blocks(s, count, blocks * own / threads, blocks * (own + 1) / threads);
        omp_set_lock(&joining);
        join(&all, &part);
        omp_unset_lock(&joining);
    }
    omp_destroy_lock(&joining);
    return all;
}

struct tdc_bound_check tdc_check_bound(const struct tdc_reference_tensor *reference,
                                       const struct tdc_reference_tensor *tested)
{
    struct side s = {reference->real, tested->real, reference->error, tested->dtype};
    int64_t count = reference->count;
    struct tdc_bound_check all = count >= PARALLEL_FROM
                                     ? check_together(&s, count)
                                     : check_blocks(&s, count, 0, count / BLOCK + 1);
    if (all.worst >= 0) {
        double off = s.error == NULL ? 0 : s.error[all.worst];
        all.error = fabs(s.t[all.worst] - s.b[all.worst]);
        all.bound = off == 0 ? 0 : tdc_element_bound(s.b[all.worst], off, s.dtype);
    }
    return all;
}
