/* calls.c - walking over dump.json and noting where the records are. */
#include "host/precheck/calls/calls.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/base/name_table.h"
#include "io/base/error.h"
#include "io/file/mapping_guard.h"
#include "io/storage/looking.h"

const char *const tdc_direction_name[TDC_DIRECTIONS] = {"forward", "backward"};

#define NAMES_LIMIT ((size_t)8 << 30)

#define PARSE_FAILED                                                                               \
    "[msprobe] Api Accuracy Checker parse json failed: check_and_get_from_json_dict failed: "

/* A member of "data", found while the file is walked over; what it means is asked when all of the
 * file is known. */
struct member {
    const char *key;
    size_t length;
    struct tdc_record_place place; /* size 0: it is null */
};

struct walk {
    struct tdc_calls *calls;
    const struct tdc_calls_rules *rules;
    struct tdc_name_table names;
    struct tdc_arena keys; /* of the members */
    size_t capacity;
    struct member *members;
    size_t member_count, member_room;
    bool data; /* there is such a member of the file */
    enum tdc_json_kind data_kind;
    const struct tdc_json *task, *framework, *folder;
    struct tdc_error *error;
    tdc_status status;
};

static tdc_status out_of_memory(struct walk *walk)
{
    return tdc_fail(walk->error, TDC_ERR_MEMORY, "%s: out of memory or too large",
                    walk->calls->path);
}

static void warn(const struct walk *walk, const char *text)
{
    if (walk->rules->message != NULL)
        walk->rules->message(walk->rules->context, TDC_MESSAGE_WARNING, text);
}

/* ---- the top level --------------------------------------------------------------------------- */

static struct member *new_member(struct walk *walk)
{
    if (walk->member_count == walk->member_room) {
        size_t room = walk->member_room == 0 ? 512 : walk->member_room * 2;
        struct member *grown = reallocarray(walk->members, room, sizeof *grown);
        if (grown == NULL)
            return NULL;
        walk->members = grown;
        walk->member_room = room;
    }
    return &walk->members[walk->member_count++];
}

static tdc_status take_data(struct walk *walk, struct tdc_json_cursor *cursor)
{
    struct tdc_error *error = walk->error;
    walk->data = true;
    walk->data_kind = tdc_json_peek(cursor);
    walk->member_count = 0; /* of several the last one counts */
    tdc_arena_reset(&walk->keys);
    if (walk->data_kind != TDC_JSON_OBJECT)
        return tdc_json_skip(cursor, error);
    tdc_status status = tdc_json_enter(cursor, error);
    bool first = true;
    while (status == TDC_OK) {
        const char *key;
        size_t length;
        status = tdc_json_member(cursor, &first, &walk->keys, &key, &length, error);
        if (status != TDC_OK || key == NULL)
            break;
        struct member *member = new_member(walk);
        if (member == NULL)
            return out_of_memory(walk);
        bool null = tdc_json_peek(cursor) == TDC_JSON_NULL;
        const char *from = cursor->at;
        status = tdc_json_skip(cursor, error);
        size_t size = null ? 0 : (size_t)(cursor->at - from);
        *member = (struct member){key, length, {from, size}};
    }
    return status;
}

static tdc_status take_member(struct walk *walk, struct tdc_json_cursor *cursor, const char *key)
{
    struct tdc_error *error = walk->error;
    const struct tdc_json **kept = strcmp(key, "task") == 0            ? &walk->task
                                   : strcmp(key, "framework") == 0     ? &walk->framework
                                   : strcmp(key, "dump_data_dir") == 0 ? &walk->folder
                                                                       : NULL;
    if (kept != NULL) {
        struct tdc_json *value;
        tdc_status status = tdc_json_read(cursor, &walk->calls->arena, &value, error);
        if (status == TDC_OK)
            *kept = value;
        return status;
    }
    return strcmp(key, "data") == 0 ? take_data(walk, cursor) : tdc_json_skip(cursor, error);
}

