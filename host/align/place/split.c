/* split.c - a product that is split as a whole: which of its leaves are cut, and how often. */
#include <string.h>

#include "host/align/place/place.h"

/* The size of a leaf in the joined product. */
static tdc_status leaf_size(const struct tdc_placing *placing, const struct tdc_axis_plan *axis,
                            const struct tdc_leaf_plan *leaf, uint64_t stored, uint64_t parts,
                            uint64_t *size)
{
    uint64_t others = 1;
    if (leaf->sized || leaf->fresh) {
        *size = leaf->sized && leaf->size > 0 ? (uint64_t)leaf->size : leaf->fresh;
        return TDC_OK;
    }
    if (axis->axis->before != NULL) {
        struct tdc_runs runs;
        tdc_status status = tdc_placing_range(placing, axis->axis->before, stored, &runs);
        if (status != TDC_OK)
            return status;
        stored = 0;
        for (size_t i = 0; i < runs.count; i++)
            stored += runs.list[i].length;
    }
    for (unsigned i = 0; i < axis->leaf_count; i++) {
        const struct tdc_leaf_plan *other = &placing->leaves[axis->first_leaf + i];
        if (other != leaf &&
            (other->size < 0 ||
             __builtin_mul_overflow(others, (uint64_t)(other->sized ? other->size : 1), &others)))
            others = 0;
    }
    if (others == 0 || __builtin_mul_overflow(stored, parts, size))
        *size = 0;
    else
        *size /= others;
    return TDC_OK;
}

static bool divides(uint64_t divisor, uint64_t number)
{
    return divisor != 0 && number % divisor == 0;
}

/* The digits of the joins' common place that count along a leaf: `ways` of them, each `behind` of
 * the place apart. A place is made of several joins, the last fastest. */
static tdc_status give_digits(const struct tdc_placing *placing, const struct tdc_axis_plan *axis,
                              struct tdc_leaf_plan *leaf, uint64_t behind, uint64_t ways)
{
    struct tdc_step_plan step = {0};
    uint64_t below = 1; /* places of the joins behind this one */
    for (unsigned i = axis->whole.digit_count; i-- > 0;) {
        struct tdc_digit digit = axis->whole.digits[i];
        uint64_t places = placing->joins[digit.join].places;
        /* what of [behind, behind * ways) lies in [below, below * places) */
        uint64_t low = behind > below ? behind : below;
        uint64_t high = behind * ways < below * places ? behind * ways : below * places;
        if (low < high) {
            if (!divides(below, low) || !divides(low, high) || !divides(behind, low))
                return tdc_placing_fail(placing, "axis '%s' cannot be cut by %s as a whole",
                                        leaf->name, axis->axis->text);
            /* neither is 0: both divide something */
            digit.divisor = low / below; /* NOLINT(clang-analyzer-core.DivideZero) */
            digit.modulus = high / low;  /* NOLINT(clang-analyzer-core.DivideZero) */
            memmove(step.digits + 1, step.digits, step.digit_count * sizeof *step.digits);
            step.digits[0] = digit;
            step.digit_count++;
        }
        below *= places;
    }
    if (step.digit_count == 0)
        return TDC_OK;
    memmove(leaf->steps + 1, leaf->steps, leaf->step_count * sizeof *leaf->steps);
    leaf->steps[0] = step;
    leaf->step_count++;
    return TDC_OK;
}

static tdc_status split_axis(struct tdc_placing *placing, const struct tdc_axis_plan *axis,
                             uint64_t stored)
{
    uint64_t parts = 1;
    for (unsigned i = 0; i < axis->whole.digit_count; i++)
        if (__builtin_mul_overflow(parts, placing->joins[axis->whole.digits[i].join].places,
                                   &parts))
            return tdc_placing_fail(placing, "axis %.200s is cut into too many parts",
                                    axis->axis->text);
    uint64_t left = parts;
    for (unsigned i = 0; i < axis->leaf_count && left != 1; i++) {
        struct tdc_leaf_plan *leaf = &placing->leaves[axis->first_leaf + i];
        uint64_t size = 0, ways;
        tdc_status status = leaf_size(placing, axis, leaf, stored, parts, &size);
        if (status != TDC_OK)
            return status;
        if (size % left == 0)
            ways = left;
        else if (left % size == 0)
            ways = size;
        else
            return tdc_placing_fail(placing, "axis '%s' of %llu cannot be cut into %llu parts",
                                    leaf->name, (unsigned long long)size, (unsigned long long)left);
        left /= ways;
        status = give_digits(placing, axis, leaf, left, ways);
        if (status != TDC_OK)
            return status;
    }
    if (left != 1)
        return tdc_placing_fail(placing, "axis %.200s cannot be cut into %llu parts",
                                axis->axis->text, (unsigned long long)parts);
    return TDC_OK;
}

/* All other joins count by their places as they are. */
static void plain_digits(struct tdc_placing *placing)
{
    for (unsigned i = 0; i < placing->leaf_count; i++)
        for (unsigned s = 0; s < placing->leaves[i].step_count; s++) {
            struct tdc_step_plan *step = &placing->leaves[i].steps[s];
            for (unsigned k = 0; k < step->digit_count; k++)
                if (step->digits[k].modulus == 0)
                    step->digits[k].modulus = placing->joins[step->digits[k].join].places;
        }
}

tdc_status tdc_placing_split(struct tdc_placing *placing, const struct tdc_side_record *first)
{
    tdc_status status = TDC_OK;
    for (unsigned i = 0; i < placing->axis_count && status == TDC_OK; i++)
        if (placing->axes[i].whole.digit_count != 0)
            status = split_axis(placing, &placing->axes[i],
                                placing->axes[i].stored >= 0 ? first->shape[placing->axes[i].stored]
                                                             : 1);
    plain_digits(placing);
    return status;
}
