/* compare_msprobe.c - `tdcmp -f pytorch compare -i compare.json`: msprobe's words, files and exit
 * codes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/msprobe/analysis_msprobe.h"
#include "host/cli/msprobe/argparse.h"
#include "host/cli/shared/command.h"
#include "host/cli/msprobe/config_file.h"
#include "host/cli/msprobe/kernel_msprobe.h"
#include "host/cli/msprobe/own_arguments.h"
#include "host/terminal/match_options.h"
#include "host/terminal/parse.h"
#include "io/storage/looking.h"

/* compare.json is written by hand: a few lines. */

enum {
    ARG_INPUT,
    ARG_OUTPUT,
    ARG_STACK,
    ARG_COMPARE_ONLY,
    ARG_FUZZY,
    ARG_HIGHLIGHT,
    ARG_CELL_MAPPING,
    ARG_API_MAPPING,
    ARG_DATA_MAPPING,
    ARG_LAYER_MAPPING,
    ARG_DIFF_ANALYZE,
    /* ours, absent from msprobe */
    ARG_RULES,
    ARG_FORMAT,
    ARG_THREADS,
    ARG_DEVICE,
    ARG_NO_FALLBACK,
    ARG_NAN_IS_DIFF,
    ARGUMENTS
};

static const struct tdc_argument arguments_template[ARGUMENTS] = {
    [ARG_INPUT] = {"-i", "--input_path", TDC_VALUE, "INPUT_PATH",
                   "<Required> compare.json with npu_path and bench_path", false, NULL, NULL, 0},
    [ARG_OUTPUT] = {"-o", "--output_path", TDC_OPTIONAL_VALUE, "OUTPUT_PATH",
                    "folder for the results, default ./output", false, NULL, NULL, 0},
    [ARG_STACK] = {"-s", "--stack_mode", TDC_FLAG, "", "show stack_path's call stacks", false, NULL,
                   NULL, 0},
    [ARG_COMPARE_ONLY] = {"-c", "--compare_only", TDC_FLAG, "", "no advisor file", false, NULL,
                          NULL, 0},
    [ARG_FUZZY] = {"-f", "--fuzzy_match", TDC_FLAG, "", "match shifted call numbers", false, NULL,
                   NULL, 0},
    [ARG_HIGHLIGHT] = {"-hl", "--highlight", TDC_FLAG, "", "colour suspicious rows", false, NULL,
                       NULL, 0},
    [ARG_CELL_MAPPING] = {"-cm", "--cell_mapping", TDC_OPTIONAL_VALUE, "FILE",
                          "cell mapping (mindspore)", false, NULL, NULL, 0},
    [ARG_API_MAPPING] = {"-am", "--api_mapping", TDC_OPTIONAL_VALUE, "FILE",
                         "api mapping (mindspore)", false, NULL, NULL, 0},
    [ARG_DATA_MAPPING] = {"-dm", "--data_mapping", TDC_VALUE, "FILE",
                          "yaml of `NPU row name: bench row name`", false, NULL, NULL, 0},
    [ARG_LAYER_MAPPING] = {"-lm", "--layer_mapping", TDC_OPTIONAL_VALUE, "FILE",
                           "layer mapping (mindspore)", false, NULL, NULL, 0},
    [ARG_DIFF_ANALYZE] = {"-da", "--diff_analyze", TDC_FLAG, "", "first-difference search", false,
                          NULL, NULL, 0},
    [ARG_RULES] = {"--rules", "--rules", TDC_VALUE, "NAME", "msprobe (default), msprobe26 or sound",
                   false, NULL, NULL, 0},
    [ARG_FORMAT] = {"--format", "--format", TDC_VALUE, "LIST", "xlsx (default), csv, json", false,
                    NULL, NULL, 0},
    [ARG_THREADS] = {"--threads", "--threads", TDC_VALUE, "N", "number of threads", false, NULL,
                     NULL, 0},
    [ARG_DEVICE] = {"--device", "--device", TDC_VALUE, "NAME",
                    "auto, cpu, gpu, ascend, cuda, opencl, cuda:0,1 or cuda:all", false, NULL, NULL,
                    0},
    [ARG_NO_FALLBACK] = {"--no-fallback", "--no-fallback", TDC_FLAG, "",
                         "what the device fails to do is an error", false, NULL, NULL, 0},
    [ARG_NAN_IS_DIFF] = {"--nan-is-diff", "--nan-is-diff", TDC_FLAG, "",
                         "-da: a NaN on one side alone is a difference", false, NULL, NULL, 0},
};

