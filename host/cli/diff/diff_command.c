/* diff_command.c - `tdcmp diff A B`: tensors by name, wherever they are stored. */
#include <getopt.h>
#include <stdio.h>

#include "host/cli/shared/command.h"
#include "host/terminal/colour.h"
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
    "\n"
    "  -o, --output DIR         folder for the results (default ./output)\n"
    "  -F, --format LIST        xlsx, csv, json or several: xlsx,csv (default xlsx)\n"
    "      --key PATH           of torch files: where the tensors begin (default: model or\n"
    "                           state_dict, if there are tensors in it)\n"
    "      --align FILE         compare logical tensors by rules: checkpoints that are laid out\n"
    "                           differently (yaml, or a preset: tdcmp align --list)\n"
    "      --tolerance FILE     yaml rules that judge tensors in place of the usual limits\n"
    "      --truth C            a third, more exact one: which side is nearer to it\n"
    "      --noise C            the reference once more: differences up to its own are none\n"
    "      --top N              rows that a list shows (default 5)\n"
    "      --allow-unmatched    tensors without a partner do not make the exit code 1\n"
    "  -t, --threads N          number of threads (default: all processors)\n"
    "      --io HOW             how files are read: auto (default: mapped when in the page cache,\n"
    "                           past it when not), mmap, pread (network file systems), direct\n"
    "      --device NAME        auto (default: a card if there is one and it is faster), cpu,\n"
    "                           gpu, ascend, cuda, opencl, cuda:0,1 or cuda:all (tdcmp devices\n"
    "                           lists them)\n"
    "      --no-fallback        what the device fails to do is an error, not work for the CPU\n"
    "  -v, --verbose            speed and kernels too\n"
    "  -q, --quiet              no progress, no summary\n"
    "      --color WHEN         auto (default: on a terminal, unless NO_COLOR is set), always, "
    "never\n"
    "  -h, --help               this text\n"
    "\n"
    "exit code: 0 all tensors within tolerance, 1 differences found, 2 something could not be\n"
    "compared, or nothing was\n"
    "\n"
    "example: tdcmp diff exported/model.safetensors original -o result\n";

enum {
    OPTION_KEY = 256,
    OPTION_TOP,
    OPTION_ALLOW_UNMATCHED,
    OPTION_IO,
    OPTION_DEVICE,
    OPTION_NO_FALLBACK,
    OPTION_COLOR,
    OPTION_ALIGN,
    OPTION_TOLERANCE,
    OPTION_TRUTH,
    OPTION_NOISE
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"format", required_argument, NULL, 'F'},
    {"key", required_argument, NULL, OPTION_KEY},
    {"align", required_argument, NULL, OPTION_ALIGN},
    {"tolerance", required_argument, NULL, OPTION_TOLERANCE},
    {"truth", required_argument, NULL, OPTION_TRUTH},
    {"noise", required_argument, NULL, OPTION_NOISE},
    {"top", required_argument, NULL, OPTION_TOP},
    {"allow-unmatched", no_argument, NULL, OPTION_ALLOW_UNMATCHED},
    {"threads", required_argument, NULL, 't'},
    {"io", required_argument, NULL, OPTION_IO},
    {"device", required_argument, NULL, OPTION_DEVICE},
    {"no-fallback", no_argument, NULL, OPTION_NO_FALLBACK},
    {"verbose", no_argument, NULL, 'v'},
    {"quiet", no_argument, NULL, 'q'},
    {"color", required_argument, NULL, OPTION_COLOR},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct settings {
    struct tdc_run_request request;
    struct tdc_align_options align;
    bool help;
};

/* How the work is done, and how it is shown. */
static bool take_work(struct settings *settings, int option)
{
    struct tdc_run_request *request = &settings->request;
    switch (option) {
    case 't':
        return tdc_parse_number(optarg, 1, &request->options.threads) ||
               tdc_wrong_value("--threads", optarg, "a number of threads");
    case OPTION_IO:
        return tdc_parse_io(optarg, &request->options.io) ||
               tdc_wrong_value("--io", optarg, "auto, mmap, pread or direct");
    case OPTION_DEVICE:
        request->options.device = optarg;
        return tdc_device_valid(optarg) ||
               tdc_wrong_value("--device", optarg,
                               "auto, cpu, gpu, ascend, cuda, opencl, cuda:0,1 or cuda:all");
    case OPTION_NO_FALLBACK:
        request->options.flags |= TDC_OPTION_NO_FALLBACK;
        return true;
    case OPTION_COLOR:
        return tdc_choose_colour(optarg) ||
               tdc_wrong_value("--color", optarg, "auto, always or never");
    case 'v':
        request->verbose = true;
        return true;
    case 'q':
        request->quiet = true;
        return true;
    default:
        return false;
    }
}

