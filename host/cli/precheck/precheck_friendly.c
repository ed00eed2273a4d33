/* precheck_friendly.c - `tdcmp precheck DUMP`. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/share/sharing.h"
#include "host/cli/shared/command.h"
#include "host/cli/shared/page_file.h"
#include "host/terminal/colour.h"
#include "host/terminal/next_option.h"
#include "host/terminal/parse.h"
#include "host/terminal/progress.h"
#include "host/cli/precheck/precheck_summary.h"

static const char usage[] =
    "tdcmp precheck - judge each operator of one dump by a float64 reference\n"
    "\n"
    "usage: tdcmp precheck [OPTIONS] DUMP\n"
    "\n"
    "DUMP is a dump.json, a rank or process folder, a step folder (all its ranks) or a dump root.\n"
    "Each API call's outputs and gradients are computed again from its recorded inputs and\n"
    "compared. Dumps with statistics alone get random inputs, computed on this machine in the\n"
    "recorded dtype.\n"
    "\n"
    "  -o, --output DIR         folder for the results (default ./output)\n"
    "  -F, --format html        one page of all dumps beside the csv files: ULP per API, slots\n"
    "      --max-abs-err T      a slot passes when MaxAbsErr is below T (default 0.0001)\n"
    "      --cos T              and Cosine above T (default 0.99)\n"
    "      --bench-round HOW    round the reference to the tested dtype first: auto (default:\n"
    "                           float16 and bfloat16), none, tested\n"
    "      --rules NAME         sound (default); msprobe or msprobe26: judge as msprobe does\n"
    "                           (--profile extended and compat are older words for it)\n"
    "      --standard NAME      cosine (default), or pytorch: msprobe's standard for each API\n"
    "      --mode MODE          tested side: recorded (task tensor), or execute: run the call on\n"
    "                           this machine in its dtype's arithmetic (task statistics); auto\n"
    "      --resume FILE        go on with this accuracy_checking_result_*.csv\n"
    "      --save-error-data    keep tensors of failing calls that were executed\n"
    "      --no-json            no details as JSON, the CSV files only\n"
    "      --explain CALL       show one call, by any name of the tables: inputs, worst elements,\n"
    "                           ULPs; writes no files\n"
    "      --shard [I/N]        do share I (from 0) of N and leave a part in the folder for tdcmp\n"
    "                           merge; without numbers: those of Slurm, MPI or TDC_SHARD\n"
    "      --restart            forget what an interrupted shard with the same words has done\n"
    "      --list-apis          the APIs there is a reference for, with their arguments\n"
    "  -t, --threads N          number of threads (default: all processors)\n"
    "      --io-timeout SECONDS how long a network file system is waited for (default 300, 0: for\n"
    "                           ever)\n"
    "      --top N              APIs that each list of the page shows (default 10)\n"
    "  -v, --verbose            each call's time and kernels too\n"
    "  -q, --quiet              no progress, no page: the paths of the results and nothing else\n"
    "      --color WHEN         auto (default: on a terminal, unless NO_COLOR is set), always, "
    "never\n"
    "  -V, --version            version of program and library\n"
    "  -h, --help               this text\n"
    "\n"
    "exit code: 0 no slot fails, 1 some do, 2 a dump could not be checked, or nothing of it\n"
    "\n"
    "example: tdcmp precheck npu_dump/step0/rank0 -o result\n";

enum {
    OPTION_MAX_ABS_ERR = 256,
    OPTION_COS,
    OPTION_BENCH_ROUND,
    OPTION_RULES,
    OPTION_STANDARD,
    OPTION_MODE,
    OPTION_RESUME,
    OPTION_SAVE_ERROR_DATA,
    OPTION_NO_JSON,
    OPTION_EXPLAIN,
    OPTION_LIST_APIS,
    OPTION_TOP,
    OPTION_COLOR,
    OPTION_SHARD,
    OPTION_RESTART,
    OPTION_IO_TIMEOUT
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"format", required_argument, NULL, 'F'},
    {"max-abs-err", required_argument, NULL, OPTION_MAX_ABS_ERR},
    {"cos", required_argument, NULL, OPTION_COS},
    {"bench-round", required_argument, NULL, OPTION_BENCH_ROUND},
    {"rules", required_argument, NULL, OPTION_RULES},
    {"profile", required_argument, NULL, OPTION_RULES},
    {"standard", required_argument, NULL, OPTION_STANDARD},
    {"mode", required_argument, NULL, OPTION_MODE},
    {"resume", required_argument, NULL, OPTION_RESUME},
    {"save-error-data", no_argument, NULL, OPTION_SAVE_ERROR_DATA},
    {"no-json", no_argument, NULL, OPTION_NO_JSON},
    {"explain", required_argument, NULL, OPTION_EXPLAIN},
    {"list-apis", no_argument, NULL, OPTION_LIST_APIS},
    TDC_SHARE_LONG_OPTIONS(OPTION_SHARD, OPTION_RESTART),
    {"threads", required_argument, NULL, 't'},
    {"io-timeout", required_argument, NULL, OPTION_IO_TIMEOUT},
    {"quiet", no_argument, NULL, 'q'},
    {"top", required_argument, NULL, OPTION_TOP},
    {"verbose", no_argument, NULL, 'v'},
    {"color", required_argument, NULL, OPTION_COLOR},
    {"version", no_argument, NULL, 'V'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct settings {
    struct tdc_precheck_options options;
    const char *output, *explain;
    int top;               /* APIs that the summary lists; 0: not said */
    tdc_html_report *page; /* to be filled and written; NULL: none */
    bool html, no_json, list, quiet, verbose, help, version;
    struct tdc_sharing sharing;
};

