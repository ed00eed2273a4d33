#include "host/cli/compare/compare_options.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "host/cli/compare/graph_output.h"
#include "host/terminal/colour.h"
#include "host/terminal/match_options.h"
#include "host/terminal/next_option.h"
#include "host/terminal/parse.h"

const char tdc_compare_usage[] =
    "tdcmp compare - compare two dumps of a neural network\n"
    "\n"
    "usage: tdcmp compare [OPTIONS] TEST REF\n"
    "\n"
    "TEST is the run under test, REF the reference. Each is a dump.json or debug.json, a rank or\n"
    "process folder, a step folder (all its ranks are compared) or a dump root (its steps, also\n"
    "those below graph and pynative). Two tensor files, .npy or .pt, are compared as they are.\n"
    "\n"
    "  -o, --output PLACE       folder for the results (default ./output); one file of a format\n"
    "                           by its ending (result.csv); - for the standard output (csv)\n"
    "  -F, --format LIST        xlsx, csv, json, jsonl, html, vis or several: xlsx,csv (default\n"
    "                           xlsx); html: a page of the whole run; vis: a graph for the\n"
    "                           TensorBoard plugin of msprobe\n"
    "      --json               the result as json on the standard output, and no page\n"
    "      --only LEVELS        write these rows only: different, or several: different,unmatched\n"
    "      --atol A             an element is within when |test - ref| <= A + R * |ref|; a row "
    "with\n"
    "      --rtol R             one beyond is different, and no other (what is not given is 0)\n"
    "      --cos C              and a row whose cosine is below C\n"
    "      --step N             of dump roots: compare this step only\n"
    "      --token N            of graphs: compare this token only\n"
    "      --top N              starts that the page shows (default 5)\n"
    "  -v, --verbose            speed and kernels too\n"
    "  -q, --quiet              no progress, no page: the paths of the results and nothing else\n"
    "      --color WHEN         auto (default: on a terminal, unless NO_COLOR is set), always, "
    "never\n"
    "  -V, --version            version of program and library\n"
    "  -h, --help               this text\n"
    "\n"
    "how names are matched:\n" TDC_MATCH_OPTIONS_HELP
    "      --align FILE         compare logical tensors by rules: runs that are laid out "
    "differently\n"
    "                           (yaml, or a preset: tdcmp align --list)\n"
    "      --series AXIS        with --align: errors along this axis too, token by token...\n"
    "      --tolerance FILE     yaml rules that judge rows in place of the usual limits\n"
    "      --truth DUMP         a third, more exact run: which side is nearer to it\n"
    "      --noise DUMP         the reference once more: differences up to its own are none\n"
    "      --allow-unmatched    rows and ranks without a partner do not make the exit code 1\n"
    "\n"
    "advanced:\n"
    "      --rules NAME         sound (default); msprobe or msprobe26: judge as msprobe does\n"
    "      --no-highlight       do not look for rows to colour\n"
    "      --stack FILE         call stacks to show (default: stack.json beside the test json)\n"
    "      --no-stack           do not show call stacks\n"
    "      --no-advice          do not write the advisor file\n"
    "  -t, --threads N          number of threads (default: all processors)\n"
    "      --io HOW             how tensor files are read: auto (default: mapped when in the page\n"
    "                           cache, past it when not), mmap, pread (network file systems), "
    "direct\n"
    "      --device NAME        auto (default: a card if there is one and it is faster), cpu,\n"
    "                           gpu, ascend, cuda, opencl, cuda:0,1 or cuda:all (tdcmp devices\n"
    "                           lists them)\n"
    "      --no-fallback        what the device fails to do is an error, not work for the CPU\n"
    "      --shard [I/N]        do share I (from 0) of N and leave a part in the folder for tdcmp\n"
    "                           merge; without numbers: those of Slurm, MPI or TDC_SHARD\n"
    "      --restart            forget what an interrupted run with the same words has done\n"
    "\n"
    "exit code: 0 all rows within tolerance, 1 differences found, 2 something could not be "
    "compared,\n"
    "or nothing was\n"
    "\n"
    "example: tdcmp compare test/step0 ref/step0 -o result --format xlsx,csv\n";

