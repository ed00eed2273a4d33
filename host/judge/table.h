/* table.h - a result table: rows, their texts, and where they came from. */
#ifndef TDC_HOST_TABLE_H
#define TDC_HOST_TABLE_H

#include <pthread.h>

#include "host/judge/rules.h"
#include "host/judge/row.h"

struct tdc_column;

struct tdc_table {
    const struct tdc_match *match;
    const struct tdc_rules *rules;
    tdc_mode mode;
    bool highlight;
    bool highlight_cells; /* the cell format of msprobe's -hl (spec 11.3) */

    struct tdc_row *rows;
    size_t row_count;
    uint32_t *sources;        /* row whose files a row is compared with; NULL: each its own */
    struct tdc_extra *extras; /* by row; tensor mode of extended rules only */
    struct tdc_stacks *stacks;

    const struct tdc_column *columns[64];
    size_t column_count;

    pthread_mutex_t lock; /* of what follows, while the engine runs */
    struct tdc_arena arena;
    struct tdc_name_table messages;
    bool failed; /* a message could not be kept */
    uint64_t bytes;

    /* scratch of tdc_table_row and tdc_table_worst */
    struct tdc_text cell_texts, worst;
    char *advice;
};

/* One copy per distinct message; "" when out of memory (table->failed is set). Thread-safe. */
const char *tdc_table_keep(struct tdc_table *table, const char *text, size_t length);

static inline const struct tdc_record *tdc_row_npu(const struct tdc_table *table,
                                                   const struct tdc_row *row)
{
    return row->npu == TDC_UNPAIRED ? NULL : &table->match->npu->records[row->npu];
}

static inline const struct tdc_record *tdc_row_bench(const struct tdc_table *table,
                                                     const struct tdc_row *row)
{
    return row->bench == TDC_UNPAIRED ? NULL : &table->match->bench->records[row->bench];
}

/* Chooses the columns of the table. */
void tdc_columns_choose(struct tdc_table *table);

/* Finds colours and adds their reasons to the messages. False when out of memory. */
bool tdc_highlight(struct tdc_table *table);

#endif
