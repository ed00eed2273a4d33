/* overflow_msprobe.c - `nan_analyze -i STEP [-o DIR]`, which msprobe 26 calls overflow_check. */
#include "host/cli/msprobe/argparse.h"
#include "host/cli/msprobe/analysis_msprobe.h"
#include "host/cli/msprobe/msprobe_log.h"

#include <stdio.h>

enum {
    ARG_INPUT,
    ARG_OUTPUT,
    ARGUMENTS
};

int tdc_msprobe_overflow(const char *program, int argc, char **argv)
{
    struct tdc_argument arguments[ARGUMENTS] = {
        [ARG_INPUT] = {"-i", "--input_path", TDC_VALUE, "INPUT_PATH",
                       "<Required> the step folder of a dump, with its ranks", false, NULL, NULL,
                       0},
        [ARG_OUTPUT] = {"-o", "--output_path", TDC_VALUE, "OUTPUT_PATH",
                        "folder of the result, default ./output", false, NULL, NULL, 0},
    };
    bool helped;
    int code =
        tdc_argparse(program, "-i dump/step0 -o output", argc, argv, arguments, ARGUMENTS, &helped);
    if (code != 0 || helped)
        return code;
    static const size_t needed[] = {ARG_INPUT};
    code = tdc_argparse_require(program, arguments, ARGUMENTS, needed, 1);
    if (code != 0)
        return code;
    struct tdc_options options;
    tdc_options_init(&options, sizeof options, TDC_RULES_COMPAT);
    options.message = tdc_msprobe_log;
    tdc_beginning *beginning;
    struct tdc_error error = {0};
    const char *output = arguments[ARG_OUTPUT].given ? arguments[ARG_OUTPUT].value : "./output";
    tdc_status status =
        tdc_overflow_find(arguments[ARG_INPUT].value, output, &options, &beginning, &error);
    if (status != TDC_OK) {
        tdc_msprobe_log(NULL, TDC_MESSAGE_ERROR, error.message);
        return 1;
    }
    tdc_msprobe_saved(tdc_beginning_file(beginning),
                      "Cannot find any anomaly node, no need to generate analyze file.");
    tdc_beginning_free(beginning);
    return 0;
}
