/* Decompositions: singular values, eigenvalues, orthogonal and triangular factors. */
#include <math.h>
#include <string.h>

#include "reference/ops/linear/matrix_arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/binary.h"
#include "reference/primitives/matrix/decompose.h"
#include "reference/primitives/matrix/factors.h"
#include "reference/primitives/matrix/product.h"
#include "reference/primitives/move.h"

/* What was recorded as output `which`, when it is a tensor of floating numbers. */
static const tdc_array *recorded(const tdc_evaluation *e, size_t which)
{
    if (which >= e->record_count || e->record[which].kind != TDC_VALUE_TENSOR)
        return NULL;
    const tdc_array *a = e->record[which].tensor;
    return tdc_dtype_is_floating(a->dtype) && !a->complex && a->rank >= 2 ? a : NULL;
}

/* ---- singular values ------------------------------------------------------------------------- */

/* |u diag(s) w - x|^2 of the first matrix, w as it is or turned: which of the two was meant */
static double misfit(const tdc_array *x, const tdc_array *u, const tdc_array *s, const tdc_array *w,
                     bool turned)
{
    int64_t m = x->shape[x->rank - 2], n = x->shape[x->rank - 1], k = s->shape[s->rank - 1];
    int64_t line = u->shape[u->rank - 1], width = w->shape[w->rank - 1];
    double sum = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double y = -x->real[i * n + j];
            for (int64_t c = 0; c < k; c++)
                y += u->real[i * line + c] * s->real[c] *
                     (turned ? w->real[j * width + c] : w->real[c * width + j]);
            sum += y * y;
        }
    return sum;
}

struct svd_form {
    bool linalg; /* gives v's transpose */
    bool whole;  /* square matrices of vectors */
};

/* torch.svd(some, compute_uv) and torch.linalg.svd(full_matrices) are recorded under one name: what
 * was recorded, or else the arguments' names, tell them apart. */
static struct svd_form svd_form(tdc_evaluation *e, const tdc_array *x)
{
    int64_t m = x->shape[x->rank - 2], n = x->shape[x->rank - 1], k = m < n ? m : n;
    const tdc_array *u = recorded(e, 0), *w = recorded(e, 2);
    const tdc_array *s = u != NULL && w != NULL && e->record[1].kind == TDC_VALUE_TENSOR
                             ? e->record[1].tensor
                             : NULL;
    const tdc_call_value *some = tdc_argument(e, "some");
    struct svd_form form = {.linalg = true, .whole = true};
    if (s == NULL || s->complex || s->rank == 0 || x->count == 0 || s->count == 0 ||
        u->count == 0 || w->count == 0 || s->shape[s->rank - 1] != k ||
        !tdc_dtype_is_floating(s->dtype) || u->shape[u->rank - 2] != m ||
        u->shape[u->rank - 1] < k) {
        bool named = tdc_given(e, "full_matrices");
        form.linalg = named || !(tdc_given(e, "compute_uv") || tdc_given(e, "some"));
        form.whole = named ? tdc_bool_argument(e, "full_matrices")
                           : form.linalg || (some->kind == TDC_VALUE_BOOL && some->whole == 0);
        return form;
    }
    int64_t rows = w->shape[w->rank - 2], columns = w->shape[w->rank - 1];
    bool plain = columns == n && rows >= k, turned = rows == n && columns >= k;
    if (!plain && !turned)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "the recorded vectors do not fit the matrix");
    form.linalg = plain && (!turned || misfit(x, u, s, w, false) <= misfit(x, u, s, w, true));
    form.whole = u->shape[u->rank - 1] == m && rows == n && columns == n;
    return form;
}

static void svd(tdc_evaluation *e)
{
    tdc_array *x = tdc_matrix_argument(e, "input");
    struct svd_form form = svd_form(e, x);
    const tdc_array *v = recorded(e, 2);
    tdc_array *turned = v == NULL ? NULL : tdc_constant(e, (tdc_array *)v);
    if (turned != NULL && form.linalg)
        turned = tdc_turned(e, turned);
    struct tdc_singular y = tdc_svd(e, x, form.whole, recorded(e, 0), turned);
    tdc_give(e, y.u);
    tdc_give(e, y.s);
    tdc_give(e, form.linalg ? tdc_turned(e, y.v) : y.v);
}

static void singular_values(tdc_evaluation *e)
{
    tdc_give(e, tdc_svd(e, tdc_matrix_argument(e, "input"), false, NULL, NULL).s);
}

/* ---- eigenvalues ----------------------------------------------------------------------------- */

static bool upper_argument(tdc_evaluation *e)
{
    const tdc_call_value *v = tdc_argument(e, "UPLO");
    return v->kind == TDC_VALUE_TEXT && (v->text[0] == 'U' || v->text[0] == 'u');
}

