/*
 * folder.h - what a folder holds, in the order of names.
 *
 * Names live in an arena of the caller. Symbolic links count as what they lead to; what can be
 * neither opened nor told is passed over.
 */
#ifndef TDC_HOST_GRAPH_FOLDER_H
#define TDC_HOST_GRAPH_FOLDER_H

#include "io/base/arena.h"
#include "tdcmp.h"

struct tdc_folder_entry {
    const char *name;
    bool folder;
    uint64_t size; /* of a file */
};

struct tdc_folder {
    struct tdc_folder_entry *entries;
    size_t count;
    size_t folders; /* how many of them are folders */
};

/* A folder that cannot be read is an error, as is one of more than a million names. */
tdc_status tdc_folder_read(struct tdc_arena *arena, const char *path, struct tdc_folder *folder,
                           struct tdc_error *error);

/* folder/name in the arena; NULL when out of memory. */
const char *tdc_folder_path(struct tdc_arena *arena, const char *folder, const char *name);

/* Whether a name is made of digits alone, and its number then; 0 for other names. */
bool tdc_all_digits(const char *text, size_t length);
uint64_t tdc_folder_number(const char *text, size_t length);

/* Folders below which nothing is looked for any more. */
#define TDC_FOLDER_DEPTH 16

#endif
