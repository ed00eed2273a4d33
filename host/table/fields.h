/* fields.h - fields of a table that were asked for as arrays. */
#ifndef TDC_HOST_FIELDS_H
#define TDC_HOST_FIELDS_H

#include "tdcmp.h"

/* What was made of one field; members that were not asked for are NULL. */
struct tdc_field_arrays {
    double *numbers;
    int64_t *integers;
    uint8_t *valid;
    char *bytes;
    uint64_t *offsets;
};

/* The arrays of all fields, NULL before the first. */
struct tdc_fields;
void tdc_fields_free(struct tdc_fields *fields);

#endif
