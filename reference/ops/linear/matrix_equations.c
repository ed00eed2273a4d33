/* Equations of matrices, and functions of their singular values. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "reference/ops/linear/matrix_arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/binary.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/matrix/factors.h"
#include "reference/primitives/matrix/product.h"
#include "reference/primitives/move.h"
#include "reference/primitives/reduce.h"

/* b is one vector for each matrix of a. */
static bool is_vector(const tdc_array *a, const tdc_array *b)
{
    return b->rank == 1 ||
           (b->rank + 1 == a->rank && memcmp(a->shape, b->shape, b->rank * sizeof *b->shape) == 0);
}

static void give_no_errors(tdc_evaluation *e, const tdc_array *a)
{
    tdc_give(e, tdc_zeros(e, TDC_I32, a->rank - 2, a->shape));
}

/* A X = B, or X A = B */
static void solve(tdc_evaluation *e)
{
    tdc_array *a = tdc_square_argument(e, "input"), *b = tdc_real_array_argument(e, "other");
    bool left = tdc_bool_argument(e, "left"), vector = is_vector(a, b);
    if (vector)
        b = tdc_unsqueeze(e, b, left ? b->rank : b->rank - 1);
    tdc_array *inverse = tdc_inverse(e, a);
    tdc_array *x = left ? tdc_matmul(e, inverse, b) : tdc_matmul(e, b, inverse);
    if (vector)
        x = tdc_squeeze(e, x, left ? x->rank - 1 : x->rank - 2);
    tdc_give(e, x);
    if (e->definition->variant != 0)
        give_no_errors(e, a);
}

static void inverse_checked(tdc_evaluation *e)
{
    tdc_array *x = tdc_square_argument(e, "input");
    tdc_give(e, tdc_inverse(e, x));
    give_no_errors(e, x);
}

/* A's first dimensions are those of B, the others those of X. */
static void tensor_solve(tdc_evaluation *e)
{
    tdc_array *a = tdc_real_array_argument(e, "input"), *b = tdc_real_array_argument(e, "other");
    if (tdc_given(e, "dims") || a->rank < b->rank || a->count != b->count * b->count)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "other dimensions of a tensor equation");
    int64_t n = b->count;
    tdc_array *x = tdc_matmul(e, tdc_inverse(e, tdc_reshape(e, a, 2, (const int64_t[]){n, n})),
                              tdc_reshape(e, b, 1, &n));
    tdc_give(e, tdc_reshape(e, x, a->rank - b->rank, a->shape + b->rank));
}

/* The triangle of a that counts, with ones on its diagonal when so told. */
static tdc_array *triangle_of(tdc_evaluation *e, tdc_array *a, bool upper, bool unit)
{
    if (!unit)
        return upper ? tdc_above(e, a, 0) : tdc_below(e, a, 0);
    tdc_array *rest = upper ? tdc_above(e, a, 1) : tdc_below(e, a, -1);
    return tdc_add(e, rest, tdc_unit_matrix(e, a->shape[a->rank - 1]));
}

static void solve_triangular(tdc_evaluation *e)
{
    tdc_array *a = tdc_square_argument(e, "input"), *b = tdc_real_array_argument(e, "other");
    tdc_array *t =
        triangle_of(e, a, tdc_bool_argument(e, "upper"), tdc_bool_argument(e, "unitriangular"));
    bool turned = e->definition->variant != 0 && tdc_bool_argument(e, "transpose");
    tdc_array *inverse = tdc_inverse(e, turned ? tdc_turned(e, t) : t);
    bool left = e->definition->variant != 0 || tdc_bool_argument(e, "left");
    tdc_give(e, left ? tdc_matmul(e, inverse, b) : tdc_matmul(e, b, inverse));
    if (e->definition->variant != 0)
        tdc_give(e, a);
}

/* (L L^T)^-1, or U^T U; variant 1: times B. Only a triangle is read, but the frameworks' gradient
 * is that of the whole matrix. */
static void from_root(tdc_evaluation *e)
{
    tdc_array *whole = tdc_square_argument(e, "factor"), *fixed = tdc_constant(e, whole);
    bool upper = tdc_bool_argument(e, "upper");
    tdc_array *l = upper ? tdc_above(e, fixed, 0) : tdc_below(e, fixed, 0);
    l = tdc_add(e, l, tdc_sub(e, whole, fixed));
    l = upper ? tdc_turned(e, l) : l;
    tdc_array *half = tdc_inverse(e, l), *turned = tdc_turned(e, half);
    if (e->definition->variant == 0)
        tdc_give(e, tdc_matmul(e, turned, half));
    else
        tdc_give(e,
                 tdc_matmul(e, turned, tdc_matmul(e, half, tdc_real_array_argument(e, "input"))));
}