static tdc_status walk_top(struct walk *walk)
{
    struct tdc_json_cursor cursor;
    tdc_json_start(&cursor, walk->calls->path, walk->calls->map.data, walk->calls->map.size);
    if (tdc_json_peek(&cursor) != TDC_JSON_OBJECT) {
        tdc_status status = tdc_json_skip(&cursor, walk->error);
        return status != TDC_OK
                   ? status
                   : tdc_fail(walk->error, TDC_ERR_FORMAT, PARSE_FAILED "input is not a dict");
    }
    tdc_status status = tdc_json_enter(&cursor, walk->error);
    bool first = true;
    while (status == TDC_OK) {
        const char *key;
        size_t length;
        status = tdc_json_member(&cursor, &first, &walk->calls->arena, &key, &length, walk->error);
        if (status != TDC_OK || key == NULL)
            break;
        status = take_member(walk, &cursor, key);
    }
    return status == TDC_OK ? tdc_json_finish(&cursor, walk->error) : status;
}

static bool absent(const struct tdc_json *value)
{
    return value == NULL || value->kind == TDC_JSON_NULL;
}

static tdc_status read_task(struct walk *walk)
{
    const struct tdc_json *task = walk->task;
    if (absent(task))
        return tdc_fail(walk->error, TDC_ERR_REFUSED,
                        PARSE_FAILED "task field in api_info.json is missing");
    if (task->kind != TDC_JSON_STRING)
        return tdc_fail(walk->error, TDC_ERR_REFUSED,
                        PARSE_FAILED
                        "task field in api_info.json is not accepted type: <class 'str'>");
    walk->calls->statistics = strcmp(task->text, "statistics") == 0;
    if (!walk->calls->statistics && strcmp(task->text, "tensor") != 0)
        return tdc_fail(walk->error, TDC_ERR_REFUSED,
                        PARSE_FAILED "task field in api_info.json is not accepted value: "
                                     "('statistics', 'tensor')");
    return TDC_OK;
}

static void read_framework(struct walk *walk)
{
    const struct tdc_json *framework = walk->framework;
    enum tdc_recorder *recorder = &walk->calls->recorder;
    *recorder = TDC_RECORDER_MINDSPORE;
    if (absent(framework)) {
        warn(walk, "JSON parsing error in framework field: framework field in api_info.json is "
                   "missing");
        return;
    }
    bool text = framework->kind == TDC_JSON_STRING;
    if (text && strcmp(framework->text, "mindtorch") == 0)
        *recorder = TDC_RECORDER_MINDTORCH;
    else if (text && strcmp(framework->text, "pytorch") == 0 && walk->rules->any_framework)
        *recorder = TDC_RECORDER_PYTORCH;
    else if (!text || strcmp(framework->text, "mindspore") != 0)
        warn(walk, "JSON parsing error in framework field: framework field in api_info.json is "
                   "not accepted value: ('mindspore', 'mindtorch')");
}

static tdc_status find_data_folder(struct walk *walk)
{
    struct tdc_calls *calls = walk->calls;
    if (calls->statistics)
        return TDC_OK;
    if (absent(walk->folder) && !walk->rules->any_framework)
        return tdc_fail(walk->error, TDC_ERR_REFUSED,
                        PARSE_FAILED "dump_data_dir field in api_info.json is missing");
    if (!absent(walk->folder) && walk->folder->kind != TDC_JSON_STRING)
        return tdc_fail(walk->error, TDC_ERR_REFUSED,
                        PARSE_FAILED "dump_data_dir field in api_info.json is not accepted type: "
                                     "<class 'str'>");
    if (!absent(walk->folder) && tdc_is_folder(walk->folder->text)) {
        calls->data_folder = strdup(walk->folder->text);
        return calls->data_folder != NULL ? TDC_OK : out_of_memory(walk);
    }
    char *copy = strdup(calls->path);
    if (copy == NULL || asprintf(&calls->data_folder, "%s/dump_tensor_data", dirname(copy)) < 0) {
        calls->data_folder = NULL;
        free(copy);
        return out_of_memory(walk);
    }
    free(copy);
    return TDC_OK;
}

