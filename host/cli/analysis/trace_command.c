/* trace_command.c - `tdcmp trace TEST REF`: where it began, and which side is off. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/shared/command.h"
#include "host/cli/shared/page_file.h"
#include "host/terminal/next_option.h"
#include "host/terminal/parse.h"

static const char usage[] =
    "usage: tdcmp trace TEST REF [options]\n"
    "\n"
    "Names the call with which two runs begin to differ, over all ranks: its inputs agree, its\n"
    "output does not. Computes it again in float64 from each side's own inputs and says which "
    "side\n"
    "is off. Then the next independent ones, the first NaN of each side, and how the difference\n"
    "grows. Takes what `tdcmp compare` takes.\n"
    "\n"
    "      --from NAME    only calls from the first whose name begins so\n"
    "      --top N        origins to show and judge, default 5\n"
    "      --json FILE    all of it as JSON, - for the standard output\n"
    "  -F, --format html  a page with the rows of all ranks, the origins and their judge\n"
    "  -o, --output DIR   folder for the page (default ./output)\n"
    "      --truth DUMP   a third, more exact run: which side is nearer to it\n"
    "      --step N       one step of dump roots\n"
    "  -t, --threads N    number of threads\n"
    "  -h, --help         this text\n"
    "\n"
    "exit code: 0 nothing, 1 an origin was found, 2 could not do the work\n"
    "\n"
    "example: tdcmp trace test/step0 ref/step0 --top 3\n";

struct settings {
    struct tdc_options options;
    const char *from, *truth, *json, *output;
    tdc_html_report *page; /* to be filled and written; NULL: none */
    int top, step;
    bool html, help;
};

static bool take_options(int argc, char **argv, struct settings *settings)
{
    static const struct option long_options[] = {
        {"from", required_argument, NULL, 'f'},   {"top", required_argument, NULL, 'n'},
        {"json", required_argument, NULL, 'j'},   {"format", required_argument, NULL, 'F'},
        {"output", required_argument, NULL, 'o'}, {"truth", required_argument, NULL, 'c'},
        {"step", required_argument, NULL, 's'},   {"threads", required_argument, NULL, 't'},
        {"help", no_argument, NULL, 'h'},         {0}};
    static const struct tdc_words words = {"trace", "F:o:t:h", long_options};
    optind = 1;
    for (int option; (option = tdc_next_option(&words, argc, argv)) != TDC_NO_MORE_OPTIONS;) {
        bool valid = true;
        if (option == 'f')
            settings->from = optarg;
        else if (option == 'c')
            settings->truth = optarg;
        else if (option == 'j')
            settings->json = optarg;
        else if (option == 'o')
            settings->output = optarg;
        else if (option == 'F' && !tdc_page_format(optarg))
            return false;
        else if (option == 'F')
            settings->html = true;
        else if (option == 'n')
            valid = tdc_parse_number(optarg, 1, &settings->top);
        else if (option == 's')
            valid = tdc_parse_number(optarg, 0, &settings->step);
        else if (option == 't')
            valid = tdc_parse_number(optarg, 1, &settings->options.threads);
        else if (option == 'h')
            settings->help = true;
        else
            return false;
        if (!valid) {
            tdc_complain("'%s' is no number for this option (tdcmp trace --help)", optarg);
            return false;
        }
    }
    if (settings->help || argc - optind == 2)
        return true;
    tdc_complain("trace takes two dumps, TEST and REF; %d given (tdcmp trace --help)",
                 argc - optind);
    return false;
}

static int run(const struct settings *settings, const char *npu, const char *bench)
{
    tdc_tasks *tasks = NULL;
    tdc_trace *trace = NULL;
    struct tdc_error error = {0};
    tdc_status status =
        tdc_tasks_find(npu, bench, settings->step, &settings->options, &tasks, &error);
    if (status == TDC_OK)
        status = tdc_trace_truth(tasks, settings->from, (size_t)settings->top, settings->truth,
                                 &settings->options, settings->page, &trace, &error);
    int code = TDC_EXIT_TROUBLE;
    if (status != TDC_OK) {
        tdc_complain("%s", error.message);
    } else {
        code = tdc_trace_origins(trace) != 0   ? TDC_EXIT_DIFFERENT
               : tdc_trace_missing(trace) != 0 ? TDC_EXIT_TROUBLE
                                               : TDC_EXIT_SAME;
        bool standard = settings->json != NULL && strcmp(settings->json, "-") == 0;
        const char *json = standard ? tdc_trace_json(trace) : NULL;
        if (json != NULL)
            fputs(json, stdout);
        else
            tdc_show_lines(stdout, tdc_trace_text(trace));
        if (standard && json == NULL) {
            tdc_complain("out of memory for the json");
            code = TDC_EXIT_TROUBLE;
        }
        if (settings->json != NULL && !standard &&
            tdc_trace_write(trace, settings->json, &error) != TDC_OK) {
            tdc_complain("%s", error.message);
            code = TDC_EXIT_TROUBLE;
        }
    }
    if (status == TDC_OK && settings->page != NULL &&
        !tdc_page_write(settings->page, settings->output, "trace",
                        settings->json != NULL && strcmp(settings->json, "-") == 0))
        code = TDC_EXIT_TROUBLE;
    tdc_trace_free(trace);
    tdc_tasks_free(tasks);
    return code;
}

int tdc_command_trace(int argc, char **argv)
{
    struct settings settings = {.top = 5, .step = -1, .output = "./output"};
    tdc_options_init(&settings.options, sizeof settings.options, TDC_RULES_SOUND);
    settings.options.message = tdc_print_message;
    const char **words = tdc_command_words(argc, argv);
    int code = TDC_EXIT_TROUBLE;
    if (words != NULL && take_options(argc, argv, &settings)) {
        settings.options.command = words;
        settings.options.command_words = (size_t)argc + 1;
        if (settings.help) {
            fputs(usage, stdout);
            code = TDC_EXIT_SAME;
        } else {
            if (settings.html)
                settings.page = tdc_page_new(argc, argv, settings.options.threads);
            if (!settings.html || settings.page != NULL)
                code = run(&settings, argv[optind], argv[optind + 1]);
        }
    }
    tdc_html_report_free(settings.page);
    free(words);
    return code;
}
