/* dump_files.c - the dump.json files below one path. */
#include <stdlib.h>
#include <string.h>

#include "host/find/folders.h"
#include "host/find/places.h"
#include "host/api/options.h"
#include "io/base/error.h"

/* "graph/step0/rank0", of those folders that are on the way. */
static char *folders_to(const struct tdc_place *place)
{
    const char *const names[] = {place->family, place->step, place->rank};
    char *folders = strdup("");
    for (size_t i = 0; i < sizeof names / sizeof *names && folders != NULL; i++) {
        if (names[i][0] == '\0')
            continue;
        char *longer = folders[0] != '\0' ? tdc_path_join(folders, names[i]) : strdup(names[i]);
        free(folders);
        folders = longer;
    }
    return folders;
}

struct tdc_dump_files {
    struct tdc_dump_file *files; /* in the order of their steps and ranks */
    size_t count;
    size_t empty;
};

static tdc_status add_files(const struct tdc_places *places, struct tdc_dump_files *files,
                            struct tdc_error *error)
{
    files->files = calloc(places->count, sizeof *files->files);
    if (files->files == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < places->count; i++) {
        const struct tdc_place *place = &places->places[i];
        if (place->empty)
            continue;
        struct tdc_dump_file *file = &files->files[files->count++];
        file->path = place->file ? strdup(place->path) : tdc_path_join(place->path, "dump.json");
        file->folder = folders_to(place);
        if (file->path == NULL || file->folder == NULL)
            return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    }
    return TDC_OK;
}

static tdc_status find(const char *path, const struct tdc_options *options,
                       struct tdc_dump_files *files, struct tdc_error *error)
{
    struct tdc_search search = {.step = -1};
    struct tdc_places places = {0};
    tdc_status status = tdc_places_find(path, &search, &places, error);
    files->empty = tdc_places_name_empty(&places, &search, options);
    if (status == TDC_OK)
        status = add_files(&places, files, error);
    tdc_places_free(&places);
    return status;
}

tdc_status tdc_dump_files_find(const char *path, const struct tdc_options *options,
                               tdc_dump_files **files, struct tdc_error *error)
{
    *files = NULL;
    struct tdc_options whole;
    tdc_status status = tdc_options_read(options, &whole, error);
    if (status != TDC_OK)
        return status;
    struct tdc_dump_files *found = calloc(1, sizeof *found);
    if (found == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    status = find(path, &whole, found, error);
    if (status == TDC_OK)
        *files = found;
    else
        tdc_dump_files_free(found);
    return status;
}

void tdc_dump_files_free(tdc_dump_files *files)
{
    if (files == NULL)
        return;
    for (size_t i = 0; i < files->count; i++) {
        free(files->files[i].path);
        free(files->files[i].folder);
    }
    free(files->files);
    free(files);
}

size_t tdc_dump_files_count(const tdc_dump_files *files)
{
    return files != NULL ? files->count : 0;
}

const struct tdc_dump_file *tdc_dump_files_get(const tdc_dump_files *files, size_t index)
{
    return index < tdc_dump_files_count(files) ? &files->files[index] : NULL;
}

size_t tdc_dump_files_empty(const tdc_dump_files *files)
{
    return files != NULL ? files->empty : 0;
}
