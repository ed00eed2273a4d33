/* run_answer.c - all comparisons of a run as one answer. */
#include <stdio.h>

#include "host/cli/shared/command.h"

static void add_up(struct tdc_summary *total, const struct tdc_summary *part)
{
    total->rows += part->rows;
    total->bytes += part->bytes;
    total->origins += part->origins;
    total->entering += part->entering;
    total->tensors += part->tensors;
    total->no_data += part->no_data;
    total->calls += part->calls;
    total->different_calls += part->different_calls;
    total->different_arguments += part->different_arguments;
    total->seconds = part->seconds; /* of the whole run, the same for all */
    for (int i = 0; i < TDC_ROW_CLASSES; i++)
        total->classes[i] += part->classes[i];
    for (int i = TDC_COLOUR_NONE; i <= TDC_COLOUR_RED; i++)
        total->coloured[i] += part->coloured[i];
}

void tdc_run_judge(const struct tdc_run_request *request, const struct tdc_run *run,
                   struct tdc_run_answer *answer)
{
    *answer = (struct tdc_run_answer){.failed = tdc_tasks_empty(request->tasks)};
    if (!request->allow_unmatched)
        answer->left_out = tdc_tasks_left_out(request->tasks);
    for (size_t i = 0; i < run->count; i++) {
        struct tdc_summary summary;
        if (run->comparisons[i].table == NULL) {
            answer->failed++;
            continue;
        }
        tdc_table_summary(run->comparisons[i].table, &summary, sizeof summary);
        answer->compared++;
        answer->without_data +=
            tdc_summary_answer(&summary, request->allow_unmatched) == TDC_ANSWER_NONE;
        add_up(&answer->total, &summary);
    }
    answer->answer = tdc_summary_answer(&answer->total, request->allow_unmatched);
    bool agree = answer->answer >= TDC_ANSWER_IDENTICAL && answer->answer <= TDC_ANSWER_CLOSE;
    if (agree && answer->left_out != 0)
        answer->answer = TDC_ANSWER_UNMATCHED;
    bool trouble = answer->failed != 0 || answer->without_data != 0 ||
                   answer->total.classes[TDC_ROW_ERROR] != 0 || answer->answer == TDC_ANSWER_NONE;
    answer->code = trouble                                  ? TDC_EXIT_TROUBLE
                   : answer->answer >= TDC_ANSWER_UNMATCHED ? TDC_EXIT_DIFFERENT
                                                            : TDC_EXIT_SAME;
}

/* ---- shown ----------------------------------------------------------------------------------- */

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

static bool print_paths(const struct tdc_run *run)
{
    for (size_t i = 0; i < run->count; i++)
        for (size_t k = 0; k < run->comparisons[i].file_count; k++)
            puts(run->comparisons[i].files[k]);
    if (run->page != NULL)
        puts(run->page);
    return true;
}

int tdc_run_show(const struct tdc_run_request *request, const struct tdc_run *run)
{
    struct tdc_run_answer answer;
    bool printed = request->stream != TDC_FORMAT_NONE ||
                   (request->quiet ? print_paths(run) : tdc_print_page(request, run));
    complain_of_nothing(request, run);
    if (!request->quiet && request->stream == TDC_FORMAT_NONE)
        tdc_print_rest(run);
    tdc_run_judge(request, run, &answer);
    if (run->unwritten.status != TDC_OK)
        tdc_complain("%s", run->unwritten.message);
    return printed && run->unwritten.status == TDC_OK ? answer.code : TDC_EXIT_TROUBLE;
}

bool tdc_run_tell_mistake(const struct tdc_run_request *request, const struct tdc_error *error)
{
    if (error->status != TDC_ERR_ARGUMENT ||
        (request->align == NULL && request->options.tolerance_file == NULL))
        return false;
    tdc_show(stderr, error->message); /* FILE:LINE: text, as compilers have it */
    fputc('\n', stderr);
    return true;
}
