/* trace.c - where two runs begin to differ, over all ranks. */
#include <stdlib.h>
#include <string.h>

#include "host/analysis/analysis.h"
#include "host/analysis/communication/comm_name.h"
#include "host/analysis/trace/trace_origins.h"
#include "io/base/error.h"

#define TRACE_LIMIT ((size_t)8 << 30)
#define TEXT_LIMIT  ((size_t)1 << 30)

/* ---- order ----------------------------------------------------------------------------------- */

/* Steps in their order, forward before backward, then the time the ranks have in common: the
 * communication calls before it; then the place in the dump. */
static int by_time(const void *a, const void *b)
{
    const struct trace_origin *x = a, *y = b;
    if (x->arrived != y->arrived)
        return x->arrived - y->arrived;
    if (x->consequence != y->consequence)
        return x->consequence - y->consequence;
    if (x->backward != y->backward)
        return x->backward - y->backward;
    if (x->communications != y->communications)
        return x->communications < y->communications ? -1 : 1;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

static bool same_step(const struct tdc_trace *trace, const struct trace_origin *a,
                      const struct trace_origin *b)
{
    return strcmp(trace->tasks[a->task].task->step, trace->tasks[b->task].task->step) == 0;
}

/* The earliest origin of another kind than a communication, for each task: SIZE_MAX is none. */
static void note_earliest(const struct tdc_trace *trace, size_t *earliest)
{
    for (size_t i = 0; i < trace->task_count; i++)
        earliest[i] = SIZE_MAX;
    for (size_t i = 0; i < trace->origin_count; i++) {
        const struct trace_origin *origin = &trace->origins[i];
        if (!tdc_comm_is_call(origin->call) && origin->kind != TDC_ORIGIN_RANDOM &&
            origin->communications < earliest[origin->task])
            earliest[origin->task] = origin->communications;
    }
}

/*
 * A communication whose inputs agree here and whose outputs do not has brought the difference, if
 * another rank of the step had one before it.
 */
static bool find_arrivals(struct tdc_trace *trace)
{
    size_t *earliest = calloc(trace->task_count + 1, sizeof *earliest);
    if (earliest == NULL)
        return false;
    note_earliest(trace, earliest);
    for (size_t i = 0; i < trace->origin_count; i++) {
        struct trace_origin *origin = &trace->origins[i];
        if (!tdc_comm_is_call(origin->call))
            continue;
        for (size_t task = 0; task < trace->task_count && !origin->arrived; task++) {
            const struct trace_origin other = {.task = task};
            origin->arrived = task != origin->task && same_step(trace, origin, &other) &&
                              earliest[task] <= origin->communications;
        }
        trace->arrived += origin->arrived;
    }
    free(earliest);
    return true;
}

void trace_sort(struct tdc_trace *trace)
{
    if (trace->origin_count != 0)
        qsort(trace->origins, trace->origin_count, sizeof *trace->origins, by_time);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static tdc_status run(struct tdc_trace *trace, const tdc_tasks *tasks, const char *from, size_t top,
                      const struct tdc_options *options, struct tdc_error *error)
{
    size_t count = tdc_tasks_count(tasks);
    trace->tasks = calloc(count + 1, sizeof *trace->tasks);
    tdc_status status = TDC_OK;
    if (trace->tasks == NULL)
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %zu dumps", count);
    for (size_t i = 0; i < count && status == TDC_OK; i++) {
        struct tdc_error reason = {0};
        status = trace_add_task(trace, tdc_tasks_get(tasks, i), from, options, &reason);
        bool over =
            status == TDC_ERR_MEMORY || status == TDC_ERR_INTERRUPTED || status == TDC_ERR_ARGUMENT;
        if (status != TDC_OK && (over || count == 1)) {
            *error = reason;
        } else if (status != TDC_OK) {
            tdc_analysis_say(options, TDC_MESSAGE_WARNING, "%s left out: %s",
                             tdc_tasks_get(tasks, i)->npu, reason.message);
            status = TDC_OK;
        }
    }
    if (status == TDC_OK && trace->task_count == 0)
        status = tdc_fail(error, TDC_ERR_NOTHING, "nothing could be compared");
    if (status == TDC_OK && !find_arrivals(trace))
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the trace");
    if (status != TDC_OK)
        return status;
    trace_sort(trace);
    trace_judge(trace, top, options);
    trace_tell(trace, top);
    trace_put_json(trace);
    if (trace->text.failed || trace->json.failed)
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the report");
    return status;
}

tdc_status tdc_trace_new(const tdc_tasks *tasks, const char *from, size_t top,
                         const struct tdc_options *options, tdc_trace **trace,
                         struct tdc_error *error)
{
    *trace = calloc(1, sizeof **trace);
    if (*trace == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the trace");
    tdc_arena_init(&(*trace)->arena, TRACE_LIMIT);
    tdc_text_init(&(*trace)->text, TEXT_LIMIT);
    tdc_text_init(&(*trace)->json, TEXT_LIMIT);
    tdc_status status = run(*trace, tasks, from, top, options, error);
    if (status != TDC_OK) {
        tdc_trace_free(*trace);
        *trace = NULL;
    }
    return status;
}

void tdc_trace_free(tdc_trace *trace)
{
    if (trace == NULL)
        return;
    tdc_arena_free(&trace->arena);
    tdc_text_free(&trace->text);
    tdc_text_free(&trace->json);
    free(trace->tasks);
    free(trace->origins);
    free(trace);
}

size_t tdc_trace_origins(const tdc_trace *trace)
{
    return trace->origin_count - trace->arrived;
}

const char *tdc_trace_text(const tdc_trace *trace)
{
    return tdc_text_get(&trace->text);
}

tdc_status tdc_trace_write(const tdc_trace *trace, const char *path, struct tdc_error *error)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash != NULL ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    tdc_status status = folder != NULL ? tdc_analysis_replace(folder, path, &trace->json, error)
                                       : tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    free(folder);
    return status;
}

const char *tdc_trace_json(const tdc_trace *trace)
{
    return tdc_text_get(&trace->json);
}
