/* compare_friendly.c - `tdcmp compare NPU BENCH`. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/shared/command.h"
#include "host/terminal/match_options.h"
#include "host/terminal/parse.h"

static const char usage[] =
    "tdcmp compare - compare two dumps of a neural network\n"
    "\n"
    "usage: tdcmp compare [OPTIONS] NPU BENCH\n"
    "\n"
    "NPU is the run under test, BENCH the reference. Each is a dump.json or debug.json, a rank or\n"
    "process folder, a step folder (all its ranks are compared) or a dump root (its steps, also\n"
    "those below graph and pynative). Two tensor files, .npy or .pt, are compared as they are.\n"
    "\n"
    "  -o, --output DIR         folder for the results (default ./output)\n"
    "  -F, --format LIST        xlsx, csv, json or several: xlsx,csv (default xlsx)\n"
    "      --step N             of dump roots: compare this step only\n" TDC_MATCH_OPTIONS_HELP
    "      --rules NAME         sound (default), compat or compat26: judge as msprobe does\n"
    "      --no-highlight       do not look for rows to colour\n"
    "      --stack FILE         call stacks to show (default: stack.json beside the NPU json)\n"
    "      --no-stack           do not show call stacks\n"
    "      --no-advice          do not write the advisor file\n"
    "      --allow-unmatched    rows and ranks without a partner do not make the exit code 1\n"
    "  -t, --threads N          number of threads (default: all processors)\n"
    "      --io HOW             how tensor files are read: auto (default: mapped when in the page\n"
    "                           cache, past it when not), mmap, pread (network file systems), "
    "direct\n"
    "      --device NAME        auto (default: an Ascend card if there is one and it is faster), "
    "cpu,\n"
    "                           ascend, ascend:0,1 or ascend:all (tdcmp devices lists them)\n"
    "      --no-fallback        what the device fails to do is an error, not work for the CPU\n"
    "  -q, --quiet              no progress, no summary\n"
    "  -h, --help               this text\n"
    "\n"
    "exit code: 0 all rows within tolerance, 1 differences found, 2 something could not be "
    "compared,\n"
    "or nothing was\n"
    "\n"
    "example: tdcmp compare npu_dump/step0 gpu_dump/step0 -o result --format xlsx,csv\n";

enum {
    OPTION_STEP = TDC_WORD_FIRST_FREE,
    OPTION_RULES,
    OPTION_NO_HIGHLIGHT,
    OPTION_STACK,
    OPTION_NO_STACK,
    OPTION_NO_ADVICE,
    OPTION_ALLOW_UNMATCHED,
    OPTION_IO,
    OPTION_DEVICE,
    OPTION_NO_FALLBACK
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"format", required_argument, NULL, 'F'},
    {"step", required_argument, NULL, OPTION_STEP},
    TDC_MATCH_LONG_OPTIONS{"rules", required_argument, NULL, OPTION_RULES},
    {"no-highlight", no_argument, NULL, OPTION_NO_HIGHLIGHT},
    {"stack", required_argument, NULL, OPTION_STACK},
    {"no-stack", no_argument, NULL, OPTION_NO_STACK},
    {"no-advice", no_argument, NULL, OPTION_NO_ADVICE},
    {"allow-unmatched", no_argument, NULL, OPTION_ALLOW_UNMATCHED},
    {"threads", required_argument, NULL, 't'},
    {"io", required_argument, NULL, OPTION_IO},
    {"device", required_argument, NULL, OPTION_DEVICE},
    {"no-fallback", no_argument, NULL, OPTION_NO_FALLBACK},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct settings {
    struct tdc_run_request request;
    int step;
    bool help;
    bool no_highlight;
};

static bool wrong(const char *option, const char *value, const char *expected)
{
    tdc_complain("%s '%s': expected %s", option, value, expected);
    return false;
}

static bool take_option(struct settings *settings, int option)
{
    struct tdc_run_request *request = &settings->request;
    switch (option) {
    case 'o':
        request->output = optarg;
        return true;
    case 'F':
        return tdc_parse_formats(optarg, &request->formats) ||
               wrong("--format", optarg, "xlsx, csv, json or several with commas");
    case OPTION_STEP:
        return tdc_parse_number(optarg, 0, &settings->step) ||
               wrong("--step", optarg, "a step number");
    case OPTION_RULES:
        return tdc_parse_rules(optarg, &request->options.rules) ||
               wrong("--rules", optarg, "sound, compat or compat26");
    case OPTION_NO_HIGHLIGHT:
        settings->no_highlight = true;
        return true;
    case OPTION_STACK:
        request->stack = optarg;
        return true;
    case OPTION_NO_STACK:
        request->stacks = false;
        return true;
    case OPTION_NO_ADVICE:
        request->advice = false;
        return true;
    case OPTION_ALLOW_UNMATCHED:
        request->allow_unmatched = true;
        return true;
    case 't':
        return tdc_parse_number(optarg, 1, &request->options.threads) ||
               wrong("--threads", optarg, "a number of threads");
    case OPTION_IO:
        return tdc_parse_io(optarg, &request->options.io) ||
               wrong("--io", optarg, "auto, mmap, pread or direct");
    case OPTION_DEVICE:
        request->options.device = optarg;
        return tdc_device_valid(optarg) ||
               wrong("--device", optarg, "auto, cpu, ascend, ascend:0,1 or ascend:all");
    case OPTION_NO_FALLBACK:
        request->options.flags |= TDC_OPTION_NO_FALLBACK;
        return true;
    case 'q':
        request->quiet = true;
        return true;
    case 'h':
        settings->help = true;
        return true;
    default:
        if (tdc_take_match_option(option, optarg, &request->options))
            return true;
        fputs("try: tdcmp compare --help\n", stderr);
        return false;
    }
}

static bool take_options(int argc, char **argv, struct settings *settings)
{
    optind = 1;
    int option;
    while ((option = getopt_long(argc, argv, "o:F:t:qh" TDC_MATCH_SHORT_OPTIONS, long_options,
                                 NULL)) != -1)
        if (!take_option(settings, option))
            return false;
    if (settings->help)
        return true;
    if (argc - optind != 2) {
        tdc_complain("compare takes two dumps, NPU and BENCH; %d given (tdcmp compare --help)",
                     argc - optind);
        return false;
    }
    if (settings->no_highlight)
        settings->request.options.flags &= ~(unsigned)TDC_OPTION_HIGHLIGHT;
    else
        settings->request.options.flags |= TDC_OPTION_HIGHLIGHT;
    tdc_settle_match_options(&settings->request.options);
    /* msprobe 26 gives none */
    settings->request.advice &= settings->request.options.rules != TDC_RULES_COMPAT26;
    return true;
}

