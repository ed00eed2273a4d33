#include "host/precheck/precision/column_kind.h"

#include <string.h>

#include "io/text/pytext.h"

bool tdc_cell_is_missing(const char *cell)
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

enum tdc_column_kind tdc_column_kind(const struct tdc_text_table *table, size_t column)
{
    enum tdc_column_kind kind = TDC_COLUMN_INTEGER;
    for (size_t i = 1; i < table->count; i++) {
        const char *cell = tdc_text_cell(&table->rows[i], column);
        double value;
        if (is_whole(cell))
            continue;
        if (!tdc_cell_is_missing(cell) &&
            (cell[strspn(cell, " \t")] == '\0' || !tdc_python_float(cell, strlen(cell), &value)))
            return TDC_COLUMN_TEXT;
        kind = TDC_COLUMN_FLOAT;
    }
    return kind;
}
