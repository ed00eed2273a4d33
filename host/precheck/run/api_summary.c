#include "host/precheck/run/api_summary.h"

#include <stdlib.h>
#include <string.h>

#define NAMES_LIMIT ((size_t)1 << 30)

void tdc_api_summary_init(struct tdc_api_summary *summary)
{
    memset(summary, 0, sizeof *summary);
    tdc_arena_init(&summary->arena, NAMES_LIMIT);
    tdc_names_init(&summary->names);
}

void tdc_api_summary_free(struct tdc_api_summary *summary)
{
    free(summary->apis);
    tdc_names_free(&summary->names);
    tdc_arena_free(&summary->arena);
    memset(summary, 0, sizeof *summary);
}

static struct tdc_api_outcome *api_named(struct tdc_api_summary *summary, const char *name)
{
    size_t length = strlen(name);
    uint32_t number = tdc_names_find(&summary->names, name, length);
    if (number != TDC_NAME_NONE)
        return &summary->apis[number];
    if (summary->count == summary->capacity) {
        size_t capacity = summary->capacity == 0 ? 64 : summary->capacity * 2;
        struct tdc_api_outcome *grown = reallocarray(summary->apis, capacity, sizeof *grown);
        if (grown == NULL)
            return NULL;
        summary->apis = grown;
        summary->capacity = capacity;
    }
    const char *kept = tdc_arena_text(&summary->arena, name, length);
    bool fresh;
    if (kept == NULL || tdc_names_put(&summary->names, kept, length, &fresh) == TDC_NAME_NONE)
        return NULL;
    struct tdc_api_outcome *named = &summary->apis[summary->count++];
    *named = (struct tdc_api_outcome){
        .api = {.name = kept, .worst_ulp = -1, .worst_abs = -1, .error = -1, .limit = -1}};
    return named;
}

bool tdc_api_summary_add(struct tdc_api_summary *summary, const struct tdc_call_outcome *outcome,
                         const char *call)
{
    struct tdc_api_outcome *named =
        api_named(summary, outcome->api[0] != '\0' ? outcome->api : call);
    if (named == NULL)
        return false;
    struct tdc_precheck_api *api = &named->api;
    tdc_check verdict = tdc_call_verdict(outcome->statuses);
    api->calls++;
    api->failing += verdict == TDC_CHECK_ERROR;
    api->skipped += verdict == TDC_CHECK_SKIP;
    for (int d = 0; d < TDC_DIRECTIONS && api->skip_reason == NULL; d++)
        if (outcome->reasons[d].text[0] != '\0')
            api->skip_reason = tdc_arena_text(&summary->arena, outcome->reasons[d].text,
                                              strlen(outcome->reasons[d].text));
    if (outcome->worst_abs > api->worst_abs)
        api->worst_abs = outcome->worst_abs;
    if (outcome->error > api->error) {
        api->error = outcome->error;
        api->limit = outcome->limit;
    }
    bool fails = verdict == TDC_CHECK_ERROR;
    if (fails > named->worst_fails ||
        (fails == named->worst_fails && outcome->worst_ulp > api->worst_ulp)) {
        named->worst_fails = fails;
        api->worst_call = tdc_arena_text(&summary->arena, call, strlen(call));
    }
    if (outcome->worst_ulp > api->worst_ulp)
        api->worst_ulp = outcome->worst_ulp;
    return !summary->arena.exhausted;
}

/* By share of failing calls, then units in the last place, then absolute error, then name. */
static int by_severity(const void *left, const void *right)
{
    const struct tdc_precheck_api *a = &((const struct tdc_api_outcome *)left)->api;
    const struct tdc_precheck_api *b = &((const struct tdc_api_outcome *)right)->api;
    double first = (double)a->failing / (double)a->calls;
    double second = (double)b->failing / (double)b->calls;
    if (first != second)
        return first > second ? -1 : 1;
    if (a->worst_ulp != b->worst_ulp)
        return a->worst_ulp > b->worst_ulp ? -1 : 1;
    if (a->worst_abs != b->worst_abs)
        return a->worst_abs > b->worst_abs ? -1 : 1;
    return strcmp(a->name, b->name);
}

void tdc_api_summary_sort(struct tdc_api_summary *summary)
{
    if (summary->count != 0)
        qsort(summary->apis, summary->count, sizeof *summary->apis, by_severity);
}