static void log_error(const char *text)
{
    fprintf(stderr, "[ERROR] %s\n", tdc_shown(text));
}

static void log_message(void *context, tdc_message_level level, const char *text)
{
    if (tdc_said_before(context, text))
        return;
    static const char *const labels[] = {[TDC_MESSAGE_INFO] = "INFO",
                                         [TDC_MESSAGE_WARNING] = "WARNING",
                                         [TDC_MESSAGE_ERROR] = "ERROR"};
    fprintf(stderr, "[%s] ", labels[level]);
    tdc_show(stderr, text);
    fputc('\n', stderr);
}

/* ---- compare.json ---------------------------------------------------------------------------- */

static bool load_config(const char *path, struct tdc_config_file *config)
{
    if (!tdc_config_file_read(path, config))
        return false;
    if (config->root->kind == TDC_JSON_OBJECT)
        return true;
    log_error("input_param should be dict, please check!");
    tdc_config_file_free(config);
    return false;
}

/* A non-empty text member, NULL if there is none. */
static const char *text_member(const struct tdc_json *config, const char *name)
{
    const struct tdc_json *member = tdc_json_get(config, name);
    return member != NULL && member->kind == TDC_JSON_STRING && member->length > 0 ? member->text
                                                                                   : NULL;
}

static bool check_config(const struct tdc_json *config)
{
    static const char *const required[] = {"npu_path", "bench_path"};
    for (size_t i = 0; i < 2; i++) {
        if (text_member(config, required[i]) != NULL)
            continue;
        fprintf(stderr, "[ERROR] Missing %s in input configuration file, please check!\n",
                required[i]);
        return false;
    }
    const struct tdc_json *log = tdc_json_get(config, "is_print_compare_log");
    if (log != NULL && log->kind != TDC_JSON_TRUE && log->kind != TDC_JSON_FALSE) {
        log_error("Invalid input parameter, is_print_compare_log which should be only bool type.");
        log_error("Compare failed. Please check the arguments and do it again!");
        return false;
    }
    return true;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Failures of the preparation carry a second line in the original. */
static void print_failure(const struct tdc_error *error)
{
    log_error(error->message);
    if (error->status == TDC_ERR_MISMATCH || error->status == TDC_ERR_FORMAT)
        log_error("Compare failed. Please check the arguments and do it again!");
}

static void print_items(const struct tdc_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        const struct tdc_run_comparison *comparison = &run->comparisons[i];
        if (comparison->table == NULL)
            fprintf(stderr, "[ERROR] %s%s%s\n", tdc_shown(comparison->task->rank),
                    comparison->task->rank[0] != '\0' ? ": " : "",
                    tdc_shown(comparison->error.message));
        for (size_t k = 0; k < comparison->file_count; k++)
            fprintf(stderr, "[INFO] %s\n", tdc_shown(comparison->files[k]));
    }
}

/* With stack_path in compare.json the column needs -s; without it stack.json beside the dump
 * decides. */
static bool choose_stacks(const struct tdc_json *config, const struct tdc_argument *arguments,
                          bool files, struct tdc_run_request *request)
{
    const struct tdc_json *stack_path = tdc_json_get(config, "stack_path");
    request->stacks = true;
    if (stack_path == NULL || !files)
        return true;
    request->stacks = false;
    if (!arguments[ARG_STACK].given)
        return true;
    request->stack = text_member(config, "stack_path");
    if (request->stack == NULL) {
        log_error("stack_path is not a path");
        return false;
    }
    return true;
}

