/*
 * atb_list.h - one execution round of a model in ATB, as its statistic.csv lists it.
 *
 * A line for each tensor: where it belongs, its type and shape, and either four statistics or the
 * file that holds it.
 */
#ifndef TDC_HOST_ATB_LIST_H
#define TDC_HOST_ATB_LIST_H

#include "host/dump/dump.h"
#include "io/base/arena.h"
#include "io/base/name_table.h"
#include "io/table/text_table.h"

/* A tensor. Texts are those of the file. */
struct tdc_atb_item {
    const char *name;      /* "1_Layer/0_Attention/input.0" */
    const char *device;    /* card and process */
    const char *execution; /* count */
    const char *dtype;
    const char *shape; /* "4,6" */
    const char *stats[TDC_STATISTICS];
    const char *place, *type; /* of its operator: "1_Layer/0_Attention", "LinearOperation" */
    const char *slot;         /* "input.0" */
    const char *file;         /* below the folder; NULL: none was written */
};

struct tdc_atb_list {
    const char *folder; /* the caller's */
    struct tdc_text_table table;
    struct tdc_arena arena;
    struct tdc_name_table names; /* numbers are positions of items */
    struct tdc_atb_item *items;  /* each name once, with what its last line says */
    size_t count;
    bool statistics; /* by the first line: there are no files */
    size_t unusable; /* lines that name no tensor */
    size_t repeated; /* lines whose name comes again */
    const char *first_repeated;
};

/* Whether the file is such a list, by its first line. */
bool tdc_is_atb_list(const char *path);

/* Reads folder/statistic.csv. TDC_ERR_FORMAT when it lists nothing. To be freed in any case. */
tdc_status tdc_atb_list_load(const char *folder, struct tdc_atb_list *list,
                             struct tdc_error *error);
void tdc_atb_list_free(struct tdc_atb_list *list);

#endif
