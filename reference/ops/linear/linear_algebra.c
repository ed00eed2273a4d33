/* Determinants, powers and solutions of square matrices; distances and bilinear forms. */
#include <math.h>
#include <string.h>

#include "reference/ops/linear/matrix_arguments.h"
#include "reference/bounds.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/binary.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/matrix/product.h"
#include "reference/primitives/move.h"
#include "reference/primitives/reduce.h"
#include "reference/tape.h"

/* Sign and logarithm of the magnitude, by elimination with partial pivoting. */
static void eliminate(const tdc_evaluation *e, double *work, int64_t n, double *sign,
                      double *logarithm, double *product)
{
    *sign = 1;
    *logarithm = 0;
    *product = 1;
    for (int64_t c = 0; c < n; c++) {
        int64_t pivot = c;
        for (int64_t r = c + 1; r < n; r++)
            if (fabs(work[r * n + c]) > fabs(work[pivot * n + c]))
                pivot = r;
        for (int64_t j = 0; j < n && pivot != c; j++) {
            double t = work[c * n + j];
            work[c * n + j] = work[pivot * n + j];
            work[pivot * n + j] = t;
        }
        double own = work[c * n + c];
        *product = tdc_partial(e, *product * (pivot == c ? own : -own));
        *sign *= (pivot == c ? 1.0 : -1.0) * (double)((own > 0) - (own < 0));
        *logarithm = tdc_partial(e, *logarithm + tdc_partial(e, log(fabs(own))));
        for (int64_t r = c + 1; r < n && own != 0; r++) {
            double factor = tdc_partial(e, work[r * n + c] / own);
            for (int64_t j = c; j < n; j++) {
                double *to = work + r * n + j;
                *to = tdc_partial(e, *to - tdc_partial(e, factor * work[c * n + j]));
            }
        }
    }
}

/* Zeros of x's shape that pass a gradient of zero back to it: what does not change is
 * differentiable all the same. */
static tdc_array *constant_zeros(tdc_evaluation *e, tdc_array *x)
{
    return tdc_apply_with(e, TDC_HARDTANH, x, 0, 0, 0);
}

enum determinant {
    DET,
    LOGDET,
    SLOGDET
};

/* d log|det A| = tr(A^-1 dA) */
static void pull_determinant(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *x = node->inputs[0], *y = node->output;
    bool plain = *(const enum determinant *)node->detail == DET;
    tdc_array *inverse = tdc_inverse(e, tdc_constant(e, x));
    tdc_array *turned = tdc_swap(e, inverse, x->rank - 1, x->rank - 2);
    tdc_array *factor = plain ? tdc_mul(e, tdc_constant(e, y), gradient) : gradient;
    factor = tdc_unsqueeze(e, tdc_unsqueeze(e, factor, y->rank), y->rank + 1);
    tdc_collect(e, x, tdc_mul(e, turned, factor));
}

/* An elimination is that of a matrix within n roundings: the logarithm changes by the trace of
 * A^-1 times that, and each logarithm is rounded. */
static void bound_determinant(tdc_evaluation *e, tdc_array *x, tdc_array *y, bool plain)
{
    if (!tdc_is_bounded(e))
        return;
    struct tdc_quiet before = tdc_quietly(e);
    tdc_array *inverse = tdc_inverse(e, tdc_constant(e, x));
    tdc_as_before(e, before);
    int64_t n = x->shape[x->rank - 1];
    double *errors = tdc_new_errors(e, y), weight = TDC_SUM_BASE + (double)n;
    for (int64_t b = 0; b < y->count; b++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                int64_t at = (b * n + i) * n + j;
                sum += fabs(inverse->real[(b * n + j) * n + i]) *
                       (weight * fabs(x->real[at]) + tdc_error_at(x, at));
            }
        double size = fabs(y->real[b]);
        errors[b] = (plain ? size * sum : sum + size) + tdc_own_error(e, TDC_ELEMENTARY, size);
    }
    y->bounded = true;
}

static void determinant(tdc_evaluation *e)
{
    tdc_array *x = tdc_square_argument(e, "input");
    enum determinant *which = tdc_take(e, 1, sizeof *which);
    *which = (enum determinant)e->definition->variant;
    int64_t n = x->shape[x->rank - 1], size = n * n;
    tdc_array *sign = tdc_new(e, TDC_F64, x->rank - 2, x->shape),
              *y = tdc_new_like(e, TDC_F64, sign);
    double *work = tdc_take(e, size, sizeof *work);
    for (int64_t i = 0; i < y->count; i++) {
        double logarithm, product;
        memcpy(work, x->real + i * size, (size_t)size * sizeof *work);
        eliminate(e, work, n, &sign->real[i], &logarithm, &product);
        y->real[i] = *which == DET ? product : logarithm;
        if (*which == LOGDET && sign->real[i] < 0)
            y->real[i] = (double)NAN;
    }
    bool regular = true;
    for (int64_t i = 0; i < y->count; i++)
        regular &= sign->real[i] != 0;
    if (regular)
        bound_determinant(e, x, y, *which == DET);
    tdc_note(e, y, pull_determinant, which, 1, &x);
    if (*which == SLOGDET)
        tdc_give(e, tdc_add(e, sign, constant_zeros(e, y)));
    tdc_give(e, y);
}