/* Names the comparisons in which nothing could be compared. */
static void complain_of_nothing(const struct tdc_run_request *request, const struct tdc_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        struct tdc_summary summary;
        if (run->comparisons[i].table == NULL)
            continue;
        tdc_table_summary(run->comparisons[i].table, &summary, sizeof summary);
        if (tdc_summary_answer(&summary, request->allow_unmatched) == TDC_ANSWER_NONE)
            tdc_complain("%s against %s: nothing was compared", run->comparisons[i].task->npu,
                         run->comparisons[i].task->bench);
    }
}

/* Messages about how two dumps fit each other do not name them. */
static void complain_of(const struct tdc_run *run, const struct tdc_error *error)
{
    bool about_both = error->status == TDC_ERR_MISMATCH || error->status == TDC_ERR_REFUSED ||
                      error->status == TDC_ERR_NOTHING || error->status == TDC_ERR_FORMAT;
    const struct tdc_task *task = run->count != 0 ? run->comparisons[run->count - 1].task : NULL;
    if (about_both && task != NULL && strstr(error->message, task->npu) == NULL &&
        strstr(error->message, task->bench) == NULL)
        tdc_complain("%s against %s: %s", task->npu, task->bench, error->message);
    else
        tdc_complain("%s", error->message);
}

int tdc_command_compare(int argc, char **argv)
{
    struct settings settings = {.step = -1};
    struct tdc_run_request *request = &settings.request;
    tdc_options_init(&request->options, sizeof request->options, TDC_RULES_SOUND);
    struct tdc_said said = {0};
    request->options.message = tdc_print_message;
    request->options.context = &said;
    request->output = "./output";
    request->formats = TDC_FORMAT_XLSX;
    request->advice = request->stacks = request->skip_bad = true;
    if (!take_options(argc, argv, &settings))
        return TDC_EXIT_TROUBLE;
    if (settings.help) {
        fputs(usage, stdout);
        return TDC_EXIT_SAME;
    }
    tdc_tasks *tasks = NULL;
    struct tdc_error error = {0};
    struct tdc_run run = {0};
    tdc_status status = tdc_tasks_find(argv[optind], argv[optind + 1], settings.step,
                                       &request->options, &tasks, &error);
    if (status == TDC_OK) {
        request->tasks = tasks;
        status = tdc_run_all(request, &run, &error);
    }
    int code = TDC_EXIT_TROUBLE;
    if (status != TDC_OK) {
        complain_of(&run, &error);
    } else {
        struct tdc_run_answer answer;
        if (!request->quiet)
            tdc_print_page(request, &run);
        complain_of_nothing(request, &run);
        tdc_run_judge(request, &run, &answer);
        code = answer.code;
    }
    tdc_run_free(&run);
    tdc_tasks_free(tasks);
    tdc_said_free(&said);
    return code;
}
