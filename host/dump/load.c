/* load.c - reading dump.json and debug.json, entry by entry. */
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/dump/atb_dump.h"
#include "host/dump/dump.h"
#include "host/dump/plain_call.h"
#include "host/dump/record_builder.h"
#include "host/dump/tensor_dump.h"
#include "io/base/error.h"
#include "io/base/sized.h"
#include "io/file/file_map.h"
#include "io/text/json.h"
#include "io/file/mapping_guard.h"

/* Records and names of a dump of a GB take about as much again; this is the hard stop. */
#define DUMP_LIMIT ((size_t)64 << 30)
/* JSON tree of one entry. */
#define ENTRY_LIMIT ((size_t)1 << 30)

struct loading {
    const struct tdc_file_map *map;
    struct tdc_dump *dump;
    struct tdc_record_builder builder;
    struct tdc_arena scratch;
    size_t entry_capacity;
    bool repeated;  /* an entry name occurred twice */
    bool data_seen; /* the member "data" came before */
    struct tdc_error *error;
    tdc_status status;
};

static tdc_status out_of_memory(const struct loading *loading)
{
    return tdc_fail(loading->error, TDC_ERR_MEMORY, "%s: out of memory or too large",
                    loading->dump->path);
}

static void forget_entries(struct loading *loading)
{
    struct tdc_dump *dump = loading->dump;
    dump->record_count = dump->entry_count = 0;
    dump->digests = dump->digest_records = false;
    dump->refusal = NULL;
    dump->repeated = 0;
    dump->first_repeated = NULL;
    tdc_names_free(&dump->entry_names);
}

static void note_repeated(struct tdc_dump *dump, const char *name, size_t count)
{
    if (dump->repeated == 0)
        dump->first_repeated = name;
    dump->repeated += count;
}

/* The number of the entry; a repeated name keeps its first place. */
static tdc_status name_entry(struct loading *loading, const char *name, size_t length,
                             uint32_t *number)
{
    struct tdc_dump *dump = loading->dump;
    bool fresh;
    *number = tdc_names_put(&dump->entry_names, name, length, &fresh);
    if (*number == TDC_NAME_NONE)
        return out_of_memory(loading);
    if (!fresh) {
        loading->repeated = true;
        note_repeated(dump, name, 1);
        return TDC_OK;
    }
    if (dump->entry_count == loading->entry_capacity) {
        size_t capacity = loading->entry_capacity == 0 ? 256 : loading->entry_capacity * 2;
        struct tdc_dump_entry *entries = realloc(dump->entries, capacity * sizeof *entries);
        if (entries == NULL)
            return out_of_memory(loading);
        dump->entries = entries;
        loading->entry_capacity = capacity;
    }
    dump->entries[dump->entry_count++] = (struct tdc_dump_entry){.name = name};
    return TDC_OK;
}

/* Whatever it is, by a tree of all of it. */
static tdc_status read_any_entry(struct loading *loading, struct tdc_json_cursor *cursor,
                                 uint32_t number)
{
    struct tdc_dump *dump = loading->dump;
    tdc_arena_reset(&loading->scratch);
    struct tdc_json *value;
    tdc_status status = tdc_json_read(cursor, &loading->scratch, &value, loading->error);
    if (status != TDC_OK)
        return status;
    if (dump->kind == TDC_DUMP_JSON && dump->refusal == NULL)
        dump->refusal = tdc_entry_refusal(&dump->arena, dump->entries[number].name, value);
    if (!dump->digests)
        dump->digests = tdc_entry_has_digest(dump->kind, value);
    if (!tdc_records_add_entry(&loading->builder, number, value))
        return out_of_memory(loading);
    return TDC_OK;
}

static tdc_status read_entry(struct loading *loading, struct tdc_json_cursor *cursor,
                             const char *name, size_t length)
{
    struct tdc_dump *dump = loading->dump;
    size_t repeated = cursor->repeated;
    uint32_t number;
    tdc_status status = name_entry(loading, name, length, &number);
    if (status != TDC_OK)
        return status;
    if (!tdc_plain_call_read(&loading->builder, cursor, &loading->scratch, number)) {
        if (loading->builder.failed)
            return out_of_memory(loading);
        status = read_any_entry(loading, cursor, number);
    }
    if (status == TDC_OK && cursor->repeated != repeated)
        note_repeated(dump, name, cursor->repeated - repeated);
    return status;
}

static tdc_status read_data(struct loading *loading, struct tdc_json_cursor *cursor)
{
    struct tdc_dump *dump = loading->dump;
    forget_entries(loading);
    if (loading->data_seen)
        note_repeated(dump, "data", 1);
    loading->data_seen = true;
    dump->data_missing = dump->data_wrong_type = false;
    enum tdc_json_kind kind = tdc_json_peek(cursor);
    if (kind != TDC_JSON_OBJECT) {
        dump->data_missing = kind == TDC_JSON_NULL;
        dump->data_wrong_type = !dump->data_missing;
        return tdc_json_skip(cursor, loading->error);
    }
    tdc_status status = tdc_json_enter(cursor, loading->error);
    bool first = true;
    while (status == TDC_OK) {
        const char *key;
        size_t length;
        status = tdc_json_member(cursor, &first, &dump->arena, &key, &length, loading->error);
        if (status != TDC_OK || key == NULL)
            break;
        status = read_entry(loading, cursor, key, length);
    }
    return status;
}

