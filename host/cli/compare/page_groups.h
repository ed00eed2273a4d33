/* page_groups.h - the dumps of a run that begin to differ at the same place. */
#ifndef TDC_CLI_COMPARE_PAGE_GROUPS_H
#define TDC_CLI_COMPARE_PAGE_GROUPS_H

#include "host/cli/shared/command.h"

struct tdc_group {
    const struct tdc_run_comparison *first; /* stands for all of them */
    size_t start;                           /* its row where it begins */
    size_t count;
    char label[400]; /* "ranks 0-3", "step0 ranks 0, 2; step1 rank 5" */
    /* the comparison the label ends with, and how its range began: while the label grows */
    const struct tdc_run_comparison *last;
    size_t number_at; /* in the label: where the last range or number begins */
    long range_first, range_last;
};

struct tdc_groups {
    struct tdc_group *all;
    size_t count;
};

/* Name of a row: the test side's, or the ref's where there is none. */
const char *tdc_page_row_name(const struct tdc_run_comparison *comparison, size_t row);
/* "step0 rank3": what tells a comparison from the others of the run. At most `size` bytes. */
void tdc_page_label(const struct tdc_task *task, char *label, size_t size);

/* Those of the comparisons that differ, in the order of the run. False when out of memory. */
bool tdc_groups_make(const struct tdc_run *run, struct tdc_groups *groups);
void tdc_groups_free(struct tdc_groups *groups);

/* Number in the table of the k-th origin to show: forward before backward, those that may be
 * consequences at the end. */
size_t tdc_group_origin(const struct tdc_group *group, size_t k);

#endif
