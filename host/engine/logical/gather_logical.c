/*
 * gather_logical.c - a range of a logical tensor, block by block from the boxes that meet it.
 *
 * A range of elements in C order is a few blocks: the rest of a row, whole rows, the rest of a
 * plane... Each block is cut with the boxes of the parts; what is left of a box is copied with one
 * stride an axis on both sides.
 */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "host/engine/copy_box.h"
#include "host/engine/logical/logical.h"
#include "host/engine/source.h"
#include "io/platform/platform.h"
#include "kernels/pair.h"

/* Elements that are converted at a time; they stay in the cache of a core. */
#define CONVERTED ((size_t)4096)
/* Bytes of a part from which on its pages are asked for, and given up, together. */
#define WORTH_ADVICE ((uint64_t)1 << 16)

struct gathering {
    const struct tdc_assembled *assembled;
    uint32_t term;
    uint64_t first; /* element that goes to `to` */
    unsigned char *to;
    size_t element;
    uint64_t inner[TDC_LOGICAL_AXES]; /* elements behind one place of an axis */
    int64_t ways[TDC_LOGICAL_AXES];   /* the same in bytes */
    bool numbers;
    bool release; /* pages are given up, nothing is copied */
};

int64_t tdc_part_offset(const struct tdc_tensor *tensor, const uint64_t *base)
{
    int64_t at = 0;
    for (unsigned i = 0; i < tensor->dimensions; i++)
        at += (int64_t)base[i] * tensor->strides[i];
    return at;
}

bool tdc_part_is_plain(const struct tdc_tensor *tensor)
{
    return tensor->coding == TDC_CODING_PLAIN && tensor->dtype != TDC_TEXT && !tensor->swapped &&
           tensor->block == 0;
}

/* ---- a box ----------------------------------------------------------------------------------- */

/* Index in the stored axes of the first element of a sub-box. */
static void sub_base(const struct tdc_logical *logical, const struct tdc_logical_box *box,
                     const struct tdc_logical_part *part, unsigned stored, const uint64_t *lo,
                     uint64_t *base)
{
    memcpy(base, box->base, stored * sizeof *base);
    for (unsigned d = 0; d < logical->dimensions; d++)
        if (part->stored[d] >= 0)
            base[part->stored[d]] += (lo[d] - box->first[d]) * part->steps[d];
}

/* Other byte orders, codes, texts, blocks, several types: one element after the other, as float64
 * if its own type is not of the size wanted. */
static bool copy_elements(const struct tdc_logical *logical, const struct tdc_logical_part *part,
                          const struct tdc_tensor *tensor, const uint64_t *base,
                          const uint64_t *extent, const int64_t *ways, bool widen,
                          unsigned char *to)
{
    uint64_t index[TDC_LOGICAL_AXES] = {0};
    tdc_dtype dtype = tdc_source_dtype(tensor);
    size_t element = widen ? sizeof(double) : tdc_dtype_size(dtype);
    for (;;) {
        uint64_t place[TDC_MAX_DIMENSIONS], flat = 0;
        int64_t target = 0;
        memcpy(place, base, tensor->dimensions * sizeof *place);
        for (unsigned d = 0; d < logical->dimensions; d++) {
            if (part->stored[d] >= 0)
                place[part->stored[d]] += index[d] * part->steps[d];
            target += (int64_t)index[d] * ways[d];
        }
        for (unsigned i = 0; i < tensor->dimensions; i++)
            flat = flat * tensor->shape[i] + place[i];
        unsigned char one[16];
        if (!tdc_gather_elements(tensor, flat, 1, one))
            return false;
        double value;
        if (widen) {
            tdc_widen(dtype, one, 1, &value);
            memcpy(one, &value, sizeof value);
        }
        memcpy(to + target, one, element);
        unsigned d = logical->dimensions;
        while (d > 0 && ++index[d - 1] == extent[d - 1])
            index[--d] = 0;
        if (d == 0)
            return true;
    }
}

