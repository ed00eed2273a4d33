#include "reference/primitives/matrix/factors.h"

#include <math.h>
#include <string.h>

#include "reference/primitives/matrix/decompose.h"
#include "reference/primitives/matrix/factor_bounds.h"
#include "reference/primitives/settle.h"

/* ---- shapes ---------------------------------------------------------------------------------- */

bool tdc_is_matrix(const array *x)
{
    return x->rank >= 2;
}

static void check_matrix(evaluation *e, const array *x, bool square)
{
    if (x->rank < 2 || (square && x->shape[x->rank - 1] != x->shape[x->rank - 2]))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "must be batches of %smatrices", square ? "square " : "");
}

static int64_t rows_of(const array *x)
{
    return x->shape[x->rank - 2];
}

static int64_t columns_of(const array *x)
{
    return x->shape[x->rank - 1];
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* [x's batch..., rows, columns], or without columns when they are negative. */
static array *batch_like(evaluation *e, tdc_dtype dtype, const array *x, int64_t rows,
                         int64_t columns)
{
    int64_t shape[TDC_REFERENCE_RANK];
    memcpy(shape, x->shape, sizeof shape);
    shape[x->rank - 2] = rows;
    if (columns >= 0)
        shape[x->rank - 1] = columns;
    return tdc_new(e, dtype, columns >= 0 ? x->rank : x->rank - 1, shape);
}

static int64_t matrices_in(const array *x)
{
    int64_t n = 1;
    for (unsigned d = 0; d + 2 < x->rank; d++)
        n *= x->shape[d];
    return n;
}

array *tdc_turned(evaluation *e, array *x)
{
    return tdc_swap(e, x, x->rank - 2, x->rank - 1);
}

static array *triangle(evaluation *e, array *x, int64_t k, bool below)
{
    int64_t m = rows_of(x), n = columns_of(x);
    array *mask = tdc_new(e, TDC_F64, 2, (const int64_t[]){m, n});
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            mask->real[i * n + j] = below ? j - i <= k : j - i >= k;
    return tdc_mul(e, x, mask);
}

array *tdc_below(evaluation *e, array *x, int64_t k)
{
    return triangle(e, x, k, true);
}

array *tdc_above(evaluation *e, array *x, int64_t k)
{
    return triangle(e, x, k, false);
}

array *tdc_unit_matrix(evaluation *e, int64_t n)
{
    array *y = tdc_zeros(e, TDC_F64, 2, (const int64_t[]){n, n});
    for (int64_t i = 0; i < n; i++)
        y->real[i * n + i] = 1;
    return y;
}

array *tdc_columns_times(evaluation *e, array *x, array *factors)
{
    return tdc_mul(e, x, tdc_unsqueeze(e, factors, factors->rank - 1));
}

static array *rows_times(evaluation *e, array *factors, array *x)
{
    return tdc_mul(e, tdc_unsqueeze(e, factors, factors->rank), x);
}

/* x - x^T */
static array *skew(evaluation *e, array *x)
{
    return tdc_sub(e, x, tdc_turned(e, x));
}

/* Leading columns of batches. */
static array *first_columns(evaluation *e, array *x, int64_t count)
{
    return columns_of(x) == count ? x : tdc_slice(e, x, x->rank - 1, 0, count, 1);
}

static const double *recorded_matrix(const array *choice, const array *like, int64_t which)
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
    array *u, *s, *v; /* k columns */
};

/* 1 / (s_j^2 - s_i^2), 0 on the diagonal */
static array *gaps(evaluation *e, array *s)
{
    int64_t k = s->shape[s->rank - 1], count = s->count == 0 ? 0 : s->count / k;
    int64_t shape[TDC_REFERENCE_RANK];
    memcpy(shape, s->shape, sizeof shape);
    shape[s->rank] = k;
    array *y = tdc_new(e, TDC_F64, s->rank + 1, shape);
    for (int64_t b = 0; b < count; b++)
        for (int64_t i = 0; i < k; i++)
            for (int64_t j = 0; j < k; j++) {
                double x = s->real[b * k + i], z = s->real[b * k + j];
                y->real[(b * k + i) * k + j] = i == j ? 0 : 1 / ((z - x) * (z + x));
            }
    return y;
}

/* From gradients of the left (or right) vectors to the inner matrix. */
static array *inner_of(evaluation *e, array *vectors, array *gradient, array *s)
{
    array *x = skew(e, tdc_matmul(e, tdc_turned(e, vectors), gradient));
    return tdc_mul(e, x, gaps(e, s));
}

/* (1 - w w^T) g / s: what leaves the space of the vectors */
static array *outside(evaluation *e, array *w, array *g, array *s)
{
    array *along = tdc_matmul(e, w, tdc_matmul(e, tdc_turned(e, w), g));
    return tdc_columns_times(e, tdc_sub(e, g, along), tdc_apply(e, TDC_RECIPROCAL, s));
}

static void collect_between(evaluation *e, array *x, const struct svd_detail *d, array *inner)
{
    tdc_collect(e, x, tdc_matmul(e, tdc_matmul(e, d->u, inner), tdc_turned(e, d->v)));
}

static void pull_singular(evaluation *e, struct tdc_tape_node *node, array *gradient)
{
    const struct svd_detail *d = node->detail;
    array *turned = tdc_columns_times(e, d->u, gradient);
    tdc_collect(e, node->inputs[0], tdc_matmul(e, turned, tdc_turned(e, d->v)));
}

static void pull_left(evaluation *e, struct tdc_tape_node *node, array *gradient)
{
    const struct svd_detail *d = node->detail;
    array *g = first_columns(e, gradient, columns_of(d->u));
    collect_between(e, node->inputs[0], d, tdc_columns_times(e, inner_of(e, d->u, g, d->s), d->s));
    if (rows_of(d->u) > columns_of(d->u))
        tdc_collect(e, node->inputs[0],
                    tdc_matmul(e, outside(e, d->u, g, d->s), tdc_turned(e, d->v)));
}

static void pull_right(evaluation *e, struct tdc_tape_node *node, array *gradient)
{
    const struct svd_detail *d = node->detail;
    array *g = first_columns(e, gradient, columns_of(d->v));
    collect_between(e, node->inputs[0], d, rows_times(e, d->s, inner_of(e, d->v, g, d->s)));
    if (rows_of(d->v) > columns_of(d->v))
        tdc_collect(e, node->inputs[0],
                    tdc_matmul(e, d->u, tdc_turned(e, outside(e, d->v, g, d->s))));
}

static void settle_singular(evaluation *e, const struct tdc_side *u, const struct tdc_side *v,
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

struct tdc_singular tdc_svd(evaluation *e, array *x, bool whole, const array *choice_u,
                            const array *choice_v)
{
    check_matrix(e, x, false);
    int64_t m = rows_of(x), n = columns_of(x), k = smaller(m, n), count = matrices_in(x);
    array *u = batch_like(e, TDC_F64, x, m, m), *v = batch_like(e, TDC_F64, x, n, n);
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

static void pull_eigenvalues(evaluation *e, struct tdc_tape_node *node, array *gradient)
{
    array *v = ((const struct tdc_symmetric *)node->detail)->v;
    tdc_collect(e, node->inputs[0],
                tdc_matmul(e, tdc_columns_times(e, v, gradient), tdc_turned(e, v)));
}

/* v (v^T g / (w_j - w_i)) v^T, made symmetric */
static void pull_eigenvectors(evaluation *e, struct tdc_tape_node *node, array *gradient)
{
    const struct tdc_symmetric *d = node->detail;
    array *inner = tdc_matmul(e, tdc_turned(e, d->v), gradient);
    array *y = tdc_new_like(e, TDC_F64, inner);
    int64_t n = columns_of(inner);
    for (int64_t i = 0; i < y->count; i++) {
        int64_t row = i / n % n, column = i % n;
        const double *w = d->w->real + i / (n * n) * n;
        y->real[i] = row == column ? 0 : inner->real[i] / (w[column] - w[row]);
    }
    array *g = tdc_matmul(e, tdc_matmul(e, d->v, y), tdc_turned(e, d->v));
    tdc_collect(e, node->inputs[0], tdc_scale(e, tdc_add(e, g, tdc_turned(e, g)), 0.5));
}

struct tdc_symmetric tdc_eigh(evaluation *e, array *x, bool upper, const array *choice)
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
static array *qr_gradient(evaluation *e, array *q, array *r, array *g_q, array *g_r)
{
    array *m = NULL;
    if (g_r != NULL)
        m = tdc_matmul(e, r, tdc_turned(e, g_r));
    if (g_q != NULL) {
        array *t = tdc_matmul(e, tdc_turned(e, g_q), q);
        m = m == NULL ? tdc_scale(e, t, -1) : tdc_sub(e, m, t);
    }
    array *mirrored = tdc_add(e, tdc_below(e, m, 0), tdc_turned(e, tdc_below(e, m, -1)));
    array *y = tdc_matmul(e, q, mirrored);
    if (g_q != NULL)
        y = tdc_add(e, y, g_q);
    return tdc_matmul(e, y, tdc_turned(e, tdc_inverse(e, r)));
}

/* Of a wide x = [left, right] with q and u from left alone: r = [u, q^T right]. */
static void collect_qr(evaluation *e, array *x, const struct tdc_orthogonal *d, array *g_q,
                       array *g_r)
{
    int64_t m = rows_of(x), n = columns_of(x), k = columns_of(d->q);
    if (k > smaller(m, n))
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "the gradient of a whole orthogonal matrix");
    if (m >= n) {
        tdc_collect(e, x, qr_gradient(e, d->q, d->r, g_q, g_r));
        return;
    }
    unsigned last = x->rank - 1;
    array *right = tdc_slice(e, tdc_constant(e, x), last, m, n - m, 1);
    array *u = tdc_slice(e, d->r, last, 0, m, 1), *g_u = NULL, *g_right = NULL;
    if (g_r != NULL) {
        array *g_v = tdc_slice(e, g_r, last, m, n - m, 1);
        array *more = tdc_matmul(e, right, tdc_turned(e, g_v));
        g_u = tdc_slice(e, g_r, last, 0, m, 1);
        g_q = g_q == NULL ? more : tdc_add(e, g_q, more);
        g_right = tdc_matmul(e, d->q, g_v);
    } else {
        g_right = tdc_zeros(e, TDC_F64, right->rank, right->shape);
    }
    array *pieces[2] = {qr_gradient(e, d->q, u, g_q, g_u), g_right};
    tdc_collect(e, x, tdc_concatenate(e, pieces, 2, last));
}

static void pull_q(evaluation *e, struct tdc_tape_node *node, array *gradient)
{
    collect_qr(e, node->inputs[0], node->detail, gradient, NULL);
}

static void pull_r(evaluation *e, struct tdc_tape_node *node, array *gradient)
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

struct tdc_orthogonal tdc_qr(evaluation *e, array *x, bool whole, const array *choice_r)
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
static void pull_root(evaluation *e, struct tdc_tape_node *node, array *gradient)
{
    array *l = tdc_constant(e, node->output), *inverse = tdc_inverse(e, l);
    array *m = tdc_matmul(e, tdc_turned(e, l), gradient);
    array *phi = tdc_scale(e, tdc_add(e, tdc_below(e, m, 0), tdc_below(e, m, -1)), 0.5);
    array *g = tdc_matmul(e, tdc_matmul(e, tdc_turned(e, inverse), phi), inverse);
    tdc_collect(e, node->inputs[0], tdc_scale(e, tdc_add(e, g, tdc_turned(e, g)), 0.5));
}

array *tdc_lower_root(evaluation *e, array *x, array **info)
{
    check_matrix(e, x, true);
    int64_t n = columns_of(x), count = matrices_in(x);
    array *y = tdc_new_like(e, TDC_F64, x);
    *info = tdc_new(e, TDC_I32, x->rank - 2, x->shape);
    for (int64_t i = 0; i < count; i++)
        (*info)->whole[i] = tdc_cholesky(x->real + i * n * n, n, y->real + i * n * n);
    tdc_bound_factor(e, x, y);
    tdc_note(e, y, pull_root, NULL, 1, &x);
    return y;
}

array *tdc_permutation(evaluation *e, const array *pivots, int64_t m)
{
    int64_t shape[TDC_REFERENCE_RANK], k = pivots->shape[pivots->rank - 1];
    memcpy(shape, pivots->shape, sizeof shape);
    shape[pivots->rank - 1] = shape[pivots->rank] = m;
    array *p = tdc_zeros(e, TDC_F64, pivots->rank + 1, shape);
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
static void pull_lu(evaluation *e, struct tdc_tape_node *node, array *gradient)
{
    array *x = node->inputs[0], *packed = tdc_constant(e, node->output);
    int64_t n = columns_of(x);
    if (rows_of(x) != n)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "the gradient of factors that are not square");
    array *l = tdc_add(e, tdc_below(e, packed, -1), tdc_unit_matrix(e, n));
    array *u = tdc_above(e, packed, 0), *p = tdc_permutation(e, node->detail, n);
    array *g_l = tdc_below(e, gradient, -1), *g_u = tdc_above(e, gradient, 0);
    array *low = tdc_below(e, tdc_matmul(e, tdc_turned(e, l), g_l), -1);
    array *high = tdc_above(e, tdc_matmul(e, g_u, tdc_turned(e, u)), 0);
    array *g = tdc_matmul(e, tdc_turned(e, tdc_inverse(e, l)), tdc_add(e, low, high));
    g = tdc_matmul(e, g, tdc_turned(e, tdc_inverse(e, u)));
    tdc_collect(e, x, tdc_matmul(e, p, g));
}

array *tdc_lu(evaluation *e, array *x, array **pivots)
{
    check_matrix(e, x, false);
    int64_t m = rows_of(x), n = columns_of(x), k = smaller(m, n);
    array *y = tdc_new_like(e, TDC_F64, x);
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
