/* run.c - load, match, compare, write: the work of both forms of `compare`. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/cli/shared/command.h"
#include "host/terminal/parse.h"
#include "host/terminal/progress.h"
#include "io/storage/looking.h"

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void warn_of_link(const struct tdc_options *options, const char *path)
{
    char text[4200];
    if (options->message == NULL || !tdc_is_link(path))
        return;
    snprintf(text, sizeof text, "%s is a symbolic link; it was followed", path);
    options->message(options->context, TDC_MESSAGE_WARNING, text);
}

struct loading {
    const struct tdc_run_request *request;
    const char *path;
    tdc_dump *dump;
    tdc_status status;
    struct tdc_error error;
};

static void *load_one(void *argument)
{
    struct loading *loading = argument;
    loading->status =
        tdc_tensors_load(loading->path, loading->request->key, &loading->dump, &loading->error);
    return NULL;
}

/* Both sides at once, if a thread can be had. */
static tdc_status load_both(const struct tdc_run_request *request,
                            struct tdc_run_comparison *comparison, struct tdc_error *error)
{
    struct loading npu = {.request = request, .path = comparison->task->npu};
    struct loading bench = {.request = request, .path = comparison->task->bench};
    pthread_t thread;
    if (!request->tensors)
        return tdc_task_load(comparison->task, &comparison->npu, &comparison->bench, error);
    bool apart = pthread_create(&thread, NULL, load_one, &bench) == 0;
    load_one(&npu);
    if (apart)
        pthread_join(thread, NULL);
    else
        load_one(&bench);
    comparison->npu = npu.dump;
    comparison->bench = bench.dump;
    if (npu.status != TDC_OK)
        *error = npu.error;
    else if (bench.status != TDC_OK)
        *error = bench.error;
    return npu.status != TDC_OK ? npu.status : bench.status;
}

/* A dump without records is said to be that, and not a table in which nothing has a partner. */
static tdc_status check_records(const struct tdc_run_request *request,
                                const struct tdc_run_comparison *comparison,
                                struct tdc_error *error)
{
    bool npu = tdc_dump_records(comparison->npu) == 0;
    const tdc_dump *empty = npu ? comparison->npu : comparison->bench;
    if (tdc_dump_records(empty) != 0 || request->options.rules != TDC_RULES_SOUND)
        return TDC_OK;
    const char *task = tdc_dump_task(empty);
    bool structure = task != NULL && strcmp(task, "structure") == 0;
    snprintf(error->message, sizeof error->message, "%s: no data in it: %s",
             npu ? comparison->task->npu : comparison->task->bench,
             structure ? "a dump of the structure alone"
                       : "nothing was dumped, or it is still being written");
    return error->status = TDC_ERR_NOTHING;
}

/* Tensors that ranks have between them or all alike: equal names, and replicas must agree. */
static tdc_status match_parts(const struct tdc_run_request *request,
                              struct tdc_run_comparison *comparison, struct tdc_error *error)
{
    struct tdc_align_options align;
    tdc_dump_free(comparison->npu);
    tdc_dump_free(comparison->bench);
    comparison->npu = comparison->bench = NULL;
    tdc_align_options_init(&align, sizeof align);
    align.key = request->key;
    align.truth = request->truth != NULL ? request->truth : request->noise;
    return tdc_align_match(comparison->task->npu, comparison->task->bench, &align,
                           &request->options, &comparison->match, error);
}

static tdc_status match_dumps(const struct tdc_run_request *request,
                              struct tdc_run_comparison *comparison, struct tdc_error *error)
{
    tdc_status status = load_both(request, comparison, error);
    if (status == TDC_OK && request->tensors &&
        (tdc_tensors_in_parts(comparison->npu) || tdc_tensors_in_parts(comparison->bench)))
        return match_parts(request, comparison, error);
    if (status == TDC_OK)
        status = check_records(request, comparison, error);
    if (status == TDC_OK)
        status = tdc_match_dumps(comparison->npu, comparison->bench, &request->options,
                                 &comparison->match, error);
    return status;
}

