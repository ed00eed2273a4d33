/* merge_msprobe.c - `merge_result -i DIR -o DIR -config FILE`. */
#include "host/cli/msprobe/analysis_msprobe.h"
#include "host/cli/msprobe/argparse.h"
#include "host/cli/msprobe/msprobe_log.h"

enum {
    ARG_INPUT,
    ARG_OUTPUT,
    ARG_CONFIG,
    ARGUMENTS
};

int tdc_msprobe_merge(const char *program, int argc, char **argv)
{
    struct tdc_argument arguments[ARGUMENTS] = {
        [ARG_INPUT] = {"-i", "--input_dir", TDC_VALUE, "INPUT_DIR",
                       "<Required> folder with the compare results of the ranks", false, NULL, NULL,
                       0},
        [ARG_OUTPUT] = {"-o", "--output_dir", TDC_VALUE, "OUTPUT_DIR",
                        "<Required> folder of the result", false, NULL, NULL, 0},
        [ARG_CONFIG] = {"-config", "--config-path", TDC_VALUE, "CONFIG_PATH",
                        "<Required> yaml file with the APIs and metrics to merge", false, NULL,
                        NULL, 0},
    };
    bool helped;
    int code = tdc_argparse(program, "-i output -o merged -config config.yaml", argc, argv,
                            arguments, ARGUMENTS, &helped);
    if (code != 0 || helped)
        return code;
    static const size_t needed[] = {ARG_INPUT, ARG_OUTPUT, ARG_CONFIG};
    code = tdc_argparse_require(program, arguments, ARGUMENTS, needed, ARGUMENTS);
    if (code != 0)
        return code;
    struct tdc_options options;
    tdc_options_init(&options, sizeof options, TDC_RULES_COMPAT);
    options.message = tdc_msprobe_log;
    struct tdc_error error = {0};
    tdc_status status = tdc_results_merge(arguments[ARG_INPUT].value, arguments[ARG_OUTPUT].value,
                                          arguments[ARG_CONFIG].value, 0, &options, &error);
    if (status != TDC_OK)
        tdc_msprobe_log(NULL, status == TDC_ERR_NOTHING ? TDC_MESSAGE_WARNING : TDC_MESSAGE_ERROR,
                        error.message);
    return status == TDC_OK ? 0 : 1;
}
