/* graph_msprobe.c - `graph -i compare.json -o DIR`, and `graph_visualize -tp TARGET -gp GOLDEN -o
 * DIR` of msprobe 26: the graph database of the TensorBoard plugin. */
#include <stdio.h>

#include "host/cli/msprobe/analysis_msprobe.h"
#include "host/cli/msprobe/argparse.h"
#include "host/cli/msprobe/config_file.h"
#include "host/cli/msprobe/msprobe_log.h"
#include "host/cli/msprobe/own_arguments.h"

enum {
    ARG_INPUT,
    ARG_SHARED,
    ARGUMENTS = ARG_SHARED + TDC_GRAPH_ARGUMENTS
};

void tdc_graph_arguments(const char *fuzzy, struct tdc_argument arguments[TDC_GRAPH_ARGUMENTS])
{
    arguments[TDC_GRAPH_OUTPUT] = (struct tdc_argument){"-o",
                                                        "--output_path",
                                                        TDC_VALUE,
                                                        "OUTPUT_PATH",
                                                        "<Required> folder of the database",
                                                        false,
                                                        NULL,
                                                        NULL,
                                                        0};
    arguments[TDC_GRAPH_LAYER_MAPPING] = (struct tdc_argument){
        "-lm", "--layer_mapping", TDC_OPTIONAL_VALUE, "FILE", "layer mapping", false, NULL, NULL,
        0};
    arguments[TDC_GRAPH_OVERFLOW] =
        (struct tdc_argument){"-oc",
                              "--overflow_check",
                              TDC_FLAG,
                              "",
                              "levels of NaN, infinities and leaps of the norm",
                              false,
                              NULL,
                              NULL,
                              0};
    arguments[TDC_GRAPH_FUZZY] = (struct tdc_argument){
        fuzzy, "--fuzzy_match", TDC_FLAG, "", "match shifted call numbers", false, NULL, NULL, 0};
}

/* Where a database was written; other messages as they are. */
static void log_message(void *context, tdc_message_level level, const char *text)
{
    char line[4096 + 64];
    bool saved = level == TDC_MESSAGE_INFO;
    snprintf(line, sizeof line,
             "Exporting graph result successfully, the result file is saved in "
             "%.4000s",
             text);
    tdc_msprobe_log(context, level, saved ? line : text);
}

int tdc_msprobe_write_graph(const char *npu, const char *bench,
                            const struct tdc_argument arguments[TDC_GRAPH_ARGUMENTS])
{
    struct tdc_options options;
    struct tdc_error error = {0};
    struct tdc_visual visual = {0};
    tdc_tasks *tasks = NULL;
    tdc_options_init(&options, sizeof options, TDC_RULES_COMPAT);
    options.message = log_message;
    options.layer_mapping = tdc_mapping_of(&arguments[TDC_GRAPH_LAYER_MAPPING]);
    if (arguments[TDC_GRAPH_FUZZY].given)
        options.flags |= TDC_OPTION_FUZZY;
    unsigned flags = TDC_VISUAL_MSPROBE |
                     (arguments[TDC_GRAPH_OVERFLOW].given ? TDC_VISUAL_OVERFLOW : 0u) |
                     (bench == NULL ? TDC_VISUAL_ONE_SIDE : 0u);
    tdc_status status =
        tdc_tasks_find(npu, bench != NULL ? bench : npu, -1, &options, &tasks, &error);
    if (status == TDC_OK)
        status = tdc_visual_write(tasks, arguments[TDC_GRAPH_OUTPUT].value, flags, &options,
                                  &visual, sizeof visual, &error);
    if (status != TDC_OK)
        tdc_msprobe_log(NULL, TDC_MESSAGE_ERROR, error.message);
    tdc_tasks_free(tasks);
    return status == TDC_OK && visual.failed == 0 ? 0 : 1;
}

/* A text member of compare.json that is not empty; NULL without one. */
static const char *path_in(const struct tdc_json *config, const char *name)
{
    const struct tdc_json *member = tdc_json_get(config, name);
    return member != NULL && member->kind == TDC_JSON_STRING && member->length != 0 ? member->text
                                                                                    : NULL;
}

static int write_from_config(const struct tdc_json *config, const struct tdc_argument *arguments)
{
    const struct tdc_json *merge = tdc_json_get(config, "parallel_merge");
    const char *npu = path_in(config, "npu_path");
    if (npu == NULL) {
        tdc_msprobe_log(NULL, TDC_MESSAGE_ERROR, "npu_path is missing in the input file");
        return 1;
    }
    if (merge != NULL && merge->kind == TDC_JSON_OBJECT && merge->children != 0) {
        tdc_msprobe_log(NULL, TDC_MESSAGE_ERROR,
                        "graphs of several ranks are not merged (parallel_merge)");
        return 1;
    }
    return tdc_msprobe_write_graph(npu, path_in(config, "bench_path"), arguments);
}

int tdc_msprobe_graph(const char *program, int argc, char **argv)
{
    struct tdc_argument arguments[ARGUMENTS] = {
        [ARG_INPUT] = {"-i", "--input_path", TDC_VALUE, "INPUT_PATH",
                       "<Required> compare.json with npu_path, and bench_path to compare with",
                       false, NULL, NULL, 0},
    };
    bool helped;
    tdc_graph_arguments("-f", arguments + ARG_SHARED);
    int code = tdc_argparse(program, "-i compare.json -o output -oc", argc, argv, arguments,
                            ARGUMENTS, &helped);
    if (code != 0 || helped)
        return code;
    static const size_t needed[] = {ARG_INPUT, ARG_SHARED + TDC_GRAPH_OUTPUT};
    code = tdc_argparse_require(program, arguments, ARGUMENTS, needed, 2);
    if (code != 0)
        return code;
    struct tdc_config_file config;
    if (!tdc_config_file_read(arguments[ARG_INPUT].value, &config))
        return 1;
    code = write_from_config(config.root, arguments + ARG_SHARED);
    tdc_config_file_free(&config);
    return code;
}
