/*
 * xlsx_reader.c - reading a sheet of an Excel workbook into a table of texts.
 *
 * The members are inflated as they are read, so that memory holds the table and the shared texts
 * and no XML.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"
#include "io/file/file_map.h"
#include "io/file/mapping_guard.h"
#include "io/table/text_table.h"
#include "io/table/xlsx_member.h"

#define LARGEST_FILE ((size_t)1 << 30)
#define LONGEST_ROW  ((size_t)64 << 20)
#define LONGEST_CELL ((size_t)1 << 20)
#define MOST_COLUMNS 16384u
#define MOST_ROWS    1048576u
#define PATH_LIMIT   512

/* Everything that a page which vanishes under the map must not leak. */
struct reading {
    const char *path;
    size_t sheet;
    struct tdc_text_table *table;
    struct tdc_error *error;
    tdc_status status;
    struct tdc_file_map map;
    struct tdc_zip zip;
    struct tdc_xlsx_member member; /* the one that is read */
    /* the workbook */
    char relation[PATH_LIMIT];     /* id of the sheet asked for */
    char sheet_path[PATH_LIMIT];   /* "" until it is known */
    char strings_path[PATH_LIMIT]; /* "": there are none */
    const char **strings;          /* in the table's arena */
    size_t string_count, string_capacity;
    /* the row that is read */
    struct tdc_text cell;              /* text of one cell */
    struct tdc_text row;               /* terminated texts, one after the other */
    size_t starts[MOST_COLUMNS];       /* of the cells in it; SIZE_MAX: no such cell */
    unsigned char kinds[MOST_COLUMNS]; /* tdc_cell_kind */
    size_t cells;
};

static void damaged(struct reading *reading, const char *reason)
{
    if (reading->status == TDC_OK)
        reading->status = tdc_fail(reading->error, TDC_ERR_FORMAT, "%s: damaged workbook: %s",
                                   reading->path, reason);
}

static void out_of_memory(struct reading *reading)
{
    if (reading->status == TDC_OK)
        reading->status =
            tdc_fail(reading->error, TDC_ERR_MEMORY, "%s: out of memory", reading->path);
}

/* The next event; TDC_XML_END also for what is wrong, which is then told. */
static enum tdc_xml_event next(struct reading *reading)
{
    enum tdc_xml_event event = tdc_xlsx_member_next(&reading->member);
    if (event == TDC_XML_WRONG)
        damaged(reading, reading->member.trouble);
    return reading->status != TDC_OK ? TDC_XML_END : event;
}

/* ---- the workbook ---------------------------------------------------------------------------- */

static void read_workbook(struct reading *reading)
{
    size_t seen = 0;
    enum tdc_xml_event event;
    while ((event = next(reading)) != TDC_XML_END) {
        if (event != TDC_XML_OPEN || strcmp(reading->member.xml.name, "sheet") != 0)
            continue;
        const char *id = tdc_xml_attribute(&reading->member.xml, "id");
        if (seen++ == reading->sheet && id != NULL && strlen(id) < PATH_LIMIT)
            strcpy(reading->relation, id);
    }
}

/* Targets are relative to the folder xl, or begin with a '/'. */
static void take_target(char to[PATH_LIMIT], const char *target)
{
    int length = target[0] == '/' ? snprintf(to, PATH_LIMIT, "%s", target + 1)
                                  : snprintf(to, PATH_LIMIT, "xl/%s", target);
    if (length < 0 || length >= PATH_LIMIT)
        to[0] = '\0';
}

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && strcmp(text + length - tail, ending) == 0;
}

static void read_relations(struct reading *reading)
{
    enum tdc_xml_event event;
    while ((event = next(reading)) != TDC_XML_END) {
        if (event != TDC_XML_OPEN || strcmp(reading->member.xml.name, "Relationship") != 0)
            continue;
        const char *id = tdc_xml_attribute(&reading->member.xml, "Id");
        const char *type = tdc_xml_attribute(&reading->member.xml, "Type");
        const char *target = tdc_xml_attribute(&reading->member.xml, "Target");
        if (id == NULL || type == NULL || target == NULL)
            continue;
        if (strcmp(id, reading->relation) == 0)
            take_target(reading->sheet_path, target);
        else if (ends_with(type, "/sharedStrings"))
            take_target(reading->strings_path, target);
    }
}

