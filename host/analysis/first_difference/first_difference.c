/* first_difference.c - the call with which two runs begin to differ, over all ranks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/analysis/analysis.h"
#include "host/analysis/beginning.h"
#include "host/analysis/first_difference/difference_report.h"
#include "host/analysis/first_difference/rank_calls.h"
#include "host/analysis/first_difference/stack_lines.h"
#include "host/find/folders.h"
#include "io/base/error.h"

#define FILE_LIMIT ((size_t)16 << 30)

/* A rank of the run. */
struct rank_task {
    const struct tdc_task *task;
    long number;
    char *file; /* written for it, NULL: not compared */
};

struct searching {
    const tdc_tasks *tasks;
    const char *output;
    unsigned flags;
    struct tdc_options options;
    struct tdc_comm_graph *graph;
    struct rank_task *ranks; /* ascending */
    size_t count;
    const char *stamp;
};

static int by_number(const void *a, const void *b)
{
    const struct rank_task *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static bool sort_ranks(struct searching *searching)
{
    size_t count = tdc_tasks_count(searching->tasks);
    searching->ranks = calloc(count + 1, sizeof *searching->ranks);
    for (size_t i = 0; i < count && searching->ranks != NULL; i++) {
        const struct tdc_task *task = tdc_tasks_get(searching->tasks, i);
        const char *digits = strncmp(task->rank, "rank", 4) == 0 ? task->rank + 4 : "";
        if (task->debug)
            continue;
        searching->ranks[searching->count++] =
            (struct rank_task){.task = task, .number = strtol(digits, NULL, 10)};
    }
    if (searching->ranks == NULL)
        return false;
    qsort(searching->ranks, searching->count, sizeof *searching->ranks, by_number);
    return true;
}

/* ---- one rank -------------------------------------------------------------------------------- */

static char *rank_file(const struct searching *searching, const struct tdc_task *task)
{
    char name[512];
    snprintf(name, sizeof name, "compare_result%s%.200s_%s.json", task->rank[0] != '\0' ? "_" : "",
             task->rank, searching->stamp);
    return tdc_path_join(searching->output, name);
}

static tdc_status write_rank(struct searching *searching, struct rank_task *rank, tdc_table *table,
                             struct tdc_error *error)
{
    bool nan_counts = (searching->flags & TDC_DIFFERENCE_NAN) != 0;
    struct tdc_stack_lines *lines = NULL;
    tdc_status status = TDC_OK;
    if (rank->task->stack != NULL)
        status = tdc_stack_lines_load(rank->task->stack, 4, 4, &lines, error);
    struct tdc_rank_calls calls = {
        .rank = rank->number,
        .table = table,
        .lines = lines,
        .rules = {.outputs_only = (searching->flags & TDC_DIFFERENCE_OUTPUTS_ONLY) != 0,
                  .nan_counts = nan_counts},
    };
    struct tdc_text out;
    tdc_text_init(&out, FILE_LIMIT);
    if (status == TDC_OK && !tdc_comm_graph_rank(searching->graph, rank->number))
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory for rank %ld", rank->number);
    if (status == TDC_OK)
        status = tdc_rank_calls_write(&calls, searching->graph, &out, error);
    if (status == TDC_OK) {
        rank->file = rank_file(searching, rank->task);
        status = tdc_analysis_write(searching->output, rank->file, &out, error);
    }
    if (status == TDC_OK && calls.nan_rows != 0)
        tdc_analysis_say(&searching->options, TDC_MESSAGE_WARNING,
                         "rank %ld: %zu rows are NaN on one side alone (first: %s), which %s",
                         rank->number, calls.nan_rows, calls.nan_name,
                         nan_counts ? "counts as a difference"
                                    : "is no difference here (--nan-is-diff)");
    if (status == TDC_OK)
        tdc_analysis_say(&searching->options, TDC_MESSAGE_INFO, "Saving json file to disk: %s",
                         rank->file);
    tdc_text_free(&out);
    tdc_stack_lines_free(lines);
    return status;
}

static tdc_status compare_rank(struct searching *searching, struct rank_task *rank,
                               struct tdc_error *error)
{
    tdc_dump *npu = NULL, *bench = NULL;
    tdc_match *match = NULL;
    tdc_table *table = NULL;
    tdc_status status = tdc_dump_load(rank->task->npu, &npu, error);
    if (status == TDC_OK)
        status = tdc_dump_load(rank->task->bench, &bench, error);
    if (status == TDC_OK)
        status = tdc_match_new(npu, bench, &searching->options, &match, error);
    if (status == TDC_OK && tdc_match_pairs(match) == 0)
        status = tdc_fail(error, TDC_ERR_NOTHING,
                          "Can`t match any op. No compare result file generated.");
    if (status == TDC_OK)
        status = tdc_table_new(match, &searching->options, rank->task->stack, &table, error);
    if (status == TDC_OK)
        status = tdc_compare(&table, 1, &searching->options, error);
    if (status == TDC_OK)
        status = write_rank(searching, rank, table, error);
    tdc_table_free(table);
    tdc_match_free(match);
    tdc_dump_free(npu);
    tdc_dump_free(bench);
    return status;
}

/* A rank that cannot be compared does not stop the others. */
static tdc_status compare_ranks(struct searching *searching, struct tdc_error *error)
{
    size_t compared = 0;
    for (size_t i = 0; i < searching->count; i++) {
        struct rank_task *rank = &searching->ranks[i];
        struct tdc_error reason = {0};
        tdc_status status = compare_rank(searching, rank, &reason);
        if (status == TDC_ERR_MEMORY || status == TDC_ERR_WRITE || status == TDC_ERR_INTERRUPTED) {
            *error = reason;
            return status;
        }
        compared += status == TDC_OK;
        if (status != TDC_OK)
            tdc_analysis_say(&searching->options, TDC_MESSAGE_ERROR, "%s: %s", rank->task->rank,
                             reason.message);
    }
    return compared != 0 || searching->count == 0
               ? TDC_OK
               : tdc_fail(error, TDC_ERR_NOTHING, "no rank could be compared");
}

/* ---- the search ------------------------------------------------------------------------------ */

static void tell_phase(void *context, enum tdc_comm_phase phase)
{
    static const char *const places[] = {"before", "during", "after"};
    const struct searching *searching = context;
    tdc_analysis_say(&searching->options, TDC_MESSAGE_INFO,
                     "Start searching diff node %s communication.", places[phase]);
}

static const char *file_of(const struct searching *searching, long number)
{
    for (size_t i = 0; i < searching->count; i++)
        if (searching->ranks[i].number == number && searching->ranks[i].file != NULL)
            return searching->ranks[i].file;
    return NULL;
}

static tdc_status report(const struct searching *searching, const struct tdc_comm_result *result,
                         tdc_beginning *beginning, struct tdc_error *error)
{
    struct tdc_text out;
    tdc_text_init(&out, FILE_LIMIT);
    tdc_text_addc(&out, '{');
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < result->count && status == TDC_OK;) {
        size_t end = i;
        while (end < result->count && result->findings[end].rank == result->findings[i].rank)
            end++;
        tdc_text_adds(&out, i != 0 ? "," : "");
        status = tdc_difference_report_rank(file_of(searching, result->findings[i].rank),
                                            &result->findings[i], end - i, &out, error);
        i = end;
    }
    tdc_text_adds(&out, "\n}");
    beginning->file = tdc_analysis_path(searching->output, "diff_analyze_");
    if (status == TDC_OK)
        status = tdc_analysis_write(searching->output, beginning->file, &out, error);
    tdc_text_free(&out);
    return status;
}

