/* trace_task.c - one rank of a trace: compared, and what is found in it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/analysis/analysis.h"
#include "host/analysis/module_path.h"
#include "host/analysis/trace/trace_origins.h"
#include "host/find/folders.h"
#include "host/judge/record_numbers.h"
#include "host/origin/call_name.h"
#include "host/table/table.h"
#include "host/table/table_json.h"
#include "host/third/third_rows.h"
#include "io/base/error.h"
#include "io/storage/looking.h"

#define SIDE_LIMIT ((size_t)1 << 20)

tdc_status trace_no_memory(struct tdc_error *error)
{
    return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the trace");
}

const char *trace_keep(struct tdc_trace *trace, const char *text)
{
    return text != NULL ? tdc_arena_text(&trace->arena, text, strlen(text)) : NULL;
}

/* ---- NaN and infinity ------------------------------------------------------------------------ */

static bool is_abnormal(const struct tdc_record *record)
{
    static const int looked_at[] = {TDC_MAX, TDC_MIN};
    for (int i = 0; i < 2; i++) {
        int which = looked_at[i];
        if (record->stat_kinds[which] == TDC_STAT_FLOAT && !isfinite(record->stats[which].number))
            return true;
        if (record->stat_kinds[which] == TDC_STAT_TEXT && !record->scalar &&
            strcmp(record->stats[which].text, "Nan") == 0)
            return true;
    }
    return false;
}

static struct trace_abnormal first_abnormal(struct tdc_trace *trace, const struct tdc_dump *dump)
{
    struct trace_abnormal met = {0};
    for (size_t i = 0; i < dump->entry_count; i++) {
        const struct tdc_dump_entry *entry = &dump->entries[i];
        bool input = false, output = false;
        for (size_t k = entry->first; k < entry->first + entry->count; k++) {
            bool abnormal = is_abnormal(&dump->records[k]);
            if (tdc_state_is_output(dump->records[k].state))
                output |= abnormal;
            else
                input |= abnormal;
        }
        if (!output && !input)
            continue;
        struct tdc_call_name name = tdc_call_name_parse(entry->name);
        if (output && !input && !tdc_operation_leaves_undefined(&name))
            return (struct trace_abnormal){
                .call = trace_keep(trace, entry->name), .made = true, .entry = i};
        if (input && met.call == NULL)
            met = (struct trace_abnormal){.call = trace_keep(trace, entry->name), .entry = i};
    }
    return met;
}

/* ---- origins --------------------------------------------------------------------------------- */

static bool add_origin(struct tdc_trace *trace, const struct trace_origin *origin)
{
    if (trace->origin_count == trace->origin_capacity) {
        size_t more = trace->origin_capacity != 0 ? 2 * trace->origin_capacity : 64;
        struct trace_origin *grown = realloc(trace->origins, more * sizeof *grown);
        if (grown == NULL)
            return false;
        trace->origins = grown;
        trace->origin_capacity = more;
    }
    trace->origins[trace->origin_count++] = *origin;
    return origin->row != NULL && origin->call != NULL && origin->worst != NULL;
}

/* The modules a call stands in, from construct.json. */
static bool note_modules(struct tdc_trace *trace, const struct tdc_module_paths *paths,
                         struct trace_origin *origin)
{
    const char *parents[TDC_MODULE_DEPTH];
    bool cycle;
    size_t count = paths != NULL ? tdc_module_path(paths, origin->call, parents, &cycle) : 0;
    const char **kept = tdc_arena_zeroed(&trace->arena, count + 1, sizeof *kept);
    if (kept == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        if ((kept[i] = trace_keep(trace, parents[i])) == NULL)
            return false;
    origin->modules = kept;
    origin->module_count = count;
    return true;
}

/* A collector may write gradients before the backward call of their module, and even among the
 * forward calls: they came about with that call, or at the end where there is none. */
static size_t entry_in_time(const struct tdc_table *table, const struct tdc_row *row)
{
    const struct tdc_dump *npu = table->match->npu;
    size_t entry = npu->records[row->npu].entry;
    const struct tdc_call *call = &table->calls.calls[row->call];
    if (call->direction != TDC_CALL_GRADIENTS)
        return entry;
    if (call->backward == TDC_NO_CALL)
        return npu->entry_count - 1;
    const struct tdc_row *backward = &table->rows[table->calls.calls[call->backward].first];
    return backward->npu != TDC_UNPAIRED && npu->records[backward->npu].entry > entry
               ? npu->records[backward->npu].entry
               : entry;
}

/* The entry from which on calls count: the first whose name begins so; SIZE_MAX: none does. */
static size_t first_entry(const struct tdc_dump *dump, const char *from)
{
    for (size_t i = 0; i < dump->entry_count; i++)
        if (from == NULL || strncmp(dump->entries[i].name, from, strlen(from)) == 0)
            return i;
    return from == NULL ? 0 : SIZE_MAX;
}

static tdc_status note_origins(struct tdc_trace *trace, size_t task, tdc_table *table,
                               const struct tdc_module_paths *paths, const char *from,
                               struct tdc_error *error)
{
    const struct tdc_match *match = table->match;
    size_t start = first_entry(match->npu, from);
    if (start == SIZE_MAX)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: no call whose name begins with %s",
                        match->npu->path, from);
    trace->tasks[task].first_origin = trace->origin_count;
    for (size_t i = 0; i < tdc_table_origins(table); i++) {
        const struct tdc_origin *found = tdc_table_origin(table, i);
        const struct tdc_row *row = &table->rows[found->row];
        const struct tdc_record *npu = tdc_row_npu(table, row);
        if (npu == NULL || npu->entry < start)
            continue;
        struct trace_origin origin = {
            .task = task,
            .kind = found->kind,
            .backward = found->backward,
            .consequence = found->consequence,
            .parameter = npu->state == TDC_STATE_PARAMETERS,
            .row = trace_keep(trace, npu->name),
            .call = trace_keep(trace, match->npu->entries[npu->entry].name),
            .worst = trace_keep(trace, tdc_table_worst(table, found->row)),
            .entry = entry_in_time(table, row),
            .place = found->row,
            .distance = found->distance,
            .element = found->worst,
            .input_distance = found->input_distance,
            .explains = found->explains,
            .npu_ulp = -1,
            .bench_ulp = -1,
        };
        if (origin.call == NULL || !note_modules(trace, paths, &origin) ||
            !add_origin(trace, &origin))
            return trace_no_memory(error);
        trace->tasks[task].origin_count++;
    }
    return TDC_OK;
}

