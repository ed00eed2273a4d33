/* result.h - a result that was read: texts by row and field; between the files of this folder. */
#ifndef TDC_HOST_RESULT_H
#define TDC_HOST_RESULT_H

#include "io/base/arena.h"
#include "tdcmp.h"

struct tdc_result_row {
    const char *texts[TDC_RESULT_FIELDS]; /* NULL: none */
};

struct tdc_result {
    struct tdc_arena arena;
    struct tdc_result_row *rows;
    size_t count, capacity;
    const char *sides[2]; /* ref, test */
    const char *folder;
};

/* The field of a column of csv and xlsx, or of a member of a row in json with the objects around it
 * ("metrics.cosine"). TDC_RESULT_NONE: one that is not wanted. */
tdc_result_field tdc_result_field_of(const char *heading);

/* A new row without texts; NULL: out of memory. */
struct tdc_result_row *tdc_result_add(struct tdc_result *result);
/* Keeps a copy of a text in a row, if it is the first one of the field and not empty. False: out of
 * memory. */
bool tdc_result_set(struct tdc_result *result, struct tdc_result_row *row, tdc_result_field field,
                    const char *text, size_t length);

/* Readers of one format. The result is empty before. */
tdc_status tdc_result_read_csv(const char *path, struct tdc_result *result,
                               struct tdc_error *error);
tdc_status tdc_result_read_xlsx(const char *path, struct tdc_result *result,
                                struct tdc_error *error);
/* json, and jsonl, whose first line is the object without rows. */
tdc_status tdc_result_read_json(const char *path, struct tdc_result *result,
                                struct tdc_error *error);

#endif
