/* run.c - load, match, compare, write: the work of both forms of `compare`. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "host/cli/shared/command.h"
#include "host/terminal/progress.h"

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void warn_of_link(const struct tdc_options *options, const char *path)
{
    struct stat info;
    char text[4200];
    if (options->message == NULL || lstat(path, &info) != 0 || !S_ISLNK(info.st_mode))
        return;
    snprintf(text, sizeof text, "%s is a symbolic link; it was followed", path);
    options->message(options->context, TDC_MESSAGE_WARNING, text);
}

struct loading {
    const char *path;
    tdc_dump *dump;
    tdc_status status;
    struct tdc_error error;
};

static void *load_one(void *argument)
{
    struct loading *loading = argument;
    loading->status = tdc_dump_load(loading->path, &loading->dump, &loading->error);
    return NULL;
}

/* Both sides at once, if a thread can be had: reading the json is the longest part of a statistics
 * comparison. */
static tdc_status load_both(struct tdc_run_comparison *comparison, struct tdc_error *error)
{
    struct loading npu = {.path = comparison->task->npu}, bench = {.path = comparison->task->bench};
    pthread_t thread;
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

static tdc_status match_dumps(const struct tdc_run_request *request,
                              struct tdc_run_comparison *comparison, struct tdc_error *error)
{
    tdc_status status = load_both(comparison, error);
    if (status == TDC_OK)
        status = check_records(request, comparison, error);
    if (status == TDC_OK)
        status = tdc_match_new(comparison->npu, comparison->bench, &request->options,
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

static const struct {
    tdc_format format;
    const char *extension;
} formats[] = {{TDC_FORMAT_XLSX, "xlsx"}, {TDC_FORMAT_CSV, "csv"}, {TDC_FORMAT_JSON, "json"}};

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
    struct stat info;
    char *path = result_path(request, task, stem, time_stamp, extension);
    bool taken = path != NULL && lstat(path, &info) == 0;
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
                     is_taken(request, task, "data_mapping", time_stamp, "yaml");
        for (size_t k = 0; k < 3 && !taken; k++)
            taken = is_taken(request, task, table_stem(task), time_stamp, formats[k].extension) ||
                    is_taken(request, task, "compare_axis", time_stamp, formats[k].extension);
        if (taken)
            return true;
    }
    return false;
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

/* The result files of a comparison, one per format; their names are noted when all is well. */
static tdc_status plan_outputs(const struct tdc_run_request *request,
                               struct tdc_run_comparison *comparison, const char *time_stamp,
                               struct tdc_output *outputs, size_t *count, struct tdc_error *error)
{
    const char *stem = table_stem(comparison->task);
    for (size_t i = 0; i < 3; i++) {
        if ((request->formats & (unsigned)formats[i].format) == 0)
            continue;
        char *path = result_path(request, comparison->task, stem, time_stamp, formats[i].extension);
        if (path == NULL)
            return out_of_memory(error);
        comparison->files[comparison->file_count++] = path;
        struct tdc_output *output = &outputs[(*count)++];
        tdc_output_init(output, sizeof *output, comparison->table, formats[i].format, path);
        output->flags = TDC_OUTPUT_EXCLUSIVE | TDC_OUTPUT_MAKE_FOLDERS;
    }
    return TDC_OK;
}

static tdc_status compare_planned(const struct tdc_run_request *request, struct tdc_run *run,
                                  tdc_table **tables, struct tdc_output *outputs,
                                  const char *time_stamp, struct tdc_error *error)
{
    size_t count = 0, output_count = 0;
    uint64_t rows = 0, bytes = 0;
    for (size_t i = 0; i < run->count; i++) {
        struct tdc_run_comparison *comparison = &run->comparisons[i];
        if (comparison->table == NULL)
            continue;
        uint64_t table_rows, table_bytes;
        tdc_table_work(comparison->table, &table_rows, &table_bytes);
        rows += table_rows;
        bytes += table_bytes;
        tables[count++] = comparison->table;
        tdc_status status =
            plan_outputs(request, comparison, time_stamp, outputs, &output_count, error);
        if (status != TDC_OK)
            return status;
    }
    struct progress_context progress = {.original = request->options};
    progress.bar = tdc_progress_start("comparing", rows, bytes, request->quiet || rows == 0);
    struct tdc_options options = request->options;
    options.message = forward_message;
    options.progress = forward_progress;
    options.context = &progress;
    tdc_status status = tdc_compare_to(tables, count, outputs, output_count, &options, error);
    tdc_progress_stop(progress.bar);
    return status;
}

static tdc_status compare_all(const struct tdc_run_request *request, struct tdc_run *run,
                              const char *time_stamp, struct tdc_error *error)
{
    tdc_table **tables = calloc(run->count + 1, sizeof(tdc_table *));
    struct tdc_output *outputs = calloc(3 * run->count + 1, sizeof *outputs);
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
    for (size_t i = 0; i < 3 && status == TDC_OK && request->align != NULL; i++) {
        bool wanted = (request->formats & (unsigned)formats[i].format) != 0;
        if (!wanted || formats[i].format == TDC_FORMAT_JSON)
            continue;
        size_t rows = 0;
        char *path = result_path(request, comparison->task, "compare_axis", time_stamp,
                                 formats[i].extension);
        if (path == NULL)
            return out_of_memory(error);
        status = tdc_series_write(comparison->table, formats[i].format, path, &rows, error);
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
    tdc_status status = write_series(request, comparison, time_stamp, error);
    if (status != TDC_OK)
        return status;
    if (request->advice)
        status = write_extra(request, comparison, advice_stem(request, comparison->task),
                             time_stamp, "txt", error);
    if (status == TDC_OK)
        status = write_extra(request, comparison, "data_mapping", time_stamp, "yaml", error);
    return status == TDC_ERR_NOTHING ? TDC_OK : status; /* no layer mapping, no such file */
}

/* ---- all ------------------------------------------------------------------------------------- */

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
    tdc_stamp *stamp = NULL;
    tdc_status status = choose_stamp(request, run, &stamp, error);
    if (status == TDC_OK)
        status = compare_all(request, run, tdc_stamp_text(stamp), error);
    for (size_t i = 0; i < run->count && status == TDC_OK; i++)
        if (run->comparisons[i].table != NULL)
            status = write_extras(request, &run->comparisons[i], tdc_stamp_text(stamp), error);
    tdc_stamp_free(stamp);
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
        tdc_match_free(comparison->match);
        tdc_dump_free(comparison->npu);
        tdc_dump_free(comparison->bench);
    }
    free(run->comparisons);
    *run = (struct tdc_run){0};
}