/* ---- a third run ----------------------------------------------------------------------------- */

/* Its tensors settle which side is nearer at the origins of a task, where it has them. */
static tdc_status ask_third(struct tdc_trace *trace, size_t number, tdc_table *table,
                            const struct tdc_match *third, const struct tdc_options *options,
                            struct tdc_error *error)
{
    const struct trace_task *task = &trace->tasks[number];
    struct trace_origin *origins = trace->origins + task->first_origin;
    size_t *rows = calloc(task->origin_count + 1, sizeof *rows);
    struct tdc_third_row *found = calloc(task->origin_count + 1, sizeof *found);
    for (size_t i = 0; rows != NULL && i < task->origin_count; i++)
        rows[i] = origins[i].place;
    tdc_status status =
        rows != NULL && found != NULL
            ? tdc_third_of_rows(table, third, rows, task->origin_count, options, found, error)
            : trace_no_memory(error);
    for (size_t i = 0; status == TDC_OK && i < task->origin_count; i++)
        if (found[i].known) {
            origins[i].truth = found[i];
            origins[i].truth_is = TRACE_TRUTH_RUN;
        }
    free(rows);
    free(found);
    return status;
}

static tdc_status note_third(struct tdc_trace *trace, size_t number, tdc_table *table,
                             const struct tdc_options *options, struct tdc_error *error)
{
    const struct trace_task *task = &trace->tasks[number];
    tdc_dump *dump = NULL;
    tdc_match *match = NULL;
    if (trace->truth == NULL || task->origin_count == 0)
        return TDC_OK;
    tdc_status status = tdc_task_load_third(task->task, trace->truth, options, &dump, error);
    if (status == TDC_OK)
        status = tdc_match_new(table->match->npu, dump, options, &match, error);
    if (status == TDC_OK)
        status = ask_third(trace, number, table, match, options, error);
    tdc_match_free(match);
    tdc_dump_free(dump);
    return status;
}

/* ---- a task ---------------------------------------------------------------------------------- */

static struct tdc_module_paths *load_paths(const struct tdc_dump *dump,
                                           const struct tdc_options *options)
{
    struct tdc_module_paths *paths = NULL;
    struct tdc_error reason = {0};
    char *path = tdc_path_join(dump->folder, "construct.json");
    /* without it places are known of modules alone */
    if (path != NULL && tdc_is_file(path) && tdc_module_paths_load(path, &paths, &reason) != TDC_OK)
        tdc_analysis_say(options, TDC_MESSAGE_WARNING, "%s: places in the network are not shown",
                         reason.message);
    free(path);
    return paths;
}

/* What the JSON says of the two sides, which are gone when it is made. */
static bool keep_sides(struct tdc_trace *trace, struct trace_task *task,
                       const struct tdc_table *table)
{
    const struct tdc_dump *dumps[] = {table->match->npu, table->match->bench};
    struct tdc_text text;
    tdc_text_init(&text, SIDE_LIMIT);
    for (int i = 0; i < 2; i++) {
        struct tdc_json_object side;
        tdc_text_clear(&text);
        tdc_object_begin_bare(&side, &text);
        tdc_object_side(&side, i == 0 ? "test" : "ref", dumps[i]);
        tdc_object_end_bare(&side);
        task->sides[i] = text.failed ? NULL : trace_keep(trace, tdc_text_get(&text));
    }
    tdc_text_free(&text);
    if (trace->command == NULL) {
        trace->command = trace_keep(trace, table->command);
        trace->folder = trace_keep(trace, table->folder);
    }
    return task->sides[0] != NULL && task->sides[1] != NULL && trace->command != NULL;
}

