#include "host/engine/matrix_product.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/pair.h"

/* One operand as a stack of matrices. */
struct stack {
    const struct tdc_tensor *tensor;
    unsigned batch;       /* axes before the matrix */
    uint64_t rows, inner; /* of one matrix; inner: of the left one */
};

static bool is_short_float(tdc_dtype dtype)
{
    return dtype == TDC_F16 || dtype == TDC_F32;
}

static bool fits_f32(tdc_dtype dtype)
{
    return is_short_float(dtype) || dtype == TDC_BOOL || dtype == TDC_I8 || dtype == TDC_U8 ||
           dtype == TDC_I16 || dtype == TDC_U16;
}

/* Whether numpy multiplies in float32 at most; otherwise it is float64 here, also for integers,
 * which are compared as numbers. */
static bool is_single(tdc_dtype n, tdc_dtype b)
{
    return (is_short_float(n) || is_short_float(b)) && fits_f32(n) && fits_f32(b);
}

/* All elements as float64, which holds those of up to 32 bits; NULL when out of memory. */
static double *as_doubles(const struct tdc_tensor *tensor)
{
    size_t size = tdc_dtype_size(tensor->dtype);
    double imaginary, *values = malloc((size_t)tensor->count * sizeof *values + 16);
    for (uint64_t i = 0; values != NULL && i < tensor->count; i++)
        values[i] = tdc_element_value(tensor->dtype, tensor->data + i * size, &imaginary);
    return values;
}

/* The number of a matrix of the operand for a place among those of the result. */
static uint64_t matrix_of(const struct stack *stack, const struct tdc_tensor *result,
                          unsigned batch, uint64_t place)
{
    uint64_t number = 0, step = 1;
    for (unsigned d = batch; d-- > 0;) {
        uint64_t at = place % result->shape[d];
        place /= result->shape[d];
        if (d + stack->batch < batch)
            continue; /* an axis the operand does not have */
        uint64_t length = stack->tensor->shape[d + stack->batch - batch];
        number += (length == 1 ? 0 : at) * step;
        step *= length;
    }
    return number;
}

/* One row of the result: each of its elements takes the inner axis in order. */
static void multiply_row(const double *row, const double *matrix, uint64_t inner, uint64_t columns,
                         bool single, double *result)
{
    memset(result, 0, (size_t)columns * sizeof *result);
    for (uint64_t k = 0; k < inner; k++)
        for (uint64_t j = 0; j < columns; j++) {
            double b = matrix[k * columns + j];
            result[j] = single ? (double)fmaf((float)row[k], (float)b, (float)result[j])
                               : result[j] + row[k] * b;
        }
}

static bool is_complex(tdc_dtype dtype)
{
    return dtype == TDC_C64 || dtype == TDC_C128;
}

/* The axes that both share, repeated where one has length 1. False when they do not fit. */
static bool join_batches(const struct stack *left, const struct stack *right,
                         struct tdc_tensor *result)
{
    unsigned batch = left->batch > right->batch ? left->batch : right->batch;
    for (unsigned d = 0; d < batch; d++) {
        uint64_t a = d + left->batch >= batch ? left->tensor->shape[d + left->batch - batch] : 1;
        uint64_t b = d + right->batch >= batch ? right->tensor->shape[d + right->batch - batch] : 1;
        if (a != b && a != 1 && b != 1)
            return false;
        result->shape[d] = a == 1 ? b : a;
    }
    result->dimensions = batch;
    return true;
}

bool tdc_matrix_product(const struct tdc_tensor *left, const struct tdc_tensor *right,
                        struct tdc_tensor *result, void **memory)
{
    if (left->dimensions == 0 || right->dimensions == 0 || is_complex(left->dtype) ||
        is_complex(right->dtype) || left->dimensions >= TDC_MAX_DIMENSIONS ||
        right->dimensions >= TDC_MAX_DIMENSIONS)
        return false;
    bool row = left->dimensions == 1, column = right->dimensions == 1;
    struct stack a = {left, row ? 0 : left->dimensions - 2,
                      row ? 1 : left->shape[left->dimensions - 2],
                      left->shape[left->dimensions - 1]};
    struct stack b = {right, column ? 0 : right->dimensions - 2,
                      right->shape[column ? 0 : right->dimensions - 2], 0};
    uint64_t columns = column ? 1 : right->shape[right->dimensions - 1];
    *result = *left;
    if (a.inner != b.rows || !join_batches(&a, &b, result))
        return false;
    unsigned batch = result->dimensions;
    uint64_t matrices = 1, elements;
    for (unsigned d = 0; d < batch; d++)
        matrices *= result->shape[d];
    if (!row)
        result->shape[result->dimensions++] = a.rows;
    if (!column)
        result->shape[result->dimensions++] = columns;
    bool halves = left->dtype == TDC_F16 && right->dtype == TDC_F16;
    bool single = is_single(left->dtype, right->dtype);
    result->dtype = TDC_F64;
    if (__builtin_mul_overflow(matrices, a.rows, &elements) ||
        __builtin_mul_overflow(elements, columns, &elements) || elements > SIZE_MAX / 32)
        return false;
    result->count = elements;
    double *x = as_doubles(left), *y = as_doubles(right);
    double *products = calloc((size_t)elements + 2, sizeof *products);
    bool ok = x != NULL && y != NULL && products != NULL;
    for (uint64_t m = 0; ok && m < matrices; m++) {
        const double *from = x + matrix_of(&a, result, batch, m) * a.rows * a.inner;
        const double *with = y + matrix_of(&b, result, batch, m) * b.rows * columns;
        for (uint64_t i = 0; i < a.rows; i++)
            multiply_row(from + i * a.inner, with, a.inner, columns, single,
                         products + (m * a.rows + i) * columns);
    }
    for (uint64_t i = 0; ok && halves && i < elements; i++)
        products[i] = (double)tdc_round_to_f16((float)products[i]);
    if (ok && single) {
        result->dtype = TDC_F32;
        for (uint64_t i = 0; i < elements; i++) { /* in place, from the first on */
            float narrow = (float)products[i];
            memcpy((char *)products + i * sizeof narrow, &narrow, sizeof narrow);
        }
    }
    free(x);
    free(y);
    if (!ok)
        free(products);
    *memory = ok ? products : NULL;
    return ok;
}
