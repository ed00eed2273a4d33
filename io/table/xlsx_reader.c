#include "io/table/xlsx_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/base/error.h"
#include "io/file/file_map.h"
#include "io/table/xlsx_archive.h"
#include "io/table/xlsx_cells.h"
#include "io/table/xlsx_markup.h"
#include "io/text/pytext.h"

#define LARGEST_FILE ((size_t)1 << 30)
#define SHEET_LIMIT  ((size_t)4 << 30)
#define CELL_LIMIT   ((size_t)1 << 24)

struct reading {
    const char *name;
    struct tdc_xlsx_archive archive;
    struct tdc_sheet *sheet;
    struct tdc_cell *shared; /* texts by number */
    size_t shared_count, shared_capacity;
    struct tdc_cell *row; /* being read */
    size_t row_count, row_capacity;
    struct tdc_text text; /* of a cell */
    bool failed;          /* out of memory */
};

/* ---- tables ---------------------------------------------------------------------------------- */

void tdc_sheet_start(struct tdc_sheet *sheet)
{
    *sheet = (struct tdc_sheet){0};
    tdc_arena_init(&sheet->arena, SHEET_LIMIT);
}

void tdc_sheet_free(struct tdc_sheet *sheet)
{
    tdc_arena_free(&sheet->arena);
    free(sheet->rows);
    *sheet = (struct tdc_sheet){0};
}