static tdc_status search(struct searching *searching, tdc_beginning **beginning,
                         struct tdc_error *error)
{
    struct tdc_comm_result result;
    if (!tdc_comm_graph_search(searching->graph, tell_phase, searching, &result))
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the search");
    tdc_analysis_say_links(&result, &searching->options);
    *beginning = tdc_beginning_new(&result);
    if (*beginning == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for names");
    return result.count != 0 ? report(searching, &result, *beginning, error) : TDC_OK;
}

tdc_status tdc_difference_find(const tdc_tasks *tasks, const char *output, unsigned flags,
                               const struct tdc_options *options, tdc_beginning **beginning,
                               struct tdc_error *error)
{
    *beginning = NULL;
    struct searching searching = {
        .tasks = tasks, .output = output, .flags = flags, .options = *options};
    searching.options.flags |= TDC_OPTION_STATISTICS;
    searching.options.progress = NULL;
    const struct tdc_comm_rules rules = {.raise_layers = true,
                                         .all_holders = (flags & TDC_DIFFERENCE_OUTPUTS_ONLY) != 0};
    searching.graph = tdc_comm_graph_new(&rules);
    tdc_stamp *stamp = NULL;
    tdc_status status = TDC_OK;
    if (searching.graph == NULL || !sort_ranks(&searching))
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    if (status == TDC_OK)
        status = tdc_stamp_new(output, &stamp, error);
    if (status == TDC_OK) {
        searching.stamp = tdc_stamp_text(stamp);
        tdc_analysis_say(options, TDC_MESSAGE_INFO, "Start comparing data ......");
        status = compare_ranks(&searching, error);
    }
    if (status == TDC_OK) {
        tdc_analysis_say(options, TDC_MESSAGE_INFO, "Pre Process completed.");
        status = search(&searching, beginning, error);
    }
    for (size_t i = 0; i < searching.count; i++)
        free(searching.ranks[i].file);
    free(searching.ranks);
    tdc_stamp_free(stamp);
    tdc_comm_graph_free(searching.graph);
    if (status != TDC_OK) {
        tdc_beginning_free(*beginning);
        *beginning = NULL;
    }
    return status;
}
