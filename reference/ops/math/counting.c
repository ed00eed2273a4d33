/* Counts, places among boundaries, membership. */
#include <math.h>
#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/move.h"
#include "reference/primitives/sort.h"

/* How often each whole number occurs, or the sum of its weights. */
static void bincount(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input"), *weights = NULL;
    int64_t length = tdc_int_argument(e, "minlength");
    if (tdc_given(e, "weights"))
        weights = tdc_to_real(e, tdc_array_argument(e, "weights"));
    if (x->rank > 1 || tdc_dtype_is_floating(x->dtype) || length < 0 ||
        (weights != NULL && weights->count != x->count))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a vector of non-negative integers expected");
    for (int64_t i = 0; i < x->count; i++) {
        if (x->whole[i] < 0 || x->whole[i] > INT32_MAX)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "a vector of non-negative integers expected");
        length = x->whole[i] >= length ? x->whole[i] + 1 : length;
    }
    tdc_array *y = tdc_zeros(e, weights == NULL ? TDC_I64 : TDC_F64, 1, &length);
    for (int64_t i = 0; i < x->count; i++) {
        if (weights == NULL)
            y->whole[x->whole[i]]++;
        else
            y->real[x->whole[i]] += weights->real[i];
    }
    tdc_give(e, y);
}

/* First boundary that is not below the value, or above it. */
static void bucketize(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input"), *bounds = tdc_array_argument(e, "boundaries");
    bool right = tdc_bool_argument(e, "right");
    if (bounds->rank != 1)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "boundaries must be a vector");
    tdc_array *y = tdc_new_like(e, tdc_bool_argument(e, "out_int32") ? TDC_I32 : TDC_I64, x);
    TDC_SPREAD(x->count, i, x->count, {
        int64_t low = 0, high = bounds->count;
        while (low < high) {
            int64_t middle = low + (high - low) / 2;
            int order = tdc_compare_reals(tdc_element(bounds, middle), tdc_element(x, i));
            if (right ? order <= 0 : order < 0)
                low = middle + 1;
            else
                high = middle;
        }
        y->whole[i] = low;
    });
    tdc_give(e, y);
}

/* Each element looked up in the sorted others. */
static void isin(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "elements"),
              *others = tdc_array_argument(e, "test_elements");
    bool invert = tdc_bool_argument(e, "invert");
    tdc_array *flat = tdc_reshape(e, others, 1, &others->count);
    tdc_array *order = tdc_order_rows(e, flat, false);
    tdc_array *y = tdc_new_like(e, TDC_BOOL, x);
    TDC_SPREAD(x->count, i, x->count, {
        double v = tdc_element(x, i);
        int64_t low = 0, high = flat->count;
        while (low < high) {
            int64_t middle = low + (high - low) / 2;
            if (tdc_compare_reals(tdc_element(flat, order->whole[middle]), v) < 0)
                low = middle + 1;
            else
                high = middle;
        }
        bool found = low < flat->count && tdc_element(flat, order->whole[low]) == v;
        y->whole[i] = found != invert;
    });
    tdc_give(e, y);
}

#define METHODS TDC_IN_METHODS
#define NOT     TDC_NO_GRADIENT
static const struct tdc_operator rows[] = {
    {"bincount", METHODS, "input, weights=None, minlength=0", bincount, 0, NOT},
    {"bucketize", METHODS, "input, boundaries, *, out_int32=False, right=False", bucketize, 0, NOT},
    {"isin", TDC_IN_TORCH | TDC_IN_MINT,
     "elements, test_elements, *, assume_unique=False, invert=False", isin, 0, NOT},
};
const struct tdc_operator_family tdc_counting_family = TDC_FAMILY("counts", rows);
