/* file_map.h - opening regular files for reading, and whole files mapped read-only. */
#ifndef TDC_IO_FILE_MAP_H
#define TDC_IO_FILE_MAP_H

#include "tdcmp.h"

/* An open regular file. */
struct tdc_file {
    int descriptor;
    size_t size;
    bool linked; /* the path itself is a symbolic link, which was followed */
};

/* Symbolic links are followed; anything but a regular file is TDC_ERR_READ. Storage that does not
 * answer in time is TDC_ERR_NO_ANSWER. The caller closes the descriptor. */
tdc_status tdc_file_open(const char *path, struct tdc_file *file, struct tdc_error *error);
void tdc_file_close(int descriptor);
/* tdc_file_open of a file that may be there already (io/storage/ahead.h). *bytes is all of it, to
 * be freed, or NULL. */
tdc_status tdc_file_open_expected(const char *path, struct tdc_file *file, char **bytes,
                                  struct tdc_error *error);

/* The first half of tdc_file_open, of a name below an open folder (AT_FDCWD: of the path itself):
 * the size, and whether it is a regular file, are not known until the second half, which closes the
 * file if it fails. path is for messages. */
tdc_status tdc_file_begin(int folder, const char *name, const char *path, struct tdc_file *file,
                          struct tdc_error *error);
tdc_status tdc_file_inspect(struct tdc_file *file, const char *path, struct tdc_error *error);

/* All bytes of a file of at most `limit` bytes (whole MiB), with a zero behind them; to be freed. A
 * larger one is TDC_ERR_MEMORY, one that became shorter meanwhile TDC_ERR_CHANGED. */
tdc_status tdc_file_load(const char *path, size_t limit, char **bytes, size_t *size,
                         struct tdc_error *error);

struct tdc_file_map {
    const char *data; /* NULL for an empty file */
    size_t size;
};

/* Maps an open file; its descriptor may be closed afterwards. path is for messages. */
tdc_status tdc_file_map_make(const struct tdc_file *file, const char *path,
                             struct tdc_file_map *map, struct tdc_error *error);
/* Opens, maps and closes. */
tdc_status tdc_file_map_open(const char *path, struct tdc_file_map *map, struct tdc_error *error);
void tdc_file_map_close(struct tdc_file_map *map);
/* Gives up the pages of a range, which begins with one: the file still has them. */
void tdc_file_map_done(void *start, size_t size);

#endif
