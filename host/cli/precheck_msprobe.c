/* precheck_msprobe.c - `tdcmp -f mindspore run_ut -api_info dump.json`: msprobe's words, files and
 * exit codes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/argparse.h"
#include "host/cli/command.h"
#include "host/cli/msprobe_log.h"
#include "host/cli/parse.h"

enum {
    ARG_API_INFO,
    ARG_OUT_PATH,
    ARG_CSV_PATH,
    ARG_SAVE_ERROR_DATA,
    /* ours, absent from msprobe */
    ARG_PROFILE,
    ARG_STANDARD,
    ARG_BENCH_ROUND,
    ARG_MODE,
    ARG_MAX_ABS_ERR,
    ARG_COS,
    ARG_THREADS,
    /* multi_run_ut only */
    ARG_DEVICE,
    ARGUMENTS
};

static const struct tdc_argument arguments_template[ARGUMENTS] = {
    [ARG_API_INFO] = {"-api_info", "--api_info_file", TDC_VALUE, "API_INFO_FILE",
                      "<Required> the dump.json to check", false, NULL, NULL, 0},
    [ARG_OUT_PATH] = {"-o", "--out_path", TDC_VALUE, "OUT_PATH",
                      "folder of the result files, default ./", false, NULL, NULL, 0},
    [ARG_CSV_PATH] = {"-csv_path", "--result_csv_path", TDC_VALUE, "RESULT_CSV_PATH",
                      "accuracy_checking_result_*.csv of an interrupted run to go on with", false,
                      NULL, NULL, 0},
    [ARG_SAVE_ERROR_DATA] = {"-save_error_data", "-save_error_data", TDC_FLAG, "",
                             "keep tensors of failing calls (task statistics)", false, NULL, NULL,
                             0},
    [ARG_PROFILE] = {"--profile", "--profile", TDC_VALUE, "NAME", "compat (default) or extended",
                     false, NULL, NULL, 0},
    [ARG_STANDARD] = {"--standard", "--standard", TDC_VALUE, "NAME",
                      "cosine (default) or pytorch: a standard per API", false, NULL, NULL, 0},
    [ARG_BENCH_ROUND] = {"--bench-round", "--bench-round", TDC_VALUE, "HOW",
                         "round the reference to the tested dtype: auto (default: float16 and "
                         "bfloat16), none, tested",
                         false, NULL, NULL, 0},
    [ARG_MODE] = {"--mode", "--mode", TDC_VALUE, "MODE",
                  "tested side: auto (default), recorded, execute", false, NULL, NULL, 0},
    [ARG_MAX_ABS_ERR] = {"--max-abs-err", "--max-abs-err", TDC_VALUE, "T",
                         "pass below this MaxAbsErr, default 0.0001", false, NULL, NULL, 0},
    [ARG_COS] = {"--cos", "--cos", TDC_VALUE, "T", "pass above this Cosine, default 0.99", false,
                 NULL, NULL, 0},
    [ARG_THREADS] = {"--threads", "--threads", TDC_VALUE, "N", "number of threads", false, NULL,
                     NULL, 0},
    [ARG_DEVICE] = {"-d", "--device", TDC_VALUES, "DEVICE_ID",
                    "one lane per device: 0 1 2 3, default 0", false, NULL, NULL, 0},
};

#define HIGHEST_DEVICE 4095

static int usage_error(const char *program, const char *text)
{
    fprintf(stderr, "%s: error: %s\n", program, text);
    return 2;
}

/* Device numbers: whole, in range, all different. Returns 0, or 2 after a message. */
static int check_devices(const char *program, const struct tdc_argument *argument)
{
    static bool seen[HIGHEST_DEVICE + 1];
    memset(seen, 0, sizeof seen);
    bool twice = false;
    char text[128];
    for (int i = 0; i < argument->value_count; i++) {
        char *end;
        long number = strtol(argument->values[i], &end, 10);
        if (end == argument->values[i] || *end != '\0') {
            snprintf(text, sizeof text, "argument -d/--device: invalid int value: '%.40s'",
                     argument->values[i]);
            return usage_error(program, text);
        }
        if (number < 0 || number > HIGHEST_DEVICE) {
            snprintf(text, sizeof text,
                     "the argument 'device_id' must be in range [0, 4095], but got %ld", number);
            return usage_error(program, text);
        }
        twice |= seen[number];
        seen[number] = true;
    }
    return twice ? usage_error(program, "device id must be unique") : 0;
}

