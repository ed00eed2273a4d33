/* bench_trace.c - `tdcmp bench trace`: how long the searches over many ranks take. */
#include <stdio.h>
#include <string.h>

#include "bench/cases/rank_steps.h"
#include "bench/commands/bench_command.h"
#include "bench/synthetic/synthetic.h"
#include "bench/tools/bench_options.h"
#include "bench/tools/measure.h"
#include "bench/tools/option_values.h"
#include "bench/tools/prepared_comparison.h"
#include "bench/tools/report.h"
#include "bench/tools/scratch.h"
#include "host/terminal/message.h"
#include "host/terminal/next_option.h"
#include "host/terminal/parse.h"
#include "io/base/error.h"
#include "io/file/out_file.h"

static const char usage[] =
    "tdcmp bench trace - how long the searches over many ranks take\n"
    "\n"
    "usage: tdcmp bench trace [OPTIONS]\n"
    "\n"
    "Makes statistics dumps of one step of many ranks that communicate, with one NaN in them, in "
    "a\n"
    "temporary folder: the search for the first overflow, and the trace beside a comparison of "
    "the\n"
    "same dumps. Then the trace of a tensor dump beside its comparison.\n"
    "\n"
    "      --ranks LIST         numbers of ranks (default 10,100,1000)\n"
    "      --calls N            calls of a rank (default 2000)\n"
    "  -s, --size BYTES         tensor data of a side; K, M, G allowed (default 256M)\n"
    "  -t, --threads N          number of threads (default: all processors)\n"
    "  -r, --repeat N           runs of which the fastest counts (default 3; slow ones do fewer)\n"
    "      --dir DIR            where to put the temporary folder (default $TMPDIR or /tmp)\n"
    "      --json               one json object for machines\n"
    "  -h, --help               this text\n"
    "\n"
    "example: tdcmp bench trace --ranks 8,64 --calls 500\n";

enum {
    OPTION_RANKS = TDC_BENCH_OPTION_FIRST_FREE,
    OPTION_CALLS
};

static const struct option long_options[] = {
    {"ranks", required_argument, NULL, OPTION_RANKS},
    {"calls", required_argument, NULL, OPTION_CALLS},
    {"size", required_argument, NULL, 's'},
    TDC_BENCH_LONG_OPTIONS TDC_BENCH_DIR_LONG_OPTION{NULL, 0, NULL, 0},
};

static const struct tdc_report_column columns[] = {
    {"case", "case", 24, TDC_COLUMN_TEXT},
    {"ranks", "ranks", 6, 0},
    {"calls", "calls", 6, 0},
    {"megabytes", "json MB", 8, 1},
    {"seconds", "seconds", 8, 3},
    {"processor_seconds", "cpu s", 8, 3},
    {"calls_per_second", "calls/cpu s", 11, 0},
    {"beside", "beside", 8, TDC_COLUMN_TEXT},
    {"beside_processor_seconds", "cpu s", 8, 3},
    {"ratio", "ratio", 6, 2},
    {"target", "target", 7, TDC_COLUMN_TEXT},
};

#define MOST_SIZES    8
#define LARGEST_RANKS 100000
#define LARGEST_CALLS 1000000
/* A case whose rounds take longer than this in all stops repeating. */
#define BUDGET_SECONDS 20.0

struct settings {
    struct tdc_bench_options bench;
    int ranks[MOST_SIZES];
    size_t rank_count;
    int calls;
    uint64_t bytes;
};

/* Two sides on the disk, and what is to be found in them. */
struct dumps {
    char npu[4352], bench[4352], results[4352];
    const struct tdc_options *options;
    const char *culprit; /* NULL: nothing is expected */
    long culprit_rank;
};

/* Two works are set beside each other by the processor time of all their threads, which other
 * processes do not stretch as they do the seconds. */
enum {
    LAP_SECONDS,
    LAP_PROCESSOR
};

struct watch {
    double seconds, processor;
};

static struct watch start_watch(void)
{
    return (struct watch){tdc_seconds(), tdc_processor_seconds()};
}

static void stop_watch(const struct watch *watch, double laps[TDC_LAPS])
{
    laps[LAP_SECONDS] = tdc_seconds() - watch->seconds;
    laps[LAP_PROCESSOR] = tdc_processor_seconds() - watch->processor;
}

/* ---- works ----------------------------------------------------------------------------------- */

static tdc_status run_overflow(void *context, double laps[TDC_LAPS], struct tdc_error *error)
{
    const struct dumps *dumps = context;
    tdc_beginning *beginning = NULL;
    struct watch watch = start_watch();
    tdc_status status =
        tdc_overflow_find(dumps->npu, dumps->results, dumps->options, &beginning, error);
    stop_watch(&watch, laps);
    if (status == TDC_OK && (tdc_beginning_count(beginning) != 1 ||
                             tdc_beginning_rank(beginning) != dumps->culprit_rank ||
                             strcmp(tdc_beginning_call(beginning), dumps->culprit) != 0))
        status = tdc_fail(error, TDC_ERR_MISMATCH, "the first overflow was not found");
    tdc_beginning_free(beginning);
    return status;
}

