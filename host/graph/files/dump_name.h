/*
 * dump_name.h - what the name of a GE dump file says.
 *
 * TYPE.NAME.TASK.STREAM.TIME, sometimes with more numbers at the end. A name that no file system
 * takes is stored under a number, which mapping.csv beside it translates.
 */
#ifndef TDC_HOST_GRAPH_DUMP_NAME_H
#define TDC_HOST_GRAPH_DUMP_NAME_H

#include "host/graph/files/folder.h"
#include "io/base/name_table.h"

struct tdc_dump_name {
    const char *type, *op; /* terminated, in the arena */
    uint64_t time;         /* 0: not told */
};

/* Whether a file of this name may be the dump of an operator, going by its ending. */
bool tdc_dump_name_may_be(const char *file);

/* False when the name has fewer than five parts (*memory is false) or memory is out. */
bool tdc_dump_name_read(struct tdc_arena *arena, const char *file, struct tdc_dump_name *name,
                        bool *memory);

/* Real names by the numbers they are stored under; empty without a mapping.csv. */
struct tdc_long_names {
    struct tdc_name_table numbers;
    const char **names; /* by number of the table */
};

/* Reads FOLDER/mapping.csv if there is one; lines without a comma are passed over. False when out
 * of memory. Texts live in the arena; the table is freed by tdc_long_names_free. */
bool tdc_long_names_read(struct tdc_arena *arena, const char *folder, struct tdc_long_names *names);
void tdc_long_names_free(struct tdc_long_names *names);
/* The real name of a file, or the name itself. */
const char *tdc_long_name(const struct tdc_long_names *names, const char *file);

#endif
