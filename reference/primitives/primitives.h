/*
 * primitives.h - what the operators are written with. Each function computes a new array and notes
 * its derivative. Arguments are float64 unless said otherwise; elementwise functions broadcast.
 */
#ifndef TDC_REFERENCE_PRIMITIVES_H
#define TDC_REFERENCE_PRIMITIVES_H

#include "reference/evaluation.h"

#define TDC_PARALLEL_FROM 32768 /* elements; below, starting threads costs more than the work */

/* ---- elementwise, one operand (unary.c; the table is in unary_functions.c) ---------------- */

enum tdc_unary {
    TDC_SCALE, /* p0 * x */
    TDC_SHIFT, /* x + p0 */
    TDC_ABS,
    TDC_SIN,
    TDC_COS,
    TDC_TAN,
    TDC_ASIN,
    TDC_ACOS,
    TDC_ATAN,
    TDC_SINH,
    TDC_COSH,
    TDC_TANH,
    TDC_ASINH,
    TDC_ACOSH,
    TDC_ATANH,
    TDC_EXP,
    TDC_EXPM1,
    TDC_EXP2,
    TDC_LOG,
    TDC_LOG1P,
    TDC_LOG2,
    TDC_LOG10,
    TDC_SQRT,
    TDC_RSQRT,
    TDC_RECIPROCAL,
    TDC_SQUARE,
    TDC_ERF,
    TDC_ERFC,
    TDC_ERFINV,
    TDC_SINC,
    TDC_SIGMOID,
    TDC_RELU,
    TDC_CEIL,
    TDC_FLOOR,
    TDC_ROUND,
    TDC_TRUNC,
    TDC_SIGN,
    TDC_FRAC,
    TDC_GELU,
    TDC_GELU_TANH,
    TDC_FAST_GELU,
    TDC_SILU,
    TDC_LEAKY_RELU, /* p0 slope */
    TDC_SOFTPLUS,   /* p0 beta, p1 threshold */
    TDC_ELU,        /* p0 alpha, p1 scale, p2 factor inside the exponential */
    TDC_MISH,
    TDC_HARDSHRINK,
    TDC_SOFTSHRINK, /* p0 lambda */
    TDC_HARDSIGMOID,
    TDC_HARDSWISH,
    TDC_LOGSIGMOID,
    TDC_SOFTSIGN,
    TDC_TANHSHRINK,
    TDC_HARDTANH,  /* p0 lowest, p1 highest; no gradient at the bounds */
    TDC_CLAMP,     /* p0 lowest, p1 highest; gradient at the bounds */
    TDC_THRESHOLD, /* p0 threshold, p1 value */
    TDC_POWER,     /* x to the p0 */
    TDC_LOGIT,
    TDC_LGAMMA,
    TDC_DIGAMMA,
    TDC_I0,
    TDC_NAN_TO_NUM, /* p0 nan, p1 +inf, p2 -inf */
    TDC_UNARY_COUNT
};
#define TDC_BLOCK 512 /* elements handled at once by elementwise functions */
struct tdc_unary_function {
    void (*apply)(double *y, const double *x, size_t n, const double *p);
    /* dy/dx; NULL: zero everywhere */
    void (*slope)(double *d, const double *x, const double *y, size_t n, const double *p);
};
extern const struct tdc_unary_function tdc_unary_functions[TDC_UNARY_COUNT];

array *tdc_apply(evaluation *e, enum tdc_unary function, array *x);
array *tdc_apply_with(evaluation *e, enum tdc_unary function, array *x, double p0, double p1,
                      double p2);
array *tdc_scale(evaluation *e, array *x, double factor);
array *tdc_shift(evaluation *e, array *x, double term);
/* The value without its history: no gradient passes. */
array *tdc_constant(evaluation *e, array *x);
/* Any dtype to float64; floating arrays are returned as they are. */
array *tdc_to_real(evaluation *e, array *x);

/* ---- elementwise, two operands (binary.c) -------------------------------------------------- */

