#include "kernels/ascend/tile_record.h"

#include <math.h>

/*
 * Below this a sum of products may have lost too much: what underflow takes from one exact product
 * is less than 2^-147, from 4096 of them 2^-135, which is 2^-50 of the sum of magnitudes then.
 */
#define LEAST_PRODUCT_SUM 0x1p-85
/* Above this the splitting of operands or of their products may overflow in f32. */
#define LARGEST_SUM 1e35
/* Quotients outside of this range are not to be trusted: see divide() in lane_arithmetic.h. */
#define LEAST_QUOTIENT   0x1p-100
#define LARGEST_QUOTIENT 0x1p115
/* Of |n - b| rounded to f32. */
#define DIFFERENCE_ERROR 0x1p-24

static const char *native_name(tdc_dtype n, tdc_dtype b)
{
    if (n == TDC_F16 && b == TDC_F16)
        return "tdc_pair_f16";
    if (n == TDC_F32)
        return b == TDC_F32 ? "tdc_pair_f32" : b == TDC_BF16 ? "tdc_pair_f32_bf16" : NULL;
    if (n == TDC_BF16)
        return b == TDC_BF16 ? "tdc_pair_bf16" : b == TDC_F32 ? "tdc_pair_bf16_f32" : NULL;
    return NULL;
}

static const char *exact_name(tdc_dtype n, tdc_dtype b)
{
    if (n == TDC_F16 && b == TDC_F16)
        return "tdc_pair_f16_exact";
    if (n == TDC_F32)
        return b == TDC_F32    ? "tdc_pair_f32_exact"
               : b == TDC_BF16 ? "tdc_pair_f32_bf16_exact"
                               : NULL;
    if (n == TDC_BF16)
        return b == TDC_BF16  ? "tdc_pair_bf16_exact"
               : b == TDC_F32 ? "tdc_pair_bf16_f32_exact"
                              : NULL;
    return NULL;
}

const char *tdc_tile_kernel_name(tdc_dtype n_dtype, tdc_dtype b_dtype, enum tdc_relative_rule rule)
{
    return rule == TDC_RELATIVE_F64 ? exact_name(n_dtype, b_dtype) : native_name(n_dtype, b_dtype);
}

/* ---- one record ---------------------------------------------------------------------------- */

/* High lanes first, then the low ones, always in this order: part of the result. */
static double read_sum(const float *record, int at)
{
    double high = 0, low = 0;
    for (int lane = 0; lane < TDC_TILE_SUM_LANES; lane++) {
        high += (double)record[at + lane];
        low += (double)record[at + TDC_TILE_SUM_LOW + lane];
    }
    return high + low;
}

/* False when it is not a count. */
static bool read_count(float value, uint64_t *count)
{
    if (!(value >= 0 && value <= TDC_TILE_PAIRS))
        return false;
    *count = (uint64_t)value;
    return (float)*count == value;
}

static bool is_within(double value, double limit)
{
    return fabs(value) <= limit; /* not for NaN */
}

/* Squares and products of numbers that are not all 0 must not have drowned. */
static bool products_are_sound(const float *record, const struct tdc_pair_sums *sums)
{
    bool n_zero = sums->n_min == 0 && sums->n_max == 0;
    bool b_zero = sums->b_min == 0 && sums->b_max == 0;
    bool equal = record[TDC_TILE_ABS_MAX] == 0;
    return (n_zero || sums->nn >= LEAST_PRODUCT_SUM) && (b_zero || sums->bb >= LEAST_PRODUCT_SUM) &&
           (equal || sums->dd >= LEAST_PRODUCT_SUM) &&
           (n_zero || b_zero || fabs(sums->nb) >= LEAST_PRODUCT_SUM);
}

static bool read_sums(const float *record, struct tdc_pair_sums *sums)
{
    sums->nb = read_sum(record, TDC_TILE_SUM_NB);
    sums->nn = read_sum(record, TDC_TILE_SUM_NN);
    sums->bb = read_sum(record, TDC_TILE_SUM_BB);
    sums->dd = read_sum(record, TDC_TILE_SUM_DD);
    sums->n = read_sum(record, TDC_TILE_SUM_N);
    sums->b = read_sum(record, TDC_TILE_SUM_B);
    sums->abs = read_sum(record, TDC_TILE_SUM_ABS);
    return is_within(sums->nb, LARGEST_SUM) && is_within(sums->nn, LARGEST_SUM) &&
           is_within(sums->bb, LARGEST_SUM) && is_within(sums->dd, LARGEST_SUM) &&
           is_within(sums->n, LARGEST_SUM) && is_within(sums->b, LARGEST_SUM) &&
           is_within(sums->abs, LARGEST_SUM) && products_are_sound(record, sums);
}

