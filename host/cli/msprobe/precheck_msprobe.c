/* precheck_msprobe.c - `tdcmp -f mindspore run_ut -api_info dump.json`: msprobe's words, files and
 * exit codes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/msprobe/precheck_msprobe.h"

#include "host/cli/msprobe/argparse.h"
#include "host/cli/shared/command.h"
#include "host/terminal/progress.h"
#include "host/cli/msprobe/msprobe_log.h"
#include "host/terminal/parse.h"
#include "host/cli/msprobe/ut_config.h"

enum {
    ARG_API_INFO,
    ARG_OUT_PATH,
    ARG_CSV_PATH,
    ARG_SAVE_ERROR_DATA,
    ARG_JIT,
    ARG_FILTER,
    ARG_CONFIG,
    ARG_DEVICE,
    ARG_SPLITS,
    /* ours, absent from msprobe */
    ARG_PROFILE,
    ARG_STANDARD,
    ARG_BENCH_ROUND,
    ARG_MODE,
    ARG_MAX_ABS_ERR,
    ARG_COS,
    ARG_THREADS,
    ARGUMENTS
};

/* Commands that take an argument. */
enum {
    MINDSPORE = 1,
    MINDSPORE_MULTI = 2,
    PYTORCH = 4,
    PYTORCH_MULTI = 8,
    ANY_PYTORCH = PYTORCH | PYTORCH_MULTI,
    ANY = MINDSPORE | MINDSPORE_MULTI | ANY_PYTORCH
};

static const struct {
    unsigned commands;
    struct tdc_argument argument;
} known_arguments[ARGUMENTS] = {
    [ARG_API_INFO] = {ANY,
                      {"-api_info", "--api_info_file", TDC_VALUE, "API_INFO_FILE",
                       "<Required> the dump.json to check", false, NULL, NULL, 0}},
    [ARG_OUT_PATH] = {ANY,
                      {"-o", "--out_path", TDC_VALUE, "OUT_PATH",
                       "folder of the result files, default ./", false, NULL, NULL, 0}},
    [ARG_CSV_PATH] = {ANY,
                      {"-csv_path", "--result_csv_path", TDC_VALUE, "RESULT_CSV_PATH",
                       "accuracy_checking_result_*.csv of an interrupted run to go on with", false,
                       NULL, NULL, 0}},
    [ARG_SAVE_ERROR_DATA] = {ANY,
                             {"-save_error_data", "-save_error_data", TDC_FLAG, "",
                              "keep tensors of failing calls that were executed", false, NULL, NULL,
                              0}},
    [ARG_JIT] = {ANY_PYTORCH,
                 {"-j", "--jit_compile", TDC_FLAG, "",
                  "accepted for msprobe's sake: there is nothing to compile", false, NULL, NULL,
                  0}},
    [ARG_FILTER] = {ANY_PYTORCH,
                    {"-f", "--filter_api", TDC_FLAG, "",
                     "leave out calls that repeat an earlier one's arguments, but for Max and Min",
                     false, NULL, NULL, 0}},
    [ARG_CONFIG] = {ANY_PYTORCH,
                    {"-config", "--config_path", TDC_VALUE, "CONFIG_PATH",
                     "config.json: white_list, black_list and error_data_path under run_ut", false,
                     NULL, NULL, 0}},
    [ARG_DEVICE] = {MINDSPORE_MULTI | ANY_PYTORCH,
                    {"-d", "--device", TDC_VALUES, "DEVICE_ID",
                     "multi_run_ut: one lane per device: 0 1 2 3, default 0", false, NULL, NULL,
                     0}},
    [ARG_SPLITS] = {PYTORCH_MULTI,
                    {"-n", "--num_splits", TDC_VALUE, "NUM_SPLITS", "lanes, 1 to 64, default 8",
                     false, NULL, NULL, 0}},
    [ARG_PROFILE] = {ANY,
                     {"--profile", "--profile", TDC_VALUE, "NAME",
                      "compat (default) or extended: the older names of msprobe and sound", false,
                      NULL, NULL, 0}},
    [ARG_STANDARD] = {ANY,
                      {"--standard", "--standard", TDC_VALUE, "NAME",
                       "cosine (default) or pytorch: a standard per API", false, NULL, NULL, 0}},
    [ARG_BENCH_ROUND] = {ANY,
                         {"--bench-round", "--bench-round", TDC_VALUE, "HOW",
                          "round the reference to the tested dtype: auto (default: float16 and "
                          "bfloat16), none, tested",
                          false, NULL, NULL, 0}},
    [ARG_MODE] = {ANY,
                  {"--mode", "--mode", TDC_VALUE, "MODE",
                   "tested side: auto (default), recorded, execute", false, NULL, NULL, 0}},
    [ARG_MAX_ABS_ERR] = {ANY,
                         {"--max-abs-err", "--max-abs-err", TDC_VALUE, "T",
                          "pass below this MaxAbsErr, default 0.0001", false, NULL, NULL, 0}},
    [ARG_COS] = {ANY,
                 {"--cos", "--cos", TDC_VALUE, "T", "pass above this Cosine, default 0.99", false,
                  NULL, NULL, 0}},
    [ARG_THREADS] = {ANY,
                     {"--threads", "--threads", TDC_VALUE, "N", "number of threads", false, NULL,
                      NULL, 0}},
};