enum tdc_binary {
    TDC_ADD,
    TDC_SUB,
    TDC_MUL,
    TDC_DIV,
    TDC_MAXIMUM,
    TDC_MINIMUM,
    TDC_ATAN2,
    TDC_POW,
    TDC_LOGADDEXP,
    TDC_XLOGY,
    TDC_REMAINDER,
    TDC_FMOD,
    TDC_FLOOR_DIV,
    TDC_TRUNC_DIV,
    TDC_HYPOT,
    TDC_COPYSIGN,
    TDC_PRELU, /* x > 0 ? x : w * x */
    TDC_BINARY_COUNT,
    /* integers only */
    TDC_AND = TDC_BINARY_COUNT,
    TDC_OR,
    TDC_XOR,
    TDC_SHIFT_LEFT,
    TDC_SHIFT_RIGHT
};
array *tdc_combine(evaluation *e, enum tdc_binary function, array *a, array *b);
array *tdc_add(evaluation *e, array *a, array *b);
array *tdc_sub(evaluation *e, array *a, array *b);
array *tdc_mul(evaluation *e, array *a, array *b);
array *tdc_div(evaluation *e, array *a, array *b);
/* condition (bool, integer) ? a : b */
array *tdc_select(evaluation *e, array *condition, array *a, array *b);
/* Promotes by the frameworks' rules and computes exactly on integers. */
array *tdc_combine_any(evaluation *e, enum tdc_binary function, array *a, array *b);
array *tdc_combine_whole(evaluation *e, enum tdc_binary function, array *a, array *b,
                         tdc_dtype dtype);
tdc_dtype tdc_promoted(const array *a, const array *b);
int64_t tdc_wrap(int64_t v, tdc_dtype dtype);
/* Converts by value, with gradient between floating dtypes (rounded back to x's). */
array *tdc_convert(evaluation *e, array *x, tdc_dtype dtype);

enum tdc_comparison {
    TDC_EQ,
    TDC_NE,
    TDC_LT,
    TDC_LE,
    TDC_GT,
    TDC_GE
};
array *tdc_relate(evaluation *e, enum tdc_comparison how, array *a, array *b);
/* x != 0, as bool; NaN is true. */
array *tdc_truth(evaluation *e, array *x);

/* ---- moving elements (move.c, gather.c); any dtype
 * --------------------------------------------------- */

bool tdc_same_shape(const array *a, const array *b);
array *tdc_reshape(evaluation *e, array *x, unsigned rank, const int64_t *shape);
/* Element (i, j, ...) of the result is x[offset + i * strides[0] + j * strides[1] + ...]; the
 * caller vouches for the range, and that no element is shown twice. Strides may be negative. */
array *tdc_view(evaluation *e, array *x, unsigned rank, const int64_t *shape,
                const int64_t *strides, int64_t offset);
void tdc_strides(const array *x, int64_t strides[TDC_REFERENCE_RANK]);
array *tdc_permute(evaluation *e, array *x, const unsigned *order);
array *tdc_swap(evaluation *e, array *x, unsigned a, unsigned b);
array *tdc_expand(evaluation *e, array *x, unsigned rank, const int64_t *shape);
/* length elements of one dimension from start on, every step-th. */
array *tdc_slice(evaluation *e, array *x, unsigned dim, int64_t start, int64_t length,
                 int64_t step);
array *tdc_flip(evaluation *e, array *x, unsigned dim);
array *tdc_unsqueeze(evaluation *e, array *x, unsigned dim);
array *tdc_squeeze(evaluation *e, array *x, unsigned dim);
/* result[i] = x[map[i]], or fill where map[i] < 0. The map must outlive the evaluation. */
array *tdc_mapped(evaluation *e, array *x, const int64_t *map, unsigned rank, const int64_t *shape,
                  double fill);
/* result = 0; result[map[i]] += x[i] where map[i] >= 0. */
array *tdc_scatter_add(evaluation *e, array *x, const int64_t *map, unsigned rank,
                       const int64_t *shape);
/* x with x[map[i]] = src[i]; of several writes to a place the last wins. */
array *tdc_overwritten(evaluation *e, array *x, array *src, const int64_t *map);
enum tdc_join {
    TDC_JOIN_SUM,
    TDC_JOIN_PRODUCT,
    TDC_JOIN_MEAN,
    TDC_JOIN_LARGEST,
    TDC_JOIN_SMALLEST
};
/* x with what src brings to its places joined to it (scatter_reduce.c); without `self`, what was
 * there is replaced by the first. map has no negative entries; both float64. */
