/* graph26.c - `graph_visualize`: the graph database in the words of msprobe 26. */
#include "host/cli/msprobe/analysis_msprobe.h"
#include "host/cli/msprobe/argparse.h"
#include "host/cli/msprobe/own_arguments.h"
#include "host/cli/msprobe26/words26.h"

enum {
    ARG_TARGET,
    ARG_GOLDEN,
    ARG_OUTPUT,
    ARG_LAYER_MAPPING,
    ARG_OVERFLOW,
    ARG_FUZZY,
    ARG_TENSOR_LOG,
    ARG_PROGRESS_LOG,
    ARGUMENTS
};

int tdc_word26_graph_visualize(int argc, char **argv)
{
    static const char program[] = "tdcmp graph_visualize";
    struct tdc_argument arguments[ARGUMENTS] = {
        [ARG_TARGET] = {"-tp", "--target_path", TDC_VALUE, "TARGET_PATH",
                        "<Required> the dump to show", false, NULL, NULL, 0},
        [ARG_GOLDEN] = {"-gp", "--golden_path", TDC_VALUE, "GOLDEN_PATH",
                        "the dump to compare it with", false, NULL, NULL, 0},
        [ARG_OUTPUT] = {"-o", "--output_path", TDC_VALUE, "OUTPUT_PATH",
                        "<Required> folder of the database", false, NULL, NULL, 0},
        [ARG_LAYER_MAPPING] = {"-lm", "--layer_mapping", TDC_OPTIONAL_VALUE, "FILE",
                               "layer mapping", false, NULL, NULL, 0},
        [ARG_OVERFLOW] = {"-oc", "--overflow_check", TDC_FLAG, "",
                          "levels of NaN, infinities and leaps of the norm", false, NULL, NULL, 0},
        [ARG_FUZZY] = {"-fm", "--fuzzy_match", TDC_FLAG, "", "match shifted call numbers", false,
                       NULL, NULL, 0},
        [ARG_TENSOR_LOG] = {"-tensor_log", "--is_print_compare_log", TDC_FLAG, "",
                            "taken, without effect", false, NULL, NULL, 0},
        [ARG_PROGRESS_LOG] = {"-progress_log", "--is_print_progress_log", TDC_FLAG, "",
                              "taken, without effect", false, NULL, NULL, 0},
    };
    bool helped;
    int code = tdc_argparse(program, "-tp target/step0 -gp golden/step0 -o output", argc - 1,
                            argv + 1, arguments, ARGUMENTS, &helped);
    if (code != 0 || helped)
        return code;
    static const size_t needed[] = {ARG_TARGET, ARG_OUTPUT};
    code = tdc_argparse_require(program, arguments, ARGUMENTS, needed, 2);
    if (code != 0)
        return code;
    const struct tdc_graph_words words = {.npu = arguments[ARG_TARGET].value,
                                          .bench = arguments[ARG_GOLDEN].value,
                                          .output = arguments[ARG_OUTPUT].value,
                                          .layer_mapping =
                                              tdc_mapping_of(&arguments[ARG_LAYER_MAPPING]),
                                          .overflow = arguments[ARG_OVERFLOW].given,
                                          .fuzzy = arguments[ARG_FUZZY].given};
    return tdc_msprobe_write_graph(&words);
}