struct tdc_cell *tdc_sheet_add(struct tdc_sheet *sheet, size_t count)
{
    if (sheet->count == sheet->capacity) {
        size_t more = sheet->capacity != 0 ? 2 * sheet->capacity : 256;
        struct tdc_sheet_row *grown = realloc(sheet->rows, more * sizeof *grown);
        if (grown == NULL)
            return NULL;
        sheet->rows = grown;
        sheet->capacity = more;
    }
    struct tdc_cell *cells = tdc_arena_zeroed(&sheet->arena, count + 1, sizeof *cells);
    if (cells == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        cells[i] = (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = ""};
    sheet->rows[sheet->count++] = (struct tdc_sheet_row){cells, count};
    return cells;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static struct tdc_cell keep_text(struct reading *reading)
{
    struct tdc_cell cell = {.kind = TDC_CELL_TEXT, .text = "", .length = reading->text.length};
    char *kept = tdc_arena_text(&reading->sheet->arena, tdc_text_get(&reading->text), cell.length);
    if (kept == NULL || reading->text.failed)
        reading->failed = true;
    else
        cell.text = kept;
    return cell;
}

/* The texts <t> up to the closing tag, phonetic hints left out. */
static void take_runs(struct reading *reading, struct tdc_markup *markup, const char *closing)
{
    bool hint = false;
    tdc_text_clear(&reading->text);
    if (markup->empty)
        return;
    while (tdc_markup_next(markup) && !(markup->closes && tdc_markup_is(markup, closing))) {
        if (tdc_markup_is(markup, "rPh"))
            hint = !markup->closes && !markup->empty;
        else if (!hint && !markup->closes && !markup->empty && tdc_markup_is(markup, "t"))
            tdc_markup_add_text(&reading->text, markup->text,
                                (size_t)(markup->text_end - markup->text));
    }
}

static void take_shared(struct reading *reading, const struct tdc_xlsx_text *member)
{
    struct tdc_markup markup;
    tdc_markup_start(&markup, member->data, member->length);
    while (tdc_markup_next(&markup) && !reading->failed) {
        if (markup.closes || !tdc_markup_is(&markup, "si"))
            continue;
        take_runs(reading, &markup, "si");
        if (reading->shared_count == reading->shared_capacity) {
            size_t more = reading->shared_capacity != 0 ? 2 * reading->shared_capacity : 256;
            struct tdc_cell *grown = realloc(reading->shared, more * sizeof *grown);
            if (grown == NULL) {
                reading->failed = true;
                return;
            }
            reading->shared = grown;
            reading->shared_capacity = more;
        }
        reading->shared[reading->shared_count++] = keep_text(reading);
    }
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* "AB12" -> 27; SIZE_MAX for anything else. */
static size_t column_of(const char *reference, size_t length)
{
    size_t column = 0, i = 0;
    for (; i < length && reference[i] >= 'A' && reference[i] <= 'Z' && i < 4; i++)
        column = column * 26 + (size_t)(reference[i] - 'A') + 1;
    return i == 0 || column > TDC_XLSX_COLUMNS ? SIZE_MAX : column - 1;
}

static bool place_cell(struct reading *reading, size_t column, struct tdc_cell cell)
{
    if (column >= TDC_XLSX_COLUMNS)
        return true;
    if (column >= reading->row_capacity) {
        size_t more = reading->row_capacity != 0 ? reading->row_capacity : 64;
        while (more <= column)
            more *= 2;
        struct tdc_cell *grown = realloc(reading->row, more * sizeof *grown);
        if (grown == NULL)
            return false;
        reading->row = grown;
        reading->row_capacity = more;
    }
    for (; reading->row_count <= column; reading->row_count++)
        reading->row[reading->row_count] = (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = ""};
    reading->row[column] = cell;
    return true;
}

/* A stored value by the type of its cell. */
static struct tdc_cell value_cell(struct reading *reading, const char *type, size_t type_length)
{
    const char *text = tdc_text_get(&reading->text);
    size_t length = reading->text.length;
    double number;
    if (type_length == 1 && type[0] == 's') {
        unsigned long place = strtoul(text, NULL, 10);
        return place < reading->shared_count ? reading->shared[place]
                                             : (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = ""};
    }
    if (type_length == 1 && type[0] == 'b')
        return (struct tdc_cell){.kind = TDC_CELL_BOOL, .truth = text[0] == '1', .text = ""};
    struct tdc_cell cell = keep_text(reading);
    bool numeric = type_length == 0 || (type_length == 1 && type[0] == 'n');
    if (numeric && tdc_float_parse(text, length, &number)) {
        cell.kind = TDC_CELL_NUMBER;
        cell.number = number;
    }
    return cell;
}

static void take_cell(struct reading *reading, struct tdc_markup *markup)
{
    const char *reference, *type = "";
    size_t length, type_length = 0, column = reading->row_count;
    if (tdc_markup_attribute(markup, "r", &reference, &length))
        column = column_of(reference, length);
    tdc_markup_attribute(markup, "t", &type, &type_length);
    struct tdc_cell cell = {.kind = TDC_CELL_TEXT, .text = ""};
    bool inner = !markup->empty;
    while (inner && tdc_markup_next(markup) && !(markup->closes && tdc_markup_is(markup, "c"))) {
        if (markup->closes || markup->empty)
            continue;
        if (tdc_markup_is(markup, "is")) {
            take_runs(reading, markup, "is");
            cell = keep_text(reading);
        } else if (tdc_markup_is(markup, "v")) {
            tdc_text_clear(&reading->text);
            tdc_markup_add_text(&reading->text, markup->text,
                                (size_t)(markup->text_end - markup->text));
            cell = value_cell(reading, type, type_length);
        }
    }
    if (!place_cell(reading, column, cell))
        reading->failed = true;
}

static void end_row(struct reading *reading)
{
    if (reading->row_count == 0)
        return;
    struct tdc_cell *cells = tdc_sheet_add(reading->sheet, reading->row_count);
    if (cells == NULL)
        reading->failed = true;
    else
        memcpy(cells, reading->row, reading->row_count * sizeof *cells);
    reading->row_count = 0;
}

static void take_rows(struct reading *reading, const struct tdc_xlsx_text *member)
{
    struct tdc_markup markup;
    tdc_markup_start(&markup, member->data, member->length);
    while (tdc_markup_next(&markup) && !reading->failed) {
        if (tdc_markup_is(&markup, "row"))
            end_row(reading);
        else if (tdc_markup_is(&markup, "c") && !markup.closes)
            take_cell(reading, &markup);
    }
    end_row(reading);
}

/* ---- the workbook ---------------------------------------------------------------------------- */

/* The relation of the first sheet, "" when the workbook does not say. */
static void first_relation(const struct tdc_xlsx_text *book, char relation[64])
{
    struct tdc_markup markup;
    relation[0] = '\0';
    tdc_markup_start(&markup, book->data, book->length);
    while (tdc_markup_next(&markup)) {
        const char *value;
        size_t length;
        if (!tdc_markup_is(&markup, "sheet") || markup.closes ||
            !tdc_markup_attribute(&markup, "r:id", &value, &length) || length >= 64)
            continue;
        memcpy(relation, value, length);
        relation[length] = '\0';
        return;
    }
}

/* The member a relation leads to; sheet1.xml where nothing else is said. */
static void sheet_member(const struct tdc_xlsx_text *relations, const char *relation,
                         char member[256])
{
    strcpy(member, "xl/worksheets/sheet1.xml");
    struct tdc_markup markup;
    tdc_markup_start(&markup, relations->data, relations->length);
    while (relations->data != NULL && tdc_markup_next(&markup)) {
        const char *id, *target;
        size_t id_length, length;
        if (!tdc_markup_attribute(&markup, "Id", &id, &id_length) ||
            !tdc_markup_attribute(&markup, "Target", &target, &length) ||
            id_length != strlen(relation) || memcmp(id, relation, id_length) != 0)
            continue;
        bool absolute = length != 0 && target[0] == '/';
        target += absolute;
        length -= absolute;
        if (length + 4 > 255)
            return;
        strcpy(member, absolute ? "" : "xl/");
        strncat(member, target, length);
        return;
    }
}

static tdc_status read_parts(struct reading *reading, struct tdc_error *error)
{
    struct tdc_xlsx_text book = {0}, relations = {0}, shared = {0}, sheet = {0};
    char relation[64] = "", member[256];
    tdc_status status = tdc_xlsx_archive_read(&reading->archive, "xl/workbook.xml", &book, error);
    if (status == TDC_OK)
        status = tdc_xlsx_archive_read(&reading->archive, "xl/_rels/workbook.xml.rels", &relations,
                                       error);
    if (status == TDC_OK)
        status = tdc_xlsx_archive_read(&reading->archive, "xl/sharedStrings.xml", &shared, error);
    if (status == TDC_OK && book.data != NULL)
        first_relation(&book, relation);
    if (status == TDC_OK) {
        sheet_member(&relations, relation, member);
        status = tdc_xlsx_archive_read(&reading->archive, member, &sheet, error);
    }
    if (status == TDC_OK && sheet.data == NULL)
        status = tdc_fail(error, TDC_ERR_FORMAT, "%s: no workbook: it has no sheet", reading->name);
    if (status == TDC_OK && shared.data != NULL)
        take_shared(reading, &shared);
    if (status == TDC_OK)
        take_rows(reading, &sheet);
    if (status == TDC_OK && reading->failed)
        status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory for its cells", reading->name);
    free(book.data);
    free(relations.data);
    free(shared.data);
    free(sheet.data);
    return status;
}

tdc_status tdc_sheet_parse(const unsigned char *bytes, size_t size, const char *name,
                           struct tdc_sheet *sheet, struct tdc_error *error)
{
    tdc_sheet_start(sheet);
    struct reading reading = {.name = name, .sheet = sheet};
    tdc_text_init(&reading.text, CELL_LIMIT);
    tdc_status status = tdc_xlsx_archive_open(&reading.archive, bytes, size, name, error);
    if (status == TDC_OK)
        status = read_parts(&reading, error);
    tdc_text_free(&reading.text);
    free(reading.shared);
    free(reading.row);
    return status;
}

static tdc_status read_bytes(const char *path, unsigned char **bytes, size_t *size,
                             struct tdc_error *error)
{
    struct tdc_file file;
    tdc_status status = tdc_file_open(path, &file, error);
    if (status != TDC_OK)
        return status;
    if (file.size > LARGEST_FILE)
        status = tdc_fail(error, TDC_ERR_MEMORY, "%s: larger than 1 GiB", path);
    *bytes = status == TDC_OK ? malloc(file.size + 1) : NULL;
    if (status == TDC_OK && *bytes == NULL)
        status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    *size = 0;
    while (status == TDC_OK && *size < file.size) {
        ssize_t got = read(file.descriptor, *bytes + *size, file.size - *size);
        if (got < 0 && errno != EINTR)
            status = tdc_fail_errno(error, TDC_ERR_READ, errno, "%s", path);
        else if (got == 0)
            break;
        *size += got > 0 ? (size_t)got : 0;
    }
    close(file.descriptor);
    return status;
}

tdc_status tdc_sheet_read(const char *path, struct tdc_sheet *sheet, struct tdc_error *error)
{
    tdc_sheet_start(sheet);
    unsigned char *bytes = NULL;
    size_t size = 0;
    tdc_status status = read_bytes(path, &bytes, &size, error);
    if (status == TDC_OK)
        status = tdc_sheet_parse(bytes, size, path, sheet, error);
    free(bytes);
    return status;
}
