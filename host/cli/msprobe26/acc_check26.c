/* acc_check26.c - `tdcmp acc_check` and `multi_acc_check`: the precheck, its framework from the
 * dump. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/cli/msprobe/argparse.h"
#include "host/cli/msprobe/msprobe_log.h"
#include "host/cli/msprobe/precheck_msprobe.h"
#include "host/cli/msprobe26/words26.h"
#include "io/storage/looking.h"
#include "tdcmp.h"

static const char brief[] = "-api_info", full[] = "--api_info_file";

static struct tdc_argument only_argument(void)
{
    return (struct tdc_argument){brief,
                                 full,
                                 TDC_VALUE,
                                 "API_INFO_FILE",
                                 "<Required> the dump.json to check; its framework decides about "
                                 "the other options",
                                 false,
                                 NULL,
                                 NULL,
                                 0};
}

/* argparse's message about words that nobody knows while there is no dump to ask for the options.
 */
static int unrecognised(const char *program, const char *words)
{
    struct tdc_argument argument = only_argument();
    char text[1024];
    snprintf(text, sizeof text, "unrecognized arguments: %.900s", words);
    return tdc_argparse_error(program, &argument, 1, text);
}

/* Beginnings of the option are refused in either form. */
static const char *abbreviated(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        size_t length = strcspn(argv[i], "=");
        bool begins = (length < sizeof brief - 1 && strncmp(brief, argv[i], length) == 0) ||
                      (length < sizeof full - 1 && strncmp(full, argv[i], length) == 0);
        if (begins && length > 1)
            return argv[i];
    }
    return NULL;
}

/* The dump's path, NULL if it is not among the words. */
static const char *find_path(int argc, char **argv)
{
    const char *path = NULL;
    for (int i = 0; i < argc; i++) {
        size_t length = strcspn(argv[i], "=");
        bool option = (length == sizeof brief - 1 && strncmp(brief, argv[i], length) == 0) ||
                      (length == sizeof full - 1 && strncmp(full, argv[i], length) == 0);
        if (option && argv[i][length] == '=')
            path = argv[i] + length + 1;
        else if (option && i + 1 < argc && argv[i + 1][0] != '-')
            path = argv[++i];
    }
    return path;
}

/* Without a dump: help, words that are not known, or the demand for the dump. */
static int without_dump(const char *program, int argc, char **argv)
{
    struct tdc_argument argument = only_argument();
    char words[1024] = "";
    bool help = false;
    for (int i = 0; i < argc; i++) {
        bool asks = strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0;
        bool own = strcmp(argv[i], brief) == 0 || strcmp(argv[i], full) == 0;
        help |= asks;
        size_t used = strlen(words);
        if (!asks && !own)
            snprintf(words + used, sizeof words - used, "%s%s", used != 0 ? " " : "", argv[i]);
    }
    if (words[0] != '\0')
        return unrecognised(program, words);
    static char help_word[] = "-h";
    char *asked[] = {help_word};
    bool helped;
    if (help)
        return tdc_argparse(program, "-api_info dump.json -o output", 1, asked, &argument, 1,
                            &helped);
    if (argc > 0) /* the option without its value */
        return tdc_argparse(program, "", argc, argv, &argument, 1, &helped);
    return tdc_argparse_error(program, &argument, 1,
                              "the following arguments are required: -api_info/--api_info_file");
}

static int fail(const char *format, const char *what)
{
    char text[4352];
    snprintf(text, sizeof text, format, what);
    tdc_msprobe_log(NULL, TDC_MESSAGE_ERROR, text);
    return 1;
}

/* By the framework that the dump names: 0 and *pytorch, or 1 after a message. */
static int ask_framework(const char *path, bool *pytorch)
{
    tdc_dump *dump;
    struct tdc_error error = {0};
    if (!tdc_is_there(path))
        return fail("The file path %s does not exist.", path);
    if (tdc_dump_load(path, &dump, &error) != TDC_OK)
        return fail("%s", error.message);
    const char *framework = tdc_dump_framework(dump);
    int code = 0;
    *pytorch = framework != NULL &&
               (strcasecmp(framework, "pytorch") == 0 || strcasecmp(framework, "pt") == 0);
    bool mindspore = framework != NULL &&
                     (strcasecmp(framework, "mindspore") == 0 || strcasecmp(framework, "ms") == 0 ||
                      strcasecmp(framework, "mindtorch") == 0);
    if (framework == NULL || framework[0] == '\0')
        code = fail("Key \"framework\" not found in %s", path);
    else if (!*pytorch && !mindspore)
        code = fail("Unsupported framework in api_info: %s", framework);
    tdc_dump_free(dump);
    return code;
}

static int acc_check(const char *program, int argc, char **argv, bool multi)
{
    const char *wrong = abbreviated(argc, argv);
    if (wrong != NULL)
        return unrecognised(program, wrong);
    const char *path = find_path(argc, argv);
    if (path == NULL)
        return without_dump(program, argc, argv);
    bool pytorch;
    int code = ask_framework(path, &pytorch);
    return code != 0 ? code : tdc_precheck_words26(program, argc, argv, multi, pytorch);
}

int tdc_word26_acc_check(int argc, char **argv)
{
    return acc_check("tdcmp acc_check", argc - 1, argv + 1, false);
}

int tdc_word26_multi_acc_check(int argc, char **argv)
{
    return acc_check("tdcmp multi_acc_check", argc - 1, argv + 1, true);
}