static void lu_solve(tdc_evaluation *e)
{
    bool linalg = e->definition->variant != 0;
    tdc_array *packed = tdc_square_argument(e, linalg ? "LU" : "LU_data");
    tdc_array *pivots = tdc_array_argument(e, linalg ? "pivots" : "LU_pivots");
    tdc_array *b = tdc_real_array_argument(e, linalg ? "B" : "input");
    if (tdc_dtype_is_floating(pivots->dtype) || pivots->rank + 1 != packed->rank)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "pivots must be integers");
    if (linalg && (!tdc_bool_argument(e, "left") || tdc_bool_argument(e, "adjoint")))
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "factors from the right, or adjoint");
    tdc_array *l = triangle_of(e, packed, false, true), *u = tdc_above(e, packed, 0);
    tdc_array *p = tdc_permutation(e, pivots, packed->shape[packed->rank - 1]);
    tdc_array *x = tdc_matmul(e, tdc_inverse(e, l), tdc_matmul(e, tdc_turned(e, p), b));
    tdc_give(e, tdc_matmul(e, tdc_inverse(e, u), x));
}

/* ---- by singular values ---------------------------------------------------------------------- */

static double roundoff_of(const tdc_array *x)
{
    return x->recorded == TDC_F32    ? (double)FLT_EPSILON
           : x->recorded == TDC_F16  ? 0x1p-10
           : x->recorded == TDC_BF16 ? 0x1p-7
                                     : DBL_EPSILON;
}

/* Below it a singular value counts as zero: max(atol, rtol * the largest). `own` is the dtype's. */
static double cutoff(tdc_evaluation *e, const tdc_array *x, double largest)
{
    int64_t m = x->shape[x->rank - 2], n = x->shape[x->rank - 1];
    double absolute = tdc_given(e, "atol") ? tdc_real_argument(e, "atol") : 0;
    double relative = absolute > 0 ? 0 : (double)(m > n ? m : n) * roundoff_of(x);
    if (tdc_given(e, "rtol"))
        relative = tdc_real_argument(e, "rtol");
    if (tdc_given(e, "tol"))
        return tdc_real_argument(e, "tol");
    return fmax(absolute, relative * largest);
}

/* How many singular values of each matrix count. */
static tdc_array *ranks(tdc_evaluation *e, tdc_array *x, tdc_array *s)
{
    int64_t k = s->shape[s->rank - 1];
    tdc_array *y = tdc_zeros(e, TDC_I64, s->rank - 1, s->shape);
    for (int64_t i = 0; k > 0 && i < y->count; i++) {
        double limit = cutoff(e, x, s->real[i * k]);
        for (int64_t j = 0; j < k; j++)
            y->whole[i] += s->real[i * k + j] > limit;
    }
    return y;
}

static void matrix_rank(tdc_evaluation *e)
{
    tdc_array *x = tdc_matrix_argument(e, "input");
    tdc_give(e, ranks(e, x, tdc_svd(e, x, false, NULL, NULL).s));
}

/* Of full rank by orthogonal factors, which have a derivative also when singular values are equal;
 * else from the singular values that count. */
static tdc_array *pseudo_inverse(tdc_evaluation *e, tdc_array *x)
{
    struct tdc_singular f = tdc_svd(e, x, false, NULL, NULL);
    int64_t m = x->shape[x->rank - 2], n = x->shape[x->rank - 1], k = m < n ? m : n;
    tdc_array *count = ranks(e, x, tdc_constant(e, f.s));
    bool whole = true;
    for (int64_t i = 0; i < count->count; i++)
        whole &= count->whole[i] == k;
    if (whole) {
        struct tdc_orthogonal o = tdc_qr(e, m < n ? tdc_turned(e, x) : x, false, NULL);
        tdc_array *y = tdc_matmul(e, tdc_inverse(e, o.r), tdc_turned(e, o.q));
        return m < n ? tdc_turned(e, y) : y;
    }
    if (e->recording)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "the gradient at a matrix without full rank");
    tdc_array *factors = tdc_new_like(e, TDC_F64, f.s);
    for (int64_t i = 0; i < factors->count; i++)
        factors->real[i] = i % k < count->whole[i / k] ? 1 / f.s->real[i] : 0;
    return tdc_matmul(e, tdc_columns_times(e, f.v, factors), tdc_turned(e, f.u));
}

