#include "reference/ops/linear/matrix_arguments.h"

#include "reference/primitives/matrix/factors.h"

tdc_array *tdc_matrix_argument(tdc_evaluation *e, const char *name)
{
    tdc_array *x = tdc_real_array_argument(e, name);
    if (!tdc_is_matrix(x))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "at least two dimensions expected");
    return x;
}

tdc_array *tdc_square_argument(tdc_evaluation *e, const char *name)
{
    tdc_array *x = tdc_real_array_argument(e, name);
    if (x->rank < 2 || x->shape[x->rank - 1] != x->shape[x->rank - 2])
        tdc_refuse(e, TDC_ERR_ARGUMENT, "must be batches of square matrices");
    return x;
}
