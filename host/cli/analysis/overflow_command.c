/* overflow_command.c - `tdcmp overflow STEP`: which call made the first NaN or infinity. */
#include <getopt.h>
#include <stdio.h>

#include "host/cli/shared/command.h"
#include "host/terminal/next_option.h"

static const char usage[] =
    "usage: tdcmp overflow STEP [options]\n"
    "\n"
    "Finds the call that made the first NaN or infinity of a step, over all its ranks, from\n"
    "the statistics of dump.json. STEP is a step folder, a rank folder, a dump.json or a dump\n"
    "root with one step, of PyTorch or MindSpore.\n"
    "\n"
    "  -o, --output DIR   folder of anomaly_analyze_*.json, default ./output\n"
    "  -h, --help         this text\n"
    "\n"
    "exit code: 0 no such call, 1 found, 2 could not do the work\n"
    "\n"
    "example: tdcmp overflow test/step0 -o result\n";

static int run(const char *step, const char *output, struct tdc_options *options)
{
    tdc_beginning *beginning;
    struct tdc_error error = {0};
    if (tdc_overflow_find(step, output, options, &beginning, &error) != TDC_OK) {
        tdc_complain("%s", error.message);
        return TDC_EXIT_TROUBLE;
    }
    size_t count = tdc_beginning_count(beginning);
    bool found = count != 0;
    if (!found) {
        printf("no call turns finite inputs into NaN or infinity\n");
    } else {
        printf("first NaN or infinity: rank %ld, ", tdc_beginning_rank(beginning));
        tdc_show(stdout, tdc_beginning_call(beginning));
        if (count > 1)
            printf(" (and %zu other rank%s)", count - 1, count > 2 ? "s" : "");
        printf("\nwritten: ");
        tdc_show(stdout, tdc_beginning_file(beginning));
        printf("\n");
    }
    tdc_beginning_free(beginning);
    return found ? TDC_EXIT_DIFFERENT : TDC_EXIT_SAME;
}

/* The phases of the search are msprobe's log, and no news to a person. */
static void print_trouble(void *context, tdc_message_level level, const char *text)
{
    if (level != TDC_MESSAGE_INFO)
        tdc_print_message(context, level, text);
}

int tdc_command_overflow(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"output", required_argument, NULL, 'o'}, {"help", no_argument, NULL, 'h'}, {0}};
    const char *output = "./output";
    static const struct tdc_words words = {"overflow", "o:h", long_options};
    optind = 1;
    for (int option; (option = tdc_next_option(&words, argc, argv)) != TDC_NO_MORE_OPTIONS;) {
        if (option == 'h') {
            fputs(usage, stdout);
            return TDC_EXIT_SAME;
        }
        if (option != 'o')
            return TDC_EXIT_TROUBLE;
        output = optarg;
    }
    if (argc - optind != 1) {
        tdc_complain("overflow takes one step of a dump; %d given (tdcmp overflow --help)",
                     argc - optind);
        return TDC_EXIT_TROUBLE;
    }
    struct tdc_options options;
    tdc_options_init(&options, sizeof options, TDC_RULES_SOUND);
    options.message = print_trouble;
    return run(argv[optind], output, &options);
}
