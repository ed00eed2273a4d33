/* flat_map.h - a yaml file of lines `name: name`, with a note of which were used. */
#ifndef TDC_HOST_FLAT_MAP_H
#define TDC_HOST_FLAT_MAP_H

#include "host/match/match.h"
#include "io/text/yaml_map.h"

struct tdc_flat_map {
    const char *path;
    struct tdc_name_table names;
    const struct tdc_yaml **entries; /* by number of the name */
    bool *used;
};

/* What the file should look like goes into the message when it does not. An empty file is fine, and
 * so is no file (NULL): the map is empty then.
 * Memory comes from the arena, but for the table: free the map in any case. */
tdc_status tdc_flat_map_load(struct tdc_flat_map *map, const char *path, const char *form,
                             struct tdc_arena *arena, struct tdc_error *error);
/* The same from a text in memory. */
tdc_status tdc_flat_map_parse(struct tdc_flat_map *map, const char *text, const char *name,
                              const char *form, struct tdc_arena *arena, struct tdc_error *error);
void tdc_flat_map_free(struct tdc_flat_map *map);

/* The entry of a name, marked as used; NULL if there is none. */
const struct tdc_yaml *tdc_flat_map_use(struct tdc_flat_map *map, const char *name, size_t length);

/* Reports the entries nobody used: "no <what> is called '...'", and names that several entries lead
 * to; the first ten of each one by one. */
void tdc_flat_map_report(const struct tdc_flat_map *map, const char *what,
                         const struct tdc_options *options);

#endif
