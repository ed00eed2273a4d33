/*
 * report.h - what a bench command prints: how it was measured, a table, notes.
 *
 * For people the rows appear as they are measured. For machines (--json) there is one object at the
 * end and nothing before it, so that a failed run prints no half object.
 */
#ifndef TDC_BENCH_REPORT_H
#define TDC_BENCH_REPORT_H

#include <math.h>

#include "io/base/text.h"
#include "tdcmp.h"

/* Instead of a number of decimals. */
enum {
    TDC_COLUMN_TEXT = -1,
    TDC_COLUMN_SCIENTIFIC = -2 /* a number as 1.2e-16 */
};

struct tdc_report_column {
    const char *key;   /* member of a row in json */
    const char *title; /* for people */
    int width;
    int decimals;
};

/* A cell: text for columns of text, else the number; NULL and NaN are "-" and null. */
struct tdc_report_value {
    const char *text;
    double number;
};

struct tdc_report_head {
    const char *command; /* "bench io" */
    int threads;
    const char *rules; /* NULL: the command judges nothing */
    const char *io;    /* how tensor files are read; NULL: does not apply */
    unsigned repeat;
    const char *folder;     /* NULL: no files */
    const char *file_state; /* "warm"; NULL: no files, or a column of the rows */
    bool json;
    const struct tdc_report_column *columns;
    size_t column_count;
};

struct tdc_report {
    struct tdc_report_head head;
    struct tdc_text rows, notes; /* json text, or the notes for people */
};

/* Prints the head, unless it is json. The texts and columns of the head must outlive the report. */
void tdc_report_start(struct tdc_report *report, const struct tdc_report_head *head);
/* values has head.column_count entries. */
void tdc_report_row(struct tdc_report *report, const struct tdc_report_value *values);
/* A sentence below the table. */
void tdc_report_note(struct tdc_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints what is left. TDC_ERR_MEMORY, TDC_ERR_WRITE. Frees the report in any case. */
tdc_status tdc_report_end(struct tdc_report *report, struct tdc_error *error);
/* Frees a report that will not be finished. */
void tdc_report_drop(struct tdc_report *report);

static inline struct tdc_report_value tdc_text_value(const char *text)
{
    return (struct tdc_report_value){.text = text};
}

static inline struct tdc_report_value tdc_number_value(double number)
{
    return (struct tdc_report_value){.number = number};
}

/* A quotient, or nothing where there is nothing to divide. */
static inline struct tdc_report_value tdc_quotient_value(double numerator, double denominator)
{
    return tdc_number_value(numerator > 0 && denominator > 0 ? numerator / denominator
                                                             : (double)NAN);
}

#endif
