#include "host/tensors/tensor_set.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/base/error.h"
#include "io/base/text.h"

#define SET_LIMIT ((size_t)64 << 30) /* or what the process may use */
/* Files beyond this are read through their maps alone: descriptors are few in a process. */
#define MOST_DESCRIPTORS 256

tdc_status tdc_set_no_memory(const struct tdc_tensor_set *set, struct tdc_error *error)
{
    return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", set->path);
}

const char *tdc_set_text(struct tdc_tensor_set *set, const char *folder, const char *name)
{
    size_t first = strlen(folder), second = strlen(name);
    char *text = tdc_arena_take(&set->arena, first + second + 1);
    if (text == NULL)
        return NULL;
    memcpy(text, folder, first);
    memcpy(text + first, name, second + 1);
    return text;
}

const char *tdc_set_path(struct tdc_tensor_set *set, const char *below)
{
    size_t first = strlen(set->folder), second = strlen(below);
    char *path = tdc_arena_take(&set->arena, first + second + 2);
    if (path != NULL)
        snprintf(path, first + second + 2, "%s/%s", set->folder, below);
    return path;
}

/* ---- records --------------------------------------------------------------------------------- */

struct tdc_set_record *tdc_set_add(struct tdc_tensor_set *set, const char *name,
                                   const struct tdc_set_place *place, const char *file)
{
    if (set->count == set->room) {
        size_t room = set->room == 0 ? 256 : set->room * 2;
        struct tdc_set_record *records = realloc(set->records, room * sizeof *records);
        if (records == NULL)
            return NULL;
        set->records = records;
        set->room = room;
    }
    struct tdc_set_record *record = &set->records[set->count];
    *record = (struct tdc_set_record){.name = name,
                                      .dtype = "unknown",
                                      .shape = "[]",
                                      .file = file,
                                      .where = place->where,
                                      .rank = place->rank};
    memcpy(record->coordinates, place->coordinates, sizeof record->coordinates);
    if (record->where == NULL) {
        const char *slash = strrchr(file, '/');
        record->where = slash != NULL ? slash + 1 : file;
    }
    set->count++;
    return record;
}

/* Shapes repeat a lot, but a text of some bytes a tensor is little beside its description. */
void tdc_set_describe(struct tdc_tensor_set *set, struct tdc_set_record *record,
                      const struct tdc_tensor *tensor)
{
    char text[TDC_MAX_DIMENSIONS * 22 + 3];
    size_t at = 0;
    text[at++] = '[';
    for (unsigned i = 0; i < tensor->dimensions; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%" PRIu64, i != 0 ? ", " : "",
                               tensor->shape[i]);
    text[at++] = ']';
    const char *kept = tdc_arena_text(&set->arena, text, at);
    record->shape = kept != NULL ? kept : record->shape;
    record->dtype = tdc_dtype_name(tensor->dtype);
}