enum {
    OPTION_STEP = TDC_WORD_FIRST_FREE,
    OPTION_TOKEN,
    OPTION_RULES,
    OPTION_TOP,
    OPTION_JSON,
    OPTION_ONLY,
    OPTION_ATOL,
    OPTION_RTOL,
    OPTION_COS,
    OPTION_COLOR,
    OPTION_NO_HIGHLIGHT,
    OPTION_STACK,
    OPTION_NO_STACK,
    OPTION_NO_ADVICE,
    OPTION_ALLOW_UNMATCHED,
    OPTION_IO,
    OPTION_DEVICE,
    OPTION_NO_FALLBACK,
    OPTION_ALIGN,
    OPTION_SERIES,
    OPTION_TOLERANCE,
    OPTION_TRUTH,
    OPTION_NOISE,
    OPTION_SHARD,
    OPTION_RESTART
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"format", required_argument, NULL, 'F'},
    {"json", no_argument, NULL, OPTION_JSON},
    {"only", required_argument, NULL, OPTION_ONLY},
    {"atol", required_argument, NULL, OPTION_ATOL},
    {"rtol", required_argument, NULL, OPTION_RTOL},
    {"cos", required_argument, NULL, OPTION_COS},
    {"step", required_argument, NULL, OPTION_STEP},
    {"token", required_argument, NULL, OPTION_TOKEN},
    {"top", required_argument, NULL, OPTION_TOP},
    {"verbose", no_argument, NULL, 'v'},
    {"quiet", no_argument, NULL, 'q'},
    {"color", required_argument, NULL, OPTION_COLOR},
    {"version", no_argument, NULL, 'V'},
    {"help", no_argument, NULL, 'h'},
    TDC_MATCH_LONG_OPTIONS{"allow-unmatched", no_argument, NULL, OPTION_ALLOW_UNMATCHED},
    {"align", required_argument, NULL, OPTION_ALIGN},
    {"series", required_argument, NULL, OPTION_SERIES},
    {"rules", required_argument, NULL, OPTION_RULES},
    {"no-highlight", no_argument, NULL, OPTION_NO_HIGHLIGHT},
    {"stack", required_argument, NULL, OPTION_STACK},
    {"no-stack", no_argument, NULL, OPTION_NO_STACK},
    {"no-advice", no_argument, NULL, OPTION_NO_ADVICE},
    {"threads", required_argument, NULL, 't'},
    {"io", required_argument, NULL, OPTION_IO},
    {"device", required_argument, NULL, OPTION_DEVICE},
    {"no-fallback", no_argument, NULL, OPTION_NO_FALLBACK},
    {"tolerance", required_argument, NULL, OPTION_TOLERANCE},
    {"truth", required_argument, NULL, OPTION_TRUTH},
    {"noise", required_argument, NULL, OPTION_NOISE},
    TDC_SHARE_LONG_OPTIONS(OPTION_SHARD, OPTION_RESTART),
    {NULL, 0, NULL, 0},
};

/* What is shown on the terminal, and how much of it. */
static bool take_shown(struct tdc_compare_settings *settings, int option)
{
    struct tdc_run_request *request = &settings->request;
    switch (option) {
    case OPTION_TOP:
        return tdc_parse_number(optarg, 1, &request->top) ||
               tdc_wrong_value("--top", optarg, "a number of rows");
    case OPTION_COLOR:
        return tdc_choose_colour(optarg) ||
               tdc_wrong_value("--color", optarg, "auto, always or never");
    case 'v':
        request->verbose = true;
        return true;
    case 'q':
        request->quiet = true;
        return true;
    case 'V':
        settings->version = true;
        return true;
    case 'h':
        settings->help = true;
        return true;
    default:
        return false;
    }
}