/* The command line: arguments of this command one after another, and where each of them is. */
struct words {
    const char *program;
    bool multi, pytorch;
    bool newest; /* the words of 26.2 */
    struct tdc_argument list[ARGUMENTS];
    size_t count;
    const struct tdc_argument *arguments[ARGUMENTS];
};

static int parse(struct words *words, int argc, char **argv, bool *helped)
{
    static const struct tdc_argument absent;
    unsigned command = words->pytorch ? (words->multi ? PYTORCH_MULTI : PYTORCH)
                                      : (words->multi ? MINDSPORE_MULTI : MINDSPORE);
    for (size_t i = 0; i < ARGUMENTS; i++) {
        words->arguments[i] = &absent;
        if ((known_arguments[i].commands & command) == 0)
            continue;
        words->arguments[i] = &words->list[words->count];
        words->list[words->count++] = known_arguments[i].argument;
    }
    return tdc_argparse(words->program,
                        words->multi ? "-api_info dump.json -o output -d 0 1 2 3"
                                     : "-api_info dump.json -o output",
                        argc, argv, words->list, words->count, helped);
}

#define HIGHEST_DEVICE 4095

static int usage_error(struct words *words, const char *text)
{
    return tdc_argparse_error(words->program, words->list, words->count, text);
}

static int not_a_number(struct words *words, const char *argument, const char *value)
{
    char text[128];
    snprintf(text, sizeof text, "argument %s: invalid int value: '%.40s'", argument, value);
    return usage_error(words, text);
}

/* Device numbers: whole, in range, all different. Returns 0, or 2 after a message. */
static int check_devices(struct words *words)
{
    const struct tdc_argument *argument = words->arguments[ARG_DEVICE];
    long wrong = 0;
    bool twice = false, outside = false;
    for (int i = 0; i < argument->value_count; i++) {
        char *end;
        long number = strtol(argument->values[i], &end, 10);
        if (end == argument->values[i] || *end != '\0')
            return not_a_number(words, "-d/--device", argument->values[i]);
        for (int k = 0; k < i; k++)
            twice |= strtol(argument->values[k], NULL, 10) == number;
        if (!outside && (number < 0 || (number > HIGHEST_DEVICE && !words->pytorch))) {
            outside = true;
            wrong = number;
        }
    }
    char text[128];
    snprintf(text, sizeof text, "the argument 'device_id' must be in range [0, 4095], but got %ld",
             wrong);
    if (words->pytorch && twice)
        return usage_error(words, "device id must be unique");
    if (outside)
        return usage_error(words,
                           words->pytorch ? "device id must be greater than or equal to 0" : text);
    return twice ? usage_error(words, "device id must be unique") : 0;
}