tdc_status tdc_set_claim(struct tdc_tensor_set *set, const struct tdc_set_record *record,
                         struct tdc_error *error)
{
    bool fresh;
    uint32_t number = tdc_names_put(&set->names, record->name, strlen(record->name), &fresh);
    if (number == TDC_NAME_NONE)
        return tdc_set_no_memory(set, error);
    if (fresh)
        return TDC_OK;
    for (size_t i = 0; i + 1 < set->count; i++)
        if (set->records[i].rank == record->rank && strcmp(set->records[i].name, record->name) == 0)
            return tdc_fail(error, TDC_ERR_FORMAT, "%.300s is in %.300s and in %.300s",
                            record->name, set->records[i].file, record->file);
    return TDC_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

tdc_status tdc_set_open(struct tdc_tensor_set *set, const char *below, struct tdc_open_file **file,
                        struct tdc_error *error)
{
    struct tdc_open_file *opened = tdc_arena_zeroed(&set->arena, 1, sizeof *opened);
    const char *path = tdc_set_path(set, below);
    *file = NULL;
    if (opened == NULL || path == NULL)
        return tdc_set_no_memory(set, error);
    tdc_status status =
        tdc_tensor_list_open(path, TDC_LIST_BY_SUFFIX, set->key, &opened->list, error);
    if (status != TDC_OK) {
        tdc_tensor_list_close(&opened->list);
        return status;
    }
    if (++set->file_count > MOST_DESCRIPTORS)
        tdc_tensor_list_drop_descriptor(&opened->list);
    opened->next = set->files;
    set->files = opened;
    *file = opened;
    return TDC_OK;
}

/* What a file is called whose one tensor has no name. */
static const char *file_stem(struct tdc_tensor_set *set, const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *start = slash != NULL ? slash + 1 : name;
    const char *dot = strrchr(start, '.');
    return tdc_arena_text(&set->arena, start, dot != NULL ? (size_t)(dot - start) : strlen(start));
}

tdc_status tdc_set_add_refused(struct tdc_tensor_set *set, const struct tdc_set_place *place,
                               const char *below, const char *name, const struct tdc_error *why,
                               struct tdc_set_record **added, struct tdc_error *error)
{
    const char *reason = tdc_arena_text(&set->arena, why->message, strlen(why->message));
    *added = name != NULL && reason != NULL ? tdc_set_add(set, name, place, below) : NULL;
    if (*added == NULL)
        return tdc_set_no_memory(set, error);
    (*added)->refusal = reason;
    return TDC_OK;
}

static tdc_status add_refused(struct tdc_tensor_set *set, const struct tdc_set_place *place,
                              const char *below, const struct tdc_error *why,
                              struct tdc_error *error)
{
    struct tdc_set_record *record;
    tdc_status status =
        tdc_set_add_refused(set, place, below, file_stem(set, below), why, &record, error);
    return status == TDC_OK ? tdc_set_claim(set, record, error) : status;
}

/* Files of one tensor each are not kept open: folders have thousands of them. */
static tdc_status take_array(struct tdc_tensor_set *set, const struct tdc_set_place *place,
                             const char *below, bool strict, struct tdc_error *error)
{
    const char *path = tdc_set_path(set, below), *name = file_stem(set, below);
    struct tdc_tensor tensor;
    struct tdc_error why = {0};
    if (path == NULL || name == NULL)
        return tdc_set_no_memory(set, error);
    tdc_status status = tdc_tensor_open(path, TDC_TENSOR_NPY, &tensor, &why);
    if (status != TDC_OK && strict) {
        *error = why;
        return status;
    }
    if (status != TDC_OK)
        return add_refused(set, place, below, &why, error);
    struct tdc_set_record *record = tdc_set_add(set, name, place, below);
    if (record != NULL)
        tdc_set_describe(set, record, &tensor);
    tdc_tensor_close(&tensor);
    return record != NULL ? tdc_set_claim(set, record, error) : tdc_set_no_memory(set, error);
}

tdc_status tdc_set_add_listed(struct tdc_tensor_set *set, const struct tdc_set_place *place,
                              const char *below, const char *name,
                              const struct tdc_listed_tensor *item, struct tdc_set_record **added,
                              struct tdc_error *error)
{
    struct tdc_set_record *record = name != NULL ? tdc_set_add(set, name, place, below) : NULL;
    if (record == NULL)
        return tdc_set_no_memory(set, error);
    *added = record;
    if (item->refusal != NULL) {
        const char *before = tdc_set_text(set, name, ": ");
        record->refusal = before != NULL ? tdc_set_text(set, before, item->refusal) : NULL;
        if (record->refusal == NULL)
            return tdc_set_no_memory(set, error);
    } else {
        tdc_set_describe(set, record, &item->tensor);
        record->tensor = &item->tensor;
    }
    return TDC_OK;
}

static tdc_status add_listed(struct tdc_tensor_set *set, const struct tdc_set_place *place,
                             const char *below, const struct tdc_listed_tensor *item,
                             struct tdc_error *error)
{
    const char *name = item->name[0] != '\0' ? item->name : file_stem(set, below);
    struct tdc_set_record *record;
    tdc_status status = tdc_set_add_listed(set, place, below, name, item, &record, error);
    return status == TDC_OK ? tdc_set_claim(set, record, error) : status;
}

tdc_status tdc_set_take_file(struct tdc_tensor_set *set, const struct tdc_set_place *place,
                             const char *name, bool strict, const struct tdc_set_wanted *wanted,
                             struct tdc_error *error)
{
    const char *below = tdc_set_text(set, place->folder, name);
    if (below == NULL)
        return tdc_set_no_memory(set, error);
    if (tdc_list_kind_of(name) == TDC_LIST_ONE)
        return take_array(set, place, below, strict, error);
    struct tdc_open_file *file;
    struct tdc_error why = {0};
    tdc_status status = tdc_set_open(set, below, &file, &why);
    if (status != TDC_OK && (strict || status == TDC_ERR_MEMORY)) {
        *error = why;
        return status;
    }
    if (status != TDC_OK)
        return add_refused(set, place, below, &why, error);
    set->skipped += file->list.count == 0;
    for (size_t i = 0; i < file->list.count && status == TDC_OK; i++) {
        const struct tdc_listed_tensor *item = file->list.items[i];
        if (wanted == NULL || wanted->takes(wanted->context, item->name))
            status = add_listed(set, place, below, item, error);
    }
    return status;
}

void tdc_tensor_set_free(struct tdc_tensor_set *set)
{
    for (struct tdc_open_file *file = set->files; file != NULL; file = file->next)
        tdc_tensor_list_close(&file->list);
    free(set->records);
    tdc_names_free(&set->names);
    tdc_arena_free(&set->arena);
    *set = (struct tdc_tensor_set){0};
}
