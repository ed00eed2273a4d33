/* llm_compare.c - `tdcmp llm compare --my-path MINE --golden-path GOLDEN`: the words of msit. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/cli/msprobe/argparse.h"
#include "host/cli/shared/command.h"
#include "io/base/error.h"
#include "io/storage/looking.h"
#include "io/storage/storage_calls.h"
#include "tdcmp.h"

static const char program[] = "tdcmp llm compare";

enum {
    GOLDEN,
    MINE,
    OUTPUT,
    RANK,
    LOG_LEVEL,
    ARGUMENTS
};

/* clang-format off */
#define OPTION(brief, full, metavar, help) {brief, full, TDC_VALUE, metavar, help, false, NULL, NULL, 0}
/* clang-format on */

static const struct tdc_argument words[ARGUMENTS] = {
    [GOLDEN] = OPTION("-gp", "--golden-path", "PATH",
                      "<Required> the reference: a dump of FX or GE, or a single file"),
    [MINE] = OPTION("-mp", "--my-path", "PATH",
                    "<Required> the run under test: a dump of GE, or a single file"),
    [OUTPUT] = OPTION("-o", "--output", "DIR", "folder for the results, default ./"),
    [RANK] = OPTION("-r", "--rank", "N", "only this rank"),
    [LOG_LEVEL] = OPTION("-l", "--log-level", "LEVEL",
                         "debug, info (default), warning, error, fatal or critical"),
};

/* ---- log ------------------------------------------------------------------------------------- */

static const char *const levels[] = {"INFO", "WARNING", "ERROR"};

/* Of what is printed, by number of tdc_message_level; those above print nothing. */
static int lowest_level(const struct tdc_argument *argument)
{
    static const char *const names[] = {"debug", "info", "warning", "error", "fatal", "critical"};
    static const int lowest[] = {0, 0, 1, 2, 3, 3};
    for (size_t i = 0; i < sizeof names / sizeof *names && argument->given; i++)
        if (strcmp(argument->value, names[i]) == 0)
            return lowest[i];
    return 0;
}

/* 2024-09-25 13:49:59,699 - 243591 - msit_llm_logger - INFO - text */
static void print_line(FILE *stream, int level, const char *text)
{
    struct timespec now;
    struct tm local;
    char stamp[32];
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &local);
    strftime(stamp, sizeof stamp, "%Y-%m-%d %H:%M:%S", &local);
    fprintf(stream, "%s,%03ld - %d - msit_llm_logger - %s - ", stamp, now.tv_nsec / 1000000,
            (int)getpid(), levels[level]);
    tdc_show(stream, text);
    putc('\n', stream);
}

/* The context is the lowest level. */
static void print_log(void *context, tdc_message_level level, const char *text)
{
    const int *lowest = context;
    int number = level == TDC_MESSAGE_INFO ? 0 : level == TDC_MESSAGE_WARNING ? 1 : 2;
    if (number >= *lowest)
        print_line(stderr, number, text);
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* Digits alone; -1: not given. False after a message. */
static bool take_rank(const struct tdc_argument *argument, struct tdc_options *options, long *rank)
{
    char text[256];
    *rank = -1;
    if (!argument->given)
        return true;
    size_t length = strlen(argument->value);
    if (length != 0 && length < 10 && strspn(argument->value, "0123456789") == length) {
        *rank = strtol(argument->value, NULL, 10);
        return true;
    }
    snprintf(text, sizeof text, "rank id:%.200s is illegal. Please check.", argument->value);
    options->message(options->context, TDC_MESSAGE_ERROR, text);
    return false;
}

static tdc_status compare_files(const char *mine, const char *golden, struct tdc_options *options,
                                struct tdc_error *error)
{
    char line[2048] = "Compared results: ";
    size_t used = strlen(line);
    tdc_status status =
        tdc_torchair_compare_files(mine, golden, options, line + used, sizeof line - used, error);
    if (status == TDC_OK)
        print_line(stdout, 0, line);
    return status;
}

static tdc_status compare_paths(const struct tdc_argument *arguments, long rank,
                                struct tdc_options *options, struct tdc_error *error)
{
    const char *mine = arguments[MINE].value, *golden = arguments[GOLDEN].value;
    const char *output = arguments[OUTPUT].given ? arguments[OUTPUT].value : "./";
    const char *const paths[] = {mine, golden};
    for (size_t i = 0; i < 2; i++) {
        int number = tdc_storage_access(paths[i], F_OK);
        if (number != 0)
            return tdc_fail_errno(error, TDC_ERR_NOT_FOUND, number, "%.900s", paths[i]);
    }
    if (tdc_is_torchair_dump(mine))
        return tdc_torchair_compare(mine, golden, output, TDC_TORCHAIR_MSIT, rank, options, error);
    if (tdc_is_file(mine) && tdc_is_file(golden))
        return compare_files(mine, golden, options, error);
    snprintf(error->message, sizeof error->message,
             "%.800s: no graph of GE below it, and not two files; dumps of ATB are compared by "
             "`tdcmp compare -m atb`",
             mine);
    return error->status = TDC_ERR_NOT_FOUND;
}

int tdc_command_llm(int argc, char **argv)
{
    static const size_t required[] = {GOLDEN, MINE};
    struct tdc_argument arguments[ARGUMENTS];
    struct tdc_options options;
    struct tdc_error error = {0};
    bool helped = false;
    long rank;
    bool help = argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    if (!help && (argc < 2 || strcmp(argv[1], "compare") != 0)) {
        tdc_complain("of llm there is compare alone (tdcmp llm compare --help)");
        return TDC_EXIT_TROUBLE;
    }
    static char help_word[] = "-h";
    char *asked[] = {help_word};
    memcpy(arguments, words, sizeof words);
    int code =
        tdc_argparse(program, "--my-path ge --golden-path fx/data_dump -o output",
                     help ? 1 : argc - 2, help ? asked : argv + 2, arguments, ARGUMENTS, &helped);
    if (code != 0 || helped)
        return code;
    code = tdc_argparse_require(program, arguments, ARGUMENTS, required, 2);
    if (code == 0)
        code = tdc_argparse_choice(program, arguments, ARGUMENTS, LOG_LEVEL,
                                   "debug info warning error fatal critical");
    if (code != 0)
        return code;
    int lowest = lowest_level(&arguments[LOG_LEVEL]);
    tdc_options_init(&options, sizeof options, TDC_RULES_COMPAT);
    options.message = print_log;
    options.context = &lowest;
    if (!take_rank(&arguments[RANK], &options, &rank))
        return 1;
    tdc_status status = compare_paths(arguments, rank, &options, &error);
    if (status != TDC_OK)
        print_log(&lowest, TDC_MESSAGE_ERROR, error.message);
    return status == TDC_OK ? 0 : 1;
}
