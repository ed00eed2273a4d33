/* diff_command.c - `tdcmp diff A B`: tensors by name, wherever they are stored. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/cli/shared/run_options.h"
#include "host/terminal/next_option.h"
#include "host/terminal/parse.h"

static const char usage[] =
    "tdcmp diff - compare the tensors of two checkpoints, files or folders by name\n"
    "\n"
    "usage: tdcmp diff [OPTIONS] A B\n"
    "\n"
    "A is under test, B the reference. Each is a file (.safetensors, .gguf, .npz, .npy, or .pt,\n"
    ".pth, .bin, .ckpt with a state dict), a *.index.json of shards, a checkpoint folder (Hugging\n"
    "Face, Megatron), a dump of SGLang or any folder of such files. Two dumps are compared as "
    "tdcmp\n"
    "compare does.\n"
    "\n" TDC_RUN_PLACE_HELP
    "  -F, --format LIST        xlsx, csv, json, jsonl, html or several: xlsx,csv (default xlsx);\n"
    "                           html: a page of the whole run\n" TDC_RUN_ROWS_HELP
    "      --key PATH           of torch files: where the tensors begin (default: model or\n"
    "                           state_dict, if there are tensors in it)\n" TDC_RUN_RULES_HELP
    "      --top N              rows that a list shows (default 5)\n" TDC_RUN_WORK_HELP
        TDC_RUN_SHOWN_HELP "  -h, --help               this text\n"
    "\n"
    "exit code: 0 all tensors within tolerance, 1 differences found, 2 something could not be\n"
    "compared, or nothing was\n"
    "\n"
    "example: tdcmp diff exported/model.safetensors original -o result\n";

enum {
    OPTION_KEY = TDC_RUN_FIRST_FREE
};

static const struct option long_options[] = {
    TDC_RUN_LONG_OPTIONS{"key", required_argument, NULL, OPTION_KEY},
    {NULL, 0, NULL, 0},
};

static bool take_option(struct tdc_run_settings *settings, int option)
{
    struct tdc_run_request *request = &settings->request;
    switch (option) {
    case 'F':
        return tdc_parse_formats(optarg, &request->formats) ||
               tdc_wrong_value("--format", optarg,
                               "xlsx, csv, json, jsonl, html or several with commas");
    case OPTION_KEY:
        request->key = settings->align.key = optarg;
        return true;
    default:
        return tdc_take_run_option(settings, option);
    }
}

static bool take_options(int argc, char **argv, struct tdc_run_settings *settings)
{
    static const struct tdc_words words = {"diff", TDC_RUN_SHORT_OPTIONS, long_options};
    tdc_run_settings_init(settings);
    optind = 1;
    for (int option; (option = tdc_next_option(&words, argc, argv)) != TDC_NO_MORE_OPTIONS;)
        if (option == TDC_WRONG_OPTION || !take_option(settings, option))
            return false;
    if (settings->help)
        return true;
    if (argc - optind == 2)
        return tdc_settle_run(settings);
    tdc_complain("diff takes two paths, A and B; %d given (tdcmp diff --help)", argc - optind);
    return false;
}

/* "12 tensors equal, 3 different, 1 unmatched; 4.02 GB at 13.1 GB/s" */
static void print_total(const struct tdc_run_request *request, const struct tdc_run *run)
{
    struct tdc_run_answer answer;
    tdc_run_judge(request, run, &answer);
    const struct tdc_summary *total = &answer.total;
    unsigned long long equal = 0;
    for (int i = TDC_ROW_SAME; i < TDC_ROW_DIFFERENT; i++)
        equal += total->classes[i];
    printf("%llu tensor%s equal, %llu different, %llu unmatched", equal, equal == 1 ? "" : "s",
           (unsigned long long)total->classes[TDC_ROW_DIFFERENT],
           (unsigned long long)total->classes[TDC_ROW_UNMATCHED]);
    if (total->classes[TDC_ROW_ERROR] != 0)
        printf(", %llu unreadable", (unsigned long long)total->classes[TDC_ROW_ERROR]);
    bool small = total->bytes < 100000000;
    if (total->bytes != 0)
        printf("; %.3g %s at %.3g GB/s", (double)total->bytes * (small ? 1e-6 : 1e-9),
               small ? "MB" : "GB", (double)total->bytes * 1e-9 / total->seconds);
    printf("\n");
}

static int compare(struct tdc_run_request *request, const char *a, const char *b)
{
    tdc_tasks *tasks = NULL;
    struct tdc_error error = {0};
    struct tdc_run run = {0};
    request->tensors = !tdc_path_holds_dump(a) || !tdc_path_holds_dump(b);
    tdc_status status = request->tensors || request->align != NULL
                            ? tdc_tasks_pair(a, b, &tasks, &error)
                            : tdc_tasks_find(a, b, -1, &request->options, &tasks, &error);
    if (status == TDC_OK) {
        request->tasks = tasks;
        status = tdc_run_all(request, &run, &error);
    }
    int code = TDC_EXIT_TROUBLE;
    if (status != TDC_OK) {
        if (!tdc_run_tell_mistake(request, &error))
            tdc_complain("%s", error.message);
    } else {
        code = tdc_run_show(request, &run);
        if (!request->quiet && request->stream == TDC_FORMAT_NONE)
            print_total(request, &run);
    }
    tdc_run_free(&run);
    tdc_tasks_free(tasks);
    return code;
}

int tdc_command_diff(int argc, char **argv)
{
    struct tdc_run_settings settings;
    const char **words = tdc_command_words(argc, argv); /* before the options are sorted */
    int code = TDC_EXIT_TROUBLE;
    if (words != NULL && take_options(argc, argv, &settings)) {
        struct tdc_said said = {0};
        settings.request.options.message = tdc_print_message;
        settings.request.options.context = &said;
        settings.request.options.command = words;
        settings.request.options.command_words = (size_t)argc + 1;
        if (settings.help) {
            fputs(usage, stdout);
            code = TDC_EXIT_SAME;
        } else {
            code = compare(&settings.request, argv[optind], argv[optind + 1]);
        }
        tdc_said_free(&said);
    }
    free(words);
    return code;
}
