#include <math.h>
#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/promote.h"
#include "reference/primitives/move.h"
#include "reference/primitives/reduce.h"
#include "reference/primitives/sort.h"

enum parts {
    VALUES = 1,
    INDICES = 2
};

static void sort(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    tdc_array *rows = tdc_dim_last(e, x, dim);
    tdc_array *order = tdc_order_rows(e, rows, tdc_bool_argument(e, "descending"));
    if ((e->definition->variant & VALUES) != 0) {
        tdc_array *y = tdc_dim_back(e, tdc_pick(e, rows, order), dim);
        tdc_give(e, tdc_reshape(e, y, x->rank, x->shape));
    }
    if ((e->definition->variant & INDICES) != 0)
        tdc_give(e, tdc_reshape(e, tdc_dim_back(e, order, dim), x->rank, x->shape));
}

static void topk(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    tdc_array *rows = tdc_dim_last(e, x, dim);
    int64_t k = tdc_int_argument(e, "k");
    if (k < 0 || k > rows->shape[rows->rank - 1])
        tdc_refuse(e, TDC_ERR_ARGUMENT, "selected index k out of range");
    tdc_array *order = tdc_order_rows(e, rows, tdc_bool_argument(e, "largest"));
    order = tdc_slice(e, order, order->rank - 1, 0, k, 1);
    tdc_array *y = tdc_dim_back(e, tdc_pick(e, rows, order), dim);
    order = tdc_dim_back(e, order, dim);
    bool flat = x->rank == 0 && k == 1;
    tdc_give(e, flat ? tdc_squeeze(e, y, 0) : y);
    tdc_give(e, flat ? tdc_squeeze(e, order, 0) : order);
}

/* First place whose element is not below v, or above v. */
static int64_t place_of(const tdc_array *sequence, int64_t base, int64_t n, const int64_t *sorter,
                        double v, bool right)
{
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        int64_t at = sorter != NULL ? sorter[base + middle] : middle;
        int order = tdc_compare_reals(tdc_element(sequence, base + at), v);
        if (right ? order <= 0 : order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void searchsorted(tdc_evaluation *e)
{
    tdc_array *sequence = tdc_array_argument(e, "sorted_sequence");
    tdc_array *wanted = tdc_array_argument(e, "values");
    bool right = tdc_bool_argument(e, "right");
    if (tdc_given(e, "side"))
        right = strcmp(tdc_text_argument(e, "side"), "right") == 0;
    tdc_array *sorter = tdc_given(e, "sorter") ? tdc_array_argument(e, "sorter") : NULL;
    if (sequence->rank == 0 || (sorter != NULL && !tdc_same_shape(sorter, sequence)))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "sorted_sequence must have dimensions");
    int64_t n = sequence->shape[sequence->rank - 1];
    int64_t per_row = wanted->count;
    if (sequence->rank > 1) {
        bool fits = sequence->rank == wanted->rank;
        for (unsigned d = 0; fits && d + 1 < wanted->rank; d++)
            fits = wanted->shape[d] == sequence->shape[d];
        if (!fits)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "leading dimensions must match");
        per_row = wanted->shape[wanted->rank - 1];
    }
    for (int64_t i = 0; sorter != NULL && i < sorter->count; i++)
        if (sorter->whole[i] < 0 || sorter->whole[i] >= n)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "sorter index out of range");
    tdc_array *y = tdc_new_like(e, tdc_bool_argument(e, "out_int32") ? TDC_I32 : TDC_I64, wanted);
    for (int64_t i = 0; i < y->count; i++)
        y->whole[i] = place_of(sequence, i / per_row * n, n, sorter == NULL ? NULL : sorter->whole,
                               tdc_element(wanted, i), right);
    tdc_give(e, y);
}

static void give_nonzero(tdc_evaluation *e, tdc_array *x, bool as_tuple)
{
    tdc_array *truth = tdc_truth(e, x);
    int64_t strides[TDC_REFERENCE_RANK], found = 0;
    tdc_strides(x, strides);
    for (int64_t i = 0; i < x->count; i++)
        found += truth->whole[i];
    tdc_array *y = tdc_new(e, TDC_I64, 2, (const int64_t[]){found, x->rank});
    int64_t *to = y->whole;
    for (int64_t i = 0; i < x->count; i++)
        for (unsigned d = 0; truth->whole[i] && d < x->rank; d++)
            *to++ = i / strides[d] % x->shape[d];
    if (!as_tuple) {
        tdc_give(e, y);
        return;
    }
    for (unsigned d = 0; d < x->rank; d++)
        tdc_give(e, tdc_view(e, y, 1, &found, (const int64_t[]){x->rank}, found > 0 ? d : 0));
}

static void nonzero(tdc_evaluation *e)
{
    give_nonzero(e, tdc_array_argument(e, "input"), tdc_bool_argument(e, "as_tuple"));
}

/* where(condition) alone is nonzero as a tuple; a number counts as a vector of one. */
static void where(tdc_evaluation *e)
{
    tdc_array *condition = tdc_array_argument(e, "condition");
    if (!tdc_given(e, "other") && !tdc_given(e, "input"))
        give_nonzero(e, condition->rank == 0 ? tdc_unsqueeze(e, condition, 0) : condition, true);
    else
        tdc_give(e, tdc_select(e, condition, tdc_array_argument(e, "input"),
                               tdc_array_argument(e, "other")));
}

#define METHODS TDC_IN_METHODS
static const struct tdc_operator rows[] = {
    {"sort", METHODS, "input, dim=-1, descending=False, stable=False", sort, VALUES | INDICES, 0},
    {"msort", METHODS, "input, *, dim=0, descending=False", sort, VALUES, 0},
    {"argsort", METHODS, "input, dim=-1, descending=False, stable=False", sort, INDICES,
     TDC_NO_GRADIENT},
    {"npu_sort_v2", TDC_IN_NPU, "input, dim=-1, descending=False", sort, VALUES, 0},
    {"topk", METHODS, "input, k, dim=-1, largest=True, sorted=True", topk, 0, 0},
    {"searchsorted", METHODS,
     "sorted_sequence, values, *, out_int32=False, right=False, side=None, sorter=None",
     searchsorted, 0, TDC_NO_GRADIENT},
    {"nonzero", METHODS, "input, *, as_tuple=False", nonzero, 0, TDC_NO_GRADIENT},
    {"argwhere", METHODS, "input, *, as_tuple=False", nonzero, 0, TDC_NO_GRADIENT},
    {"where", TDC_IN_MINT | TDC_IN_TORCH, "condition, input=None, other=None", where, 0, 0},
    {"where", TDC_IN_TENSOR, "input, condition, other", where, 0, 0},
};
const struct tdc_operator_family tdc_sorting_family = TDC_FAMILY("sorting", rows);