static bool read_extremes(const float *record, struct tdc_pair_sums *sums)
{
    /* adding 0 turns -0 into 0 */
    sums->n_max = (double)record[TDC_TILE_N_MAX] + 0.0;
    sums->n_min = (double)record[TDC_TILE_N_MIN] + 0.0;
    sums->b_max = (double)record[TDC_TILE_B_MAX] + 0.0;
    sums->b_min = (double)record[TDC_TILE_B_MIN] + 0.0;
    return sums->n_min <= sums->n_max && sums->b_min <= sums->b_max;
}

/* *zeros: pairs 0 against 0, where the kernel counts them. */
static bool read_counts(const struct tdc_pair_plan *plan, const float *record,
                        struct tdc_pair_sums *sums, uint64_t *zeros)
{
    static const int slots[TDC_PAIR_LIMITS] = {TDC_TILE_BELOW_0, TDC_TILE_BELOW_1, TDC_TILE_BELOW_2,
                                               TDC_TILE_BELOW_3};
    uint64_t unsure;
    if (!read_count(record[TDC_TILE_FINITE], &sums->finite) || sums->finite != TDC_TILE_PAIRS)
        return false;
    if (!read_count(record[TDC_TILE_UNSURE], &unsure) || unsure != 0)
        return false;
    if (!read_count(record[TDC_TILE_ZEROS], zeros))
        return false;
    for (int k = 0; k < TDC_PAIR_LIMITS; k++)
        if (!read_count(record[slots[k]], &sums->below[k]))
            return false;
    if (plan->rule == TDC_RELATIVE_F64) {
        for (int k = 0; k < TDC_PAIR_LIMITS; k++)
            if ((sums->below[k] += *zeros) > TDC_TILE_PAIRS)
                return false;
        return true;
    }
    for (int k = 0; k < 2; k++) {
        if (sums->below[k] < *zeros)
            return false;
        sums->below[k] -= *zeros;
    }
    sums->rel_nan = *zeros;
    return sums->below[2] == 0 && sums->below[3] == 0;
}

static bool read_abs_maximum(const float *record, struct tdc_tile *tile)
{
    double maximum = (double)record[TDC_TILE_ABS_MAX], error = (double)record[TDC_TILE_ABS_ERR];
    if (!(maximum >= 0 && is_within(maximum, LARGEST_SUM) && error >= 0))
        return false;
    double doubt = error == 0 ? 0 : DIFFERENCE_ERROR;
    tile->abs.low = maximum * (1 - doubt);
    tile->abs.high = maximum * (1 + doubt);
    if (maximum == 0) {
        tile->abs.known = true;
        tile->sums.abs_max = 0;
    }
    return true;
}

static bool read_rel_maximum(const struct tdc_pair_plan *plan, const float *record, uint64_t zeros,
                             struct tdc_tile *tile)
{
    double maximum = (double)record[TDC_TILE_REL_MAX], top = (double)record[TDC_TILE_REL_TOP];
    if (plan->rule == TDC_RELATIVE_NATIVE)
        top = maximum;
    bool infinite_is_right = plan->rule == TDC_RELATIVE_NATIVE && plan->b_dtype == TDC_F16;
    uint64_t without = plan->rule == TDC_RELATIVE_NATIVE ? zeros : 0;
    if (!(maximum >= 0 && top >= maximum) ||
        (maximum > LARGEST_QUOTIENT && !(infinite_is_right && isinf(maximum))))
        return false;
    if (record[TDC_TILE_ABS_MAX] > 0) {
        tile->rel.low = maximum;
        tile->rel.high = top;
        return maximum >= LEAST_QUOTIENT;
    }
    /* n = b everywhere: the first pair whose e is not NaN, which is the first one if none is. */
    tile->rel.low = tile->rel.high = without == TDC_TILE_PAIRS ? -1 : 0;
    tile->rel.known = without == 0 || without == TDC_TILE_PAIRS;
    if (tile->rel.known)
        tile->sums.rel_max = tile->rel.low;
    return maximum == 0;
}

