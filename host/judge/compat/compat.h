/* compat.h - the parts of the compat rules, joined in compat.c. */
#ifndef TDC_HOST_COMPAT_H
#define TDC_HOST_COMPAT_H

#include "host/judge/rules.h"

/* A statistic that is an integer; one beyond 64 bits comes as some value beyond 64 bits. */
bool tdc_stat_integer(const struct tdc_record *record, int which, __int128 *value);

/* What the two rule sets of msprobe say differently about a pair of files. */
struct tdc_file_words {
    void (*unreadable)(const struct tdc_case *row_case, struct tdc_text *message);
    void (*zero_d)(const struct tdc_outcome *outcome, struct tdc_row *row,
                   struct tdc_text *message);
};

/* The six values of a row of tensor mode, and its message. */
void tdc_compat_files(const struct tdc_case *row_case, const struct tdc_outcome *outcome,
                      const struct tdc_file_words *words, struct tdc_row *row,
                      struct tdc_text *message);
/* A maximum as a cell: rounded to 12 decimals; NaN is a text with a message. */
struct tdc_value tdc_compat_maximum(double value, const char *nan_text, struct tdc_text *message);

extern const char tdc_compat_zero_d_text[], tdc_compat_nan_abs_text[], tdc_compat_nan_rel_text[];

void tdc_compat_tensor(const struct tdc_case *row_case, const struct tdc_outcome *outcome,
                       struct tdc_row *row, struct tdc_extra *extra, struct tdc_text *message);
void tdc_compat_statistics(const struct tdc_case *row_case, struct tdc_row *row,
                           struct tdc_text *message);
void tdc_compat_survey(const struct tdc_rows *rows,
                       struct tdc_stat_column columns[2][TDC_STATISTICS]);
void tdc_compat_digest(const struct tdc_case *row_case, struct tdc_row *row,
                       struct tdc_text *message);

#endif