/* How the work is done. */
static bool take_work(struct tdc_compare_settings *settings, int option)
{
    struct tdc_run_request *request = &settings->request;
    switch (option) {
    case 't':
        return tdc_parse_number(optarg, 1, &request->options.threads) ||
               tdc_wrong_value("--threads", optarg, "a number of threads");
    case OPTION_IO:
        return tdc_parse_io(optarg, &request->options.io) ||
               tdc_wrong_value("--io", optarg, "auto, mmap, pread or direct");
    case OPTION_DEVICE:
        request->options.device = optarg;
        return tdc_device_valid(optarg) ||
               tdc_wrong_value("--device", optarg,
                               "auto, cpu, gpu, ascend, cuda, opencl, cuda:0,1 or cuda:all");
    case OPTION_TOLERANCE:
        request->options.tolerance_file = optarg;
        return true;
    case OPTION_TRUTH:
        request->truth = optarg;
        return true;
    case OPTION_NOISE:
        request->noise = optarg;
        return true;
    case OPTION_RESTART:
        settings->sharing.restart = true;
        return true;
    case OPTION_NO_FALLBACK:
        request->options.flags |= TDC_OPTION_NO_FALLBACK;
        return true;
    default:
        return take_shown(settings, option);
    }
}

static bool take_limit(const char *option, double *limit, bool *used)
{
    *used = true;
    return (tdc_parse_real(optarg, limit) && *limit >= 0) ||
           tdc_wrong_value(option, optarg, "a number that is not negative");
}

/* Limits in place of those of the rules. */
static bool take_tolerance(struct tdc_compare_settings *settings, int option)
{
    struct tdc_tolerance *tolerance = &settings->request.options.tolerance;
    switch (option) {
    case OPTION_ATOL:
        return take_limit("--atol", &tolerance->atol, &tolerance->elements);
    case OPTION_RTOL:
        return take_limit("--rtol", &tolerance->rtol, &tolerance->elements);
    case OPTION_COS:
        tolerance->use_cosine = true;
        return (tdc_parse_real(optarg, &tolerance->cosine) && tolerance->cosine >= -1 &&
                tolerance->cosine <= 1) ||
               tdc_wrong_value("--cos", optarg, "a number from -1 to 1");
    default:
        return take_work(settings, option);
    }
}

static bool take_series(struct tdc_compare_settings *settings)
{
    size_t most = sizeof settings->series / sizeof *settings->series;
    if (settings->align.series_count == most)
        return tdc_wrong_value("--series", optarg, "one of up to 16 axes");
    settings->series[settings->align.series_count++] = optarg;
    return true;
}

/* The formats of tables, and the database beside them. */
static bool take_formats(struct tdc_compare_settings *settings)
{
    char tables[TDC_FORMATS_ROOM];
    bool vis = tdc_take_vis(optarg, tables);
    settings->vis |= vis;
    return (vis && tables[0] == '\0') ||
           tdc_parse_formats(vis ? tables : optarg, &settings->request.formats) ||
           tdc_wrong_value("--format", optarg,
                           "xlsx, csv, json, jsonl, html, vis or several with commas");
}

static bool take_option(struct tdc_compare_settings *settings, int option)
{
    struct tdc_run_request *request = &settings->request;
    switch (option) {
    case 'o':
        settings->output = optarg;
        return true;
    case 'F':
        return take_formats(settings);
    case OPTION_JSON:
        settings->json = true;
        return true;
    case OPTION_ONLY:
        return tdc_parse_levels(optarg, &request->only) ||
               tdc_wrong_value("--only", optarg,
                               "different, close, rounding, identical, unmatched, error, no-data, "
                               "not-judged or several with commas");
    case OPTION_STEP:
        return tdc_parse_number(optarg, 0, &settings->step) ||
               tdc_wrong_value("--step", optarg, "a step number");
    case OPTION_TOKEN:
        return tdc_parse_number(optarg, 0, &settings->step) ||
               tdc_wrong_value("--token", optarg, "the number of a token");
    case OPTION_RULES:
        return tdc_parse_rules(optarg, &request->options.rules) ||
               tdc_wrong_value("--rules", optarg, TDC_RULES_NAMES);
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
        settings->request.allow_unmatched = true;
        return true;
    case OPTION_ALIGN:
        settings->align.rules = optarg;
        return true;
    case OPTION_SERIES:
        return take_series(settings);
    default:
        if (!tdc_take_match_option(option, optarg, &request->options))
            return take_tolerance(settings, option);
        return settings->mapped = true;
    }
}

