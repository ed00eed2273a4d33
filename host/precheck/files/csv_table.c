#include "host/precheck/files/csv_table.h"

#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"
#include "io/file/file_map.h"
#include "io/file/mapping_guard.h"
#include "io/text/pytext.h"

#define TABLE_LIMIT  ((size_t)8 << 30)
#define LARGEST_FILE ((size_t)1 << 30)
#define MOST_FIELDS  256

struct parsing {
    struct tdc_csv_table *table;
    struct tdc_file_map map;
    size_t capacity;
    bool out_of_memory;
};

/* Where the field that begins at `at` ends: its separator, or the end of the file. */
static const char *field_end(const char *at, const char *end)
{
    bool quoted = false;
    for (; at < end && (quoted || (*at != ',' && *at != '\n')); at++)
        quoted ^= *at == '"';
    return at;
}

/* The content of a field: without its quotes, doubled quotes once, without a line's end. */
static char *field_text(struct tdc_arena *arena, const char *at, const char *stop)
{
    char *text = tdc_arena_take(arena, (size_t)(stop - at) + 1);
    if (text == NULL)
        return NULL;
    char *to = text;
    bool quoted = at < stop && *at == '"';
    for (at += quoted; at < stop; at++) {
        if (quoted && *at == '"') {
            quoted = at + 1 < stop && at[1] == '"';
            if (!quoted)
                continue;
            at++;
        } else if (!quoted && *at == '\r') {
            continue;
        }
        *to++ = *at;
    }
    *to = '\0';
    return text;
}

static struct tdc_csv_line *new_line(struct parsing *parsing)
{
    struct tdc_csv_table *table = parsing->table;
    if (table->count == parsing->capacity) {
        size_t capacity = parsing->capacity == 0 ? 256 : parsing->capacity * 2;
        struct tdc_csv_line *grown = reallocarray(table->lines, capacity, sizeof *grown);
        if (grown == NULL)
            return NULL;
        table->lines = grown;
        parsing->capacity = capacity;
    }
    return &table->lines[table->count++];
}

/* One line; returns the beginning of the next, NULL when out of memory. */
static const char *take_line(struct parsing *parsing, const char *at, const char *end)
{
    struct tdc_arena *arena = &parsing->table->arena;
    const char *fields[MOST_FIELDS];
    size_t count = 0;
    for (bool more = true; more;) {
        const char *stop = field_end(at, end);
        const char *text = field_text(arena, at, stop);
        if (text == NULL)
            return NULL;
        if (count < MOST_FIELDS)
            fields[count++] = text;
        more = stop < end && *stop == ',';
        at = stop < end ? stop + 1 : end;
    }
    const char **kept = tdc_arena_zeroed(arena, count, sizeof *kept);
    struct tdc_csv_line *line = new_line(parsing);
    if (kept == NULL || line == NULL)
        return NULL;
    memcpy(kept, fields, count * sizeof *kept);
    *line = (struct tdc_csv_line){kept, count};
    return at;
}

static void parse(void *argument)
{
    struct parsing *parsing = argument;
    if (parsing->map.size == 0)
        return; /* nothing is mapped */
    const char *at = parsing->map.data, *end = at + parsing->map.size;
    if (parsing->map.size >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
        at += 3;
    while (at != NULL && at < end)
        at = take_line(parsing, at, end);
    parsing->out_of_memory = at == NULL;
}

tdc_status tdc_csv_table_read(const char *path, struct tdc_csv_table *table,
                              struct tdc_error *error)
{
    memset(table, 0, sizeof *table);
    tdc_arena_init(&table->arena, TABLE_LIMIT);
    struct parsing parsing = {.table = table};
    tdc_status status = tdc_file_map_open(path, &parsing.map, error);
    if (status != TDC_OK)
        return status;
    if (parsing.map.size > LARGEST_FILE)
        status = tdc_fail(error, TDC_ERR_REFUSED, "%s: too large", path);
    else if (!tdc_guard_begin())
        status = tdc_fail(error, TDC_ERR_SYSTEM, "cannot install a signal handler");
    if (status == TDC_OK) {
        if (!tdc_guarded_read(parse, &parsing))
            status = tdc_fail(error, TDC_ERR_CHANGED, "%s: changed while being read", path);
        else if (parsing.out_of_memory)
            status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
        else if (table->count == 0)
            status = tdc_fail(error, TDC_ERR_FORMAT, "%s: empty", path);
        tdc_guard_end();
    }
    tdc_file_map_close(&parsing.map);
    return status;
}

void tdc_csv_table_free(struct tdc_csv_table *table)
{
    free(table->lines);
    tdc_arena_free(&table->arena);
    memset(table, 0, sizeof *table);
}

size_t tdc_csv_column(const struct tdc_csv_table *table, const char *name)
{
    for (size_t i = 0; i < table->lines[0].count; i++)
        if (strcmp(table->lines[0].fields[i], name) == 0)
            return i;
    return SIZE_MAX;
}

const char *tdc_csv_cell(const struct tdc_csv_line *line, size_t column)
{
    return column < line->count ? line->fields[column] : "";
}

bool tdc_csv_is_missing(const char *cell)
{
    static const char *const texts[] = {"",         "#N/A", "#N/A N/A", "#NA",    "-1.#IND",
                                        "-1.#QNAN", "-NaN", "-nan",     "1.#IND", "1.#QNAN",
                                        "<NA>",     "N/A",  "NA",       "NULL",   "NaN",
                                        "None",     "n/a",  "nan",      "null"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(cell, texts[i]) == 0)
            return true;
    return false;
}

static bool is_whole(const char *cell)
{
    cell += *cell == '-' || *cell == '+';
    return *cell != '\0' && strspn(cell, "0123456789") == strlen(cell);
}

enum tdc_csv_kind tdc_csv_column_kind(const struct tdc_csv_table *table, size_t column)
{
    enum tdc_csv_kind kind = TDC_CSV_INTEGER;
    for (size_t i = 1; i < table->count; i++) {
        const char *cell = tdc_csv_cell(&table->lines[i], column);
        double value;
        if (is_whole(cell))
            continue;
        if (!tdc_csv_is_missing(cell) &&
            (cell[strspn(cell, " \t")] == '\0' || !tdc_python_float(cell, strlen(cell), &value)))
            return TDC_CSV_TEXT;
        kind = TDC_CSV_FLOAT;
    }
    return kind;
}
