/* bench_compare.c - `tdcmp bench compare`: options; the cases are in compare_cases.c. */
#include <stdio.h>
#include <string.h>

#include "bench/commands/bench_command.h"
#include "bench/cases/compare_cases.h"
#include "bench/cases/compare_report.h"
#include "host/terminal/message.h"
#include "host/terminal/next_option.h"

static const char usage[] =
    "tdcmp bench compare - comparisons beside what the project measures itself by\n"
    "\n"
    "usage: tdcmp bench compare [OPTIONS]\n"
    "\n"
    "Makes synthetic dumps in a temporary folder, compares them as `tdcmp compare` does, in turns\n"
    "with a yardstick, and removes them.\n"
    "\n"
    "  large       few large tensors of each type, beside a bare read of the mapped files\n"
    "  equal       the same with sides that are equal to the bit\n"
    "  small       20,000 tensors of 4 KiB, the whole run with csv\n"
    "  statistics  100,000 rows without data: csv beside Python's json.load of the two dump.json,\n"
    "              xlsx beside libxlsxwriter writing the same cells from memory (ratios of time)\n"
    "  cold        large f32 tensors out of memory, beside one reader with O_DIRECT\n"
    "  scaling     all threads beside one, data in the processor's cache\n"
    "  graph       dumps of GE beside npy files of the same bytes\n"
    "\n"
    "  -c, --case LIST     large, equal, small, statistics, cold, scaling, graph or several\n"
    "                      (default: all but graph)\n"
    "  -d, --dtype LIST    of large, equal: f32, f16, bf16, f64, i64, i32, i16, i8, bool or pairs\n"
    "                      as bf16/f32 (default f32,bf16,f16,f64,i32,i8,bool,bf16/f32,f16/f32)\n"
    "  -s, --size BYTES    of large, equal and cold: tensor data of the NPU side; K, M, G allowed\n"
    "                      (default 512M)\n"
    "  -n, --tensors N     of large, equal and cold: tensors that share it (default 8)\n"
    "      --rows N        of small and statistics: tensors (default 20000 and 90000)\n"
    "  -t, --threads N     number of threads (default: all processors)\n"
    "  -r, --repeat N      runs of which the fastest counts (default 5; slow cases do fewer)\n"
    "      --rules NAME    sound (default); msprobe or msprobe26: judge as msprobe\n"
    "      --io HOW        how tensor files are read: auto (default), mmap, pread, direct\n"
    "      --dir DIR       where to put the temporary folder (default $TMPDIR or /tmp)\n"
    "      --json          one json object for machines\n"
    "  -h, --help          this text\n"
    "\n"
    "example: tdcmp bench compare --case large --dtype f32,bf16/f32 --size 256M --threads 2\n";

enum {
    OPTION_ROWS = TDC_BENCH_OPTION_FIRST_FREE
};

static const struct option long_options[] = {
    {"case", required_argument, NULL, 'c'},
    {"dtype", required_argument, NULL, 'd'},
    {"size", required_argument, NULL, 's'},
    {"tensors", required_argument, NULL, 'n'},
    {"rows", required_argument, NULL, OPTION_ROWS},
    TDC_BENCH_LONG_OPTIONS TDC_BENCH_COMPARE_LONG_OPTIONS TDC_BENCH_DIR_LONG_OPTION{NULL, 0, NULL,
                                                                                    0},
};

static const char *const case_names[TDC_CASES] = {"large", "equal",   "small", "statistics",
                                                  "cold",  "scaling", "graph"};

static bool take_cases(struct tdc_cases_settings *settings, const char *list)
{
    memset(settings->cases, 0, sizeof settings->cases);
    do {
        size_t length = strcspn(list, ","), i = 0;
        while (i < TDC_CASES &&
               (strlen(case_names[i]) != length || strncmp(case_names[i], list, length) != 0))
            i++;
        if (i == TDC_CASES)
            return tdc_wrong_value(
                "--case", list,
                "large, equal, small, statistics, cold, scaling, graph with commas");
        settings->cases[i] = true;
        list += length;
    } while (*list++ == ',');
    return true;
}

static bool take_option(void *context, int option)
{
    struct tdc_cases_settings *settings = context;
    switch (option) {
    case 'c':
        return take_cases(settings, optarg);
    case 'd':
        return tdc_parse_pairs(optarg, settings->pairs, &settings->pair_count) ||
               tdc_wrong_value("--dtype", optarg, TDC_PAIR_NAMES);
    case 's':
        return tdc_parse_size(optarg, &settings->size) ||
               tdc_wrong_value("--size", optarg, "bytes, as in 256M");
    case 'n':
        return tdc_parse_size(optarg, &settings->tensors) ||
               tdc_wrong_value("--tensors", optarg, "a number of tensors");
    case OPTION_ROWS:
        if (!tdc_parse_size(optarg, &settings->small_tensors))
            return tdc_wrong_value("--rows", optarg, "a number of tensors");
        settings->statistics_tensors = settings->small_tensors;
        return true;
    default:
        return tdc_take_common_option(option, &settings->bench);
    }
}

static tdc_status run_in(const struct tdc_cases_settings *settings,
                         const struct tdc_bench_place *place, struct tdc_error *error)
{
    struct tdc_report_head head = {
        .command = "bench compare",
        .threads = settings->bench.options.threads,
        .rules = tdc_rules_name(settings->bench.options.rules),
        .io = tdc_io_name(settings->bench.options.io),
        .repeat = (unsigned)settings->bench.repeat,
        .folder = place->scratch.path,
        .json = settings->bench.json,
        .columns = tdc_compare_columns,
        .column_count = TDC_COMPARE_COLUMNS + TDC_BESIDE_COLUMNS,
    };
    struct tdc_report report;
    tdc_report_start(&report, &head);
    tdc_status status = tdc_cases_run(settings, place, &report, error);
    if (status != TDC_OK) {
        tdc_report_drop(&report);
        return status;
    }
    tdc_compare_notes(&report);
    tdc_report_note(&report, "ratio: speed over that of 'beside'; for json.load and libxlsxwriter "
                             "the time of the whole run over theirs.");
    return tdc_report_end(&report, error);
}

static tdc_status run(void *context, struct tdc_error *error)
{
    const struct tdc_cases_settings *settings = context;
    struct tdc_bench_place place;
    tdc_status status = tdc_place_open(&place, settings->bench.folder, error);
    if (status != TDC_OK)
        return status;
    status = run_in(settings, &place, error);
    tdc_place_close(&place);
    return status;
}

int tdc_bench_compare(int argc, char **argv)
{
    struct tdc_cases_settings settings = {
        .cases = {true, true, true, true, true, true},
        .size = (uint64_t)512 << 20,
        .tensors = 8,
        .small_tensors = 20000,
        .statistics_tensors = 90000,
    };
    tdc_bench_options_init(&settings.bench);
    tdc_parse_pairs("f32,bf16,f16,f64,i32,i8,bool,bf16/f32,f16/f32", settings.pairs,
                    &settings.pair_count);
    static const struct tdc_bench_subcommand subcommand = {
        "compare", usage, "c:d:s:n:" TDC_BENCH_SHORT_OPTIONS, long_options, take_option, run};
    return tdc_bench_subcommand_run(&subcommand, argc, argv, &settings.bench, &settings);
}
