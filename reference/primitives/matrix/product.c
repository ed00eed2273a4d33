#include "reference/primitives/matrix/product.h"

#include <math.h>
#include <string.h>

#include "reference/bounds.h"
#include "reference/primitives/elementwise/promote.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/matrix/narrow_gemm.h"
#include "reference/primitives/move.h"
#include "reference/tape.h"

struct product_detail {
    bool transpose_a, transpose_b;
};

static void multiply(const tdc_array *a, const tdc_array *b, tdc_array *y, bool ta, bool tb)
{
    int64_t m = y->shape[1], n = y->shape[2], k = ta ? a->shape[1] : a->shape[2];
    tdc_gemm_batch(y->shape[0], m, n, k, a->real, ta, b->real, tb, y->real);
}

static void multiply_narrow(const tdc_array *a, const tdc_array *b, tdc_array *y, bool ta, bool tb)
{
    int64_t m = y->shape[1], n = y->shape[2], k = ta ? a->shape[1] : a->shape[2];
    for (int64_t i = 0; i < y->shape[0]; i++)
        tdc_narrow_gemm(m, n, k, (struct tdc_matrix){a->real + i * m * k, ta ? m : k, ta},
                        (struct tdc_matrix){b->real + i * k * n, tb ? k : n, tb},
                        y->real + i * m * n, n, false);
}

/* Exact and wrapping; rare, so not blocked. */
static void multiply_whole(const tdc_array *a, const tdc_array *b, tdc_array *y, bool ta, bool tb)
{
    int64_t m = y->shape[1], n = y->shape[2], k = ta ? a->shape[1] : a->shape[2];
#pragma omp parallel for schedule(static) if (y->count * k >= 65536)
    for (int64_t i = 0; i < y->count; i++) {
        const int64_t *p = a->whole + i / (m * n) * m * k, *q = b->whole + i / (m * n) * k * n;
        int64_t row = i / n % m, column = i % n;
        uint64_t sum = 0;
        for (int64_t d = 0; d < k; d++)
            sum += (uint64_t)p[ta ? d * m + row : row * k + d] *
                   (uint64_t)q[tb ? column * k + d : d * n + column];
        y->whole[i] = tdc_wrap((int64_t)sum, y->dtype);
    }
}

/* |a| (w |b| + errors of b) + errors of a |b| */
static void bound_product(tdc_evaluation *e, const tdc_array *a, const tdc_array *b, tdc_array *y,
                          bool ta, bool tb)
{
    double k = (double)a->shape[ta ? 1 : 2];
    double weight = k > 1 ? tdc_sum_weight(k) : TDC_BASIC;
    struct tdc_quiet before = tdc_quietly(e);
    tdc_array *errors = tdc_new_like(e, TDC_F64, y);
    multiply(tdc_absolute(e, a), tdc_magnitudes(e, b, weight), errors, ta, tb);
    if (a->error != NULL) {
        tdc_array *more = tdc_new_like(e, TDC_F64, y);
        multiply(tdc_error_array(e, a), tdc_absolute(e, b), more, ta, tb);
        errors = tdc_add(e, errors, more);
    }
    tdc_as_before(e, before);
    for (int64_t i = 0; i < y->count; i++)
        errors->real[i] += tdc_own_error(e, tdc_chain_weight(k), y->real[i]);
    tdc_bound_by(y, errors);
}

static tdc_array *product(tdc_evaluation *e, const tdc_array *a, const tdc_array *b, bool ta,
                          bool tb)
{
    int64_t shape[3] = {a->shape[0], a->shape[ta ? 2 : 1], b->shape[tb ? 1 : 2]};
    tdc_array *y = tdc_new(e, a->dtype, 3, shape);
    if (y->count > 0 && tdc_is_narrow(e) && tdc_dtype_is_floating(a->dtype))
        multiply_narrow(a, b, y, ta, tb);
    else if (y->count > 0)
        (tdc_dtype_is_floating(a->dtype) ? multiply : multiply_whole)(a, b, y, ta, tb);
    if (tdc_is_bounded(e) && y->count > 0 && tdc_dtype_is_floating(a->dtype))
        bound_product(e, a, b, y, ta, tb);
    return y;
}

static void pull_product(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    const struct product_detail *d = node->detail;
    tdc_array *a = node->inputs[0], *b = node->inputs[1];
    if (tdc_tracked(a))
        tdc_collect(e, a,
                    d->transpose_a ? product(e, b, gradient, d->transpose_b, true)
                                   : product(e, gradient, b, false, !d->transpose_b));
    if (tdc_tracked(b))
        tdc_collect(e, b,
                    d->transpose_b ? product(e, gradient, a, true, d->transpose_a)
                                   : product(e, a, gradient, !d->transpose_a, false));
}

