/* find_call.c - rows by the name of a call, and calls whose names are near it. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/cli/show/show.h"
#include "host/terminal/nearest.h"

/* Names that are proposed. */
#define MOST_MEANT ((size_t)5)

static const char *name_of(const tdc_result *result, size_t row)
{
    const char *name = tdc_result_text(result, row, TDC_RESULT_TEST_NAME);
    return name[0] != '\0' && strcmp(name, "N/A") != 0
               ? name
               : tdc_result_text(result, row, TDC_RESULT_REF_NAME);
}

/* The row itself, or one of the call: the name goes on behind a point. */
static bool belongs(const char *row, const char *name)
{
    size_t length = strlen(name);
    return strncmp(row, name, length) == 0 && (row[length] == '\0' || row[length] == '.');
}

/* A number of the sheet, whose header is row 1; SIZE_MAX: no such number. */
static size_t row_number(const tdc_result *result, const char *name)
{
    char *end;
    unsigned long long number = strtoull(name, &end, 10);
    if (name[0] < '0' || name[0] > '9' || *end != '\0')
        return SIZE_MAX;
    for (size_t row = 0; row < tdc_result_rows(result); row++)
        if (tdc_sheet_row(row) == number)
            return row;
    return SIZE_MAX;
}

size_t tdc_find_call(const tdc_result *result, const char *name, size_t **rows)
{
    size_t all = tdc_result_rows(result), count = 0, number = row_number(result, name);
    *rows = malloc((all + 1) * sizeof **rows);
    if (*rows == NULL)
        return SIZE_MAX;
    for (size_t row = 0; row < all; row++)
        if (number == SIZE_MAX ? belongs(name_of(result, row), name) : row == number)
            (*rows)[count++] = row;
    return count;
}

/* "Functional.linear.9" of "Functional.linear.9.forward.input.0". */
static size_t call_length(const char *name)
{
    static const char *const ends[] = {".forward", ".backward", ".parameters_grad", ".debug"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const char *at = strstr(name, ends[i]);
        if (at != NULL)
            return (size_t)(at - name);
    }
    return strlen(name);
}

/* Smaller is nearer; SIZE_MAX: not near. */
static size_t distance_of(const char *call, const char *name)
{
    if (strcasestr(call, name) != NULL)
        return strlen(call) - strlen(name); /* "linear.9" */
    size_t distance = tdc_word_distance(call, name);
    size_t shorter = strlen(call) < strlen(name) ? strlen(call) : strlen(name);
    return distance <= (shorter + 2) / 3 ? 100 + distance : SIZE_MAX;
}

struct meant {
    char *names[MOST_MEANT];
    size_t distances[MOST_MEANT];
    size_t count;
};

static void keep_near(struct meant *meant, const char *row, const char *name)
{
    char *call = strndup(row, call_length(row));
    size_t distance = call != NULL ? distance_of(call, name) : SIZE_MAX, at = meant->count;
    for (size_t i = 0; i < meant->count && distance != SIZE_MAX; i++)
        if (strcmp(meant->names[i], call) == 0)
            distance = SIZE_MAX;
    while (at > 0 && meant->distances[at - 1] > distance)
        at--;
    if (distance == SIZE_MAX || at == MOST_MEANT) {
        free(call);
        return;
    }
    if (meant->count == MOST_MEANT)
        free(meant->names[--meant->count]);
    memmove(&meant->names[at + 1], &meant->names[at], (meant->count - at) * sizeof *meant->names);
    memmove(&meant->distances[at + 1], &meant->distances[at],
            (meant->count - at) * sizeof *meant->distances);
    meant->names[at] = call;
    meant->distances[at] = distance;
    meant->count++;
}

void tdc_complain_of_call(const tdc_result *result, const char *path, const char *name)
{
    struct meant meant = {.count = 0};
    for (size_t row = 0; row < tdc_result_rows(result); row++)
        keep_near(&meant, name_of(result, row), name);
    tdc_complain("%s: no call '%s' in it%s", path, name,
                 meant.count != 0 ? "; did you mean one of these?" : "");
    for (size_t i = 0; i < meant.count; i++) {
        tdc_complain("  %s", meant.names[i]);
        free(meant.names[i]);
    }
}

int tdc_verdict_weight(const char *verdict)
{
    static const char *const order[] = {"identical", "Pass",  "pass",    "rounding",  "same",
                                        "Yes",       "close", "warning", "Warning",   "unmatched",
                                        "Unmatched", "error", "No",      "Different", "different"};
    int weight = 0;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (strcmp(verdict, order[i]) == 0)
            weight = (int)i + 1;
    return weight;
}
