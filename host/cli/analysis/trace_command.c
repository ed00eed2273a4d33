/* trace_command.c - `tdcmp trace TEST REF`: where it began, and which side is off. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/share/sharing.h"
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
    "      --shard [I/N]  compare one share of N, from 0, into a part in the folder of -o, for\n"
    "                     `tdcmp merge`; without numbers as Slurm, MPI or TDC_SHARD say\n"
    "      --restart      forget what an earlier run of this shard has done\n"
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
    struct tdc_sharing sharing;
    int top, step;
    bool html, help;
};

enum {
    OPTION_SHARD = 256,
    OPTION_RESTART
};

static bool take_options(int argc, char **argv, struct settings *settings)
{
    static const struct option long_options[] = {
        {"from", required_argument, NULL, 'f'},
        {"top", required_argument, NULL, 'n'},
        {"json", required_argument, NULL, 'j'},
        {"format", required_argument, NULL, 'F'},
        {"output", required_argument, NULL, 'o'},
        {"truth", required_argument, NULL, 'c'},
        {"step", required_argument, NULL, 's'},
        {"threads", required_argument, NULL, 't'},
        TDC_SHARE_LONG_OPTIONS(OPTION_SHARD, OPTION_RESTART),
        {"help", no_argument, NULL, 'h'},
        {0}};
    static const struct tdc_words words = {"trace", "F:o:t:h", long_options};
    optind = 1;
    for (int option; (option = tdc_next_option(&words, argc, argv)) != TDC_NO_MORE_OPTIONS;) {
        bool valid = true;
        if (option == OPTION_SHARD && !tdc_sharing_take_shard(&settings->sharing, argc, argv))
            return false;
        if (!tdc_sharing_note(&settings->sharing, long_options, option))
            return false;
        if (option == OPTION_RESTART)
            settings->sharing.restart = true;
        else if (option == OPTION_SHARD)
            continue;
        else if (option == 'f')
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

/* With --shard, and when parts are joined. */
static tdc_status begin_sharing(struct settings *settings, const tdc_tasks *tasks,
                                struct tdc_error *error)
{
    struct tdc_sharing *sharing = &settings->sharing;
    if (sharing->kind != TDC_SHARE_PART && sharing->kind != TDC_SHARE_MERGE)
        return TDC_OK;
    tdc_status status =
        tdc_sharing_begin(sharing, "trace", settings->output, NULL, &settings->options, error);
    for (size_t i = 0; i < tdc_tasks_count(tasks) && status == TDC_OK; i++) {
        const struct tdc_task *task = tdc_tasks_get(tasks, i);
        status = tdc_share_input(sharing->share, task->npu, error);
        if (status == TDC_OK)
            status = tdc_share_input(sharing->share, task->bench, error);
    }
    return status == TDC_OK ? tdc_share_start(sharing->share, error) : status;
}

static int run(struct settings *settings, const char *npu, const char *bench)
{
    tdc_tasks *tasks = NULL;
    tdc_trace *trace = NULL;
    struct tdc_error error = {0};
    tdc_status status =
        tdc_tasks_find(npu, bench, settings->step, &settings->options, &tasks, &error);
    if (status == TDC_OK)
        status = begin_sharing(settings, tasks, &error);
    if (status == TDC_OK)
        status = tdc_trace_shared(tasks, settings->from, (size_t)settings->top, settings->truth,
                                  &settings->options, settings->page, settings->sharing.share,
                                  &trace, &error);
    int code = TDC_EXIT_TROUBLE;
    if (status == TDC_OK && !tdc_sharing_finish(&settings->sharing, false))
        status = TDC_ERR_WRITE;
    else if (status != TDC_OK)
        tdc_complain("%s", error.message);
    if (status == TDC_OK && trace == NULL) {
        code = TDC_EXIT_SAME; /* a part */
    } else if (status == TDC_OK) {
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
    if (trace != NULL && settings->page != NULL &&
        !tdc_page_write(settings->page, settings->output, "trace",
                        settings->json != NULL && strcmp(settings->json, "-") == 0))
        code = TDC_EXIT_TROUBLE;
    tdc_trace_free(trace);
    tdc_tasks_free(tasks);
    return code;
}

int tdc_trace_merged(int argc, char **argv, const char *folder)
{
    struct settings settings = {.top = 5, .step = -1, .output = "./output"};
    tdc_options_init(&settings.options, sizeof settings.options, TDC_RULES_SOUND);
    settings.options.message = tdc_print_message;
    const char **words = tdc_command_words(argc, argv);
    int code = TDC_EXIT_TROUBLE;
    settings.sharing.merge = folder;
    if (words != NULL && take_options(argc, argv, &settings)) {
        if (settings.help) {
            fputs(usage, stdout);
            code = TDC_EXIT_SAME;
        } else if (tdc_sharing_settle(&settings.sharing, words, (size_t)argc + 1, argv + optind,
                                      2)) {
            settings.options.command = settings.sharing.words;
            settings.options.command_words = settings.sharing.word_count;
            if (settings.html)
                settings.page = tdc_page_new(argc, argv, settings.options.threads);
            if (!settings.html || settings.page != NULL)
                code = run(&settings, argv[optind], argv[optind + 1]);
        }
    }
    tdc_sharing_free(&settings.sharing);
    tdc_html_report_free(settings.page);
    free(words);
    return code;
}

int tdc_command_trace(int argc, char **argv)
{
    return tdc_trace_merged(argc, argv, NULL);
}
