/*
 * vector_math.h - SLEEF's double-precision functions over arrays, by the widest vectors this CPU
 * has. y may be x. The error bound is the name's: u10 is 1.0 ULP, u15 1.5, u05 0.5.
 *
 * Of SLEEF's variants those are taken whose results are the same bits for every width, every
 * neighbour in the vector and every architecture with fused multiply-add; a CPU without it (x86-64
 * before 2013) gets the ones for such machines, which may differ in the last bit.
 */
#ifndef TDC_REFERENCE_VECTOR_MATH_H
#define TDC_REFERENCE_VECTOR_MATH_H

#include <stddef.h>

/* clang-format off */
#define TDC_VECTOR_UNARY(X)                                                                        \
    X(exp, u10) X(expm1, u10) X(exp2, u10) X(log, u10) X(log1p, u10) X(log2, u10) X(log10, u10)    \
    X(asin, u10) X(acos, u10) X(atan, u10) X(sinh, u10) X(cosh, u10) X(tanh, u10) X(asinh, u10)    \
    X(acosh, u10) X(atanh, u10) X(erf, u10) X(erfc, u15) X(sinpi, u05) X(cospi, u05)               \
    X(lgamma, u10) X(sin, u10) X(cos, u10) X(tan, u10)
#define TDC_VECTOR_BINARY(X) X(pow, u10) X(atan2, u10) X(hypot, u05)
/* clang-format on */

/* tdc_vexp over an array, tdc_exp of one number, and so on; the same bits. */
#define X(name, bound)                                                                             \
    void tdc_v##name(double *y, const double *x, size_t n);                                        \
    double tdc_##name(double x);
TDC_VECTOR_UNARY(X)
#undef X
#define X(name, bound) void tdc_v##name(double *y, const double *a, const double *b, size_t n);
TDC_VECTOR_BINARY(X)
#undef X

#endif