static void eigh(tdc_evaluation *e)
{
    struct tdc_symmetric y =
        tdc_eigh(e, tdc_matrix_argument(e, "input"), upper_argument(e), recorded(e, 1));
    tdc_give(e, y.w);
    if (e->definition->variant == 0)
        tdc_give(e, y.v);
}

/* ---- orthogonal factors ---------------------------------------------------------------------- */

/* mode 'reduced', 'complete' or 'r' of linalg.qr; a bool, `some`, of torch.qr */
static void qr(tdc_evaluation *e)
{
    tdc_array *x = tdc_matrix_argument(e, "input");
    const tdc_call_value *mode = tdc_argument(e, "mode");
    bool whole = mode->kind == TDC_VALUE_TEXT ? strcmp(mode->text, "complete") == 0
                                              : mode->kind == TDC_VALUE_BOOL && mode->whole == 0;
    bool alone = mode->kind == TDC_VALUE_TEXT && strcmp(mode->text, "r") == 0;
    struct tdc_orthogonal y = tdc_qr(e, x, whole, recorded(e, 1));
    tdc_give(e, alone ? tdc_zeros(e, TDC_F64, 1, (const int64_t[]){0}) : y.q);
    tdc_give(e, y.r);
}

/* Reflectors and their factors as LAPACK packs them. */
static void geqrf(tdc_evaluation *e)
{
    tdc_array *x = tdc_matrix_argument(e, "input");
    int64_t m = x->shape[x->rank - 2], n = x->shape[x->rank - 1], k = m < n ? m : n;
    int64_t shape[TDC_REFERENCE_RANK];
    memcpy(shape, x->shape, sizeof shape);
    shape[x->rank - 2] = k;
    tdc_array *y = tdc_new_like(e, TDC_F64, x), *tau = tdc_new(e, TDC_F64, x->rank - 1, shape);
    memcpy(y->real, x->real, (size_t)y->count * sizeof *y->real);
    for (int64_t i = 0; m * n > 0 && i < x->count / (m * n); i++)
        tdc_reflect(y->real + i * m * n, m, n, tau->real + i * k);
    tdc_give(e, y);
    tdc_give(e, tau);
}

/* (1 - tau v v^T) c with v = column k of the packed reflectors */
static tdc_array *reflected(tdc_evaluation *e, tdc_array *packed, tdc_array *tau, int64_t k,
                            tdc_array *c)
{
    unsigned last = packed->rank - 1;
    tdc_array *v = tdc_slice(e, packed, last, k, 1, 1);
    int64_t m = v->shape[last - 1];
    tdc_array *unit = tdc_zeros(e, TDC_F64, 2, (const int64_t[]){m, 1});
    tdc_array *mask = tdc_zeros(e, TDC_F64, 2, (const int64_t[]){m, 1});
    for (int64_t i = k + 1; i < m; i++)
        mask->real[i] = 1;
    unit->real[k] = 1;
    v = tdc_add(e, tdc_mul(e, v, mask), unit);
    tdc_array *factor = tdc_unsqueeze(e, tdc_slice(e, tau, tau->rank - 1, k, 1, 1), tau->rank);
    tdc_array *along = tdc_mul(e, factor, tdc_matmul(e, tdc_turned(e, v), c));
    return tdc_sub(e, c, tdc_matmul(e, v, along));
}

/* The first columns of the product of the reflections. */
static void householder_product(tdc_evaluation *e)
{
    tdc_array *x = tdc_matrix_argument(e, "input"), *tau = tdc_real_array_argument(e, "tau");
    int64_t m = x->shape[x->rank - 2], n = x->shape[x->rank - 1];
    if (tau->rank + 1 != x->rank || n > m || tau->shape[tau->rank - 1] > n)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "reflectors and their factors do not fit");
    tdc_array *c = tdc_slice(e, tdc_unit_matrix(e, m), 1, 0, n, 1);
    for (int64_t k = tau->shape[tau->rank - 1] - 1; k >= 0; k--)
        c = reflected(e, x, tau, k, c);
    tdc_give(e, tdc_expand(e, c, x->rank, x->shape));
}

/* q c, q^T c, c q or c q^T; c q^T = (q c^T)^T */
static void ormqr(tdc_evaluation *e)
{
    tdc_array *x = tdc_matrix_argument(e, "input"), *tau = tdc_real_array_argument(e, "tau");
    tdc_array *c = tdc_matrix_argument(e, "other");
    bool left = tdc_bool_argument(e, "left"), transpose = tdc_bool_argument(e, "transpose");
    int64_t k = tau->shape[tau->rank - 1];
    if (tau->rank + 1 != x->rank || k > x->shape[x->rank - 1])
        tdc_refuse(e, TDC_ERR_ARGUMENT, "reflectors and their factors do not fit");
    c = left ? c : tdc_turned(e, c);
    if (c->shape[c->rank - 2] != x->shape[x->rank - 2])
        tdc_refuse(e, TDC_ERR_ARGUMENT, "reflectors and their operand do not fit");
    bool first = transpose == left; /* q^T = h_k .. h_1: the first reflection comes first */
    for (int64_t i = 0; i < k; i++)
        c = reflected(e, x, tau, first ? i : k - 1 - i, c);
    tdc_give(e, left ? c : tdc_turned(e, c));
}

