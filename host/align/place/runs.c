/* runs.c - intervals of one coordinate mapped to those of another. */
#include <stdlib.h>
#include <string.h>

#include "host/align/place/place.h"

static int by_from(const void *left, const void *right)
{
    const struct tdc_run *a = left, *b = right;
    return (a->from > b->from) - (a->from < b->from);
}

void tdc_runs_sort(struct tdc_runs *runs)
{
    if (runs->count > 1)
        qsort(runs->list, runs->count, sizeof *runs->list, by_from);
}

/* The first segment that may reach `from`; segments that repeat indices overlap, so one looks back
 * as far as they do. */
static size_t first_segment(const struct tdc_runs *segments, uint64_t from)
{
    size_t low = 0, high = segments->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (segments->list[middle].from + segments->list[middle].length <= from)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool overlap(const struct tdc_runs *segments)
{
    for (size_t i = 1; i < segments->count; i++)
        if (segments->list[i].from < segments->list[i - 1].from + segments->list[i - 1].length)
            return true;
    return false;
}

/* One run through all segments; counts alone if `mapped` is NULL. */
static size_t map_run(const struct tdc_run *run, const struct tdc_runs *segments, size_t start,
                      struct tdc_run *mapped)
{
    uint64_t low = run->to, high = run->to + run->length;
    size_t count = 0;
    for (size_t i = start; i < segments->count && segments->list[i].from < high; i++) {
        const struct tdc_run *segment = &segments->list[i];
        uint64_t end = segment->from + segment->length;
        uint64_t from = low > segment->from ? low : segment->from, to = high < end ? high : end;
        if (from >= to)
            continue;
        if (mapped != NULL)
            mapped[count] = (struct tdc_run){run->from + (from - low),
                                             segment->to + (from - segment->from), to - from};
        count++;
    }
    return count;
}

tdc_status tdc_runs_map(const struct tdc_placing *placing, const struct tdc_runs *runs,
                        const struct tdc_runs *segments, struct tdc_runs *mapped)
{
    bool apart = !overlap(segments);
    size_t count = 0, used = 0;
    for (size_t i = 0; i < runs->count; i++)
        count += map_run(&runs->list[i], segments,
                         apart ? first_segment(segments, runs->list[i].to) : 0, NULL);
    struct tdc_run *list = tdc_arena_zeroed(placing->arena, count + 1, sizeof *list);
    if (list == NULL)
        return tdc_placing_no_memory(placing);
    for (size_t i = 0; i < runs->count; i++)
        used += map_run(&runs->list[i], segments,
                        apart ? first_segment(segments, runs->list[i].to) : 0, list + used);
    /* neighbours that stayed neighbours become one */
    size_t kept = 0;
    for (size_t i = 0; i < used; i++) {
        struct tdc_run *last = kept != 0 ? &list[kept - 1] : NULL;
        if (last != NULL && last->from + last->length == list[i].from &&
            last->to + last->length == list[i].to)
            last->length += list[i].length;
        else
            list[kept++] = list[i];
    }
    *mapped = (struct tdc_runs){list, kept};
    return TDC_OK;
}

static tdc_status take_item(const struct tdc_placing *placing, const struct tdc_range *range,
                            const struct tdc_range_item *item, uint64_t size, struct tdc_run *run)
{
    int64_t from = 0, to = (int64_t)size;
    tdc_status status = TDC_OK;
    if (item->from.length != 0)
        status = tdc_placing_number(placing, item->from, &from);
    if (status == TDC_OK && item->single)
        to = from < INT64_MAX ? from + 1 : from;
    else if (status == TDC_OK && item->to.length != 0)
        status = tdc_placing_number(placing, item->to, &to);
    if (status != TDC_OK)
        return status;
    if (from < 0 || to < from || (uint64_t)to > size || (item->single && to == from))
        return tdc_placing_fail(placing, "slice {%.200s} is outside an axis of %llu", range->text,
                                (unsigned long long)size);
    run->from = (uint64_t)from;
    run->length = (uint64_t)(to - from);
    return TDC_OK;
}

tdc_status tdc_placing_range(const struct tdc_placing *placing, const struct tdc_range *range,
                             uint64_t size, struct tdc_runs *runs)
{
    uint64_t at = 0;
    struct tdc_run *list = tdc_arena_zeroed(placing->arena, range->count + 1, sizeof *list);
    if (list == NULL)
        return tdc_placing_no_memory(placing);
    for (size_t i = 0; i < range->count; i++) {
        tdc_status status = take_item(placing, range, &range->items[i], size, &list[i]);
        if (status != TDC_OK)
            return status;
        list[i].to = at;
        at += list[i].length;
    }
    *runs = (struct tdc_runs){list, range->count};
    return TDC_OK;
}
