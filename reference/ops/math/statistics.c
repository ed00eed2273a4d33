/* Norms, variances, histograms. */
#include <math.h>
#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/binary.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/reduce.h"

static double order_argument(tdc_evaluation *e, const char *name)
{
    const tdc_call_value *p = tdc_argument(e, name);
    if (p->kind == TDC_VALUE_NULL)
        return 2;
    if (p->kind != TDC_VALUE_TEXT)
        return tdc_real_argument(e, name);
    if (strcmp(p->text, "fro") == 0)
        return 2;
    if (strcmp(p->text, "inf") == 0 || strcmp(p->text, "-inf") == 0)
        return p->text[0] == '-' ? -(double)INFINITY : (double)INFINITY;
    tdc_refuse(e, TDC_ERR_UNSUPPORTED, "norm '%.20s'", p->text);
}

/* Of a matrix: the extreme of its column sums (p 1, -1) or row sums (inf, -inf) of magnitudes. */
static tdc_array *matrix_norm(tdc_evaluation *e, tdc_array *x, double p, unsigned row,
                              unsigned column, bool keepdim)
{
    bool first[TDC_REFERENCE_RANK] = {false}, second[TDC_REFERENCE_RANK] = {false};
    first[isinf(p) ? column : row] = true;
    second[isinf(p) ? row : column] = true;
    if (!isinf(p) && fabs(p) != 1)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "a norm of singular values");
    tdc_array *sums = tdc_sum(e, tdc_apply(e, TDC_ABS, x), first, true);
    tdc_array *y = tdc_extreme_shared(e, tdc_rows(e, sums, second), p > 0);
    first[row] = first[column] = true;
    return tdc_reduced_shape(e, y, x, first, keepdim);
}

/* Two dimensions and an order other than Frobenius' mean a matrix norm. */
static bool is_matrix_norm(tdc_evaluation *e, const tdc_array *x, unsigned dims[2])
{
    const tdc_call_value *p = tdc_argument(e, "p");
    int64_t list[TDC_REFERENCE_RANK] = {-2, -1};
    size_t count = x->rank;
    if (tdc_given(e, "dim"))
        count = tdc_ints_argument(e, "dim", list, TDC_REFERENCE_RANK);
    if (count != 2 || p->kind == TDC_VALUE_NULL ||
        (p->kind == TDC_VALUE_TEXT && strcmp(p->text, "fro") == 0))
        return false;
    dims[0] = tdc_dimension(e, list[0], x->rank);
    dims[1] = tdc_dimension(e, list[1], x->rank);
    if (dims[0] == dims[1])
        tdc_refuse(e, TDC_ERR_ARGUMENT, "dimension %u appears twice", dims[0]);
    return true;
}

/* variant 1: of vectors or of matrices */
static void norm(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input");
    bool reduced[TDC_REFERENCE_RANK];
    unsigned dims[2];
    if (e->definition->variant == 1 && is_matrix_norm(e, x, dims)) {
        tdc_give(e, matrix_norm(e, x, order_argument(e, "p"), dims[0], dims[1],
                                tdc_bool_argument(e, "keepdim")));
        return;
    }
    tdc_dims_argument(e, "dim", x->rank, reduced);
    tdc_array *y = tdc_norm_rows(e, tdc_rows(e, x, reduced), order_argument(e, "p"));
    tdc_give(e, tdc_reduced_shape(e, y, x, reduced, tdc_bool_argument(e, "keepdim")));
}

static void dist(tdc_evaluation *e)
{
    tdc_array *d = tdc_sub(e, tdc_array_argument(e, "input"), tdc_array_argument(e, "other"));
    bool all[TDC_REFERENCE_RANK];
    memset(all, 1, sizeof all);
    tdc_give(e, tdc_norm_rows(e, tdc_rows(e, d, all), tdc_real_argument(e, "p")));
}

