/* merge_command.c - `tdcmp merge DIR`: parts of shards joined; with --config FILE metrics of all
 * ranks side by side. */
#include <getopt.h>
#include <stdio.h>

#include "host/cli/shared/command.h"
#include "host/terminal/next_option.h"

static const char usage[] =
    "usage: tdcmp merge OUT\n"
    "       tdcmp merge DIR --config FILE [options]\n"
    "\n"
    "Joins the parts that tdcmp compare --shard or precheck --shard has left in OUT into the\n"
    "results that one process would have written, and answers as it would.\n"
    "\n"
    "With --config: puts chosen rows of the compare results of all ranks side by side: a workbook\n"
    "with a sheet for each metric and a column for each rank. DIR holds\n"
    "compare_result_rank<N>_<time>.xlsx or .csv, of tdcmp or of msprobe; other files are passed\n"
    "over.\n"
    "\n"
    "  -c, --config FILE  yaml: `api`, a list of beginnings of names, and `compare_index`, a list\n"
    "                     of metrics (none: all)\n"
    "  -o, --output DIR   folder of multi_ranks_compare_merge_*.xlsx, default ./output\n"
    "  -h, --help         this text\n"
    "\n"
    "exit code: that of the command whose parts they are, 2 if one is missing; with --config 0\n"
    "written, 2 could not do the work\n"
    "\n"
    "example: tdcmp merge result --config merge.yaml -o merged\n";

int tdc_command_merge(int argc, char **argv)
{
    static const struct option long_options[] = {{"config", required_argument, NULL, 'c'},
                                                 {"output", required_argument, NULL, 'o'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {0}};
    const char *output = "./output", *config = NULL;
    static const struct tdc_words words = {"merge", "c:o:h", long_options};
    optind = 1;
    for (int option; (option = tdc_next_option(&words, argc, argv)) != TDC_NO_MORE_OPTIONS;) {
        if (option == 'h') {
            fputs(usage, stdout);
            return TDC_EXIT_SAME;
        }
        if (option == 'c')
            config = optarg;
        else if (option == 'o')
            output = optarg;
        else
            return TDC_EXIT_TROUBLE;
    }
    if (argc - optind != 1) {
        tdc_complain("merge takes one folder (tdcmp merge --help)");
        return TDC_EXIT_TROUBLE;
    }
    if (config == NULL)
        return tdc_merge_parts(argv[optind]);
    struct tdc_options options;
    tdc_options_init(&options, sizeof options, TDC_RULES_SOUND);
    options.message = tdc_print_message;
    struct tdc_error error = {0};
    tdc_status status =
        tdc_results_merge(argv[optind], output, config, TDC_MERGE_LENIENT, &options, &error);
    if (status != TDC_OK)
        tdc_complain("%s", error.message);
    return status == TDC_OK ? TDC_EXIT_SAME : TDC_EXIT_TROUBLE;
}
