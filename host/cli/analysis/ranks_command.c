/* ranks_command.c - `tdcmp ranks STEP`: which rank deviates first from those it replicates. */
#include <getopt.h>
#include <stdio.h>

#include "host/cli/analysis/json_report.h"
#include "host/cli/shared/command.h"
#include "host/terminal/next_option.h"
#include "host/terminal/parse.h"

static const char usage[] =
    "tdcmp ranks - what must be equal on all ranks of a group, is it?\n"
    "\n"
    "usage: tdcmp ranks [OPTIONS] STEP\n"
    "\n"
    "STEP is a step folder with its ranks, or a dump root with one step. Parameters of ranks that\n"
    "are replicas of each other, and outputs of all-reduce, all-gather and broadcast in their\n"
    "groups are compared: by their files, else by checksums or statistics.\n"
    "\n"
    "      --json               the result as json on stdout\n"
    "      --top N              tensors shown (default 10)\n"
    "  -t, --threads N          number of threads (default: all processors)\n"
    "  -h, --help               this text\n"
    "\n"
    "exit code: 0 all equal, 1 some rank deviates, 2 nothing could be compared, or not all of it\n"
    "\n"
    "example: tdcmp ranks test/step0\n";

enum {
    OPTION_JSON = 256,
    OPTION_TOP
};

