/* Quantiles, and the most frequent element. */
#include <math.h>
#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/promote.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/move.h"
#include "reference/primitives/reduce.h"
#include "reference/primitives/sort.h"

#define RANK TDC_REFERENCE_RANK

enum between {
    LINEAR,
    LOWER,
    HIGHER,
    NEAREST,
    MIDPOINT
};

static enum between between_argument(tdc_evaluation *e)
{
    static const char *const names[] = {"linear", "lower", "higher", "nearest", "midpoint"};
    const char *text = tdc_text_argument(e, "interpolation");
    for (int i = 0; i < 5; i++)
        if (strcmp(text, names[i]) == 0)
            return (enum between)i;
    tdc_refuse(e, TDC_ERR_ARGUMENT, "unknown interpolation");
}

/* Elements of a sorted row that are no NaN; those come last. */
static int64_t numbers_of(const tdc_array *rows, const int64_t *order, int64_t base, int64_t n)
{
    int64_t count = n;
    while (count > 0 && isnan(rows->real[base + order[count - 1]]))
        count--;
    return count;
}

/* Which two elements of each row, and how far between them, for one q. */
struct places {
    tdc_array *low, *high, *weight;
};

static struct places find_places(tdc_evaluation *e, tdc_array *rows, const tdc_array *order,
                                 double q, enum between how, bool skip_nan)
{
    int64_t n = rows->shape[rows->rank - 1];
    struct places p = {tdc_new(e, TDC_I64, rows->rank - 1, rows->shape),
                       tdc_new(e, TDC_I64, rows->rank - 1, rows->shape),
                       tdc_new(e, TDC_F64, rows->rank - 1, rows->shape)};
    for (int64_t r = 0; r < p.low->count; r++) {
        const int64_t *own = order->whole + r * n;
        int64_t count = numbers_of(rows, own, r * n, n);
        bool spoilt = count == 0 || (count < n && !skip_nan);
        double at = spoilt ? (double)(n - 1) : q * (double)(count - 1);
        if (how == LOWER || how == HIGHER)
            at = how == LOWER ? floor(at) : ceil(at);
        else if (how == NEAREST)
            at = rint(at);
        double below = floor(at), above = ceil(at);
        p.low->whole[r] = own[(int64_t)below];
        p.high->whole[r] = own[(int64_t)above];
        p.weight->real[r] = how == MIDPOINT ? 0.5 : at - below;
    }
    return p;
}

/* From the nearer of both, as the framework does it. */
static tdc_array *blended(tdc_evaluation *e, tdc_array *rows, const struct places *p)
{
    tdc_array *low = tdc_pick(e, rows, p->low), *high = tdc_pick(e, rows, p->high);
    tdc_array *gap = tdc_sub(e, high, low);
    tdc_array *from_low = tdc_add(e, low, tdc_mul(e, gap, p->weight));
    tdc_array *rest = tdc_shift(e, tdc_scale(e, p->weight, -1), 1);
    tdc_array *from_high = tdc_sub(e, high, tdc_mul(e, gap, rest));
    tdc_array *near = tdc_relate(e, TDC_LT, p->weight, tdc_number(e, 0.5));
    return tdc_select(e, near, from_low, from_high);
}

/* variant 1: NaNs are left out */
static void quantile(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input"), *q = tdc_real_array_argument(e, "q");
    enum between how = between_argument(e);
    bool reduced[RANK];
    tdc_dims_argument(e, "dim", x->rank, reduced);
    tdc_array *rows = tdc_rows(e, x, reduced);
    if (q->rank > 1 || rows->shape[rows->rank - 1] == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "q must be a number or a vector, the input not empty");
    tdc_array *order = tdc_order_rows(e, rows, false);
    tdc_array **found = tdc_take(e, q->count + 1, sizeof *found);
    for (int64_t i = 0; i < q->count; i++) {
        if (!(q->real[i] >= 0 && q->real[i] <= 1))
            tdc_refuse(e, TDC_ERR_ARGUMENT, "q must be between 0 and 1");
        struct places p = find_places(e, rows, order, q->real[i], how, e->definition->variant != 0);
        tdc_array *y =
            tdc_reduced_shape(e, blended(e, rows, &p), x, reduced, tdc_bool_argument(e, "keepdim"));
        found[i] = q->rank == 0 ? y : tdc_unsqueeze(e, y, 0);
    }
    if (q->count == 0)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "no q at all");
    tdc_give(e, q->rank == 0 ? found[0] : tdc_concatenate(e, found, (size_t)q->count, 0));
}

static bool equal_elements(const tdc_array *x, int64_t a, int64_t b)
{
    if (tdc_dtype_is_floating(x->dtype))
        return tdc_compare_reals(x->real[a], x->real[b]) == 0;
    return x->whole[a] == x->whole[b];
}

/* The smallest of the most frequent elements of a row; its last place. */
static void mode(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    bool reduced[RANK] = {false}, keepdim = tdc_bool_argument(e, "keepdim");
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    reduced[dim] = true;
    tdc_array *rows = tdc_rows(e, x, reduced), *order = tdc_order_rows(e, rows, false);
    int64_t n = rows->shape[rows->rank - 1];
    tdc_array *index = tdc_new(e, TDC_I64, rows->rank - 1, rows->shape);
    if (n == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "an empty dimension");
    for (int64_t r = 0; r < index->count; r++) {
        const int64_t *own = order->whole + r * n;
        int64_t best = 0, most = 0;
        for (int64_t from = 0, to; from < n; from = to) {
            for (to = from + 1; to < n && equal_elements(rows, r * n + own[from], r * n + own[to]);)
                to++;
            if (to - from > most) {
                most = to - from;
                best = own[to - 1];
            }
        }
        index->whole[r] = best;
    }
    tdc_give(e, tdc_reduced_shape(e, tdc_pick(e, rows, index), x, reduced, keepdim));
    tdc_give(e, tdc_reduced_shape(e, index, x, reduced, keepdim));
}

#define METHODS  TDC_IN_METHODS
#define QUANTILE "input, q, dim=None, keepdim=False, *, interpolation='linear'"
static const struct tdc_operator rows[] = {
    {"quantile", METHODS, QUANTILE, quantile, 0, 0},
    {"nanquantile", METHODS, QUANTILE, quantile, 1, 0},
    {"mode", METHODS, "input, dim=-1, keepdim=False", mode, 0, 0},
};
const struct tdc_operator_family tdc_quantile_family = TDC_FAMILY("quantiles", rows);
