/* match_command.c - `tdcmp match TEST REF`: the pairing alone, because writing mappings takes
 * longest. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "host/cli/shared/command.h"
#include "host/terminal/match_options.h"
#include "host/terminal/next_option.h"
#include "host/terminal/parse.h"
#include "host/cli/match/aligned.h"
#include "host/cli/match/suggestion.h"

static const char usage[] =
    "tdcmp match - show which row of two dumps faces which\n"
    "\n"
    "usage: tdcmp match [OPTIONS] TEST REF\n"
    "\n"
    "Prints one line per row: test name, ref name, and the rule that paired them or why there is\n"
    "no partner, separated by tabs. No tensor is read.\n"
    "\n" TDC_MATCH_OPTIONS_HELP
    "      --rules NAME         sound (default); msprobe or msprobe26: match as msprobe does\n"
    "  -u, --unmatched          only rows without a partner\n"
    "      --suggest            print layer mapping lines (yaml) for names without a partner,\n"
    "                           by equal shapes and position in the network\n"
    "                           (the pairs themselves are not printed then)\n"
    "      --save FILE          write what a layer mapping found as a data mapping (yaml)\n"
    "      --step N             of dump roots: this step only\n"
    "      --align FILE         logical tensors by rules (yaml or a preset): name, shape, and "
    "which\n"
    "                           records make it on either side, or why it cannot be compared\n"
    "  -h, --help               this text\n"
    "\n"
    "exit code: 0 every row has a partner (with --suggest: always), 1 some have not, 2 the dumps\n"
    "cannot be matched\n"
    "\n"
    "example: tdcmp match ms_dump/step0/rank0 pt_dump/step0/rank0 --suggest > layers.yaml\n"
    "         tdcmp match ms_dump/step0/rank0 pt_dump/step0/rank0 --layer-mapping layers.yaml -u\n";

enum {
    OPTION_RULES = TDC_WORD_FIRST_FREE,
    OPTION_SUGGEST,
    OPTION_SAVE,
    OPTION_STEP,
    OPTION_ALIGN
};

static const struct option long_options[] = {
    TDC_MATCH_LONG_OPTIONS{"rules", required_argument, NULL, OPTION_RULES},
    {"unmatched", no_argument, NULL, 'u'},
    {"suggest", no_argument, NULL, OPTION_SUGGEST},
    {"save", required_argument, NULL, OPTION_SAVE},
    {"step", required_argument, NULL, OPTION_STEP},
    {"align", required_argument, NULL, OPTION_ALIGN},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct settings {
    struct tdc_options options;
    bool unmatched, suggest, help;
    const char *save;
    const char *align;
    bool mapped; /* an option says how names are matched */
    int step;
};

/* One run of the command. */
struct showing {
    const struct settings *settings;
    const tdc_dump *npu, *bench; /* at hand */
    size_t rows, lonely;         /* of all dumps; a dump without a counterpart counts as one */
    struct tdc_suggestion suggestion;
};

static bool take_option(struct settings *settings, int option)
{
    switch (option) {
    case OPTION_RULES:
        if (tdc_parse_rules(optarg, &settings->options.rules))
            return true;
        return tdc_wrong_value("--rules", optarg, TDC_RULES_NAMES);
    case 'u':
        settings->unmatched = true;
        return true;
    case OPTION_SUGGEST:
        settings->suggest = true;
        return true;
    case OPTION_SAVE:
        settings->save = optarg;
        return true;
    case OPTION_STEP:
        if (tdc_parse_number(optarg, 0, &settings->step))
            return true;
        return tdc_wrong_value("--step", optarg, "a step number");
    case OPTION_ALIGN:
        settings->align = optarg;
        return true;
    case 'h':
        settings->help = true;
        return true;
    default:
        return settings->mapped = tdc_take_match_option(option, optarg, &settings->options);
    }
}

/* False when out of memory. */
static bool print_pair(const struct showing *showing, tdc_match *match, size_t pair, size_t npu,
                       size_t bench)
{
    const char *reason = tdc_match_reason(match, pair);
    if (reason == NULL)
        return false;
    tdc_show(stdout, npu != TDC_NO_RECORD ? tdc_dump_record_name(showing->npu, npu) : "-");
    putchar('\t');
    tdc_show(stdout, bench != TDC_NO_RECORD ? tdc_dump_record_name(showing->bench, bench) : "-");
    putchar('\t');
    tdc_show(stdout, reason);
    putchar('\n');
    return true;
}

/* Prints the pairs; *lonely is the number of rows without a partner. */
static bool print_pairs(const struct showing *showing, tdc_match *match, size_t *lonely)
{
    const struct settings *settings = showing->settings;
    *lonely = 0;
    for (size_t i = 0; i < tdc_match_pairs(match); i++) {
        size_t npu, bench;
        tdc_match_pair(match, i, &npu, &bench);
        bool paired = npu != TDC_NO_RECORD && bench != TDC_NO_RECORD;
        *lonely += !paired;
        if (!settings->suggest && !(paired && settings->unmatched) &&
            !print_pair(showing, match, i, npu, bench))
            return false;
    }
    return true;
}

static tdc_status suggest(struct showing *showing, tdc_match *match, struct tdc_error *error)
{
    const char *lines = tdc_match_suggest(match, error);
    if (lines == NULL)
        return error->status;
    if (tdc_suggestion_add(&showing->suggestion, lines))
        return TDC_OK;
    snprintf(error->message, sizeof error->message, "out of memory for suggestions");
    return error->status = TDC_ERR_MEMORY;
}

