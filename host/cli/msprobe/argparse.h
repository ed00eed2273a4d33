/*
 * argparse.h - command lines as Python's argparse accepts them.
 *
 * Options with one or two dashes (`-hl`), `--option=value`, unambiguous beginnings of long options,
 * `-ovalue`, joined single letters (`-sc`), optional values. No positional arguments.
 */
#ifndef TDC_CLI_ARGPARSE_H
#define TDC_CLI_ARGPARSE_H

#include <stdbool.h>
#include <stddef.h>

enum tdc_arity {
    TDC_FLAG,           /* store_true */
    TDC_VALUE,          /* exactly one */
    TDC_OPTIONAL_VALUE, /* nargs='?' */
    TDC_VALUES          /* nargs='+': one or more */
};

struct tdc_argument {
    const char *brief; /* "-hl" */
    const char *full;  /* "--highlight" */
    enum tdc_arity arity;
    const char *metavar;
    const char *help;
    /* results */
    bool given;
    const char *value; /* NULL when an optional value was left out */
    char **values;     /* TDC_VALUES: `value_count` words of argv */
    int value_count;
};

/*
 * Parses argv[0..argc). `example` ends the help text: arguments that work. Prints argparse's usage
 * and error to stderr, as `program: error: ...`, and returns 2 on a mistake; prints help to stdout
 * and returns 0 with *helped set for -h; else returns 0.
 */
int tdc_argparse(const char *program, const char *example, int argc, char **argv,
                 struct tdc_argument *arguments, size_t count, bool *helped);
/* The same for a mistake the caller finds in what was parsed: usage, `program: error: text`, 2. */
int tdc_argparse_error(const char *program, struct tdc_argument *arguments, size_t count,
                       const char *text);

#endif
