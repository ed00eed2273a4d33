/* trace_exchanges.c - the communication calls of a rank: whom they exchange data with, and whether
 * what they send differs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/analysis/trace/trace_origins.h"
#include "host/judge/record_numbers.h"
#include "host/table/table.h"

/* Distances of what a call sends: of its inputs. */
static void measure_inputs(const struct tdc_table *table, size_t first_row,
                           struct trace_exchange *exchange)
{
    for (size_t row = first_row; row < table->row_count; row++) {
        const struct tdc_row *shown = &table->rows[row];
        const struct tdc_record *record = tdc_row_npu(table, shown);
        if (record == NULL || record->entry != exchange->entry)
            break;
        if (record->scalar || tdc_state_is_output(record->state))
            continue;
        exchange->differs |= shown->row_class > TDC_ROW_IDENTICAL;
        if (isfinite(shown->r))
            exchange->input_distance = fmax(exchange->input_distance, shown->r);
    }
}

/* The number in "rank3"; that of a process is one that nobody has. */
static long rank_number(const struct trace_step *step, const char *name)
{
    char *end = NULL;
    long number = strncmp(name, "rank", 4) == 0 ? strtol(name + 4, &end, 10) : -1;
    bool given = end != NULL && end != name + 4 && *end == '\0' && number >= 0;
    return given ? number : step->last_rank + 1;
}

static struct trace_step *step_of(struct tdc_trace *trace, size_t number)
{
    struct trace_task *task = &trace->tasks[number];
    if (trace->steps == NULL)
        return NULL;
    struct trace_step *last = trace->step_count != 0 ? &trace->steps[trace->step_count - 1] : NULL;
    const struct tdc_task *before = last != NULL ? trace->tasks[last->first_task].task : NULL;
    if (before == NULL || strcmp(before->step, task->task->step) != 0 ||
        strcmp(before->folder, task->task->folder) != 0) {
        const struct tdc_comm_rules rules = {0};
        last = &trace->steps[trace->step_count];
        *last = (struct trace_step){.first_task = number, .last_rank = -1};
        last->graph = tdc_comm_graph_new(&rules);
        if (last->graph == NULL)
            return NULL;
        trace->step_count++;
    }
    last->task_count++;
    task->step = trace->step_count - 1;
    return last;
}

static bool add_exchanges(struct tdc_trace *trace, struct trace_task *task, struct trace_step *step,
                          const struct tdc_table *table)
{
    const struct tdc_dump *dump = table->match->npu;
    struct tdc_call_partners partners = {0};
    size_t count = 0, row = 0;
    for (size_t i = 0; i < dump->entry_count; i++)
        count += tdc_comm_is_call(dump->entries[i].name);
    task->exchanges = tdc_arena_zeroed(&trace->arena, count + 1, sizeof *task->exchanges);
    bool room = task->exchanges != NULL;
    for (size_t i = 0; i < dump->entry_count && room && count != 0; i++) {
        if (!tdc_comm_is_call(dump->entries[i].name))
            continue;
        struct trace_exchange *exchange = &task->exchanges[task->exchange_count];
        exchange->entry = i;
        exchange->time = (uint32_t)task->exchange_count + 1;
        /* rows stand in the order of the entries */
        while (row < table->row_count) {
            const struct tdc_record *record = tdc_row_npu(table, &table->rows[row]);
            if (record != NULL && record->entry >= i)
                break;
            row++;
        }
        measure_inputs(table, row, exchange);
        if (task->in_graph) {
            tdc_call_partners_read(&partners, dump, i, step->last_rank, true);
            const struct tdc_comm_call details = {
                .end = partners.end,
                .has_partners = partners.count != 0,
                .partners = partners.ranks,
                .partner_count = partners.count,
                .suspicious = true,
            };
            room =
                !partners.failed && tdc_comm_graph_communication(step->graph, task->exchange_count,
                                                                 dump->entries[i].name, &details);
        }
        task->exchange_count++;
    }
    tdc_call_partners_free(&partners);
    return room;
}

tdc_status trace_note_exchanges(struct tdc_trace *trace, size_t number,
                                const struct tdc_table *table, struct tdc_error *error)
{
    struct trace_task *task = &trace->tasks[number];
    struct trace_step *step = step_of(trace, number);
    if (step == NULL)
        return trace_no_memory(error);
    long rank = rank_number(step, task->task->rank);
    /* two folders of one rank: the second stands for itself, as the graph wants ascending ranks */
    task->in_graph = rank > step->last_rank;
    bool room = true;
    if (task->in_graph) {
        step->last_rank = rank;
        room = tdc_comm_graph_rank(step->graph, rank);
    }
    return room && add_exchanges(trace, task, step, table) ? TDC_OK : trace_no_memory(error);
}