array *tdc_scatter_joined(evaluation *e, enum tdc_join how, array *x, array *src,
                          const int64_t *map, bool self);
array *tdc_concatenate(evaluation *e, array *const *pieces, size_t count, unsigned dim);
void tdc_broadcast_shape(evaluation *e, const array *a, const array *b, unsigned *rank,
                         int64_t shape[TDC_REFERENCE_RANK]);

/* ---- along dimensions (reduce.c, scan.c, sort.c) -------------------------------------------- */

/* x with the reduced dimensions last and merged into one: shape [kept ..., inner]. */
array *tdc_rows(evaluation *e, array *x, const bool *reduced);
/* A result with one element per row, given the shape that reducing x leaves. */
array *tdc_reduced_shape(evaluation *e, array *y, const array *x, const bool *reduced,
                         bool keepdim);
/* Sums of the last dimension: shape without it. Pairwise; integers exactly. */
array *tdc_sum_rows(evaluation *e, array *x);
/* Sums of one stretch of neighbouring dimensions that are not the last (column_sums.c). */
bool tdc_is_column_sum(const array *x, const bool *reduced);
array *tdc_column_sums(evaluation *e, array *x, const bool *reduced);
array *tdc_product_rows(evaluation *e, array *x);
array *tdc_sum(evaluation *e, array *x, const bool *reduced, bool keepdim);
array *tdc_mean(evaluation *e, array *x, const bool *reduced, bool keepdim);
array *tdc_sum_all(evaluation *e, array *x);
array *tdc_sum_dim(evaluation *e, array *x, unsigned dim, bool keepdim);
array *tdc_mean_dim(evaluation *e, array *x, unsigned dim, bool keepdim);
/* Index of the extreme of each row (int64 array, shape without the last dim); the first of equals,
 * NaN wins. */
array *tdc_extreme_index(evaluation *e, array *rows, bool largest);
/* rows[..., index]: index has one element per row, or `width` per row when its rank is equal. */
array *tdc_pick(evaluation *e, array *rows, array *index);
/* Extremes of rows with the gradient shared among equals. */
array *tdc_extreme_shared(evaluation *e, array *rows, bool largest);
/* p-norms of the last dimension, p also infinite or 0 (norm.c). */
array *tdc_norm_rows(evaluation *e, array *rows, double p);
double tdc_pairwise_sum(const double *x, int64_t n, int64_t stride);
double tdc_pairwise_dot(const double *x, const double *y, int64_t n);
/* y = exp(x - max), y may be x; gives their sum. *top is the maximum, NaN when there is one. */
double tdc_exponentials(const evaluation *e, double *y, const double *x, int64_t n, double *top);

array *tdc_cumulative_sum(evaluation *e, array *rows);
array *tdc_cumulative_product(evaluation *e, array *rows);
array *tdc_softmax_rows(evaluation *e, array *rows);
array *tdc_log_softmax_rows(evaluation *e, array *rows);
/* Stable order of each row: int64 indices of the same shape; NaN last ascending, first
 * descending. */
array *tdc_order_rows(evaluation *e, array *rows, bool descending);

/* Compares two elements as numbers: NaN above everything. */
int tdc_compare_reals(double a, double b);

/* ---- products (product.c) ------------------------------------------------------------------- */

/* [batch, m, k] x [batch, k, n]; a transposed operand has its last two dimensions swapped. Two
 * integer operands give integers, exact and wrapping. */
array *tdc_batch_product(evaluation *e, array *a, array *b, bool transpose_a, bool transpose_b);
/* The frameworks' matmul on any ranks. */
array *tdc_matmul(evaluation *e, array *a, array *b);
array *tdc_inverse(evaluation *e, array *x);
/* x W^T + b */
array *tdc_linear(evaluation *e, array *x, array *weight, array *bias);

/* ---- helpers of several families ------------------------------------------------------------ */

/* Puts dimension dim last and back. */
array *tdc_dim_last(evaluation *e, array *x, unsigned dim);
array *tdc_dim_back(evaluation *e, array *x, unsigned dim);

static inline double tdc_element(const array *a, int64_t i)
{
    return tdc_dtype_is_floating(a->dtype) ? a->real[i] : (double)a->whole[i];
}

#endif
