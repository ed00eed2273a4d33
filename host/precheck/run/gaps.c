#include "host/precheck/run/gaps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXTS_LIMIT ((size_t)64 << 20)
/* Reasons that name a file or a size differ from call to call. */
#define MOST_REASONS 1000

void tdc_gaps_init(struct tdc_gaps *gaps)
{
    memset(gaps, 0, sizeof *gaps);
    tdc_arena_init(&gaps->arena, TEXTS_LIMIT);
    tdc_names_init(&gaps->names);
}

void tdc_gaps_free(struct tdc_gaps *gaps)
{
    free(gaps->gaps);
    tdc_names_free(&gaps->names);
    tdc_arena_free(&gaps->arena);
    memset(gaps, 0, sizeof *gaps);
}

static struct tdc_precheck_gap *gap_of(struct tdc_gaps *gaps, const char *reason, const char *first)
{
    uint32_t number = tdc_names_find(&gaps->names, reason, strlen(reason));
    if (number == TDC_NAME_NONE && gaps->count >= MOST_REASONS) {
        reason = "other reasons: see the result file";
        number = tdc_names_find(&gaps->names, reason, strlen(reason));
    }
    if (number != TDC_NAME_NONE)
        return &gaps->gaps[number];
    if (gaps->count == gaps->capacity) {
        size_t capacity = gaps->capacity == 0 ? 16 : gaps->capacity * 2;
        struct tdc_precheck_gap *grown = reallocarray(gaps->gaps, capacity, sizeof *grown);
        if (grown == NULL)
            return NULL;
        gaps->gaps = grown;
        gaps->capacity = capacity;
    }
    const char *kept = tdc_arena_text(&gaps->arena, reason, strlen(reason));
    const char *call = tdc_arena_text(&gaps->arena, first, strlen(first));
    bool fresh;
    if (kept == NULL || call == NULL ||
        tdc_names_put(&gaps->names, kept, strlen(kept), &fresh) == TDC_NAME_NONE)
        return NULL;
    struct tdc_precheck_gap *gap = &gaps->gaps[gaps->count++];
    *gap = (struct tdc_precheck_gap){.reason = kept, .first = call};
    return gap;
}

bool tdc_gaps_add(struct tdc_gaps *gaps, const struct tdc_call_outcome *outcome, const char *call)
{
    for (int d = 0; d < TDC_DIRECTIONS; d++) {
        bool nothing = outcome->recorded[d] && outcome->statuses[d] == TDC_CHECK_NONE;
        if (outcome->statuses[d] != TDC_CHECK_SKIP && !nothing)
            continue;
        const char *reason =
            nothing ? "the record has no output to compare" : outcome->reasons[d].text;
        struct tdc_precheck_gap *gap = gap_of(gaps, reason, call);
        if (gap == NULL)
            return false;
        if (d == TDC_FORWARD)
            gap->forward++;
        else
            gap->backward++;
    }
    return true;
}

bool tdc_is_module(const struct tdc_left_out *kind)
{
    return strcmp(kind->name, "Cell") == 0 || strcmp(kind->name, "Module") == 0;
}

bool tdc_gaps_add_kind(struct tdc_gaps *gaps, const struct tdc_left_out *kind)
{
    char reason[96];
    snprintf(reason, sizeof reason,
             tdc_is_module(kind) ? "records of %s are of modules, not of one operator"
                                 : "calls of %s that cannot be rebuilt",
             kind->name);
    struct tdc_precheck_gap *gap = gap_of(gaps, reason, kind->first);
    if (gap == NULL)
        return false;
    gap->forward += kind->records[TDC_FORWARD];
    gap->backward += kind->records[TDC_BACKWARD];
    gap->is_module = tdc_is_module(kind);
    return true;
}

static int by_size(const void *left, const void *right)
{
    const struct tdc_precheck_gap *a = left, *b = right;
    uint64_t first = a->forward + a->backward, second = b->forward + b->backward;
    return first != second ? (first > second ? -1 : 1) : strcmp(a->reason, b->reason);
}

void tdc_gaps_sort(struct tdc_gaps *gaps)
{
    if (gaps->count != 0)
        qsort(gaps->gaps, gaps->count, sizeof *gaps->gaps, by_size);
}
