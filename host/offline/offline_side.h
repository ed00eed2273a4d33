/*
 * offline_side.h - the dump files of one folder: those of GE, or arrays of a framework.
 *
 * TYPE.NAME.TASK.STREAM.TIME of GE, or NAME.OUTPUT.TIME.npy of the original model. An operator that
 * is there several times counts once, with its latest file.
 */
#ifndef TDC_HOST_OFFLINE_SIDE_H
#define TDC_HOST_OFFLINE_SIDE_H

#include "host/graph/files/dump_name.h"

struct tdc_offline_file {
    const char *op;   /* arrays: "NAME.OUTPUT" */
    const char *type; /* of GE's operator */
    const char *path;
    uint64_t time;
};

struct tdc_offline_side {
    const char *folder;
    bool arrays; /* else files of GE */
    struct tdc_offline_file *files;
    size_t count, room;
    struct tdc_name_table ops; /* numbers are positions of files, until they are sorted */
    uint32_t *places;          /* positions by number, in the order of time */
};

/* All memory but the table's is in the arena; to be freed in any case. Files whose names say
 * nothing are told. TDC_ERR_NOTHING without dump files, TDC_ERR_FORMAT when both kinds are there.
 */
tdc_status tdc_offline_side_read(struct tdc_arena *arena, const char *folder,
                                 const struct tdc_options *options, struct tdc_offline_side *side,
                                 struct tdc_error *error);
void tdc_offline_side_free(struct tdc_offline_side *side);

/* The file of an operator as the graph calls it (`/` and `.` are `_` in files), and of an output of
 * it for arrays; NULL: there is none. */
const struct tdc_offline_file *tdc_offline_find(const struct tdc_offline_side *side, const char *op,
                                                uint64_t output);

#endif