static tdc_status read_text(struct loading *loading, struct tdc_json_cursor *cursor,
                            const char **text)
{
    struct tdc_json *value;
    tdc_status status = tdc_json_read(cursor, &loading->dump->arena, &value, loading->error);
    if (status == TDC_OK)
        *text = value->kind == TDC_JSON_STRING && value->length != 0 ? value->text : NULL;
    return status;
}

static tdc_status read_members(struct loading *loading, struct tdc_json_cursor *cursor)
{
    struct tdc_dump *dump = loading->dump;
    if (tdc_json_peek(cursor) != TDC_JSON_OBJECT) {
        tdc_status status = tdc_json_skip(cursor, loading->error);
        if (status != TDC_OK)
            return status;
        return tdc_fail(loading->error, TDC_ERR_FORMAT, "%s: not a JSON object", dump->path);
    }
    tdc_status status = tdc_json_enter(cursor, loading->error);
    bool first = true;
    while (status == TDC_OK) {
        const char *key;
        size_t length;
        status = tdc_json_member(cursor, &first, &dump->arena, &key, &length, loading->error);
        if (status != TDC_OK || key == NULL)
            break;
        if (strcmp(key, "data") == 0)
            status = read_data(loading, cursor);
        else if (strcmp(key, "task") == 0)
            status = read_text(loading, cursor, &dump->task);
        else if (strcmp(key, "framework") == 0)
            status = read_text(loading, cursor, &dump->framework);
        else if (strcmp(key, "level") == 0)
            status = read_text(loading, cursor, &dump->level);
        else
            status = tdc_json_skip(cursor, loading->error);
    }
    return status == TDC_OK ? tdc_json_finish(cursor, loading->error) : status;
}

static void parse(void *argument)
{
    struct loading *loading = argument;
    struct tdc_json_cursor cursor;
    tdc_json_start(&cursor, loading->dump->path, loading->map->data, loading->map->size);
    loading->status = read_members(loading, &cursor);
    if (loading->status == TDC_ERR_FORMAT && cursor.ended)
        loading->status = tdc_fail(
            loading->error, TDC_ERR_FORMAT, "%s: %s: still being written, or broken off",
            loading->dump->path, loading->map->size == 0 ? "an empty file" : "it ends too early");
}

/* Entries that were repeated point at their last records: put all records in entry order again. */
static bool compact(struct tdc_dump *dump)
{
    size_t count = 0;
    for (size_t i = 0; i < dump->entry_count; i++)
        count += dump->entries[i].count;
    struct tdc_record *records = malloc((count != 0 ? count : 1) * sizeof *records);
    if (records == NULL)
        return false;
    size_t at = 0;
    for (size_t i = 0; i < dump->entry_count; i++) {
        struct tdc_dump_entry *entry = &dump->entries[i];
        memcpy(records + at, dump->records + entry->first, entry->count * sizeof *records);
        entry->first = at;
        at += entry->count;
    }
    free(dump->records);
    dump->records = records;
    dump->record_count = count;
    return true;
}

static bool describe_path(struct tdc_dump *dump, const char *path)
{
    dump->path = strdup(path);
    char *copy = strdup(path);
    if (dump->path == NULL || copy == NULL) {
        free(copy);
        return false;
    }
    dump->folder = strdup(dirname(copy));
    free(copy);
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    dump->kind = strcmp(name, "debug.json") == 0 ? TDC_DEBUG_JSON : TDC_DUMP_JSON;
    if (dump->folder == NULL)
        return false;
    size_t size = strlen(dump->folder) + sizeof "/dump_tensor_data";
    dump->data_folder = malloc(size);
    if (dump->data_folder != NULL)
        snprintf(dump->data_folder, size, "%s/dump_tensor_data", dump->folder);
    return dump->data_folder != NULL;
}

static tdc_status load_mapped(struct tdc_dump *dump, const struct tdc_file_map *map,
                              struct tdc_error *error)
{
    struct loading loading = {.map = map, .dump = dump, .error = error};
    tdc_records_begin(&loading.builder, dump);
    tdc_arena_init(&loading.scratch, ENTRY_LIMIT);
    if (!tdc_guard_begin())
        loading.status = tdc_fail(error, TDC_ERR_SYSTEM, "cannot install a signal handler");
    else {
        if (!tdc_guarded_read(parse, &loading))
            loading.status =
                tdc_fail(error, TDC_ERR_CHANGED, "%s: changed while being read", dump->path);
        tdc_guard_end();
    }
    if (loading.status == TDC_OK && loading.repeated && !compact(dump))
        loading.status = out_of_memory(&loading);
    tdc_arena_free(&loading.scratch);
    tdc_records_end(&loading.builder);
    return loading.status;
}

