/* kernels_command.c - `tdcmp kernels TEST REF`: trees of npy files of single kernels. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>

#include "host/cli/shared/command.h"
#include "host/terminal/next_option.h"
#include "host/terminal/parse.h"

static const char usage[] =
    "usage: tdcmp kernels TEST REF [options]\n"
    "\n"
    "Compares the tensors of single kernels: two trees OPERATOR/TIME/*.npy with the same "
    "operators,\n"
    "times and files paired by their places in the order of their names. Writes\n"
    "batch_compare_<time>.csv with a row for each pair, as the parse shell of msprobe does.\n"
    "\n"
    "  -o, --output DIR   folder of the result, default ./output\n"
    "  -t, --threads N    number of threads\n"
    "  -h, --help         this text\n"
    "\n"
    "exit code: 0 all files hold the same bytes, 1 some do not, 2 could not do the work\n"
    "\n"
    "example: tdcmp kernels test_npy ref_npy -o result\n";

static int compare(const char *npu, const char *bench, const char *output,
                   const struct tdc_options *options)
{
    struct tdc_error error = {0};
    struct tdc_kernel_batch batch;
    if (tdc_kernel_batch_compare(npu, bench, output, options, &batch, sizeof batch, &error) !=
        TDC_OK) {
        tdc_complain("%s", error.message);
        return TDC_EXIT_TROUBLE;
    }
    printf("%" PRIu64 " pairs of %" PRIu64 " operators: %" PRIu64 " hold the same bytes",
           batch.pairs, batch.operators, batch.equal);
    if (batch.failed != 0)
        printf(", %" PRIu64 " could not be compared", batch.failed);
    if (batch.unpaired != 0)
        printf(", %" PRIu64 " have no partner", batch.unpaired);
    printf("\nWrote %s\n", batch.file);
    if (batch.failed != 0)
        return TDC_EXIT_TROUBLE;
    return batch.equal == batch.pairs && batch.unpaired == 0 ? TDC_EXIT_SAME : TDC_EXIT_DIFFERENT;
}

int tdc_command_kernels(int argc, char **argv)
{
    static const struct option long_options[] = {{"output", required_argument, NULL, 'o'},
                                                 {"threads", required_argument, NULL, 't'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {0}};
    static const struct tdc_words words = {"kernels", "o:t:h", long_options};
    const char *output = "./output";
    struct tdc_options options;
    tdc_options_init(&options, sizeof options, TDC_RULES_SOUND);
    options.message = tdc_print_message;
    optind = 1;
    for (int option; (option = tdc_next_option(&words, argc, argv)) != TDC_NO_MORE_OPTIONS;) {
        if (option == 'h') {
            fputs(usage, stdout);
            return TDC_EXIT_SAME;
        }
        if (option == 'o')
            output = optarg;
        else if (option != 't')
            return TDC_EXIT_TROUBLE;
        else if (!tdc_parse_number(optarg, 1, &options.threads)) {
            tdc_wrong_value("--threads", optarg, "a number of threads");
            return TDC_EXIT_TROUBLE;
        }
    }
    if (argc - optind != 2) {
        tdc_complain("kernels takes two folders, TEST and REF; %d given (tdcmp kernels --help)",
                     argc - optind);
        return TDC_EXIT_TROUBLE;
    }
    return compare(argv[optind], argv[optind + 1], output, &options);
}