/* torch's older form has unbiased=True where newer ones have correction=1, also positionally. */
static double correction_argument(tdc_evaluation *e)
{
    const tdc_call_value *c = tdc_argument(e, "correction");
    return c->kind == TDC_VALUE_NULL ? 1 : tdc_real_argument(e, "correction");
}

enum spread {
    VAR = 0,
    STD = 1,
    WITH_MEAN = 2
};

static void spread(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input");
    bool reduced[TDC_REFERENCE_RANK];
    int64_t n = 1;
    double correction = correction_argument(e);
    const tdc_call_value *dim = tdc_argument(e, "dim");
    bool flag_only = dim->kind == TDC_VALUE_BOOL; /* var(unbiased) */
    if (flag_only) {
        correction = (double)dim->whole;
        memset(reduced, 1, sizeof reduced);
    } else {
        tdc_dims_argument(e, "dim", x->rank, reduced);
    }
    for (unsigned d = 0; d < x->rank; d++)
        n *= reduced[d] ? x->shape[d] : 1;
    tdc_array *mean = tdc_mean(e, x, reduced, true);
    tdc_array *squares = tdc_apply(e, TDC_SQUARE, tdc_sub(e, x, mean));
    bool keepdim = tdc_bool_argument(e, "keepdim");
    tdc_array *y = tdc_sum(e, squares, reduced, keepdim);
    y = tdc_div(e, y, tdc_number(e, fmax((double)n - correction, 0)));
    if ((e->definition->variant & STD) != 0)
        y = tdc_apply(e, TDC_SQRT, y);
    tdc_give(e, y);
    if ((e->definition->variant & WITH_MEAN) != 0)
        tdc_give(e, tdc_mean(e, x, reduced, keepdim));
}

static void histc(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input");
    int64_t bins = tdc_int_argument(e, "bins");
    double low = tdc_real_argument(e, "min"), high = tdc_real_argument(e, "max");
    if (bins < 1)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "bins must be positive");
    if (low == high && x->count > 0) {
        low = high = x->real[0];
        for (int64_t i = 1; i < x->count; i++) {
            low = fmin(low, x->real[i]);
            high = fmax(high, x->real[i]);
        }
    }
    if (!isfinite(low) || !isfinite(high) || low > high)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "range is not finite");
    if (low == high) {
        low -= 1;
        high += 1;
    }
    tdc_array *y = tdc_zeros(e, TDC_F64, 1, &bins);
    for (int64_t i = 0; i < x->count; i++) {
        double v = x->real[i];
        if (!(v >= low && v <= high))
            continue;
        int64_t bin = (int64_t)((v - low) / (high - low) * (double)bins);
        y->real[bin < bins ? bin : bins - 1] += 1;
    }
    tdc_give(e, y);
}

#define METHODS TDC_IN_METHODS
#define SPREAD  "input, dim=None, correction=1, keepdim=False"
static const struct tdc_operator rows[] = {
    {"norm", METHODS, "input, p='fro', dim=None, keepdim=False, out=None, dtype=None", norm, 0, 0},
    {"linalg.norm", METHODS, "input, p=None, dim=None, keepdim=False, *, dtype=None", norm, 1, 0},
    {"linalg.vector_norm", METHODS, "input, p=2, dim=None, keepdim=False, *, dtype=None", norm, 0,
     0},
    {"frobenius_norm", METHODS, "input, dim=None, keepdim=False, *, p=2", norm, 0, 0},
    {"dist", METHODS, "input, other, p=2", dist, 0, 0},
    {"var", METHODS, SPREAD, spread, VAR, 0},
    {"std", METHODS, SPREAD, spread, STD, 0},
    {"var_mean", METHODS, SPREAD, spread, VAR | WITH_MEAN, 0},
    {"std_mean", METHODS, SPREAD, spread, STD | WITH_MEAN, 0},
    {"histc", METHODS, "input, bins=100, min=0, max=0", histc, 0, TDC_NO_GRADIENT},
};
const struct tdc_operator_family tdc_statistics_family = TDC_FAMILY("statistics", rows);
