#include "host/terminal/next_option.h"

#include <stdio.h>
#include <string.h>

#include "host/terminal/message.h"
#include "host/terminal/nearest.h"
#include "io/storage/looking.h"

#define MOST_LETTERS 64
#define MOST_NAMES   64

static bool ends_in(const char *word, const char *ending)
{
    size_t length = strlen(word), end = strlen(ending);
    return length >= end && strcmp(word + length - end, ending) == 0;
}

/* The value of an option that has one only perhaps, behind a blank. */
static bool is_mapping(const char *word)
{
    if (word == NULL || word[0] == '-')
        return false;
    if (strcmp(word, "auto") == 0 || ends_in(word, ".yaml") || ends_in(word, ".yml"))
        return true;
    return tdc_is_file(word) && !ends_in(word, ".json") && !ends_in(word, ".npy") &&
           !ends_in(word, ".pt");
}

static bool takes_optional_value(const struct tdc_words *words, int option)
{
    for (const struct option *known = words->options; known->name != NULL; known++)
        if (known->val == option && known->has_arg == optional_argument)
            return true;
    return false;
}

/* The long name of an option, or NULL. */
static const char *name_of(const struct tdc_words *words, int option)
{
    for (const struct option *known = words->options; known->name != NULL; known++)
        if (known->val == option)
            return known->name;
    return NULL;
}

/* "--word" without dashes and value, cut to the room. */
static void bare_word(const char *word, char *room, size_t size)
{
    word += strspn(word, "-");
    snprintf(room, size, "%.*s", (int)strcspn(word, "="), word);
}

/* Names that begin with the word; of more than one the option is not known. */
static size_t names_beginning(const struct tdc_words *words, const char *word, char *list,
                              size_t size)
{
    size_t count = 0, used = 0;
    for (const struct option *known = words->options; known->name != NULL; known++) {
        if (strncmp(known->name, word, strlen(word)) != 0)
            continue;
        if (used < size)
            used += (size_t)snprintf(list + used, size - used, "%s--%s", count == 0 ? "" : ", ",
                                     known->name);
        count++;
    }
    return count;
}

static void complain_of_name(const struct tdc_words *words, const char *given)
{
    const char *names[MOST_NAMES];
    char word[64], beginning[512];
    size_t count = 0;
    bare_word(given, word, sizeof word);
    if (names_beginning(words, word, beginning, sizeof beginning) > 1) {
        tdc_complain("%s: '--%s' may be %s", words->command, word, beginning);
        return;
    }
    for (const struct option *known = words->options; known->name != NULL && count < MOST_NAMES;
         known++)
        names[count++] = known->name;
    const char *nearest = tdc_nearest(word, names, count);
    tdc_complain("%s: there is no option '--%s'%s%s%s (tdcmp %s --help lists them)", words->command,
                 word, nearest != NULL ? "; did you mean '--" : "", nearest != NULL ? nearest : "",
                 nearest != NULL ? "'?" : "", words->command);
}

static void complain_of_option(const struct tdc_words *words, int found, char **argv)
{
    const char *given = argv[optind - 1], *name = name_of(words, optopt);
    if (optopt == 0)
        complain_of_name(words, given);
    else if (found == ':' && name != NULL && strncmp(given, "--", 2) == 0)
        tdc_complain("%s: --%s needs a value (tdcmp %s --help)", words->command, name,
                     words->command);
    else if (found == ':')
        tdc_complain("%s: -%c needs a value (tdcmp %s --help)", words->command, optopt,
                     words->command);
    else if (name != NULL && strncmp(given, "--", 2) == 0)
        tdc_complain("%s: --%s takes no value (tdcmp %s --help)", words->command, name,
                     words->command);
    else
        tdc_complain("%s: there is no option '-%c' (tdcmp %s --help lists them)", words->command,
                     optopt, words->command);
}

int tdc_next_option(const struct tdc_words *words, int argc, char **argv)
{
    char letters[MOST_LETTERS];
    snprintf(letters, sizeof letters, ":%s", words->letters);
    opterr = 0;
    int option = getopt_long(argc, argv, letters, words->options, NULL);
    if (option == '?' || option == ':') {
        complain_of_option(words, option, argv);
        return TDC_WRONG_OPTION;
    }
    if (option != -1 && optarg == NULL && optind < argc && is_mapping(argv[optind]) &&
        takes_optional_value(words, option))
        optarg = argv[optind++];
    return option;
}

bool tdc_wrong_value(const char *option, const char *value, const char *expected)
{
    tdc_complain("%s '%s': expected %s", option, value, expected);
    return false;
}
