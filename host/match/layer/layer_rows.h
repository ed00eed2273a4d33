/* layer_rows.h - the rows of bench entries by the end of their names. Internal to host/match. */
#ifndef TDC_HOST_LAYER_ROWS_H
#define TDC_HOST_LAYER_ROWS_H

#include "host/dump/dump.h"

/* Entries with few rows are looked through; those with many are indexed when first asked for. */
struct tdc_layer_rows {
    const struct tdc_dump *bench;
    struct tdc_arena arena;
    struct tdc_name_table ends; /* entry number and end of the name */
    uint32_t *last;             /* by number in ends: the last record */
    size_t capacity;
    bool *indexed; /* by entry */
};

/* False when out of memory; free in any case. */
bool tdc_layer_rows_init(struct tdc_layer_rows *rows, const struct tdc_dump *bench);
void tdc_layer_rows_free(struct tdc_layer_rows *rows);

/* What follows the name of the entry, whatever the row is really called. */
const char *tdc_row_end(const char *row, const char *entry);

/* The last row of a bench entry that ends so; *found is NULL if there is none. False when out of
 * memory. */
bool tdc_layer_rows_find(struct tdc_layer_rows *rows, uint32_t entry, const char *end,
                         const char **found);

#endif
