/* compare_friendly.c - `tdcmp compare TEST REF`. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "host/cli/compare/compare_options.h"

/* Names the comparisons in which nothing could be compared. */
static void complain_of_nothing(const struct tdc_run_request *request, const struct tdc_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        struct tdc_summary summary;
        if (run->comparisons[i].table == NULL)
            continue;
        tdc_table_summary(run->comparisons[i].table, &summary, sizeof summary);
        if (tdc_summary_answer(&summary, request->allow_unmatched) == TDC_ANSWER_NONE)
            tdc_complain("%s against %s: nothing was compared", run->comparisons[i].task->npu,
                         run->comparisons[i].task->bench);
    }
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
    tdc_status status = request->align != NULL
                            ? tdc_tasks_whole(argv[optind], argv[optind + 1], &tasks, &error)
                            : tdc_tasks_find(argv[optind], argv[optind + 1], settings.step,
                                             &request->options, &tasks, &error);
    if (status == TDC_OK) {
        request->tasks = tasks;
        status = tdc_run_all(request, &run, &error);
    }
    int code = TDC_EXIT_TROUBLE;
    if (status == TDC_ERR_ARGUMENT && request->align != NULL) {
        tdc_show(stderr, error.message); /* FILE:LINE: text, as compilers have it */
        fputc('\n', stderr);
    } else if (status != TDC_OK) {
        complain_of(&run, &error);
    } else {
        struct tdc_run_answer answer;
        bool printed = request->quiet || tdc_print_page(request, &run);
        complain_of_nothing(request, &run);
        tdc_run_judge(request, &run, &answer);
        code = printed ? answer.code : TDC_EXIT_TROUBLE;
    }
    tdc_run_free(&run);
    tdc_tasks_free(tasks);
    tdc_said_free(&said);
    return code;
}