static tdc_dtype promote_whole(const tdc_array *a, const tdc_array *b)
{
    tdc_dtype dtype = tdc_promoted(a, b);
    return tdc_dtype_is_floating(dtype) ? TDC_F64 : dtype;
}

tdc_array *tdc_batch_product(tdc_evaluation *e, tdc_array *a, tdc_array *b, bool transpose_a,
                             bool transpose_b)
{
    tdc_dtype dtype = promote_whole(a, b);
    a = tdc_convert(e, a, dtype);
    b = tdc_convert(e, b, dtype);
    if (a->rank != 3 || b->rank != 3 || a->shape[0] != b->shape[0] ||
        a->shape[transpose_a ? 1 : 2] != b->shape[transpose_b ? 2 : 1])
        tdc_refuse(e, TDC_ERR_ARGUMENT, "shapes of a matrix product do not fit");
    tdc_array *y = product(e, a, b, transpose_a, transpose_b);
    struct product_detail *detail = tdc_take(e, 1, sizeof *detail);
    *detail = (struct product_detail){transpose_a, transpose_b};
    tdc_note(e, y, pull_product, detail, 2, (tdc_array *[]){a, b});
    return y;
}

static tdc_array *as_batch(tdc_evaluation *e, tdc_array *x, unsigned rank, const int64_t *batch,
                           int64_t count)
{
    int64_t shape[TDC_REFERENCE_RANK];
    memcpy(shape, batch, rank * sizeof *batch);
    shape[rank] = x->shape[x->rank - 2];
    shape[rank + 1] = x->shape[x->rank - 1];
    x = tdc_expand(e, x, rank + 2, shape);
    return tdc_reshape(e, x, 3, (const int64_t[]){count, shape[rank], shape[rank + 1]});
}

static tdc_array *matmul_batched(tdc_evaluation *e, tdc_array *a, tdc_array *b)
{
    tdc_array outer_a = *a, outer_b = *b;
    int64_t shape[TDC_REFERENCE_RANK], count = 1;
    unsigned rank;
    outer_a.rank -= 2;
    outer_b.rank -= 2;
    tdc_broadcast_shape(e, &outer_a, &outer_b, &rank, shape);
    if (rank + 2 > TDC_REFERENCE_RANK)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "too many dimensions");
    for (unsigned d = 0; d < rank; d++)
        count *= shape[d];
    /* all rows of a against one b: one product, nothing copied */
    bool one = b->rank == 2;
    tdc_array *y;
    if (one) {
        int64_t rows = count * a->shape[a->rank - 2];
        tdc_array *flat = tdc_reshape(e, a, 3, (const int64_t[]){1, rows, a->shape[a->rank - 1]});
        y = tdc_batch_product(e, flat, tdc_unsqueeze(e, b, 0), false, false);
    } else {
        y = tdc_batch_product(e, as_batch(e, a, rank, shape, count),
                              as_batch(e, b, rank, shape, count), false, false);
    }
    shape[rank] = a->shape[a->rank - 2];
    shape[rank + 1] = b->shape[b->rank - 1];
    return tdc_reshape(e, y, rank + 2, shape);
}

tdc_array *tdc_matmul(tdc_evaluation *e, tdc_array *a, tdc_array *b)
{
    if (a->rank == 0 || b->rank == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "matmul needs at least one dimension");
    bool row = a->rank == 1, column = b->rank == 1;
    tdc_array *y =
        matmul_batched(e, row ? tdc_unsqueeze(e, a, 0) : a, column ? tdc_unsqueeze(e, b, 1) : b);
    if (column)
        y = tdc_squeeze(e, y, y->rank - 1);
    if (row)
        y = tdc_squeeze(e, y, column ? y->rank - 1 : y->rank - 2);
    return y;
}

/* Some kernels store the product in the tested dtype before the bias is added to it. */
static void round_once_more(const tdc_evaluation *e, tdc_array *y)
{
    for (int64_t i = 0; i < y->count; i++)
        y->error[i] += e->bounds.narrow * fabs(y->real[i]);
}

