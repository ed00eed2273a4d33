/* bench_kernels.c - `tdcmp bench kernels`: the arithmetic without files. */
#include <stdio.h>
#include <string.h>

#include "bench/commands/bench_command.h"
#include "bench/tools/option_values.h"
#include "bench/tools/bench_options.h"
#include "bench/cases/kernel_case.h"
#include "bench/tools/report.h"
#include "host/terminal/message.h"
#include "host/terminal/next_option.h"
#include "io/base/error.h"

static const char usage[] =
    "tdcmp bench kernels - the arithmetic alone: speed and numeric error of each CPU variant\n"
    "\n"
    "usage: tdcmp bench kernels [OPTIONS]\n"
    "\n"
    "Runs every variant this machine can run, for both rules of the relative error, on data in "
    "the\n"
    "cache and in memory, beside a bare read of the same data. The error is the largest "
    "difference\n"
    "of a sum from a 113-bit reference, in units of the sum of the magnitudes; exact says whether\n"
    "all counts, extremes, maxima and positions are those of the reference.\n"
    "\n"
    "  -d, --dtype LIST    f32, f16, bf16, f64, i64, i32, i16, i8, bool or pairs as bf16/f32\n"
    "                      (default "
    "f32,bf16,f16,f64,i64,i32,i16,i8,bool,bf16/f32,f16/f32,f32/f64)\n"
    "      --variant LIST  baseline, x86-64-v3, x86-64-v4 or several (default: all usable)\n"
    "      --rule NAME     f64, native or both (default both)\n"
    "      --equal         both sides equal to the bit, beside memcmp of the same data\n"
    "      --extremes      compute minima, maxima and means of each side, too\n"
    "  -s, --size BYTES    data in memory, of the larger side (default 128M)\n"
    "  -t, --threads N     number of threads (default 1)\n"
    "  -r, --repeat N      runs of which the fastest counts (default 5; slow ones do fewer)\n"
    "      --json          one json object for machines\n"
    "  -h, --help          this text\n"
    "\n"
    "example: tdcmp bench kernels --dtype bf16,bf16/f32 --variant x86-64-v3 --rule f64\n";

enum {
    OPTION_VARIANT = TDC_BENCH_OPTION_FIRST_FREE,
    OPTION_RULE,
    OPTION_EQUAL,
    OPTION_EXTREMES
};

static const struct option long_options[] = {
    {"dtype", required_argument, NULL, 'd'},
    {"variant", required_argument, NULL, OPTION_VARIANT},
    {"rule", required_argument, NULL, OPTION_RULE},
    {"equal", no_argument, NULL, OPTION_EQUAL},
    {"extremes", no_argument, NULL, OPTION_EXTREMES},
    {"size", required_argument, NULL, 's'},
    TDC_BENCH_LONG_OPTIONS{NULL, 0, NULL, 0},
};

static const struct tdc_report_column columns[] = {
    {"dtype", "dtype", 9, TDC_COLUMN_TEXT},
    {"rule", "rule", 6, TDC_COLUMN_TEXT},
    {"variant", "variant", 10, TDC_COLUMN_TEXT},
    {"cache_gigabytes_per_second", "cache GB/s", 10, 2},
    {"cache_share", "share", 5, 2},
    {"memory_gigabytes_per_second", "memory GB/s", 11, 2},
    {"memory_share", "share", 5, 2},
    {"memcmp_gigabytes_per_second", "memcmp GB/s", 11, 2},
    {"memcmp_share", "share", 5, 2},
    {"error", "error", 8, TDC_COLUMN_SCIENTIFIC},
    {"exact", "exact", 5, TDC_COLUMN_TEXT},
};

struct settings {
    struct tdc_bench_options bench;
    struct tdc_dtype_pair pairs[TDC_MOST_PAIRS];
    size_t pair_count;
    bool variants[TDC_CPU_VARIANTS];
    bool native, f64; /* rules */
    bool equal, extremes;
    uint64_t size;
};

static tdc_status run_kernel(const struct settings *settings, const struct tdc_kernel_data *data,
                             enum tdc_relative_rule rule, enum tdc_cpu_variant variant,
                             struct tdc_report *report, struct tdc_error *error)
{
    struct tdc_kernel_setup setup = {
        .variant = variant,
        .rule = rule,
        .extremes = settings->extremes,
        .threads = settings->bench.options.threads,
        .repeat = (unsigned)settings->bench.repeat,
        .cancel = settings->bench.options.cancel,
    };
    struct tdc_kernel_figures figures;
    tdc_status status = tdc_kernel_measure(&setup, data, &figures, error);
    if (status != TDC_OK)
        return status;
    char dtype[16];
    tdc_pair_text(&data->pair, dtype);
    struct tdc_report_value values[] = {
        tdc_text_value(dtype),
        tdc_text_value(rule == TDC_RELATIVE_F64 ? "f64" : "native"),
        tdc_text_value(tdc_cpu_variant_name(variant)),
        tdc_number_value(figures.cache_speed),
        tdc_quotient_value(figures.cache_speed, figures.cache_bare),
        tdc_number_value(figures.memory_speed),
        tdc_quotient_value(figures.memory_speed, figures.memory_bare),
        tdc_quotient_value(figures.memory_memcmp, figures.memory_memcmp > 0 ? 1 : 0),
        tdc_quotient_value(figures.memory_speed, figures.memory_memcmp),
        tdc_number_value(figures.error),
        tdc_text_value(figures.exact ? "yes" : "no"),
    };
    tdc_report_row(report, values);
    return TDC_OK;
}

