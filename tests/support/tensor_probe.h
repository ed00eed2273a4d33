/*
 * tensor_probe.h - looking at every element a reader promised, for tests and fuzz targets.
 *
 * Under a sanitizer a promise that leaves the input is a report.
 */
#ifndef TDC_TESTS_TENSOR_PROBE_H
#define TDC_TESTS_TENSOR_PROBE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/tensor/tensor_layout.h"

#define PROBE_LIMIT 100000 /* elements looked at from the start; the last one always is */

static inline size_t probe_element_size(const struct tdc_tensor *tensor)
{
    return tensor->dtype == TDC_TEXT ? tensor->text_width : tdc_dtype_size(tensor->dtype);
}

/* The byte or bytes of the element at a position in C order. */
static inline const unsigned char *probe_element(const struct tdc_tensor *tensor, uint64_t position)
{
    uint64_t index[TDC_MAX_DIMENSIONS];
    for (unsigned i = tensor->dimensions; i-- > 0;) {
        index[i] = position % tensor->shape[i];
        position /= tensor->shape[i];
    }
    int64_t at = tdc_layout_at(tensor, index);
    if (tensor->coding == TDC_CODING_INT4 || tensor->coding == TDC_CODING_UINT1)
        return tensor->data + at / (tensor->coding == TDC_CODING_INT4 ? 2 : 8);
    return tensor->data + (uint64_t)at * probe_element_size(tensor);
}

static inline unsigned probe_sum_element(const struct tdc_tensor *tensor, uint64_t position)
{
    const unsigned char *element = probe_element(tensor, position);
    unsigned sum = 0;
    for (size_t i = 0; i < probe_element_size(tensor); i++)
        sum += element[i];
    return sum;
}

static inline unsigned probe_touch(const struct tdc_tensor *tensor)
{
    unsigned sum = 0;
    for (uint64_t i = 0; i < tensor->count && i < PROBE_LIMIT; i++)
        sum += probe_sum_element(tensor, i);
    if (tensor->count > 0)
        sum += probe_sum_element(tensor, tensor->count - 1);
    bool packed = tensor->coding == TDC_CODING_INT4 || tensor->coding == TDC_CODING_UINT1;
    if (tensor->dense && !packed && tensor->count <= PROBE_LIMIT)
        for (size_t i = 0; i < (size_t)tensor->count * probe_element_size(tensor); i++)
            sum -= tensor->data[i];
    return sum;
}

/* "float32 2,3 / 3,1 dense 000020c0...": dtype, shape, strides, traits, elements in C order. */
static inline void probe_describe(const struct tdc_tensor *tensor, char *text, size_t capacity)
{
    size_t used = (size_t)snprintf(text, capacity, "%s ", tdc_dtype_name(tensor->dtype));
    for (unsigned i = 0; i < tensor->dimensions && used < capacity; i++)
        used += (size_t)snprintf(text + used, capacity - used, "%s%llu", i == 0 ? "" : ",",
                                 (unsigned long long)tensor->shape[i]);
    for (unsigned i = 0; i < tensor->dimensions && used < capacity; i++)
        used += (size_t)snprintf(text + used, capacity - used, "%s%lld", i == 0 ? "/" : ",",
                                 (long long)tensor->strides[i]);
    if (used < capacity)
        used += (size_t)snprintf(text + used, capacity - used, "%s%s ",
                                 tensor->dense ? " dense" : "", tensor->swapped ? " swapped" : "");
    for (uint64_t k = 0; k < tensor->count; k++)
        for (size_t i = 0; i < probe_element_size(tensor) && used < capacity; i++)
            used +=
                (size_t)snprintf(text + used, capacity - used, "%02x", probe_element(tensor, k)[i]);
}

/* Parses a copy of exactly this size, so that one byte too far is seen, and touches it all. */
static inline tdc_status probe_parse_named(const void *bytes, size_t size,
                                           enum tdc_tensor_kind kind, const char *name,
                                           struct tdc_error *error)
{
    struct tdc_tensor tensor;
    unsigned char *copy = malloc(size != 0 ? size : 1);
    if (copy == NULL)
        return TDC_ERR_MEMORY;
    memcpy(copy, bytes, size);
    tdc_status status = tdc_tensor_parse(copy, size, kind, name, &tensor, error);
    volatile unsigned sink = status == TDC_OK ? probe_touch(&tensor) : 0;
    (void)sink;
    tdc_tensor_close(&tensor);
    free(copy);
    return status;
}

static inline tdc_status probe_parse(const void *bytes, size_t size, enum tdc_tensor_kind kind,
                                     struct tdc_error *error)
{
    return probe_parse_named(bytes, size, kind, "probe", error);
}

#endif
