/* bench_match.c - `tdcmp bench match`: how the time to match names grows with the records. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/commands/bench_command.h"
#include "bench/tools/option_values.h"
#include "bench/tools/measure.h"
#include "bench/tools/scratch.h"
#include "bench/cases/two_networks.h"
#include "host/terminal/message.h"
#include "host/terminal/parse.h"
#include "host/terminal/next_option.h"
#include "io/base/error.h"
#include "io/file/out_file.h"

static const char usage[] =
    "tdcmp bench match - how fast names are matched, and that the time grows with the records\n"
    "\n"
    "usage: tdcmp bench match [OPTIONS]\n"
    "\n"
    "Makes statistics dumps of one network as MindSpore and as PyTorch in a temporary folder and\n"
    "matches them in every way. A rate that stays the same down a column is linear growth.\n"
    "\n"
    "  -n, --records LIST  records of a dump; k and M allowed (default 10k,100k)\n"
    "  -r, --repeat N      runs of which the fastest counts (default 5; slow cases do fewer)\n"
    "      --rules NAME    sound (default); msprobe or msprobe26: match as msprobe does\n"
    "      --dir DIR       where to put the temporary folder (default $TMPDIR or /tmp)\n"
    "  -h, --help          this text\n"
    "\n"
    "layers: a transformer of as many layers as it takes. place: a cell and a function called\n"
    "again and again in one place.\n"
    "\n"
    "example: tdcmp bench match --records 10k,100k,1M\n";

enum {
    OPTION_RULES = 256,
    OPTION_DIR
};

static const struct option long_options[] = {
    {"records", required_argument, NULL, 'n'},
    {"repeat", required_argument, NULL, 'r'},
    {"rules", required_argument, NULL, OPTION_RULES},
    {"dir", required_argument, NULL, OPTION_DIR},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

#define MOST_SIZES 16
/* A case whose rounds take longer than this in all stops repeating. */
#define BUDGET_SECONDS 10.0

struct settings {
    uint64_t sizes[MOST_SIZES];
    size_t size_count;
    int repeat;
    tdc_rules_id rules;
    const char *folder;
    bool help;
};

/* "10k", "1M", "250": powers of 1000. */
static bool parse_count(const char *text, size_t length, uint64_t *count)
{
    char *end;
    if (length == 0 || text[0] < '0' || text[0] > '9')
        return false;
    unsigned long long number = strtoull(text, &end, 10);
    uint64_t unit = 1;
    if (*end == 'k' || *end == 'K' || *end == 'M')
        unit = *end++ == 'M' ? 1000000 : 1000;
    *count = number * unit;
    return end == text + length && number >= 1 && number <= 1000000000 && *count <= 1000000000;
}

static bool take_sizes(struct settings *settings, const char *list)
{
    settings->size_count = 0;
    while (*list != '\0' && settings->size_count < MOST_SIZES) {
        size_t length = strcspn(list, ",");
        if (!parse_count(list, length, &settings->sizes[settings->size_count]))
            break;
        settings->size_count++;
        list += length + (list[length] == ',');
    }
    return (*list == '\0' && settings->size_count != 0) ||
           tdc_wrong_value("--records", list, "numbers of records with commas, as in 10k,1M");
}

static bool take_option(struct settings *settings, int option)
{
    switch (option) {
    case 'n':
        return take_sizes(settings, optarg);
    case 'r':
        return tdc_parse_number(optarg, 1, &settings->repeat) ||
               tdc_wrong_value("--repeat", optarg, "a number of runs");
    case OPTION_RULES:
        return tdc_parse_rules(optarg, &settings->rules) ||
               tdc_wrong_value("--rules", optarg, TDC_RULES_NAMES);
    case OPTION_DIR:
        settings->folder = optarg;
        return true;
    case 'h':
        settings->help = true;
        return true;
    default:
        return false;
    }
}

/* ---- one case -------------------------------------------------------------------------------- */

enum {
    LAP_LOAD,
    LAP_EXACT,
    LAP_FUZZY,
    LAP_NAMES,
    LAP_LAYERS,
    LAP_SUGGEST
};

struct match_case {
    tdc_rules_id rules;
    char npu[4352], bench[4352], shifted[4352], yaml[4352];
};

