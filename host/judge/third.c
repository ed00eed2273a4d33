#include "host/judge/third.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/dtype.h"

struct tdc_grain tdc_grain_of(tdc_dtype dtype)
{
    const struct tdc_dtype_entry *entry = tdc_dtype_entry(dtype);
    if (entry->kind != TDC_KIND_FLOATING)
        return (struct tdc_grain){0, 0};
    return (struct tdc_grain){entry->digits + 1, entry->least};
}

/* The distance of neighbours of c in a type: a power of two, by the exponent that the bits of c
 * have. Subnormal numbers are below the least exponent of every type. */
static double ulp_of(double c, struct tdc_grain grain)
{
    uint64_t bits;
    if (grain.bits == 0)
        return 0;
    memcpy(&bits, &c, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    if (exponent < grain.least)
        exponent = grain.least;
    exponent += 1 - grain.bits;
    if (exponent < -1022)
        return ldexp(1, exponent);
    bits = (uint64_t)(exponent + 1023) << 52;
    memcpy(&c, &bits, sizeof c);
    return c;
}

void tdc_third_add(struct tdc_third_sums *sums, const struct tdc_third_side *a,
                   const struct tdc_third_side *b, size_t count)
{
    sums->count += count;
    for (size_t i = 0; i < count; i++) {
        double a_value = a->values[i], b_value = b->values[i];
        double a_truth = a->truth[i], b_truth = b->truth[i];
        bool a_finite = isfinite(a_value), b_finite = isfinite(b_value);
        sums->a_lost |= isfinite(a_truth) && !a_finite;
        sums->b_lost |= isfinite(b_truth) && !b_finite;
        sums->ab_apart |= a_finite != b_finite;
        if (!a_finite || !b_finite || !isfinite(a_truth) || !isfinite(b_truth))
            continue;
        double from_a = fabs(a_value - a_truth), from_b = fabs(b_value - b_truth);
        double a_ulp = ulp_of(a_truth, a->grain), b_ulp = ulp_of(b_truth, b->grain);
        double apart = a_value - b_value;
        sums->finite++;
        sums->aa += from_a * from_a;
        sums->bb += from_b * from_b;
        sums->ab += apart * apart;
        sums->a_ulps += a_ulp * a_ulp;
        sums->b_ulps += b_ulp * b_ulp;
        sums->a_nearer += from_a < from_b;
        sums->b_nearer += from_a > from_b;
    }
}

void tdc_third_merge(struct tdc_third_sums *sums, const struct tdc_third_sums *other)
{
    sums->count += other->count;
    sums->finite += other->finite;
    sums->aa += other->aa;
    sums->bb += other->bb;
    sums->ab += other->ab;
    sums->a_ulps += other->a_ulps;
    sums->b_ulps += other->b_ulps;
    sums->a_nearer += other->a_nearer;
    sums->b_nearer += other->b_nearer;
    sums->a_lost |= other->a_lost;
    sums->b_lost |= other->b_lost;
    sums->ab_apart |= other->ab_apart;
}

static tdc_nearer nearer_of(const struct tdc_third_sums *sums, const struct tdc_third_row *row)
{
    double a = row->rmse_a, b = row->rmse_b;
    if (sums->a_lost || sums->b_lost)
        return !sums->b_lost ? TDC_NEARER_B : !sums->a_lost ? TDC_NEARER_A : TDC_NEARER_NEITHER;
    if (a == 0 && b == 0)
        return TDC_NEARER_TIE_EXACT;
    if (a <= 2 * row->noise_a && b <= 2 * row->noise_b)
        return TDC_NEARER_TIE_ROUNDING;
    if (fabs(a - b) <= 0.1 * fmax(a, b))
        return TDC_NEARER_TIE;
    return a < b ? TDC_NEARER_A : TDC_NEARER_B;
}

void tdc_third_settle(const struct tdc_third_sums *sums, struct tdc_third_row *row)
{
    double finite = sums->finite != 0 ? (double)sums->finite : 1;
    *row = (struct tdc_third_row){
        .elements = sums->count,
        .rmse_a = sqrt(sums->aa / finite),
        .rmse_b = sqrt(sums->bb / finite),
        .noise_a = sqrt(sums->a_ulps / finite / 12),
        .noise_b = sqrt(sums->b_ulps / finite / 12),
        .a_nearer = sums->a_nearer,
        .b_nearer = sums->b_nearer,
        .equal = sums->finite - sums->a_nearer - sums->b_nearer,
    };
    row->nearer = nearer_of(sums, row);
    double apart = sqrt(sums->ab / finite), noise = fmax(row->rmse_b, row->noise_b);
    row->factor = sums->ab_apart ? HUGE_VAL : apart == 0 ? 0 : noise > 0 ? apart / noise : HUGE_VAL;
}

const char *tdc_nearer_text(tdc_nearer nearer)
{
    static const char *const texts[] = {[TDC_NEARER_NONE] = "",
                                        [TDC_NEARER_A] = "A",
                                        [TDC_NEARER_B] = "B",
                                        [TDC_NEARER_TIE] = "tie",
                                        [TDC_NEARER_TIE_ROUNDING] = "tie (rounding)",
                                        [TDC_NEARER_TIE_EXACT] = "tie (exact)",
                                        [TDC_NEARER_NEITHER] = "neither"};
    return (unsigned)nearer < sizeof texts / sizeof *texts ? texts[nearer] : "";
}

void tdc_nearer_summary(const uint64_t counts[TDC_NEARER_NEITHER + 1], char *line, size_t size)
{
    uint64_t ties =
        counts[TDC_NEARER_TIE] + counts[TDC_NEARER_TIE_ROUNDING] + counts[TDC_NEARER_TIE_EXACT];
    char neither[32] = "";
    if (counts[TDC_NEARER_NEITHER] != 0)
        snprintf(neither, sizeof neither, ", neither %llu",
                 (unsigned long long)counts[TDC_NEARER_NEITHER]);
    snprintf(line, size, "nearer the truth: A %llu, B %llu, tie %llu (%llu rounding)%s",
             (unsigned long long)counts[TDC_NEARER_A], (unsigned long long)counts[TDC_NEARER_B],
             (unsigned long long)ties, (unsigned long long)counts[TDC_NEARER_TIE_ROUNDING],
             neither);
}

/* ---- columns --------------------------------------------------------------------------------- */

const char *const tdc_truth_columns[TDC_TRUTH_COLUMNS] = {
    "name",    "elements", "rmse_a",   "rmse_b", "noise_a",
    "noise_b", "a_nearer", "b_nearer", "equal",  "nearer"};

static struct tdc_cell number(double value)
{
    return (struct tdc_cell){.kind = TDC_CELL_NUMBER, .number = value};
}

static struct tdc_cell text(const char *value)
{
    return (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = value, .length = strlen(value)};
}

void tdc_truth_cells(const char *name, const struct tdc_third_row *row,
                     struct tdc_cell cells[TDC_TRUTH_COLUMNS])
{
    const struct tdc_cell filled[TDC_TRUTH_COLUMNS] = {
        text(name),
        number((double)row->elements),
        number(row->rmse_a),
        number(row->rmse_b),
        number(row->noise_a),
        number(row->noise_b),
        number((double)row->a_nearer),
        number((double)row->b_nearer),
        number((double)row->equal),
        text(tdc_nearer_text(row->nearer)),
    };
    memcpy(cells, filled, sizeof filled);
}