static bool take_option(struct settings *settings, int option)
{
    struct tdc_precheck_options *options = &settings->options;
    switch (option) {
    case 'o':
        settings->output = optarg;
        return true;
    case 'F':
        settings->html = true;
        return tdc_page_format(optarg);
    case OPTION_MAX_ABS_ERR:
        options->flags |= TDC_PRECHECK_THRESHOLDS;
        return tdc_parse_real(optarg, &options->max_abs_err) ||
               tdc_wrong_value("--max-abs-err", optarg, "a number");
    case OPTION_COS:
        options->flags |= TDC_PRECHECK_THRESHOLDS;
        return tdc_parse_real(optarg, &options->cosine) ||
               tdc_wrong_value("--cos", optarg, "a number");
    case OPTION_BENCH_ROUND:
        return tdc_parse_rounding(optarg, &options->bench_round) ||
               tdc_wrong_value("--bench-round", optarg, "auto, none or tested");
    case OPTION_RULES:
        return tdc_parse_precheck_rules(optarg, options) ||
               tdc_wrong_value("--rules", optarg, TDC_RULES_NAMES);
    case OPTION_STANDARD:
        return tdc_parse_standard(optarg, &options->standard) ||
               tdc_wrong_value("--standard", optarg, "cosine or pytorch");
    case OPTION_MODE:
        return tdc_parse_tested(optarg, &options->tested) ||
               tdc_wrong_value("--mode", optarg, "auto, recorded or execute");
    case OPTION_RESUME:
        options->result_csv = optarg;
        return true;
    case OPTION_SAVE_ERROR_DATA:
        options->flags |= TDC_PRECHECK_KEEP_ERRORS;
        return true;
    case OPTION_NO_JSON:
        settings->no_json = true;
        return true;
    case OPTION_EXPLAIN:
        settings->explain = optarg;
        return true;
    case OPTION_LIST_APIS:
        settings->list = true;
        return true;
    case OPTION_RESTART:
        settings->sharing.restart = true;
        return true;
    case OPTION_IO_TIMEOUT:
        return tdc_take_io_timeout(optarg);
    case 't':
        return tdc_parse_number(optarg, 1, &options->threads) ||
               tdc_wrong_value("--threads", optarg, "a number of threads");
    case 'q':
        settings->quiet = true;
        return true;
    case OPTION_TOP:
        return tdc_parse_number(optarg, 1, &settings->top) ||
               tdc_wrong_value("--top", optarg, "a number of APIs");
    case OPTION_COLOR:
        return tdc_choose_colour(optarg) ||
               tdc_wrong_value("--color", optarg, "auto, always or never");
    case 'v':
        settings->verbose = true;
        return true;
    case 'V':
        settings->version = true;
        return true;
    case 'h':
        settings->help = true;
        return true;
    default:
        return false;
    }
}

