/* csv_table.h - a small CSV file in memory, field by field. */
#ifndef TDC_PRECHECK_CSV_TABLE_H
#define TDC_PRECHECK_CSV_TABLE_H

#include <stdbool.h>

#include "io/base/arena.h"
#include "tdcmp.h"

struct tdc_csv_line {
    const char **fields; /* terminated, without quotes */
    size_t count;
};

struct tdc_csv_table {
    struct tdc_arena arena;
    struct tdc_csv_line *lines; /* the first is the header */
    size_t count;
};

/* What a reader that guesses types (pandas) takes a column for. */
enum tdc_csv_kind {
    TDC_CSV_TEXT,
    TDC_CSV_FLOAT, /* numbers and missing values, not all of them whole */
    TDC_CSV_INTEGER
};

/* At most 1 GiB. The table is to be freed in any case. */
tdc_status tdc_csv_table_read(const char *path, struct tdc_csv_table *table,
                              struct tdc_error *error);
void tdc_csv_table_free(struct tdc_csv_table *table);
/* Number of the column of this name, or SIZE_MAX. */
size_t tdc_csv_column(const struct tdc_csv_table *table, const char *name);
/* A field, "" where the line is too short. */
const char *tdc_csv_cell(const struct tdc_csv_line *line, size_t column);
enum tdc_csv_kind tdc_csv_column_kind(const struct tdc_csv_table *table, size_t column);
/* A cell that such a reader takes for a missing value: empty, "nan", "N/A" and the like. */
bool tdc_csv_is_missing(const char *cell);

#endif
