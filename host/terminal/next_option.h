/* next_option.h - the options of a command line one after another, and what is said about wrong
 * ones. */
#ifndef TDC_TERMINAL_NEXT_OPTION_H
#define TDC_TERMINAL_NEXT_OPTION_H

#include <getopt.h>
#include <stdbool.h>

/* What a command takes. */
struct tdc_words {
    const char *command; /* "compare", "bench make": for messages */
    const char *letters; /* as getopt's, without a colon in front */
    const struct option *options;
};

enum {
    TDC_NO_MORE_OPTIONS = -1,
    TDC_WRONG_OPTION = '?' /* complained about */
};

/*
 * getopt_long with messages of one form, which name the option that may have been meant. optind is
 * set to 1 by the caller beforehand.
 *
 * The file of an option with an optional value may stand behind a blank too: the next word is taken
 * if it is "auto" or ends in .yaml or .yml, or if there is a file of that name that no dump can be.
 */
int tdc_next_option(const struct tdc_words *words, int argc, char **argv);

/* Complains "--step 'x': expected ..." and returns false. */
bool tdc_wrong_value(const char *option, const char *value, const char *expected);

#endif