static const struct option long_options[] = {
    {"json", no_argument, NULL, OPTION_JSON},
    {"top", required_argument, NULL, OPTION_TOP},
    {"threads", required_argument, NULL, 't'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct settings {
    struct tdc_options options;
    int top;
    bool json, help;
};

static bool take_option(struct settings *settings, int option)
{
    switch (option) {
    case OPTION_JSON:
        settings->json = true;
        return true;
    case OPTION_TOP:
        if (tdc_parse_number(optarg, 0, &settings->top))
            return true;
        return tdc_wrong_value("--top", optarg, "a number");
    case 't':
        if (tdc_parse_number(optarg, 1, &settings->options.threads))
            return true;
        return tdc_wrong_value("--threads", optarg, "a number of threads");
    case 'h':
        settings->help = true;
        return true;
    default:
        return false;
    }
}

static const char *kind_of(const struct tdc_rank_deviation *deviation)
{
    return deviation->kind == TDC_SHARED_PARAMETER ? "parameter" : "collective";
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_groups(const tdc_ranks *ranks)
{
    size_t count = tdc_ranks_groups(ranks);
    const size_t most = 8;
    printf("ranks with the same parameters:");
    for (size_t i = 0; i < count && i < most; i++)
        printf("%s %s", i != 0 ? " |" : "", tdc_ranks_group(ranks, i));
    if (count > most)
        printf(" | and %zu more", count - most);
    printf("\n");
}

static void print_remarks(const struct tdc_ranks_counts *counts)
{
    if (counts->unshared != 0)
        printf("%llu parameters are on one rank of their group alone\n",
               (unsigned long long)counts->unshared);
    if (counts->async != 0)
        printf("%llu calls had not ended when their output was recorded: not compared\n",
               (unsigned long long)counts->async);
    if (counts->no_value != 0)
        printf("%llu tensors have neither data nor statistics\n",
               (unsigned long long)counts->no_value);
    if (counts->unreadable != 0)
        printf("%llu files could not be read (tdcmp inspect names them)\n",
               (unsigned long long)counts->unreadable);
}

static void print_text(const tdc_ranks *ranks, const struct tdc_ranks_counts *counts, int top)
{
    size_t count = tdc_ranks_deviations(ranks);
    printf("%s   %llu ranks share %llu parameters and %llu outputs of collectives",
           count != 0 ? "DIFFERENT" : "EQUAL", (unsigned long long)counts->ranks,
           (unsigned long long)counts->parameters, (unsigned long long)counts->collectives);
    printf(count != 0 ? "; %zu deviate\n" : "\n", count);
    print_groups(ranks);
    for (size_t i = 0; i < count && i < (size_t)top; i++) {
        const struct tdc_rank_deviation *deviation = tdc_ranks_deviation(ranks, i);
        printf("%s%s\n    %s of ranks %s, another on %s", i == 0 ? "first: " : "       ",
               tdc_shown(deviation->name), kind_of(deviation), deviation->ranks,
               deviation->deviating);
        if (deviation->parts > 2)
            printf(" (%u different ones)", deviation->parts);
        printf("\n");
    }
    if (count > (size_t)top)
        printf("and %zu more\n", count - (size_t)top);
    print_remarks(counts);
}

/* ---- json ------------------------------------------------------------------------------------ */

static void add_counts(struct tdc_json_report *json, const struct tdc_ranks_counts *counts)
{
    tdc_json_report_open(json, "counts", '{');
    tdc_json_report_number(json, "ranks", counts->ranks);
    tdc_json_report_number(json, "parameters", counts->parameters);
    tdc_json_report_number(json, "collectives", counts->collectives);
    tdc_json_report_number(json, "unshared", counts->unshared);
    tdc_json_report_number(json, "unreadable", counts->unreadable);
    tdc_json_report_number(json, "async", counts->async);
    tdc_json_report_number(json, "no_value", counts->no_value);
    tdc_json_report_close(json, '}');
}

static void add_deviations(struct tdc_json_report *json, const tdc_ranks *ranks)
{
    tdc_json_report_open(json, "deviations", '[');
    for (size_t i = 0; i < tdc_ranks_deviations(ranks); i++) {
        const struct tdc_rank_deviation *deviation = tdc_ranks_deviation(ranks, i);
        tdc_json_report_open(json, NULL, '{');
        tdc_json_report_text(json, "kind", kind_of(deviation));
        tdc_json_report_text(json, "name", deviation->name);
        tdc_json_report_text(json, "ranks", deviation->ranks);
        tdc_json_report_text(json, "deviating", deviation->deviating);
        tdc_json_report_number(json, "first", (uint64_t)deviation->first);
        tdc_json_report_number(json, "parts", deviation->parts);
        tdc_json_report_close(json, '}');
    }
    tdc_json_report_close(json, ']');
}

static bool print_json(const char *step, const tdc_ranks *ranks,
                       const struct tdc_ranks_counts *counts)
{
    struct tdc_json_report json;
    tdc_json_report_start(&json, "tdcmp.ranks/1");
    tdc_json_report_text(&json, "step", step);
    add_counts(&json, counts);
    tdc_json_report_open(&json, "groups", '[');
    for (size_t i = 0; i < tdc_ranks_groups(ranks); i++)
        tdc_json_report_text(&json, NULL, tdc_ranks_group(ranks, i));
    tdc_json_report_close(&json, ']');
    add_deviations(&json, ranks);
    return tdc_json_report_print(&json);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int check(const struct settings *settings, const char *step)
{
    tdc_ranks *ranks;
    struct tdc_error error = {0};
    if (tdc_ranks_check(step, &settings->options, &ranks, &error) != TDC_OK) {
        tdc_complain("%s", error.message);
        return TDC_EXIT_TROUBLE;
    }
    struct tdc_ranks_counts counts;
    tdc_ranks_counts(ranks, &counts, sizeof counts);
    int code = tdc_ranks_deviations(ranks) != 0 ? TDC_EXIT_DIFFERENT : TDC_EXIT_SAME;
    if (!settings->json) {
        print_text(ranks, &counts, settings->top);
    } else if (!print_json(step, ranks, &counts)) {
        tdc_complain("out of memory");
        code = TDC_EXIT_TROUBLE;
    }
    if (counts.unreadable != 0) {
        tdc_complain("%s: %llu files could not be read", step,
                     (unsigned long long)counts.unreadable);
        code = TDC_EXIT_TROUBLE;
    }
    tdc_ranks_free(ranks);
    return code;
}

int tdc_command_ranks(int argc, char **argv)
{
    struct settings settings = {.top = 10};
    tdc_options_init(&settings.options, sizeof settings.options, TDC_RULES_SOUND);
    settings.options.message = tdc_print_message;
    optind = 1;
    static const struct tdc_words words = {"ranks", "t:h", long_options};
    for (int option; (option = tdc_next_option(&words, argc, argv)) != TDC_NO_MORE_OPTIONS;)
        if (!take_option(&settings, option))
            return TDC_EXIT_TROUBLE;
    if (settings.help) {
        fputs(usage, stdout);
        return TDC_EXIT_SAME;
    }
    if (argc - optind != 1) {
        tdc_complain("ranks takes one step; %d given (tdcmp ranks --help)", argc - optind);
        return TDC_EXIT_TROUBLE;
    }
    return check(&settings, argv[optind]);
}
