/*
 * vector_math.h - SLEEF's double-precision functions over arrays, by the widest vectors this CPU
 * has. y may be x. The error bound is the name's: u10 is 1.0 ULP, u15 1.5, u05 0.5.
 */
#ifndef TDC_REFERENCE_VECTOR_MATH_H
#define TDC_REFERENCE_VECTOR_MATH_H

#include <stddef.h>

/* clang-format off */
/* Functions whose every vector width gives the same bits. */
#define TDC_VECTOR_STEADY(X)                                                                       \
    X(exp, u10) X(expm1, u10) X(exp2, u10) X(log, u10) X(log1p, u10) X(log2, u10) X(log10, u10)    \
    X(asin, u10) X(acos, u10) X(atan, u10) X(sinh, u10) X(cosh, u10) X(tanh, u10) X(asinh, u10)    \
    X(acosh, u10) X(atanh, u10) X(erf, u10) X(erfc, u15) X(sinpi, u05) X(cospi, u05) X(lgamma, u10)
/* Functions whose last bit depends on the other elements of the vector: kept to one width. */
#define TDC_VECTOR_TURNING(X) X(sin, u10) X(cos, u10) X(tan, u10)
#define TDC_VECTOR_UNARY(X)   TDC_VECTOR_STEADY(X) TDC_VECTOR_TURNING(X)
#define TDC_VECTOR_BINARY(X)  X(pow, u10) X(atan2, u10) X(hypot, u05)
/* clang-format on */

#define X(name, bound) void tdc_v##name(double *y, const double *x, size_t n);
TDC_VECTOR_UNARY(X)
#undef X
#define X(name, bound) void tdc_v##name(double *y, const double *a, const double *b, size_t n);
TDC_VECTOR_BINARY(X)
#undef X

#endif
