/* compare_friendly.c - `tdcmp compare TEST REF`. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "host/cli/compare/compare_options.h"

static int exit_code(const struct tdc_compare_settings *settings, const tdc_tasks *tasks,
                     const struct tdc_run *run)
{
    bool trouble = tdc_tasks_empty(tasks) != 0;
    bool different = tdc_tasks_left_out(tasks) != 0 && !settings->allow_unmatched;
    for (size_t i = 0; i < run->count; i++) {
        struct tdc_summary summary;
        if (run->comparisons[i].table == NULL) {
            trouble = true;
            continue;
        }
        tdc_table_summary(run->comparisons[i].table, &summary, sizeof summary);
        trouble |= summary.classes[TDC_ROW_ERROR] != 0;
        different |= summary.classes[TDC_ROW_DIFFERENT] != 0 || summary.origins != 0;
        bool apart = !settings->allow_unmatched && summary.classes[TDC_ROW_UNMATCHED] != 0;
        different |= apart;
        if (tdc_table_compared(run->comparisons[i].table) || apart)
            continue;
        trouble = true;
        tdc_complain("%s against %s: nothing was compared", run->comparisons[i].task->npu,
                     run->comparisons[i].task->bench);
    }
    return trouble ? TDC_EXIT_TROUBLE : different ? TDC_EXIT_DIFFERENT : TDC_EXIT_SAME;
}

/* Messages about how two dumps fit each other do not name them. */
static void complain_of(const struct tdc_run *run, const struct tdc_error *error)
{
    bool about_both = error->status == TDC_ERR_MISMATCH || error->status == TDC_ERR_REFUSED ||
                      error->status == TDC_ERR_NOTHING || error->status == TDC_ERR_FORMAT;
    const struct tdc_task *task = run->count != 0 ? run->comparisons[run->count - 1].task : NULL;
    if (about_both && task != NULL && strstr(error->message, task->npu) == NULL &&
        strstr(error->message, task->bench) == NULL)
        tdc_complain("%s against %s: %s", task->npu, task->bench, error->message);
    else
        tdc_complain("%s", error->message);
}

int tdc_command_compare(int argc, char **argv)
{
    struct tdc_compare_settings settings;
    struct tdc_run_request *request = &settings.request;
    if (!tdc_take_compare_options(argc, argv, &settings))
        return TDC_EXIT_TROUBLE;
    if (settings.help || settings.version) {
        if (settings.help)
            fputs(tdc_compare_usage, stdout);
        else
            tdc_print_version();
        return TDC_EXIT_SAME;
    }
    struct tdc_said said = {0};
    request->options.message = tdc_print_message;
    request->options.context = &said;
    tdc_tasks *tasks = NULL;
    struct tdc_error error = {0};
    struct tdc_run run = {0};
    tdc_status status = tdc_tasks_find(argv[optind], argv[optind + 1], settings.step,
                                       &request->options, &tasks, &error);
    if (status == TDC_OK) {
        request->tasks = tasks;
        status = tdc_run_all(request, &run, &error);
    }
    int code = TDC_EXIT_TROUBLE;
    if (status != TDC_OK) {
        complain_of(&run, &error);
    } else {
        if (!request->quiet)
            tdc_print_summary(request, &run);
        code = exit_code(&settings, tasks, &run);
    }
    tdc_run_free(&run);
    tdc_tasks_free(tasks);
    tdc_said_free(&said);
    return code;
}