static void matrix_power(tdc_evaluation *e)
{
    tdc_array *x = tdc_square_argument(e, "input");
    int64_t n = tdc_int_argument(e, "n"), size = x->shape[x->rank - 1];
    if (n < -INT32_MAX || n > INT32_MAX)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "n is out of range");
    if (n < 0)
        x = tdc_inverse(e, x);
    tdc_array *y = tdc_zeros(e, TDC_F64, 2, (const int64_t[]){size, size});
    for (int64_t i = 0; i < size; i++)
        y->real[i * size + i] = 1;
    y = tdc_add(e, y, constant_zeros(e, x));
    bool started = false;
    for (uint64_t left = (uint64_t)(n < 0 ? -n : n); left > 0; left >>= 1) {
        if (left & 1)
            y = started ? tdc_matmul(e, y, x) : x;
        started |= (left & 1) != 0;
        if (left > 1)
            x = tdc_matmul(e, x, x);
    }
    tdc_give(e, y);
}

static void multi_dot(tdc_evaluation *e)
{
    tdc_array **matrices;
    size_t count = tdc_arrays_argument(e, "tensors", &matrices);
    tdc_array *y = matrices[0];
    for (size_t i = 1; i < count; i++)
        y = tdc_matmul(e, y, matrices[i]);
    tdc_give(e, y);
}

static void vecdot(tdc_evaluation *e)
{
    tdc_array *p =
        tdc_mul(e, tdc_real_array_argument(e, "input"), tdc_real_array_argument(e, "other"));
    if (p->rank == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a dimension expected");
    tdc_give(e, tdc_sum_dim(e, p, tdc_dim_argument(e, "dim", p->rank), false));
}

/* [.., P, M] and [.., R, M] to [.., P, R] */
static void cdist(tdc_evaluation *e)
{
    tdc_array *a = tdc_real_array_argument(e, "x1"), *b = tdc_real_array_argument(e, "x2");
    if (a->rank < 2 || b->rank < 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "at least two dimensions expected");
    tdc_array *d = tdc_sub(e, tdc_unsqueeze(e, a, a->rank - 1), tdc_unsqueeze(e, b, b->rank - 2));
    tdc_give(e, tdc_norm_rows(e, d, tdc_real_argument(e, "p")));
}

/* Distances of all pairs of rows. */
static void pdist(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input");
    if (x->rank != 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a matrix expected");
    int64_t n = x->shape[0], width = x->shape[1], pairs = 0;
    if (n > INT32_MAX)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "too many rows");
    pairs = n * (n - 1) / 2;
    tdc_array *room =
        tdc_new(e, TDC_I64, 2, (const int64_t[]){pairs, width}); /* checks the sizes */
    int64_t *first = room->whole, *second = tdc_take(e, room->count, sizeof *second), k = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++)
            for (int64_t c = 0; c < width; c++, k++) {
                first[k] = i * width + c;
                second[k] = j * width + c;
            }
    tdc_array *a = tdc_mapped(e, x, first, 2, room->shape, 0);
    tdc_array *b = tdc_mapped(e, x, second, 2, room->shape, 0);
    tdc_give(e, tdc_norm_rows(e, tdc_sub(e, a, b), tdc_real_argument(e, "p")));
}

/* y[.., o] = a[.., i] w[o, i, j] b[.., j] + bias[o] */
static void bilinear(tdc_evaluation *e)
{
    tdc_array *a = tdc_real_array_argument(e, "input1"), *b = tdc_real_array_argument(e, "input2");
    tdc_array *w = tdc_real_array_argument(e, "weight"), *bias = tdc_optional_real_array(e, "bias");
    if (w->rank != 3 || a->rank == 0 || b->rank == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "shapes of a bilinear form do not fit");
    tdc_array *half =
        tdc_matmul(e, tdc_unsqueeze(e, tdc_unsqueeze(e, a, a->rank - 1), a->rank - 1), w);
    half = tdc_squeeze(e, half, half->rank - 2); /* [.., o, j] */
    tdc_array *y = tdc_sum_rows(e, tdc_mul(e, half, tdc_unsqueeze(e, b, b->rank - 1)));
    tdc_give(e, bias == NULL ? y : tdc_add(e, y, bias));
}

#define METHODS TDC_IN_METHODS
static const struct tdc_operator rows[] = {
    {"det linalg.det", METHODS, "input", determinant, DET, 0},
    {"logdet", METHODS, "input", determinant, LOGDET, 0},
    {"slogdet linalg.slogdet", METHODS, "input", determinant, SLOGDET, 0},
    {"matrix_power linalg.matrix_power", METHODS, "input, n", matrix_power, 0, 0},
    {"linalg.multi_dot", TDC_IN_TORCH | TDC_IN_MINT, "tensors", multi_dot, 0, 0},
    {"linalg.vecdot vecdot", METHODS, "input, other, *, dim=-1", vecdot, 0, 0},
    {"cdist", TDC_IN_TORCH | TDC_IN_MINT, "x1, x2, p=2.0, compute_mode=None", cdist, 0, 0},
    {"pdist", TDC_IN_FUNCTIONALS | TDC_IN_TORCH, "input, p=2.0", pdist, 0, 0},
    {"bilinear", TDC_IN_FUNCTIONALS | TDC_IN_TORCH, "input1, input2, weight, bias=None", bilinear,
     0, 0},
};
const struct tdc_operator_family tdc_algebra_family = TDC_FAMILY("linear algebra", rows);
