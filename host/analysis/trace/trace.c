/* trace.c - where two runs begin to differ, over all ranks. */
#include <stdlib.h>
#include <string.h>

#include "host/analysis/analysis.h"
#include "host/analysis/trace/trace_origins.h"
#include "host/share/share_pairs.h"
#include "io/base/error.h"

#define TRACE_LIMIT ((size_t)8 << 30)
#define TEXT_LIMIT  ((size_t)1 << 30)

/* ---- the whole ------------------------------------------------------------------------------- */

/* A task that cannot be compared is told and left out, unless it is the only one. */
static tdc_status add_tasks(struct tdc_trace *trace, const tdc_tasks *tasks, const char *from,
                            const struct tdc_options *options, struct tdc_error *error)
{
    size_t count = tdc_tasks_count(tasks);
    for (size_t i = 0; i < count; i++) {
        struct tdc_error reason = {0};
        tdc_status status = trace_add_task(trace, tdc_tasks_get(tasks, i), from, options, &reason);
        bool over =
            status == TDC_ERR_MEMORY || status == TDC_ERR_INTERRUPTED || status == TDC_ERR_ARGUMENT;
        if (status != TDC_OK && (over || count == 1)) {
            *error = reason;
            return status;
        }
        if (status == TDC_OK)
            continue;
        trace->left_out++;
        if (trace->report != NULL)
            status = tdc_html_report_add_failure(trace->report, tdc_tasks_get(tasks, i),
                                                 reason.message, error);
        if (trace->report != NULL && status != TDC_OK)
            return status;
        tdc_analysis_say(options, TDC_MESSAGE_WARNING, "%s left out: %s",
                         tdc_tasks_get(tasks, i)->npu, reason.message);
    }
    return trace->task_count != 0 ? TDC_OK
                                  : tdc_fail(error, TDC_ERR_NOTHING, "nothing could be compared");
}

static tdc_status run(struct tdc_trace *trace, const tdc_tasks *tasks, const char *from,
                      const struct tdc_options *options, struct tdc_error *error)
{
    size_t count = tdc_tasks_count(tasks);
    trace->left_out = tdc_tasks_empty(tasks);
    trace->tasks = calloc(count + 1, sizeof *trace->tasks);
    trace->steps = calloc(count + 1, sizeof *trace->steps);
    tdc_status status = TDC_OK;
    if (trace->tasks == NULL || trace->steps == NULL)
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %zu dumps", count);
    if (status == TDC_OK)
        status = add_tasks(trace, tasks, from, options, error);
    if (status == TDC_OK && trace->part)
        return TDC_OK;
    if (status == TDC_OK)
        status = trace_order(trace, options, error);
    if (status != TDC_OK)
        return status;
    trace_judge(trace, options);
    trace_tell(trace);
    return trace->text.failed ? trace_no_memory(error) : trace_put_report(trace, error);
}

tdc_status tdc_trace_shared(const tdc_tasks *tasks, const char *from, size_t top, const char *truth,
                            const struct tdc_options *options, tdc_html_report *report,
                            tdc_share *share, tdc_trace **trace, struct tdc_error *error)
{
    *trace = calloc(1, sizeof **trace);
    if (*trace == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the trace");
    tdc_arena_init(&(*trace)->arena, TRACE_LIMIT);
    tdc_text_init(&(*trace)->text, TEXT_LIMIT);
    tdc_text_init(&(*trace)->json, TEXT_LIMIT);
    (*trace)->top = top;
    (*trace)->truth = truth;
    (*trace)->report = report;
    (*trace)->share = share;
    (*trace)->part = tdc_share_is_part(share);
    tdc_status status = run(*trace, tasks, from, options, error);
    if (status != TDC_OK || (*trace)->part) {
        tdc_trace_free(*trace);
        *trace = NULL;
    }
    return status;
}

tdc_status tdc_trace_truth(const tdc_tasks *tasks, const char *from, size_t top, const char *truth,
                           const struct tdc_options *options, tdc_html_report *report,
                           tdc_trace **trace, struct tdc_error *error)
{
    return tdc_trace_shared(tasks, from, top, truth, options, report, NULL, trace, error);
}

tdc_status tdc_trace_new(const tdc_tasks *tasks, const char *from, size_t top,
                         const struct tdc_options *options, tdc_trace **trace,
                         struct tdc_error *error)
{
    return tdc_trace_truth(tasks, from, top, NULL, options, NULL, trace, error);
}

tdc_status tdc_trace_report(const tdc_tasks *tasks, const char *from, size_t top,
                            const struct tdc_options *options, tdc_html_report *report,
                            tdc_trace **trace, struct tdc_error *error)
{
    return tdc_trace_truth(tasks, from, top, NULL, options, report, trace, error);
}

void tdc_trace_free(tdc_trace *trace)
{
    if (trace == NULL)
        return;
    tdc_arena_free(&trace->arena);
    tdc_text_free(&trace->text);
    tdc_text_free(&trace->json);
    for (size_t i = 0; i < trace->step_count; i++)
        tdc_comm_graph_free(trace->steps[i].graph);
    free(trace->steps);
    free(trace->tasks);
    free(trace->origins);
    free(trace);
}

size_t tdc_trace_origins(const tdc_trace *trace)
{
    return trace->origin_count - trace->arrived - trace->repeated;
}

uint64_t tdc_trace_missing(const tdc_trace *trace)
{
    uint64_t missing = trace->left_out;
    for (size_t i = 0; i < trace->task_count; i++)
        missing += trace->tasks[i].unread;
    return missing;
}

const char *tdc_trace_text(const tdc_trace *trace)
{
    return tdc_text_get(&trace->text);
}

/* The json of a thousand ranks is large: it is made when it is asked for. */
static bool make_json(tdc_trace *trace)
{
    if (trace->json.length == 0)
        trace_put_json(trace);
    return !trace->json.failed;
}

tdc_status tdc_trace_write(tdc_trace *trace, const char *path, struct tdc_error *error)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash != NULL ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    tdc_status status = folder != NULL && make_json(trace)
                            ? tdc_analysis_replace(folder, path, &trace->json, error)
                            : trace_no_memory(error);
    free(folder);
    return status;
}

const char *tdc_trace_json(tdc_trace *trace)
{
    return make_json(trace) ? tdc_text_get(&trace->json) : NULL;
}