/* NULL when out of memory. */
static struct tdc_dump *new_dump(void)
{
    struct tdc_dump *dump = calloc(1, sizeof *dump);
    if (dump == NULL)
        return NULL;
    tdc_arena_init(&dump->arena, DUMP_LIMIT);
    tdc_names_init(&dump->entry_names);
    dump->data_missing = true;
    return dump;
}

struct tdc_dump *tdc_dump_new(const char *path)
{
    struct tdc_dump *dump = new_dump();
    if (dump != NULL && !describe_path(dump, path)) {
        tdc_dump_free(dump);
        return NULL;
    }
    return dump;
}

tdc_status tdc_dump_load(const char *path, tdc_dump **dump, struct tdc_error *error)
{
    *dump = NULL;
    struct tdc_dump *loaded = new_dump();
    if (loaded == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    struct tdc_file_map map = {0};
    tdc_status status = TDC_OK;
    if (!describe_path(loaded, path))
        status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    bool tensor = tdc_is_tensor_file(path), list = tdc_is_atb_dump(path);
    if (status == TDC_OK)
        status = tensor ? tdc_dump_load_tensor(loaded, error)
                 : list ? tdc_dump_load_atb(loaded, error)
                        : tdc_file_map_open(path, &map, error);
    if (status == TDC_OK && !tensor && !list) {
        loaded->bytes = map.size;
        status = load_mapped(loaded, &map, error);
        tdc_file_map_close(&map);
    }
    if (status != TDC_OK) {
        tdc_dump_free(loaded);
        return status;
    }
    *dump = loaded;
    return TDC_OK;
}

/* ---- from memory ----------------------------------------------------------------------------- */

void tdc_dump_source_init(struct tdc_dump_source *source, size_t size, const char *json,
                          size_t json_length)
{
    struct tdc_dump_source made = {
        .size = size, .name = "dump.json", .json = json, .json_length = json_length};
    tdc_sized_init(source, size, &made, sizeof made);
}

/* A copy in the dump's arena; none of no bytes. */
static bool keep_bytes(struct tdc_dump *dump, const char *bytes, size_t length,
                       struct tdc_file_map *kept)
{
    if (bytes == NULL)
        return true;
    *kept = (struct tdc_file_map){tdc_arena_text(&dump->arena, bytes, length), length};
    return kept->data != NULL;
}

static bool describe_source(struct tdc_dump *dump, const struct tdc_dump_source *source)
{
    dump->in_memory = true;
    dump->bytes = source->json_length;
    bool described = describe_path(dump, source->name);
    free(dump->data_folder);
    dump->data_folder = source->tensors != NULL ? strdup(source->tensors) : NULL;
    return described && (source->tensors == NULL || dump->data_folder != NULL) &&
           keep_bytes(dump, source->stack, source->stack_length, &dump->stack) &&
           keep_bytes(dump, source->construct, source->construct_length, &dump->construct);
}

tdc_status tdc_dump_load_memory(const struct tdc_dump_source *given, tdc_dump **dump,
                                struct tdc_error *error)
{
    *dump = NULL;
    struct tdc_dump_source source;
    tdc_dump_source_init(&source, sizeof source, NULL, 0);
    tdc_status status = tdc_sized_read(given, offsetof(struct tdc_dump_source, stack), &source,
                                       sizeof source, "tdc_dump_source_init", error);
    if (status == TDC_OK && (source.json == NULL || source.name == NULL))
        status = tdc_fail(error, TDC_ERR_ARGUMENT, "a dump in memory has bytes and a name");
    if (status != TDC_OK)
        return status;
    struct tdc_dump *loaded = new_dump();
    if (loaded == NULL || !describe_source(loaded, &source)) {
        status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", source.name);
    } else {
        struct tdc_file_map map = {source.json, source.json_length};
        status = load_mapped(loaded, &map, error);
    }
    if (status == TDC_OK)
        *dump = loaded;
    else
        tdc_dump_free(loaded);
    return status;
}

void tdc_dump_free(tdc_dump *dump)
{
    if (dump == NULL)
        return;
    if (dump->let_go != NULL)
        dump->let_go(dump->held);
    free(dump->records);
    free(dump->entries);
    tdc_names_free(&dump->entry_names);
    tdc_arena_free(&dump->arena);
    free(dump->path);
    free(dump->folder);
    free(dump->data_folder);
    free(dump);
}

const char *tdc_dump_detected_framework(const struct tdc_dump *dump)
{
    if (dump->framework != NULL &&
        (strcmp(dump->framework, "pytorch") == 0 || strcmp(dump->framework, "mindspore") == 0))
        return dump->framework;
    return dump->seen_framework;
}

size_t tdc_dump_records(const tdc_dump *dump)
{
    return dump->record_count;
}

const char *tdc_dump_record_name(const tdc_dump *dump, size_t record)
{
    return dump->records[record].name;
}

const char *tdc_dump_record_dtype(const tdc_dump *dump, size_t record)
{
    return dump->records[record].dtype;
}

const char *tdc_dump_record_shape(const tdc_dump *dump, size_t record)
{
    return dump->records[record].shape;
}

const char *tdc_dump_task(const tdc_dump *dump)
{
    return dump->task;
}

const char *tdc_dump_framework(const tdc_dump *dump)
{
    return dump->framework;
}