/* Advice about the pages between the first and the last byte of a sub-box, where it fills them. */
static void advise(const struct tdc_tensor *tensor, const struct tdc_copy_box *box, int64_t offset,
                   size_t element, enum tdc_page_advice advice)
{
    uint64_t wanted = element;
    int64_t low = 0, high = (int64_t)element;
    for (unsigned i = 0; i < box->axes; i++) {
        int64_t reach = (int64_t)(box->axis[i].length - 1) * box->axis[i].from;
        wanted *= box->axis[i].length;
        low += reach < 0 ? reach : 0;
        high += reach > 0 ? reach : 0;
    }
    uint64_t range = (uint64_t)(high - low);
    if (tensor->map == NULL || wanted < WORTH_ADVICE || range / 2 > wanted)
        return;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = (uintptr_t)(tensor->data + offset + low), end = start + range;
    if (advice == TDC_PAGES_DONE) { /* pages that others share stay */
        start = (start + page - 1) / page * page;
        end = end / page * page;
    } else {
        start = start / page * page;
    }
    if (end > start)
        tdc_pages_advise((void *)start, end - start,
                         advice); /* NOLINT(performance-no-int-to-ptr) */
}

static int64_t make_copy(const struct tdc_logical *logical, const struct tdc_logical_part *part,
                         const struct tdc_tensor *tensor, const uint64_t *base,
                         const uint64_t *extent, const int64_t *ways, size_t element,
                         struct tdc_copy_box *copy)
{
    copy->axes = logical->dimensions;
    for (unsigned d = 0; d < logical->dimensions; d++) {
        int64_t stride =
            part->stored[d] >= 0 ? (int64_t)part->steps[d] * tensor->strides[part->stored[d]] : 0;
        copy->axis[d] = (struct tdc_copy_axis){extent[d], stride * (int64_t)element, ways[d]};
    }
    return tdc_part_offset(tensor, base) * (int64_t)element;
}

bool tdc_box_copy(const struct tdc_logical *logical, const struct tdc_logical_box *box,
                  const struct tdc_logical_part *part, const struct tdc_tensor *tensor,
                  const uint64_t *lo, const uint64_t *extent, const int64_t *ways, bool widen,
                  unsigned char *to)
{
    uint64_t base[TDC_MAX_DIMENSIONS];
    sub_base(logical, box, part, tensor->dimensions, lo, base);
    if (widen || !tdc_part_is_plain(tensor))
        return copy_elements(logical, part, tensor, base, extent, ways, widen, to);
    size_t element = tdc_dtype_size(tensor->dtype);
    struct tdc_copy_box copy;
    int64_t offset = make_copy(logical, part, tensor, base, extent, ways, element, &copy);
    advise(tensor, &copy, offset, element, TDC_PAGES_NEEDED);
    tdc_copy_box(&copy, to, tensor->data + offset, element);
    return true;
}

static void release_box(const struct tdc_logical *logical, const struct tdc_logical_box *box,
                        const struct tdc_logical_part *part, const struct tdc_tensor *tensor,
                        const uint64_t *lo, const uint64_t *extent)
{
    static const int64_t no_ways[TDC_LOGICAL_AXES];
    uint64_t base[TDC_MAX_DIMENSIONS];
    struct tdc_copy_box copy;
    if (!tdc_part_is_plain(tensor))
        return;
    size_t element = tdc_dtype_size(tensor->dtype);
    sub_base(logical, box, part, tensor->dimensions, lo, base);
    int64_t offset = make_copy(logical, part, tensor, base, extent, no_ways, element, &copy);
    advise(tensor, &copy, offset, element, TDC_PAGES_DONE);
}

/* ---- a block --------------------------------------------------------------------------------- */

