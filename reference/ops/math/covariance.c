/* Covariances, and other functions of several columns or pieces. */
#include <math.h>
#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/promote.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/matrix/factors.h"
#include "reference/primitives/matrix/product.h"
#include "reference/primitives/move.h"
#include "reference/primitives/reduce.h"

/* Rows are variables, columns observations, each with its weights. */
static tdc_array *covariance(tdc_evaluation *e, tdc_array *x, double correction)
{
    if (x->rank > 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "at most two dimensions expected");
    if (x->rank < 2)
        x = tdc_reshape(e, x, 2, (const int64_t[]){1, x->count});
    int64_t n = x->shape[1];
    tdc_array *times = tdc_given(e, "fweights") ? tdc_real_array_argument(e, "fweights") : NULL;
    tdc_array *shares = tdc_given(e, "aweights") ? tdc_real_array_argument(e, "aweights") : NULL;
    tdc_array *w = times == NULL ? shares : shares == NULL ? times : tdc_mul(e, times, shares);
    if (w != NULL && (w->rank != 1 || w->shape[0] != n))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "one weight for each observation expected");
    if (w == NULL) {
        w = tdc_new(e, TDC_F64, 1, &n);
        for (int64_t i = 0; i < n; i++)
            w->real[i] = 1;
    }
    tdc_array *total = tdc_sum_all(e, w),
              *mean = tdc_div(e, tdc_sum_rows(e, tdc_mul(e, x, w)), total);
    tdc_array *apart = tdc_sub(e, x, tdc_unsqueeze(e, mean, 1));
    tdc_array *norm = tdc_shift(e, total, -correction);
    if (shares != NULL && correction != 0) {
        tdc_array *more = tdc_div(e, tdc_sum_all(e, tdc_mul(e, w, shares)), total);
        norm = tdc_sub(e, total, tdc_scale(e, more, correction));
    }
    tdc_array *zero = tdc_relate(e, TDC_LT, norm, tdc_number(e, 0));
    norm = tdc_select(e, zero, tdc_number(e, 0), norm);
    tdc_array *y = tdc_matmul(e, tdc_mul(e, apart, w), tdc_turned(e, apart));
    return tdc_div(e, y, norm);
}

static tdc_array *as_given(tdc_evaluation *e, tdc_array *y, const tdc_array *x)
{
    return x->rank == 2 ? y : tdc_reshape(e, y, 0, NULL);
}

static void cov(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input");
    tdc_give(e, as_given(e, covariance(e, x, tdc_real_argument(e, "correction")), x));
}

/* Covariances over the roots of both variances, kept within [-1, 1]. */
static void corrcoef(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input"), *c = covariance(e, x, 1);
    int64_t n = c->shape[0];
    tdc_array *root = tdc_apply(e, TDC_SQRT, tdc_view(e, c, 1, &n, (const int64_t[]){n + 1}, 0));
    tdc_array *y = tdc_div(e, tdc_div(e, c, tdc_unsqueeze(e, root, 1)), tdc_unsqueeze(e, root, 0));
    tdc_give(e, as_given(e, tdc_apply_with(e, TDC_CLAMP, y, -1, 1, 0), x));
}

/* The norm over all dimensions but one, kept. */
static void norm_except(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input");
    bool reduced[TDC_REFERENCE_RANK];
    int64_t dim = tdc_int_argument(e, "dim");
    for (unsigned d = 0; d < TDC_REFERENCE_RANK; d++)
        reduced[d] = dim == -1 || (int64_t)d != dim;
    tdc_array *y = tdc_norm_rows(e, tdc_rows(e, x, reduced), tdc_real_argument(e, "pow"));
    tdc_give(e, tdc_reduced_shape(e, y, x, reduced, dim != -1));
}

/* log of the multivariate gamma function of order p */
static void mvlgamma(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input"), *y = NULL;
    int64_t p = tdc_int_argument(e, "p");
    if (p < 1 || p > 4096)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "p is out of range");
    for (int64_t j = 0; j < p; j++) {
        tdc_array *term = tdc_apply(e, TDC_LGAMMA, tdc_shift(e, x, -(double)j / 2));
        y = y == NULL ? term : tdc_add(e, y, term);
    }
    tdc_give(e, tdc_shift(e, y, (double)(p * (p - 1)) / 4 * 1.14472988584940017414));
}

/* x = mantissa * 2^exponent with 0.5 <= |mantissa| < 1 */
static void parts_of_two(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input");
    tdc_array *exponent = tdc_new_like(e, TDC_I32, x), *factor = tdc_new_like(e, TDC_F64, x);
    for (int64_t i = 0; i < x->count; i++) {
        int power = 0;
        if (isfinite(x->real[i]))
            frexp(x->real[i], &power);
        exponent->whole[i] = power;
        factor->real[i] = ldexp(1, -power);
    }
    tdc_give(e, tdc_mul(e, x, factor));
    tdc_give(e, exponent);
}

/* The diagonal overwritten by one number; of a tall matrix again and again when `wrap` is set. */
static void fill_diagonal(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input"),
              *mask = tdc_zeros(e, TDC_BOOL, x->rank, x->shape);
    bool wrap = tdc_bool_argument(e, "wrap");
    if (x->rank < 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "at least two dimensions expected");
    int64_t step = 0, stride = 1, least = x->shape[0];
    for (unsigned d = x->rank; d-- > 0; stride *= x->shape[d]) {
        step += stride;
        least = x->shape[d] < least ? x->shape[d] : least;
        if (x->rank > 2 && x->shape[d] != x->shape[0])
            tdc_refuse(e, TDC_ERR_ARGUMENT, "all dimensions must be equal");
    }
    int64_t end = wrap && x->rank == 2 ? x->count : least * step;
    for (int64_t i = 0, k = 0; i < end && i < x->count; i += step, k++)
        mask->whole[i] = 1;
    tdc_array *fill = tdc_convert(e, tdc_array_argument(e, "fill_value"), x->dtype);
    tdc_give(e, tdc_select(e, mask, fill, x));
}

#define METHODS TDC_IN_METHODS
static const struct tdc_operator rows[] = {
    {"cov", METHODS, "input, *, correction=1, fweights=None, aweights=None", cov, 0, 0},
    {"corrcoef", METHODS, "input, *, fweights=None, aweights=None", corrcoef, 0, 0},
    {"norm_except_dim", TDC_IN_TORCH, "input, pow=2, dim=0", norm_except, 0, 0},
    {"mvlgamma special.multigammaln", METHODS, "input, p", mvlgamma, 0, 0},
    {"frexp", METHODS, "input", parts_of_two, 0, 0},
    {"fill_diagonal_", TDC_IN_TENSOR, "input, fill_value, wrap=False", fill_diagonal, 0, 0},
};
const struct tdc_operator_family tdc_covariance_family = TDC_FAMILY("covariances", rows);
