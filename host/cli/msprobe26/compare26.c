/* compare26.c - `tdcmp compare -tp TARGET -gp GOLDEN`: msprobe 26's words, files and exit codes. */
#include "host/cli/msprobe26/compare26.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/terminal/match_options.h"
#include "host/cli/msprobe/analysis_msprobe.h"
#include "host/cli/msprobe/kernel_msprobe.h"
#include "host/cli/msprobe/msprobe_log.h"
#include "host/cli/msprobe/own_arguments.h"
#include "host/cli/msprobe26/words26.h"
#include "host/cli/shared/command.h"
#include "host/terminal/parse.h"
#include "io/storage/looking.h"

/* The metrics of a row in one line. */
struct cell_text {
    char text[4096];
    size_t length;
};

static void log_error(const char *text)
{
    tdc_msprobe_log(NULL, TDC_MESSAGE_ERROR, text);
}

static bool apply_own_arguments(const struct tdc_argument *arguments,
                                struct tdc_run_request *request)
{
    const struct tdc_own_arguments own = {
        .rules = &arguments[ARG26_RULES],
        .format = &arguments[ARG26_FORMAT],
        .threads = &arguments[ARG26_THREADS],
        .device = &arguments[ARG26_DEVICE],
        .no_fallback = &arguments[ARG26_NO_FALLBACK],
    };
    return tdc_apply_own_arguments(&own, request);
}

/* ---- what is said ---------------------------------------------------------------------------- */

static void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void log_info(const char *format, ...)
{
    char text[8192];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    tdc_msprobe_log(NULL, TDC_MESSAGE_INFO, text);
}

static void print_results(const struct tdc_run *run)
{
    static const char stars[] =
        "************************************************************************************";
    for (size_t i = 0; i < run->count; i++) {
        const struct tdc_run_comparison *comparison = &run->comparisons[i];
        if (comparison->table == NULL)
            continue;
        for (size_t k = 0; k < comparison->file_count; k++)
            log_info("The result file path is: %s.", comparison->files[k]);
        log_info("%s", stars);
        log_info(
            "*                        msprobe compare ends successfully.                        *");
        log_info("%s", stars);
    }
}

/* A cell as csv shows it. */
static void print_cell(struct cell_text *out, const struct tdc_cell *cell)
{
    size_t room = sizeof out->text - out->length;
    int length = cell->text != NULL ? snprintf(out->text + out->length, room, "%.*s",
                                               (int)cell->length, cell->text)
                                    : snprintf(out->text + out->length, room, "%g", cell->number);
    if (length > 0)
        out->length += (size_t)length < room ? (size_t)length : room - 1;
}

