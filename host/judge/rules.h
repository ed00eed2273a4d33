/*
 * rules.h - what a rule set decides.
 *
 * One engine serves all rule sets; whatever differs between them is a member of struct tdc_rules.
 * The quirks of msprobe live in host/judge/compat (2025) and host/judge/compat26 (2026) and in the
 * values of their struct tdc_match_rules.
 */
#ifndef TDC_HOST_RULES_H
#define TDC_HOST_RULES_H

#include "host/engine/engine.h"
#include "host/judge/scene.h"
#include "host/judge/colours.h"
#include "host/judge/record_numbers.h"
#include "host/judge/row.h"

/* How a column of statistics is stored before it is read (compat and compat26 rules). */
struct tdc_stat_column {
    bool integers, is_unsigned; /* an array of int64, or of uint64 */
    bool integers_as_floats;
};

/* Everything a rule may look at to judge one row. */
struct tdc_case {
    const struct tdc_match *match;
    const struct tdc_record *npu, *bench; /* NULL where there is none */
    /* file names to compare; "N/A" for an unmatched bench, "-1" for none */
    const char *n_file, *b_file;
    /* of the NPU and of the bench side, by statistic; NULL: any number may stand in any column */
    const struct tdc_stat_column (*stat_columns)[TDC_STATISTICS];
    struct tdc_scene scene; /* of the sound rules */
    /* of the sound rules: limits that were given; NULL: their own */
    const struct tdc_tolerance *tolerance;
};

struct tdc_rules {
    const char *name;
    struct tdc_match_rules match;
    enum tdc_relative_rule relative;
    /* Which of the rows of one name lends its files to all of them
     * (docs/msprobe.md#repeated-names). */
    enum tdc_lender {
        TDC_FILES_OF_ITS_OWN,
        TDC_FILES_OF_LAST_NAME, /* the last row with the same NPU name */
        TDC_FILES_OF_LAST_PAIR  /* the last row with the same two names */
    } files;
    /* Axes of length 1 are dropped before shapes are compared. */
    bool squeeze;
    /* Padding is cleared, matrices of the options are multiplied with. */
    bool changes;
    /* Extra columns, polished sheets, escaped formulas. */
    bool extended;
    /* Columns and cells as msprobe 26 writes them: one verdict column and messages in every mode,
     * numbers in csv as Python prints them, N/A for what a null item lacks, no colours. */
    bool columns_of_26;

    /* Looks at all statistics of a table, of columns_of_26 in every mode but md5, before the first
     * row is judged, for the columns of the NPU and of the bench side; may be NULL. */
    void (*survey)(const struct tdc_rows *rows, struct tdc_stat_column columns[2][TDC_STATISTICS]);

    /*
     * Each fills values, verdict and class of the row and appends to the message. outcome is NULL
     * when there were no two files to open. judge_tensor is called from many threads.
     */
    void (*judge_tensor)(const struct tdc_case *row_case, const struct tdc_outcome *outcome,
                         struct tdc_row *row, struct tdc_extra *extra, struct tdc_text *message);
    void (*judge_statistics)(const struct tdc_case *row_case, struct tdc_row *row,
                             struct tdc_text *message);
    void (*judge_digest)(const struct tdc_case *row_case, struct tdc_row *row,
                         struct tdc_text *message);

    /* Verdicts and findings that need all rows of a call, which are [start, end); a table whose
     * rows were joined comes in one piece. Called in order when they are judged; may be NULL. */
    void (*judge_call)(const struct tdc_rows *rows, size_t start, size_t end);
    /* With judge_call: the text of the finding of a bit, NULL beyond the last. The column of
     * messages is the list of the row's findings in this order. */
    const char *(*finding_text)(unsigned bit);

    /* Colours, NULL for none: rules on a row alone, and on an output row with an input row of its
     * block. Red and yellow reasons are appended through tdc_reason_add. */
    const struct tdc_highlight_rules *highlight;

    /* Text of a verdict. */
    const char *(*verdict_text)(const struct tdc_row *row);
};

extern const struct tdc_rules tdc_rules_compat, tdc_rules_compat26, tdc_rules_sound;

static inline const struct tdc_rules *tdc_rules_of(tdc_rules_id id)
{
    return id == TDC_RULES_COMPAT     ? &tdc_rules_compat
           : id == TDC_RULES_COMPAT26 ? &tdc_rules_compat26
                                      : &tdc_rules_sound;
}

/* ---- shared between the rule sets ------------------------------------------------------------ */

static inline const char *tdc_requires_grad(const struct tdc_record *record)
{
    return record != NULL ? record->requires_grad : "N/A";
}

/* -> compat_number.c: a number text as pandas reads it (docs/msprobe.md#decimal-reader). */
bool tdc_compat_read(const char *text, size_t length, double *value);

/* -> compat_zero_d.c: the two metrics of 0-d tensors in the arithmetic of numpy
 * (docs/msprobe.md#tensors-without-dimensions), the relative one by TDC_RELATIVE_NATIVE or
 * TDC_RELATIVE_PROMOTED. */
void tdc_compat_zero_d(const struct tdc_outcome *outcome, enum tdc_relative_rule rule,
                       double *max_abs, double *max_rel);

#endif