#define MOST_SPLITS 64

/* -n; as argparse refuses a value that is not among its choices. */
static int check_splits(struct words *words, int *splits)
{
    const struct tdc_argument *argument = words->arguments[ARG_SPLITS];
    *splits = 8;
    if (!argument->given)
        return 0;
    char *end;
    long number = strtol(argument->value, &end, 10);
    if (end == argument->value || *end != '\0')
        return not_a_number(words, "-n/--num_splits", argument->value);
    *splits = (int)number;
    if (number >= 1 && number <= MOST_SPLITS)
        return 0;
    char text[512];
    int used = snprintf(text, sizeof text,
                        "argument -n/--num_splits: invalid choice: %ld (choose from 1", number);
    for (int i = 2; i <= MOST_SPLITS; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, ", %d", i);
    snprintf(text + used, sizeof text - (size_t)used, ")");
    return usage_error(words, text);
}

static bool harmless_folder(const char *path)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
    return path[strspn(path, allowed)] == '\0';
}

static bool apply(const struct words *words, struct tdc_precheck_options *options)
{
    const struct tdc_argument *const *arguments = words->arguments;
    const struct tdc_argument *profile = arguments[ARG_PROFILE];
    const struct tdc_argument *rounding = arguments[ARG_BENCH_ROUND];
    const struct tdc_argument *mode = arguments[ARG_MODE];
    const struct tdc_argument *max_abs = arguments[ARG_MAX_ABS_ERR];
    const struct tdc_argument *cosine = arguments[ARG_COS];
    const struct tdc_argument *threads = arguments[ARG_THREADS];
    const struct tdc_argument *standard = arguments[ARG_STANDARD];
    if ((standard->given && !tdc_parse_standard(standard->value, &options->standard)) ||
        (profile->given && !tdc_parse_precheck_rules(profile->value, options)) ||
        (mode->given && !tdc_parse_tested(mode->value, &options->tested)) ||
        (rounding->given && !tdc_parse_rounding(rounding->value, &options->bench_round)) ||
        (max_abs->given && !tdc_parse_real(max_abs->value, &options->max_abs_err)) ||
        (cosine->given && !tdc_parse_real(cosine->value, &options->cosine)) ||
        (threads->given && !tdc_parse_number(threads->value, 1, &options->threads))) {
        tdc_complain("wrong value for --standard, --profile, --bench-round, --mode, "
                     "--max-abs-err, --cos or --threads (-h lists them)");
        return false;
    }
    const unsigned decided = TDC_PRECHECK_JSON | TDC_PRECHECK_CHECK_FILES;
    struct tdc_precheck_options defaults;
    tdc_precheck_options_init(&defaults, sizeof defaults, options->profile);
    options->flags = (options->flags & ~decided) | (defaults.flags & decided);
    if (max_abs->given || cosine->given)
        options->flags |= TDC_PRECHECK_THRESHOLDS;
    return true;
}

static void advance(void *context, uint64_t calls)
{
    struct tdc_progress *const *progress = context;
    tdc_progress_add(*progress, calls, 0);
}

static void say(tdc_message_level level, const char *text, const char *rest)
{
    char line[4352];
    snprintf(line, sizeof line, "%s%s", text, rest);
    tdc_msprobe_log(NULL, level, line);
}

