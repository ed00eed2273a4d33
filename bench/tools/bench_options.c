#include "bench/tools/bench_options.h"

#include <stdio.h>

#include "bench/tools/option_values.h"
#include "bench/tools/scratch.h"
#include "host/terminal/message.h"
#include "host/terminal/parse.h"
#include "host/terminal/next_option.h"
#include "io/base/team.h"

#define DEFAULT_REPEAT 5

void tdc_bench_options_init(struct tdc_bench_options *options)
{
    *options = (struct tdc_bench_options){.repeat = DEFAULT_REPEAT};
    tdc_options_init(&options->options, sizeof options->options, TDC_RULES_SOUND);
    options->options.flags |= TDC_OPTION_HIGHLIGHT;
}

static enum tdc_taken judged(bool right)
{
    return right ? TDC_TAKEN : TDC_TAKEN_WRONG;
}

enum tdc_taken tdc_take_bench_option(int option, struct tdc_bench_options *options)
{
    switch (option) {
    case 't':
        return judged(tdc_parse_number(optarg, 1, &options->options.threads) ||
                      tdc_wrong_value("--threads", optarg, "a number of threads"));
    case 'r':
        return judged(tdc_parse_number(optarg, 1, &options->repeat) ||
                      tdc_wrong_value("--repeat", optarg, "a number of runs"));
    case TDC_BENCH_OPTION_RULES:
        return judged(tdc_parse_rules(optarg, &options->options.rules) ||
                      tdc_wrong_value("--rules", optarg, TDC_RULES_NAMES));
    case TDC_BENCH_OPTION_IO:
        return judged(tdc_parse_io(optarg, &options->options.io) ||
                      tdc_wrong_value("--io", optarg, "auto, mmap, pread or direct"));
    case TDC_BENCH_OPTION_DIR:
        options->folder = optarg;
        return TDC_TAKEN;
    case TDC_BENCH_OPTION_JSON:
        options->json = true;
        return TDC_TAKEN;
    case 'h':
        options->help = true;
        return TDC_TAKEN;
    default:
        return TDC_NOT_TAKEN;
    }
}

int tdc_bench_threads(int asked)
{
    int threads = tdc_team_probe(tdc_team_size(asked));
    tdc_team_say(tdc_print_message, NULL, asked, threads);
    return threads;
}

int tdc_bench_perform(struct tdc_bench_options *options,
                      tdc_status (*work)(void *context, struct tdc_error *error), void *context)
{
    options->options.threads = tdc_bench_threads(options->options.threads);
    options->options.cancel = tdc_interrupt_watch();
    struct tdc_error error = {0};
    tdc_status status = work(context, &error);
    tdc_interrupt_obey();
    if (status != TDC_OK)
        tdc_complain("%s", error.message);
    return status == TDC_OK ? TDC_EXIT_SAME : TDC_EXIT_TROUBLE;
}

bool tdc_take_common_option(int option, struct tdc_bench_options *bench)
{
    return tdc_take_bench_option(option, bench) == TDC_TAKEN;
}

int tdc_bench_subcommand_run(const struct tdc_bench_subcommand *subcommand, int argc, char **argv,
                             struct tdc_bench_options *bench, void *settings)
{
    char name[64];
    snprintf(name, sizeof name, "bench %s", subcommand->name);
    const struct tdc_words words = {name, subcommand->short_options, subcommand->long_options};
    optind = 1;
    for (int option; (option = tdc_next_option(&words, argc, argv)) != TDC_NO_MORE_OPTIONS;)
        if (!subcommand->take(settings, option))
            return TDC_EXIT_TROUBLE;
    if (bench->help) {
        fputs(subcommand->usage, stdout);
        return TDC_EXIT_SAME;
    }
    if (optind != argc) {
        tdc_complain("bench %s takes no '%s' (tdcmp bench %s --help)", subcommand->name,
                     argv[optind], subcommand->name);
        return TDC_EXIT_TROUBLE;
    }
    return tdc_bench_perform(bench, subcommand->run, settings);
}

const char *tdc_rules_name(tdc_rules_id rules)
{
    return tdc_name_of_rules(rules);
}

const char *tdc_io_name(tdc_io io)
{
    static const char *const names[] = {
        [TDC_IO_AUTO] = "auto",
        [TDC_IO_MMAP] = "mmap",
        [TDC_IO_PREAD] = "pread",
        [TDC_IO_DIRECT] = "direct",
    };
    return (unsigned)io < sizeof names / sizeof *names ? names[io] : "unknown";
}
