/* overflow.c - which call of a step, over all its ranks, made the first NaN or infinity. */
#include <stdlib.h>
#include <string.h>

#include "host/analysis/analysis.h"
#include "host/analysis/beginning.h"
#include "host/analysis/communication/comm_graph.h"
#include "host/analysis/overflow/abnormal.h"
#include "host/analysis/overflow/overflow_report.h"
#include "host/dump/members.h"
#include "host/find/folders.h"
#include "io/base/error.h"

struct scanning {
    struct tdc_comm_graph *graph;
    const struct tdc_rank_dump *rank;
    size_t calls;
    long *partners; /* of one call */
    size_t partner_count, partner_capacity;
    bool failed;
};

/* ---- communication calls --------------------------------------------------------------------- */

/* The number of a rank; false for anything else. */
static bool rank_number(const struct tdc_json *value, long *number)
{
    if (value == NULL || value->kind != TDC_JSON_INTEGER || value->number < 0 ||
        value->number > 1e9)
        return false;
    *number = (long)value->number;
    return true;
}

static void add_partner(struct scanning *scanning, const struct tdc_json *value)
{
    long number;
    if (!rank_number(value, &number))
        return;
    if (scanning->partner_count == scanning->partner_capacity) {
        size_t more = scanning->partner_capacity != 0 ? 2 * scanning->partner_capacity : 64;
        long *grown = realloc(scanning->partners, more * sizeof *grown);
        if (grown == NULL) {
            scanning->failed = true;
            return;
        }
        scanning->partners = grown;
        scanning->partner_capacity = more;
    }
    scanning->partners[scanning->partner_count++] = number;
}

/* `src` or else `src_group` of the keyword arguments, where it is given and not null. */
static const struct tdc_json *named_rank(const struct tdc_json *keywords, const char *name,
                                         const char *in_group)
{
    const struct tdc_json *given = tdc_json_get(keywords, name);
    if (given == NULL)
        given = tdc_json_get(keywords, in_group);
    return given != NULL && given->kind == TDC_JSON_OBJECT ? given : NULL;
}

static bool is_own(const struct scanning *scanning, const struct tdc_json *argument)
{
    long number;
    return rank_number(tdc_json_get(argument, "value"), &number) &&
           number == scanning->rank->number;
}

static enum tdc_comm_end end_of(const struct scanning *scanning, const char *name,
                                const struct tdc_json *call)
{
    const struct tdc_json *keywords = tdc_json_get(call, "input_kwargs");
    const struct tdc_json *src = named_rank(keywords, "src", "src_group");
    const struct tdc_json *dst = named_rank(keywords, "dst", "dst_group");
    if (src != NULL)
        return is_own(scanning, src) ? TDC_COMM_SRC : TDC_COMM_DST;
    if (dst != NULL)
        return is_own(scanning, dst) ? TDC_COMM_DST : TDC_COMM_SRC;
    enum tdc_comm_end named = tdc_comm_named_end(tdc_comm_api_of(name));
    const struct tdc_json *arguments = tdc_json_get(call, "input_args");
    if (named == TDC_COMM_LINK || arguments == NULL)
        return TDC_COMM_LINK;
    for (const struct tdc_json *item = arguments->child; item != NULL; item = item->next)
        if (tdc_json_is_text(tdc_json_get(item, "type"), "int"))
            return is_own(scanning, item) ? named : tdc_comm_opposite(named);
    return TDC_COMM_LINK;
}

static void find_partners(struct scanning *scanning, const struct tdc_json *call)
{
    const struct tdc_json *keywords = tdc_json_get(call, "input_kwargs");
    scanning->partner_count = 0;
    add_partner(scanning, tdc_json_get(named_rank(keywords, "dst", "dst_group"), "value"));
    add_partner(scanning, tdc_json_get(named_rank(keywords, "src", "src_group"), "value"));
    const struct tdc_json *arguments = tdc_json_get(call, "input_args");
    if (scanning->partner_count == 0 && arguments != NULL && arguments->kind == TDC_JSON_LIST)
        for (const struct tdc_json *item = arguments->child; item != NULL; item = item->next)
            if (tdc_json_is_text(tdc_json_get(item, "type"), "int"))
                add_partner(scanning, tdc_json_get(item, "value"));
    const struct tdc_json *ranks = tdc_json_get(tdc_json_get(keywords, "group"), "group_ranks");
    if (ranks != NULL && ranks->kind == TDC_JSON_LIST)
        for (const struct tdc_json *rank = ranks->child; rank != NULL; rank = rank->next)
            add_partner(scanning, rank);
}