static int compare_config(const struct tdc_json *config, const struct tdc_argument *arguments,
                          struct tdc_run_request *request)
{
    tdc_tasks *tasks = NULL;
    struct tdc_error error = {0};
    struct tdc_run run = {0};
    const char *npu = text_member(config, "npu_path"), *bench = text_member(config, "bench_path");
    bool two_folders = tdc_is_folder(npu) && tdc_is_folder(bench);
    int kernel_code;
    if (two_folders && tdc_msprobe_kernel_dumps(config, npu, bench, request->output,
                                                &request->options, &kernel_code))
        return kernel_code;
    tdc_status status = tdc_tasks_strict(npu, bench, &tasks, &error);
    if (two_folders && arguments[ARG_DIFF_ANALYZE].given) {
        unsigned flags = arguments[ARG_NAN_IS_DIFF].given ? TDC_DIFFERENCE_NAN : 0;
        int code = status == TDC_OK ? tdc_msprobe_first_difference(tasks, request->output, flags,
                                                                   &request->options)
                                    : 1;
        if (status != TDC_OK)
            print_failure(&error);
        tdc_tasks_free(tasks);
        return code;
    }
    bool folders = status == TDC_OK && tdc_tasks_get(tasks, 0)->rank[0] != '\0';
    if (status == TDC_OK && !choose_stacks(config, arguments, !folders, request))
        status = error.status = TDC_ERR_ARGUMENT;
    if (status == TDC_OK) {
        request->tasks = tasks;
        request->skip_bad = folders;
        status = tdc_run_all(request, &run, &error);
    }
    int code = 0;
    if (status == TDC_ERR_NOTHING) {
        fprintf(stderr, "[WARNING] %s\n", tdc_shown(error.message));
    } else if (status != TDC_OK) {
        if (error.message[0] != '\0')
            print_failure(&error);
        /* of rank folders even the only pair may be passed over (docs/msprobe.md#ranks) */
        code = folders && (status == TDC_ERR_MISMATCH || status == TDC_ERR_REFUSED) ? 0 : 1;
    } else {
        print_items(&run);
    }
    if (status == TDC_OK && request->options.rules == TDC_RULES_SOUND)
        code = tdc_print_page(request, &run) ? code : 1;
    tdc_run_free(&run);
    tdc_tasks_free(tasks);
    return code;
}

static bool apply_own_arguments(const struct tdc_argument *arguments,
                                struct tdc_run_request *request)
{
    const struct tdc_own_arguments own = {
        .rules = &arguments[ARG_RULES],
        .format = &arguments[ARG_FORMAT],
        .threads = &arguments[ARG_THREADS],
        .device = &arguments[ARG_DEVICE],
        .no_fallback = &arguments[ARG_NO_FALLBACK],
    };
    return tdc_apply_own_arguments(&own, request);
}

static int compare(int argc, char **argv, bool pytorch)
{
    struct tdc_argument arguments[ARGUMENTS];
    memcpy(arguments, arguments_template, sizeof arguments);
    char program[64];
    snprintf(program, sizeof program, "tdcmp -f %s compare", pytorch ? "pytorch" : "mindspore");
    bool helped;
    int code = tdc_argparse(program, "-i compare.json -o output -hl", argc, argv, arguments,
                            ARGUMENTS, &helped);
    if (code != 0 || helped)
        return code;
    if (!arguments[ARG_INPUT].given) {
        fprintf(stderr, "%s: error: the following arguments are required: -i/--input_path\n",
                program);
        return 2;
    }
    if (pytorch && (arguments[ARG_CELL_MAPPING].given || arguments[ARG_API_MAPPING].given)) {
        log_error("Argument -cm or -am is not supported in PyTorch framework");
        return 1;
    }
    struct tdc_run_request request = {.formats = TDC_FORMAT_XLSX};
    tdc_options_init(&request.options, sizeof request.options, TDC_RULES_COMPAT);
    struct tdc_said said = {0};
    request.options.message = log_message;
    request.options.context = &said;
    if (!apply_own_arguments(arguments, &request))
        return 2;
    tdc_settle_match_options(&request.options);
    if (arguments[ARG_FUZZY].given)
        request.options.flags |= TDC_OPTION_FUZZY;
    if (arguments[ARG_HIGHLIGHT].given || request.options.rules == TDC_RULES_SOUND)
        request.options.flags |= TDC_OPTION_HIGHLIGHT;
    request.options.data_mapping = arguments[ARG_DATA_MAPPING].value;
    request.options.framework = pytorch ? TDC_FRAMEWORK_PYTORCH : TDC_FRAMEWORK_MINDSPORE;
    if (!pytorch) {
        request.options.cell_mapping = tdc_mapping_of(&arguments[ARG_CELL_MAPPING]);
        request.options.api_mapping = tdc_mapping_of(&arguments[ARG_API_MAPPING]);
        request.options.layer_mapping = tdc_mapping_of(&arguments[ARG_LAYER_MAPPING]);
    }
    request.advice = !arguments[ARG_COMPARE_ONLY].given;
    request.output = arguments[ARG_OUTPUT].value != NULL ? arguments[ARG_OUTPUT].value : "./output";
    struct tdc_config_file config;
    if (!load_config(arguments[ARG_INPUT].value, &config))
        return 1;
    code = check_config(config.root) ? compare_config(config.root, arguments, &request) : 1;
    tdc_config_file_free(&config);
    tdc_said_free(&said);
    return code;
}

