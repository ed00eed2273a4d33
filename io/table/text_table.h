/* text_table.h - a table that was read from a file: rows of texts, the first of them the header. */
#ifndef TDC_IO_TEXT_TABLE_H
#define TDC_IO_TEXT_TABLE_H

#include "io/base/arena.h"
#include "tdcmp.h"

struct tdc_text_row {
    const char **cells; /* terminated */
    size_t count;
    const unsigned char *kinds; /* tdc_cell_kind of each; NULL: the file does not say */
};

struct tdc_text_table {
    struct tdc_arena arena;
    struct tdc_text_row *rows;
    size_t count, capacity;
};

/* A file of at most 1 GiB, with one row at least. The table is to be freed in any case. */
tdc_status tdc_text_table_from_csv(const char *path, struct tdc_text_table *table,
                                   struct tdc_error *error);
/* A sheet, counted from 0, of an Excel workbook of at most 1 GiB, with one row at least; without
 * such a sheet TDC_ERR_NOT_FOUND. Numbers are the texts in the file, truths "True" and "False". */
tdc_status tdc_text_table_from_xlsx(const char *path, size_t sheet, struct tdc_text_table *table,
                                    struct tdc_error *error);
void tdc_text_table_free(struct tdc_text_table *table);

/* Number of the column of this name, or SIZE_MAX. */
size_t tdc_text_column(const struct tdc_text_table *table, const char *name);
/* A cell, "" where the row is too short. */
const char *tdc_text_cell(const struct tdc_text_row *row, size_t column);

/* For readers: begins an empty table, and adds a row of `count` empty cells. Its texts may take
 * `bytes` in all, ends included, and begin at the address that is returned; NULL: out of memory. */
void tdc_text_table_start(struct tdc_text_table *table);
char *tdc_text_table_add(struct tdc_text_table *table, size_t count, size_t bytes);

#endif
