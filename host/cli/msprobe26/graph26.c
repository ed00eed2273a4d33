/* graph26.c - `graph_visualize`: the graph database in the words of msprobe 26. */
#include "host/cli/msprobe/analysis_msprobe.h"
#include "host/cli/msprobe26/words26.h"

enum {
    ARG_TARGET,
    ARG_GOLDEN,
    ARG_SHARED,
    ARG_TENSOR_LOG = ARG_SHARED + TDC_GRAPH_ARGUMENTS,
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
        [ARG_TENSOR_LOG] = {"-tensor_log", "--is_print_compare_log", TDC_FLAG, "",
                            "taken, without effect", false, NULL, NULL, 0},
        [ARG_PROGRESS_LOG] = {"-progress_log", "--is_print_progress_log", TDC_FLAG, "",
                              "taken, without effect", false, NULL, NULL, 0},
    };
    bool helped;
    tdc_graph_arguments("-fm", arguments + ARG_SHARED);
    int code = tdc_argparse(program, "-tp target/step0 -gp golden/step0 -o output", argc - 1,
                            argv + 1, arguments, ARGUMENTS, &helped);
    if (code != 0 || helped)
        return code;
    static const size_t needed[] = {ARG_TARGET, ARG_SHARED + TDC_GRAPH_OUTPUT};
    code = tdc_argparse_require(program, arguments, ARGUMENTS, needed, 2);
    if (code != 0)
        return code;
    return tdc_msprobe_write_graph(arguments[ARG_TARGET].value, arguments[ARG_GOLDEN].value,
                                   arguments + ARG_SHARED);
}