static tdc_status show(struct showing *showing, struct tdc_error *error)
{
    const struct settings *settings = showing->settings;
    tdc_match *match = NULL;
    tdc_status status =
        tdc_match_dumps(showing->npu, showing->bench, &settings->options, &match, error);
    if (status != TDC_OK) {
        tdc_match_free(match);
        return status;
    }
    size_t lonely;
    if (!print_pairs(showing, match, &lonely)) {
        tdc_match_free(match);
        snprintf(error->message, sizeof error->message, "out of memory");
        return error->status = TDC_ERR_MEMORY;
    }
    showing->lonely += lonely;
    showing->rows += tdc_match_pairs(match);
    tdc_complain("matched by %s: %zu rows, %zu without a partner", tdc_match_method(match),
                 tdc_match_pairs(match), lonely);
    if (settings->suggest)
        status = suggest(showing, match, error);
    if (status == TDC_OK && settings->save != NULL)
        status = tdc_match_write_mapping(match, settings->save, error);
    tdc_match_free(match);
    return status;
}

static tdc_status match_task(struct showing *showing, const struct tdc_task *task,
                             struct tdc_error *error)
{
    tdc_dump *npu = NULL, *bench = NULL;
    tdc_status status = tdc_task_load(task, &npu, &bench, error);
    showing->npu = npu;
    showing->bench = bench;
    if (status == TDC_OK)
        status = show(showing, error);
    tdc_dump_free(npu);
    tdc_dump_free(bench);
    return status;
}

static tdc_status match_tasks(struct showing *showing, const tdc_tasks *tasks,
                              struct tdc_error *error)
{
    const struct settings *settings = showing->settings;
    size_t count = tdc_tasks_count(tasks);
    if (settings->save != NULL && count > 1) {
        snprintf(error->message, sizeof error->message,
                 "--save holds one mapping, and there are %zu ranks or steps to match: name one",
                 count);
        return error->status = TDC_ERR_ARGUMENT;
    }
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < count && status == TDC_OK; i++) {
        const struct tdc_task *task = tdc_tasks_get(tasks, i);
        if (count > 1 && !settings->suggest) {
            printf("# ");
            tdc_show(stdout, task->npu);
            printf(" against ");
            tdc_show(stdout, task->bench);
            printf("\n");
        }
        status = match_task(showing, task, error);
    }
    if (status == TDC_OK && settings->suggest && showing->suggestion.count == 0)
        tdc_complain("no name could be suggested");
    else if (status == TDC_OK)
        tdc_suggestion_print(&showing->suggestion);
    return status;
}

static bool take_options(int argc, char **argv, struct settings *settings)
{
    optind = 1;
    static const struct tdc_words words = {"match", "uh" TDC_MATCH_SHORT_OPTIONS, long_options};
    for (int option; (option = tdc_next_option(&words, argc, argv)) != TDC_NO_MORE_OPTIONS;)
        if (!take_option(settings, option))
            return false;
    tdc_settle_match_options(&settings->options);
    bool other = settings->options.rules != TDC_RULES_SOUND || settings->mapped ||
                 settings->suggest || settings->save != NULL;
    if (!settings->help && settings->align != NULL && other) {
        tdc_complain("--align needs the rules sound, and takes no other way to match names");
        return false;
    }
    if (settings->help || argc - optind == 2)
        return true;
    tdc_complain("match takes two dumps, TEST and REF; %d given (tdcmp match --help)",
                 argc - optind);
    return false;
}

static int run(const struct settings *settings, const char *npu, const char *bench)
{
    tdc_tasks *tasks = NULL;
    struct tdc_error error = {0};
    struct showing showing = {.settings = settings};
    tdc_status status =
        tdc_tasks_find(npu, bench, settings->step, &settings->options, &tasks, &error);
    if (status == TDC_OK) {
        showing.lonely = tdc_tasks_left_out(tasks) + tdc_tasks_empty(tasks);
        status = match_tasks(&showing, tasks, &error);
    }
    tdc_tasks_free(tasks);
    tdc_suggestion_free(&showing.suggestion);
    if (status != TDC_OK)
        tdc_complain_of_sides(npu, bench, &error);
    else if (showing.rows == 0)
        tdc_complain("there is nothing to match: neither dump has a row");
    if (status != TDC_OK || showing.rows == 0)
        return TDC_EXIT_TROUBLE;
    if (settings->suggest)
        return TDC_EXIT_SAME; /* what was asked for was done; the rows are no answer */
    return showing.lonely == 0 ? TDC_EXIT_SAME : TDC_EXIT_DIFFERENT;
}

int tdc_command_match(int argc, char **argv)
{
    struct settings settings = {.step = -1};
    tdc_options_init(&settings.options, sizeof settings.options, TDC_RULES_SOUND);
    struct tdc_said said = {0};
    settings.options.message = tdc_print_message;
    settings.options.context = &said;
    if (!take_options(argc, argv, &settings))
        return TDC_EXIT_TROUBLE;
    if (settings.help) {
        fputs(usage, stdout);
        return TDC_EXIT_SAME;
    }
    int code = settings.align != NULL
                   ? tdc_show_aligned(&settings.options, settings.align, settings.step,
                                      settings.unmatched, argv[optind], argv[optind + 1])
                   : run(&settings, argv[optind], argv[optind + 1]);
    tdc_said_free(&said);
    return code;
}
