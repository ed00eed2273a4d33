#include "host/graph/files/ge_statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/graph/files/arena_list.h"
#include "host/graph/files/folder.h"
#include "io/base/error.h"
#include "io/base/text.h"
#include "io/file/file_map.h"
#include "io/file/mapping_guard.h"
#include "io/text/csv_reader.h"
#include "io/tensor/ge/ge_dump.h"
#include "io/text/pytext.h"
#include "kernels/dtype.h"

#define FILE_LIMIT ((size_t)64 << 20)
#define MOST_INDEX 99999u

enum column {
    DIRECTION,
    INDEX,
    TYPE,
    SHAPE,
    MOST,
    LEAST,
    MEAN,
    COUNT,
    NAN_COUNT,
    NEGATIVE_INF,
    POSITIVE_INF,
    NORM,
    COLUMNS
};

static const char *const names[COLUMNS] = {
    "Input/Output",       "Index",     "Data Type", "Shape",     "Max Value",
    "Min Value",          "Avg Value", "Count",     "Nan Count", "Negative Inf Count",
    "Positive Inf Count", "l2norm"};

struct reading {
    struct tdc_arena *arena;
    const char *path;
    struct tdc_file_map map;
    struct tdc_ge_statistics *statistics;
    tdc_status status;
    struct tdc_error *error;
};

/* A line: the fields that the columns stand for. */
struct line {
    const char *fields[COLUMNS]; /* "": not there */
};

bool tdc_ge_statistics_name(const char *file)
{
    size_t dots = 0;
    for (const char *at = file; *at != '\0'; at++)
        dots += *at == '.';
    return dots >= 5 && tdc_ends_in(file, ".csv");
}

static tdc_status malformed(const struct reading *reading, const char *what)
{
    return tdc_fail(reading->error, TDC_ERR_FORMAT, "%s: no statistics of GE: %s", reading->path,
                    what);
}

static tdc_status out_of_memory(const struct reading *reading)
{
    return tdc_fail(reading->error, TDC_ERR_MEMORY, "%s: out of memory", reading->path);
}

/* ---- lines -------------------------------------------------------------------------------------
 */

static const char *content(struct reading *reading, const struct tdc_csv_span *span)
{
    char *text = tdc_arena_take(reading->arena, (size_t)(span->stop - span->start) + 1);
    if (text != NULL)
        text[tdc_csv_content(span, text)] = '\0';
    return text;
}

/* Which column each field of a line belongs to; COLUMNS: none. False: no line of names. */
static bool read_head(struct tdc_csv_reader *reader, unsigned char *columns, size_t most,
                      size_t *count)
{
    bool direction = false, index = false;
    *count = 0;
    while (!tdc_csv_at_end(reader)) {
        struct tdc_csv_span span = tdc_csv_next(reader);
        unsigned column = 0;
        while (column < COLUMNS && !tdc_csv_is(&span, names[column], strlen(names[column])))
            column++;
        direction |= column == DIRECTION;
        index |= column == INDEX;
        if (*count < most)
            columns[(*count)++] = (unsigned char)column;
        if (span.last)
            break;
    }
    return direction && index;
}

/* "NA" and nothing are no number. */
static double number_of(const char *text)
{
    double value;
    return tdc_python_float(text, strlen(text), &value) ? value : (double)NAN;
}

static uint64_t whole_of(const char *text)
{
    size_t length = strlen(text);
    return tdc_all_digits(text, length) ? tdc_folder_number(text, length) : 0;
}

static tdc_status take_line(struct reading *reading, const struct line *line)
{
    struct tdc_ge_statistics *statistics = reading->statistics;
    const char *const *fields = line->fields;
    bool output = strcmp(fields[DIRECTION], "Output") == 0;
    size_t digits = strlen(fields[INDEX]);
    if (!output && strcmp(fields[DIRECTION], "Input") != 0)
        return malformed(reading, "a line is neither of an input nor of an output");
    if (!tdc_all_digits(fields[INDEX], digits) || digits > 9 ||
        whole_of(fields[INDEX]) > MOST_INDEX)
        return malformed(reading, "a line has no index");
    if (!tdc_arena_grow(reading->arena, (void **)&statistics->tensors, statistics->count,
                        sizeof *statistics->tensors, &statistics->room))
        return out_of_memory(reading);
    struct tdc_ge_statistic *one = &statistics->tensors[statistics->count++];
    *one = (struct tdc_ge_statistic){.output = output,
                                     .index = whole_of(fields[INDEX]),
                                     .type = fields[TYPE],
                                     .shape = fields[SHAPE],
                                     .most = number_of(fields[MOST]),
                                     .least = number_of(fields[LEAST]),
                                     .mean = number_of(fields[MEAN]),
                                     .norm = number_of(fields[NORM]),
                                     .count = whole_of(fields[COUNT]),
                                     .nan = whole_of(fields[NAN_COUNT]),
                                     .negative = whole_of(fields[NEGATIVE_INF]),
                                     .positive = whole_of(fields[POSITIVE_INF]),
                                     .counted = fields[COUNT][0] != '\0'};
    if (one->index >= statistics->counts[output])
        statistics->counts[output] = one->index + 1;
    return TDC_OK;
}