static tdc_status run_trace(void *context, double laps[TDC_LAPS], struct tdc_error *error)
{
    const struct dumps *dumps = context;
    tdc_tasks *tasks = NULL;
    tdc_trace *trace = NULL;
    struct watch watch = start_watch();
    tdc_status status = tdc_tasks_find(dumps->npu, dumps->bench, -1, dumps->options, &tasks, error);
    /* none is judged: that is the reference's time, which `bench reference` measures */
    if (status == TDC_OK)
        status = tdc_trace_new(tasks, NULL, 0, dumps->options, &trace, error);
    stop_watch(&watch, laps);
    if (status == TDC_OK && dumps->culprit != NULL && tdc_trace_origins(trace) != 1)
        status = tdc_fail(error, TDC_ERR_MISMATCH, "%zu origins were found and not one",
                          tdc_trace_origins(trace));
    tdc_trace_free(trace);
    tdc_tasks_free(tasks);
    return status;
}

/* As `tdcmp compare` does, rank by rank, without writing a table. */
static tdc_status run_compare(void *context, double laps[TDC_LAPS], struct tdc_error *error)
{
    const struct dumps *dumps = context;
    tdc_tasks *tasks = NULL;
    struct watch watch = start_watch();
    double load = 0, match = 0;
    tdc_status status = tdc_tasks_find(dumps->npu, dumps->bench, -1, dumps->options, &tasks, error);
    for (size_t i = 0; status == TDC_OK && i < tdc_tasks_count(tasks); i++) {
        struct tdc_prepared_comparison one = {0};
        status = tdc_comparison_prepare(&one, tdc_tasks_get(tasks, i), dumps->options, &load,
                                        &match, error);
        if (status == TDC_OK)
            status = tdc_compare(&one.table, 1, dumps->options, error);
        tdc_comparison_free(&one);
    }
    stop_watch(&watch, laps);
    tdc_tasks_free(tasks);
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct row {
    const char *name;
    unsigned ranks, calls;
    double megabytes;
    const double *laps, *beside; /* beside NULL: nothing is */
};

static void report_row(struct tdc_report *report, const struct row *row)
{
    const double *beside = row->beside;
    double calls = (double)row->ranks * (double)row->calls;
    const struct tdc_report_value nothing = tdc_number_value((double)NAN);
    const struct tdc_report_value values[] = {
        tdc_text_value(row->name),
        tdc_number_value(row->ranks),
        tdc_number_value(row->calls != 0 ? row->calls : (double)NAN),
        tdc_number_value(row->megabytes > 0 ? row->megabytes : (double)NAN),
        tdc_number_value(row->laps[LAP_SECONDS]),
        tdc_number_value(row->laps[LAP_PROCESSOR]),
        tdc_quotient_value(calls, row->laps[LAP_PROCESSOR]),
        tdc_text_value(beside != NULL ? "compare" : NULL),
        beside != NULL ? tdc_number_value(beside[LAP_PROCESSOR]) : nothing,
        beside != NULL ? tdc_quotient_value(row->laps[LAP_PROCESSOR], beside[LAP_PROCESSOR])
                       : nothing,
        tdc_text_value(beside != NULL ? "<= 1.2" : NULL),
    };
    tdc_report_row(report, values);
}

static tdc_status measure_ranks(const struct settings *settings, const struct tdc_scratch *scratch,
                                unsigned ranks, struct tdc_report *report, struct tdc_error *error)
{
    char folder[4224], culprit[128];
    uint64_t bytes = 0;
    unsigned calls = (unsigned)settings->calls;
    snprintf(folder, sizeof folder, "%s/step", scratch->path);
    tdc_status status = tdc_make_folders(folder, error);
    if (status == TDC_OK)
        status = tdc_rank_steps_make(folder, ranks, calls, culprit, &bytes,
                                     settings->bench.options.cancel, error);
    struct dumps dumps = {
        .options = &settings->bench.options, .culprit = culprit, .culprit_rank = (long)ranks / 2};
    snprintf(dumps.npu, sizeof dumps.npu, "%s/npu", folder);
    snprintf(dumps.bench, sizeof dumps.bench, "%s/bench", folder);
    snprintf(dumps.results, sizeof dumps.results, "%s/results", folder);
    struct tdc_work works[] = {{.run = run_overflow, .context = &dumps},
                               {.run = run_trace, .context = &dumps},
                               {.run = run_compare, .context = &dumps}};
    if (status == TDC_OK)
        status = tdc_measure(works, 3, (unsigned)settings->bench.repeat, BUDGET_SECONDS,
                             settings->bench.options.cancel, error);
    if (status == TDC_OK) {
        struct row row = {"overflow, statistics", ranks,         calls,
                          (double)bytes / 2e6,    works[0].best, NULL};
        report_row(report, &row);
        row = (struct row){"trace, statistics", ranks,         calls,
                           (double)bytes / 1e6, works[1].best, works[2].best};
        report_row(report, &row);
    }
    tdc_scratch_remove(scratch, "step");
    return status;
}

static tdc_status measure_tensors(const struct settings *settings,
                                  const struct tdc_scratch *scratch, struct tdc_report *report,
                                  struct tdc_error *error)
{
    char folder[4224];
    struct tdc_synthetic synthetic;
    tdc_synthetic_init(&synthetic);
    synthetic.elements = (uint64_t)1 << 18;
    synthetic.tensors = settings->bytes / synthetic.elements / tdc_dtype_size(synthetic.dtype);
    synthetic.tensors += synthetic.tensors == 0;
    synthetic.cancel = settings->bench.options.cancel;
    snprintf(folder, sizeof folder, "%s/tensors", scratch->path);
    tdc_status status = tdc_synthetic_make(&synthetic, folder, NULL, error);
    struct dumps dumps = {.options = &settings->bench.options};
    snprintf(dumps.npu, sizeof dumps.npu, "%s/npu", folder);
    snprintf(dumps.bench, sizeof dumps.bench, "%s/bench", folder);
    struct tdc_work works[] = {{.run = run_trace, .context = &dumps},
                               {.run = run_compare, .context = &dumps}};
    if (status == TDC_OK)
        status = tdc_measure(works, 2, (unsigned)settings->bench.repeat, BUDGET_SECONDS,
                             settings->bench.options.cancel, error);
    if (status == TDC_OK) {
        const struct row row = {"trace, tensors of 1 MiB", 1, 0, 0, works[0].best, works[1].best};
        report_row(report, &row);
    }
    tdc_scratch_remove(scratch, "tensors");
    return status;
}

static tdc_status run(void *context, struct tdc_error *error)
{
    const struct settings *settings = context;
    struct tdc_scratch scratch;
    tdc_status status = tdc_scratch_open(settings->bench.folder, &scratch, error);
    if (status != TDC_OK)
        return status;
    const struct tdc_report_head head = {
        .command = "bench trace",
        .threads = settings->bench.options.threads,
        .rules = tdc_rules_name(settings->bench.options.rules),
        .repeat = (unsigned)settings->bench.repeat,
        .folder = scratch.path,
        .file_state = "warm",
        .json = settings->bench.json,
        .columns = columns,
        .column_count = sizeof columns / sizeof *columns,
    };
    struct tdc_report report;
    tdc_report_start(&report, &head);
    for (size_t i = 0; i < settings->rank_count && status == TDC_OK; i++)
        status = measure_ranks(settings, &scratch, (unsigned)settings->ranks[i], &report, error);
    if (status == TDC_OK)
        status = measure_tensors(settings, &scratch, &report, error);
    tdc_scratch_close(&scratch);
    if (status != TDC_OK) {
        tdc_report_drop(&report);
        return status;
    }
    tdc_report_note(&report, "json MB: what is read; ranks of a group of eight share their file.");
    tdc_report_note(&report, "trace: without the judge, whose time is that of the reference; "
                             "compare: without writing a table.");
    return tdc_report_end(&report, error);
}

/* ---- options --------------------------------------------------------------------------------- */

static bool take_ranks(struct settings *settings, const char *list)
{
    settings->rank_count = 0;
    do {
        char text[16];
        size_t length = strcspn(list, ",");
        snprintf(text, sizeof text, "%.*s", (int)(length < 15 ? length : 15), list);
        int *ranks = &settings->ranks[settings->rank_count];
        if (settings->rank_count++ == MOST_SIZES || !tdc_parse_number(text, 1, ranks) ||
            *ranks > LARGEST_RANKS)
            return false;
        list += length;
    } while (*list++ == ',');
    return true;
}

static bool take_option(void *context, int option)
{
    struct settings *settings = context;
    if (option == OPTION_RANKS)
        return take_ranks(settings, optarg) ||
               tdc_wrong_value("--ranks", optarg, "numbers of ranks, as in 8,64");
    if (option == OPTION_CALLS)
        return (tdc_parse_number(optarg, 20, &settings->calls) &&
                settings->calls <= LARGEST_CALLS) ||
               tdc_wrong_value("--calls", optarg, "a number of calls from 20 on");
    if (option == 's')
        return tdc_parse_size(optarg, &settings->bytes) ||
               tdc_wrong_value("--size", optarg, "bytes, as in 256M");
    return tdc_take_common_option(option, &settings->bench);
}

int tdc_bench_trace(int argc, char **argv)
{
    struct settings settings = {
        .ranks = {10, 100, 1000}, .rank_count = 3, .calls = 2000, .bytes = (uint64_t)256 << 20};
    tdc_bench_options_init(&settings.bench);
    settings.bench.repeat = 3;
    static const struct tdc_bench_subcommand subcommand = {
        "trace", usage, "s:" TDC_BENCH_SHORT_OPTIONS, long_options, take_option, run};
    return tdc_bench_subcommand_run(&subcommand, argc, argv, &settings.bench, &settings);
}
