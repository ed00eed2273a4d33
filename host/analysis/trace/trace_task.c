/* trace_task.c - one rank of a trace: compared, its origins and how differences grow in it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/analysis/communication/comm_name.h"
#include "host/analysis/module_path.h"
#include "host/analysis/trace/trace_origins.h"
#include "host/find/folders.h"
#include "host/table/table.h"
#include "io/base/error.h"

static tdc_status no_memory(struct tdc_error *error)
{
    return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the trace");
}

static const char *keep(struct tdc_trace *trace, const char *text)
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
        bool undefined = strstr(entry->name, "empty") != NULL;
        if (output && !input && !undefined)
            return (struct trace_abnormal){keep(trace, entry->name), true};
        if (input && met.call == NULL)
            met = (struct trace_abnormal){keep(trace, entry->name), false};
    }
    return met;
}

/* ---- growth ---------------------------------------------------------------------------------- */

static tdc_status note_growth(struct tdc_trace *trace, struct trace_task *task,
                              const struct tdc_table *table, struct tdc_error *error)
{
    const struct tdc_dump *npu = table->match->npu;
    task->growth = tdc_arena_zeroed(&trace->arena, npu->entry_count + 1, sizeof *task->growth);
    if (task->growth == NULL)
        return no_memory(error);
    uint32_t last = UINT32_MAX;
    for (size_t row = 0; row < table->row_count; row++) {
        const struct tdc_row *shown = &table->rows[row];
        const struct tdc_record *record = tdc_row_npu(table, shown);
        if (record == NULL || record->scalar || !tdc_state_is_output(record->state) ||
            shown->excused || shown->row_class < TDC_ROW_IDENTICAL ||
            shown->row_class > TDC_ROW_DIFFERENT)
            continue;
        if (record->entry != last) {
            if (task->growth_count == npu->entry_count)
                break;
            last = record->entry;
            const char *name = npu->entries[last].name;
            task->growth[task->growth_count++] =
                (struct trace_growth){.call = keep(trace, name),
                                      .backward = strstr(name, ".backward") != NULL ||
                                                  record->state == TDC_STATE_PARAMETERS_GRAD};
        }
        struct trace_growth *growth = &task->growth[task->growth_count - 1];
        if (isfinite(shown->r) && shown->r > growth->distance)
            growth->distance = shown->r;
    }
    return TDC_OK;
}

/* ---- origins --------------------------------------------------------------------------------- */

/* Communication calls before each entry: the time the ranks have in common. */
static size_t *count_communications(const struct tdc_dump *dump)
{
    size_t *counts = calloc(dump->entry_count + 1, sizeof *counts), count = 0;
    for (size_t i = 0; i < dump->entry_count && counts != NULL; i++) {
        counts[i] = count;
        count += tdc_comm_is_call(dump->entries[i].name);
    }
    return counts;
}

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

static const char *stack_of(struct tdc_trace *trace, const struct tdc_table *table,
                            const char *entry)
{
    const struct tdc_stack *stack =
        table->stacks != NULL ? tdc_stacks_find(table->stacks, entry) : NULL;
    if (stack == NULL || stack->list == NULL)
        return NULL;
    /* the first line of the list's text, the innermost, up to the source line it quotes */
    const char *start = strpbrk(stack->list, "'\"");
    const char *end = start != NULL ? strchr(start + 1, *start) : NULL;
    if (end == NULL)
        return NULL;
    const char *quoted = strstr(start, ", \\n");
    if (quoted != NULL && quoted < end)
        end = quoted;
    return tdc_arena_text(&trace->arena, start + 1, (size_t)(end - start - 1));
}

/* The module a call stands in, from construct.json beside the dump. */
static const char *module_of(struct tdc_trace *trace, const struct tdc_module_paths *paths,
                             const char *call)
{
    const char *parents[TDC_MODULE_DEPTH];
    bool cycle;
    size_t count = paths != NULL ? tdc_module_path(paths, call, parents, &cycle) : 0;
    return count != 0 ? keep(trace, parents[0]) : NULL;
}

