/* bench_plain.c - `tdcmp bench TEST REF` and `tdcmp bench matrix`: options and which of the two it
 * is. */
#include "bench/commands/bench_plain.h"

#include <stdio.h>
#include <string.h>

#include "host/terminal/message.h"
#include "bench/commands/bench_command.h"
#include "host/terminal/match_options.h"
#include "host/terminal/parse.h"
#include "host/terminal/next_option.h"

static const char usage[] =
    "tdcmp bench - how fast tdcmp is on this machine\n"
    "\n"
    "usage: tdcmp bench [OPTIONS] TEST REF         your dumps, warm and cold\n"
    "       tdcmp bench matrix [OPTIONS]           synthetic dumps: types x tensor sizes\n"
    "       tdcmp bench SUBCOMMAND ...\n"
    "\n"
    "subcommands (SUBCOMMAND --help lists their options):\n"
    "  matrix      types x tensor sizes, some minutes; the word may be left out if there are "
    "options\n"
    "  compare     the cases the project sets itself targets for\n"
    "  kernels     the arithmetic alone: each CPU variant, speed and numeric error\n"
    "  io          reading alone: mapped, pread, direct\n"
    "  match       how the time to match names grows with the records\n"
    "  trace       the searches over many ranks, and a trace beside its comparison\n"
    "  cluster     a comparison by 1 to 1024 processes, simulated\n"
    "  device      the hops of a comparison on an Ascend card, and its self-tests\n"
    "  reference   the operators in float64 that the precheck judges by\n"
    "  make DIR    write a pair of synthetic dumps to DIR/npu and DIR/bench\n"
    "  network DIR compute a training step and write it to DIR/test and DIR/ref\n"
    "\n"
    "Every figure stands beside a bare read of the same files with the same threads; the fastest\n"
    "of several runs in turns counts. TEST and REF are what `tdcmp compare` takes. Cold "
    "means\n"
    "that the page cache was asked to forget the tensor files before each run, and was checked.\n"
    "\n"
    "  -d, --dtype LIST         synthetic: f32, f16, bf16, f64, i64, i32, i16, i8, bool or pairs\n"
    "                           as bf16/f32\n"
    "                           (default f32,bf16,f16,f64,i32,bf16/f32)\n"
    "  -s, --size LIST          synthetic: bytes of a tensor; K, M, G allowed\n"
    "                           (default 4K,64K,1M,16M,64M)\n"
    "      --total BYTES        synthetic: tensor data of a side, at most 2048 tensors (default "
    "64M)\n"
    "      --state NAME         dumps: warm, cold or both (default both)\n"
    "      --step N             of dump roots: this step only\n" TDC_MATCH_OPTIONS_HELP
    "  -t, --threads N          number of threads (default: all processors)\n"
    "  -r, --repeat N           runs of which the fastest counts (default 5; slow ones do fewer)\n"
    "      --rules NAME         sound (default); msprobe or msprobe26: judge as msprobe\n"
    "      --io HOW             how tensor files are read: auto (default), mmap, pread, direct\n"
    "      --dir DIR            where to put the temporary folder (default $TMPDIR or /tmp)\n"
    "      --json               one json object for machines\n"
    "  -h, --help               this text\n"
    "\n"
    "example: tdcmp bench matrix --dtype f32,bf16 --size 64K,16M\n"
    "         tdcmp bench test/step0 ref/step0 --state cold --json\n";

enum {
    OPTION_TOTAL = TDC_BENCH_OPTION_FIRST_FREE,
    OPTION_STATE,
    OPTION_STEP
};

static const struct option long_options[] = {
    {"dtype", required_argument, NULL, 'd'},
    {"size", required_argument, NULL, 's'},
    {"total", required_argument, NULL, OPTION_TOTAL},
    {"state", required_argument, NULL, OPTION_STATE},
    {"step", required_argument, NULL, OPTION_STEP},
    TDC_BENCH_LONG_OPTIONS TDC_BENCH_COMPARE_LONG_OPTIONS TDC_BENCH_DIR_LONG_OPTION
        TDC_MATCH_LONG_OPTIONS{NULL, 0, NULL, 0},
};