/* The first box of a term that may reach index `from` of the axis they are sorted by. */
static uint32_t first_box(const struct tdc_logical *logical, uint32_t term, uint64_t from)
{
    uint32_t low = logical->term_starts[term], high = logical->term_starts[term + 1];
    uint64_t least = from >= logical->longest ? from - logical->longest + 1 : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (logical->boxes[middle].first[logical->index_axis] < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool cut(const struct tdc_logical *logical, const struct tdc_logical_box *box,
                const uint64_t *lo, const uint64_t *extent, uint64_t *cut_lo, uint64_t *cut_extent)
{
    for (unsigned d = 0; d < logical->dimensions; d++) {
        uint64_t from = lo[d] > box->first[d] ? lo[d] : box->first[d];
        uint64_t a = lo[d] + extent[d], b = box->first[d] + box->extent[d], to = a < b ? a : b;
        if (from >= to)
            return false;
        cut_lo[d] = from;
        cut_extent[d] = to - from;
    }
    return true;
}

static void gather_block(struct gathering *gathering, const uint64_t *lo, const uint64_t *extent)
{
    const struct tdc_assembled *assembled = gathering->assembled;
    const struct tdc_logical *logical = assembled->logical;
    unsigned axis = logical->index_axis;
    uint32_t end = logical->term_starts[gathering->term + 1];
    uint32_t i = first_box(logical, gathering->term, lo[axis]);
    for (; i < end && logical->boxes[i].first[axis] < lo[axis] + extent[axis]; i++) {
        const struct tdc_logical_box *box = &logical->boxes[i];
        uint64_t cut_lo[TDC_LOGICAL_AXES], cut_extent[TDC_LOGICAL_AXES], flat = 0;
        if (!cut(logical, box, lo, extent, cut_lo, cut_extent))
            continue;
        const struct tdc_logical_part *part = &logical->parts[box->part];
        const struct tdc_tensor *tensor = &assembled->parts[box->part];
        if (gathering->release) {
            release_box(logical, box, part, tensor, cut_lo, cut_extent);
            continue;
        }
        for (unsigned d = 0; d < logical->dimensions; d++)
            flat += cut_lo[d] * gathering->inner[d];
        unsigned char *to = gathering->to + (flat - gathering->first) * gathering->element;
        gathering->numbers &= tdc_box_copy(logical, box, part, tensor, cut_lo, cut_extent,
                                           gathering->ways, assembled->mixed, to);
    }
}

/* [start, start + count) of the elements behind the axes before `axis`, whose indices are in lo. */
static void gather_range(struct gathering *gathering, unsigned axis, uint64_t *lo, uint64_t *extent,
                         uint64_t start, uint64_t count)
{
    const struct tdc_logical *logical = gathering->assembled->logical;
    if (axis == logical->dimensions) {
        gather_block(gathering, lo, extent);
        return;
    }
    uint64_t inner = gathering->inner[axis], place = start / inner, within = start % inner;
    if (within != 0) {
        uint64_t part = inner - within < count ? inner - within : count;
        lo[axis] = place++;
        extent[axis] = 1;
        gather_range(gathering, axis + 1, lo, extent, within, part);
        count -= part;
    }
    uint64_t whole = count / inner;
    if (whole != 0) {
        lo[axis] = place;
        extent[axis] = whole;
        for (unsigned d = axis + 1; d < logical->dimensions; d++) {
            lo[d] = 0;
            extent[d] = logical->shape[d];
        }
        gather_block(gathering, lo, extent);
    }
    if (count % inner != 0) {
        lo[axis] = place + whole;
        extent[axis] = 1;
        gather_range(gathering, axis + 1, lo, extent, 0, count % inner);
    }
}

static bool gather_term(const struct tdc_assembled *assembled, uint32_t term, uint64_t first,
                        uint64_t count, size_t element, unsigned char *to, bool release)
{
    const struct tdc_logical *logical = assembled->logical;
    struct gathering gathering = {.assembled = assembled,
                                  .term = term,
                                  .first = first,
                                  .to = to,
                                  .element = element,
                                  .numbers = true,
                                  .release = release};
    uint64_t inner = 1, lo[TDC_LOGICAL_AXES], extent[TDC_LOGICAL_AXES];
    for (unsigned d = logical->dimensions; d-- > 0;) {
        gathering.inner[d] = inner;
        gathering.ways[d] = (int64_t)(inner * element);
        inner *= logical->shape[d];
    }
    if (count != 0)
        gather_range(&gathering, 0, lo, extent, first, count);
    return gathering.numbers;
}

void tdc_assembled_release(const struct tdc_assembled *assembled, uint64_t first, uint64_t count)
{
    for (uint32_t term = 0; term < assembled->logical->term_count; term++)
        gather_term(assembled, term, first, count, 1, NULL, true);
}

/* ---- numbers --------------------------------------------------------------------------------- */

void tdc_widen(tdc_dtype dtype, const unsigned char *elements, size_t count, double *values)
{
    if (dtype == TDC_F32) {
        for (size_t i = 0; i < count; i++) {
            float value;
            memcpy(&value, elements + i * sizeof value, sizeof value);
            values[i] = (double)value;
        }
    } else if (dtype == TDC_BF16) {
        for (size_t i = 0; i < count; i++) {
            uint16_t half;
            memcpy(&half, elements + i * sizeof half, sizeof half);
            uint32_t bits = (uint32_t)half << 16;
            float value;
            memcpy(&value, &bits, sizeof value);
            values[i] = (double)value;
        }
    } else if (dtype == TDC_F64) {
        memcpy(values, elements, count * sizeof *values);
    } else {
        size_t size = tdc_dtype_size(dtype);
        double imaginary;
        for (size_t i = 0; i < count; i++)
            values[i] = tdc_element_value(dtype, elements + i * size, &imaginary);
    }
}

/* To the nearest number of `digits` binary digits whose exponents end at `lowest` and `highest`,
 * ties to even. */
static double round_to(double value, int digits, int lowest, int highest)
{
    int exponent;
    if (!isfinite(value) || value == 0)
        return value;
    frexp(value, &exponent);
    int last = (exponent - 1 > lowest ? exponent - 1 : lowest) - (digits - 1);
    /* the quotient is exact, and so is what is multiplied back */
    double rounded = ldexp(nearbyint(ldexp(value, -last)), last);
    return fabs(rounded) >= ldexp(1, highest + 1) ? copysign((double)INFINITY, value) : rounded;
}

static void round_all(enum tdc_rounding rounding, double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rounding == TDC_ROUND_F32)
            values[i] = (double)(float)values[i];
        else if (rounding == TDC_ROUND_F16)
            values[i] = round_to(values[i], 11, -14, 15);
        else if (rounding == TDC_ROUND_BF16)
            values[i] = round_to(values[i], 8, -126, 127);
}

/* A term as float64. Parts of several types are gathered as that already. */
static bool widened_term(const struct tdc_assembled *assembled, uint32_t term, uint64_t first,
                         size_t count, double *values)
{
    unsigned char raw[CONVERTED * 16];
    tdc_dtype dtype = assembled->mixed ? TDC_F64 : assembled->stored;
    if (assembled->logical->sparse)
        memset(raw, 0, count * tdc_dtype_size(dtype));
    if (!gather_term(assembled, term, first, count, tdc_dtype_size(dtype), raw, false))
        return false;
    tdc_widen(dtype, raw, count, values);
    return true;
}

static bool convert(const struct tdc_assembled *assembled, uint64_t first, size_t count,
                    double *values)
{
    const struct tdc_logical *logical = assembled->logical;
    double term_values[CONVERTED], group_values[CONVERTED];
    for (uint32_t group = 0; group < logical->group_count; group++) {
        double *into = group == 0 ? values : group_values;
        memset(into, 0, count * sizeof *into);
        for (uint32_t term = logical->group_starts[group]; term < logical->group_starts[group + 1];
             term++) {
            bool begins = term == logical->group_starts[group];
            if (!widened_term(assembled, term, first, count, begins ? into : term_values))
                return false;
            for (size_t i = 0; i < count && !begins; i++)
                into[i] += term_values[i];
        }
        for (size_t i = 0; i < count && group != 0; i++)
            values[i] += group_values[i];
    }
    round_all(logical->rounding, values, count);
    return true;
}

bool tdc_assembled_gather(const struct tdc_assembled *assembled, uint64_t first, size_t count,
                          void *buffer)
{
    if (!assembled->convert)
        return gather_term(assembled, 0, first, count, tdc_dtype_size(assembled->stored), buffer,
                           false);
    double values[CONVERTED]; /* the buffer may have the alignment of a byte */
    for (size_t done = 0; done < count; done += CONVERTED) {
        size_t part = count - done < CONVERTED ? count - done : CONVERTED;
        if (!convert(assembled, first + done, part, values))
            return false;
        memcpy((unsigned char *)buffer + done * sizeof *values, values, part * sizeof *values);
    }
    return true;
}
