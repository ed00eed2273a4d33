/* csv_table.c - reading a CSV file into a table. */
#include <string.h>

#include "io/base/error.h"
#include "io/file/file_map.h"
#include "io/file/mapping_guard.h"
#include "io/table/text_table.h"
#include "io/text/csv_reader.h"

#define LARGEST_FILE ((size_t)1 << 30)

struct parsing {
    struct tdc_text_table *table;
    struct tdc_file_map map;
    bool out_of_memory;
};

/* Once over the row to know its size, once more for the texts. */
static bool take_row(struct tdc_text_table *table, struct tdc_csv_reader *reader)
{
    struct tdc_csv_reader ahead = *reader;
    size_t count = 0, bytes = 0;
    for (bool last = false; !last; count++) {
        struct tdc_csv_span span = tdc_csv_next(&ahead);
        bytes += (size_t)(span.stop - span.start) + 1;
        last = span.last;
    }
    char *to = tdc_text_table_add(table, count, bytes);
    if (to == NULL)
        return false;
    const char **cells = table->rows[table->count - 1].cells;
    /* whoever writes to the file meanwhile gets no more room than it had */
    for (size_t i = 0; i < count; i++) {
        struct tdc_csv_span span = tdc_csv_next(reader);
        if ((size_t)(span.stop - span.start) >= bytes)
            break;
        size_t length = tdc_csv_content(&span, to);
        to[length] = '\0';
        cells[i] = to;
        to += length + 1;
        bytes -= length + 1;
    }
    *reader = ahead;
    return true;
}

static void parse(void *argument)
{
    struct parsing *parsing = argument;
    struct tdc_csv_reader reader;
    tdc_csv_start(&reader, parsing->map.data, parsing->map.size);
    while (!tdc_csv_at_end(&reader) && !parsing->out_of_memory)
        parsing->out_of_memory = !take_row(parsing->table, &reader);
}

tdc_status tdc_text_table_from_csv(const char *path, struct tdc_text_table *table,
                                   struct tdc_error *error)
{
    tdc_text_table_start(table);
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