/* What the profile decides where no option did. The words have no -f: any framework is taken. */
static void settle(struct settings *settings)
{
    const unsigned decided = TDC_PRECHECK_JSON | TDC_PRECHECK_CHECK_FILES;
    struct tdc_precheck_options defaults;
    tdc_precheck_options_init(&defaults, sizeof defaults, settings->options.profile);
    settings->options.flags = (settings->options.flags & ~decided) | (defaults.flags & decided);
    if (settings->no_json)
        settings->options.flags &= ~(unsigned)TDC_PRECHECK_JSON;
}

static bool take_options(int argc, char **argv, struct settings *settings)
{
    optind = 1;
    static const struct tdc_words words = {"precheck", "o:F:t:vqVh", long_options};
    for (int option; (option = tdc_next_option(&words, argc, argv)) != TDC_NO_MORE_OPTIONS;) {
        bool taken = option == OPTION_SHARD ? tdc_sharing_take_shard(&settings->sharing, argc, argv)
                                            : take_option(settings, option);
        if (!taken || !tdc_sharing_note(&settings->sharing, long_options, option))
            return false;
    }
    settle(settings);
    if (settings->help || settings->version || settings->list || argc - optind == 1)
        return true;
    tdc_complain("precheck takes one dump; %d given (tdcmp precheck --help)", argc - optind);
    return false;
}

static bool print_api(void *context, const char *api, const char *family, const char *arguments)
{
    (void)context;
    printf("%s(%s)  [%s]\n", api, arguments, family);
    return true;
}

/* What a running precheck reports to. */
struct listener {
    struct tdc_progress *progress;
    tdc_html_report *page;
};

static void advance(void *context, uint64_t calls)
{
    const struct listener *listener = context;
    tdc_progress_add(listener->progress, calls, 0);
}

static void note_slot(void *context, const struct tdc_precheck_row *row)
{
    const struct listener *listener = context;
    tdc_html_report_precheck_row(listener->page, row);
}

static void message(void *context, tdc_message_level level, const char *text)
{
    (void)context;
    (void)level;
    (void)text; /* the summary has them by kind; the files have them by call */
}

/* What a slot must keep to pass. */
static void print_limits(const struct tdc_precheck_options *options)
{
    bool thresholds =
        options->profile == TDC_PROFILE_COMPAT || (options->flags & TDC_PRECHECK_THRESHOLDS) != 0;
    if (options->standard == TDC_STANDARD_PYTORCH)
        printf("limits: msprobe's standard of the API (docs/precheck.md)\n");
    else if (thresholds)
        printf("limits: MaxAbsErr below %g, Cosine above %g\n", options->max_abs_err,
               options->cosine);
    else
        printf("limits: each element within its bound, what correct arithmetic of its dtype may "
               "lose\n");
}

/* The last place in a line where it can be broken: behind a comma, or at a blank; 0: nowhere. */
static size_t break_of(const char *line, size_t most)
{
    size_t comma = 0, blank = 0, indent = strspn(line, " ");
    for (size_t i = indent + 20; i < most; i++) {
        comma = line[i] == ' ' && line[i - 1] == ',' ? i : comma;
        blank = line[i] == ' ' ? i : blank;
    }
    return comma > most / 2 ? comma : blank;
}

/* Lines of at most 100 columns; what is behind a break stands further in. */
static void print_folded(const char *text)
{
    const size_t most = 100;
    while (*text != '\0') {
        size_t length = strcspn(text, "\n"), indent = strspn(text, " ");
        char *line = strndup(text, length), *at = line;
        size_t room = most;
        for (size_t end; at != NULL && strlen(at) > room && (end = break_of(at, room)) != 0;) {
            at[end] = '\0';
            tdc_show(stdout, at);
            printf("\n%*s", (int)indent + 4, "");
            at += end + 1;
            room = most - indent - 4;
        }
        tdc_show(stdout, at != NULL ? at : "");
        putchar('\n');
        free(line);
        text += length + (text[length] == '\n');
    }
}

static int explain(const struct settings *settings, const char *path)
{
    struct tdc_error error = {0};
    tdc_precheck *precheck;
    int code = TDC_EXIT_TROUBLE;
    const char *text = NULL;
    if (tdc_precheck_open(path, &settings->options, &precheck, &error) == TDC_OK)
        text = tdc_precheck_explain(precheck, settings->explain, &error);
    if (text != NULL) {
        print_limits(&settings->options);
        print_folded(text);
        code = TDC_EXIT_SAME;
    } else {
        tdc_complain("%s", error.message);
    }
    tdc_precheck_free(precheck);
    return code;
}