/* The device always counts them; the plan decides whether they are wanted, as on the CPU. */
static void forget_extremes(struct tdc_pair_sums *sums)
{
    struct tdc_pair_sums clear;
    tdc_pair_clear(&clear);
    sums->n = clear.n;
    sums->b = clear.b;
    sums->n_min = clear.n_min;
    sums->n_max = clear.n_max;
    sums->b_min = clear.b_min;
    sums->b_max = clear.b_max;
}

enum tdc_tile_verdict tdc_tile_read(const struct tdc_pair_plan *plan, const float *record,
                                    struct tdc_tile *tile)
{
    float mark = plan->rule == TDC_RELATIVE_F64 ? TDC_TILE_MARK_EXACT : TDC_TILE_MARK_NATIVE;
    uint64_t zeros;
    *tile = (struct tdc_tile){0};
    tdc_pair_clear(&tile->sums);
    tile->sums.count = TDC_TILE_PAIRS;
    bool usable = record[TDC_TILE_MARK] == mark && read_extremes(record, &tile->sums) &&
                  read_sums(record, &tile->sums) &&
                  read_counts(plan, record, &tile->sums, &zeros) &&
                  read_abs_maximum(record, tile) && read_rel_maximum(plan, record, zeros, tile);
    if (!plan->extremes)
        forget_extremes(&tile->sums);
    return usable ? TDC_TILE_USE : TDC_TILE_RESCUE;
}

/* ---- the tiles of a chunk ------------------------------------------------------------------ */

/* Ties go to the tile in front, so only more than what stands there can matter. */
static bool may_win(const struct tdc_tile_maximum *maximum, double everywhere, double before)
{
    return !maximum->known && maximum->high >= everywhere && maximum->high > before;
}

bool tdc_tile_needs_rescue(const struct tdc_tile *tile, const struct tdc_tile_bounds *bounds)
{
    return may_win(&tile->abs, bounds->abs_everywhere, bounds->abs_before) ||
           may_win(&tile->rel, bounds->rel_everywhere, bounds->rel_before);
}

static void raise(double *bound, double value)
{
    if (value > *bound)
        *bound = value;
}

struct rescue {
    tdc_tile_rescuer run;
    void *context;
    size_t done;
};

static bool rescue_tile(struct rescue *rescue, size_t at, struct tdc_tile *tile)
{
    if (!rescue->run(rescue->context, at, &tile->sums))
        return false;
    rescue->done++;
    tile->abs = (struct tdc_tile_maximum){tile->sums.abs_max, tile->sums.abs_max, true};
    tile->rel = (struct tdc_tile_maximum){tile->sums.rel_max, tile->sums.rel_max, true};
    return true;
}

/* Reads everything, and rescues at once what the device could not do. */
static bool read_tiles(const struct tdc_pair_plan *plan, const float *records, size_t tiles,
                       struct rescue *rescue, struct tdc_tile *read, struct tdc_tile_bounds *bounds)
{
    *bounds = (struct tdc_tile_bounds){-1, -1, -1, -1};
    for (size_t t = 0; t < tiles; t++) {
        const float *record = records + t * TDC_TILE_RECORD_FLOATS;
        if (tdc_tile_read(plan, record, &read[t]) == TDC_TILE_RESCUE &&
            !rescue_tile(rescue, t, &read[t]))
            return false;
        raise(&bounds->abs_everywhere, read[t].abs.low);
        raise(&bounds->rel_everywhere, read[t].rel.low);
    }
    return true;
}

bool tdc_tiles_merge(const struct tdc_pair_plan *plan, const float *records, size_t tiles,
                     tdc_tile_rescuer rescuer, void *context, struct tdc_pair_sums *sums,
                     size_t *rescued)
{
    struct tdc_tile read[TDC_TILES_PER_CHUNK];
    struct tdc_tile_bounds bounds;
    struct rescue rescue = {rescuer, context, 0};
    tdc_pair_clear(sums);
    if (tiles > TDC_TILES_PER_CHUNK || !read_tiles(plan, records, tiles, &rescue, read, &bounds))
        return false;
    for (size_t t = 0; t < tiles; t++) {
        if (tdc_tile_needs_rescue(&read[t], &bounds)) {
            if (!rescue_tile(&rescue, t, &read[t]))
                return false;
            raise(&bounds.abs_everywhere, read[t].abs.low);
            raise(&bounds.rel_everywhere, read[t].rel.low);
        }
        raise(&bounds.abs_before, read[t].abs.low);
        raise(&bounds.rel_before, read[t].rel.low);
        tdc_pair_merge(sums, &read[t].sums);
    }
    *rescued += rescue.done;
    return true;
}
