/* convert_command.c - `tdcmp convert DUMP -o DIR`: GE dump files to npy. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "host/cli/shared/command.h"

static const char usage[] =
    "usage: tdcmp convert DUMP [options]\n"
    "\n"
    "Writes the tensors of a GE dump file, or of all dump files below a folder, as .npy files:\n"
    "FILE.input.0.npy, FILE.output.0.npy, ... in the shapes they are stored in. bfloat16 becomes\n"
    "float32, float8 float64. Files that cannot be read are listed in\n"
    "convert_failed_file_list.txt.\n"
    "\n"
    "  -o, --output DIR   folder of the results, default ./output\n"
    "      --to FORMAT    npy (the only one)\n"
    "  -q, --quiet        say nothing on stdout\n"
    "  -h, --help         this text\n"
    "\n"
    "exit code: 0 all were converted, 1 some could not be, 2 could not do the work\n"
    "\n"
    "example: tdcmp convert dump/20250301080100/0/graph_1/1/0 -o arrays\n";

enum {
    OPTION_TO = 256
};

int tdc_command_convert(int argc, char **argv)
{
    static const struct option long_options[] = {{"output", required_argument, NULL, 'o'},
                                                 {"to", required_argument, NULL, OPTION_TO},
                                                 {"quiet", no_argument, NULL, 'q'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {0}};
    const char *output = "./output";
    bool quiet = false;
    optind = 1;
    for (int option; (option = getopt_long(argc, argv, "o:qh", long_options, NULL)) != -1;) {
        if (option == 'h') {
            fputs(usage, stdout);
            return TDC_EXIT_SAME;
        }
        if (option == 'o') {
            output = optarg;
        } else if (option == 'q') {
            quiet = true;
        } else if (option != OPTION_TO) {
            return TDC_EXIT_TROUBLE;
        } else if (strcmp(optarg, "npy") != 0) {
            tdc_complain("--to %s: only npy can be written", tdc_shown(optarg));
            return TDC_EXIT_TROUBLE;
        }
    }
    if (argc - optind != 1) {
        tdc_complain("convert takes one file or folder; %d given (tdcmp convert --help)",
                     argc - optind);
        return TDC_EXIT_TROUBLE;
    }
    struct tdc_options options;
    struct tdc_error error = {0};
    struct tdc_conversion done;
    tdc_options_init(&options, sizeof options, TDC_RULES_SOUND);
    options.message = tdc_print_message;
    if (tdc_convert_dump(argv[optind], output, &options, &done, sizeof done, &error) != TDC_OK) {
        tdc_complain("%s", error.message);
        return TDC_EXIT_TROUBLE;
    }
    if (!quiet)
        printf("%llu tensors of %llu dump files written to %s%s\n",
               (unsigned long long)done.tensors, (unsigned long long)done.files, tdc_shown(output),
               done.failed != 0 ? ", failures in convert_failed_file_list.txt" : "");
    if (done.failed == done.files)
        return TDC_EXIT_TROUBLE;
    return done.failed != 0 ? TDC_EXIT_DIFFERENT : TDC_EXIT_SAME;
}