static void pinv(tdc_evaluation *e)
{
    tdc_give(e, pseudo_inverse(e, tdc_matrix_argument(e, "input")));
}

/* The solution; residuals, rank and singular values depend on the driver. */
static void lstsq(tdc_evaluation *e)
{
    tdc_array *a = tdc_matrix_argument(e, "input"), *b = tdc_real_array_argument(e, "other");
    bool vector = is_vector(a, b);
    b = vector ? tdc_unsqueeze(e, b, b->rank) : b;
    tdc_array *x = tdc_matmul(e, pseudo_inverse(e, a), b);
    tdc_give(e, vector ? tdc_squeeze(e, x, x->rank - 1) : x);
}

enum order {
    FROBENIUS,
    NUCLEAR,
    BY_NUMBER
};

static enum order order_argument(tdc_evaluation *e, double *p)
{
    const tdc_call_value *v = tdc_argument(e, "p");
    *p = 2;
    if (v->kind == TDC_VALUE_TEXT) {
        if (strcmp(v->text, "fro") == 0)
            return FROBENIUS;
        if (strcmp(v->text, "nuc") == 0)
            return NUCLEAR;
        if (strcmp(v->text, "inf") == 0 || strcmp(v->text, "-inf") == 0) {
            *p = v->text[0] == '-' ? -(double)INFINITY : (double)INFINITY;
            return BY_NUMBER;
        }
        tdc_refuse(e, TDC_ERR_ARGUMENT, "norm '%.20s'", v->text);
    }
    if (v->kind != TDC_VALUE_NULL)
        *p = tdc_real_argument(e, "p");
    return BY_NUMBER;
}

/* The norm of the matrices in the last two dimensions. */
static tdc_array *matrix_norm_of(tdc_evaluation *e, tdc_array *x, enum order order, double p)
{
    unsigned rank = x->rank;
    if (order == FROBENIUS) {
        bool reduced[TDC_REFERENCE_RANK] = {false};
        reduced[rank - 1] = reduced[rank - 2] = true;
        tdc_array *y = tdc_norm_rows(e, tdc_rows(e, x, reduced), 2);
        return tdc_reduced_shape(e, y, x, reduced, false);
    }
    if (order == NUCLEAR || fabs(p) == 2) {
        tdc_array *s = tdc_svd(e, x, false, NULL, NULL).s;
        if (order == NUCLEAR)
            return tdc_sum_rows(e, s);
        int64_t k = s->shape[s->rank - 1];
        if (k == 0)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "an empty matrix");
        return tdc_squeeze(e, tdc_slice(e, s, s->rank - 1, p > 0 ? 0 : k - 1, 1, 1), s->rank - 1);
    }
    if (!isinf(p) && fabs(p) != 1)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a matrix has no such norm");
    tdc_array *sums =
        tdc_sum_dim(e, tdc_apply(e, TDC_ABS, x), isinf(p) ? rank - 1 : rank - 2, false);
    return tdc_extreme_shared(e, sums, p > 0);
}

/* The two dimensions put last. */
static tdc_array *matrices_last(tdc_evaluation *e, tdc_array *x, unsigned dims[2])
{
    int64_t list[TDC_REFERENCE_RANK] = {-2, -1};
    unsigned order[TDC_REFERENCE_RANK], n = 0;
    if (tdc_given(e, "dim") && tdc_ints_argument(e, "dim", list, TDC_REFERENCE_RANK) != 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "two dimensions expected");
    dims[0] = tdc_dimension(e, list[0], x->rank);
    dims[1] = tdc_dimension(e, list[1], x->rank);
    if (dims[0] == dims[1])
        tdc_refuse(e, TDC_ERR_ARGUMENT, "dimension %u appears twice", dims[0]);
    for (unsigned d = 0; d < x->rank; d++)
        if (d != dims[0] && d != dims[1])
            order[n++] = d;
    order[n] = dims[0];
    order[n + 1] = dims[1];
    return tdc_permute(e, x, order);
}

/* variant 1: nuclear_norm */
static void matrix_norm(tdc_evaluation *e)
{
    tdc_array *x = tdc_matrix_argument(e, "input");
    double p = 2;
    enum order order = e->definition->variant == 1 ? NUCLEAR : order_argument(e, &p);
    unsigned dims[2];
    tdc_array *y = matrix_norm_of(e, matrices_last(e, x, dims), order, p);
    if (tdc_bool_argument(e, "keepdim")) {
        y = tdc_unsqueeze(e, y, dims[0] < dims[1] ? dims[0] : dims[1]);
        y = tdc_unsqueeze(e, y, dims[0] < dims[1] ? dims[1] : dims[0]);
    }
    tdc_give(e, y);
}