/* ---- texts ----------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

/* Characters that XML has not are written _x001F_, and a '_' that looks like one _x005F_. */
static int escaped_character(const char *text)
{
    if (text[0] != '_' || text[1] != 'x')
        return -1;
    int character = 0;
    for (int i = 2; i < 6; i++) {
        int digit = hex_digit(text[i]);
        if (digit < 0)
            return -1;
        character = character * 16 + digit;
    }
    return text[6] == '_' && character > 0 && character < 0x80 ? character : -1;
}

static void unescape(struct tdc_text *text)
{
    if (text->data == NULL || strstr(text->data, "_x") == NULL)
        return;
    char *to = text->data;
    for (const char *at = text->data; *at != '\0';) {
        int character = escaped_character(at);
        *to++ = character >= 0 ? (char)character : *at;
        at += character >= 0 ? 7 : 1;
    }
    *to = '\0';
    text->length = (size_t)(to - text->data);
}

static void keep_string(struct reading *reading)
{
    unescape(&reading->cell);
    if (reading->string_count == reading->string_capacity) {
        size_t capacity = reading->string_capacity == 0 ? 256 : reading->string_capacity * 2;
        const char **grown = reallocarray(reading->strings, capacity, sizeof *grown);
        if (grown == NULL) {
            out_of_memory(reading);
            return;
        }
        reading->strings = grown;
        reading->string_capacity = capacity;
    }
    const char *kept =
        tdc_arena_text(&reading->table->arena, tdc_text_get(&reading->cell), reading->cell.length);
    if (kept == NULL)
        out_of_memory(reading);
    else
        reading->strings[reading->string_count++] = kept;
}

/* Texts are in <t>, except those in <rPh>, which say how to read them aloud. */
static void watch_text(struct reading *reading, enum tdc_xml_event event, unsigned *aloud)
{
    const char *name = reading->member.xml.name;
    if (strcmp(name, "rPh") == 0)
        *aloud = event == TDC_XML_OPEN ? *aloud + 1 : *aloud - (*aloud != 0);
    else if (strcmp(name, "t") == 0)
        reading->member.xml.text = event == TDC_XML_OPEN && *aloud == 0 ? &reading->cell : NULL;
}

static void read_strings(struct reading *reading)
{
    unsigned aloud = 0;
    enum tdc_xml_event event;
    while ((event = next(reading)) != TDC_XML_END) {
        bool item = strcmp(reading->member.xml.name, "si") == 0;
        if (item && event == TDC_XML_OPEN)
            tdc_text_clear(&reading->cell);
        else if (item)
            keep_string(reading);
        else
            watch_text(reading, event, &aloud);
    }
}

/* ---- cells ----------------------------------------------------------------------------------- */

enum cell_kind {
    CELL_PLAIN, /* numbers, results of formulas, errors: as they are written */
    CELL_SHARED,
    CELL_TRUTH,
    CELL_INLINE
};

static enum cell_kind kind_of(const char *type)
{
    return type == NULL                     ? CELL_PLAIN
           : strcmp(type, "s") == 0         ? CELL_SHARED
           : strcmp(type, "b") == 0         ? CELL_TRUTH
           : strcmp(type, "inlineStr") == 0 ? CELL_INLINE
                                            : CELL_PLAIN;
}

/* The column of "BC12", counted from 0; MOST_COLUMNS for what is none. */
static size_t column_of(const char *reference)
{
    size_t column = 0;
    for (; *reference >= 'A' && *reference <= 'Z' && column <= MOST_COLUMNS; reference++)
        column = column * 26 + (size_t)(*reference - 'A') + 1;
    return column != 0 && column <= MOST_COLUMNS ? column - 1 : MOST_COLUMNS;
}