static tdc_status prepare(const struct tdc_run_request *request,
                          struct tdc_run_comparison *comparison, struct tdc_error *error)
{
    const char *stack = request->stack;
    if (stack == NULL && request->stacks && request->align == NULL)
        stack = comparison->task->stack;
    warn_of_link(&request->options, comparison->task->npu);
    warn_of_link(&request->options, comparison->task->bench);
    tdc_status status =
        request->align != NULL
            ? tdc_align_match(comparison->task->npu, comparison->task->bench, request->align,
                              &request->options, &comparison->match, error)
            : match_dumps(request, comparison, error);
    if (status == TDC_OK && tdc_match_pairs(comparison->match) == 0) {
        snprintf(error->message, sizeof error->message,
                 "Can`t match any op. No compare result file generated.");
        error->status = status = TDC_ERR_NOTHING;
    }
    if (status == TDC_OK)
        status =
            tdc_table_new(comparison->match, &request->options, stack, &comparison->table, error);
    if (status == TDC_OK && !request->part) /* who merges does them */
        status = tdc_run_take_third(request, comparison, error);
    if (status != TDC_OK) {
        tdc_table_free(comparison->table);
        comparison->table = NULL;
    }
    return status;
}

/* ---- progress -------------------------------------------------------------------------------- */

struct progress_context {
    struct tdc_progress *bar;
    struct tdc_options original;
};

static void forward_message(void *context, tdc_message_level level, const char *text)
{
    const struct progress_context *progress = context;
    if (progress->original.message != NULL)
        progress->original.message(progress->original.context, level, text);
}

static void forward_progress(void *context, uint64_t rows, uint64_t bytes)
{
    const struct progress_context *progress = context;
    tdc_progress_add(progress->bar, rows, bytes);
}

/* ---- files ----------------------------------------------------------------------------------- */

static char *result_path(const struct tdc_run_request *request, const struct tdc_task *task,
                         const char *stem, const char *time_stamp, const char *extension)
{
    size_t size = strlen(request->output) + strlen(task->folder) + strlen(stem) +
                  strlen(task->step) + strlen(task->rank) + strlen(time_stamp) + strlen(extension) +
                  9;
    char *path = malloc(size);
    if (path != NULL)
        snprintf(path, size, "%s%s%s/%s%s%s%s%s_%s.%s", request->output,
                 task->folder[0] != '\0' ? "/" : "", task->folder, stem,
                 task->step[0] != '\0' ? "_" : "", task->step, task->rank[0] != '\0' ? "_" : "",
                 task->rank, time_stamp, extension);
    return path;
}

static const char *table_stem(const struct tdc_task *task)
{
    return task->debug ? "debug_compare_result" : "compare_result";
}

/* msprobe gives the advice about dump.json and debug.json of one rank the same name. */
static const char *advice_stem(const struct tdc_run_request *request, const struct tdc_task *task)
{
    return task->debug && request->options.rules == TDC_RULES_SOUND ? "debug_advisor" : "advisor";
}

static bool is_taken(const struct tdc_run_request *request, const struct tdc_task *task,
                     const char *stem, const char *time_stamp, const char *extension)
{
    char *path = result_path(request, task, stem, time_stamp, extension);
    bool taken = path != NULL && tdc_is_taken(path);
    free(path);
    return taken;
}

/* Has an earlier run given one of its files a name this one would use? */
static bool are_taken(const struct tdc_run_request *request, const struct tdc_run *run,
                      const char *time_stamp)
{
    for (size_t i = 0; i < run->count; i++) {
        const struct tdc_task *task = run->comparisons[i].task;
        bool taken = is_taken(request, task, advice_stem(request, task), time_stamp, "txt") ||
                     is_taken(request, task, "data_mapping", time_stamp, "yaml") ||
                     is_taken(request, task, "compare_truth", time_stamp, "csv");
        for (size_t k = 0; k < TDC_FORMAT_NAMES && !taken; k++)
            taken =
                is_taken(request, task, table_stem(task), time_stamp, tdc_format_names[k].name) ||
                is_taken(request, task, "compare_axis", time_stamp, tdc_format_names[k].name);
        if (taken)
            return true;
    }
    static const struct tdc_task none = {.rank = "", .step = "", .folder = ""};
    return is_taken(request, &none, "compare_report", time_stamp, "html");
}

/* One moment for all files of the run, which no other run uses: names tell runs apart, also two
 * that start in the same second. */