static bool take_option(struct settings *settings, int option)
{
    struct tdc_run_request *request = &settings->request;
    switch (option) {
    case 'o':
        request->output = optarg;
        return true;
    case 'F':
        return (tdc_parse_formats(optarg, &request->formats) &&
                (request->formats & TDC_FORMATS_PAGE) == 0) ||
               tdc_wrong_value("--format", optarg, "xlsx, csv, json or several with commas");
    case OPTION_KEY:
        request->key = optarg;
        return true;
    case OPTION_ALIGN:
        settings->align.rules = optarg;
        return true;
    case OPTION_TOLERANCE:
        request->options.tolerance_file = optarg;
        return true;
    case OPTION_TRUTH:
        request->truth = optarg;
        return true;
    case OPTION_NOISE:
        request->noise = optarg;
        return true;
    case OPTION_TOP:
        return tdc_parse_number(optarg, 1, &request->top) ||
               tdc_wrong_value("--top", optarg, "a number of rows");
    case OPTION_ALLOW_UNMATCHED:
        request->allow_unmatched = true;
        return true;
    case 'h':
        settings->help = true;
        return true;
    default:
        return take_work(settings, option);
    }
}

static bool take_options(int argc, char **argv, struct settings *settings)
{
    static const struct tdc_words words = {"diff", "o:F:t:vqh", long_options};
    struct tdc_run_request *request = &settings->request;
    *settings = (struct settings){.help = false};
    tdc_options_init(&request->options, sizeof request->options, TDC_RULES_SOUND);
    tdc_align_options_init(&settings->align, sizeof settings->align);
    request->output = "./output";
    request->formats = TDC_FORMAT_XLSX;
    optind = 1;
    for (int option; (option = tdc_next_option(&words, argc, argv)) != TDC_NO_MORE_OPTIONS;)
        if (option == TDC_WRONG_OPTION || !take_option(settings, option))
            return false;
    settings->align.key = request->key;
    settings->align.truth = request->truth != NULL ? request->truth : request->noise;
    if (settings->align.rules != NULL)
        request->align = &settings->align;
    if (settings->help || argc - optind == 2)
        return true;
    tdc_complain("diff takes two paths, A and B; %d given (tdcmp diff --help)", argc - optind);
    return false;
}

/* "12 tensors equal, 3 different, 1 unmatched; 4.02 GB at 13.1 GB/s" */
static void print_total(const struct tdc_run_answer *answer)
{
    const struct tdc_summary *total = &answer->total;
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
    if (status == TDC_ERR_ARGUMENT &&
        (request->align != NULL || request->options.tolerance_file != NULL)) {
        tdc_show(stderr, error.message); /* FILE:LINE: text, as compilers have it */
        fputc('\n', stderr);
    } else if (status != TDC_OK) {
        tdc_complain("%s", error.message);
    } else {
        struct tdc_run_answer answer;
        bool printed = request->quiet || tdc_print_page(request, &run);
        tdc_run_judge(request, &run, &answer);
        if (!request->quiet && printed) {
            tdc_print_rest(&run);
            print_total(&answer);
        }
        code = printed ? answer.code : TDC_EXIT_TROUBLE;
    }
    tdc_run_free(&run);
    tdc_tasks_free(tasks);
    return code;
}

int tdc_command_diff(int argc, char **argv)
{
    struct settings settings;
    if (!take_options(argc, argv, &settings))
        return TDC_EXIT_TROUBLE;
    if (settings.help) {
        fputs(usage, stdout);
        return TDC_EXIT_SAME;
    }
    struct tdc_said said = {0};
    settings.request.options.message = tdc_print_message;
    settings.request.options.context = &said;
    int code = compare(&settings.request, argv[optind], argv[optind + 1]);
    tdc_said_free(&said);
    return code;
}