static const char *cell_text(struct reading *reading, enum cell_kind kind)
{
    const char *text = tdc_text_get(&reading->cell);
    if (kind == CELL_TRUTH)
        return strcmp(text, "1") == 0 ? "True" : "False";
    if (kind != CELL_SHARED) {
        unescape(&reading->cell);
        return tdc_text_get(&reading->cell);
    }
    char *end;
    unsigned long index = strtoul(text, &end, 10);
    if (*text == '\0' || *end != '\0' || index >= reading->string_count) {
        damaged(reading, "a cell of a text that is not there");
        return "";
    }
    return reading->strings[index];
}

static void keep_cell(struct reading *reading, size_t column, enum cell_kind kind,
                      tdc_cell_kind shown)
{
    const char *text = cell_text(reading, kind);
    while (reading->cells <= column) {
        reading->kinds[reading->cells] = TDC_CELL_TEXT;
        reading->starts[reading->cells++] = SIZE_MAX;
    }
    reading->starts[column] = reading->row.length;
    reading->kinds[column] = (unsigned char)shown;
    tdc_text_add(&reading->row, text, strlen(text) + 1);
    if (reading->row.failed)
        out_of_memory(reading);
}

/* From behind <c> to behind </c>. */
static void read_cell(struct reading *reading)
{
    const char *reference = tdc_xml_attribute(&reading->member.xml, "r");
    size_t column = reference != NULL ? column_of(reference) : reading->cells;
    if (column >= MOST_COLUMNS || column < reading->cells) {
        damaged(reading, "a cell out of order");
        return;
    }
    const char *type = tdc_xml_attribute(&reading->member.xml, "t");
    enum cell_kind kind = kind_of(type);
    tdc_cell_kind shown = kind == CELL_TRUTH                       ? TDC_CELL_BOOL
                          : type == NULL || strcmp(type, "n") == 0 ? TDC_CELL_NUMBER
                                                                   : TDC_CELL_TEXT;
    unsigned depth = reading->member.xml.depth, aloud = 0;
    tdc_text_clear(&reading->cell);
    enum tdc_xml_event event;
    while ((event = next(reading)) != TDC_XML_END && reading->member.xml.depth >= depth) {
        if (kind == CELL_INLINE)
            watch_text(reading, event, &aloud);
        else if (strcmp(reading->member.xml.name, "v") == 0)
            reading->member.xml.text = event == TDC_XML_OPEN ? &reading->cell : NULL;
    }
    reading->member.xml.text = NULL;
    if (reading->status == TDC_OK)
        keep_cell(reading, column, kind, shown);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void keep_row(struct reading *reading)
{
    char *to = tdc_text_table_add(reading->table, reading->cells, reading->row.length);
    if (to == NULL) {
        out_of_memory(reading);
        return;
    }
    if (reading->row.length != 0)
        memcpy(to, reading->row.data, reading->row.length);
    struct tdc_text_row *row = &reading->table->rows[reading->table->count - 1];
    const char **cells = row->cells;
    unsigned char *kinds = tdc_arena_take(&reading->table->arena, reading->cells);
    if (kinds == NULL) {
        out_of_memory(reading);
        return;
    }
    memcpy(kinds, reading->kinds, reading->cells);
    row->kinds = kinds;
    for (size_t i = 0; i < reading->cells; i++)
        if (reading->starts[i] != SIZE_MAX)
            cells[i] = to + reading->starts[i];
}

/* Rows that are left out are there, without cells. */
static void begin_row(struct reading *reading)
{
    const char *number = tdc_xml_attribute(&reading->member.xml, "r");
    size_t row = number != NULL ? strtoul(number, NULL, 10) : reading->table->count + 1;
    if (row <= reading->table->count || row > MOST_ROWS) {
        damaged(reading, "a row out of order");
        return;
    }
    while (reading->table->count + 1 < row && reading->status == TDC_OK)
        if (tdc_text_table_add(reading->table, 0, 0) == NULL)
            out_of_memory(reading);
    reading->cells = 0;
    tdc_text_clear(&reading->row);
}

static void read_rows(struct reading *reading)
{
    bool in_row = false;
    enum tdc_xml_event event;
    while ((event = next(reading)) != TDC_XML_END) {
        bool row = strcmp(reading->member.xml.name, "row") == 0;
        if (row && event == TDC_XML_OPEN)
            begin_row(reading);
        else if (row && in_row)
            keep_row(reading);
        else if (in_row && event == TDC_XML_OPEN && strcmp(reading->member.xml.name, "c") == 0)
            read_cell(reading);
        if (row)
            in_row = event == TDC_XML_OPEN;
    }
}

/* ---- the file -------------------------------------------------------------------------------- */

/* False when the member is not there or something is wrong. */
static bool read_member(struct reading *reading, const char *name, void (*read)(struct reading *))
{
    if (reading->status != TDC_OK)
        return false;
    tdc_status status =
        tdc_xlsx_member_begin(&reading->member, &reading->zip, name, reading->error);
    if (status == TDC_OK)
        read(reading);
    else if (status != TDC_ERR_NOT_FOUND)
        reading->status = status;
    tdc_xlsx_member_end(&reading->member);
    return status == TDC_OK;
}

static void read_book(void *argument)
{
    static const struct tdc_zip_kind workbook = {.what = "workbook", .deflated = true};
    struct reading *reading = argument;
    reading->status =
        tdc_zip_open(&reading->zip, workbook, (const unsigned char *)reading->map.data,
                     reading->map.size, reading->path, reading->error);
    if (!read_member(reading, "xl/workbook.xml", read_workbook) ||
        !read_member(reading, "xl/_rels/workbook.xml.rels", read_relations))
        damaged(reading, "it lacks its list of sheets");
    if (reading->status == TDC_OK && reading->sheet_path[0] == '\0')
        reading->status = tdc_fail(reading->error, TDC_ERR_NOT_FOUND, "%s: no sheet %zu",
                                   reading->path, reading->sheet + 1);
    if (reading->strings_path[0] != '\0' &&
        !read_member(reading, reading->strings_path, read_strings))
        damaged(reading, "it lacks its texts");
    if (!read_member(reading, reading->sheet_path, read_rows))
        damaged(reading, "it lacks a sheet");
    if (reading->status == TDC_OK && reading->table->count == 0)
        reading->status =
            tdc_fail(reading->error, TDC_ERR_FORMAT, "%s: an empty sheet", reading->path);
}

static void free_reading(struct reading *reading)
{
    tdc_xlsx_member_end(&reading->member); /* left by a page that vanished */
    tdc_text_free(&reading->cell);
    tdc_text_free(&reading->row);
    free(reading->strings);
    tdc_file_map_close(&reading->map);
    free(reading);
}

tdc_status tdc_text_table_from_xlsx(const char *path, size_t sheet, struct tdc_text_table *table,
                                    struct tdc_error *error)
{
    tdc_text_table_start(table);
    struct reading *reading = calloc(1, sizeof *reading);
    if (reading == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    reading->path = path;
    reading->sheet = sheet;
    reading->table = table;
    reading->error = error;
    tdc_text_init(&reading->cell, LONGEST_CELL);
    tdc_text_init(&reading->row, LONGEST_ROW);
    tdc_status status = tdc_file_map_open(path, &reading->map, error);
    if (status == TDC_OK && reading->map.size > LARGEST_FILE)
        status = tdc_fail(error, TDC_ERR_REFUSED, "%s: too large", path);
    else if (status == TDC_OK && reading->map.size == 0)
        status = tdc_fail(error, TDC_ERR_FORMAT, "%s: empty", path);
    else if (status == TDC_OK && !tdc_guard_begin())
        status = tdc_fail(error, TDC_ERR_SYSTEM, "cannot install a signal handler");
    if (status == TDC_OK) {
        bool whole = tdc_guarded_read(read_book, reading);
        tdc_guard_end();
        status = whole ? reading->status
                       : tdc_fail(error, TDC_ERR_CHANGED, "%s: changed while being read", path);
    }
    free_reading(reading);
    return status;
}