static tdc_status look_at(struct tdc_trace *trace, size_t number, tdc_table *table,
                          const char *from, const struct tdc_options *options,
                          struct tdc_error *error)
{
    struct trace_task *task = &trace->tasks[number];
    struct tdc_summary summary;
    tdc_table_summary(table, &summary, sizeof summary);
    task->rows = summary.rows;
    task->different = summary.classes[TDC_ROW_DIFFERENT];
    task->unread = summary.classes[TDC_ROW_ERROR];
    task->unmatched = summary.classes[TDC_ROW_UNMATCHED];
    task->mode = table->mode;
    task->abnormal[0] = first_abnormal(trace, table->match->npu);
    task->abnormal[1] = first_abnormal(trace, table->match->bench);
    if (!keep_sides(trace, task, table))
        return trace_no_memory(error);
    struct tdc_module_paths *paths = load_paths(table->match->npu, options);
    tdc_status status = trace_note_growth(trace, task, table, paths, error);
    if (status == TDC_OK)
        status = note_origins(trace, number, table, paths, from, error);
    if (status == TDC_OK)
        status = note_third(trace, number, table, options, error);
    tdc_module_paths_free(paths);
    if (status == TDC_OK)
        status = trace_note_stacks(trace, task, options, error);
    return status == TDC_OK ? trace_note_exchanges(trace, number, table, error) : status;
}

struct loading {
    const char *path;
    tdc_dump *dump;
};

struct comparison {
    tdc_match *match;
    tdc_table *table;
};

static void end_comparison(struct comparison *comparison)
{
    tdc_table_free(comparison->table);
    tdc_match_free(comparison->match);
    *comparison = (struct comparison){0};
}

static tdc_status compare_once(const struct tdc_trace *trace, const struct loading sides[2],
                               const struct tdc_options *options, struct comparison *comparison,
                               struct tdc_error *error)
{
    const char *name = sides[0].path;
    tdc_status status =
        tdc_match_new(sides[0].dump, sides[1].dump, options, &comparison->match, error);
    if (status == TDC_OK && tdc_match_pairs(comparison->match) == 0)
        status = tdc_fail(error, TDC_ERR_NOTHING, "%s: nothing to compare", name);
    if (status == TDC_OK)
        status = tdc_table_new(comparison->match, options, NULL, &comparison->table, error);
    if (status == TDC_OK)
        tdc_table_share(comparison->table, trace->share);
    if (status == TDC_OK && trace->part)
        return tdc_compare_part(&comparison->table, 1, options, error);
    if (status == TDC_OK)
        status = tdc_compare(&comparison->table, 1, options, error);
    struct tdc_summary summary = {0};
    if (status == TDC_OK)
        tdc_table_summary(comparison->table, &summary, sizeof summary);
    /* arguments alone are no comparison where the files of all tensors are missing */
    bool unread = summary.tensors == 0 && summary.classes[TDC_ROW_ERROR] != 0;
    if (status == TDC_OK && (unread || !tdc_table_compared(comparison->table)))
        status = tdc_fail(error, TDC_ERR_NOTHING, "%s: nothing could be compared", name);
    return status;
}

/* By the tensors, or by the statistics of the json where no tensor is there to be compared. */
static tdc_status compare(const struct tdc_trace *trace, const struct loading sides[2],
                          const struct tdc_options *options, struct comparison *comparison,
                          struct tdc_error *error)
{
    tdc_status status = compare_once(trace, sides, options, comparison, error);
    if (status != TDC_ERR_NOTHING || comparison->table == NULL ||
        comparison->table->mode != TDC_MODE_TENSOR)
        return status;
    end_comparison(comparison);
    struct tdc_options by_statistics = *options;
    by_statistics.flags |= TDC_OPTION_STATISTICS;
    status = compare_once(trace, sides, &by_statistics, comparison, error);
    if (status == TDC_OK)
        tdc_analysis_say(options, TDC_MESSAGE_WARNING,
                         "%s: no tensor could be compared; traced by the statistics of the json",
                         sides[0].path);
    return status;
}

tdc_status trace_add_task(struct tdc_trace *trace, const struct tdc_task *task, const char *from,
                          const struct tdc_options *options, struct tdc_error *error)
{
    struct loading sides[2] = {{.path = task->npu}, {.path = task->bench}};
    struct comparison comparison = {0};
    tdc_status status = tdc_task_load(task, &sides[0].dump, &sides[1].dump, error);
    if (status == TDC_OK)
        status = compare(trace, sides, options, &comparison, error);
    if (status == TDC_OK) {
        size_t number = trace->task_count++;
        trace->tasks[number].task = task;
    }
    if (status == TDC_OK && !trace->part) {
        size_t number = trace->task_count - 1;
        status = look_at(trace, number, comparison.table, from, options, error);
        if (status == TDC_OK && trace->report != NULL)
            status = tdc_html_report_add_table(trace->report, task, comparison.table, NULL, error);
    }
    end_comparison(&comparison);
    tdc_dump_free(sides[0].dump);
    tdc_dump_free(sides[1].dump);
    return status;
}
