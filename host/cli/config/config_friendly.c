/* config_friendly.c - `tdcmp config_check A B`: two packed configurations, or two checkpoints. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "host/cli/shared/command.h"
#include "host/terminal/next_option.h"
#include "host/terminal/parse.h"
#include "io/storage/looking.h"

static const char usage[] =
    "usage: tdcmp config_check REF TEST [options]\n"
    "\n"
    "Compares two packed configurations (zip files of `msprobe config_check -d`), or two\n"
    "checkpoints of Megatron (folders).\n"
    "\n"
    "  -o, --output PATH   configurations: folder of result.xlsx, default ./config_check_result;\n"
    "                      checkpoints: the json file, default ./ckpt_similarity.json\n"
    "  -t, --threads N     for checkpoints, default: one per processor\n"
    "  -h, --help          this text\n"
    "\n"
    "exit code: 0 nothing differs, 1 something does, 2 the work could not be done\n"
    "\n"
    "msprobe's words: tdcmp config_check -c A B | -vc A B | -vv [YAML] LOG | -sc A B [-o PATH]\n"
    "\n"
    "example: tdcmp config_check ref.zip test.zip -o result\n";

static void show(void *context, tdc_message_level level, const char *text)
{
    (void)context;
    if (level != TDC_MESSAGE_INFO)
        tdc_complain("%s", text);
}

static int compare_packs(char *const *paths, const char *output)
{
    struct tdc_config_options options;
    tdc_config_level worst;
    size_t items;
    struct tdc_error error = {0};
    if (output == NULL)
        output = "./config_check_result";
    tdc_config_options_init(&options, sizeof options);
    options.flags = TDC_CONFIG_COMPLETE;
    options.message = show;
    if (tdc_config_compare(paths[0], paths[1], output, &options, &worst, &items, &error) !=
        TDC_OK) {
        tdc_complain("%s", error.message);
        return TDC_EXIT_TROUBLE;
    }
    if (items == 0) {
        tdc_complain("the packs have nothing in common");
        return TDC_EXIT_TROUBLE;
    }
    static const char *const words[] = {[TDC_CONFIG_PASS] = "the same",
                                        [TDC_CONFIG_WARNING] = "warnings",
                                        [TDC_CONFIG_ERROR] = "errors"};
    printf("%zu item%s compared: %s; %s/result.xlsx\n", items, items == 1 ? "" : "s", words[worst],
           output);
    return worst == TDC_CONFIG_PASS ? TDC_EXIT_SAME : TDC_EXIT_DIFFERENT;
}

static int compare_checkpoints(char *const *paths, const char *output, int threads)
{
    struct tdc_checkpoint_options options;
    struct tdc_checkpoint_summary summary;
    struct tdc_error error = {0};
    if (output == NULL)
        output = "./ckpt_similarity.json";
    tdc_checkpoint_options_init(&options, sizeof options);
    options.threads = threads;
    options.message = show;
    if (tdc_checkpoint_compare(paths[0], paths[1], output, &options, &summary, sizeof summary,
                               &error) != TDC_OK) {
        tdc_complain("%s", error.message);
        return TDC_EXIT_TROUBLE;
    }
    if (summary.common == 0) {
        tdc_complain("the checkpoints have no parameter in common");
        return TDC_EXIT_TROUBLE;
    }
    printf("%llu parameters compared, %llu differ; only in the first %llu, only in the second "
           "%llu; %s\n",
           (unsigned long long)summary.common, (unsigned long long)summary.different,
           (unsigned long long)summary.only_first, (unsigned long long)summary.only_second, output);
    return summary.different + summary.only_first + summary.only_second == 0 ? TDC_EXIT_SAME
                                                                             : TDC_EXIT_DIFFERENT;
}

int tdc_command_config_check(int argc, char **argv)
{
    static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                            {"threads", required_argument, NULL, 't'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    const char *output = NULL;
    int threads = 0;
    static const struct tdc_words words = {"config_check", "o:t:h", options};
    optind = 1;
    for (int option; (option = tdc_next_option(&words, argc, argv)) != TDC_NO_MORE_OPTIONS;) {
        if (option == 'h') {
            fputs(usage, stdout);
            return TDC_EXIT_SAME;
        }
        if (option == 'o')
            output = optarg;
        else if (option == TDC_WRONG_OPTION)
            return TDC_EXIT_TROUBLE;
        else if (!tdc_parse_number(optarg, 1, &threads)) {
            tdc_wrong_value("--threads", optarg, "a number of threads");
            return TDC_EXIT_TROUBLE;
        }
    }
    if (argc - optind != 2) {
        tdc_complain("two packs or two checkpoints to compare, please");
        return TDC_EXIT_TROUBLE;
    }
    if (tdc_is_folder(argv[optind]))
        return compare_checkpoints(argv + optind, output, threads);
    return compare_packs(argv + optind, output);
}