/* ---- the records ----------------------------------------------------------------------------- */

static bool direction_of(const char *key, size_t length, enum tdc_direction *direction,
                         size_t *call_length)
{
    for (int i = 0; i < TDC_DIRECTIONS; i++) {
        size_t suffix = strlen(tdc_direction_name[i]);
        if (length > suffix + 1 && key[length - suffix - 1] == '.' &&
            memcmp(key + length - suffix, tdc_direction_name[i], suffix) == 0) {
            *direction = (enum tdc_direction)i;
            *call_length = length - suffix - 1;
            return true;
        }
    }
    return false;
}

static struct tdc_call *call_named(struct walk *walk, const char *name, size_t length)
{
    struct tdc_calls *calls = walk->calls;
    uint32_t number = tdc_names_find(&walk->names, name, length);
    if (number != TDC_NAME_NONE)
        return &calls->calls[number];
    const char *kept = tdc_arena_text(&calls->arena, name, length);
    bool fresh;
    if (kept == NULL || tdc_names_put(&walk->names, kept, length, &fresh) == TDC_NAME_NONE)
        return NULL;
    if (calls->count == walk->capacity) {
        size_t capacity = walk->capacity == 0 ? 256 : walk->capacity * 2;
        struct tdc_call *grown = reallocarray(calls->calls, capacity, sizeof *grown);
        if (grown == NULL)
            return NULL;
        calls->calls = grown;
        walk->capacity = capacity;
    }
    struct tdc_call *call = &calls->calls[calls->count];
    *call = (struct tdc_call){.name = kept, .position = calls->count};
    calls->count++;
    return call;
}

/* Of "Cell.network.Net.forward.0" too, where the direction is no suffix. */
static bool direction_within(const char *key, size_t length, enum tdc_direction *direction)
{
    for (int i = 0; i < TDC_DIRECTIONS; i++) {
        char part[16];
        int size = snprintf(part, sizeof part, ".%s.", tdc_direction_name[i]);
        *direction = (enum tdc_direction)i;
        if (memmem(key, length, part, (size_t)size) != NULL)
            return true;
    }
    return false;
}

/* Counts a record that is no API call to check; those of no direction (parameters) are of a module
 * that is counted already. */
static tdc_status leave_out(struct walk *walk, const char *key, size_t length)
{
    struct tdc_calls *calls = walk->calls;
    enum tdc_direction direction;
    size_t call_length = length;
    if (!direction_of(key, length, &direction, &call_length) &&
        !direction_within(key, length, &direction))
        return TDC_OK;
    char kind[sizeof calls->left_out[0].name];
    snprintf(kind, sizeof kind, "%.*s", (int)strcspn(key, "."), key);
    size_t at = 0;
    while (at < calls->left_out_count && strcmp(calls->left_out[at].name, kind) != 0)
        at++;
    if (at == TDC_LEFT_OUT_KINDS)
        at = TDC_LEFT_OUT_KINDS - 1;
    struct tdc_left_out *left_out = &calls->left_out[at];
    if (at == calls->left_out_count) {
        memcpy(left_out->name, kind, sizeof kind);
        left_out->first = tdc_arena_text(&calls->arena, key, call_length);
        if (left_out->first == NULL)
            return out_of_memory(walk);
        calls->left_out_count++;
    }
    left_out->records[direction]++;
    return TDC_OK;
}

static tdc_status take_record(struct walk *walk, const struct member *member)
{
    const char *key = member->key;
    size_t length = member->length;
    /* a record that is null is none, as in Python */
    if (member->place.size == 0)
        return TDC_OK;
    if (!tdc_key_checkable(walk->calls->recorder, key, length))
        return leave_out(walk, key, length);
    enum tdc_direction direction;
    size_t call_length;
    if (!direction_of(key, length, &direction, &call_length)) {
        char text[512];
        snprintf(text, sizeof text,
                 "api: %.400s is not recognized as forward api or backward api, skip this.", key);
        warn(walk, text);
        return TDC_OK;
    }
    struct tdc_call *call = call_named(walk, key, call_length);
    if (call == NULL)
        return out_of_memory(walk);
    call->records[direction] = member->place;
    return TDC_OK;
}

