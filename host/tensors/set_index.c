/* set_index.c - a checkpoint in several files, and the json that says which tensor is in which. */
#include <stdlib.h>
#include <string.h>

#include "host/tensors/tensor_set.h"
#include "io/base/error.h"
#include "io/text/json.h"

#define INDEX_LIMIT ((size_t)8 << 30) /* or what the process may use */

/* A name and the file the index puts it into. */
struct entry {
    const char *name, *file;
    bool seen;
};

struct index {
    struct tdc_tensor_set *set;
    const struct tdc_set_place *place;
    const char *path; /* of the index */
    struct tdc_json *root;
    struct entry *entries; /* by file, then in the order of the index */
    size_t count;
    struct tdc_name_table names;
    const char *file; /* the one that is being taken */
    struct tdc_error *error;
};

static int by_file(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = strcmp(x->file, y->file);
    return order != 0 ? order : x->name < y->name ? -1 : x->name > y->name;
}

static tdc_status take_entries(struct index *index)
{
    const struct tdc_json *map = tdc_json_get(index->root, "weight_map");
    if (map == NULL || map->kind != TDC_JSON_OBJECT)
        return tdc_fail(index->error, TDC_ERR_FORMAT, "%s: no weight_map in it", index->path);
    index->entries = calloc(map->children + 1, sizeof *index->entries);
    if (index->entries == NULL)
        return tdc_set_no_memory(index->set, index->error);
    for (const struct tdc_json *child = map->child; child != NULL; child = child->next) {
        if (child->kind != TDC_JSON_STRING || strchr(child->text, '/') != NULL ||
            child->text[0] == '\0' || strcmp(child->text, "..") == 0)
            return tdc_fail(index->error, TDC_ERR_FORMAT,
                            "%s: the file of %.200s is no name of a file beside it", index->path,
                            child->key);
        index->entries[index->count++] = (struct entry){.name = child->key, .file = child->text};
    }
    qsort(index->entries, index->count, sizeof *index->entries, by_file);
    for (size_t i = 0; i < index->count; i++) {
        const char *name = index->entries[i].name;
        bool fresh;
        if (tdc_names_put(&index->names, name, strlen(name), &fresh) == TDC_NAME_NONE)
            return tdc_set_no_memory(index->set, index->error);
    }
    return TDC_OK;
}

/* Of a file only what the index says of it. */
static bool takes(void *context, const char *name)
{
    struct index *index = context;
    uint32_t number = tdc_names_find(&index->names, name, strlen(name));
    if (number == TDC_NAME_NONE || strcmp(index->entries[number].file, index->file) != 0)
        return false;
    index->entries[number].seen = true;
    return true;
}

/* A row for each name whose file does not have it, or cannot be read. */
static tdc_status add_missing(struct index *index, const struct entry *entry, const char *reason)
{
    struct tdc_tensor_set *set = index->set;
    const char *file = tdc_set_text(set, index->place->folder, entry->file);
    struct tdc_set_record *record =
        file != NULL ? tdc_set_add(set, entry->name, index->place, file) : NULL;
    if (record == NULL)
        return tdc_set_no_memory(set, index->error);
    if (reason == NULL) {
        const char *text = tdc_set_text(set, entry->file, ": no tensor ");
        reason = text != NULL ? tdc_set_text(set, text, entry->name) : NULL;
    }
    record->refusal = reason;
    return reason != NULL ? tdc_set_claim(set, record, index->error)
                          : tdc_set_no_memory(set, index->error);
}

/* The names of one file, entries [first, end). */
static tdc_status take_shard(struct index *index, size_t first, size_t end)
{
    struct tdc_set_wanted wanted = {takes, index};
    struct tdc_error why = {0};
    index->file = index->entries[first].file;
    tdc_status status =
        tdc_set_take_file(index->set, index->place, index->file, true, &wanted, &why);
    const char *reason = NULL;
    if (status == TDC_ERR_MEMORY || (status != TDC_OK && strstr(why.message, " is in ") != NULL)) {
        *index->error = why;
        return status;
    }
    if (status != TDC_OK) {
        reason = tdc_arena_text(&index->set->arena, why.message, strlen(why.message));
        if (reason == NULL)
            return tdc_set_no_memory(index->set, index->error);
    }
    status = TDC_OK;
    for (size_t i = first; i < end && status == TDC_OK; i++)
        if (!index->entries[i].seen)
            status = add_missing(index, &index->entries[i], reason);
    return status;
}

tdc_status tdc_set_index(struct tdc_tensor_set *set, const struct tdc_set_place *place,
                         const char *name, struct tdc_error *error)
{
    struct index index = {.set = set, .place = place, .error = error};
    const char *below = tdc_set_text(set, place->folder, name);
    index.path = below != NULL ? tdc_set_path(set, below) : NULL;
    tdc_names_init(&index.names);
    tdc_status status = index.path != NULL
                            ? tdc_json_read_file(index.path, &set->arena, &index.root, error)
                            : tdc_set_no_memory(set, error);
    if (status == TDC_OK)
        status = take_entries(&index);
    for (size_t first = 0, end; first < index.count && status == TDC_OK; first = end) {
        for (end = first + 1; end < index.count; end++)
            if (strcmp(index.entries[end].file, index.entries[first].file) != 0)
                break;
        status = take_shard(&index, first, end);
    }
    tdc_names_free(&index.names);
    free(index.entries);
    return status;
}