/* Rules for logical tensors leave no choice of others. */
static bool check_align(struct tdc_compare_settings *settings)
{
    struct tdc_run_request *request = &settings->request;
    if (settings->align.rules == NULL && settings->align.series_count != 0) {
        tdc_complain("--series needs --align");
        return false;
    }
    if (settings->align.rules == NULL)
        return true;
    if (request->options.rules != TDC_RULES_SOUND || settings->mapped) {
        tdc_complain("--align needs the rules sound, and takes no other way to match names");
        return false;
    }
    settings->align.step = settings->step;
    settings->align.series = settings->series;
    settings->align.truth = request->truth != NULL ? request->truth : request->noise;
    request->align = &settings->align;
    return true;
}

static bool one_format(unsigned formats)
{
    return (formats & (formats - 1)) == 0;
}

/* Where the results go, and in which format: -o is a folder, a file or "-". */
static bool settle_output(struct tdc_compare_settings *settings)
{
    struct tdc_run_request *request = &settings->request;
    const char *output = settings->output;
    unsigned formats = request->formats; /* 0: not said */
    struct stat info;
    if (settings->json)
        request->stream = TDC_FORMAT_JSON;
    if (settings->vis && output != NULL &&
        (strcmp(output, "-") == 0 || tdc_format_of_file(output) != 0)) {
        tdc_complain("--format vis writes to a folder, and -o %s is none", output);
        return false;
    }
    if (output != NULL && strcmp(output, "-") == 0) {
        if (settings->json || !one_format(formats) || formats == TDC_FORMATS_PAGE) {
            tdc_complain("-o - takes one format (--format %s)",
                         settings->json ? "or --json, not both" : "csv, say");
            return false;
        }
        request->stream = formats != 0 ? (tdc_format)formats : TDC_FORMAT_CSV;
        request->formats = 0;
        return true;
    }
    unsigned ending = output != NULL ? tdc_format_of_file(output) : 0;
    if (ending != 0 && !(stat(output, &info) == 0 && S_ISDIR(info.st_mode))) {
        if (formats != 0 && formats != ending) {
            tdc_complain("-o %s is one file of its format; --format asks for another", output);
            return false;
        }
        request->file = output;
        request->formats = ending;
        return true;
    }
    request->output = output != NULL ? output : "./output";
    if (formats == 0 && !settings->vis && (output != NULL || !settings->json))
        request->formats = TDC_FORMAT_XLSX;
    return true;
}

/* What the rules decide where no option did. */
static void settle(struct tdc_compare_settings *settings)
{
    struct tdc_run_request *request = &settings->request;
    if (settings->no_highlight)
        request->options.flags &= ~(unsigned)TDC_OPTION_HIGHLIGHT;
    else
        request->options.flags |= TDC_OPTION_HIGHLIGHT;
    tdc_settle_match_options(&request->options);
    if (request->allow_unmatched)
        request->options.flags |= TDC_OPTION_ALLOW_UNMATCHED;
    /* msprobe 26 gives none */
    request->advice &= request->options.rules != TDC_RULES_COMPAT26;
}

bool tdc_take_compare_options(int argc, char **argv, struct tdc_compare_settings *settings)
{
    static const struct tdc_words words = {"compare", "o:F:t:vqVh" TDC_MATCH_SHORT_OPTIONS,
                                           long_options};
    struct tdc_run_request *request = &settings->request;
    *settings = (struct tdc_compare_settings){.step = -1};
    tdc_options_init(&request->options, sizeof request->options, TDC_RULES_SOUND);
    tdc_align_options_init(&settings->align, sizeof settings->align);
    request->output = "./output";
    request->advice = request->stacks = request->skip_bad = request->answer_anyway = true;
    optind = 1;
    for (int option; (option = tdc_next_option(&words, argc, argv)) != TDC_NO_MORE_OPTIONS;) {
        bool taken = option == OPTION_SHARD
                         ? tdc_sharing_take_shard(&settings->sharing, argc, argv)
                         : option != TDC_WRONG_OPTION && take_option(settings, option);
        if (!taken || !tdc_sharing_note(&settings->sharing, long_options, option))
            return false;
    }
    if (settings->help || settings->version)
        return true;
    if (argc - optind != 2) {
        tdc_complain("compare takes two dumps, TEST and REF; %d given (tdcmp compare --help)",
                     argc - optind);
        return false;
    }
    settle(settings);
    return check_align(settings) && settle_output(settings);
}