tdc_array *tdc_linear(tdc_evaluation *e, tdc_array *x, tdc_array *weight, tdc_array *bias)
{
    int64_t shape[TDC_REFERENCE_RANK];
    if (x->rank == 0 || weight->rank < 1 || weight->rank > 2 ||
        weight->shape[weight->rank - 1] != x->shape[x->rank - 1])
        tdc_refuse(e, TDC_ERR_ARGUMENT, "shapes of a linear layer do not fit");
    int64_t k = x->shape[x->rank - 1], n = weight->rank == 2 ? weight->shape[0] : 1;
    int64_t rows = 1;
    for (unsigned d = 0; d + 1 < x->rank; d++)
        rows *= x->shape[d];
    tdc_array *flat = tdc_reshape(e, x, 3, (const int64_t[]){1, rows, k});
    tdc_array *w = tdc_reshape(e, weight, 3, (const int64_t[]){1, n, k});
    tdc_array *y = tdc_batch_product(e, flat, w, false, true);
    memcpy(shape, x->shape, sizeof shape);
    shape[x->rank - 1] = n;
    y = tdc_reshape(e, y, weight->rank == 2 ? x->rank : x->rank - 1, shape);
    if (bias == NULL)
        return y;
    if (tdc_is_bounded(e) && e->bounds.narrow > 1 && y->count > 0)
        round_once_more(e, y);
    return tdc_add(e, y, bias);
}

/* One matrix, Gauss-Jordan with partial pivoting; false when it is singular. */
static bool invert(const tdc_evaluation *e, double *work, double *out, int64_t n)
{
    for (int64_t i = 0; i < n * n; i++)
        out[i] = i / n == i % n;
    for (int64_t c = 0; c < n; c++) {
        int64_t pivot = c;
        for (int64_t r = c + 1; r < n; r++)
            if (fabs(work[r * n + c]) > fabs(work[pivot * n + c]))
                pivot = r;
        if (work[pivot * n + c] == 0)
            return false;
        for (int64_t j = 0; j < n && pivot != c; j++) {
            double t = work[c * n + j], u = out[c * n + j];
            work[c * n + j] = work[pivot * n + j];
            out[c * n + j] = out[pivot * n + j];
            work[pivot * n + j] = t;
            out[pivot * n + j] = u;
        }
        double scale = tdc_partial(e, 1 / work[c * n + c]);
        for (int64_t j = 0; j < n; j++) {
            work[c * n + j] = tdc_partial(e, work[c * n + j] * scale);
            out[c * n + j] = tdc_partial(e, out[c * n + j] * scale);
        }
        for (int64_t r = 0; r < n; r++) {
            double factor = work[r * n + c];
            for (int64_t j = 0; j < n && r != c && factor != 0; j++) {
                double *to = work + r * n + j, *also = out + r * n + j;
                *to = tdc_partial(e, *to - tdc_partial(e, factor * work[c * n + j]));
                *also = tdc_partial(e, *also - tdc_partial(e, factor * out[c * n + j]));
            }
        }
    }
    return true;
}

static void pull_inverse(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *y = tdc_constant(e, node->output);
    tdc_array *left = product(e, y, gradient, true, false);
    tdc_array *both = product(e, left, y, false, true);
    tdc_collect(e, node->inputs[0], tdc_scale(e, both, -1));
}

/* Elimination is off by what a matrix that differs from A by some roundings of its elements gives:
 * |A^-1| (w |A| + errors of A) |A^-1|. */
static void bound_inverse(tdc_evaluation *e, const tdc_array *a, tdc_array *y)
{
    double weight = TDC_ELEMENTARY * (1 + sqrt((double)a->shape[2]));
    struct tdc_quiet before = tdc_quietly(e);
    tdc_array *size = tdc_absolute(e, y);
    tdc_array *left = product(e, size, tdc_magnitudes(e, a, weight), false, false);
    tdc_array *errors = product(e, left, size, false, false);
    tdc_as_before(e, before);
    for (int64_t i = 0; i < y->count; i++)
        errors->real[i] += tdc_own_error(e, TDC_BASIC, y->real[i]);
    tdc_bound_by(y, errors);
}

tdc_array *tdc_inverse(tdc_evaluation *e, tdc_array *x)
{
    if (x->rank < 2 || x->shape[x->rank - 1] != x->shape[x->rank - 2])
        tdc_refuse(e, TDC_ERR_ARGUMENT, "must be batches of square matrices");
    int64_t n = x->shape[x->rank - 1], matrices = n == 0 ? 0 : x->count / (n * n);
    tdc_array *flat = tdc_reshape(e, x, 3, (const int64_t[]){matrices, n, n});
    tdc_array *y = tdc_new_like(e, TDC_F64, flat);
    double *work = tdc_take(e, n * n, sizeof *work);
    for (int64_t i = 0; i < matrices; i++) {
        memcpy(work, flat->real + i * n * n, (size_t)(n * n) * sizeof *work);
        if (!invert(e, work, y->real + i * n * n, n))
            tdc_refuse(e, TDC_ERR_ARGUMENT, "a matrix is singular");
    }
    if (tdc_is_bounded(e) && y->count > 0)
        bound_inverse(e, flat, y);
    tdc_note(e, y, pull_inverse, NULL, 1, &flat);
    return tdc_reshape(e, y, x->rank, x->shape);
}
