/* compare26.c - `tdcmp compare -tp TARGET -gp GOLDEN`: msprobe 26's words, files and exit codes. */
#include "host/cli/msprobe26/compare26.h"

#include <stdio.h>
#include <string.h>

#include "host/terminal/match_options.h"
#include "host/cli/msprobe/msprobe_log.h"
#include "host/cli/msprobe26/words26.h"
#include "host/cli/shared/command.h"
#include "host/terminal/parse.h"

static void log_error(const char *text)
{
    tdc_msprobe_log(NULL, TDC_MESSAGE_ERROR, text);
}

static struct tdc_mapping mapping_of(const struct tdc_argument *argument)
{
    return (struct tdc_mapping){argument->given, argument->value};
}

static bool apply_own_arguments(const struct tdc_argument *arguments,
                                struct tdc_run_request *request)
{
    const struct tdc_argument *rules = &arguments[ARG26_RULES], *format = &arguments[ARG26_FORMAT];
    const struct tdc_argument *threads = &arguments[ARG26_THREADS];
    const struct tdc_argument *device = &arguments[ARG26_DEVICE];
    if ((rules->given && !tdc_parse_rules(rules->value, &request->options.rules)) ||
        (format->given && !tdc_parse_formats(format->value, &request->formats)) ||
        (threads->given && !tdc_parse_number(threads->value, 1, &request->options.threads)) ||
        (device->given && !tdc_device_valid(device->value))) {
        tdc_complain("wrong value for --rules, --format, --threads or --device (-h lists them)");
        return false;
    }
    request->options.device = device->value;
    if (arguments[ARG26_NO_FALLBACK].given)
        request->options.flags |= TDC_OPTION_NO_FALLBACK;
    return true;
}

static int compare_paths(const struct tdc_argument *arguments, struct tdc_run_request *request)
{
    tdc_tasks *tasks = NULL;
    struct tdc_error error = {0};
    struct tdc_run run = {0};
    tdc_status status = tdc_tasks_strict(arguments[ARG26_TARGET].value,
                                         arguments[ARG26_GOLDEN].value, &tasks, &error);
    if (status == TDC_OK) {
        request->tasks = tasks;
        status = tdc_run_all(request, &run, &error);
    }
    if (status == TDC_ERR_NOTHING)
        tdc_msprobe_log(NULL, TDC_MESSAGE_WARNING, error.message);
    else if (status != TDC_OK)
        log_error(error.message);
    tdc_run_free(&run);
    tdc_tasks_free(tasks);
    return status == TDC_OK || status == TDC_ERR_NOTHING ? 0 : 1;
}

int tdc_word26_compare(int argc, char **argv)
{
    struct tdc_argument arguments[ARG26_COUNT];
    bool helped;
    int code = tdc_compare26_words(argc - 1, argv + 1, arguments, &helped);
    if (code != 0 || helped)
        return code;
    struct tdc_run_request request = {.stacks = true};
    tdc_options_init(&request.options, sizeof request.options, TDC_RULES_COMPAT);
    request.formats = arguments[ARG26_XLSX].given ? TDC_FORMAT_XLSX : TDC_FORMAT_CSV;
    request.options.message = tdc_msprobe_log;
    if (!apply_own_arguments(arguments, &request))
        return 2;
    tdc_settle_match_options(&request.options);
    if (arguments[ARG26_FUZZY].given)
        request.options.flags |= TDC_OPTION_FUZZY;
    request.options.data_mapping = arguments[ARG26_DATA_MAPPING].value;
    request.options.cell_mapping = mapping_of(&arguments[ARG26_CELL_MAPPING]);
    request.options.api_mapping = mapping_of(&arguments[ARG26_API_MAPPING]);
    request.options.layer_mapping = mapping_of(&arguments[ARG26_LAYER_MAPPING]);
    request.output =
        arguments[ARG26_OUTPUT].value != NULL ? arguments[ARG26_OUTPUT].value : "./output";
    return compare_paths(arguments, &request);
}
