/* csv_table.h - a small CSV file in memory, field by field. */
#ifndef TDC_PRECHECK_CSV_TABLE_H
#define TDC_PRECHECK_CSV_TABLE_H

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

/* At most 1 GiB. The table is to be freed in any case. */
tdc_status tdc_csv_table_read(const char *path, struct tdc_csv_table *table,
                              struct tdc_error *error);
void tdc_csv_table_free(struct tdc_csv_table *table);
/* Number of the column of this name, or SIZE_MAX. */
size_t tdc_csv_column(const struct tdc_csv_table *table, const char *name);
/* A field, "" where the line is too short. */
const char *tdc_csv_cell(const struct tdc_csv_line *line, size_t column);

#endif
