#include "host/judge/third.h"

#include <math.h>
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

void tdc_third_add(struct tdc_third_sums *sums, const double *a, const double *b, const double *c,
                   size_t count, struct tdc_grain a_grain, struct tdc_grain b_grain)
{
    sums->count += count;
    for (size_t i = 0; i < count; i++) {
        bool a_finite = isfinite(a[i]), b_finite = isfinite(b[i]), c_finite = isfinite(c[i]);
        sums->a_lost |= c_finite && !a_finite;
        sums->b_lost |= c_finite && !b_finite;
        sums->ab_apart |= a_finite != b_finite;
        if (!a_finite || !b_finite || !c_finite)
            continue;
        double from_a = fabs(a[i] - c[i]), from_b = fabs(b[i] - c[i]), apart = a[i] - b[i];
        double a_ulp = ulp_of(c[i], a_grain), b_ulp = ulp_of(c[i], b_grain);
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
