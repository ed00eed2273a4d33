/* matrix_product.h - the product of two dense tensors in memory, as numpy.matmul has it. */
#ifndef TDC_HOST_MATRIX_PRODUCT_H
#define TDC_HOST_MATRIX_PRODUCT_H

#include "io/tensor/tensor_file.h"

/* A file as a dense tensor in memory, which the caller frees; bf16 and f8 as f32. */
tdc_status tdc_tensor_to_memory(const char *path, bool squeezed, struct tdc_tensor *tensor,
                                void **memory, struct tdc_error *error);

/*
 * left times right over their last axis and last but one; an operand of one axis is a row or a
 * column, further axes are repeated as needed. Floats of 32 bits and fewer are multiplied and added
 * in float32, in the order of the inner axis with one rounding a step, others in float64. Fills
 * type, shape and count of `result`; its elements are in *memory, which the caller frees. False
 * when the shapes do not fit, for complex numbers, and when memory is out.
 */
bool tdc_matrix_product(const struct tdc_tensor *left, const struct tdc_tensor *right,
                        struct tdc_tensor *result, void **memory);

#endif