static void read_lines(void *argument)
{
    struct reading *reading = argument;
    struct tdc_csv_reader reader;
    unsigned char columns[64];
    size_t count;
    tdc_csv_start(&reader, reading->map.data, reading->map.size);
    if (!read_head(&reader, columns, sizeof columns, &count)) {
        reading->status = malformed(reading, "its first line has no Input/Output and Index");
        return;
    }
    while (!tdc_csv_at_end(&reader) && reading->status == TDC_OK) {
        struct line line;
        size_t field = 0;
        bool last = false, blank = true;
        for (size_t i = 0; i < COLUMNS; i++)
            line.fields[i] = "";
        while (!last && !tdc_csv_at_end(&reader)) {
            struct tdc_csv_span span = tdc_csv_next(&reader);
            last = span.last;
            blank &= span.start == span.stop;
            unsigned column = field < count ? columns[field] : COLUMNS;
            field++;
            if (column == COLUMNS)
                continue;
            line.fields[column] = content(reading, &span);
            if (line.fields[column] == NULL) {
                reading->status = out_of_memory(reading);
                return;
            }
        }
        if (!blank)
            reading->status = take_line(reading, &line);
    }
}

tdc_status tdc_ge_statistics_read(struct tdc_arena *arena, const char *path,
                                  struct tdc_ge_statistics *statistics, struct tdc_error *error)
{
    struct reading reading = {
        .arena = arena, .path = path, .statistics = statistics, .error = error};
    *statistics = (struct tdc_ge_statistics){0};
    tdc_status status = tdc_file_map_open(path, &reading.map, error);
    if (status != TDC_OK)
        return status;
    if (reading.map.size > FILE_LIMIT) {
        status = malformed(&reading, "it is too large");
    } else if (!tdc_guard_begin()) {
        status = tdc_fail(error, TDC_ERR_SYSTEM, "%s: no handler for SIGBUS", path);
    } else {
        status = tdc_guarded_read(read_lines, &reading)
                     ? reading.status
                     : tdc_fail(error, TDC_ERR_CHANGED, "%s: changed while it was read", path);
        tdc_guard_end();
    }
    tdc_file_map_close(&reading.map);
    return status;
}

/* ---- a tensor -----------------------------------------------------------------------------------
 */

const struct tdc_ge_statistic *tdc_ge_statistics_find(const struct tdc_ge_statistics *statistics,
                                                      bool output, uint64_t index)
{
    for (size_t i = 0; i < statistics->count; i++)
        if (statistics->tensors[i].output == output && statistics->tensors[i].index == index)
            return &statistics->tensors[i];
    return NULL;
}

bool tdc_is_ge_statistic(const char *name)
{
    size_t length;
    return tdc_ge_name(name, &length, &(enum tdc_ge_list){0}, &(uint64_t){0}) && length > 4 &&
           memcmp(name + length - 4, ".csv", 4) == 0;
}

tdc_status tdc_ge_statistic_read(struct tdc_arena *arena, const char *name,
                                 const struct tdc_ge_statistic **statistic, struct tdc_error *error)
{
    size_t length;
    enum tdc_ge_list list;
    uint64_t index;
    struct tdc_ge_statistics statistics;
    *statistic = NULL;
    if (!tdc_ge_name(name, &length, &list, &index))
        return tdc_fail(error, TDC_ERR_NOT_FOUND, "%s: which tensor?", name);
    const char *path = tdc_arena_text(arena, name, length);
    if (path == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", name);
    tdc_status status = tdc_ge_statistics_read(arena, path, &statistics, error);
    if (status == TDC_OK)
        *statistic = tdc_ge_statistics_find(&statistics, list == TDC_GE_OUTPUT, index);
    return status == TDC_OK && *statistic == NULL
               ? tdc_fail(error, TDC_ERR_NOT_FOUND, "%s: the file does not speak of it", name)
               : status;
}

const char *tdc_ge_statistic_dtype(const struct tdc_ge_statistic *statistic)
{
    static const struct {
        const char *name;
        tdc_dtype dtype;
    } types[] = {{"DT_FLOAT", TDC_F32},
                 {"DT_FLOAT16", TDC_F16},
                 {"DT_BF16", TDC_BF16},
                 {"DT_DOUBLE", TDC_F64},
                 {"DT_INT8", TDC_I8},
                 {"DT_UINT8", TDC_U8},
                 {"DT_INT16", TDC_I16},
                 {"DT_UINT16", TDC_U16},
                 {"DT_INT32", TDC_I32},
                 {"DT_UINT32", TDC_U32},
                 {"DT_INT64", TDC_I64},
                 {"DT_UINT64", TDC_U64},
                 {"DT_BOOL", TDC_BOOL},
                 {"DT_COMPLEX64", TDC_C64},
                 {"DT_COMPLEX128", TDC_C128},
                 {"DT_FLOAT8_E5M2", TDC_F8_E5M2},
                 {"DT_FLOAT8_E4M3FN", TDC_F8_E4M3}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, statistic->type) == 0)
            return tdc_dtype_entry(types[i].dtype)->torch;
    return statistic->type;
}

bool tdc_ge_statistic_shape(const struct tdc_ge_statistic *statistic, uint64_t *sizes, size_t most,
                            size_t *count)
{
    static const char between[] = " ,[](){}xX;";
    *count = 0;
    for (const char *at = statistic->shape; *at != '\0';) {
        if (strchr(between, *at) != NULL) {
            at++;
            continue;
        }
        size_t length = strspn(at, "0123456789");
        if (length == 0 || length > 18 || *count == most)
            return false;
        sizes[(*count)++] = tdc_folder_number(at, length);
        at += length;
    }
    return true;
}
