/*
 * gather_logical.c - a range of a logical tensor, block by block from the boxes that meet it.
 *
 * A range of elements in C order is a few blocks: the rest of a row, whole rows, the rest of a
 * plane... Each block is cut with the boxes of the parts; what is left of a box is copied with one
 * stride an axis on both sides.
 */
#include <string.h>
#include <unistd.h>

#include "host/engine/copy_box.h"
#include "host/engine/logical/logical.h"
#include "host/engine/source.h"
#include "io/file/file_map.h"
#include "io/platform/platform.h"
#include "kernels/pair.h"

/* Bytes of a part from which on its pages are asked for, and given up, together. */
#define WORTH_ADVICE ((uint64_t)1 << 16)

/* What is done with the parts of a range. */
enum purpose {
    COPY,
    WANT,    /* pages are asked for */
    RELEASE, /* pages are given up */
    LIST     /* boxes are handed out */
};

struct gathering {
    const struct tdc_assembled *assembled;
    uint32_t term;
    uint64_t first; /* element that goes to `to` */
    unsigned char *to;
    size_t element;
    uint64_t inner[TDC_LOGICAL_AXES]; /* elements behind one place of an axis */
    int64_t ways[TDC_LOGICAL_AXES];   /* the same in bytes */
    bool numbers;                     /* all texts are; LIST: all boxes were taken */
    enum purpose purpose;
    tdc_box_listed *take; /* LIST */
    void *context;
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

/* The bytes between the first and the last of a sub-box, relative to its first element; false where
 * it does not fill them. */
static bool reach_of(const struct tdc_copy_box *box, size_t element, uint64_t *wanted, int64_t *low,
                     int64_t *high)
{
    *wanted = element;
    *low = 0;
    *high = (int64_t)element;
    for (unsigned i = 0; i < box->axes; i++) {
        int64_t reach = (int64_t)(box->axis[i].length - 1) * box->axis[i].from;
        *wanted *= box->axis[i].length;
        *low += reach < 0 ? reach : 0;
        *high += reach > 0 ? reach : 0;
    }
    return (uint64_t)(*high - *low) / 2 <= *wanted;
}

/* Advice about the pages of a sub-box, where it fills them. */
static void advise(const struct tdc_tensor *tensor, const struct tdc_copy_box *box, int64_t offset,
                   size_t element, enum tdc_page_advice advice)
{
    uint64_t wanted;
    int64_t low, high;
    if (!reach_of(box, element, &wanted, &low, &high) || tensor->map == NULL ||
        wanted < WORTH_ADVICE)
        return;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = (uintptr_t)(tensor->data + offset + low),
              end = start + (uintptr_t)(high - low);
    if (advice == TDC_PAGES_DONE) { /* pages that others share stay */
        start = (start + page - 1) / page * page;
        end = end / page * page;
    } else {
        start = start / page * page;
    }
    if (end <= start)
        return;
    void *pages = (void *)start; /* NOLINT(performance-no-int-to-ptr) */
    if (advice == TDC_PAGES_DONE)
        tdc_file_map_done(pages, end - start);
    else
        tdc_pages_advise(pages, end - start, advice);
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

static bool copy_sub_box(const struct tdc_logical *logical, const struct tdc_logical_box *box,
                         const struct tdc_logical_part *part, const struct tdc_tensor *tensor,
                         const uint64_t *lo, const uint64_t *extent, const int64_t *ways,
                         bool widen, bool ask, unsigned char *to)
{
    uint64_t base[TDC_MAX_DIMENSIONS];
    sub_base(logical, box, part, tensor->dimensions, lo, base);
    if (widen || !tdc_part_is_plain(tensor))
        return copy_elements(logical, part, tensor, base, extent, ways, widen, to);
    size_t element = tdc_dtype_size(tensor->dtype);
    struct tdc_copy_box copy;
    int64_t offset = make_copy(logical, part, tensor, base, extent, ways, element, &copy);
    if (ask)
        advise(tensor, &copy, offset, element, TDC_PAGES_NEEDED);
    tdc_copy_box(&copy, to, tensor->data + offset, element);
    return true;
}

bool tdc_box_copy(const struct tdc_logical *logical, const struct tdc_logical_box *box,
                  const struct tdc_logical_part *part, const struct tdc_tensor *tensor,
                  const uint64_t *lo, const uint64_t *extent, const int64_t *ways, bool widen,
                  unsigned char *to)
{
    return copy_sub_box(logical, box, part, tensor, lo, extent, ways, widen, true, to);
}

/* Asks for the pages of a sub-box, or gives them up. */
static void visit_box(const struct gathering *gathering, const struct tdc_logical_box *box,
                      const struct tdc_logical_part *part, const struct tdc_tensor *tensor,
                      const uint64_t *lo, const uint64_t *extent)
{
    const struct tdc_logical *logical = gathering->assembled->logical;
    static const int64_t no_ways[TDC_LOGICAL_AXES];
    uint64_t base[TDC_MAX_DIMENSIONS];
    struct tdc_copy_box copy;
    if (!tdc_part_is_plain(tensor))
        return;
    size_t element = tdc_dtype_size(tensor->dtype);
    sub_base(logical, box, part, tensor->dimensions, lo, base);
    int64_t offset = make_copy(logical, part, tensor, base, extent, no_ways, element, &copy);
    advise(tensor, &copy, offset, element,
           gathering->purpose == WANT ? TDC_PAGES_NEEDED : TDC_PAGES_DONE);
}

/* A sub-box that goes to byte `to`; false where it is not taken. */
static bool list_sub_box(const struct gathering *gathering, const struct tdc_logical_box *box,
                         const struct tdc_logical_part *part, const struct tdc_tensor *tensor,
                         const uint64_t *lo, const uint64_t *extent, uint64_t to)
{
    const struct tdc_logical *logical = gathering->assembled->logical;
    uint64_t base[TDC_MAX_DIMENSIONS];
    struct tdc_copy_box copy;
    if (!tdc_part_is_plain(tensor))
        return false;
    sub_base(logical, box, part, tensor->dimensions, lo, base);
    int64_t offset =
        make_copy(logical, part, tensor, base, extent, gathering->ways, gathering->element, &copy);
    return gathering->take(gathering->context, &copy, tensor->data + offset, to,
                           gathering->element);
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
        if (gathering->purpose == WANT || gathering->purpose == RELEASE) {
            visit_box(gathering, box, part, tensor, cut_lo, cut_extent);
            continue;
        }
        for (unsigned d = 0; d < logical->dimensions; d++)
            flat += cut_lo[d] * gathering->inner[d];
        uint64_t at = (flat - gathering->first) * gathering->element;
        if (gathering->purpose == LIST) {
            gathering->numbers = gathering->numbers &&
                                 list_sub_box(gathering, box, part, tensor, cut_lo, cut_extent, at);
            continue;
        }
        unsigned char *to = gathering->to + at;
        gathering->numbers &= copy_sub_box(logical, box, part, tensor, cut_lo, cut_extent,
                                           gathering->ways, assembled->mixed, false, to);
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

/* [first, first + count) of a term; what goes where is in the gathering. */
static bool walk_term(struct gathering *gathering, uint64_t count)
{
    const struct tdc_logical *logical = gathering->assembled->logical;
    uint64_t inner = 1, lo[TDC_LOGICAL_AXES] = {0}, extent[TDC_LOGICAL_AXES] = {0};
    for (unsigned d = logical->dimensions; d-- > 0;) {
        gathering->inner[d] = inner;
        gathering->ways[d] = (int64_t)(inner * gathering->element);
        inner *= logical->shape[d];
    }
    if (count != 0)
        gather_range(gathering, 0, lo, extent, gathering->first, count);
    return gathering->numbers;
}

bool tdc_assembled_term(const struct tdc_assembled *assembled, uint32_t term, uint64_t first,
                        uint64_t count, size_t element, unsigned char *to)
{
    struct gathering gathering = {.assembled = assembled,
                                  .term = term,
                                  .first = first,
                                  .to = to,
                                  .element = element,
                                  .numbers = true,
                                  .purpose = COPY};
    return walk_term(&gathering, count);
}

static void walk_all(const struct tdc_assembled *assembled, enum purpose purpose, uint64_t first,
                     uint64_t count)
{
    for (uint32_t term = 0; term < assembled->logical->term_count; term++) {
        struct gathering gathering = {
            .assembled = assembled, .term = term, .first = first, .purpose = purpose};
        walk_term(&gathering, count);
    }
}

void tdc_assembled_want(const struct tdc_assembled *assembled, uint64_t first, uint64_t count)
{
    walk_all(assembled, WANT, first, count);
}

void tdc_assembled_release(const struct tdc_assembled *assembled, uint64_t first, uint64_t count)
{
    walk_all(assembled, RELEASE, first, count);
}

/* ---- in place -------------------------------------------------------------------------------- */

/* How many elements follow each other in a part as they do in the logical tensor, from the place
 * `index` of a box on, which is element `first`. */
static uint64_t run_from(const struct tdc_logical *logical, const struct tdc_logical_box *box,
                         const struct tdc_logical_part *part, const struct tdc_tensor *tensor,
                         const uint64_t *index, uint64_t first)
{
    uint64_t inner = 1, run = 1;
    for (unsigned d = logical->dimensions; d-- > 0 && inner != 0; inner *= logical->shape[d]) {
        int64_t stride =
            part->stored[d] >= 0 ? (int64_t)part->steps[d] * tensor->strides[part->stored[d]] : 0;
        if (logical->shape[d] == 1)
            continue;
        if (box->extent[d] > 1 && stride != (int64_t)inner)
            break;
        run = (box->first[d] + box->extent[d] - index[d]) * inner - first % inner;
        if (box->extent[d] != logical->shape[d])
            break;
    }
    return run;
}

/* The box of the only term that has a place. */
static const struct tdc_logical_box *box_of(const struct tdc_logical *logical,
                                            const uint64_t *index)
{
    unsigned axis = logical->index_axis;
    for (uint32_t i = first_box(logical, 0, index[axis]);
         i < logical->term_starts[1] && logical->boxes[i].first[axis] <= index[axis]; i++) {
        const struct tdc_logical_box *box = &logical->boxes[i];
        bool inside = true;
        for (unsigned d = 0; d < logical->dimensions && inside; d++)
            inside = index[d] >= box->first[d] && index[d] - box->first[d] < box->extent[d];
        if (inside)
            return box;
    }
    return NULL;
}

const void *tdc_assembled_in_place(const struct tdc_assembled *assembled, uint64_t first,
                                   size_t count)
{
    const struct tdc_logical *logical = assembled->logical;
    uint64_t index[TDC_LOGICAL_AXES], base[TDC_MAX_DIMENSIONS], left = first;
    if (assembled->convert || logical->sparse || logical->dimensions == 0 || count == 0)
        return NULL;
    for (unsigned d = logical->dimensions; d-- > 0;) {
        index[d] = left % logical->shape[d];
        left /= logical->shape[d];
    }
    const struct tdc_logical_box *box = box_of(logical, index);
    if (box == NULL)
        return NULL;
    const struct tdc_logical_part *part = &logical->parts[box->part];
    const struct tdc_tensor *tensor = &assembled->parts[box->part];
    if (!tdc_part_is_plain(tensor) || run_from(logical, box, part, tensor, index, first) < count)
        return NULL;
    size_t element = tdc_dtype_size(tensor->dtype);
    sub_base(logical, box, part, tensor->dimensions, index, base);
    return tensor->data + tdc_part_offset(tensor, base) * (int64_t)element;
}

bool tdc_assembled_list(const struct tdc_assembled *assembled, uint64_t first, uint64_t count,
                        tdc_box_listed *take, void *context)
{
    struct gathering gathering = {.assembled = assembled,
                                  .first = first,
                                  .element = tdc_dtype_size(assembled->stored),
                                  .numbers = true,
                                  .purpose = LIST,
                                  .take = take,
                                  .context = context};
    return !assembled->convert && !assembled->logical->sparse && walk_term(&gathering, count);
}