static bool parse_sizes(const char *list, struct tdc_plain_settings *settings)
{
    settings->size_count = 0;
    do {
        char text[32];
        size_t length = strcspn(list, ",");
        snprintf(text, sizeof text, "%.*s", (int)(length < 31 ? length : 31), list);
        if (settings->size_count == TDC_MOST_SIZES ||
            !tdc_parse_size(text, &settings->sizes[settings->size_count++]))
            return false;
        list += length;
    } while (*list++ == ',');
    return true;
}

static bool take_state(struct tdc_plain_settings *settings, const char *name)
{
    bool both = strcmp(name, "both") == 0;
    settings->warm = both || strcmp(name, "warm") == 0;
    settings->cold = both || strcmp(name, "cold") == 0;
    return settings->warm || settings->cold ||
           tdc_wrong_value("--state", name, "warm, cold or both");
}

static bool take_option(struct tdc_plain_settings *settings, int option)
{
    switch (option) {
    case 'd':
        return tdc_parse_pairs(optarg, settings->pairs, &settings->pair_count) ||
               tdc_wrong_value("--dtype", optarg, TDC_PAIR_NAMES);
    case 's':
        return parse_sizes(optarg, settings) ||
               tdc_wrong_value("--size", optarg, "bytes, as in 64K,16M");
    case OPTION_TOTAL:
        return tdc_parse_size(optarg, &settings->total) ||
               tdc_wrong_value("--total", optarg, "bytes, as in 256M");
    case OPTION_STATE:
        return take_state(settings, optarg);
    case OPTION_STEP:
        return tdc_parse_number(optarg, 0, &settings->step) ||
               tdc_wrong_value("--step", optarg, "a step number");
    default:
        break;
    }
    enum tdc_taken taken = tdc_take_bench_option(option, &settings->bench);
    if (taken != TDC_NOT_TAKEN)
        return taken == TDC_TAKEN;
    return tdc_take_match_option(option, optarg, &settings->bench.options);
}

void tdc_bench_print_help(void)
{
    fputs(usage, stdout);
}

int tdc_bench_plain(int argc, char **argv)
{
    struct tdc_plain_settings settings = {
        .pairs = {{TDC_F32, TDC_F32},
                  {TDC_BF16, TDC_BF16},
                  {TDC_F16, TDC_F16},
                  {TDC_F64, TDC_F64},
                  {TDC_I32, TDC_I32},
                  {TDC_BF16, TDC_F32}},
        .pair_count = 6,
        .sizes = {4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20},
        .size_count = 5,
        .total = 64 << 20,
        .step = -1,
        .warm = true,
        .cold = true,
    };
    tdc_bench_options_init(&settings.bench);
    optind = 1;
    static const struct tdc_words words = {
        "bench", "d:s:" TDC_BENCH_SHORT_OPTIONS TDC_MATCH_SHORT_OPTIONS, long_options};
    for (int option; (option = tdc_next_option(&words, argc, argv)) != TDC_NO_MORE_OPTIONS;)
        if (!take_option(&settings, option))
            return TDC_EXIT_TROUBLE;
    if (settings.bench.help) {
        tdc_bench_print_help();
        return TDC_EXIT_SAME;
    }
    if (argc - optind == 0)
        return tdc_bench_perform(&settings.bench, tdc_bench_matrix, &settings);
    if (argc - optind != 2) {
        tdc_complain("bench takes two dumps or a subcommand, not '%s' (tdcmp bench --help)",
                     argv[optind]);
        return TDC_EXIT_TROUBLE;
    }
    settings.npu = argv[optind];
    settings.bench_dump = argv[optind + 1];
    return tdc_bench_perform(&settings.bench, tdc_bench_dumps, &settings);
}
