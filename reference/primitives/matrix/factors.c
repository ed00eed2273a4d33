#include "reference/primitives/matrix/factors.h"

#include <math.h>
#include <string.h>

#include "reference/primitives/elementwise/binary.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/matrix/decompose.h"
#include "reference/primitives/matrix/factor_bounds.h"
#include "reference/primitives/matrix/product.h"
#include "reference/primitives/matrix/settle.h"
#include "reference/primitives/move.h"
#include "reference/tape.h"

/* ---- shapes ---------------------------------------------------------------------------------- */

bool tdc_is_matrix(const tdc_array *x)
{
    return x->rank >= 2;
}

static void check_matrix(tdc_evaluation *e, const tdc_array *x, bool square)
{
    if (x->rank < 2 || (square && x->shape[x->rank - 1] != x->shape[x->rank - 2]))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "must be batches of %smatrices", square ? "square " : "");
}

static int64_t rows_of(const tdc_array *x)
{
    return x->shape[x->rank - 2];
}

static int64_t columns_of(const tdc_array *x)
{
    return x->shape[x->rank - 1];
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* [x's batch..., rows, columns], or without columns when they are negative. */
static tdc_array *batch_like(tdc_evaluation *e, tdc_dtype dtype, const tdc_array *x, int64_t rows,
                             int64_t columns)
{
    int64_t shape[TDC_REFERENCE_RANK];
    memcpy(shape, x->shape, sizeof shape);
    shape[x->rank - 2] = rows;
    if (columns >= 0)
        shape[x->rank - 1] = columns;
    return tdc_new(e, dtype, columns >= 0 ? x->rank : x->rank - 1, shape);
}

static int64_t matrices_in(const tdc_array *x)
{
    int64_t n = 1;
    for (unsigned d = 0; d + 2 < x->rank; d++)
        n *= x->shape[d];
    return n;
}

tdc_array *tdc_turned(tdc_evaluation *e, tdc_array *x)
{
    return tdc_swap(e, x, x->rank - 2, x->rank - 1);
}

static tdc_array *triangle(tdc_evaluation *e, tdc_array *x, int64_t k, bool below)
{
    int64_t m = rows_of(x), n = columns_of(x);
    tdc_array *mask = tdc_new(e, TDC_F64, 2, (const int64_t[]){m, n});
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            mask->real[i * n + j] = below ? j - i <= k : j - i >= k;
    return tdc_mul(e, x, mask);
}

tdc_array *tdc_below(tdc_evaluation *e, tdc_array *x, int64_t k)
{
    return triangle(e, x, k, true);
}

tdc_array *tdc_above(tdc_evaluation *e, tdc_array *x, int64_t k)
{
    return triangle(e, x, k, false);
}

tdc_array *tdc_unit_matrix(tdc_evaluation *e, int64_t n)
{
    tdc_array *y = tdc_zeros(e, TDC_F64, 2, (const int64_t[]){n, n});
    for (int64_t i = 0; i < n; i++)
        y->real[i * n + i] = 1;
    return y;
}

tdc_array *tdc_columns_times(tdc_evaluation *e, tdc_array *x, tdc_array *factors)
{
    return tdc_mul(e, x, tdc_unsqueeze(e, factors, factors->rank - 1));
}

static tdc_array *rows_times(tdc_evaluation *e, tdc_array *factors, tdc_array *x)
{
    return tdc_mul(e, tdc_unsqueeze(e, factors, factors->rank), x);
}

/* x - x^T */
static tdc_array *skew(tdc_evaluation *e, tdc_array *x)
{
    return tdc_sub(e, x, tdc_turned(e, x));
}

/* Leading columns of batches. */
static tdc_array *first_columns(tdc_evaluation *e, tdc_array *x, int64_t count)
{
    return columns_of(x) == count ? x : tdc_slice(e, x, x->rank - 1, 0, count, 1);
}

static const double *recorded_matrix(const tdc_array *choice, const tdc_array *like, int64_t which)
{
    if (choice == NULL || choice->rank != like->rank ||
        choice->shape[choice->rank - 2] != rows_of(like))
        return NULL;
    for (unsigned d = 0; d + 2 < like->rank; d++)
        if (choice->shape[d] != like->shape[d])
            return NULL;
    return choice->real + which * rows_of(choice) * columns_of(choice);
}

/* ---- singular values ------------------------------------------------------------------------- */

struct svd_detail {
    tdc_array *u, *s, *v; /* k columns */
};

/* 1 / (s_j^2 - s_i^2), 0 on the diagonal */
static tdc_array *gaps(tdc_evaluation *e, tdc_array *s)
{
    int64_t k = s->shape[s->rank - 1], count = s->count == 0 ? 0 : s->count / k;
    int64_t shape[TDC_REFERENCE_RANK];
    memcpy(shape, s->shape, sizeof shape);
    shape[s->rank] = k;
    tdc_array *y = tdc_new(e, TDC_F64, s->rank + 1, shape);
    for (int64_t b = 0; b < count; b++)
        for (int64_t i = 0; i < k; i++)
            for (int64_t j = 0; j < k; j++) {
                double x = s->real[b * k + i], z = s->real[b * k + j];
                y->real[(b * k + i) * k + j] = i == j ? 0 : 1 / ((z - x) * (z + x));
            }
    return y;
}

/* From gradients of the left (or right) vectors to the inner matrix. */
static tdc_array *inner_of(tdc_evaluation *e, tdc_array *vectors, tdc_array *gradient, tdc_array *s)
{
    tdc_array *x = skew(e, tdc_matmul(e, tdc_turned(e, vectors), gradient));
    return tdc_mul(e, x, gaps(e, s));
}

/* (1 - w w^T) g / s: what leaves the space of the vectors */
static tdc_array *outside(tdc_evaluation *e, tdc_array *w, tdc_array *g, tdc_array *s)
{
    tdc_array *along = tdc_matmul(e, w, tdc_matmul(e, tdc_turned(e, w), g));
    return tdc_columns_times(e, tdc_sub(e, g, along), tdc_apply(e, TDC_RECIPROCAL, s));
}

static void collect_between(tdc_evaluation *e, tdc_array *x, const struct svd_detail *d,
                            tdc_array *inner)
{
    tdc_collect(e, x, tdc_matmul(e, tdc_matmul(e, d->u, inner), tdc_turned(e, d->v)));
}

static void pull_singular(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    const struct svd_detail *d = node->detail;
    tdc_array *turned = tdc_columns_times(e, d->u, gradient);
    tdc_collect(e, node->inputs[0], tdc_matmul(e, turned, tdc_turned(e, d->v)));
}

static void pull_left(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    const struct svd_detail *d = node->detail;
    tdc_array *g = first_columns(e, gradient, columns_of(d->u));
    collect_between(e, node->inputs[0], d, tdc_columns_times(e, inner_of(e, d->u, g, d->s), d->s));
    if (rows_of(d->u) > columns_of(d->u))
        tdc_collect(e, node->inputs[0],
                    tdc_matmul(e, outside(e, d->u, g, d->s), tdc_turned(e, d->v)));
}

static void pull_right(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    const struct svd_detail *d = node->detail;
    tdc_array *g = first_columns(e, gradient, columns_of(d->v));
    collect_between(e, node->inputs[0], d, rows_times(e, d->s, inner_of(e, d->v, g, d->s)));
    if (rows_of(d->v) > columns_of(d->v))
        tdc_collect(e, node->inputs[0],
                    tdc_matmul(e, d->u, tdc_turned(e, outside(e, d->v, g, d->s))));
}

static void settle_singular(tdc_evaluation *e, const struct tdc_side *u, const struct tdc_side *v,
                            const double *s, int64_t k)
{
    int64_t from = 0;
    while (from < k) {
        int64_t to = tdc_end_of_equals(s, from, k, s[0]);
        bool zero = s[from] <= TDC_EQUAL_VALUES * s[0];
        if (zero)
            break;
        tdc_settle(e, u, v, from, to);
        from = to;
    }
    /* what belongs to zero turns on each side for itself */
    if (from < u->columns)
        tdc_settle(e, u, NULL, from,
                   u->recorded != NULL && u->recorded_columns < u->columns ? u->recorded_columns
                                                                           : u->columns);
    if (from < v->columns)
        tdc_settle(e, v, NULL, from,
                   v->recorded != NULL && v->recorded_columns < v->columns ? v->recorded_columns
                                                                           : v->columns);
}

struct tdc_singular tdc_svd(tdc_evaluation *e, tdc_array *x, bool whole, const tdc_array *choice_u,
                            const tdc_array *choice_v)
{
    check_matrix(e, x, false);
    int64_t m = rows_of(x), n = columns_of(x), k = smaller(m, n), count = matrices_in(x);
    tdc_array *u = batch_like(e, TDC_F64, x, m, m), *v = batch_like(e, TDC_F64, x, n, n);
    struct tdc_singular y = {.s = batch_like(e, TDC_F64, x, k, -1)};
    for (int64_t i = 0; i < count && k > 0; i++) {
        struct tdc_side left = {u->real + i * m * m, recorded_matrix(choice_u, u, i), m, m, 0};
        struct tdc_side right = {v->real + i * n * n, recorded_matrix(choice_v, v, i), n, n, 0};
        left.recorded_columns = left.recorded == NULL ? 0 : columns_of(choice_u);
        right.recorded_columns = right.recorded == NULL ? 0 : columns_of(choice_v);
        tdc_singular_values(e, x->real + i * m * n, m, n, left.x, y.s->real + i * k, right.x);
        if (left.recorded != NULL || right.recorded != NULL)
            settle_singular(e, &left, &right, y.s->real + i * k, k);
    }
    tdc_bound_values(e, x, y.s, u, m);
    tdc_bound_values(e, x, y.s, v, n);
    struct svd_detail *d = tdc_take(e, 1, sizeof *d);
    *d = (struct svd_detail){tdc_constant(e, first_columns(e, u, k)), tdc_constant(e, y.s),
                             tdc_constant(e, first_columns(e, v, k))};
    y.u = tdc_constant(e, whole ? u : d->u);
    y.v = tdc_constant(e, whole ? v : d->v);
    tdc_note(e, y.u, pull_left, d, 1, &x);
    tdc_note(e, y.s, pull_singular, d, 1, &x);
    tdc_note(e, y.v, pull_right, d, 1, &x);
    return y;
}

/* ---- symmetric matrices ---------------------------------------------------------------------- */

static void pull_eigenvalues(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *v = ((const struct tdc_symmetric *)node->detail)->v;
    tdc_collect(e, node->inputs[0],
                tdc_matmul(e, tdc_columns_times(e, v, gradient), tdc_turned(e, v)));
}

/* v (v^T g / (w_j - w_i)) v^T, made symmetric */
static void pull_eigenvectors(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    const struct tdc_symmetric *d = node->detail;
    tdc_array *inner = tdc_matmul(e, tdc_turned(e, d->v), gradient);
    tdc_array *y = tdc_new_like(e, TDC_F64, inner);
    int64_t n = columns_of(inner);
    for (int64_t i = 0; i < y->count; i++) {
        int64_t row = i / n % n, column = i % n;
        const double *w = d->w->real + i / (n * n) * n;
        y->real[i] = row == column ? 0 : inner->real[i] / (w[column] - w[row]);
    }
    tdc_array *g = tdc_matmul(e, tdc_matmul(e, d->v, y), tdc_turned(e, d->v));
    tdc_collect(e, node->inputs[0], tdc_scale(e, tdc_add(e, g, tdc_turned(e, g)), 0.5));
}

struct tdc_symmetric tdc_eigh(tdc_evaluation *e, tdc_array *x, bool upper, const tdc_array *choice)
{
    check_matrix(e, x, true);
    int64_t n = columns_of(x), count = matrices_in(x);
    struct tdc_symmetric y = {batch_like(e, TDC_F64, x, n, -1), batch_like(e, TDC_F64, x, n, n)};
    for (int64_t i = 0; i < count && n > 0; i++) {
        double *w = y.w->real + i * n, scale = 0;
        struct tdc_side side = {y.v->real + i * n * n, recorded_matrix(choice, y.v, i), n, n, n};
        tdc_symmetric_values(e, x->real + i * n * n, n, upper, w, side.x);
        for (int64_t j = 0; j < n; j++)
            scale = fmax(scale, fabs(w[j]));
        for (int64_t from = 0, to; side.recorded != NULL && from < n; from = to) {
            to = tdc_end_of_equals(w, from, n, scale);
            tdc_settle(e, &side, NULL, from, to);
        }
    }
    tdc_bound_values(e, x, y.w, y.v, n);
    struct tdc_symmetric *d = tdc_take(e, 1, sizeof *d);
    *d = (struct tdc_symmetric){tdc_constant(e, y.w), tdc_constant(e, y.v)};
    tdc_note(e, y.w, pull_eigenvalues, d, 1, &x);
    tdc_note(e, y.v, pull_eigenvectors, d, 1, &x);
    return y;
}

/* ---- reflections ----------------------------------------------------------------------------- */

/* (g_q + q sym(m)) r^-T with m = r g_r^T - g_q^T q and sym(m) = its lower triangle mirrored; of the
 * square or tall part of x. */
static tdc_array *qr_gradient(tdc_evaluation *e, tdc_array *q, tdc_array *r, tdc_array *g_q,
                              tdc_array *g_r)
{
    tdc_array *m = NULL;
    if (g_r != NULL)
        m = tdc_matmul(e, r, tdc_turned(e, g_r));
    if (g_q != NULL) {
        tdc_array *t = tdc_matmul(e, tdc_turned(e, g_q), q);
        m = m == NULL ? tdc_scale(e, t, -1) : tdc_sub(e, m, t);
    }
    tdc_array *mirrored = tdc_add(e, tdc_below(e, m, 0), tdc_turned(e, tdc_below(e, m, -1)));
    tdc_array *y = tdc_matmul(e, q, mirrored);
    if (g_q != NULL)
        y = tdc_add(e, y, g_q);
    return tdc_matmul(e, y, tdc_turned(e, tdc_inverse(e, r)));
}

/* Of a wide x = [left, right] with q and u from left alone: r = [u, q^T right]. */
static void collect_qr(tdc_evaluation *e, tdc_array *x, const struct tdc_orthogonal *d,
                       tdc_array *g_q, tdc_array *g_r)
{
    int64_t m = rows_of(x), n = columns_of(x), k = columns_of(d->q);
    if (k > smaller(m, n))
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "the gradient of a whole orthogonal matrix");
    if (m >= n) {
        tdc_collect(e, x, qr_gradient(e, d->q, d->r, g_q, g_r));
        return;
    }
    unsigned last = x->rank - 1;
    tdc_array *right = tdc_slice(e, tdc_constant(e, x), last, m, n - m, 1);
    tdc_array *u = tdc_slice(e, d->r, last, 0, m, 1), *g_u = NULL, *g_right = NULL;
    if (g_r != NULL) {
        tdc_array *g_v = tdc_slice(e, g_r, last, m, n - m, 1);
        tdc_array *more = tdc_matmul(e, right, tdc_turned(e, g_v));
        g_u = tdc_slice(e, g_r, last, 0, m, 1);
        g_q = g_q == NULL ? more : tdc_add(e, g_q, more);
        g_right = tdc_matmul(e, d->q, g_v);
    } else {
        g_right = tdc_zeros(e, TDC_F64, right->rank, right->shape);
    }
    tdc_array *pieces[2] = {qr_gradient(e, d->q, u, g_q, g_u), g_right};
    tdc_collect(e, x, tdc_concatenate(e, pieces, 2, last));
}

static void pull_q(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    collect_qr(e, node->inputs[0], node->detail, gradient, NULL);
}

static void pull_r(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    collect_qr(e, node->inputs[0], node->detail, NULL, gradient);
}

/* Row i of r and column i of q may change their sign together. */
static void settle_signs(double *q, double *r, const double *recorded, int64_t m, int64_t k,
                         int64_t n)
{
    for (int64_t i = 0; i < k; i++) {
        double along = 0;
        for (int64_t j = 0; j < n; j++)
            along += r[i * n + j] * recorded[i * n + j];
        if (!(along < 0))
            continue;
        for (int64_t j = 0; j < n; j++)
            r[i * n + j] = -r[i * n + j];
        for (int64_t j = 0; j < m; j++)
            q[j * k + i] = -q[j * k + i];
    }
}

struct tdc_orthogonal tdc_qr(tdc_evaluation *e, tdc_array *x, bool whole, const tdc_array *choice_r)
{
    check_matrix(e, x, false);
    int64_t m = rows_of(x), n = columns_of(x), k = whole ? m : smaller(m, n);
    struct tdc_orthogonal y = {batch_like(e, TDC_F64, x, m, k), batch_like(e, TDC_F64, x, k, n)};
    double *work = tdc_take(e, m * n, sizeof *work), *tau = tdc_take(e, m + n, sizeof *tau);
    for (int64_t i = 0; i < matrices_in(x); i++) {
        double *q = y.q->real + i * m * k, *r = y.r->real + i * k * n;
        const double *recorded = recorded_matrix(choice_r, y.r, i);
        memcpy(work, x->real + i * m * n, (size_t)(m * n) * sizeof *work);
        tdc_reflect(work, m, n, tau);
        tdc_reflected(work, m, n, tau, k, q);
        for (int64_t a = 0; a < k; a++)
            for (int64_t b = 0; b < n; b++)
                r[a * n + b] = b < a ? 0 : work[a * n + b];
        if (recorded != NULL && columns_of(choice_r) == n)
            settle_signs(q, r, recorded, m, k, n);
    }
    tdc_bound_factor(e, x, y.q);
    tdc_bound_factor(e, x, y.r);
    struct tdc_orthogonal *d = tdc_take(e, 1, sizeof *d);
    *d = (struct tdc_orthogonal){tdc_constant(e, y.q), tdc_constant(e, y.r)};
    tdc_note(e, y.q, pull_q, d, 1, &x);
    tdc_note(e, y.r, pull_r, d, 1, &x);
    return y;
}

/* ---- triangles ------------------------------------------------------------------------------- */

/* l^-T (l^T g's lower triangle, half of its diagonal) l^-1, made symmetric */
static void pull_root(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *l = tdc_constant(e, node->output), *inverse = tdc_inverse(e, l);
    tdc_array *m = tdc_matmul(e, tdc_turned(e, l), gradient);
    tdc_array *phi = tdc_scale(e, tdc_add(e, tdc_below(e, m, 0), tdc_below(e, m, -1)), 0.5);
    tdc_array *g = tdc_matmul(e, tdc_matmul(e, tdc_turned(e, inverse), phi), inverse);
    tdc_collect(e, node->inputs[0], tdc_scale(e, tdc_add(e, g, tdc_turned(e, g)), 0.5));
}

tdc_array *tdc_lower_root(tdc_evaluation *e, tdc_array *x, tdc_array **info)
{
    check_matrix(e, x, true);
    int64_t n = columns_of(x), count = matrices_in(x);
    tdc_array *y = tdc_new_like(e, TDC_F64, x);
    *info = tdc_new(e, TDC_I32, x->rank - 2, x->shape);
    for (int64_t i = 0; i < count; i++)
        (*info)->whole[i] = tdc_cholesky(x->real + i * n * n, n, y->real + i * n * n);
    tdc_bound_factor(e, x, y);
    tdc_note(e, y, pull_root, NULL, 1, &x);
    return y;
}

tdc_array *tdc_permutation(tdc_evaluation *e, const tdc_array *pivots, int64_t m)
{
    int64_t shape[TDC_REFERENCE_RANK], k = pivots->shape[pivots->rank - 1];
    memcpy(shape, pivots->shape, sizeof shape);
    shape[pivots->rank - 1] = shape[pivots->rank] = m;
    tdc_array *p = tdc_zeros(e, TDC_F64, pivots->rank + 1, shape);
    int64_t count = m == 0 ? 0 : p->count / (m * m);
    int64_t *order = tdc_take(e, m, sizeof *order);
    for (int64_t i = 0; i < count; i++) {
        for (int64_t r = 0; r < m; r++)
            order[r] = r;
        for (int64_t r = 0; r < k; r++) {
            int64_t other = pivots->whole[i * k + r] - 1;
            if (other < 0 || other >= m || r >= m)
                tdc_refuse(e, TDC_ERR_ARGUMENT, "a pivot out of range");
            int64_t t = order[r];
            order[r] = order[other];
            order[other] = t;
        }
        for (int64_t r = 0; r < m; r++)
            p->real[(i * m + order[r]) * m + r] = 1;
    }
    return p;
}

/* p l^-T (l^T g_l below the diagonal + g_u u^T on and above it) u^-T */
static void pull_lu(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *x = node->inputs[0], *packed = tdc_constant(e, node->output);
    int64_t n = columns_of(x);
    if (rows_of(x) != n)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "the gradient of factors that are not square");
    tdc_array *l = tdc_add(e, tdc_below(e, packed, -1), tdc_unit_matrix(e, n));
    tdc_array *u = tdc_above(e, packed, 0), *p = tdc_permutation(e, node->detail, n);
    tdc_array *g_l = tdc_below(e, gradient, -1), *g_u = tdc_above(e, gradient, 0);
    tdc_array *low = tdc_below(e, tdc_matmul(e, tdc_turned(e, l), g_l), -1);
    tdc_array *high = tdc_above(e, tdc_matmul(e, g_u, tdc_turned(e, u)), 0);
    tdc_array *g = tdc_matmul(e, tdc_turned(e, tdc_inverse(e, l)), tdc_add(e, low, high));
    g = tdc_matmul(e, g, tdc_turned(e, tdc_inverse(e, u)));
    tdc_collect(e, x, tdc_matmul(e, p, g));
}

tdc_array *tdc_lu(tdc_evaluation *e, tdc_array *x, tdc_array **pivots)
{
    check_matrix(e, x, false);
    int64_t m = rows_of(x), n = columns_of(x), k = smaller(m, n);
    tdc_array *y = tdc_new_like(e, TDC_F64, x);
    memcpy(y->real, x->real, (size_t)y->count * sizeof *y->real);
    *pivots = batch_like(e, TDC_I32, x, k, -1);
    for (int64_t i = 0; i < matrices_in(x); i++) {
        tdc_eliminate(y->real + i * m * n, m, n, (*pivots)->whole + i * k);
        for (int64_t r = 0; r < k; r++)
            (*pivots)->whole[i * k + r]++;
    }
    tdc_bound_factor(e, x, y);
    tdc_note(e, y, pull_lu, *pivots, 1, &x);
    return y;
}
