/* result_json.c - results in json and jsonl: members of rows, with the objects around them. */
#include <stdio.h>
#include <string.h>

#include "host/result/result.h"
#include "io/base/error.h"
#include "io/base/text.h"
#include "io/file/file_map.h"
#include "io/file/mapping_guard.h"
#include "io/text/json.h"

/* One row, or the head of the file, as a tree. */
#define TREE_LIMIT ((size_t)64 << 20)
#define PATH_ROOM  ((size_t)128)

struct reading {
    const char *path;
    struct tdc_file_map map;
    struct tdc_result *result;
    struct tdc_arena scratch; /* of one tree */
    struct tdc_text list;     /* a shape or position */
    struct tdc_error *error;
    tdc_status status;
};

/* "[2, 3]" */
static void add_list(struct tdc_text *out, const struct tdc_json *list)
{
    tdc_text_addc(out, '[');
    for (const struct tdc_json *at = list->child; at != NULL; at = at->next)
        tdc_text_addf(out, "%s%s", at != list->child ? ", " : "",
                      at->text != NULL ? at->text : "?");
    tdc_text_addc(out, ']');
}

static bool set_value(struct reading *reading, struct tdc_result_row *row, tdc_result_field field,
                      const struct tdc_json *value)
{
    const char *text = value->text;
    switch (value->kind) {
    case TDC_JSON_NULL:
    case TDC_JSON_OBJECT:
        return true;
    case TDC_JSON_FALSE:
    case TDC_JSON_TRUE:
        text = value->kind == TDC_JSON_TRUE ? "True" : "False";
        break;
    case TDC_JSON_LIST:
        tdc_text_clear(&reading->list);
        add_list(&reading->list, value);
        if (reading->list.failed)
            return false;
        text = tdc_text_get(&reading->list);
        break;
    case TDC_JSON_INTEGER:
    case TDC_JSON_FLOAT:
    case TDC_JSON_STRING:
        break;
    }
    return text == NULL || tdc_result_set(reading->result, row, field, text, strlen(text));
}

/* Members of a row, and of the objects in it: two levels are all there are. */
static bool take_members(struct reading *reading, struct tdc_result_row *row,
                         const struct tdc_json *object, const char *around)
{
    bool kept = true;
    for (const struct tdc_json *at = object->child; at != NULL && kept; at = at->next) {
        char name[PATH_ROOM];
        int length =
            snprintf(name, sizeof name, "%s%s%s", around, around[0] != '\0' ? "." : "", at->key);
        if (length < 0 || (size_t)length >= sizeof name)
            continue; /* none of ours */
        if (at->kind == TDC_JSON_OBJECT && around[0] == '\0')
            kept = take_members(reading, row, at, name);
        else
            kept = set_value(reading, row, tdc_result_field_of(name), at);
    }
    return kept;
}

static void take_row(struct reading *reading, const struct tdc_json *value)
{
    struct tdc_result_row *row = tdc_result_add(reading->result);
    if (row == NULL || !take_members(reading, row, value, ""))
        reading->status =
            tdc_fail(reading->error, TDC_ERR_MEMORY, "%s: out of memory", reading->path);
}

static bool keep_text(struct reading *reading, const struct tdc_json *value, const char **to)
{
    if (value == NULL || value->kind != TDC_JSON_STRING)
        return true;
    *to = tdc_arena_text(&reading->result->arena, value->text, value->length);
    return *to != NULL;
}

/* A member of the head. */
static void take_head(struct reading *reading, const char *key, const struct tdc_json *value)
{
    static const char *const sides[] = {"ref", "test"};
    bool kept = true;
    for (size_t i = 0; i < 2; i++)
        if (strcmp(key, sides[i]) == 0)
            kept &= keep_text(reading,
                              value->kind == TDC_JSON_OBJECT ? tdc_json_get(value, "dump") : value,
                              &reading->result->sides[i]);
    if (strcmp(key, "folder") == 0)
        kept &= keep_text(reading, value, &reading->result->folder);
    if (!kept)
        reading->status =
            tdc_fail(reading->error, TDC_ERR_MEMORY, "%s: out of memory", reading->path);
}

/* The elements of a list one after another: a tree of all rows would be as large as the file. */
static void read_rows(struct reading *reading, struct tdc_json_cursor *cursor)
{
    if (tdc_json_peek(cursor) != TDC_JSON_LIST) {
        reading->status = tdc_json_skip(cursor, reading->error);
        return;
    }
    cursor->at++; /* the bracket */
    for (bool first = true; reading->status == TDC_OK; first = false) {
        (void)tdc_json_peek(cursor); /* white space */
        bool ended = cursor->at < cursor->end && *cursor->at == ']';
        bool comma = cursor->at < cursor->end && *cursor->at == ',';
        if (ended || comma != !first) {
            cursor->at += ended;
            if (!ended)
                reading->status = tdc_fail(reading->error, TDC_ERR_FORMAT,
                                           "%s: its list of rows is malformed", reading->path);
            return;
        }
        cursor->at += comma;
        struct tdc_json *row;
        tdc_arena_reset(&reading->scratch);
        reading->status = tdc_json_read(cursor, &reading->scratch, &row, reading->error);
        if (reading->status == TDC_OK)
            take_row(reading, row);
    }
}

static void read_object(struct reading *reading, struct tdc_json_cursor *cursor)
{
    bool first = true;
    reading->status = tdc_json_enter(cursor, reading->error);
    while (reading->status == TDC_OK) {
        const char *key;
        size_t length;
        struct tdc_json *value;
        tdc_arena_reset(&reading->scratch);
        reading->status =
            tdc_json_member(cursor, &first, &reading->scratch, &key, &length, reading->error);
        if (reading->status != TDC_OK || key == NULL)
            return;
        if (strcmp(key, "rows") == 0) {
            read_rows(reading, cursor);
            continue;
        }
        reading->status = tdc_json_read(cursor, &reading->scratch, &value, reading->error);
        if (reading->status == TDC_OK)
            take_head(reading, key, value);
    }
}

/* Of rules without a head the file is the list of rows. Of jsonl further objects follow, each a
 * row. */
static void read_all(void *argument)
{
    struct reading *reading = argument;
    struct tdc_json_cursor cursor;
    tdc_json_start(&cursor, reading->path, reading->map.data, reading->map.size);
    if (tdc_json_peek(&cursor) == TDC_JSON_LIST)
        read_rows(reading, &cursor);
    else
        read_object(reading, &cursor);
    while (reading->status == TDC_OK) {
        struct tdc_json *row;
        (void)tdc_json_peek(&cursor);
        if (cursor.at >= cursor.end)
            return;
        tdc_arena_reset(&reading->scratch);
        reading->status = tdc_json_read(&cursor, &reading->scratch, &row, reading->error);
        if (reading->status == TDC_OK)
            take_row(reading, row);
    }
}

tdc_status tdc_result_read_json(const char *path, struct tdc_result *result,
                                struct tdc_error *error)
{
    struct reading reading = {.path = path, .result = result, .error = error};
    tdc_status status = tdc_file_map_open(path, &reading.map, error);
    if (status != TDC_OK)
        return status;
    tdc_arena_init(&reading.scratch, TREE_LIMIT);
    tdc_text_init(&reading.list, (size_t)1 << 20);
    if (!tdc_guarded_read(read_all, &reading))
        reading.status = tdc_fail(error, TDC_ERR_CHANGED, "%s: it shrank while it was read", path);
    tdc_text_free(&reading.list);
    tdc_arena_free(&reading.scratch);
    tdc_file_map_close(&reading.map);
    return reading.status;
}
