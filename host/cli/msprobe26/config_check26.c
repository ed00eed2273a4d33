/* config_check26.c - `config_check` in msprobe's words: packed configurations and checkpoints. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "host/cli/msprobe/argparse.h"
#include "host/cli/msprobe/input_path.h"
#include "host/cli/msprobe/msprobe_log.h"
#include "host/cli/msprobe26/words26.h"
#include "host/cli/shared/command.h"
#include "tdcmp.h"

enum {
    ARG_DUMP,
    ARG_COMPARE,
    ARG_VERL_COMPARE,
    ARG_VERL_VERIFY,
    ARG_SLIME_COMPARE,
    ARG_OUTPUT,
    ARGUMENTS
};

static const struct tdc_argument definitions[ARGUMENTS] = {
    [ARG_DUMP] = {"-d", "--dump", TDC_ANY_VALUES, "<FILE>",
                  "msprobe's: packs the configuration of a training; not done here", false, NULL,
                  NULL, 0},
    [ARG_COMPARE] = {"-c", "--compare", TDC_TWO_VALUES, "<FILE_OR_DIR>",
                     "Compare two zip files or checkpoints", false, NULL, NULL, 0},
    [ARG_VERL_COMPARE] = {"-vc", "--verl-compare", TDC_TWO_VALUES, "<LOG>",
                          "Compare the parameters in two verl training logs, NPU and bench", false,
                          NULL, NULL, 0},
    [ARG_VERL_VERIFY] = {"-vv", "--verl-verify", TDC_VALUES, "<FILE>",
                         "Verify the parameters of a verl training log by a yaml file, which may "
                         "come first",
                         false, NULL, NULL, 0},
    [ARG_SLIME_COMPARE] = {"-sc", "--slime-compare", TDC_TWO_VALUES, "<LOG>",
                           "Compare the parameters in two slime training logs, NPU and bench",
                           false, NULL, NULL, 0},
    [ARG_OUTPUT] = {"-o", "--output", TDC_VALUE, "<FILE_OR_DIR>",
                    "output path, default ./config_check_pack.zip, ./config_check_result, "
                    "./ckpt_similarity.json, ./verl_param_compare_result, "
                    "./verl_param_verify_result or ./slime_param_compare_result",
                    false, NULL, NULL, 0},
};

static int fail(const char *text)
{
    tdc_msprobe_log(NULL, TDC_MESSAGE_ERROR, text);
    return 1;
}

/* The output path: what was said, or the default of the work. */
static const char *output_of(const struct tdc_argument *arguments, const char *otherwise)
{
    const char *value = arguments[ARG_OUTPUT].value;
    return value != NULL && value[0] != '\0' ? value : otherwise;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* framework: of the 2025 words, else NULL */
static int compare_packs(const struct tdc_argument *arguments, const char *framework)
{
    char *const *paths = arguments[ARG_COMPARE].values;
    struct tdc_config_options options;
    tdc_config_options_init(&options, sizeof options);
    /* 26.2 has the sides of the environment exchanged; the words of 2025 mean what is right */
    options.flags = TDC_CONFIG_EXTRACT | TDC_CONFIG_NO_FORMULAS;
    if (framework == NULL)
        options.flags |= TDC_CONFIG_ENV_SWAPPED;
    options.framework = framework;
    options.message = tdc_msprobe_log;
    tdc_config_level worst;
    size_t items;
    struct tdc_error error = {0};
    tdc_msprobe_log(NULL, TDC_MESSAGE_INFO,
                    "The input paths is zip files, comparing packed config.");
    if (!tdc_msprobe_input(paths[0], false, ".zip") || !tdc_msprobe_input(paths[1], false, ".zip"))
        return 1;
    tdc_status status =
        tdc_config_compare(paths[0], paths[1], output_of(arguments, "./config_check_result"),
                           &options, &worst, &items, &error);
    return status == TDC_OK ? 0 : fail(error.message);
}

static int compare_checkpoints(const struct tdc_argument *arguments)
{
    char *const *paths = arguments[ARG_COMPARE].values;
    struct tdc_checkpoint_options options;
    tdc_checkpoint_options_init(&options, sizeof options);
    options.refuse_links = true;
    options.message = tdc_msprobe_log;
    struct tdc_checkpoint_summary summary;
    struct tdc_error error = {0};
    tdc_msprobe_log(NULL, TDC_MESSAGE_INFO, "Comparing model checkpoint.");
    const char *json = output_of(arguments, "./ckpt_similarity.json");
    if (!tdc_msprobe_input(paths[0], true, NULL) || !tdc_msprobe_input(paths[1], true, NULL) ||
        !tdc_msprobe_absent(json))
        return 1;
    tdc_status status = tdc_checkpoint_compare(paths[0], paths[1], json, &options, &summary,
                                               sizeof summary, &error);
    return status == TDC_OK ? 0 : fail(error.message);
}

static bool is_log(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL && (strcasecmp(dot, ".log") == 0 || strcasecmp(dot, ".txt") == 0);
}

static int compare_logs(const struct tdc_argument *arguments, int which, tdc_training_log kind)
{
    char *const *paths = arguments[which].values;
    bool verl = kind == TDC_LOG_VERL;
    uint64_t different;
    struct tdc_error error = {0};
    if (!is_log(paths[0]) || !is_log(paths[1]))
        return fail(verl ? "The param of verl-compare require two log files, and the file format "
                           "just support '.log' or '.txt'."
                         : "The param of slime-compare require two log files, and the file format "
                           "just support '.log' or '.txt'.");
    const char *folder =
        output_of(arguments, verl ? "./verl_param_compare_result" : "./slime_param_compare_result");
    tdc_status status = tdc_settings_compare(kind, paths[0], paths[1], folder, tdc_msprobe_log,
                                             NULL, &different, &error);
    return status == TDC_OK ? 0 : fail(error.message);
}

/* As os.path.splitext: the suffix is one of those that ".yaml" contains, "" included. */
static bool is_yaml(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash != NULL ? slash : path, '.');
    return dot == NULL || strcasecmp(dot, ".yaml") == 0;
}

