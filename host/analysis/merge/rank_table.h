/*
 * rank_table.h - the compare result of one rank, read back: of msprobe 2025 or 26 or of ours, as a
 * workbook or as csv.
 */
#ifndef TDC_ANALYSIS_RANK_TABLE_H
#define TDC_ANALYSIS_RANK_TABLE_H

#include "io/base/arena.h"
#include "tdcmp.h"

struct tdc_rank_row {
    struct tdc_cell *cells; /* texts terminated */
    size_t count;
};

struct tdc_rank_table {
    struct tdc_arena arena;
    struct tdc_rank_row *rows; /* the first is the header */
    size_t count;
};

/* The kind is in the name: .csv or .xlsx. To be freed in any case. */
tdc_status tdc_rank_table_read(const char *path, struct tdc_rank_table *table,
                               struct tdc_error *error);
void tdc_rank_table_free(struct tdc_rank_table *table);

/* What was compared, from the exact header: TDC_MODE_NONE when it is none of the known ones. */
tdc_mode tdc_rank_table_mode(const struct tdc_rank_table *table);
/* The metrics of a mode in their order, NULL behind the last. */
const char *const *tdc_rank_table_metrics(tdc_mode mode);

/* A column as pandas reads it: numbers when every cell is one, texts included; else each as it is.
 * SIZE_MAX: there is none. */
size_t tdc_rank_table_column(const struct tdc_rank_table *table, const char *name);
/* The cell, in place; a text is terminated. */
void tdc_rank_table_settle(struct tdc_rank_table *table, size_t column);
/* str() of a settled cell. */
struct tdc_text;
void tdc_rank_table_add_cell(struct tdc_text *out, const struct tdc_cell *cell);

#endif
