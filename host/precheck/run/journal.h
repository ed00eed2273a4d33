/*
 * journal.h - the two CSV files, which are also the journal of the run.
 *
 * The rows of some calls are appended with one write each, all details first and then the result
 * rows: a run that is killed at any moment leaves whole calls, and after them at most details rows
 * without their result row or one torn row. Opening an existing pair cuts off both. A details file
 * that is shorter than the result file says (the machine lost power, a copy was cut) is noticed
 * too, at whichever byte it ends: calls from there on are done again.
 *
 * New files are created exclusively, under a stamp no other run has. The result file is locked
 * while it is being written: a second run that would go on with it is refused.
 */
#ifndef TDC_PRECHECK_JOURNAL_H
#define TDC_PRECHECK_JOURNAL_H

#include "io/base/name_table.h"
#include "io/base/arena.h"
#include "io/base/text.h"
#include "tdcmp.h"

struct tdc_journal {
    char *result_path, *details_path;
    int result, details; /* -1: not open yet */
    int lock;            /* of an earlier run's result file; -1: a new one */
    tdc_stamp *stamp;    /* of new files */
    const char *result_header, *details_header;
    struct tdc_arena arena;
    struct tdc_name_table done;                /* names of the calls an earlier run has finished */
    struct tdc_text result_rows, details_rows; /* not written yet */
};

/* New files accuracy_checking_result_STAMP.csv and ..._details_STAMP.csv in the folder, created
 * with the first call; there is no ..._details_STAMP.json either. */
tdc_status tdc_journal_start(struct tdc_journal *journal, const char *folder,
                             const char *result_header, const char *details_header,
                             struct tdc_error *error);
/* How many details rows a call has; TDC_ROWS_UNKNOWN for one that cannot be asked. Called once, for
 * the last call of the details file: whole rows alone do not show that it is complete. */
#define TDC_ROWS_UNKNOWN SIZE_MAX
typedef size_t tdc_rows_of_call(void *context, const char *call);

/* Goes on with a result file and the details file beside it. TDC_ERR_REFUSED: not such a file, or
 * another run is writing it. */
tdc_status tdc_journal_resume(struct tdc_journal *journal, const char *result_csv,
                              const char *result_header, const char *details_header,
                              tdc_rows_of_call *rows_of_call, void *context,
                              struct tdc_error *error);
bool tdc_journal_has(const struct tdc_journal *journal, const char *call);
/* Either text may be empty. *first is set when the files were created by this call, which then has
 * written its rows; those of later calls wait for tdc_journal_flush, unless they are many. On
 * failure the files are as before the rows that waited, as far as the disk lets them. */
tdc_status tdc_journal_append(struct tdc_journal *journal, const char *details,
                              size_t details_length, const char *result, size_t result_length,
                              bool *first, struct tdc_error *error);
/* Writes the rows that wait. */
tdc_status tdc_journal_flush(struct tdc_journal *journal, struct tdc_error *error);
/* Rows that wait still are lost. */
void tdc_journal_close(struct tdc_journal *journal);

#endif
