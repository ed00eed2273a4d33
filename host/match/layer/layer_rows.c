/* layer_rows.c - rows of two calls that face each other: equal names after the name of the call
 * (docs/msprobe.md#layer-mapping). */
#include "host/match/layer/layer_rows.h"

#include <stdlib.h>
#include <string.h>

/* Up to so many rows of an entry are looked through one by one. */
#define FEW_ROWS 16

bool tdc_layer_rows_init(struct tdc_layer_rows *rows, const struct tdc_dump *bench)
{
    *rows = (struct tdc_layer_rows){.bench = bench};
    tdc_arena_init(&rows->arena, (size_t)64 << 30);
    tdc_names_init(&rows->ends);
    rows->indexed = calloc(bench->entry_count + 1, sizeof *rows->indexed);
    return rows->indexed != NULL;
}

void tdc_layer_rows_free(struct tdc_layer_rows *rows)
{
    tdc_names_free(&rows->ends);
    tdc_arena_free(&rows->arena);
    free(rows->indexed);
    free(rows->last);
}

const char *tdc_row_end(const char *row, const char *entry)
{
    size_t skip = strlen(entry);
    return strlen(row) > skip ? row + skip : "";
}

static const char *end_key(struct tdc_arena *arena, uint32_t entry, const char *end, size_t *length)
{
    size_t end_length = strlen(end);
    *length = sizeof entry + end_length;
    char *key = tdc_arena_take(arena, *length);
    if (key != NULL) {
        memcpy(key, &entry, sizeof entry);
        memcpy(key + sizeof entry, end, end_length);
    }
    return key;
}

static bool index_entry(struct tdc_layer_rows *rows, uint32_t number)
{
    const struct tdc_dump_entry *entry = &rows->bench->entries[number];
    rows->indexed[number] = true;
    for (size_t i = entry->first; i < entry->first + entry->count; i++) {
        size_t length;
        bool fresh;
        const char *key = end_key(&rows->arena, number,
                                  tdc_row_end(rows->bench->records[i].name, entry->name), &length);
        uint32_t end =
            key != NULL ? tdc_names_put(&rows->ends, key, length, &fresh) : TDC_NAME_NONE;
        if (end == TDC_NAME_NONE)
            return false;
        if (end >= rows->capacity) {
            size_t capacity = rows->capacity == 0 ? 1024 : rows->capacity * 2;
            uint32_t *last = realloc(rows->last, capacity * sizeof *last);
            if (last == NULL)
                return false;
            rows->last = last;
            rows->capacity = capacity;
        }
        rows->last[end] = (uint32_t)i;
    }
    return true;
}

bool tdc_layer_rows_find(struct tdc_layer_rows *rows, uint32_t number, const char *end,
                         const char **found)
{
    const struct tdc_dump_entry *entry = &rows->bench->entries[number];
    *found = NULL;
    if (entry->count <= FEW_ROWS) {
        for (size_t i = entry->count; i-- > 0 && *found == NULL;) {
            const char *name = rows->bench->records[entry->first + i].name;
            if (strcmp(tdc_row_end(name, entry->name), end) == 0)
                *found = name;
        }
        return true;
    }
    size_t length;
    if (!rows->indexed[number] && !index_entry(rows, number))
        return false;
    const char *key = end_key(&rows->arena, number, end, &length);
    if (key == NULL)
        return false;
    uint32_t known = tdc_names_find(&rows->ends, key, length);
    if (known != TDC_NAME_NONE)
        *found = rows->bench->records[rows->last[known]].name;
    return true;
}