/* What msprobe says at the end of a PyTorch run. */
static void tell_end(const struct words *words, const tdc_precheck *precheck)
{
    static const char *const texts[2][2] = {
        {"UT task result csv is saved in ", "UT task details csv is saved in "},
        {"acc_check task result csv is saved in ", "acc_check task details csv is saved in "}};
    const char *result = tdc_precheck_file(precheck, TDC_FILE_RESULT);
    const char *details = tdc_precheck_file(precheck, TDC_FILE_DETAILS);
    if (result != NULL && !words->multi)
        say(TDC_MESSAGE_INFO, texts[words->newest][0], result);
    if (details != NULL && !words->multi)
        say(TDC_MESSAGE_INFO, texts[words->newest][1], details);
    say(TDC_MESSAGE_INFO,
        words->newest ? "Successfully completed acc_check/multi_acc_check."
                      : "Successfully completed run_ut/multi_run_ut.",
        "");
    if (!words->multi)
        say(TDC_MESSAGE_INFO, words->newest ? "acc_check task completed." : "UT task completed.",
            "");
}

static int run(const struct words *words, struct tdc_precheck_options *options)
{
    struct tdc_error error = {0};
    tdc_precheck *precheck;
    struct tdc_progress *progress = NULL;
    options->context = &progress;
    bool distinct = (options->flags & TDC_PRECHECK_DISTINCT) != 0;
    if (distinct)
        say(TDC_MESSAGE_INFO, "Start filtering the api in the api_info_file.", "");
    tdc_status status =
        tdc_precheck_open(words->arguments[ARG_API_INFO]->value, options, &precheck, &error);
    if (status == TDC_OK && distinct)
        say(TDC_MESSAGE_INFO, "Finish filtering the api in the api_info_file.", "");
    if (status == TDC_OK) {
        if (words->pytorch && !words->multi)
            say(TDC_MESSAGE_INFO, words->newest ? "start acc_check test" : "start UT test", "");
        if (words->pytorch && words->multi && words->newest) {
            char lanes[16];
            snprintf(lanes, sizeof lanes, "%d processes", options->lanes);
            say(TDC_MESSAGE_INFO, "Starting parallel acc_check with ", lanes);
        }
        progress = tdc_progress_start(words->multi    ? "Total Progress"
                                      : words->newest ? "acc_check"
                                                      : "run_ut",
                                      tdc_precheck_calls(precheck), 0, false);
        status = tdc_precheck_run(precheck, &error);
        tdc_progress_stop(progress);
    }
    if (status != TDC_OK)
        tdc_msprobe_log(NULL, TDC_MESSAGE_ERROR, error.message);
    else if (words->pytorch)
        tell_end(words, precheck);
    tdc_precheck_free(precheck);
    return status == TDC_OK ? 0 : 1;
}

/* msprobe's -f pytorch takes the name of a resumed file by heart. */
static bool is_result_name(const char *path)
{
    static const char start[] = "accuracy_checking_result_";
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t length = sizeof start - 1;
    return strncmp(name, start, length) == 0 && strspn(name + length, "0123456789") == 14 &&
           strcmp(name + length + 14, ".csv") == 0;
}

static bool take_paths(const struct words *words, struct tdc_precheck_options *options)
{
    const char *folder = words->arguments[ARG_OUT_PATH]->value;
    options->output = folder == NULL || folder[0] == '\0' ? "./" : folder;
    const char *resumed = words->arguments[ARG_CSV_PATH]->value;
    options->result_csv = resumed != NULL && resumed[0] != '\0' ? resumed : NULL;
    if (!harmless_folder(options->output)) {
        tdc_complain("%s: the path contains special characters", options->output);
        return false;
    }
    if (words->pytorch && options->result_csv != NULL && !is_result_name(options->result_csv)) {
        say(TDC_MESSAGE_ERROR,
            words->newest ? "When continue acc_check, please do not modify the result csv name."
                          : "When continue run ut, please do not modify the result csv name.",
            "");
        return false;
    }
    return true;
}

