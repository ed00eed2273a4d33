#include "host/torchair/float_table.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/dtype.h"
#include "kernels/pair.h"

static bool wants_table(tdc_dtype dtype)
{
    return tdc_dtype_size(dtype) <= 2;
}

bool tdc_float_tables_prepare(struct tdc_float_tables *tables, tdc_dtype dtype)
{
    size_t size = tdc_dtype_size(dtype), count = size == 1 ? 256 : 65536;
    if (!wants_table(dtype) || tables->of[dtype] != NULL)
        return true;
    float *table = malloc(count * sizeof *table);
    tables->of[dtype] = table;
    if (table == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        uint8_t narrow = (uint8_t)i;
        uint16_t wide = (uint16_t)i;
        const void *element = size == 1 ? (const void *)&narrow : (const void *)&wide;
        table[i] = (float)tdc_element_value(dtype, element, &(double){0});
    }
    return true;
}

void tdc_float_tables_free(struct tdc_float_tables *tables)
{
    for (size_t i = 0; i < sizeof tables->of / sizeof *tables->of; i++)
        free(tables->of[i]);
    *tables = (struct tdc_float_tables){0};
}

/* 64-bit integers round once: by way of a double they would round twice. */
static void from_whole(tdc_dtype dtype, const unsigned char *bytes, size_t count, float *floats)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, bytes + 8 * i, sizeof bits);
        floats[i] = dtype == TDC_I64 ? (float)(int64_t)bits : (float)bits;
    }
}

static void from_double(const unsigned char *bytes, size_t count, float *floats)
{
    for (size_t i = 0; i < count; i++) {
        double value;
        memcpy(&value, bytes + sizeof value * i, sizeof value);
        floats[i] = (float)value;
    }
}

static void from_table(const float *table, size_t size, const unsigned char *bytes, size_t count,
                       float *floats)
{
    for (size_t i = 0; i < count; i++) {
        uint16_t wide = bytes[i];
        if (size == 2)
            memcpy(&wide, bytes + 2 * i, sizeof wide);
        floats[i] = table[wide];
    }
}

void tdc_floats_of(const struct tdc_float_tables *tables, tdc_dtype dtype, const void *elements,
                   size_t count, float *floats)
{
    size_t size = tdc_dtype_size(dtype);
    if (dtype == TDC_F32)
        memcpy(floats, elements, count * sizeof *floats);
    else if (dtype == TDC_F64)
        from_double(elements, count, floats);
    else if (dtype == TDC_I64 || dtype == TDC_U64)
        from_whole(dtype, elements, count, floats);
    else if (wants_table(dtype))
        from_table(tables->of[dtype], size, elements, count, floats);
    else
        for (size_t i = 0; i < count; i++)
            floats[i] =
                (float)tdc_element_value(dtype, (const char *)elements + i * size, &(double){0});
}
