#include "host/offline/offline_side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/graph/files/arena_list.h"
#include "host/graph/files/say.h"
#include "io/base/error.h"
#include "io/base/text.h"

#define NAME_LIMIT ((size_t)1 << 12)

struct listing {
    struct tdc_arena *arena;
    const struct tdc_options *options;
    struct tdc_offline_side *side;
    struct tdc_error *error;
    size_t dumps, arrays; /* files of each kind */
};

static tdc_status out_of_memory(const struct listing *listing)
{
    return tdc_fail(listing->error, TDC_ERR_MEMORY, "%s: out of memory", listing->side->folder);
}

/* NAME.OUTPUT.TIME.npy. *memory: false when the name is another. */
static bool read_array_name(struct tdc_arena *arena, const char *name,
                            struct tdc_offline_file *file, bool *memory)
{
    const char *end = name + strlen(name) - strlen(".npy"), *time = end, *output;
    *memory = false;
    while (time > name && time[-1] != '.')
        time--;
    if (time == name || !tdc_all_digits(time, (size_t)(end - time)))
        return false;
    output = --time;
    while (output > name && output[-1] != '.')
        output--;
    if (output <= name + 1 || !tdc_all_digits(output, (size_t)(time - output)))
        return false;
    file->type = "";
    file->op = tdc_arena_text(arena, name, (size_t)(time - name));
    file->time = tdc_folder_number(time + 1, (size_t)(end - time - 1));
    *memory = file->op == NULL;
    return !*memory;
}

static bool read_name(struct listing *listing, const char *name, struct tdc_offline_file *file,
                      bool *memory)
{
    struct tdc_dump_name dump;
    if (tdc_ends_in(name, ".npy")) {
        bool good = read_array_name(listing->arena, name, file, memory);
        listing->arrays += good;
        return good;
    }
    if (!tdc_dump_name_read(listing->arena, name, &dump, memory))
        return false;
    file->op = dump.op;
    file->type = dump.type;
    file->time = dump.time;
    listing->dumps++;
    return true;
}

static tdc_status take_file(struct listing *listing, const char *name, const char *real)
{
    struct tdc_offline_side *side = listing->side;
    struct tdc_offline_file file = {.path = tdc_folder_path(listing->arena, side->folder, name)};
    bool memory, fresh;
    if (file.path == NULL)
        return out_of_memory(listing);
    if (!read_name(listing, real, &file, &memory)) {
        if (memory)
            return out_of_memory(listing);
        tdc_say(listing->options, TDC_MESSAGE_WARNING,
                "The file name \"%s\" in the path \"%s\" is invalid, only supports "
                "op_type.op_name.task_id(.stream_id).timestamp",
                real, side->folder);
        return TDC_OK;
    }
    uint32_t number = tdc_names_put(&side->ops, file.op, strlen(file.op), &fresh);
    if (number == TDC_NAME_NONE ||
        (fresh && !tdc_arena_grow(listing->arena, (void **)&side->files, side->count,
                                  sizeof *side->files, &side->room)))
        return out_of_memory(listing);
    if (fresh)
        side->files[side->count++] = file;
    else if (file.time >= side->files[number].time)
        side->files[number] = file;
    return TDC_OK;
}

/* ---- the order of time ----------------------------------------------------------------------- */

struct place {
    uint64_t time;
    uint32_t number;
};

static int by_time(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static bool sort_files(struct tdc_arena *arena, struct tdc_offline_side *side)
{
    struct place *places = tdc_arena_zeroed(arena, side->count, sizeof *places);
    struct tdc_offline_file *sorted = tdc_arena_zeroed(arena, side->count, sizeof *sorted);
    side->places = tdc_arena_zeroed(arena, side->count, sizeof *side->places);
    if (places == NULL || sorted == NULL || side->places == NULL)
        return false;
    for (size_t i = 0; i < side->count; i++)
        places[i] = (struct place){side->files[i].time, (uint32_t)i};
    if (side->count > 1)
        qsort(places, side->count, sizeof *places, by_time);
    for (size_t i = 0; i < side->count; i++) {
        sorted[i] = side->files[places[i].number];
        side->places[places[i].number] = (uint32_t)i;
    }
    side->files = sorted;
    return true;
}

/* ---- a folder -------------------------------------------------------------------------------- */

static bool is_other_file(const struct tdc_folder_entry *entry, const char *real)
{
    return entry->folder || strcmp(entry->name, "mapping.csv") == 0 ||
           strcmp(entry->name, "convert_failed_file_list.txt") == 0 ||
           (!tdc_dump_name_may_be(real) && !tdc_ends_in(real, ".npy"));
}

static tdc_status check_kinds(const struct listing *listing)
{
    const char *folder = listing->side->folder;
    if (listing->dumps + listing->arrays == 0)
        return tdc_fail(listing->error, TDC_ERR_NOTHING, "No valid dump files in the path \"%s\".",
                        folder);
    if (listing->dumps != 0 && listing->arrays != 0)
        return tdc_fail(listing->error, TDC_ERR_FORMAT,
                        "Not all files in the path \"%s\" are of the same type.", folder);
    listing->side->arrays = listing->arrays != 0;
    return TDC_OK;
}

tdc_status tdc_offline_side_read(struct tdc_arena *arena, const char *folder,
                                 const struct tdc_options *options, struct tdc_offline_side *side,
                                 struct tdc_error *error)
{
    struct listing listing = {.arena = arena, .options = options, .side = side, .error = error};
    struct tdc_folder entries;
    struct tdc_long_names names = {0};
    *side = (struct tdc_offline_side){.folder = folder};
    tdc_names_init(&side->ops);
    tdc_status status = tdc_folder_read(arena, folder, &entries, error);
    if (status != TDC_OK)
        return status;
    if (!tdc_long_names_read(arena, folder, &names))
        status = out_of_memory(&listing);
    for (size_t i = 0; i < entries.count && status == TDC_OK; i++) {
        const char *real = tdc_long_name(&names, entries.entries[i].name);
        if (!is_other_file(&entries.entries[i], real))
            status = take_file(&listing, entries.entries[i].name, real);
    }
    tdc_long_names_free(&names);
    if (status == TDC_OK)
        status = check_kinds(&listing);
    if (status == TDC_OK && !sort_files(arena, side))
        status = out_of_memory(&listing);
    return status;
}

void tdc_offline_side_free(struct tdc_offline_side *side)
{
    tdc_names_free(&side->ops);
}

const struct tdc_offline_file *tdc_offline_find(const struct tdc_offline_side *side, const char *op,
                                                uint64_t output)
{
    char name[NAME_LIMIT];
    int length = side->arrays
                     ? snprintf(name, sizeof name, "%s.%llu", op, (unsigned long long)output)
                     : snprintf(name, sizeof name, "%s", op);
    if (length < 0 || (size_t)length >= sizeof name)
        return NULL;
    for (size_t i = 0; op[i] != '\0'; i++)
        if (op[i] == '/' || op[i] == '.')
            name[i] = '_';
    uint32_t number = tdc_names_find(&side->ops, name, (size_t)length);
    return number != TDC_NAME_NONE ? &side->files[side->places[number]] : NULL;
}
