/* run_page.c - all comparisons of a run as one page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/cli/shared/command.h"
#include "host/terminal/command_line.h"

static const char *csv_of(const struct tdc_run_comparison *comparison)
{
    for (size_t i = 0; i < comparison->file_count; i++) {
        size_t length = strlen(comparison->files[i]);
        if (length > 4 && strcmp(comparison->files[i] + length - 4, ".csv") == 0)
            return comparison->files[i];
    }
    return NULL;
}

/* Lines for a mapping, where something has no partner and the dumps say enough to propose some. */
static tdc_status add_suggestion(tdc_html_report *report,
                                 const struct tdc_run_comparison *comparison,
                                 struct tdc_error *error)
{
    struct tdc_summary summary;
    tdc_table_summary(comparison->table, &summary, sizeof summary);
    if (summary.classes[TDC_ROW_UNMATCHED] == 0)
        return TDC_OK;
    struct tdc_error reason = {0};
    const char *yaml = tdc_match_suggest(comparison->match, &reason);
    if (yaml != NULL)
        return tdc_html_report_add_suggestion(report, yaml, error);
    if (reason.status == TDC_ERR_MEMORY)
        *error = reason;
    return reason.status == TDC_ERR_MEMORY ? TDC_ERR_MEMORY : TDC_OK;
}

static tdc_status add_comparison(tdc_html_report *report,
                                 const struct tdc_run_comparison *comparison,
                                 struct tdc_error *error)
{
    if (comparison->table == NULL)
        return tdc_html_report_add_failure(report, comparison->task, comparison->error.message,
                                           error);
    tdc_status status = tdc_html_report_add_table(report, comparison->task, comparison->table,
                                                  csv_of(comparison), error);
    return status == TDC_OK ? add_suggestion(report, comparison, error) : status;
}

/* Of a run without a stamp: the moment the page is written. */
static const char *time_of(const char *time_stamp, char room[32])
{
    time_t now = time(NULL);
    struct tm local;
    if (time_stamp[0] != '\0' || localtime_r(&now, &local) == NULL)
        return time_stamp;
    strftime(room, 32, "%Y%m%d%H%M%S", &local);
    return room;
}

static char *page_path(const struct tdc_run_request *request, const char *time_stamp)
{
    char *path;
    if (request->file != NULL)
        return strdup(request->file);
    return asprintf(&path, "%s/compare_report_%s.html", request->output, time_stamp) >= 0 ? path
                                                                                          : NULL;
}

tdc_status tdc_run_write_page(const struct tdc_run_request *request, struct tdc_run *run,
                              const char *time_stamp, struct tdc_error *error)
{
    struct tdc_html_report_options options;
    char room[32];
    tdc_html_report_options_init(&options, sizeof options);
    char *command = tdc_command_line(request->options.command, request->options.command_words);
    options.command = command;
    options.time = time_of(time_stamp, room);
    options.threads = request->options.threads;
    options.classes = request->only;
    options.flags = request->allow_unmatched ? TDC_REPORT_ALLOW_UNMATCHED : 0u;
    tdc_html_report *report;
    tdc_status status = tdc_html_report_new(&options, &report, error);
    free(command);
    for (size_t i = 0; i < run->count && status == TDC_OK; i++)
        status = add_comparison(report, &run->comparisons[i], error);
    char *path = page_path(request, time_stamp);
    if (status == TDC_OK && path == NULL) {
        snprintf(error->message, sizeof error->message, "out of memory");
        status = error->status = TDC_ERR_MEMORY;
    }
    unsigned flags = TDC_OUTPUT_MAKE_FOLDERS;
    if (request->file == NULL)
        flags |= TDC_OUTPUT_EXCLUSIVE;
    if (status == TDC_OK)
        status = tdc_html_report_write(report, path, flags, error);
    tdc_html_report_free(report);
    if (status == TDC_OK)
        run->page = path;
    else
        free(path);
    return status;
}
