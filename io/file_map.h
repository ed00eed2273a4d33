/* file_map.h - a whole file, mapped read-only. */
#ifndef TDC_IO_FILE_MAP_H
#define TDC_IO_FILE_MAP_H

#include "tdcmp.h"

struct tdc_file_map {
    const char *data; /* NULL for an empty file */
    size_t size;
    bool linked; /* the path itself is a symbolic link */
};

/* Regular files only; symbolic links are followed. */
tdc_status tdc_file_map_open(const char *path, struct tdc_file_map *map, struct tdc_error *error);
void tdc_file_map_close(struct tdc_file_map *map);

#endif
