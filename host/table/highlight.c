/* highlight.c - blocks of rows and the colour rules over them (docs/msprobe.md#colours). */
#include <string.h>

#include "host/origin/origins.h"
#include "host/judge/colours.h"
#include "host/table/table.h"

#define REASONS_LIMIT ((size_t)1 << 22)

/* Rows [start, end) belong to one call; [start, inputs_end) are its inputs, up to outputs_end its
 * outputs. */
struct block {
    size_t start, inputs_end, outputs_end, end;
};

static const char *entry_name(const struct tdc_table *table, size_t row)
{
    const struct tdc_record *record = tdc_row_npu(table, &table->rows[row]);
    return record != NULL ? table->match->npu->entries[record->entry].name : NULL;
}

static bool joins(const char *entry, const char *block)
{
    if (strcmp(entry, block) == 0)
        return true;
    return strstr(entry, ".forward.") == NULL && strstr(entry, ".backward.") == NULL &&
           strstr(block, entry) != NULL;
}

/* The first row always counts as an input; the others by their state. */
static struct block find_block(const struct tdc_table *table, size_t start)
{
    struct block block = {start, start + 1, start + 1, start + 1};
    const char *name = entry_name(table, start);
    for (; block.end < table->row_count; block.end++) {
        const char *entry = entry_name(table, block.end);
        if (entry == NULL || !joins(entry, name))
            break;
        switch ((enum tdc_state)tdc_row_npu(table, &table->rows[block.end])->state) {
        case TDC_STATE_INPUT:
        case TDC_STATE_DEBUG:
        case TDC_STATE_PARAMETERS:
            block.inputs_end++;
            block.outputs_end++;
            break;
        case TDC_STATE_OUTPUT:
            block.outputs_end++;
            break;
        case TDC_STATE_PARAMETERS_GRAD:
            break;
        }
    }
    return block;
}

static struct tdc_coloured_row row_to_colour(const struct tdc_table *table, size_t row)
{
    const struct tdc_row *held = &table->rows[row];
    return (struct tdc_coloured_row){held, tdc_row_npu(table, held), tdc_row_bench(table, held)};
}

static void append_reasons(struct tdc_table *table, struct tdc_row *row,
                           const struct tdc_text *reasons)
{
    struct tdc_text message;
    tdc_text_init(&message, REASONS_LIMIT);
    tdc_text_adds(&message, row->message);
    if (message.length != 0)
        tdc_text_addc(&message, '\n');
    tdc_text_add(&message, reasons->data, reasons->length);
    if (message.failed)
        atomic_store(&table->failed, true);
    row->message = tdc_table_keep(table, tdc_text_get(&message), message.length);
    tdc_text_free(&message);
}

static void colour_one(struct tdc_table *table, const struct block *block, size_t index,
                       struct tdc_reasons *reasons)
{
    const struct tdc_highlight_rules *rules = table->rules->highlight;
    struct tdc_row *row = &table->rows[index];
    struct tdc_coloured_row self = row_to_colour(table, index);
    tdc_text_clear(&reasons->red);
    tdc_text_clear(&reasons->yellow);
    reasons->colour = TDC_COLOUR_NONE;
    rules->row(table->mode, &self, reasons);
    if (rules->pair != NULL && index >= block->inputs_end && index < block->outputs_end) {
        for (size_t i = block->start; i < block->inputs_end; i++) {
            struct tdc_coloured_row input = row_to_colour(table, i);
            rules->pair(table->mode, &input, &self, reasons);
        }
    }
    if (rules->last != NULL)
        rules->last(table->mode, &self, reasons);
    if (reasons->red.failed || reasons->yellow.failed)
        atomic_store(&table->failed, true);
    tdc_colour colour = reasons->colour;
    if (reasons->red.length != 0)
        colour = TDC_COLOUR_RED;
    else if (reasons->yellow.length != 0 && colour == TDC_COLOUR_NONE)
        colour = TDC_COLOUR_YELLOW;
    row->colour = (uint8_t)colour;
    if (reasons->red.length != 0)
        append_reasons(table, row, &reasons->red);
    else if (reasons->yellow.length != 0)
        append_reasons(table, row, &reasons->yellow);
}

void tdc_highlighter_init(struct tdc_highlighter *highlighter, struct tdc_table *table)
{
    *highlighter = (struct tdc_highlighter){.table = table};
    const struct tdc_highlight_rules *rules = table->rules->highlight;
    highlighter->reasons.once = rules != NULL && !rules->repeat_reasons;
    tdc_text_init(&highlighter->reasons.red, REASONS_LIMIT);
    tdc_text_init(&highlighter->reasons.yellow, REASONS_LIMIT);
    /* msprobe: single points have no inputs and outputs, md5 tables nothing to measure */
    highlighter->colours =
        table->highlight && rules != NULL &&
        (table->rules->extended || (table->highlight_cells && table->mode != TDC_MODE_DIGEST &&
                                    table->match->npu->kind != TDC_DEBUG_JSON));
}

void tdc_highlighter_free(struct tdc_highlighter *highlighter)
{
    tdc_text_free(&highlighter->reasons.red);
    tdc_text_free(&highlighter->reasons.yellow);
}

/* The rows of one entry follow each other. */
static size_t call_end(const struct tdc_table *table, size_t start)
{
    const struct tdc_record *first = tdc_row_npu(table, &table->rows[start]);
    size_t end = start + 1;
    for (; end < table->row_count; end++) {
        const struct tdc_record *record = tdc_row_npu(table, &table->rows[end]);
        if (first == NULL || record == NULL || record->entry != first->entry)
            break;
    }
    return end;
}

size_t tdc_highlighter_block(const struct tdc_highlighter *highlighter, size_t start)
{
    const struct tdc_table *table = highlighter->table;
    if (table->origins != NULL)
        return table->calls.calls[table->rows[start].call].end;
    if (table->rules->judge_call != NULL)
        return call_end(table, start);
    /* rows of the bench side alone follow at the end and form no block */
    if (!highlighter->colours || entry_name(table, start) == NULL)
        return start + 1;
    return find_block(table, start).end;
}

bool tdc_highlighter_run(struct tdc_highlighter *highlighter, size_t start, size_t end)
{
    struct tdc_table *table = highlighter->table;
    if (table->origins != NULL) {
        tdc_status status = tdc_origins_take(table->origins, start, end);
        if (status == TDC_ERR_MEMORY)
            atomic_store(&table->failed, true);
        if (status != TDC_OK)
            return false;
    }
    if (table->rules->judge_call != NULL) {
        struct tdc_rows rows = tdc_rows_of(table);
        table->rules->judge_call(&rows, start, end);
    }
    if (!highlighter->colours)
        return true;
    struct block block = {start, start + 1, start + 1, start + 1};
    if (table->rules->highlight->pair != NULL && entry_name(table, start) != NULL)
        block = find_block(table, start);
    for (size_t at = start; at < end; at++)
        colour_one(table, &block, at, &highlighter->reasons);
    return true;
}

bool tdc_highlighter_finish(struct tdc_highlighter *highlighter)
{
    struct tdc_table *table = highlighter->table;
    if (table->origins == NULL || tdc_origins_finish(table->origins) == TDC_OK)
        return true;
    atomic_store(&table->failed, true);
    return false;
}