/* Why a dump has nothing to check: what its records are instead. */
static void complain_of_nothing(const char *path, const tdc_precheck *precheck)
{
    size_t gaps = tdc_precheck_gaps(precheck);
    bool modules = gaps != 0;
    tdc_complain("%s: no API calls that can be checked%s", path,
                 gaps == 0 ? ": it has no records of calls" : "");
    for (size_t i = 0; i < gaps && i < 4; i++) {
        const struct tdc_precheck_gap *gap = tdc_precheck_gap(precheck, i);
        tdc_complain("  %llu %s (%s)", (unsigned long long)gap->forward + gap->backward,
                     gap->reason, gap->first);
        modules &= gap->is_module;
    }
    if (modules)
        tdc_complain("  only modules were dumped: level L1 or mix records the API calls, too");
}

static int check(struct settings *settings, const struct tdc_dump_file *dump)
{
    struct tdc_precheck_options *options = &settings->options;
    struct tdc_error error = {0};
    tdc_precheck *precheck;
    char *output;
    if (asprintf(&output, "%s%s%s", settings->output, dump->folder[0] != '\0' ? "/" : "",
                 dump->folder) < 0) {
        tdc_complain("out of memory");
        return TDC_EXIT_TROUBLE;
    }
    struct listener listener = {.page = settings->page};
    options->output = output;
    options->context = &listener;
    options->row = settings->page != NULL ? note_slot : NULL;
    tdc_status status = tdc_precheck_open(dump->path, options, &precheck, &error);
    bool part = tdc_sharing_is_part(&settings->sharing);
    if (status == TDC_OK) {
        tdc_precheck_share(precheck, settings->sharing.share);
        bool quiet = settings->quiet || tdc_sharing_is_silent();
        listener.progress = tdc_progress_start("precheck", tdc_precheck_calls(precheck), 0, quiet);
        status = tdc_precheck_run(precheck, &error);
        tdc_progress_stop(listener.progress);
    }
    if (status == TDC_OK && settings->page != NULL && !part)
        status = tdc_html_report_add_precheck(settings->page, dump->path, precheck, &error);
    int code = TDC_EXIT_TROUBLE;
    if (status != TDC_OK) {
        tdc_complain("%s", error.message);
    } else if (part) {
        code = TDC_EXIT_SAME;
    } else if (tdc_precheck_calls(precheck) == 0) {
        complain_of_nothing(dump->path, precheck);
    } else {
        if (settings->quiet)
            tdc_print_precheck_files(precheck);
        else
            tdc_print_precheck(dump->path, precheck, settings->top, settings->verbose);
        struct tdc_precheck_summary summary;
        tdc_precheck_summary(precheck, &summary, sizeof summary);
        if (options->threads > summary.threads)
            tdc_complain("warning: %d of the %d threads asked for were used: there is no room for "
                         "more",
                         summary.threads, options->threads);
        if (summary.slots == 0 && summary.resumed == 0)
            tdc_complain("%s: nothing could be checked: all %llu calls were skipped or had nothing "
                         "to compare",
                         dump->path, (unsigned long long)summary.calls);
        else if (summary.unreadable != 0)
            tdc_complain("%s: tensor files of %llu calls cannot be read", dump->path,
                         (unsigned long long)summary.unreadable);
        else
            code = summary.verdicts[TDC_CHECK_ERROR] != 0 ? TDC_EXIT_DIFFERENT : TDC_EXIT_SAME;
    }
    tdc_precheck_free(precheck);
    free(output);
    return code;
}

static bool find_dumps(const char *path, tdc_dump_files **dumps)
{
    struct tdc_options options;
    struct tdc_error error = {0};
    tdc_options_init(&options, sizeof options, TDC_RULES_SOUND);
    options.message = tdc_print_message;
    if (tdc_dump_files_find(path, &options, dumps, &error) == TDC_OK)
        return true;
    tdc_complain_of_dump(path, &error);
    return false;
}

