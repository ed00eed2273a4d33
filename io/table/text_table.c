#include "io/table/text_table.h"

#include <stdlib.h>
#include <string.h>

#define TABLE_LIMIT ((size_t)8 << 30)

void tdc_text_table_start(struct tdc_text_table *table)
{
    memset(table, 0, sizeof *table);
    tdc_arena_init(&table->arena, TABLE_LIMIT);
}

char *tdc_text_table_add(struct tdc_text_table *table, size_t count, size_t bytes)
{
    if (table->count == table->capacity) {
        size_t capacity = table->capacity == 0 ? 256 : table->capacity * 2;
        struct tdc_text_row *grown = reallocarray(table->rows, capacity, sizeof *grown);
        if (grown == NULL)
            return NULL;
        table->rows = grown;
        table->capacity = capacity;
    }
    size_t pointers, all;
    if (__builtin_mul_overflow(count, sizeof(char *), &pointers) ||
        __builtin_add_overflow(pointers, bytes, &all))
        return NULL;
    const char **cells = tdc_arena_take(&table->arena, all);
    if (cells == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        cells[i] = "";
    table->rows[table->count++] = (struct tdc_text_row){.cells = cells, .count = count};
    return (char *)(cells + count);
}

void tdc_text_table_free(struct tdc_text_table *table)
{
    free(table->rows);
    tdc_arena_free(&table->arena);
    memset(table, 0, sizeof *table);
}

size_t tdc_text_column(const struct tdc_text_table *table, const char *name)
{
    for (size_t i = 0; i < table->rows[0].count; i++)
        if (strcmp(table->rows[0].cells[i], name) == 0)
            return i;
    return SIZE_MAX;
}

const char *tdc_text_cell(const struct tdc_text_row *row, size_t column)
{
    return column < row->count ? row->cells[column] : "";
}
