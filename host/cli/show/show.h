/* show.h - one call of a finished result; between the files of this folder. */
#ifndef TDC_CLI_SHOW_H
#define TDC_CLI_SHOW_H

#include "host/cli/shared/command.h"

/* The rows of a call in one result, and the dumps they came from as far as they are there. */
struct tdc_shown_call {
    const tdc_result *result;
    const char *name; /* as it was asked for: a call, or a row's name or number */
    size_t *rows;
    size_t count;
    const tdc_dump *test, *ref; /* NULL: not to be had */
    size_t width;               /* columns */
    bool verbose;               /* rows that agree as closely as the others */
};

/* ---- result_files.c: which files are meant ---- */

struct tdc_result_files {
    char **paths;
    size_t count;
};

/* A file, or the results of the last run in a folder, one file for each rank. False: complained
 * about. The files are to be freed in any case. */
bool tdc_result_files_find(const char *path, struct tdc_result_files *files);
void tdc_result_files_free(struct tdc_result_files *files);

/* ---- find_call.c: which rows are meant ---- */

/* The rows of a call, whose direction may be left out, or of a row by its name or its number in the
 * sheet. *rows is to be freed; 0 and NULL: none. SIZE_MAX: out of memory. */
size_t tdc_find_call(const tdc_result *result, const char *name, size_t **rows);
/* Complains that there is no such call, with those that may have been meant. */
void tdc_complain_of_call(const tdc_result *result, const char *path, const char *name);
/* Of two verdicts the one to worry about more: larger. */
int tdc_verdict_weight(const char *verdict);

/* ---- print_call.c ---- */

void tdc_print_call(const struct tdc_shown_call *call);

#endif
