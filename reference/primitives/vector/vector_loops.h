/*
 * vector_loops.h - SLEEF's vector functions over arrays, for the files that are compiled for one
 * instruction set each.
 *
 * Whole files and not functions with a target attribute: clang passes vectors wider than its file's
 * instructions allow in memory, where SLEEF does not look for them.
 */
#ifndef TDC_REFERENCE_VECTOR_LOOPS_H
#define TDC_REFERENCE_VECTOR_LOOPS_H

#include <string.h>

#include "reference/primitives/vector/vector_math.h"

/* Loops over whole vectors; the rest of n goes through a padded one, so that an element's value
 * does not depend on its place. */
#define TDC_ONE_OPERAND(function, code, width, load, store, call)                                  \
    code void function(double *y, const double *x, size_t n)                                       \
    {                                                                                              \
        size_t i = 0;                                                                              \
        for (; i + width <= n; i += width)                                                         \
            store(y + i, call(load(x + i)));                                                       \
        if (i < n) {                                                                               \
            double rest[width];                                                                    \
            for (size_t k = 0; k < width; k++)                                                     \
                rest[k] = k < n - i ? x[i + k] : 1;                                                \
            store(rest, call(load(rest)));                                                         \
            memcpy(y + i, rest, (n - i) * sizeof *y);                                              \
        }                                                                                          \
    }
#define TDC_TWO_OPERANDS(function, code, width, load, store, call)                                 \
    code void function(double *y, const double *a, const double *b, size_t n)                      \
    {                                                                                              \
        size_t i = 0;                                                                              \
        for (; i + width <= n; i += width)                                                         \
            store(y + i, call(load(a + i), load(b + i)));                                          \
        if (i < n) {                                                                               \
            double first[width], second[width];                                                    \
            for (size_t k = 0; k < width; k++) {                                                   \
                first[k] = k < n - i ? a[i + k] : 1;                                               \
                second[k] = k < n - i ? b[i + k] : 1;                                              \
            }                                                                                      \
            store(first, call(load(first), load(second)));                                         \
            memcpy(y + i, first, (n - i) * sizeof *y);                                             \
        }                                                                                          \
    }

#if defined(__x86_64__)
/* vector_avx2.c (AVX2 and FMA), vector_avx512.c (AVX-512F) */
#define X(name, bound)                                                                             \
    void tdc_v##name##_avx2(double *y, const double *x, size_t n);                                 \
    void tdc_v##name##_avx512(double *y, const double *x, size_t n);
TDC_VECTOR_UNARY(X)
#undef X
#define X(name, bound)                                                                             \
    void tdc_v##name##_avx2(double *y, const double *a, const double *b, size_t n);                \
    void tdc_v##name##_avx512(double *y, const double *a, const double *b, size_t n);
TDC_VECTOR_BINARY(X)
#undef X
#endif

#endif