static tdc_status choose_stamp(const struct tdc_run_request *request, const struct tdc_run *run,
                               tdc_stamp **stamp, struct tdc_error *error)
{
    tdc_status status = tdc_stamp_new(request->output, stamp, error);
    while (status == TDC_OK && are_taken(request, run, tdc_stamp_text(*stamp)))
        status = tdc_stamp_next(*stamp, error);
    return status;
}

/* ---- comparing and writing ------------------------------------------------------------------- */

static tdc_status out_of_memory(struct tdc_error *error)
{
    snprintf(error->message, sizeof error->message, "out of memory");
    return error->status = TDC_ERR_MEMORY;
}

/* A page that cannot hold all rows names csv files that do. */
static unsigned formats_of(const struct tdc_run_request *request, const struct tdc_run *run)
{
    uint64_t rows = 0;
    for (size_t i = 0; i < run->count; i++)
        if (run->comparisons[i].table != NULL)
            rows += tdc_table_rows(run->comparisons[i].table);
    bool needed = (request->formats & TDC_FORMATS_PAGE) != 0 && request->file == NULL &&
                  rows > TDC_REPORT_ROWS;
    return request->formats | (needed ? TDC_FORMAT_CSV : 0u);
}

/* A file is made under a new name, or replaces what has the name that was given. */
static tdc_status plan_file(const struct tdc_run_request *request,
                            struct tdc_run_comparison *comparison, const char *time_stamp,
                            const struct tdc_format_name *format, struct tdc_output *output,
                            struct tdc_error *error)
{
    char *path = request->file != NULL
                     ? strdup(request->file)
                     : result_path(request, comparison->task, table_stem(comparison->task),
                                   time_stamp, format->name);
    if (path == NULL)
        return out_of_memory(error);
    comparison->files[comparison->file_count++] = path;
    tdc_output_init(output, sizeof *output, comparison->table, format->format, path);
    output->flags =
        TDC_OUTPUT_MAKE_FOLDERS | (request->file == NULL ? (unsigned)TDC_OUTPUT_EXCLUSIVE : 0);
    output->classes = request->only;
    return TDC_OK;
}

/* The result files of a comparison, one per format; their names are noted when all is well. */
static tdc_status plan_outputs(const struct tdc_run_request *request, unsigned wanted,
                               struct tdc_run_comparison *comparison, const char *time_stamp,
                               struct tdc_output *outputs, size_t *count, struct tdc_error *error)
{
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < TDC_FORMAT_NAMES && status == TDC_OK; i++)
        if ((wanted & (unsigned)tdc_format_names[i].format) != 0)
            status = plan_file(request, comparison, time_stamp, &tdc_format_names[i],
                               &outputs[(*count)++], error);
    if (request->stream == TDC_FORMAT_NONE || status != TDC_OK)
        return status;
    struct tdc_output *output = &outputs[(*count)++];
    tdc_output_init(output, sizeof *output, comparison->table, request->stream,
                    "the standard output");
    output->flags = TDC_OUTPUT_STREAM;
    output->stream = STDOUT_FILENO;
    output->classes = request->only;
    return TDC_OK;
}

/* Names of files that there are not. */
static void forget_files(struct tdc_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        struct tdc_run_comparison *comparison = &run->comparisons[i];
        while (comparison->file_count != 0)
            free(comparison->files[--comparison->file_count]);
    }
}

/* False: the failure is one to end the run with. */
static bool do_without_files(const struct tdc_run_request *request, struct tdc_run *run,
                             tdc_status status, const struct tdc_error *error)
{
    if (status != TDC_ERR_WRITE || !request->answer_anyway)
        return false;
    run->unwritten = *error;
    return true;
}

