/*
 * tensor_layout.h - the arithmetic of shapes and strides, with nothing taken on trust.
 *
 * These work on a tensor whose dimensions, shape (and strides) are filled in; all products are
 * checked. They touch no element.
 */
#ifndef TDC_IO_TENSOR_LAYOUT_H
#define TDC_IO_TENSOR_LAYOUT_H

#include "io/tensor/tensor_file.h"

/* Bytes of one element, texts included. */
size_t tdc_layout_element_size(const struct tdc_tensor *tensor);

/*
 * Sets count. False if the product of the sizes passes INT64_MAX, where a size of 0 counts as 1, so
 * that no later product of sizes can overflow either.
 */
bool tdc_layout_count(struct tdc_tensor *tensor);

/* Sets strides of elements without gaps; Fortran order has the first dimension fastest. Needs a
 * successful tdc_layout_count. */
void tdc_layout_contiguous(struct tdc_tensor *tensor, bool fortran_order);

/* Sets dense: dimensions of size 1 may have any stride, and with one element or none all layouts
 * are the same. */
void tdc_layout_dense(struct tdc_tensor *tensor);

/* The place of an element, in elements from data on. */
int64_t tdc_layout_at(const struct tdc_tensor *tensor, const uint64_t *index);

/*
 * The number of elements from data on that a storage must hold, 0 for an empty tensor. False if a
 * stride is negative or the number does not fit.
 */
bool tdc_layout_extent(const struct tdc_tensor *tensor, uint64_t *extent);

/* The same for one dtype whichever byte order this machine has: single bytes are never swapped. */
bool tdc_layout_swapped(const struct tdc_tensor *tensor, bool stored_big_endian);

#endif