/* By singular values for 2, else the norm times that of the inverse. */
static void cond(tdc_evaluation *e)
{
    tdc_array *x = tdc_matrix_argument(e, "input");
    double p;
    enum order order = order_argument(e, &p);
    if (order == BY_NUMBER && fabs(p) == 2)
        tdc_give(e, tdc_div(e, matrix_norm_of(e, x, order, p), matrix_norm_of(e, x, order, -p)));
    else
        tdc_give(e, tdc_mul(e, matrix_norm_of(e, x, order, p),
                            matrix_norm_of(e, tdc_inverse(e, x), order, p)));
}

/* ---- the exponential ------------------------------------------------------------------------- */

#define TERMS 18 /* of Taylor's series: 2^-18 / 19! is below 2^-53 of the first */

/* exp(x) = exp(x / 2^k)^(2^k), with the norm of x / 2^k at most a half. */
static void matrix_exp(tdc_evaluation *e)
{
    tdc_array *x = tdc_square_argument(e, "input");
    int64_t n = x->shape[x->rank - 1];
    double norm = 0;
    for (int64_t i = 0; n > 0 && i < x->count / n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++)
            sum += fabs(x->real[i * n + j]);
        norm = fmax(norm, sum);
    }
    if (!(norm < 0x1p40))
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "the exponential of a matrix that large");
    int halvings = 0;
    while (norm > 0.5) {
        norm /= 2;
        halvings++;
    }
    tdc_array *small = tdc_scale(e, x, ldexp(1, -halvings)), *unit = tdc_unit_matrix(e, n);
    tdc_array *y = tdc_add(e, tdc_scale(e, small, 1.0 / TERMS), unit);
    for (int k = TERMS - 1; k > 0; k--)
        y = tdc_add(e, tdc_scale(e, tdc_matmul(e, small, y), 1.0 / k), unit);
    for (; halvings > 0; halvings--)
        y = tdc_matmul(e, y, y);
    tdc_give(e, y);
}

#define METHODS TDC_IN_METHODS
#define OTHERS  (TDC_IN_TORCH | TDC_IN_MINT)
static const struct tdc_operator rows[] = {
    {"linalg.solve", METHODS, "input, other, *, left=True", solve, 0, 0},
    {"linalg.solve_ex", METHODS, "input, other, *, left=True, check_errors=False", solve, 1, 0},
    {"linalg.inv_ex", METHODS, "input, *, check_errors=False", inverse_checked, 0, 0},
    {"linalg.tensorsolve", METHODS, "input, other, dims=None", tensor_solve, 0, 0},
    {"linalg.solve_triangular", METHODS, "input, other, *, upper, left=True, unitriangular=False",
     solve_triangular, 0, 0},
    {"triangular_solve", METHODS, "other, input, upper=True, transpose=False, unitriangular=False",
     solve_triangular, 1, 0},
    {"cholesky_inverse", METHODS, "factor, upper=False", from_root, 0, 0},
    {"cholesky_solve", METHODS, "input, factor, upper=False", from_root, 1, 0},
    {"lu_solve", METHODS, "input, LU_data, LU_pivots", lu_solve, 0, 0},
    {"linalg.lu_solve", METHODS, "LU, pivots, B, *, left=True, adjoint=False", lu_solve, 1, 0},
    {"linalg.matrix_rank matrix_rank", METHODS,
     "input, tol=None, hermitian=False, *, atol=None, rtol=None", matrix_rank, 0, TDC_NO_GRADIENT},
    {"linalg.pinv pinverse", METHODS, "input, rtol=None, hermitian=False, *, atol=None, tol=None",
     pinv, 0, 0},
    {"linalg.lstsq lstsq", METHODS, "input, other, rtol=None, *, driver=None, atol=None, tol=None",
     lstsq, 0, 0},
    {"linalg.matrix_norm", METHODS, "input, p='fro', dim=None, keepdim=False, *, dtype=None",
     matrix_norm, 0, 0},
    {"nuclear_norm", METHODS, "input, dim=None, keepdim=False", matrix_norm, 1, 0},
    {"linalg.cond", METHODS, "input, p=None", cond, 0, 0},
    {"matrix_exp linalg.matrix_exp", METHODS, "input", matrix_exp, 0, 0},
};
const struct tdc_operator_family tdc_equation_family = TDC_FAMILY("matrix equations", rows);
