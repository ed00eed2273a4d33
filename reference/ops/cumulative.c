#include "reference/primitives/primitives.h"

static void running(evaluation *e)
{
    array *x = tdc_array_argument(e, "input");
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    tdc_dtype dtype =
        tdc_dtype_argument(e, "dtype", tdc_dtype_is_floating(x->dtype) ? TDC_F64 : TDC_I64);
    array *rows = tdc_dim_last(e, tdc_convert(e, x, dtype), dim);
    array *y =
        e->operator->variant != 0 ? tdc_cumulative_product(e, rows) : tdc_cumulative_sum(e, rows);
    y = tdc_dim_back(e, y, dim);
    tdc_give(e, tdc_reshape(e, tdc_convert(e, y, dtype), x->rank, x->shape));
}

/* The later of equals wins, NaN beats everything. */
static bool replaces(const array *rows, int64_t candidate, int64_t best, bool largest)
{
    if (!tdc_dtype_is_floating(rows->dtype))
        return largest ? rows->whole[candidate] >= rows->whole[best]
                       : rows->whole[candidate] <= rows->whole[best];
    double c = rows->real[candidate], b = rows->real[best];
    if (c != c)
        return true;
    return b == b && (largest ? c >= b : c <= b);
}

static void running_extreme(evaluation *e)
{
    bool largest = e->operator->variant != 0;
    array *x = tdc_array_argument(e, "input");
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    array *rows = tdc_dim_last(e, x, dim);
    array *index = tdc_new_like(e, TDC_I64, rows);
    int64_t n = rows->shape[rows->rank - 1];
    for (int64_t base = 0; base < rows->count; base += n) {
        int64_t best = 0;
        for (int64_t i = 0; i < n; i++) {
            if (i == 0 || replaces(rows, base + i, base + best, largest))
                best = i;
            index->whole[base + i] = best;
        }
    }
    array *y = tdc_dim_back(e, tdc_pick(e, rows, index), dim);
    tdc_give(e, tdc_reshape(e, y, x->rank, x->shape));
    tdc_give(e, tdc_reshape(e, tdc_dim_back(e, index, dim), x->rank, x->shape));
}

static const struct tdc_operator rows[] = {
    {"cumsum", TDC_IN_METHODS, "input, dim, dtype=None", running, 0, 0},
    {"cumprod", TDC_IN_METHODS, "input, dim, dtype=None", running, 1, 0},
    {"cummax", TDC_IN_METHODS, "input, dim", running_extreme, 1, 0},
    {"cummin", TDC_IN_METHODS, "input, dim", running_extreme, 0, 0},
};
const struct tdc_operator_family tdc_cumulative_family = TDC_FAMILY("cumulative", rows);
