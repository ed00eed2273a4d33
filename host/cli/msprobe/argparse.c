#include "host/cli/msprobe/argparse.h"

#include <stdio.h>
#include <string.h>

#include "host/cli/shared/command.h"

struct parsing {
    const char *program, *example;
    struct tdc_argument *arguments;
    size_t count;
};

static void print_usage(FILE *stream, const struct parsing *parsing)
{
    fprintf(stream, "usage: %s [-h]", parsing->program);
    for (size_t i = 0; i < parsing->count; i++) {
        const struct tdc_argument *argument = &parsing->arguments[i];
        if (argument->arity == TDC_FLAG)
            fprintf(stream, " [%s]", argument->brief);
        else
            fprintf(stream,
                    argument->arity == TDC_VALUE        ? " [%1$s %2$s]"
                    : argument->arity == TDC_TWO_VALUES ? " [%1$s %2$s %2$s]"
                    : argument->arity == TDC_VALUES     ? " [%1$s %2$s ...]"
                    : argument->arity == TDC_ANY_VALUES ? " [%1$s [%2$s ...]]"
                                                        : " [%1$s [%2$s]]",
                    argument->brief, argument->metavar);
    }
    fputc('\n', stream);
}

static void print_help(const struct parsing *parsing)
{
    print_usage(stdout, parsing);
    printf("\noptions:\n  -h, --help\n");
    for (size_t i = 0; i < parsing->count; i++) {
        const struct tdc_argument *argument = &parsing->arguments[i];
        bool one_name = strcmp(argument->brief, argument->full) == 0;
        printf("  %s%s%s %s\n        %s\n", argument->brief, one_name ? "" : ", ",
               one_name ? "" : argument->full, argument->arity == TDC_FLAG ? "" : argument->metavar,
               argument->help);
    }
    printf("\nexample: %s %s\n", parsing->program, parsing->example);
}

static int fail(const struct parsing *parsing, const char *what, const char *which,
                const char *rest)
{
    print_usage(stderr, parsing);
    fprintf(stderr, "%s: error: %s%s%s\n", parsing->program, what, tdc_shown(which),
            tdc_shown(rest));
    return 2;
}

static struct tdc_argument *exact(const struct parsing *parsing, const char *name, size_t length)
{
    for (size_t i = 0; i < parsing->count; i++) {
        struct tdc_argument *argument = &parsing->arguments[i];
        if ((strlen(argument->brief) == length && strncmp(argument->brief, name, length) == 0) ||
            (strlen(argument->full) == length && strncmp(argument->full, name, length) == 0))
            return argument;
    }
    return NULL;
}

/* The only option that begins so, `--lay` or `-l`; *several when there are more. */
static struct tdc_argument *beginning(const struct parsing *parsing, const char *name,
                                      size_t length, bool *several)
{
    struct tdc_argument *found = NULL;
    *several = false;
    for (size_t i = 0; i < parsing->count; i++) {
        if (strncmp(parsing->arguments[i].full, name, length) != 0 &&
            strncmp(parsing->arguments[i].brief, name, length) != 0)
            continue;
        *several = found != NULL;
        found = &parsing->arguments[i];
    }
    return found;
}

/* A word that is the value of an option and not the next option: negative numbers count as values.
 */
static bool is_value(const char *word)
{
    return word[0] != '-' || word[1] == '\0' || strspn(word + 1, "0123456789.") == strlen(word + 1);
}

/* "-o/--output_path" behind what is in the text already. */
static void add_names(char *text, size_t size, const struct tdc_argument *argument)
{
    size_t used = strlen(text);
    bool one_name = strcmp(argument->brief, argument->full) == 0;
    snprintf(text + used, size - used, "%s%s%s", argument->brief, one_name ? "" : "/",
             one_name ? "" : argument->full);
}

/* Stores the value of an argument from `joined` or the following word; *at moves over the word. */
static int store(const struct parsing *parsing, struct tdc_argument *argument, const char *joined,
                 int argc, char **argv, int *at)
{
    argument->given = true;
    if (argument->arity == TDC_FLAG)
        return joined == NULL
                   ? 0
                   : fail(parsing, "argument ", argument->full, ": ignored explicit argument");
    argument->value = joined;
    int most = argument->arity == TDC_TWO_VALUES                                    ? 2
               : argument->arity == TDC_VALUES || argument->arity == TDC_ANY_VALUES ? argc
                                                                                    : 1;
    argument->values = argv + *at + 1;
    argument->value_count = 0;
    if (joined == NULL)
        while (argument->value_count < most && *at + 1 < argc && is_value(argv[*at + 1])) {
            argument->value_count++;
            ++*at;
        }
    if (joined == NULL && argument->value_count != 0)
        argument->value = argument->values[0];
    bool enough = argument->arity == TDC_TWO_VALUES   ? argument->value_count == 2
                  : argument->arity == TDC_ANY_VALUES ? true
                                                      : argument->value != NULL;
    if (!enough && argument->arity != TDC_OPTIONAL_VALUE) {
        char names[128] = "";
        add_names(names, sizeof names, argument);
        return fail(parsing, "argument ", names,
                    argument->arity == TDC_VALUE        ? ": expected one argument"
                    : argument->arity == TDC_TWO_VALUES ? ": expected 2 arguments"
                                                        : ": expected at least one argument");
    }
    return 0;
}

