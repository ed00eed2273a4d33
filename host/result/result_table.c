/* result_table.c - results in csv and xlsx: rows of cells under headings. */
#include <string.h>
#include <strings.h>

#include "host/result/result.h"
#include "io/base/error.h"
#include "io/table/text_table.h"

#define MOST_COLUMNS ((size_t)256)
/* Sheets of a workbook that are looked at: a summary, parts of a large table, stacks. */
#define MOST_SHEETS ((size_t)64)

static tdc_status out_of_memory(const char *path, struct tdc_error *error)
{
    return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
}

/* The row of headings; SIZE_MAX: the table has none, and is no table of rows. */
static size_t header_of(const struct tdc_text_table *table, tdc_result_field fields[MOST_COLUMNS])
{
    const size_t most = 8; /* a line or two may stand above */
    for (size_t row = 0; row < table->count && row < most; row++) {
        bool name = false, verdict = false;
        for (size_t i = 0; i < MOST_COLUMNS; i++) {
            fields[i] = tdc_result_field_of(tdc_text_cell(&table->rows[row], i));
            name |= fields[i] == TDC_RESULT_TEST_NAME;
            verdict |= fields[i] == TDC_RESULT_VERDICT;
        }
        if (name && verdict)
            return row;
    }
    return SIZE_MAX;
}

static tdc_status take_rows(const char *path, const struct tdc_text_table *table, size_t header,
                            const tdc_result_field fields[MOST_COLUMNS], struct tdc_result *result,
                            struct tdc_error *error)
{
    for (size_t i = header + 1; i < table->count; i++) {
        const struct tdc_text_row *cells = &table->rows[i];
        struct tdc_result_row *row = tdc_result_add(result);
        bool kept = row != NULL;
        for (size_t k = 0; k < cells->count && k < MOST_COLUMNS && kept; k++)
            kept = tdc_result_set(result, row, fields[k], cells->cells[k], strlen(cells->cells[k]));
        if (!kept)
            return out_of_memory(path, error);
    }
    return TDC_OK;
}

/* What a summary says of the two sides: lines `test` and `ref`, each with a path behind it. */
static tdc_status take_summary(const char *path, const struct tdc_text_table *table,
                               struct tdc_result *result, struct tdc_error *error)
{
    static const char *const words[] = {"ref", "test", "folder"};
    for (size_t i = 0; i < table->count; i++) {
        const char *word = tdc_text_cell(&table->rows[i], 0);
        const char *said = tdc_text_cell(&table->rows[i], 1);
        for (size_t k = 0; k < 3; k++) {
            const char **to = k < 2 ? &result->sides[k] : &result->folder;
            if (strcasecmp(word, words[k]) != 0 || said[0] == '\0' || *to != NULL)
                continue;
            *to = tdc_arena_text(&result->arena, said, strlen(said));
            if (*to == NULL)
                return out_of_memory(path, error);
        }
    }
    return TDC_OK;
}

tdc_status tdc_result_read_csv(const char *path, struct tdc_result *result, struct tdc_error *error)
{
    struct tdc_text_table table;
    tdc_result_field fields[MOST_COLUMNS];
    tdc_status status = tdc_text_table_from_csv(path, &table, error);
    size_t header = status == TDC_OK ? header_of(&table, fields) : 0;
    if (status == TDC_OK && header == SIZE_MAX)
        status = tdc_fail(error, TDC_ERR_UNSUPPORTED,
                          "%s: it has no columns of names and verdicts: this is no result of a "
                          "comparison",
                          path);
    if (status == TDC_OK)
        status = take_rows(path, &table, header, fields, result, error);
    tdc_text_table_free(&table);
    return status;
}

tdc_status tdc_result_read_xlsx(const char *path, struct tdc_result *result,
                                struct tdc_error *error)
{
    bool found = false;
    tdc_status status = TDC_OK;
    for (size_t sheet = 0; sheet < MOST_SHEETS && status == TDC_OK; sheet++) {
        struct tdc_text_table table;
        tdc_result_field fields[MOST_COLUMNS];
        struct tdc_error other = {0};
        status = tdc_text_table_from_xlsx(path, sheet, &table, &other);
        if (status == TDC_ERR_NOT_FOUND && sheet != 0) { /* that was the last one */
            tdc_text_table_free(&table);
            status = TDC_OK;
            break;
        }
        if (status != TDC_OK && error != NULL)
            *error = other;
        size_t header = status == TDC_OK ? header_of(&table, fields) : SIZE_MAX;
        if (status == TDC_OK && header != SIZE_MAX) {
            found = true;
            status = take_rows(path, &table, header, fields, result, error);
        } else if (status == TDC_OK) {
            status = take_summary(path, &table, result, error);
        }
        tdc_text_table_free(&table);
    }
    if (status == TDC_OK && !found)
        status = tdc_fail(error, TDC_ERR_UNSUPPORTED,
                          "%s: none of its sheets has columns of names and verdicts: this is no "
                          "result of a comparison",
                          path);
    return status;
}
