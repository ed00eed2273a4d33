/* bench_make.c - `tdcmp bench make`: synthetic dumps to try things on. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/commands/bench_command.h"
#include "bench/tools/option_values.h"
#include "bench/tools/bench_options.h"
#include "bench/tools/measure.h"
#include "bench/synthetic/synthetic.h"
#include "host/terminal/message.h"
#include "host/terminal/parse.h"
#include "host/terminal/next_option.h"

static const char usage[] =
    "tdcmp bench make - write a pair of synthetic dumps\n"
    "\n"
    "usage: tdcmp bench make [OPTIONS] DIR\n"
    "\n"
    "Writes DIR/npu and DIR/bench: dumps of a made-up transformer as PyTorch's collector writes\n"
    "them. The same options give the same bytes everywhere. The NPU side differs in the last bit\n"
    "of every eighth float, and badly in a share of its tensors.\n"
    "\n"
    "  -n, --tensors N     tensors of a dump (default 200)\n"
    "  -e, --elements N    elements of a tensor; K, M, G allowed (default 4096)\n"
    "  -d, --dtype NAME    f32, f16, bf16, f64, i64, i32, i16, i8 or bool (default f32)\n"
    "      --bench-dtype NAME  of the bench side, if it is another one (default: as --dtype)\n"
    "  -t, --task NAME     tensor, statistics or md5 (default tensor)\n"
    "      --npy           tensors as .npy instead of .pt (not bf16)\n"
    "      --share X       share of the tensors that differ badly (default 0.05)\n"
    "      --exact         the others are equal to the last bit\n"
    "      --noise         the others differ in most elements, as after some layers\n"
    "      --distinct N    only N different files a side, the others are hard links to them:\n"
    "                      many rows on little disk (default: all differ)\n"
    "      --ranks N       N ranks in step0/rank0, step0/rank1, ... (default: no such folders)\n"
    "      --steps N       N steps of these (default 1)\n"
    "      --indent N      blanks per level of the json files (default 1)\n"
    "      --no-stack      no stack.json\n"
    "      --seed N        other numbers, same structure (default 1)\n"
    "      --threads N     number of threads (default: all processors)\n"
    "  -h, --help          this text\n"
    "\n"
    "example: tdcmp bench make demo --tensors 500 --dtype bf16 --ranks 2\n"
    "         tdcmp compare demo/npu demo/bench -o demo/result\n";

enum {
    OPTION_NPY = 256,
    OPTION_BENCH_DTYPE,
    OPTION_SHARE,
    OPTION_EXACT,
    OPTION_NOISE,
    OPTION_DISTINCT,
    OPTION_RANKS,
    OPTION_STEPS,
    OPTION_INDENT,
    OPTION_NO_STACK,
    OPTION_SEED,
    OPTION_THREADS
};

static const struct option long_options[] = {
    {"tensors", required_argument, NULL, 'n'},
    {"elements", required_argument, NULL, 'e'},
    {"dtype", required_argument, NULL, 'd'},
    {"bench-dtype", required_argument, NULL, OPTION_BENCH_DTYPE},
    {"task", required_argument, NULL, 't'},
    {"npy", no_argument, NULL, OPTION_NPY},
    {"share", required_argument, NULL, OPTION_SHARE},
    {"exact", no_argument, NULL, OPTION_EXACT},
    {"noise", no_argument, NULL, OPTION_NOISE},
    {"distinct", required_argument, NULL, OPTION_DISTINCT},
    {"ranks", required_argument, NULL, OPTION_RANKS},
    {"steps", required_argument, NULL, OPTION_STEPS},
    {"indent", required_argument, NULL, OPTION_INDENT},
    {"no-stack", no_argument, NULL, OPTION_NO_STACK},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static bool take_task(struct tdc_synthetic *settings, const char *name)
{
    static const struct {
        const char *name;
        tdc_mode task;
    } tasks[] = {
        {"tensor", TDC_MODE_TENSOR}, {"statistics", TDC_MODE_STATISTICS}, {"md5", TDC_MODE_DIGEST}};
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(tasks[i].name, name) == 0) {
            settings->task = tasks[i].task;
            return true;
        }
    }
    return tdc_wrong_value("--task", name, "tensor, statistics or md5");
}

static bool take_share(struct tdc_synthetic *settings, const char *text)
{
    char *end;
    settings->share = strtod(text, &end);
    return (end != text && *end == '\0' && settings->share >= 0 && settings->share <= 1) ||
           tdc_wrong_value("--share", text, "a number from 0 to 1");
}

static bool take_count(const char *option, int least, unsigned *count)
{
    int number;
    if (!tdc_parse_number(optarg, least, &number))
        return tdc_wrong_value(option, optarg, "a whole number");
    *count = (unsigned)number;
    return true;
}

static bool take_seed(struct tdc_synthetic *settings, const char *text)
{
    char *end;
    settings->seed = strtoull(text, &end, 10);
    return (text[0] >= '0' && text[0] <= '9' && *end == '\0') ||
           tdc_wrong_value("--seed", text, "a whole number");
}

static bool take_option(struct tdc_synthetic *settings, int option)
{
    switch (option) {
    case 'n':
        return tdc_parse_size(optarg, &settings->tensors) ||
               tdc_wrong_value("--tensors", optarg, "a number of tensors");
    case 'e':
        return tdc_parse_size(optarg, &settings->elements) ||
               tdc_wrong_value("--elements", optarg, "a number of elements");
    case 'd':
        return tdc_parse_dtype(optarg, strlen(optarg), &settings->dtype) ||
               tdc_wrong_value("--dtype", optarg, "f32, f16, bf16, f64, i64, i32, i16, i8 or bool");
    case OPTION_BENCH_DTYPE:
        return tdc_parse_dtype(optarg, strlen(optarg), &settings->bench_dtype) ||
               tdc_wrong_value("--bench-dtype", optarg,
                               "f32, f16, bf16, f64, i64, i32, i16, i8 or bool");
    case 't':
        return take_task(settings, optarg);
    case OPTION_NPY:
        settings->layout = TDC_LAYOUT_NPY;
        return true;
    case OPTION_SHARE:
        return take_share(settings, optarg);
    case OPTION_EXACT:
        settings->rounding = false;
        return true;
    case OPTION_NOISE:
        settings->noise = true;
        return true;
    case OPTION_DISTINCT:
        return (tdc_parse_size(optarg, &settings->distinct) && settings->distinct > 0) ||
               tdc_wrong_value("--distinct", optarg, "a number of files");
    case OPTION_RANKS:
        return take_count("--ranks", 1, &settings->ranks);
    case OPTION_STEPS:
        return take_count("--steps", 1, &settings->steps);
    case OPTION_INDENT:
        return take_count("--indent", 0, &settings->indent);
    case OPTION_NO_STACK:
        settings->stacks = false;
        return true;
    case OPTION_SEED:
        return take_seed(settings, optarg);
    case OPTION_THREADS:
        return tdc_parse_number(optarg, 1, &settings->threads) ||
               tdc_wrong_value("--threads", optarg, "a number of threads");
    default:
        return false;
    }
}

static void print_totals(const char *folder, const struct tdc_synthetic *settings,
                         const struct tdc_synthetic_totals *totals, double seconds)
{
    double bytes =
        (double)(totals->json_bytes + (settings->task == TDC_MODE_TENSOR ? totals->data_bytes : 0));
    printf("%s/npu and %s/bench: %" PRIu64 " rank%s, %" PRIu64 " rows, %" PRIu64
           " tensors, %" PRIu64 " of them with faults, %.3f GB in %.2f s (%.2f GB/s)\n",
           folder, folder, totals->dumps, totals->dumps == 1 ? "" : "s", totals->rows,
           totals->tensors, totals->different, bytes / 1e9, seconds, bytes / 1e9 / seconds);
}

int tdc_bench_make(int argc, char **argv)
{
    struct tdc_synthetic settings;
    tdc_synthetic_init(&settings);
    optind = 1;
    static const struct tdc_words words = {"bench make", "n:e:d:t:h", long_options};
    for (int option; (option = tdc_next_option(&words, argc, argv)) != TDC_NO_MORE_OPTIONS;) {
        if (option == 'h') {
            fputs(usage, stdout);
            return TDC_EXIT_SAME;
        }
        if (!take_option(&settings, option))
            return TDC_EXIT_TROUBLE;
    }
    if (argc - optind != 1) {
        tdc_complain("bench make takes one folder; %d given (tdcmp bench make --help)",
                     argc - optind);
        return TDC_EXIT_TROUBLE;
    }
    if (settings.steps > 0 && settings.ranks == 0)
        settings.ranks = 1;
    struct tdc_synthetic_totals totals;
    struct tdc_error error = {0};
    double start = tdc_seconds();
    settings.threads = tdc_bench_threads(settings.threads);
    if (tdc_synthetic_make(&settings, argv[optind], &totals, &error) != TDC_OK) {
        tdc_complain("%s", error.message);
        return TDC_EXIT_TROUBLE;
    }
    print_totals(argv[optind], &settings, &totals, tdc_seconds() - start);
    return TDC_EXIT_SAME;
}
