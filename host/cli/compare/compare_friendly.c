/* compare_friendly.c - `tdcmp compare TEST REF`. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/compare/compare_options.h"
#include "host/cli/compare/graph_output.h"

/* Messages about how two dumps fit each other do not name them. */
static void complain_of(const struct tdc_run *run, char **sides, const struct tdc_error *error)
{
    bool about_both = error->status == TDC_ERR_MISMATCH || error->status == TDC_ERR_REFUSED ||
                      error->status == TDC_ERR_NOTHING || error->status == TDC_ERR_FORMAT;
    const struct tdc_task *task = run->count != 0 ? run->comparisons[run->count - 1].task : NULL;
    if (about_both && task != NULL && strstr(error->message, task->npu) == NULL &&
        strstr(error->message, task->bench) == NULL)
        tdc_complain("%s against %s: %s", task->npu, task->bench, error->message);
    else
        tdc_complain_of_sides(sides[0], sides[1], error);
}

/* Every file that decides which pairs there are. */
static tdc_status add_inputs(const struct tdc_run_request *request, tdc_share *share,
                             struct tdc_error *error)
{
    const struct tdc_options *options = &request->options;
    const char *const files[] = {options->data_mapping,
                                 options->api_mapping.file,
                                 options->cell_mapping.file,
                                 options->layer_mapping.file,
                                 options->products,
                                 options->tolerance_file,
                                 request->align != NULL ? request->align->rules : NULL,
                                 request->truth,
                                 request->noise};
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < tdc_tasks_count(request->tasks) && status == TDC_OK; i++) {
        const struct tdc_task *task = tdc_tasks_get(request->tasks, i);
        status = tdc_share_input(share, task->npu, error);
        if (status == TDC_OK)
            status = tdc_share_input(share, task->bench, error);
    }
    for (size_t i = 0; i < sizeof files / sizeof *files && status == TDC_OK; i++)
        status = tdc_share_input(share, files[i], error);
    return status;
}

/* What earlier runs and other processes have done; results that are not kept in a folder are done
 * in one go. */
static tdc_status begin_sharing(struct tdc_compare_settings *settings, struct tdc_error *error)
{
    struct tdc_run_request *request = &settings->run.request;
    struct tdc_sharing *sharing = &settings->sharing;
    if (request->formats == 0 && sharing->kind == TDC_SHARE_WHOLE)
        return TDC_OK;
    tdc_status status = tdc_sharing_begin(sharing, "compare", request->output, request->file,
                                          &request->options, error);
    if (status == TDC_OK)
        status = add_inputs(request, sharing->share, error);
    if (status == TDC_OK)
        status = tdc_share_start(sharing->share, error);
    request->share = sharing->share;
    request->part = tdc_sharing_is_part(sharing);
    return status;
}

/* The comparison that was asked for; the two dumps. */
static int compare(struct tdc_compare_settings *settings, char **sides)
{
    struct tdc_run_request *request = &settings->run.request;
    struct tdc_said said = {0};
    request->options.message = tdc_sharing_is_silent() ? NULL : tdc_print_message;
    request->options.context = &said;
    tdc_tasks *tasks = NULL;
    struct tdc_error error = {0};
    struct tdc_run run = {0};
    /* such files name their ranks and axes themselves: no rules are needed */
    request->tensors = request->align == NULL && request->options.rules == TDC_RULES_SOUND &&
                       tdc_path_is_sglang(sides[0]) && tdc_path_is_sglang(sides[1]);
    tdc_status status =
        request->align != NULL || request->tensors
            ? tdc_tasks_pair(sides[0], sides[1], &tasks, &error)
            : tdc_tasks_find(sides[0], sides[1], settings->step, &request->options, &tasks, &error);
    if (status == TDC_OK) {
        request->tasks = tasks;
        status = begin_sharing(settings, &error);
    }
    if (status == TDC_OK)
        status = tdc_run_all(request, &run, &error);
    int code = TDC_EXIT_TROUBLE;
    if (status != TDC_OK) {
        if (!tdc_run_tell_mistake(request, &error))
            complain_of(&run, sides, &error);
    } else if (request->part) {
        code = tdc_sharing_finish(&settings->sharing, request->quiet) ? TDC_EXIT_SAME
                                                                      : TDC_EXIT_TROUBLE;
    } else {
        code = tdc_run_show(request, &run);
        if (settings->run.vis && !tdc_write_graph(request))
            code = TDC_EXIT_TROUBLE;
        /* what could not be written is worth a journal */
        if (run.unwritten.status == TDC_OK &&
            !tdc_sharing_finish(&settings->sharing, request->quiet))
            code = TDC_EXIT_TROUBLE;
    }
    tdc_run_free(&run);
    tdc_tasks_free(tasks);
    tdc_said_free(&said);
    return code;
}

int tdc_compare_merged(int argc, char **argv, const char *folder)
{
    struct tdc_compare_settings settings = {.step = -1};
    struct tdc_sharing *sharing = &settings.sharing;
    const char **words = tdc_command_words(argc, argv);
    int code = TDC_EXIT_TROUBLE;
    if (words != NULL && tdc_take_compare_options(argc, argv, &settings)) {
        sharing->merge = folder;
        if (settings.run.help || settings.version) {
            if (settings.run.help)
                fputs(tdc_compare_usage, stdout);
            else
                tdc_print_version();
            code = TDC_EXIT_SAME;
        } else if (tdc_sharing_settle(sharing, words, (size_t)argc + 1, argv + optind, 2)) {
            settings.run.request.options.command = sharing->words;
            settings.run.request.options.command_words = sharing->word_count;
            code = compare(&settings, argv + optind);
        }
    }
    tdc_sharing_free(sharing);
    free(words);
    return code;
}

int tdc_command_compare(int argc, char **argv)
{
    return tdc_compare_merged(argc, argv, NULL);
}
