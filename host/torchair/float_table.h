/* float_table.h - elements of any type as float32, block by block. */
#ifndef TDC_HOST_FLOAT_TABLE_H
#define TDC_HOST_FLOAT_TABLE_H

#include "tdcmp.h"

/* What a thread keeps: for types of one or two bytes the number each pattern stands for. */
struct tdc_float_tables {
    float *of[64]; /* by tdc_dtype, made on first use */
};

/* The table of the type is made if it wants one. False when out of memory. */
bool tdc_float_tables_prepare(struct tdc_float_tables *tables, tdc_dtype dtype);
void tdc_float_tables_free(struct tdc_float_tables *tables);

/* Of a type that was prepared. Numbers round once, complex ones lose their imaginary part. Touches
 * the elements by plain reads of any alignment. */
void tdc_floats_of(const struct tdc_float_tables *tables, tdc_dtype dtype, const void *elements,
                   size_t count, float *floats);

#endif
