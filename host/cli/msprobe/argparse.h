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
    TDC_VALUES,         /* nargs='+': one or more */
    TDC_TWO_VALUES,     /* nargs=2 */
    TDC_ANY_VALUES      /* nargs='*': as many as there are */
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
    char **values;     /* several values: `value_count` words of argv */
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
/* 0 when all of arguments[needed[i]] were given, else the mistake argparse makes of it. */
int tdc_argparse_require(const char *program, struct tdc_argument *arguments, size_t count,
                         const size_t *needed, size_t needed_count);
/* 0 when arguments[which] was not given or has one of the values, which are parted by blanks. */
int tdc_argparse_choice(const char *program, struct tdc_argument *arguments, size_t count,
                        size_t which, const char *choices);
/* 0 when at most one of arguments[first..last] was given; else the mistake, as argparse words it
 * for the later one. */
int tdc_argparse_exclusive(const char *program, struct tdc_argument *arguments, size_t count,
                           size_t first, size_t last);

#endif