static tdc_status compare_planned(const struct tdc_run_request *request, struct tdc_run *run,
                                  tdc_table **tables, struct tdc_output *outputs,
                                  const char *time_stamp, struct tdc_error *error)
{
    size_t count = 0, output_count = 0;
    /* known before, or not wanted */
    bool unwritten = run->unwritten.status != TDC_OK || request->part;
    uint64_t rows = 0, bytes = 0;
    unsigned wanted = formats_of(request, run);
    for (size_t i = 0; i < run->count; i++) {
        struct tdc_run_comparison *comparison = &run->comparisons[i];
        if (comparison->table == NULL)
            continue;
        uint64_t table_rows, table_bytes;
        tdc_table_work(comparison->table, &table_rows, &table_bytes);
        rows += table_rows;
        bytes += table_bytes;
        tdc_table_share(comparison->table, request->share);
        tables[count++] = comparison->table;
        tdc_status status = unwritten ? TDC_OK
                                      : plan_outputs(request, wanted, comparison, time_stamp,
                                                     outputs, &output_count, error);
        if (status != TDC_OK)
            return status;
    }
    struct progress_context progress = {.original = request->options};
    progress.bar = tdc_progress_start("comparing", rows, bytes, request->quiet || rows == 0);
    tdc_progress_after(progress.bar, output_count != 0 ? "writing" : NULL);
    struct tdc_options options = request->options;
    options.message = forward_message;
    options.progress = forward_progress;
    options.context = &progress;
    tdc_status status = request->part
                            ? tdc_compare_part(tables, count, &options, error)
                            : tdc_compare_to(tables, count, outputs, output_count, &options, error);
    tdc_progress_stop(progress.bar);
    return status;
}

static tdc_status compare_all(const struct tdc_run_request *request, struct tdc_run *run,
                              const char *time_stamp, struct tdc_error *error)
{
    tdc_table **tables = calloc(run->count + 1, sizeof(tdc_table *));
    struct tdc_output *outputs = calloc((TDC_FORMAT_NAMES + 1) * run->count + 1, sizeof *outputs);
    tdc_status status;
    if (tables == NULL || outputs == NULL)
        status = out_of_memory(error);
    else
        status = compare_planned(request, run, tables, outputs, time_stamp, error);
    free(tables);
    free(outputs);
    return status;
}

/* ---- what follows the tables ------------------------------------------------------------------
 */

/* Writes one more file about a comparison and notes its name. */
static tdc_status write_extra(const struct tdc_run_request *request,
                              struct tdc_run_comparison *comparison, const char *stem,
                              const char *time_stamp, const char *extension,
                              struct tdc_error *error)
{
    char *path = result_path(request, comparison->task, stem, time_stamp, extension);
    tdc_status status = TDC_ERR_MEMORY;
    if (path != NULL && strcmp(extension, "txt") == 0)
        status = tdc_advice_write(comparison->table, path, error);
    else if (path != NULL && strcmp(extension, "csv") == 0)
        status = tdc_truth_write(comparison->table, path, error);
    else if (path != NULL)
        status = tdc_match_write_mapping(comparison->match, path, error);
    if (status == TDC_OK)
        comparison->files[comparison->file_count++] = path;
    else
        free(path);
    return status;
}

/* Errors along axes, beside the tables; in json they are members of their rows. */
static tdc_status write_series(const struct tdc_run_request *request,
                               struct tdc_run_comparison *comparison, const char *time_stamp,
                               struct tdc_error *error)
{
    tdc_status status = TDC_OK;
    static const tdc_format tables[] = {TDC_FORMAT_CSV, TDC_FORMAT_XLSX};
    static const char *const endings[] = {"csv", "xlsx"};
    for (size_t i = 0; i < 2 && status == TDC_OK && request->align != NULL; i++) {
        if ((request->formats & (unsigned)tables[i]) == 0)
            continue;
        size_t rows = 0;
        char *path = result_path(request, comparison->task, "compare_axis", time_stamp, endings[i]);
        if (path == NULL)
            return out_of_memory(error);
        status = tdc_series_write(comparison->table, tables[i], path, &rows, error);
        if (status == TDC_OK && rows != 0)
            comparison->files[comparison->file_count++] = path;
        else
            free(path);
    }
    return status;
}

