/* table.h - a result table: rows, their texts, and where they came from. */
#ifndef TDC_HOST_TABLE_H
#define TDC_HOST_TABLE_H

#include <pthread.h>

#include "host/judge/rules.h"
#include "host/judge/row.h"
#include "host/origin/origins.h"

struct tdc_alignment;
struct tdc_column;
struct tdc_fields;

#define TDC_MOST_COLUMNS    64
#define TDC_RECENT_MESSAGES 16

struct tdc_table {
    const struct tdc_match *match;
    const struct tdc_rules *rules;
    tdc_mode mode;
    struct tdc_tolerance tolerance; /* that was given, of extended rules only */
    bool highlight;
    bool highlight_cells; /* the cell format of msprobe's -hl (docs/msprobe.md#cells-of-a-sheet) */

    struct tdc_row *rows;
    size_t row_count;
    uint32_t *sources; /* row whose files a row is compared with; NULL: each its own */
    /* by row, NULL without any: what is done to its tensors before; in the arena */
    struct tdc_row_changes {
        const struct tdc_side_change *sides[2];
    } * changes;
    struct tdc_extra *extras;     /* by row; tensor mode of extended rules only */
    struct tdc_calls calls;       /* of extended rules only */
    struct tdc_origins *origins;  /* found so far; of extended rules only */
    struct tdc_row_waiter waiter; /* theirs */
    struct tdc_stacks *stacks;
    struct tdc_stat_column stat_columns[2][TDC_STATISTICS]; /* of the rules' survey */

    /* for the head of result files, in the arena; of extended rules only */
    const char *command;    /* words of the command line as a JSON list; NULL: none */
    const char *folder;     /* that relative paths start from; NULL: not known */
    const char *stack_path; /* NULL: none */
    bool allow_unmatched;

    const struct tdc_column *columns[TDC_MOST_COLUMNS];
    size_t column_count;
    size_t front_columns; /* of extended rules: so many stand open in a sheet, the rest is folded */

    /* The row a writer waits for, SIZE_MAX: none. Set before looking at row->judged, which is set
     * before looking at this: one of the two sees the other. */
    atomic_size_t wanted;
    pthread_cond_t progressed;
    bool abandoned; /* under the lock: no more rows will come */

    /* Messages that were kept, one for each of some lengths; NULL: none yet. */
    _Atomic(const char *) recent[TDC_RECENT_MESSAGES];

    pthread_mutex_t lock; /* of what follows, while the engine runs */
    struct tdc_arena arena;
    struct tdc_name_table messages;
    atomic_bool failed; /* a message could not be kept */
    /* The caller's tdc_options.row and its context, while it compares. */
    void (*row_done)(void *context, const tdc_table *table, size_t row);
    void *row_context;
    uint64_t bytes;
    double seconds; /* of the engine, for all tables of the run */

    /* scratch of tdc_table_row and tdc_table_worst */
    struct tdc_text cell_texts, worst;
    char *advice;
    struct tdc_fields *fields; /* arrays that were asked for; NULL: none */

    struct tdc_user_rules *user_rules;   /* NULL: none */
    struct tdc_third_row *truth, *noise; /* by row; NULL: no such run */
    struct tdc_share *share;             /* the caller's; NULL: none */
};

/* One copy per distinct message; "" when out of memory (table->failed is set). Thread-safe. */
const char *tdc_table_keep(struct tdc_table *table, const char *text, size_t length);

static inline const struct tdc_record *tdc_row_npu(const struct tdc_table *table,
                                                   const struct tdc_row *row)
{
    return tdc_npu_record(table->match, row);
}

static inline const struct tdc_record *tdc_row_bench(const struct tdc_table *table,
                                                     const struct tdc_row *row)
{
    return tdc_bench_record(table->match, row);
}

static inline struct tdc_rows tdc_rows_of(const struct tdc_table *table)
{
    return (struct tdc_rows){table->match, table->mode, table->rows, table->row_count,
                             table->tolerance.elements || table->tolerance.use_cosine};
}

/* tdc_table_row with texts of the caller: for several threads at once, of rows that are final. */
tdc_status tdc_table_cells(const struct tdc_table *table, size_t row, struct tdc_text *texts,
                           struct tdc_cell *cells, struct tdc_error *error);

/* Chooses the columns of the table. */
void tdc_columns_choose(struct tdc_table *table);

/* Finding origins and colours block by block; rows of a block must be judged. */
struct tdc_highlighter {
    struct tdc_table *table;
    struct tdc_reasons reasons;
    bool colours; /* there is something to colour; otherwise blocks are single rows */
};
void tdc_highlighter_init(struct tdc_highlighter *highlighter, struct tdc_table *table);
void tdc_highlighter_free(struct tdc_highlighter *highlighter);
/* The row behind the block that starts at `start`. */
size_t tdc_highlighter_block(const struct tdc_highlighter *highlighter, size_t start);
/* Finds the origins and colours among the rows [start, end) of a block and adds the reasons to
 * their messages. False when the run was given up or memory is out (table->failed). */
bool tdc_highlighter_run(struct tdc_highlighter *highlighter, size_t start, size_t end);

/* After the last block: what needs all of them. False when memory is out (table->failed). */
bool tdc_highlighter_finish(struct tdc_highlighter *highlighter);

/* Waits until a row is judged; false when the run was given up. */
bool tdc_table_await(struct tdc_table *table, size_t row);

/*
 * Writes a table to several files while it is being filled, following the rows, with the help of
 * further threads where the format allows it. Colours are found on the way. written[i] is set when
 * outputs[i] is complete, also if a later one then fails. TDC_ERR_INTERRUPTED when the run was
 * given up; then there is none.
 */
tdc_status tdc_table_follow(struct tdc_table *table, const struct tdc_output *outputs,
                            size_t output_count, int threads, bool *written,
                            struct tdc_error *error);

/* tdc_table_summary without bytes and time, which belong to who compares: also for a writer that
 * has seen all rows while the comparison is not over yet. */
void tdc_table_count(const tdc_table *table, struct tdc_summary *summary);

#endif