static struct tdc_module_paths *load_paths(const struct tdc_dump *dump)
{
    struct tdc_module_paths *paths = NULL;
    char *path = tdc_path_join(dump->folder, "construct.json");
    /* without it, or with one that cannot be read, places are not shown */
    if (path != NULL && tdc_is_file(path))
        tdc_module_paths_load(path, &paths, NULL);
    free(path);
    return paths;
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
                               const char *from, struct tdc_error *error)
{
    const struct tdc_match *match = table->match;
    size_t start = first_entry(match->npu, from);
    if (start == SIZE_MAX)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: no call whose name begins with %s",
                        match->npu->path, from);
    size_t *communications = count_communications(match->npu);
    if (communications == NULL)
        return no_memory(error);
    bool room = true;
    struct tdc_module_paths *paths = tdc_table_origins(table) != 0 ? load_paths(match->npu) : NULL;
    for (size_t i = 0; i < tdc_table_origins(table) && room; i++) {
        const struct tdc_origin *found = tdc_table_origin(table, i);
        const struct tdc_row *row = &table->rows[found->row];
        const struct tdc_record *npu = tdc_row_npu(table, row);
        if (npu == NULL || npu->entry < start)
            continue;
        const char *call = match->npu->entries[npu->entry].name;
        const struct trace_origin origin = {
            .task = task,
            .kind = found->kind,
            .backward = found->backward,
            .consequence = found->consequence,
            .row = keep(trace, npu->name),
            .call = keep(trace, call),
            .worst = keep(trace, tdc_table_worst(table, found->row)),
            .stack = stack_of(trace, table, call),
            .module = module_of(trace, paths, call),
            .communications = communications[npu->entry],
            .place = found->row,
            .distance = found->distance,
            .element = found->worst,
            .input_distance = found->input_distance,
            .npu_ulp = -1,
            .bench_ulp = -1,
        };
        room = add_origin(trace, &origin);
    }
    tdc_module_paths_free(paths);
    free(communications);
    return room ? TDC_OK : no_memory(error);
}

/* ---- a task ---------------------------------------------------------------------------------- */

static tdc_status look_at(struct tdc_trace *trace, size_t number, tdc_table *table,
                          const char *from, struct tdc_error *error)
{
    struct trace_task *task = &trace->tasks[number];
    struct tdc_summary summary;
    tdc_table_summary(table, &summary, sizeof summary);
    task->rows = summary.rows;
    task->different = summary.classes[TDC_ROW_DIFFERENT];
    task->mode = table->mode;
    task->abnormal[0] = first_abnormal(trace, table->match->npu);
    task->abnormal[1] = first_abnormal(trace, table->match->bench);
    tdc_status status = note_growth(trace, task, table, error);
    return status == TDC_OK ? note_origins(trace, number, table, from, error) : status;
}

tdc_status trace_add_task(struct tdc_trace *trace, const struct tdc_task *task, const char *from,
                          const struct tdc_options *options, struct tdc_error *error)
{
    tdc_dump *npu = NULL, *bench = NULL;
    tdc_match *match = NULL;
    tdc_table *table = NULL;
    tdc_status status = tdc_task_load(task, &npu, &bench, error);
    if (status == TDC_OK)
        status = tdc_match_new(npu, bench, options, &match, error);
    if (status == TDC_OK && tdc_match_pairs(match) == 0)
        status = tdc_fail(error, TDC_ERR_NOTHING, "%s: nothing to compare", task->npu);
    if (status == TDC_OK)
        status = tdc_table_new(match, options, task->stack, &table, error);
    if (status == TDC_OK)
        status = tdc_compare(&table, 1, options, error);
    if (status == TDC_OK) {
        size_t number = trace->task_count++;
        trace->tasks[number].task = task;
        status = look_at(trace, number, table, from, error);
    }
    tdc_table_free(table);
    tdc_match_free(match);
    tdc_dump_free(npu);
    tdc_dump_free(bench);
    return status;
}