/* All dumps, and a page of them if one is wanted; the worst exit code. */
static int check_all(struct settings *settings, const tdc_dump_files *dumps, int code, int argc,
                     char **argv)
{
    if (settings->html)
        settings->page = tdc_page_new(argc, argv, settings->options.threads);
    if (settings->html && settings->page == NULL)
        return TDC_EXIT_TROUBLE;
    for (size_t i = 0; i < tdc_dump_files_count(dumps); i++) {
        int one = check(settings, tdc_dump_files_get(dumps, i));
        code = one > code ? one : code;
    }
    if (settings->html && !tdc_sharing_is_part(&settings->sharing) &&
        !tdc_page_write(settings->page, settings->output, "precheck", settings->quiet))
        code = TDC_EXIT_TROUBLE;
    tdc_html_report_free(settings->page);
    return code;
}

/* What other processes have found; a precheck by one process has its result file for that. */
static bool begin_sharing(struct settings *settings, const tdc_dump_files *dumps)
{
    struct tdc_sharing *sharing = &settings->sharing;
    struct tdc_options messages;
    struct tdc_error error = {0};
    if (sharing->kind == TDC_SHARE_WHOLE)
        return true;
    if (settings->options.result_csv != NULL) {
        tdc_complain("--resume is for one process: shards go on by themselves");
        return false;
    }
    tdc_options_init(&messages, sizeof messages, TDC_RULES_SOUND);
    messages.message = tdc_sharing_is_silent() ? NULL : tdc_print_message;
    tdc_status status =
        tdc_sharing_begin(sharing, "precheck", settings->output, NULL, &messages, &error);
    for (size_t i = 0; i < tdc_dump_files_count(dumps) && status == TDC_OK; i++)
        status = tdc_share_input(sharing->share, tdc_dump_files_get(dumps, i)->path, &error);
    if (status == TDC_OK)
        status = tdc_share_start(sharing->share, &error);
    if (status != TDC_OK)
        tdc_complain("%s", error.message);
    return status == TDC_OK;
}

static int precheck(struct settings *settings, int argc, char **argv)
{
    tdc_dump_files *dumps;
    if (!find_dumps(argv[optind], &dumps))
        return TDC_EXIT_TROUBLE;
    size_t count = tdc_dump_files_count(dumps);
    int code = TDC_EXIT_TROUBLE;
    if ((settings->explain != NULL || settings->options.result_csv != NULL) && count > 1) {
        tdc_complain("%s: %zu dumps found; --explain and --resume take one", argv[optind], count);
    } else if (settings->explain != NULL) {
        code = explain(settings, tdc_dump_files_get(dumps, 0)->path);
    } else if (begin_sharing(settings, dumps)) {
        code = tdc_dump_files_empty(dumps) != 0 ? TDC_EXIT_TROUBLE : TDC_EXIT_SAME;
        code = check_all(settings, dumps, code, argc, argv);
        if (code != TDC_EXIT_TROUBLE && !tdc_sharing_finish(&settings->sharing, settings->quiet))
            code = TDC_EXIT_TROUBLE;
    }
    tdc_dump_files_free(dumps);
    return code;
}

/* With the words of the command line as they were given, before options are parsed. */
static int take_and_run(int argc, char **argv, const char *folder, const char *const *words)
{
    struct settings settings = {.output = "./output"};
    int code = TDC_EXIT_TROUBLE;
    tdc_precheck_options_init(&settings.options, sizeof settings.options, TDC_PROFILE_EXTENDED);
    settings.options.message = message;
    settings.options.progress = advance;
    if (take_options(argc, argv, &settings)) {
        settings.sharing.merge = folder;
        if (settings.help || settings.version || settings.list) {
            if (settings.help)
                fputs(usage, stdout);
            else if (settings.version)
                tdc_print_version();
            else
                tdc_precheck_list(print_api, NULL);
            code = TDC_EXIT_SAME;
        } else if (tdc_sharing_settle(&settings.sharing, words, (size_t)argc + 1, argv + optind,
                                      1)) {
            code = precheck(&settings, argc, argv);
        }
    }
    tdc_sharing_free(&settings.sharing);
    return code;
}

int tdc_precheck_merged(int argc, char **argv, const char *folder)
{
    const char **words = tdc_command_words(argc, argv);
    int code = words != NULL ? take_and_run(argc, argv, folder, words) : TDC_EXIT_TROUBLE;
    free(words);
    return code;
}

int tdc_command_precheck(int argc, char **argv)
{
    return tdc_precheck_merged(argc, argv, NULL);
}
