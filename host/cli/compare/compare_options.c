#include "host/cli/compare/compare_options.h"

#include <getopt.h>
#include <stdio.h>

#include "host/cli/compare/graph_output.h"
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
    "\n" TDC_RUN_PLACE_HELP
    "  -F, --format LIST        xlsx, csv, json, jsonl, html, vis or several: xlsx,csv (default\n"
    "                           xlsx); html: a page of the whole run; vis: a graph for the\n"
    "                           TensorBoard plugin of msprobe\n" TDC_RUN_ROWS_HELP
    "      --step N             of dump roots: compare this step only\n"
    "      --token N            of graphs: compare this token only\n"
    "      --top N              starts that the page shows (default 5)\n" TDC_RUN_SHOWN_HELP
    "  -V, --version            version of program and library\n"
    "  -h, --help               this text\n"
    "\n"
    "how names are matched:\n" TDC_MATCH_OPTIONS_HELP TDC_RUN_RULES_HELP "\n"
    "advanced:\n"
    "      --rules NAME         sound (default); msprobe or msprobe26: judge as msprobe does\n"
    "      --no-highlight       do not look for rows to colour\n"
    "      --stack FILE         call stacks to show (default: stack.json beside the test json)\n"
    "      --no-stack           do not show call stacks\n"
    "      --no-advice          do not write the advisor file\n" TDC_RUN_WORK_HELP
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
    OPTION_STEP = TDC_RUN_FIRST_FREE,
    OPTION_TOKEN,
    OPTION_RULES,
    OPTION_NO_HIGHLIGHT,
    OPTION_STACK,
    OPTION_NO_STACK,
    OPTION_NO_ADVICE,
    OPTION_SHARD,
    OPTION_RESTART
};

static const struct option long_options[] = {
    TDC_RUN_LONG_OPTIONS TDC_MATCH_LONG_OPTIONS{"step", required_argument, NULL, OPTION_STEP},
    {"token", required_argument, NULL, OPTION_TOKEN},
    {"version", no_argument, NULL, 'V'},
    {"rules", required_argument, NULL, OPTION_RULES},
    {"no-highlight", no_argument, NULL, OPTION_NO_HIGHLIGHT},
    {"stack", required_argument, NULL, OPTION_STACK},
    {"no-stack", no_argument, NULL, OPTION_NO_STACK},
    {"no-advice", no_argument, NULL, OPTION_NO_ADVICE},
    TDC_SHARE_LONG_OPTIONS(OPTION_SHARD, OPTION_RESTART),
    {NULL, 0, NULL, 0},
};

/* The formats of tables, and the database beside them. */
static bool take_formats(struct tdc_run_settings *run)
{
    char tables[TDC_FORMATS_ROOM];
    bool vis = tdc_take_vis(optarg, tables);
    run->vis |= vis;
    return (vis && tables[0] == '\0') ||
           tdc_parse_formats(vis ? tables : optarg, &run->request.formats) ||
           tdc_wrong_value("--format", optarg,
                           "xlsx, csv, json, jsonl, html, vis or several with commas");
}

static bool take_option(struct tdc_compare_settings *settings, int option)
{
    struct tdc_run_request *request = &settings->run.request;
    switch (option) {
    case 'F':
        return take_formats(&settings->run);
    case 'V':
        settings->version = true;
        return true;
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
    case OPTION_RESTART:
        settings->sharing.restart = true;
        return true;
    default:
        if (!tdc_take_match_option(option, optarg, &request->options))
            return tdc_take_run_option(&settings->run, option);
        return settings->mapped = true;
    }
}

/* Rules for logical tensors leave no choice of others. */
static bool check_align(const struct tdc_compare_settings *settings)
{
    if (settings->run.align.rules == NULL ||
        (settings->run.request.options.rules == TDC_RULES_SOUND && !settings->mapped))
        return true;
    tdc_complain("--align needs the rules sound, and takes no other way to match names");
    return false;
}

/* What the rules decide where no option did. */
static void settle(struct tdc_compare_settings *settings)
{
    struct tdc_run_request *request = &settings->run.request;
    if (settings->no_highlight)
        request->options.flags &= ~(unsigned)TDC_OPTION_HIGHLIGHT;
    else
        request->options.flags |= TDC_OPTION_HIGHLIGHT;
    tdc_settle_match_options(&request->options);
    settings->run.align.step = settings->step;
    /* msprobe 26 gives none */
    request->advice &= request->options.rules != TDC_RULES_COMPAT26;
}

bool tdc_take_compare_options(int argc, char **argv, struct tdc_compare_settings *settings)
{
    static const struct tdc_words words = {
        "compare", TDC_RUN_SHORT_OPTIONS "V" TDC_MATCH_SHORT_OPTIONS, long_options};
    struct tdc_run_request *request = &settings->run.request;
    *settings = (struct tdc_compare_settings){.step = -1};
    tdc_run_settings_init(&settings->run);
    request->advice = request->stacks = request->skip_bad = true;
    optind = 1;
    for (int option; (option = tdc_next_option(&words, argc, argv)) != TDC_NO_MORE_OPTIONS;) {
        bool taken = option == OPTION_SHARD
                         ? tdc_sharing_take_shard(&settings->sharing, argc, argv)
                         : option != TDC_WRONG_OPTION && take_option(settings, option);
        if (!taken || !tdc_sharing_note(&settings->sharing, long_options, option))
            return false;
    }
    if (settings->run.help || settings->version)
        return true;
    if (argc - optind != 2) {
        tdc_complain("compare takes two dumps, TEST and REF; %d given (tdcmp compare --help)",
                     argc - optind);
        return false;
    }
    settle(settings);
    return check_align(settings) && tdc_settle_run(&settings->run);
}