static tdc_status write_extras(const struct tdc_run_request *request,
                               struct tdc_run_comparison *comparison, const char *time_stamp,
                               struct tdc_error *error)
{
    tdc_status status = TDC_OK;
    if (request->formats == 0 || request->file != NULL)
        return TDC_OK; /* what was asked for, and nothing beside it */
    status = write_series(request, comparison, time_stamp, error);
    if (status != TDC_OK)
        return status;
    if (request->advice)
        status = write_extra(request, comparison, advice_stem(request, comparison->task),
                             time_stamp, "txt", error);
    if (status == TDC_OK)
        status = write_extra(request, comparison, "data_mapping", time_stamp, "yaml", error);
    if (status == TDC_ERR_NOTHING) /* no layer mapping, no such file */
        status = TDC_OK;
    if (status == TDC_OK && request->truth != NULL)
        status = write_extra(request, comparison, "compare_truth", time_stamp, "csv", error);
    return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* One file, or the standard output, has room for one table. */
static tdc_status check_single(const struct tdc_run_request *request, size_t tasks,
                               struct tdc_error *error)
{
    bool page = request->formats == TDC_FORMATS_PAGE && request->stream == TDC_FORMAT_NONE;
    if (tasks <= 1 || page || (request->file == NULL && request->stream == TDC_FORMAT_NONE))
        return TDC_OK;
    snprintf(error->message, sizeof error->message,
             "%s takes one result, and there are %zu ranks or steps to compare: name one of them, "
             "or a folder with -o",
             request->file != NULL ? request->file : "the standard output", tasks);
    return error->status = TDC_ERR_ARGUMENT;
}

/* The folder is made and the names are chosen before the work, so that what cannot be written is
 * known early. */
static tdc_status compare_and_write(const struct tdc_run_request *request, struct tdc_run *run,
                                    struct tdc_error *error)
{
    tdc_stamp *stamp = NULL;
    tdc_status status = TDC_OK;
    bool named = request->formats != 0 && request->file == NULL;
    if (request->part)
        return compare_all(request, run, "", error);
    if (named)
        status = choose_stamp(request, run, &stamp, error);
    if (do_without_files(request, run, status, error)) {
        request->options.message(request->options.context, TDC_MESSAGE_WARNING,
                                 "the results cannot be written; comparing all the same");
        status = TDC_OK;
    }
    const char *text = stamp != NULL ? tdc_stamp_text(stamp) : "";
    if (status == TDC_OK)
        status = compare_all(request, run, text, error);
    if (do_without_files(request, run, status, error)) {
        forget_files(run);
        status = TDC_OK;
    }
    for (size_t i = 0; i < run->count && status == TDC_OK; i++)
        if (run->comparisons[i].table != NULL && run->unwritten.status == TDC_OK)
            status = write_extras(request, &run->comparisons[i], text, error);
    if (status == TDC_OK && run->unwritten.status == TDC_OK &&
        (request->formats & TDC_FORMATS_PAGE) != 0)
        status = tdc_run_write_page(request, run, text, error);
    if (do_without_files(request, run, status, error))
        status = TDC_OK;
    tdc_stamp_free(stamp);
    return status;
}

tdc_status tdc_run_all(const struct tdc_run_request *request, struct tdc_run *run,
                       struct tdc_error *error)
{
    double start = now();
    *run = (struct tdc_run){0};
    size_t tasks = tdc_tasks_count(request->tasks);
    run->comparisons = calloc(tasks + 1, sizeof *run->comparisons);
    if (run->comparisons == NULL) {
        snprintf(error->message, sizeof error->message, "out of memory");
        return error->status = TDC_ERR_MEMORY;
    }
    for (size_t i = 0; i < tasks; i++) {
        struct tdc_run_comparison *comparison = &run->comparisons[run->count++];
        comparison->task = tdc_tasks_get(request->tasks, i);
        tdc_status status = prepare(request, comparison, &comparison->error);
        if (status != TDC_OK && !(request->skip_bad && tasks > 1)) {
            *error = comparison->error;
            return status;
        }
    }
    tdc_status status = check_single(request, tasks, error);
    if (status == TDC_OK)
        status = compare_and_write(request, run, error);
    run->seconds = now() - start;
    return status;
}

void tdc_run_free(struct tdc_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        struct tdc_run_comparison *comparison = &run->comparisons[i];
        for (size_t k = 0; k < comparison->file_count; k++)
            free(comparison->files[k]);
        tdc_table_free(comparison->table);
        tdc_run_third_free(comparison);
        tdc_match_free(comparison->match);
        tdc_dump_free(comparison->npu);
        tdc_dump_free(comparison->bench);
    }
    free(run->page);
    free(run->comparisons);
    *run = (struct tdc_run){0};
}