static tdc_status walk_records(struct walk *walk)
{
    if (!walk->data || walk->data_kind == TDC_JSON_NULL)
        return tdc_fail(walk->error, TDC_ERR_REFUSED,
                        PARSE_FAILED "data field in api_info.json is missing");
    if (walk->data_kind != TDC_JSON_OBJECT)
        return tdc_fail(walk->error, TDC_ERR_REFUSED,
                        PARSE_FAILED
                        "data field in api_info.json is not accepted type: <class 'dict'>");
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < walk->member_count && status == TDC_OK; i++)
        status = take_record(walk, &walk->members[i]);
    return status;
}

static void walk_file(void *argument)
{
    struct walk *walk = argument;
    walk->status = walk_top(walk);
    if (walk->status == TDC_OK)
        walk->status = read_task(walk);
    if (walk->status == TDC_OK)
        walk->status = find_data_folder(walk);
    if (walk->status == TDC_OK) {
        read_framework(walk);
        walk->status = walk_records(walk);
    }
}

tdc_status tdc_calls_load(const char *path, const struct tdc_calls_rules *rules,
                          struct tdc_calls *calls, struct tdc_error *error)
{
    memset(calls, 0, sizeof *calls);
    tdc_arena_init(&calls->arena, NAMES_LIMIT);
    struct walk walk = {.calls = calls, .rules = rules, .error = error};
    tdc_arena_init(&walk.keys, NAMES_LIMIT);
    tdc_names_init(&walk.names);
    calls->path = strdup(path);
    tdc_status status =
        calls->path != NULL ? TDC_OK : tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    if (status == TDC_OK)
        status = tdc_file_map_open(path, &calls->map, error);
    if (status == TDC_OK && !tdc_guard_begin()) {
        status = tdc_fail(error, TDC_ERR_SYSTEM, "cannot install a signal handler");
    } else if (status == TDC_OK) {
        status = tdc_guarded_read(walk_file, &walk)
                     ? walk.status
                     : tdc_fail(error, TDC_ERR_CHANGED, "%s: changed while being read", path);
        tdc_guard_end();
    }
    tdc_names_free(&walk.names);
    tdc_arena_free(&walk.keys);
    free(walk.members);
    return status;
}

void tdc_calls_free(struct tdc_calls *calls)
{
    tdc_file_map_close(&calls->map);
    tdc_arena_free(&calls->arena);
    free(calls->path);
    free(calls->data_folder);
    free(calls->calls);
    memset(calls, 0, sizeof *calls);
}

/* ---- one record ------------------------------------------------------------------------------ */

struct record_reading {
    const struct tdc_calls *calls;
    const struct tdc_record_place *place;
    struct tdc_arena *arena;
    struct tdc_json **value;
    struct tdc_error *error;
    tdc_status status;
};

static void read_record(void *argument)
{
    struct record_reading *reading = argument;
    struct tdc_json_cursor cursor;
    tdc_json_start(&cursor, reading->calls->path, reading->place->bytes, reading->place->size);
    reading->status = tdc_json_read(&cursor, reading->arena, reading->value, reading->error);
}

tdc_status tdc_call_record(const struct tdc_calls *calls, const struct tdc_call *call,
                           enum tdc_direction direction, struct tdc_arena *arena,
                           struct tdc_json **value, struct tdc_error *error)
{
    *value = NULL;
    struct record_reading reading = {calls, &call->records[direction], arena, value, error, TDC_OK};
    if (reading.place->size == 0)
        return TDC_OK;
    if (!tdc_guard_begin())
        return tdc_fail(error, TDC_ERR_SYSTEM, "cannot install a signal handler");
    if (!tdc_guarded_read(read_record, &reading))
        reading.status =
            tdc_fail(error, TDC_ERR_CHANGED, "%s: changed while being read", calls->path);
    tdc_guard_end();
    return reading.status;
}
