/*
 * analysis_msprobe.h - msprobe's analyses, in the words of 2025 and of 26.
 *
 * `program` is how the words begin ("tdcmp -f pytorch nan_analyze"); argv[0] is the first argument
 * behind. Log lines go to stdout as msprobe prints them.
 */
#ifndef TDC_CLI_ANALYSIS_MSPROBE_H
#define TDC_CLI_ANALYSIS_MSPROBE_H

#include "host/cli/msprobe/argparse.h"
#include "tdcmp.h"

/* -i STEP [-o DIR] */
int tdc_msprobe_overflow(const char *program, int argc, char **argv);

/* -i DIR -o DIR -config FILE */
int tdc_msprobe_merge(const char *program, int argc, char **argv);

/* -i compare.json -o DIR [-lm [FILE]] [-oc] [-f] */
int tdc_msprobe_graph(const char *program, int argc, char **argv);

/* What both words for a graph database take, in one row of their lists of arguments. */
enum tdc_graph_argument {
    TDC_GRAPH_OUTPUT,
    TDC_GRAPH_LAYER_MAPPING,
    TDC_GRAPH_OVERFLOW,
    TDC_GRAPH_FUZZY,
    TDC_GRAPH_ARGUMENTS
};
/* fuzzy: the short word for it, "-f" or "-fm". */
void tdc_graph_arguments(const char *fuzzy, struct tdc_argument arguments[TDC_GRAPH_ARGUMENTS]);
/* Writes the database as these say; bench: NULL for the graph of one side. */
int tdc_msprobe_write_graph(const char *npu, const char *bench,
                            const struct tdc_argument arguments[TDC_GRAPH_ARGUMENTS]);

/* `compare -da`: flags of tdc_difference_find. */
int tdc_msprobe_first_difference(const tdc_tasks *tasks, const char *output, unsigned flags,
                                 const struct tdc_options *options);

/* "The analyze result is saved in: FILE", or the text when there is no file. */
void tdc_msprobe_saved(const char *file, const char *otherwise);

#endif