/* Two lines for each row of a table of tensors (-tensor_log). */
static void print_rows(tdc_table *table)
{
    enum {
        NAME = 0,
        FIRST_METRIC = 8,
        METRICS = 6,
        CELLS = 64
    };
    struct tdc_error error;
    struct tdc_cell cells[CELLS];
    if (tdc_table_mode(table) != TDC_MODE_TENSOR || tdc_table_columns(table) > CELLS)
        return;
    for (size_t row = 0; row < tdc_table_rows(table); row++) {
        if (tdc_table_row(table, row, cells, &error) != TDC_OK)
            return;
        const char *remark = tdc_table_remark(table, row);
        struct cell_text line = {.length = 0};
        for (size_t k = 0; k < METRICS; k++) {
            line.length += (size_t)snprintf(line.text + line.length, sizeof line.text - line.length,
                                            "%s ", tdc_table_column(table, FIRST_METRIC + k));
            print_cell(&line, &cells[FIRST_METRIC + k]);
            line.length +=
                (size_t)snprintf(line.text + line.length, sizeof line.text - line.length, ", ");
        }
        log_info("start compare: %.*s", (int)cells[NAME].length, cells[NAME].text);
        bool absent = strstr(remark, "does not have data file") != NULL ||
                      strstr(remark, "Bench api/module unmatched") != NULL;
        log_info("[%.*s] Compare result: %s%s%s", (int)cells[NAME].length, cells[NAME].text,
                 absent ? "" : line.text, remark, absent ? " " : "");
    }
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* What the setup of a comparison refuses is said in two lines. */
static void print_failure(const struct tdc_error *error)
{
    log_error(error->message);
    if (error->status == TDC_ERR_MISMATCH)
        log_error("Compare failed. Please check the arguments and do it again!");
}

/* Of ranks that cannot be compared msprobe names those without task or data, and goes on. */
static void print_passed_over(const struct tdc_run *run)
{
    for (size_t i = 0; i < run->count; i++)
        if (run->comparisons[i].table == NULL && run->comparisons[i].error.message[0] != '\0')
            log_error(run->comparisons[i].error.message);
}

static int run_tasks(const struct tdc_argument *arguments, const tdc_tasks *tasks,
                     struct tdc_run_request *request)
{
    struct tdc_error error = {0};
    struct tdc_run run = {0};
    bool folders = tdc_tasks_get(tasks, 0)->rank[0] != '\0';
    request->tasks = tasks;
    request->skip_bad = folders;
    tdc_status status = tdc_run_all(request, &run, &error);
    int code = 0;
    if (status == TDC_ERR_NOTHING) {
        tdc_msprobe_log(NULL, TDC_MESSAGE_WARNING, error.message);
    } else if (status != TDC_OK) {
        print_failure(&error);
        /* of rank folders even the only pair may be passed over */
        code = folders && (status == TDC_ERR_MISMATCH || status == TDC_ERR_REFUSED) ? 0 : 1;
    } else {
        print_passed_over(&run);
        for (size_t i = 0; i < run.count && arguments[ARG26_TENSOR_LOG].given; i++)
            if (run.comparisons[i].table != NULL)
                print_rows(run.comparisons[i].table);
        print_results(&run);
    }
    if (status == TDC_OK && request->options.rules == TDC_RULES_SOUND)
        code = tdc_print_page(request, &run) ? code : 1;
    tdc_run_free(&run);
    return code;
}

static bool mapping_exists(const struct tdc_argument *argument)
{
    if (argument->value == NULL || tdc_is_there(argument->value))
        return true;
    char text[4200];
    snprintf(text, sizeof text, "The file path %s does not exist.", argument->value);
    log_error(text);
    return false;
}

/* Which options there are for the dumps of a framework. */
static bool settle_framework(const struct tdc_argument *arguments, bool files,
                             struct tdc_options *options)
{
    static const char pytorch_api[] = "Argument -am is not supported in PyTorch framework";
    bool api = arguments[ARG26_API_MAPPING].given;
    bool pytorch = options->framework == TDC_FRAMEWORK_PYTORCH;
    if (pytorch && api && files) {
        log_error(pytorch_api);
        return false;
    }
    options->cell_mapping = tdc_mapping_of(&arguments[ARG26_CELL_MAPPING]);
    if (pytorch) {
        const char *products = arguments[ARG26_CONFIG].value;
        options->products = products != NULL && products[0] != '\0' ? products : NULL;
        options->consistent =
            !arguments[ARG26_CONSISTENT_CHECK].given ? TDC_CONSISTENT_NONE
            : strcmp(arguments[ARG26_BACKEND].given ? arguments[ARG26_BACKEND].value : "",
                     "megatron") == 0
                ? TDC_CONSISTENT_MEGATRON
                : TDC_CONSISTENT_FSDP;
    } else {
        options->api_mapping = tdc_mapping_of(&arguments[ARG26_API_MAPPING]);
        options->layer_mapping = tdc_mapping_of(&arguments[ARG26_LAYER_MAPPING]);
    }
    static const int files_of[] = {ARG26_CELL_MAPPING, ARG26_API_MAPPING, ARG26_DATA_MAPPING,
                                   ARG26_LAYER_MAPPING, ARG26_CONFIG};
    for (size_t i = 0; i < sizeof files_of / sizeof *files_of; i++)
        if (!mapping_exists(&arguments[files_of[i]]))
            return false;
    return true;
}

static bool check_backend(const struct tdc_argument *arguments)
{
    if (!arguments[ARG26_CONSISTENT_CHECK].given || arguments[ARG26_BACKEND].given)
        return true;
    log_error("If the 'consistent_check' parameter is specified, the 'backend' parameter must be "
              "set to 'fsdp' or 'megatron'. Current 'backend' parameter is .");
    log_error("Compare failed. Please check the arguments and do it again!");
    return false;
}

static bool are_folders(const struct tdc_argument *arguments)
{
    return tdc_is_folder(arguments[ARG26_TARGET].value) &&
           tdc_is_folder(arguments[ARG26_GOLDEN].value);
}

static int compare_paths(const struct tdc_argument *arguments, struct tdc_run_request *request)
{
    tdc_tasks *tasks = NULL;
    struct tdc_error error = {0};
    bool folders = are_folders(arguments);
    if (folders && arguments[ARG26_RANK].given) {
        tdc_format format = arguments[ARG26_XLSX].given ? TDC_FORMAT_XLSX : TDC_FORMAT_CSV;
        return tdc_msprobe_kernel_ranks(
            arguments[ARG26_TARGET].value, arguments[ARG26_GOLDEN].value, request->output,
            arguments[ARG26_RANK].value, arguments[ARG26_STEP].value, format, &request->options);
    }
    tdc_status status = tdc_tasks_2026(arguments[ARG26_TARGET].value, arguments[ARG26_GOLDEN].value,
                                       &request->options, &tasks, &error);
    /* which options there are is asked before the names of the files */
    bool known = request->options.framework != TDC_FRAMEWORK_NONE;
    int code = 1;
    if (known && !settle_framework(arguments, !folders, &request->options))
        code = 1;
    else if (status != TDC_OK)
        print_failure(&error);
    else if (tdc_tasks_count(tasks) == 0)
        code = 0;
    else if (folders && arguments[ARG26_DIFF_ANALYZE].given)
        code = tdc_msprobe_first_difference(tasks, request->output, TDC_DIFFERENCE_OUTPUTS_ONLY,
                                            &request->options);
    else if (check_backend(arguments))
        code = run_tasks(arguments, tasks, request);
    tdc_tasks_free(tasks);
    return code;
}

int tdc_word26_compare(int argc, char **argv)
{
    struct tdc_argument arguments[ARG26_COUNT];
    bool helped;
    int code = tdc_compare26_words(argc - 1, argv + 1, arguments, &helped);
    if (code != 0 || helped)
        return code;
    const char *mode = arguments[ARG26_MODE].given ? arguments[ARG26_MODE].value : "auto";
    if (strcmp(mode, "atb") == 0)
        return tdc_compare26_atb(arguments);
    if (strcmp(mode, "torchair") == 0)
        return tdc_compare26_torchair(arguments);
    if (strcmp(mode, "offline_data") == 0)
        return tdc_compare26_offline(arguments);
    if (strcmp(mode, "auto") != 0) {
        log_error("mode offline_model runs a model and is not part of this program");
        return 1;
    }
    struct tdc_run_request request = {.stacks = true};
    tdc_options_init(&request.options, sizeof request.options, TDC_RULES_COMPAT26);
    request.formats = arguments[ARG26_XLSX].given ? TDC_FORMAT_XLSX : TDC_FORMAT_CSV;
    request.options.message = tdc_msprobe_log;
    if (!apply_own_arguments(arguments, &request))
        return 2;
    tdc_settle_match_options(&request.options);
    if (arguments[ARG26_FUZZY].given)
        request.options.flags |= TDC_OPTION_FUZZY;
    request.options.data_mapping = arguments[ARG26_DATA_MAPPING].value;
    if (arguments[ARG26_XLSX].given)
        request.options.flags |= TDC_OPTION_NAME_LINES;
    request.output =
        arguments[ARG26_OUTPUT].value != NULL ? arguments[ARG26_OUTPUT].value : "./output";
    return compare_paths(arguments, &request);
}