/* What is wrong with the files of -vv; false when nothing is. */
static bool wrong_files(const struct tdc_argument *argument, char *text, size_t size)
{
    char *const *paths = argument->values;
    if (argument->value_count > 2)
        snprintf(text, size, "verl-verify supports up to two files, but received %d files",
                 argument->value_count);
    else if (argument->value_count == 1 && is_log(paths[0]))
        return false;
    else if (argument->value_count == 1)
        snprintf(text, size, "%s",
                 is_yaml(paths[0])
                     ? "verl-verify requires tgt_log (log or txt file) as the mandatory argument. "
                       "When providing only one file, it must be a log or txt file, not yaml."
                     : "verl-verify requires tgt_log in log or txt format. Optionally, provide "
                       "bench_config (yaml) as the first argument and tgt_log (log or txt) as the "
                       "second argument.");
    else if (is_yaml(paths[0]) && is_log(paths[1]))
        return false;
    else if (is_log(paths[0]) && is_yaml(paths[1]))
        snprintf(text, size,
                 "verl-verify parameter order error: the first argument must be bench_config (yaml "
                 "file), and the second argument must be tgt_log (log or txt file). Received "
                 "'%.1000s' as first and '%.1000s' as second.",
                 paths[0], paths[1]);
    else if (is_yaml(paths[0]))
        snprintf(text, size,
                 "verl-verify requires tgt_log (log or txt file) as the second argument when "
                 "bench_config (yaml) is provided as the first argument. Received '%.1000s' with "
                 "unsupported file extension.",
                 paths[1]);
    else if (is_log(paths[1]))
        snprintf(text, size,
                 "verl-verify requires bench_config (yaml file) as the first argument when two "
                 "files are provided. Received '%.1000s' with unsupported file extension.",
                 paths[0]);
    else
        snprintf(text, size,
                 "verl-verify requires tgt_log (log or txt file) as mandatory argument. When "
                 "providing two files, the first must be bench_config (yaml file) and the second "
                 "must be tgt_log (log or txt file).");
    return true;
}

static int verify_log(const struct tdc_argument *arguments)
{
    const struct tdc_argument *files = &arguments[ARG_VERL_VERIFY];
    char text[4096];
    uint64_t different;
    struct tdc_error error = {0};
    if (wrong_files(files, text, sizeof text))
        return fail(text);
    tdc_status status = tdc_settings_verify(files->value_count == 2 ? files->values[0] : NULL,
                                            files->values[files->value_count - 1],
                                            output_of(arguments, "./verl_param_verify_result"),
                                            tdc_msprobe_log, NULL, &different, &error);
    return status == TDC_OK ? 0 : fail(error.message);
}

static int config_check(const char *program, const char *framework, int argc, char **argv)
{
    struct tdc_argument arguments[ARGUMENTS];
    memcpy(arguments, definitions, sizeof arguments);
    bool helped;
    int code = tdc_argparse(program, "-c bench.zip cmp.zip -o output", argc, argv, arguments,
                            ARGUMENTS, &helped);
    if (code == 0 && !helped)
        code = tdc_argparse_exclusive(program, arguments, ARGUMENTS, ARG_DUMP, ARG_SLIME_COMPARE);
    if (code != 0 || helped)
        return code;
    if (arguments[ARG_DUMP].given)
        return fail("config_check -d packs what a Python training was started with, its packages "
                    "and its model: that is msprobe's. tdcmp compares the packs (-c).");
    if (arguments[ARG_COMPARE].given)
        return ends_with(arguments[ARG_COMPARE].value, "zip") ? compare_packs(arguments, framework)
                                                              : compare_checkpoints(arguments);
    if (arguments[ARG_VERL_COMPARE].given)
        return compare_logs(arguments, ARG_VERL_COMPARE, TDC_LOG_VERL);
    if (arguments[ARG_SLIME_COMPARE].given)
        return compare_logs(arguments, ARG_SLIME_COMPARE, TDC_LOG_SLIME);
    if (arguments[ARG_VERL_VERIFY].given)
        return verify_log(arguments);
    return fail("The param is not correct, you need to give '-d' for dump or '-c' for compare "
                "or '-vc' for verl compare or '-vv' for verl verify or '-sc' for slime compare.");
}

int tdc_word26_config_check(int argc, char **argv)
{
    if (argc > 1 && argv[1][0] != '-')
        return tdc_command_config_check(argc, argv);
    return config_check("tdcmp config_check", NULL, argc - 1, argv + 1);
}

int tdc_msprobe_config_check(int argc, char **argv, bool pytorch)
{
    return config_check(pytorch ? "tdcmp -f pytorch config_check"
                                : "tdcmp -f mindspore config_check",
                        pytorch ? "pytorch" : "mindspore", argc, argv);
}