static bool add_communication(struct scanning *scanning, const char *name,
                              const struct tdc_json *call, struct tdc_abnormal_call abnormal)
{
    find_partners(scanning, call);
    const struct tdc_comm_call details = {
        .end = end_of(scanning, name, call),
        .has_partners = scanning->partner_count != 0,
        .partners = scanning->partners,
        .partner_count = scanning->partner_count,
        .suspicious = abnormal.arguments || abnormal.output,
        .suspicious_input = abnormal.arguments,
        .culprit = !abnormal.input && abnormal.output,
    };
    return tdc_comm_graph_communication(scanning->graph, scanning->calls, name, &details) &&
           !scanning->failed;
}

/* ---- the scan -------------------------------------------------------------------------------- */

static tdc_status scan_call(void *context, const char *name, size_t length,
                            const struct tdc_json *call)
{
    (void)length;
    struct scanning *scanning = context;
    struct tdc_abnormal_call abnormal = tdc_abnormal_call_of(call);
    bool done = true;
    if (tdc_comm_is_call(name))
        done = add_communication(scanning, name, call, abnormal);
    else if (!tdc_abnormal_ignored(name))
        done = tdc_comm_graph_compute(scanning->graph, scanning->calls, name,
                                      !abnormal.input && abnormal.output);
    scanning->calls++;
    return done ? TDC_OK : TDC_ERR_MEMORY;
}

static tdc_status scan_rank(struct tdc_comm_graph *graph, const struct tdc_rank_dump *rank,
                            const struct tdc_options *options, struct tdc_error *error)
{
    struct scanning scanning = {.graph = graph, .rank = rank};
    char *json = tdc_path_join(rank->folder, "dump.json");
    const struct tdc_members members = {.inside = "data", .visit = scan_call, .context = &scanning};
    tdc_status status = TDC_ERR_MEMORY;
    if (json != NULL && tdc_comm_graph_rank(graph, rank->number))
        status = tdc_members_walk(json, &members, error);
    if (status == TDC_ERR_MEMORY)
        tdc_fail(error, status, "%s: out of memory for its calls", rank->folder);
    if (status == TDC_OK && scanning.calls == 0)
        tdc_analysis_say(options, TDC_MESSAGE_WARNING, "Rank %ld has no dump data!", rank->number);
    free(scanning.partners);
    free(json);
    return status;
}

struct telling {
    const struct tdc_options *options;
};

static void tell_phase(void *context, enum tdc_comm_phase phase)
{
    static const char *const places[] = {"before", "during", "after"};
    const struct telling *telling = context;
    tdc_analysis_say(telling->options, TDC_MESSAGE_INFO,
                     "Start searching anomaly node %s communication.", places[phase]);
}

tdc_status tdc_overflow_find(const char *step, const char *output,
                             const struct tdc_options *options, tdc_beginning **beginning,
                             struct tdc_error *error)
{
    *beginning = NULL;
    struct tdc_rank_dumps ranks = {0};
    tdc_status status = tdc_rank_dumps_find(step, options, &ranks, error);
    const struct tdc_comm_rules rules = {0};
    struct tdc_comm_graph *graph = status == TDC_OK ? tdc_comm_graph_new(&rules) : NULL;
    if (status == TDC_OK && graph == NULL)
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < ranks.count && status == TDC_OK; i++)
        status = tdc_cancel_is_set(options->cancel)
                     ? tdc_fail(error, TDC_ERR_INTERRUPTED, "interrupted")
                     : scan_rank(graph, &ranks.ranks[i], options, error);
    struct tdc_comm_result result = {0};
    struct telling telling = {options};
    if (status == TDC_OK && !tdc_comm_graph_search(graph, tell_phase, &telling, &result))
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the search");
    if (status == TDC_OK) {
        tdc_analysis_say_links(&result, options);
        /* several may be as early along the communication; one is told, of the lowest rank */
        if (result.phase == TDC_COMM_DURING && result.count > 1)
            result.count = 1;
        *beginning = tdc_beginning_new(&result);
        if (*beginning == NULL)
            status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory for names");
    }
    if (status == TDC_OK && result.count != 0)
        status = tdc_overflow_report(&ranks, &result, output, options, *beginning, error);
    tdc_comm_graph_free(graph);
    tdc_rank_dumps_free(&ranks);
    if (status != TDC_OK) {
        tdc_beginning_free(*beginning);
        *beginning = NULL;
    }
    return status;
}
