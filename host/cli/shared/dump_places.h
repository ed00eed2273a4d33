/* dump_places.h - the dump.json files below a path. */
#ifndef TDC_CLI_DUMP_PLACES_H
#define TDC_CLI_DUMP_PLACES_H

#include <stdbool.h>
#include <stddef.h>

struct tdc_dump_place {
    char *path;   /* of dump.json */
    char *folder; /* below the given path: "step0/rank0"; "" for a file or a rank folder */
};

struct tdc_dump_places {
    struct tdc_dump_place *places;
    size_t count;
    size_t empty; /* rank and process folders without a dump.json */
};

/* A file, or the dump.json of a folder, of its rank or process folders or of those of its step
 * folders (also below graph and pynative), in numeric order. Rank and process folders without one
 * are complained of and counted. Complains and returns false when there is none. */
bool tdc_dump_places_find(const char *path, struct tdc_dump_places *places);
void tdc_dump_places_free(struct tdc_dump_places *places);

#endif