static int check(const struct words *words, struct tdc_precheck_options *options)
{
    struct tdc_ut_config config = {0};
    const char *path = words->arguments[ARG_CONFIG]->value;
    int code = 1;
    if (path == NULL || path[0] == '\0' ||
        tdc_ut_config_read(path, words->newest ? "acc_check" : "run_ut", &config)) {
        options->white_list = (const char *const *)config.white_list;
        options->white_count = config.white_count;
        options->black_list = (const char *const *)config.black_list;
        options->black_count = config.black_count;
        if (words->pytorch)
            options->error_data = config.error_data_path != NULL ? config.error_data_path : ".";
        code = run(words, options);
    }
    tdc_ut_config_free(&config);
    return code;
}

/* 26.2 takes no beginnings of long options. */
static int check_whole_words(struct words *words, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        size_t length = strcspn(argv[i], "=");
        bool known = strncmp(argv[i], "--", 2) != 0 || strcmp(argv[i], "--help") == 0;
        for (size_t k = 0; k < words->count && !known; k++)
            known = strlen(words->list[k].full) == length &&
                    strncmp(words->list[k].full, argv[i], length) == 0;
        char text[512];
        snprintf(text, sizeof text, "unrecognized arguments: %.400s", argv[i]);
        if (!known)
            return usage_error(words, text);
    }
    return 0;
}

static int check_words(struct words *words, int argc, char **argv)
{
    const bool multi = words->multi, pytorch = words->pytorch;
    bool helped;
    int splits, code = parse(words, argc, argv, &helped);
    if (code == 0 && words->newest)
        code = check_whole_words(words, argc, argv);
    if (code != 0 || helped)
        return code;
    if (!words->arguments[ARG_API_INFO]->given && !pytorch)
        return usage_error(words,
                           "the following arguments are required: -api_info/--api_info_file");
    code = check_devices(words);
    if (code == 0)
        code = check_splits(words, &splits);
    if (code != 0)
        return code;
    struct tdc_precheck_options options;
    tdc_precheck_options_init(&options, sizeof options, TDC_PROFILE_COMPAT);
    if (words->newest) {
        options.flags |= TDC_PRECHECK_STANDARDS26;
        options.standard = pytorch ? TDC_STANDARD_PYTORCH : TDC_STANDARD_COSINE;
    }
    if (!apply(words, &options))
        return 2;
    options.flags &= ~(unsigned)TDC_PRECHECK_ANY_FRAMEWORK;
    if (pytorch)
        options.flags |= TDC_PRECHECK_ANY_FRAMEWORK;
    options.message = tdc_msprobe_log;
    options.progress = advance;
    if (words->arguments[ARG_SAVE_ERROR_DATA]->given)
        options.flags |= TDC_PRECHECK_KEEP_ERRORS;
    if (words->arguments[ARG_FILTER]->given)
        options.flags |= TDC_PRECHECK_DISTINCT;
    options.lanes = multi && pytorch ? splits
                    : multi          ? words->arguments[ARG_DEVICE]->value_count
                                     : 0;
    if (!take_paths(words, &options))
        return 1;
    if (!words->arguments[ARG_API_INFO]->given ||
        words->arguments[ARG_API_INFO]->value[0] == '\0') {
        say(TDC_MESSAGE_ERROR,
            words->newest ? "Please provide api_info_file for offline acc_check."
                          : "Please provide api_info_file for offline run ut.",
            "");
        return 1;
    }
    return check(words, &options);
}

int tdc_msprobe_precheck(int argc, char **argv, bool multi, bool pytorch)
{
    char program[64];
    snprintf(program, sizeof program, "tdcmp -f %s %s", pytorch ? "pytorch" : "mindspore",
             multi ? "multi_run_ut" : "run_ut");
    struct words words = {.program = program, .multi = multi, .pytorch = pytorch};
    return check_words(&words, argc, argv);
}

int tdc_precheck_words26(const char *program, int argc, char **argv, bool multi, bool pytorch)
{
    struct words words = {.program = program, .multi = multi, .pytorch = pytorch, .newest = true};
    return check_words(&words, argc, argv);
}