static tdc_status run_pair(const struct settings *settings, const struct tdc_dtype_pair *pair,
                           struct tdc_report *report, struct tdc_error *error)
{
    struct tdc_kernel_data data;
    tdc_status status = tdc_kernel_data_make(&data, pair, settings->equal, settings->size,
                                             settings->bench.options.threads, error);
    for (int rule = 0; rule < 2; rule++) {
        if (rule == 0 ? !settings->f64 : !settings->native)
            continue;
        for (unsigned i = 0; i < TDC_CPU_VARIANTS && status == TDC_OK; i++)
            if (settings->variants[i])
                status =
                    run_kernel(settings, &data, rule == 0 ? TDC_RELATIVE_F64 : TDC_RELATIVE_NATIVE,
                               (enum tdc_cpu_variant)i, report, error);
    }
    tdc_kernel_data_free(&data);
    return status;
}

static tdc_status run(void *context, struct tdc_error *error)
{
    const struct settings *settings = context;
    struct tdc_report_head head = {
        .command = "bench kernels",
        .threads = settings->bench.options.threads,
        .repeat = (unsigned)settings->bench.repeat,
        .json = settings->bench.json,
        .columns = columns,
        .column_count = sizeof columns / sizeof *columns,
    };
    struct tdc_report report;
    tdc_report_start(&report, &head);
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < settings->pair_count && status == TDC_OK; i++)
        status = run_pair(settings, &settings->pairs[i], &report, error);
    if (status != TDC_OK) {
        tdc_report_drop(&report);
        return status;
    }
    tdc_report_note(&report, "GB/s count both sides. share: of an exclusive or of all words of the "
                             "same buffers, in turns with the kernel;");
    tdc_report_note(&report, "the last one of memcmp over them in memory, where the sides are "
                             "equal. Others differ as after some layers.");
    tdc_report_note(&report, "Timed %s minima, maxima and means of each side.",
                    settings->extremes ? "with" : "without");
    tdc_report_note(&report, "error: of the sums, in units of the sum of the magnitudes (2^-53 is "
                             "1.1e-16).");
    return tdc_report_end(&report, error);
}

static bool take_variants(struct settings *settings, const char *list)
{
    memset(settings->variants, 0, sizeof settings->variants);
    do {
        size_t length = strcspn(list, ",");
        unsigned found = TDC_CPU_VARIANTS;
        for (unsigned i = 0; i < TDC_CPU_VARIANTS; i++) {
            const char *name = tdc_cpu_variant_name((enum tdc_cpu_variant)i);
            if (strlen(name) == length && strncmp(name, list, length) == 0)
                found = i;
        }
        if (found == TDC_CPU_VARIANTS || !tdc_cpu_variant_usable((enum tdc_cpu_variant)found))
            return tdc_wrong_value("--variant", list, "variants this machine can run, with commas");
        settings->variants[found] = true;
        list += length;
    } while (*list++ == ',');
    return true;
}

static bool take_rule(struct settings *settings, const char *name)
{
    bool both = strcmp(name, "both") == 0;
    settings->native = both || strcmp(name, "native") == 0;
    settings->f64 = both || strcmp(name, "f64") == 0;
    return settings->native || settings->f64 ||
           tdc_wrong_value("--rule", name, "f64, native or both");
}

/* Floats stand beside floats: the values of both sides are the same. */
static bool take_pairs(struct settings *settings, const char *list)
{
    bool right = tdc_parse_pairs(list, settings->pairs, &settings->pair_count);
    for (size_t i = 0; right && i < settings->pair_count; i++)
        right = (settings->pairs[i].npu >= TDC_F16) == (settings->pairs[i].bench >= TDC_F16);
    return right || tdc_wrong_value("--dtype", list, TDC_PAIR_NAMES);
}

static bool take_option(void *context, int option)
{
    struct settings *settings = context;
    switch (option) {
    case 'd':
        return take_pairs(settings, optarg);
    case 's':
        return (tdc_parse_size(optarg, &settings->size) && settings->size <= (uint64_t)1 << 40) ||
               tdc_wrong_value("--size", optarg, "bytes, as in 256M");
    case OPTION_VARIANT:
        return take_variants(settings, optarg);
    case OPTION_EQUAL:
        settings->equal = true;
        return true;
    case OPTION_EXTREMES:
        settings->extremes = true;
        return true;
    case OPTION_RULE:
        return take_rule(settings, optarg);
    default:
        return tdc_take_common_option(option, &settings->bench);
    }
}

int tdc_bench_kernels(int argc, char **argv)
{
    struct settings settings = {.native = true, .f64 = true, .size = (uint64_t)128 << 20};
    tdc_bench_options_init(&settings.bench);
    tdc_parse_pairs("f32,bf16,f16,f64,i64,i32,i16,i8,bool,bf16/f32,f16/f32,f32/f64", settings.pairs,
                    &settings.pair_count);
    for (unsigned i = 0; i < TDC_CPU_VARIANTS; i++)
        settings.variants[i] = tdc_cpu_variant_usable((enum tdc_cpu_variant)i);
    settings.bench.options.threads = 1;
    static const struct tdc_bench_subcommand subcommand = {
        "kernels", usage, "d:s:" TDC_BENCH_SHORT_OPTIONS, long_options, take_option, run};
    return tdc_bench_subcommand_run(&subcommand, argc, argv, &settings.bench, &settings);
}
