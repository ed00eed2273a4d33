#include "reference/ops/loss/loss_reduction.h"

#include <string.h>

#include "reference/arguments.h"
#include "reference/primitives/reduce.h"

enum tdc_loss_reduction tdc_loss_reduction(tdc_evaluation *e)
{
    static const char *const names[] = {"none", "mean", "sum"};
    const tdc_call_value *v = tdc_argument(e, "reduction");
    if (v->kind == TDC_VALUE_INT && v->whole >= TDC_LOSS_NONE && v->whole <= TDC_LOSS_SUM)
        return (enum tdc_loss_reduction)v->whole;
    for (int i = 0; v->kind == TDC_VALUE_TEXT && i < 3; i++)
        if (strcmp(v->text, names[i]) == 0)
            return (enum tdc_loss_reduction)i;
    tdc_refuse(e, TDC_ERR_ARGUMENT, "unknown reduction");
}

tdc_array *tdc_mean_all(tdc_evaluation *e, tdc_array *x)
{
    bool all[TDC_REFERENCE_RANK];
    memset(all, 1, sizeof all);
    return tdc_mean(e, x, all, false);
}

void tdc_give_loss(tdc_evaluation *e, tdc_array *x)
{
    switch (tdc_loss_reduction(e)) {
    case TDC_LOSS_NONE:
        tdc_give(e, x);
        break;
    case TDC_LOSS_SUM:
        tdc_give(e, tdc_sum_all(e, x));
        break;
    default:
        tdc_give(e, tdc_mean_all(e, x));
    }
}
