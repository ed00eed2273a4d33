/* gradients_command.c - `tdcmp gradients TEST REF`: msprobe's GradComparator.compare_distributed.
 */
#include <getopt.h>
#include <stdio.h>

#include "host/cli/shared/command.h"
#include "host/terminal/next_option.h"

static const char usage[] =
    "usage: tdcmp gradients TEST REF [options]\n"
    "\n"
    "How far two runs agree about the signs of their gradients, from the folders that msprobe's\n"
    "gradient probe has written (rank<N>/grad_summary_<step>.csv, rank<N>/step<N>/*.npy). Writes\n"
    "rank<N>/similarities.csv, similarities.json and a plot for each parameter.\n"
    "\n"
    "  -o, --output DIR   folder of the results, default ./output\n"
    "  -h, --help         this text\n"
    "\n"
    "exit code: 0 alike, 1 a step is unlike, 2 could not do the work\n"
    "\n"
    "example: tdcmp gradients test_grad ref_grad -o result\n";

int tdc_command_gradients(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"output", required_argument, NULL, 'o'}, {"help", no_argument, NULL, 'h'}, {0}};
    const char *output = "./output";
    static const struct tdc_words words = {"gradients", "o:h", long_options};
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
    if (argc - optind != 2) {
        tdc_complain("gradients takes two folders, TEST and REF; %d given (tdcmp gradients "
                     "--help)",
                     argc - optind);
        return TDC_EXIT_TROUBLE;
    }
    struct tdc_options options;
    tdc_options_init(&options, sizeof options, TDC_RULES_SOUND);
    options.message = tdc_print_message;
    struct tdc_error error = {0};
    size_t suspicious;
    if (tdc_gradients_compare(argv[optind], argv[optind + 1], output, &options, &suspicious,
                              &error) != TDC_OK) {
        tdc_complain("%s", error.message);
        return TDC_EXIT_TROUBLE;
    }
    if (suspicious == 0)
        printf("gradients are alike\n");
    else
        printf("gradients are unlike: %zu parameters\n", suspicious);
    return suspicious == 0 ? TDC_EXIT_SAME : TDC_EXIT_DIFFERENT;
}
