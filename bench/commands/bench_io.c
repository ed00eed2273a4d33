/* bench_io.c - `tdcmp bench io`: what reading alone costs, in each way there is. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/commands/bench_command.h"
#include "bench/tools/option_values.h"
#include "bench/tools/bench_options.h"
#include "bench/cases/dump_pair.h"
#include "bench/tools/measure.h"
#include "bench/tools/report.h"
#include "bench/yardsticks/file_state.h"
#include "bench/yardsticks/stream_read.h"
#include "host/terminal/message.h"
#include "host/terminal/next_option.h"
#include "io/base/error.h"

static const char usage[] =
    "tdcmp bench io - how fast files can be read, without comparing anything\n"
    "\n"
    "usage: tdcmp bench io [OPTIONS]\n"
    "\n"
    "Makes files in a temporary folder, reads them with one thread and with all, and removes "
    "them.\n"
    "mapped: exclusive or of all words of the mapped files. pread: the same through a buffer of\n"
    "256 KB. direct: requests of 4 MB past the page cache, as dd iflag=direct; not looked at.\n"
    "\n"
    "  -s, --size BYTES    of all files; K, M, G allowed (default 512M)\n"
    "  -n, --files N       number of files (default 8)\n"
    "  -t, --threads N     number of threads of the second half (default: all processors)\n"
    "  -r, --repeat N      runs of which the fastest counts (default 5; slow ones do fewer)\n"
    "      --dir DIR       where to put the temporary folder (default $TMPDIR or /tmp)\n"
    "      --json          one json object for machines\n"
    "  -h, --help          this text\n"
    "\n"
    "example: tdcmp bench io --dir /mnt/nvme --size 4G\n";

static const struct option long_options[] = {
    {"size", required_argument, NULL, 's'},
    {"files", required_argument, NULL, 'n'},
    TDC_BENCH_LONG_OPTIONS TDC_BENCH_DIR_LONG_OPTION{NULL, 0, NULL, 0},
};

#define BUDGET_SECONDS 15.0

struct settings {
    struct tdc_bench_options bench;
    uint64_t size, files;
};

enum way {
    MAPPED,
    BUFFERED,
    DIRECT,
    WAYS
};

static const char *const way_names[WAYS] = {"mapped", "pread", "direct"};

static const struct tdc_report_column columns[] = {
    {"way", "way", 8, TDC_COLUMN_TEXT},
    {"files", "files", 16, TDC_COLUMN_TEXT},
    {"threads", "thr", 3, 0},
    {"gigabytes", "GB", 7, 3},
    {"gigabytes_per_second", "GB/s", 7, 2},
    {"seconds", "seconds", 8, 4},
};

/* One row of the table. */
struct reading {
    const struct tdc_bare_files *files;
    enum way way;
    int threads;
    bool cold;
    bool impossible;
    struct tdc_drop drop; /* the worst */
    uint64_t bytes;
    volatile uint64_t word; /* so that no compiler drops the reading */
};

static tdc_status read_once(void *context, double laps[TDC_LAPS], struct tdc_error *error)
{
    struct reading *reading = context;
    struct tdc_bare_sum sum = {0};
    struct tdc_drop drop;
    tdc_status status = TDC_OK;
    if (reading->cold) {
        status = tdc_files_drop(reading->files, &drop, error);
        if (drop.resident >= reading->drop.resident)
            reading->drop = drop;
    }
    if (status != TDC_OK || reading->impossible)
        return status;
    double start = tdc_seconds();
    if (reading->way == MAPPED)
        status = tdc_bare_read(reading->files, reading->threads, &sum, error);
    else
        status = tdc_stream_read(reading->files,
                                 reading->way == DIRECT ? TDC_STREAM_DIRECT : TDC_STREAM_BUFFERED,
                                 reading->threads, &sum, error);
    laps[0] = tdc_seconds() - start;
    reading->bytes = sum.bytes;
    reading->word = sum.word;
    if (status == TDC_ERR_UNSUPPORTED && reading->way == DIRECT) {
        reading->impossible = true;
        return TDC_OK;
    }
    return status;
}

static const char *state_of(const struct reading *reading)
{
    if (reading->way == DIRECT)
        return reading->impossible ? "not supported" : "past the cache";
    return reading->cold ? tdc_drop_name(&reading->drop) : "warm";
}