/* -sc, -icompare.json: single letters, the last of which may take the rest as its value. */
static int letters(const struct parsing *parsing, const char *word, int argc, char **argv, int *at)
{
    for (const char *letter = word + 1; *letter != '\0'; letter++) {
        char name[3] = {'-', *letter, '\0'};
        struct tdc_argument *argument = exact(parsing, name, 2);
        if (argument == NULL)
            return fail(parsing, "unrecognized arguments: ", word, "");
        if (argument->arity != TDC_FLAG) {
            const char *rest = letter[1] == '\0'  ? NULL
                               : letter[1] == '=' ? letter + 2
                                                  : letter + 1;
            return store(parsing, argument, rest, argc, argv, at);
        }
        argument->given = true;
    }
    return 0;
}

static int take_word(const struct parsing *parsing, int argc, char **argv, int *at, bool *helped)
{
    const char *word = argv[*at];
    if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
        print_help(parsing);
        *helped = true;
        return 0;
    }
    if (word[0] != '-' || word[1] == '\0')
        return fail(parsing, "unrecognized arguments: ", word, "");
    const char *equals = strchr(word, '=');
    size_t length = equals != NULL ? (size_t)(equals - word) : strlen(word);
    struct tdc_argument *argument = exact(parsing, word, length);
    bool several = false;
    if (argument == NULL) {
        argument = beginning(parsing, word, length, &several);
        if (several)
            return fail(parsing, "ambiguous option: ", word, "");
    }
    if (argument == NULL)
        return strncmp(word, "--", 2) == 0 ? fail(parsing, "unrecognized arguments: ", word, "")
                                           : letters(parsing, word, argc, argv, at);
    return store(parsing, argument, equals != NULL ? equals + 1 : NULL, argc, argv, at);
}

int tdc_argparse(const char *program, const char *example, int argc, char **argv,
                 struct tdc_argument *arguments, size_t count, bool *helped)
{
    struct parsing parsing = {program, example, arguments, count};
    *helped = false;
    for (int at = 0; at < argc && !*helped; at++) {
        int code = take_word(&parsing, argc, argv, &at, helped);
        if (code != 0)
            return code;
    }
    return 0;
}

int tdc_argparse_error(const char *program, struct tdc_argument *arguments, size_t count,
                       const char *text)
{
    struct parsing parsing = {program, "", arguments, count};
    return fail(&parsing, text, "", "");
}

int tdc_argparse_require(const char *program, struct tdc_argument *arguments, size_t count,
                         const size_t *needed, size_t needed_count)
{
    struct parsing parsing = {program, "", arguments, count};
    char names[256] = "";
    for (size_t i = 0; i < needed_count; i++) {
        if (arguments[needed[i]].given)
            continue;
        size_t used = strlen(names);
        if (used != 0)
            snprintf(names + used, sizeof names - used, ", ");
        add_names(names, sizeof names, &arguments[needed[i]]);
    }
    return names[0] == '\0' ? 0
                            : fail(&parsing, "the following arguments are required: ", names, "");
}

static bool is_one_of(const char *value, const char *choices)
{
    size_t length = strlen(value);
    for (const char *at = choices; *at != '\0'; at += strspn(at, " ")) {
        size_t choice = strcspn(at, " ");
        if (choice == length && strncmp(at, value, length) == 0)
            return true;
        at += choice;
    }
    return false;
}

int tdc_argparse_choice(const char *program, struct tdc_argument *arguments, size_t count,
                        size_t which, const char *choices)
{
    struct parsing parsing = {program, "", arguments, count};
    const struct tdc_argument *argument = &arguments[which];
    if (!argument->given || is_one_of(argument->value, choices))
        return 0;
    char text[512] = "argument ";
    add_names(text, sizeof text, argument);
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, ": invalid choice: '%.200s' (choose from",
             argument->value);
    for (const char *at = choices; *at != '\0'; at += strspn(at, " ")) {
        int choice = (int)strcspn(at, " ");
        used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s '%.*s'", at == choices ? "" : ",", choice,
                 at);
        at += choice;
    }
    used = strlen(text);
    snprintf(text + used, sizeof text - used, ")");
    return fail(&parsing, "", text, "");
}

int tdc_argparse_exclusive(const char *program, struct tdc_argument *arguments, size_t count,
                           size_t first, size_t last)
{
    struct parsing parsing = {program, "", arguments, count};
    const struct tdc_argument *early = NULL, *late = NULL;
    for (size_t i = first; i <= last; i++) {
        const struct tdc_argument *one = &arguments[i];
        if (!one->given)
            continue;
        /* values point into the words, in whose order argparse complains */
        if (early == NULL || one->values < early->values) {
            late = early;
            early = one;
        } else if (late == NULL || one->values < late->values) {
            late = one;
        }
    }
    if (late == NULL)
        return 0;
    char text[512] = "argument ";
    add_names(text, sizeof text, late);
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, ": not allowed with argument ");
    add_names(text, sizeof text, early);
    return fail(&parsing, "", text, "");
}