/* Matches, times it, and sees that as many records as expected found a partner. */
static tdc_status time_match(const tdc_dump *npu, const tdc_dump *bench,
                             const struct tdc_options *options, const char *way, bool all,
                             double *lap, struct tdc_error *error)
{
    tdc_match *match;
    double start = tdc_seconds();
    tdc_status status = tdc_match_new(npu, bench, options, &match, error);
    *lap = tdc_seconds() - start;
    if (status != TDC_OK)
        return status;
    size_t lonely = 0;
    for (size_t i = 0; i < tdc_match_pairs(match); i++) {
        size_t n, b;
        tdc_match_pair(match, i, &n, &b);
        lonely += n == TDC_NO_RECORD || b == TDC_NO_RECORD;
    }
    tdc_match_free(match);
    if (all && lonely != 0)
        return tdc_fail(error, TDC_ERR_MISMATCH, "%s left %zu records without a partner", way,
                        lonely);
    return TDC_OK;
}

static tdc_status time_suggest(const tdc_dump *npu, const tdc_dump *bench,
                               const struct tdc_options *options, double *lap,
                               struct tdc_error *error)
{
    tdc_match *match;
    tdc_status status = tdc_match_new(npu, bench, options, &match, error);
    if (status != TDC_OK)
        return status;
    double start = tdc_seconds();
    const char *lines = tdc_match_suggest(match, error);
    *lap = tdc_seconds() - start;
    if (lines == NULL)
        status = error->status;
    else if (lines[0] == '\0')
        status = tdc_fail(error, TDC_ERR_MISMATCH, "nothing was suggested");
    tdc_match_free(match);
    return status;
}

static tdc_status time_all(const struct match_case *work, const tdc_dump *npu,
                           const tdc_dump *bench, const tdc_dump *shifted, double *laps,
                           struct tdc_error *error)
{
    struct tdc_options plain, fuzzy, names, layers, guess;
    tdc_options_init(&plain, sizeof plain, work->rules);
    plain.flags &= ~(unsigned)TDC_OPTION_AUTO_MAPPING;
    plain.framework = TDC_FRAMEWORK_MINDSPORE;
    fuzzy = names = layers = plain;
    fuzzy.flags |= TDC_OPTION_FUZZY;
    names.api_mapping.use = names.cell_mapping.use = true;
    guess = layers;
    layers.layer_mapping = (struct tdc_mapping){true, work->yaml};
    guess.layer_mapping.use = true;
    tdc_status status = time_match(npu, npu, &plain, "equal names", true, &laps[LAP_EXACT], error);
    if (status == TDC_OK)
        status = time_match(npu, shifted, &fuzzy, "fuzzy", true, &laps[LAP_FUZZY], error);
    if (status == TDC_OK)
        status = time_match(npu, bench, &names, "names", false, &laps[LAP_NAMES], error);
    if (status == TDC_OK)
        status = time_match(npu, bench, &layers, "layer mapping", true, &laps[LAP_LAYERS], error);
    if (status == TDC_OK)
        status = time_suggest(npu, bench, &guess, &laps[LAP_SUGGEST], error);
    return status;
}

static tdc_status run_case(void *context, double laps[TDC_LAPS], struct tdc_error *error)
{
    const struct match_case *work = context;
    tdc_dump *npu = NULL, *bench = NULL, *shifted = NULL;
    double start = tdc_seconds();
    tdc_status status = tdc_dump_load(work->npu, &npu, error);
    if (status == TDC_OK)
        status = tdc_dump_load(work->bench, &bench, error);
    laps[LAP_LOAD] = tdc_seconds() - start;
    if (status == TDC_OK)
        status = tdc_dump_load(work->shifted, &shifted, error);
    if (status == TDC_OK)
        status = time_all(work, npu, bench, shifted, laps, error);
    tdc_dump_free(npu);
    tdc_dump_free(bench);
    tdc_dump_free(shifted);
    return status;
}

/* ---- all cases ------------------------------------------------------------------------------- */