static bool harmless_folder(const char *path)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
    return path[strspn(path, allowed)] == '\0';
}

static bool apply(const struct tdc_argument *arguments, struct tdc_precheck_options *options)
{
    const struct tdc_argument *profile = &arguments[ARG_PROFILE];
    const struct tdc_argument *rounding = &arguments[ARG_BENCH_ROUND];
    const struct tdc_argument *mode = &arguments[ARG_MODE];
    const struct tdc_argument *max_abs = &arguments[ARG_MAX_ABS_ERR];
    const struct tdc_argument *cosine = &arguments[ARG_COS];
    const struct tdc_argument *threads = &arguments[ARG_THREADS];
    const struct tdc_argument *standard = &arguments[ARG_STANDARD];
    if ((standard->given && !tdc_parse_standard(standard->value, &options->standard)) ||
        (profile->given && !tdc_parse_profile(profile->value, &options->profile)) ||
        (mode->given && !tdc_parse_mode(mode->value, &options->mode)) ||
        (rounding->given && !tdc_parse_rounding(rounding->value, &options->bench_round)) ||
        (max_abs->given && !tdc_parse_real(max_abs->value, &options->max_abs_err)) ||
        (cosine->given && !tdc_parse_real(cosine->value, &options->cosine)) ||
        (threads->given && !tdc_parse_number(threads->value, 1, &options->threads))) {
        tdc_complain("wrong value for --standard, --profile, --bench-round, --mode, "
                     "--max-abs-err, --cos or --threads (-h lists them)");
        return false;
    }
    return true;
}

static void advance(void *context, uint64_t calls)
{
    tdc_progress_add(context, calls, 0);
}

static int run(const char *dump, struct tdc_precheck_options *options, bool multi)
{
    struct tdc_error error = {0};
    tdc_precheck *precheck;
    tdc_status status = tdc_precheck_open(dump, options, &precheck, &error);
    if (status == TDC_OK) {
        struct tdc_progress *progress = tdc_progress_start(multi ? "Total Progress" : "run_ut",
                                                           tdc_precheck_calls(precheck), 0, false);
        options->context = progress;
        status = tdc_precheck_run(precheck, &error);
        tdc_progress_stop(progress);
    }
    if (status != TDC_OK)
        tdc_msprobe_log(NULL, TDC_MESSAGE_ERROR, error.message);
    tdc_precheck_free(precheck);
    return status == TDC_OK ? 0 : 1;
}

int tdc_msprobe_precheck(int argc, char **argv, bool multi, bool pytorch)
{
    struct tdc_argument arguments[ARGUMENTS];
    memcpy(arguments, arguments_template, sizeof arguments);
    char program[64];
    snprintf(program, sizeof program, "tdcmp -f %s %s", pytorch ? "pytorch" : "mindspore",
             multi ? "multi_run_ut" : "run_ut");
    bool helped;
    int code = tdc_argparse(program,
                            multi ? "-api_info dump.json -o output -d 0 1 2 3"
                                  : "-api_info dump.json -o output",
                            argc, argv, arguments, multi ? ARGUMENTS : ARGUMENTS - 1, &helped);
    if (code != 0 || helped)
        return code;
    if (!arguments[ARG_API_INFO].given)
        return usage_error(program,
                           "the following arguments are required: -api_info/--api_info_file");
    code = check_devices(program, &arguments[ARG_DEVICE]);
    if (code != 0)
        return code;
    struct tdc_precheck_options options;
    tdc_precheck_options_init(&options, TDC_PROFILE_COMPAT);
    if (!apply(arguments, &options))
        return 2;
    options.any_framework = pytorch;
    options.message = tdc_msprobe_log;
    options.progress = advance;
    options.save_error_data = arguments[ARG_SAVE_ERROR_DATA].given;
    options.lanes = arguments[ARG_DEVICE].value_count;
    const char *folder = arguments[ARG_OUT_PATH].value;
    options.output = folder == NULL || folder[0] == '\0' ? "./" : folder;
    const char *resumed = arguments[ARG_CSV_PATH].value;
    options.result_csv = resumed != NULL && resumed[0] != '\0' ? resumed : NULL;
    if (!harmless_folder(options.output)) {
        tdc_complain("%s: the path contains special characters", options.output);
        return 1;
    }
    return run(arguments[ARG_API_INFO].value, &options, multi);
}