int tdc_msprobe_form(int argc, char **argv)
{
    bool help = argc >= 4 && (strcmp(argv[3], "-h") == 0 || strcmp(argv[3], "--help") == 0);
    if (argc < 4 || help) {
        printf(
            "usage: tdcmp -f {pytorch,mindspore} compare -i compare.json [options]\n"
            "       tdcmp -f {pytorch,mindspore} run_ut|multi_run_ut -api_info dump.json "
            "[options]\n"
            "       tdcmp -f {pytorch,mindspore} nan_analyze -i STEP [-o DIR]\n"
            "       tdcmp -f {pytorch,mindspore} merge_result -i DIR -o DIR -config FILE\n"
            "       tdcmp -f {pytorch,mindspore} graph -i compare.json -o DIR [-lm [FILE]] [-oc] "
            "[-f]\n"
            "       tdcmp -f pytorch compare -h lists the options\n");
        return 0;
    }
    bool pytorch = strcmp(argv[2], "pytorch") == 0;
    if (!pytorch && strcmp(argv[2], "mindspore") != 0) {
        fprintf(stderr,
                "tdcmp: error: argument -f/--framework: invalid choice: '%s' (choose from "
                "'pytorch', 'mindspore')\n",
                argv[2]);
        return 2;
    }
    if (strcmp(argv[3], "run_ut") == 0 || strcmp(argv[3], "multi_run_ut") == 0)
        return tdc_msprobe_precheck(argc - 4, argv + 4, argv[3][0] == 'm', pytorch);
    if (strcmp(argv[3], "config_check") == 0)
        return tdc_msprobe_config_check(argc - 4, argv + 4, pytorch);
    if (pytorch && strcmp(argv[3], "api_precision_compare") == 0)
        return tdc_msprobe_precision_compare(argc - 4, argv + 4);
    if (strcmp(argv[3], "nan_analyze") == 0)
        return tdc_msprobe_overflow(pytorch ? "tdcmp -f pytorch nan_analyze"
                                            : "tdcmp -f mindspore nan_analyze",
                                    argc - 4, argv + 4);
    if (strcmp(argv[3], "merge_result") == 0)
        return tdc_msprobe_merge(pytorch ? "tdcmp -f pytorch merge_result"
                                         : "tdcmp -f mindspore merge_result",
                                 argc - 4, argv + 4);
    if (strcmp(argv[3], "graph") == 0)
        return tdc_msprobe_graph(pytorch ? "tdcmp -f pytorch graph" : "tdcmp -f mindspore graph",
                                 argc - 4, argv + 4);
    if (strcmp(argv[3], "compare") != 0) {
        fprintf(stderr,
                "tdcmp: error: invalid choice: '%s' (choose from 'compare', 'run_ut', "
                "'multi_run_ut', 'nan_analyze', 'merge_result', 'config_check'%s)\n",
                argv[3], pytorch ? ", 'api_precision_compare'" : "");
        return 2;
    }
    return compare(argc - 4, argv + 4, pytorch);
}
