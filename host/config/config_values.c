/* config_values.c - cells, and values as Python compares and prints them. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/config/config_check.h"
#include "io/base/error.h"
#include "io/text/pytext.h"

#define ROW_LIMIT  ((size_t)1 << 26)
#define TEXT_LIMIT ((size_t)1 << 26)

tdc_status tdc_config_memory(struct tdc_config_work *work)
{
    return tdc_fail(work->error, TDC_ERR_MEMORY, "out of memory");
}

struct tdc_cell *tdc_config_row(struct tdc_config_work *work, struct tdc_config_sheet *sheet,
                                tdc_config_level level)
{
    if (sheet->rows == sheet->room) {
        size_t room = sheet->room == 0 ? 64 : sheet->room * 2;
        struct tdc_cell *grown =
            room <= ROW_LIMIT
                ? reallocarray(sheet->cells, room, sheet->column_count * sizeof *grown)
                : NULL;
        if (grown == NULL) {
            tdc_config_memory(work);
            return NULL;
        }
        sheet->cells = grown;
        sheet->room = room;
    }
    struct tdc_cell *row = &sheet->cells[sheet->rows++ * sheet->column_count];
    for (size_t i = 0; i < sheet->column_count; i++)
        row[i] = tdc_config_text("");
    if (level > sheet->level)
        sheet->level = level;
    return row;
}

struct tdc_cell tdc_config_text(const char *text)
{
    return (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = text, .length = strlen(text)};
}

struct tdc_cell tdc_config_number(double value)
{
    if (isnan(value))
        return tdc_config_text("");
    return (struct tdc_cell){.kind = TDC_CELL_NUMBER, .number = value};
}

struct tdc_cell tdc_config_truth(bool value)
{
    return (struct tdc_cell){.kind = TDC_CELL_BOOL, .truth = value};
}

struct tdc_cell tdc_config_value(struct tdc_config_work *work, const struct tdc_json *value)
{
    if (value == NULL || value->kind == TDC_JSON_NULL)
        return tdc_config_text("");
    if (value->kind == TDC_JSON_TRUE || value->kind == TDC_JSON_FALSE)
        return tdc_config_truth(value->kind == TDC_JSON_TRUE);
    if (value->kind == TDC_JSON_INTEGER || value->kind == TDC_JSON_FLOAT)
        return tdc_config_number(value->number);
    if (value->kind == TDC_JSON_STRING)
        return (struct tdc_cell){
            .kind = TDC_CELL_TEXT, .text = value->text, .length = value->length};
    struct tdc_text text;
    tdc_text_init(&text, TEXT_LIMIT);
    tdc_pytext_str(&text, value);
    char *copy =
        text.failed ? NULL : tdc_arena_text(&work->arena, tdc_text_get(&text), text.length);
    tdc_text_free(&text);
    return tdc_config_text(copy != NULL ? copy : "(too long)");
}

/* ---- Python's == ----------------------------------------------------------------------------- */

static bool is_number(const struct tdc_json *value)
{
    return value->kind == TDC_JSON_INTEGER || value->kind == TDC_JSON_FLOAT ||
           value->kind == TDC_JSON_TRUE || value->kind == TDC_JSON_FALSE;
}

static double number_of(const struct tdc_json *value)
{
    return value->kind == TDC_JSON_TRUE ? 1 : value->kind == TDC_JSON_FALSE ? 0 : value->number;
}

static bool equal_lists(const struct tdc_json *a, const struct tdc_json *b)
{
    const struct tdc_json *x = a->child, *y = b->child;
    for (; x != NULL && y != NULL; x = x->next, y = y->next)
        if (!tdc_config_equal(x, y))
            return false;
    return x == NULL && y == NULL;
}

static bool equal_objects(const struct tdc_json *a, const struct tdc_json *b)
{
    if (a->children != b->children)
        return false;
    const struct tdc_json *y = b->child;
    for (const struct tdc_json *x = a->child; x != NULL; x = x->next) {
        /* mostly in the same order */
        const struct tdc_json *other =
            y != NULL && strcmp(x->key, y->key) == 0 ? y : tdc_json_get(b, x->key);
        if (other == NULL || !tdc_config_equal(x, other))
            return false;
        y = other->next;
    }
    return true;
}

/* Nesting is bounded by the reader. */
bool tdc_config_equal(const struct tdc_json *a, const struct tdc_json *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    if (a->kind == TDC_JSON_INTEGER && b->kind == TDC_JSON_INTEGER)
        return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
    if (is_number(a) && is_number(b))
        return number_of(a) == number_of(b);
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case TDC_JSON_STRING:
        return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
    case TDC_JSON_LIST:
        return equal_lists(a, b);
    case TDC_JSON_OBJECT:
        return equal_objects(a, b);
    default:
        return true;
    }
}

/* ---- members --------------------------------------------------------------------------------- */

void tdc_config_say(const struct tdc_config_work *work, const char *format, ...)
{
    char text[1024];
    int start = snprintf(text, sizeof text, "[config checking log] ");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + start, sizeof text - (size_t)start, format, arguments);
    va_end(arguments);
    if (work->options->message != NULL)
        work->options->message(work->options->context, TDC_MESSAGE_INFO, text);
}

tdc_status tdc_config_json(struct tdc_config_work *work, const struct tdc_unzip *zip,
                           const char *member, struct tdc_json **value)
{
    const struct tdc_unzip_member *found = tdc_unzip_find(zip, member);
    const char *content;
    size_t size;
    if (found == NULL)
        return tdc_fail(work->error, TDC_ERR_READ, "%s: no member %s", zip->path, member);
    tdc_status status = tdc_unzip_read(zip, found, &work->arena, &content, &size, work->error);
    struct tdc_json_cursor cursor;
    if (status == TDC_OK) {
        tdc_json_start(&cursor, member, content, size);
        status = tdc_json_read(&cursor, &work->arena, value, work->error);
    }
    if (status == TDC_OK)
        status = tdc_json_finish(&cursor, work->error);
    if (status == TDC_OK && (*value)->kind != TDC_JSON_OBJECT)
        status = tdc_fail(work->error, TDC_ERR_FORMAT, "%s: %s: no JSON object", zip->path, member);
    return status;
}
