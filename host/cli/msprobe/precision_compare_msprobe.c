#include "host/cli/msprobe/precision_compare_msprobe.h"

#include <stdio.h>
#include <string.h>

#include "host/cli/msprobe/argparse.h"
#include "host/cli/msprobe/input_path.h"
#include "host/cli/shared/command.h"
#include "host/cli/msprobe/msprobe_log.h"

enum {
    ARG_NPU,
    ARG_GPU,
    ARG_OUT_PATH,
    ARGUMENTS
};

int tdc_precision_compare_words(const char *program, tdc_rules_id rules, int argc, char **argv)
{
    struct tdc_argument arguments[ARGUMENTS] = {
        [ARG_NPU] = {"-npu", "--npu_csv_path", TDC_VALUE, "NPU_CSV_PATH",
                     "<Required> accuracy_checking_details_*.csv of the device", false, NULL, NULL,
                     0},
        [ARG_GPU] = {"-gpu", "--gpu_csv_path", TDC_VALUE, "GPU_CSV_PATH",
                     "<Required> accuracy_checking_details_*.csv of the GPU", false, NULL, NULL, 0},
        [ARG_OUT_PATH] = {"-o", "--out_path", TDC_VALUE, "OUT_PATH",
                          "folder of the result files, default ./", false, NULL, NULL, 0},
    };
    bool helped;
    int code = tdc_argparse(program, "-npu npu_details.csv -gpu gpu_details.csv -o output", argc,
                            argv, arguments, ARGUMENTS, &helped);
    if (code != 0 || helped)
        return code;
    static const size_t needed[] = {ARG_NPU, ARG_GPU};
    code = tdc_argparse_require(program, arguments, ARGUMENTS, needed, 2);
    if (code != 0)
        return code;
    if (rules == TDC_RULES_COMPAT26 &&
        (!tdc_msprobe_input(arguments[ARG_NPU].value, false, ".csv") ||
         !tdc_msprobe_input(arguments[ARG_GPU].value, false, ".csv")))
        return 1;
    const char *folder = arguments[ARG_OUT_PATH].value;
    struct tdc_error error = {0};
    tdc_status status = tdc_precision_compare(arguments[ARG_NPU].value, arguments[ARG_GPU].value,
                                              folder != NULL && folder[0] != '\0' ? folder : ".",
                                              rules, tdc_msprobe_log, NULL, &error);
    if (status != TDC_OK)
        tdc_msprobe_log(NULL, TDC_MESSAGE_ERROR, error.message);
    return status == TDC_OK ? 0 : 1;
}

int tdc_msprobe_precision_compare(int argc, char **argv)
{
    return tdc_precision_compare_words("tdcmp -f pytorch api_precision_compare", TDC_RULES_COMPAT,
                                       argc, argv);
}