static void report_reading(struct tdc_report *report, const struct reading *reading, double seconds)
{
    double bytes = reading->impossible ? 0 : (double)reading->bytes;
    struct tdc_report_value values[] = {
        tdc_text_value(way_names[reading->way]),  tdc_text_value(state_of(reading)),
        tdc_number_value(reading->threads),       tdc_quotient_value(bytes, 1e9),
        tdc_quotient_value(bytes / 1e9, seconds), tdc_quotient_value(bytes > 0 ? seconds : 0, 1),
    };
    tdc_report_row(report, values);
}

#define MOST_READINGS 6

/* All ways in turns. Warm and cold apart: a cold reading would leave nothing warm behind. */
static tdc_status measure(const struct settings *settings, const struct tdc_bare_files *files,
                          bool cold, struct tdc_report *report, struct tdc_error *error)
{
    struct reading readings[MOST_READINGS];
    struct tdc_work works[MOST_READINGS];
    size_t count = 0;
    const struct tdc_options *options = &settings->bench.options;
    for (int way = 0; way < (cold ? WAYS : DIRECT); way++) {
        for (int all = 0; all < (options->threads > 1 ? 2 : 1); all++) {
            readings[count] = (struct reading){.files = files,
                                               .way = (enum way)way,
                                               .threads = all != 0 ? options->threads : 1,
                                               .cold = cold};
            works[count] = (struct tdc_work){.run = read_once, .context = &readings[count]};
            count++;
        }
    }
    tdc_status status = tdc_measure(works, count, (unsigned)settings->bench.repeat, BUDGET_SECONDS,
                                    options->cancel, error);
    for (size_t i = 0; i < count && status == TDC_OK; i++)
        report_reading(report, &readings[i], works[i].best[0]);
    return status;
}

static tdc_status report_readings(const struct settings *settings,
                                  const struct tdc_bench_place *place,
                                  const struct tdc_bare_files *files, struct tdc_error *error)
{
    struct tdc_report_head head = {
        .command = "bench io",
        .threads = settings->bench.options.threads,
        .repeat = (unsigned)settings->bench.repeat,
        .folder = place->scratch.path,
        .json = settings->bench.json,
        .columns = columns,
        .column_count = sizeof columns / sizeof *columns,
    };
    struct tdc_report report;
    tdc_report_start(&report, &head);
    tdc_status status = measure(settings, files, false, &report, error);
    if (status == TDC_OK)
        status = measure(settings, files, true, &report, error);
    if (status != TDC_OK) {
        tdc_report_drop(&report);
        return status;
    }
    tdc_report_note(&report, "cold: the page cache was asked to forget the files before each run, "
                             "and had; 'not cold': it had not.");
    return tdc_report_end(&report, error);
}

static tdc_status run(void *context, struct tdc_error *error)
{
    const struct settings *settings = context;
    struct tdc_bench_place place;
    struct tdc_dump_pair dumps;
    struct tdc_synthetic synthetic;
    tdc_synthetic_init(&synthetic);
    synthetic.layout = TDC_LAYOUT_NPY;
    synthetic.tensors = (settings->files + 1) / 2; /* each has a file on both sides */
    synthetic.elements = settings->size / 2 / synthetic.tensors / tdc_dtype_size(synthetic.dtype);
    if (synthetic.elements == 0)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "--size is too small for so many files");
    tdc_status status = tdc_place_open(&place, settings->bench.folder, error);
    if (status != TDC_OK)
        return status;
    status = tdc_dump_pair_make(&dumps, &place, &synthetic, &settings->bench.options, error);
    if (status == TDC_OK)
        status = report_readings(settings, &place, &dumps.files, error);
    tdc_dump_pair_drop(&dumps, &place);
    tdc_place_close(&place);
    return status;
}

static bool take_option(void *context, int option)
{
    struct settings *settings = context;
    if (option == 's')
        return tdc_parse_size(optarg, &settings->size) ||
               tdc_wrong_value("--size", optarg, "bytes, as in 4G");
    if (option == 'n')
        return tdc_parse_size(optarg, &settings->files) ||
               tdc_wrong_value("--files", optarg, "a number of files");
    return tdc_take_common_option(option, &settings->bench);
}

int tdc_bench_io(int argc, char **argv)
{
    struct settings settings = {.size = (uint64_t)512 << 20, .files = 8};
    tdc_bench_options_init(&settings.bench);
    static const struct tdc_bench_subcommand subcommand = {
        "io", usage, "s:n:" TDC_BENCH_SHORT_OPTIONS, long_options, take_option, run};
    return tdc_bench_subcommand_run(&subcommand, argc, argv, &settings.bench, &settings);
}