static void print_head(const struct settings *settings)
{
    static const char *const columns[] = {"load", "exact", "fuzzy", "names", "layers", "suggest"};
    printf("tdcmp %s bench match: rules %s, fastest of %d; thousand records a second\n\n",
           tdc_version(), tdc_name_of_rules(settings->rules), settings->repeat);
    printf("%-8s %10s", "network", "records");
    for (int i = 0; i < TDC_LAPS; i++)
        printf(" %9s", columns[i]);
    printf(" %9s\n", "s in all");
    fflush(stdout);
}

static void print_case(const char *name, uint64_t records, const struct tdc_work *work)
{
    double sum = 0;
    printf("%-8s %10" PRIu64, name, records);
    for (int i = 0; i < TDC_LAPS; i++) {
        /* both dumps are read, one is matched with the other */
        double count = (double)records * (i == LAP_LOAD ? 2 : 1);
        printf(" %9.0f", count / work->best[i] / 1000);
        sum += work->best[i];
    }
    printf(" %9.3f\n", sum);
    fflush(stdout);
}

static tdc_status measure_case(const struct settings *settings, const struct tdc_scratch *scratch,
                               enum tdc_network_kind kind, uint64_t size,
                               const struct tdc_cancel *cancel, struct tdc_error *error)
{
    struct match_case work_case = {.rules = settings->rules};
    char folder[4224];
    uint64_t records = 0;
    snprintf(folder, sizeof folder, "%s/case", scratch->path);
    snprintf(work_case.npu, sizeof work_case.npu, "%s/npu/dump.json", folder);
    snprintf(work_case.bench, sizeof work_case.bench, "%s/bench/dump.json", folder);
    snprintf(work_case.shifted, sizeof work_case.shifted, "%s/shifted/dump.json", folder);
    snprintf(work_case.yaml, sizeof work_case.yaml, "%s/layers.yaml", folder);
    tdc_status status = tdc_make_folders(folder, error);
    if (status == TDC_OK)
        status = tdc_two_networks_make(folder, kind, size, &records, cancel, error);
    struct tdc_work work = {.run = run_case, .context = &work_case};
    if (status == TDC_OK)
        status = tdc_measure(&work, 1, (unsigned)settings->repeat, BUDGET_SECONDS, cancel, error);
    if (status == TDC_OK)
        print_case(kind == TDC_NETWORK_LAYERS ? "layers" : "place", records, &work);
    tdc_scratch_remove(scratch, "case");
    return status;
}

static tdc_status measure_all(const struct settings *settings, const struct tdc_scratch *scratch,
                              const struct tdc_cancel *cancel, struct tdc_error *error)
{
    tdc_status status = TDC_OK;
    print_head(settings);
    for (int kind = TDC_NETWORK_LAYERS; kind <= TDC_NETWORK_PLACE; kind++)
        for (size_t i = 0; i < settings->size_count && status == TDC_OK; i++)
            status = measure_case(settings, scratch, (enum tdc_network_kind)kind,
                                  settings->sizes[i], cancel, error);
    return status;
}

int tdc_bench_match(int argc, char **argv)
{
    struct settings settings = {
        .sizes = {10000, 100000}, .size_count = 2, .repeat = 5, .rules = TDC_RULES_SOUND};
    optind = 1;
    static const struct tdc_words words = {"bench match", "n:r:h", long_options};
    for (int option; (option = tdc_next_option(&words, argc, argv)) != TDC_NO_MORE_OPTIONS;)
        if (!take_option(&settings, option))
            return TDC_EXIT_TROUBLE;
    if (settings.help) {
        fputs(usage, stdout);
        return TDC_EXIT_SAME;
    }
    if (optind != argc) {
        tdc_complain("bench match takes options only, not '%s' (tdcmp bench match --help)",
                     argv[optind]);
        return TDC_EXIT_TROUBLE;
    }
    struct tdc_scratch scratch;
    struct tdc_error error = {0};
    const struct tdc_cancel *cancel = tdc_interrupt_watch();
    tdc_status status = tdc_scratch_open(settings.folder, &scratch, &error);
    if (status == TDC_OK) {
        status = measure_all(&settings, &scratch, cancel, &error);
        tdc_scratch_close(&scratch);
    }
    tdc_interrupt_obey();
    if (status != TDC_OK)
        tdc_complain("%s", error.message);
    return status == TDC_OK ? TDC_EXIT_SAME : TDC_EXIT_TROUBLE;
}
