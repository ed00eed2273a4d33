#include "host/precheck/standards/metrics.h"

#include <math.h>

#include "host/precheck/standards/slot_loops.h"
#include "kernels/dtype.h"

#define BLOCK ((uint64_t)4096)
#define SUMS  8
/* Fewer elements than this are not worth waking threads for. */
#define PARALLEL_FROM ((uint64_t)1 << 17)
#define EPSILON       1e-8

struct part {
    double bt, bb, tt;
    double max_abs, max_relative, max_ulp;
    bool nan_abs, nan_relative;
    uint64_t worst;
};

static double total(const double sums[SUMS])
{
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

static void add_products(const double *bench, const double *tested, uint64_t count,
                         struct part *part)
{
    double bt[SUMS] = {0}, bb[SUMS] = {0}, tt[SUMS] = {0};
    uint64_t whole = count - count % SUMS;
    for (uint64_t i = 0; i < whole; i += SUMS) {
        for (unsigned k = 0; k < SUMS; k++) {
            bt[k] += bench[i + k] * tested[i + k];
            bb[k] += bench[i + k] * bench[i + k];
            tt[k] += tested[i + k] * tested[i + k];
        }
    }
    for (uint64_t i = whole; i < count; i++) {
        bt[i - whole] += bench[i] * tested[i];
        bb[i - whole] += bench[i] * bench[i];
        tt[i - whole] += tested[i] * tested[i];
    }
    part->bt = total(bt);
    part->bb = total(bb);
    part->tt = total(tt);
}

/* Element by element, for what is not all finite. */
static void find_odd_maxima(const double *bench, const double *tested, uint64_t first,
                            uint64_t count, struct part *part)
{
    for (uint64_t i = 0; i < count; i++) {
        double difference = fabs(bench[i] - tested[i]);
        double relative = difference / (bench[i] == 0 ? EPSILON : fabs(bench[i]));
        if (difference > part->max_abs) {
            part->max_abs = difference;
            part->worst = first + i;
        }
        if (isnan(difference) && !part->nan_abs) {
            part->nan_abs = true;
            part->worst = first + i;
            part->max_abs = INFINITY;
        }
        if (relative > part->max_relative)
            part->max_relative = relative;
        part->nan_relative |= isnan(relative);
    }
}

static void find_maxima(const double *bench, const double *tested, uint64_t first, uint64_t count,
                        struct part *part)
{
    part->max_abs = part->max_relative = -1;
    double most, relative;
    if (!tdc_slot_maxima(bench, tested, count, EPSILON, &most, &relative)) {
        find_odd_maxima(bench, tested, first, count, part);
        return;
    }
    part->max_abs = most;
    part->max_relative = relative;
    uint64_t i = 0;
    while (i < count && fabs(bench[i] - tested[i]) != most)
        i++;
    part->worst = first + i;
}

double tdc_unit_at(double value, tdc_dtype dtype)
{
    if (!tdc_dtype_is_floating(dtype))
        return 1;
    const struct tdc_dtype_entry *entry = tdc_dtype_entry(dtype);
    int digits = entry->digits, lowest = entry->least;
    int exponent = value == 0 || !isfinite(value) ? lowest : ilogb(value);
    return ldexp(1, (exponent > lowest ? exponent : lowest) - digits);
}

double tdc_units_apart(double bench, double tested, tdc_dtype dtype)
{
    double larger = fabs(bench) >= fabs(tested) ? bench : tested;
    return fabs(bench - tested) / tdc_unit_at(larger, dtype);
}

/* Element by element, for what the loop below cannot tell. */
static void find_odd_units(const double *bench, const double *tested, uint64_t count,
                           tdc_dtype dtype, struct part *part)
{
    for (uint64_t i = 0; i < count; i++) {
        double difference = fabs(bench[i] - tested[i]);
        if (difference == 0 || !isfinite(difference))
            continue;
        double units = tdc_units_apart(bench[i], tested[i], dtype);
        if (units > part->max_ulp)
            part->max_ulp = units;
    }
}

static void find_units(const double *bench, const double *tested, uint64_t count, tdc_dtype dtype,
                       struct part *part)
{
    const struct tdc_dtype_entry *entry = tdc_dtype_entry(dtype);
    double most;
    /* the unit of the smallest must be a normal number */
    if (entry->least - entry->digits > -1023 &&
        tdc_slot_units(bench, tested, count, entry->least, entry->digits, &most))
        part->max_ulp = most > part->max_ulp ? most : part->max_ulp;
    else
        find_odd_units(bench, tested, count, dtype, part);
}

struct slot {
    const double *bench, *tested;
    uint64_t count;
    tdc_dtype ulp_of;
};

/* The block that begins at `first`. */
static void measure_block(const struct slot *slot, uint64_t first, struct part *part)
{
    const double *bench = slot->bench + first, *tested = slot->tested + first;
    uint64_t count = slot->count - first < BLOCK ? slot->count - first : BLOCK;
    *part = (struct part){0};
    add_products(bench, tested, count, part);
    find_maxima(bench, tested, first, count, part);
    if (slot->ulp_of != TDC_DTYPE_NONE)
        find_units(bench, tested, count, slot->ulp_of, part);
}

static void measure_together(const struct slot *slot, uint64_t start, uint64_t blocks,
                             struct part *parts)
{
#pragma omp parallel for schedule(static)
    for (uint64_t i = 0; i < blocks; i++)
        measure_block(slot, start + i * BLOCK, &parts[i]);
}

/* A sum and the error it has made so far (Neumaier). */
struct careful_sum {
    double sum, lost;
};

static void add(struct careful_sum *sum, double value)
{
    double next = sum->sum + value;
    if (isfinite(next))
        sum->lost +=
            fabs(sum->sum) >= fabs(value) ? (sum->sum - next) + value : (value - next) + sum->sum;
    sum->sum = next;
}

struct joined {
    struct careful_sum bt, bb, tt;
    struct part all;
    bool any;
};

static void join(struct joined *joined, const struct part *part)
{
    add(&joined->bt, part->bt);
    add(&joined->bb, part->bb);
    add(&joined->tt, part->tt);
    struct part *all = &joined->all;
    bool first_nan = part->nan_abs && !all->nan_abs;
    if (!joined->any || first_nan || (!all->nan_abs && part->max_abs > all->max_abs)) {
        all->max_abs = part->max_abs;
        all->worst = part->worst;
    }
    if (!joined->any || part->max_relative > all->max_relative)
        all->max_relative = part->max_relative;
    if (part->max_ulp > all->max_ulp)
        all->max_ulp = part->max_ulp;
    all->nan_abs |= part->nan_abs;
    all->nan_relative |= part->nan_relative;
    joined->any = true;
}

/* ---- cosine at any scale --------------------------------------------------------------------- */

/* Sums of squares in between have lost nothing that matters to small squares, nor overflowed. */
#define LEAST_SQUARES 0x1p-900
#define MOST_SQUARES  0x1p1000

static bool is_in_range(double squares)
{
    return squares >= LEAST_SQUARES && squares <= MOST_SQUARES;
}

static double largest(const double *x, uint64_t count)
{
    double most = 0;
    for (uint64_t i = 0; i < count; i++)
        most = fabs(x[i]) > most ? fabs(x[i]) : most;
    return most;
}

/* The power of two that brings the largest magnitude to [1, 2). */
static int scale_of(double most)
{
    return isinf(most) ? 0 : -ilogb(most);
}

/* Both sides are scaled on their own, the term that is added with them. */
static double scaled_cosine(const double *bench, const double *tested, uint64_t count)
{
    double most_bench = largest(bench, count), most_tested = largest(tested, count);
    if (most_bench == 0 || most_tested == 0)
        return 1;
    int of_bench = scale_of(most_bench), of_tested = scale_of(most_tested);
    struct joined joined = {0};
    for (uint64_t first = 0; first < count; first += BLOCK) {
        double b[BLOCK], t[BLOCK];
        uint64_t here = count - first < BLOCK ? count - first : BLOCK;
        for (uint64_t i = 0; i < here; i++) {
            b[i] = scalbn(bench[first + i], of_bench);
            t[i] = scalbn(tested[first + i], of_tested);
        }
        struct part part = {0};
        add_products(b, t, here, &part);
        join(&joined, &part);
    }
    double norms = sqrt(joined.bb.sum + joined.bb.lost) * sqrt(joined.tt.sum + joined.tt.lost);
    double epsilon = scalbn(EPSILON, of_bench + of_tested);
    if (epsilon > MOST_SQUARES) /* beside which both sums are nothing */
        return 1;
    return (epsilon + joined.bt.sum + joined.bt.lost) / (epsilon + norms);
}

static double cosine_of(const struct joined *joined, const double *bench, const double *tested,
                        uint64_t count, bool any_scale)
{
    double bt = joined->bt.sum + joined->bt.lost;
    double bb = joined->bb.sum + joined->bb.lost, tt = joined->tt.sum + joined->tt.lost;
    if (any_scale && !(is_in_range(bb) && is_in_range(tt)))
        return scaled_cosine(bench, tested, count);
    return (EPSILON + bt) / (EPSILON + sqrt(bb) * sqrt(tt));
}

/* Blocks measured at a time, so that their parts need no memory of their own. */
#define GROUP 64

void tdc_measure_slot(const double *bench, const double *tested, uint64_t count, tdc_dtype ulp_of,
                      bool any_scale, struct tdc_metrics *metrics)
{
    struct joined joined = {0};
    for (uint64_t start = 0; start < count; start += GROUP * BLOCK) {
        struct part parts[GROUP];
        uint64_t rest = count - start;
        uint64_t blocks = rest >= GROUP * BLOCK ? GROUP : (rest + BLOCK - 1) / BLOCK;
        struct slot slot = {bench, tested, count, ulp_of};
        if (count >= PARALLEL_FROM)
            measure_together(&slot, start, blocks, parts);
        else
            for (uint64_t i = 0; i < blocks; i++)
                measure_block(&slot, start + i * BLOCK, &parts[i]);
        for (uint64_t i = 0; i < blocks; i++)
            join(&joined, &parts[i]);
    }
    metrics->cosine = cosine_of(&joined, bench, tested, count, any_scale);
    metrics->max_abs = joined.all.nan_abs ? (double)NAN : joined.all.max_abs;
    metrics->max_relative = joined.all.nan_relative ? (double)NAN : joined.all.max_relative;
    metrics->max_ulp = joined.all.max_ulp;
    metrics->worst = joined.all.worst;
}