/* ---- triangles ------------------------------------------------------------------------------- */

/* The upper factor of a symmetric matrix is the lower one turned. */
static void cholesky(tdc_evaluation *e)
{
    tdc_array *info, *x = tdc_matrix_argument(e, "input");
    bool upper = tdc_bool_argument(e, "upper");
    tdc_array *l = tdc_lower_root(e, upper ? tdc_turned(e, x) : x, &info);
    bool checked = e->definition->variant == 0;
    for (int64_t i = 0; i < info->count; i++)
        if (info->whole[i] != 0)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "a matrix is not positive definite");
    tdc_give(e, upper ? tdc_turned(e, l) : l);
    if (!checked)
        tdc_give(e, info);
}

static void lu_factor(tdc_evaluation *e)
{
    tdc_array *pivots, *y = tdc_lu(e, tdc_matrix_argument(e, "input"), &pivots);
    tdc_give(e, y);
    tdc_give(e, pivots);
    if (e->definition->variant != 0)
        tdc_give(e, tdc_zeros(e, TDC_I32, y->rank - 2, y->shape));
}

/* p, l and u of packed factors. */
static void give_unpacked(tdc_evaluation *e, tdc_array *packed, const tdc_array *pivots)
{
    int64_t m = packed->shape[packed->rank - 2], n = packed->shape[packed->rank - 1];
    int64_t k = m < n ? m : n;
    tdc_array *l = tdc_below(e, tdc_slice(e, packed, packed->rank - 1, 0, k, 1), -1);
    tdc_array *unit = tdc_zeros(e, TDC_F64, 2, (const int64_t[]){m, k});
    for (int64_t i = 0; i < k; i++)
        unit->real[i * k + i] = 1;
    tdc_give(e, tdc_permutation(e, pivots, m));
    tdc_give(e, tdc_add(e, l, unit));
    tdc_give(e, tdc_above(e, tdc_slice(e, packed, packed->rank - 2, 0, k, 1), 0));
}

static void lu(tdc_evaluation *e)
{
    if (!tdc_bool_argument(e, "pivot"))
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "factors without pivots");
    tdc_array *pivots, *y = tdc_lu(e, tdc_matrix_argument(e, "input"), &pivots);
    give_unpacked(e, y, pivots);
}

static void lu_unpack(tdc_evaluation *e)
{
    tdc_array *pivots = tdc_array_argument(e, "LU_pivots");
    if (tdc_dtype_is_floating(pivots->dtype) || pivots->rank == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "pivots must be integers");
    give_unpacked(e, tdc_matrix_argument(e, "LU_data"), pivots);
}

#define METHODS TDC_IN_METHODS
static const struct tdc_operator rows[] = {
    {"svd linalg.svd _linalg_svd", METHODS,
     "input, some=None, compute_uv=None, *, full_matrices=None, driver=None", svd, 0,
     TDC_TAKES_RECORD},
    {"linalg.svdvals", METHODS, "input, *, driver=None", singular_values, 0, 0},
    {"linalg.eigh _linalg_eigh symeig", METHODS, "input, UPLO='L'", eigh, 0, TDC_TAKES_RECORD},
    {"linalg.eigvalsh", METHODS, "input, UPLO='L'", eigh, 1, 0},
    {"qr linalg.qr", METHODS, "input, mode=None", qr, 0, TDC_TAKES_RECORD},
    {"geqrf", METHODS, "input", geqrf, 0, TDC_NO_GRADIENT},
    {"linalg.householder_product orgqr", METHODS, "input, tau", householder_product, 0, 0},
    {"ormqr", METHODS, "input, tau, other, left=True, transpose=False", ormqr, 0, 0},
    {"cholesky linalg.cholesky", METHODS, "input, upper=False", cholesky, 0, 0},
    {"linalg.cholesky_ex", METHODS, "input, *, upper=False, check_errors=False", cholesky, 1, 0},
    {"lu_factor linalg.lu_factor", METHODS, "input, *, pivot=True", lu_factor, 0, 0},
    {"linalg.lu_factor_ex", METHODS, "input, *, pivot=True, check_errors=False", lu_factor, 1, 0},
    {"lu", TDC_IN_TENSOR, "input, pivot=True, get_infos=False", lu_factor, 0, 0},
    {"linalg.lu", TDC_IN_TORCH | TDC_IN_MINT, "input, *, pivot=True", lu, 0, 0},
    {"lu_unpack", TDC_IN_TORCH | TDC_IN_MINT,
     "LU_data, LU_pivots, unpack_data=True, unpack_pivots=True", lu_unpack, 0, 0},
};
const struct tdc_operator_family tdc_factor_family = TDC_FAMILY("decompositions", rows);
