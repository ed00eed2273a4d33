/* Losses of margins between classes, and of several labels at once. */
#include <math.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/ops/loss/loss_reduction.h"
#include "reference/primitives/elementwise/binary.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/move.h"
#include "reference/primitives/reduce.h"

/* log(1 + exp(-t x)) */
static void soft_margin_loss(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input"), *t = tdc_real_array_argument(e, "target");
    tdc_array *y = tdc_apply(e, TDC_LOGSIGMOID, tdc_mul(e, x, t));
    tdc_give_loss(e, tdc_scale(e, y, -1));
}

/* Mean over classes of -w (t log s(x) + (1 - t) log s(-x)) */
static void multilabel_soft_margin_loss(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input"), *t = tdc_real_array_argument(e, "target");
    tdc_array *weight = tdc_optional_real_array(e, "weight");
    if (x->rank == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a class dimension expected");
    tdc_array *yes = tdc_mul(e, t, tdc_apply(e, TDC_LOGSIGMOID, x));
    tdc_array *other = tdc_shift(e, tdc_scale(e, t, -1), 1);
    tdc_array *no = tdc_mul(e, other, tdc_apply(e, TDC_LOGSIGMOID, tdc_scale(e, x, -1)));
    tdc_array *y = tdc_scale(e, tdc_add(e, yes, no), -1);
    if (weight != NULL)
        y = tdc_mul(e, y, weight);
    tdc_give_loss(e, tdc_mean_dim(e, y, x->rank - 1, false));
}

/* x as [samples, classes]; a vector is one sample. */
static tdc_array *as_samples(tdc_evaluation *e, tdc_array *x, bool *single)
{
    *single = x->rank < 2;
    if (x->rank > 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a vector or matrix expected");
    return x->rank == 2 ? x : tdc_reshape(e, x, 2, (const int64_t[]){1, x->count});
}

static void give_samples(tdc_evaluation *e, tdc_array *y, bool single)
{
    tdc_give_loss(e, single ? tdc_reshape(e, y, 0, NULL) : y);
}

/* Mean over classes i != t of w_t max(0, margin - x_t + x_i)^p */
static void multi_margin_loss(tdc_evaluation *e)
{
    bool single;
    tdc_array *x = as_samples(e, tdc_real_array_argument(e, "input"), &single);
    tdc_array *target = tdc_array_argument(e, "target");
    tdc_array *weight = tdc_optional_real_array(e, "weight");
    int64_t samples = x->shape[0], classes = x->shape[1];
    double p = tdc_real_argument(e, "p");
    if (target->count != samples || tdc_dtype_is_floating(target->dtype) ||
        (weight != NULL && weight->count != classes) || (p != 1 && p != 2))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "target, weight or p does not fit");
    tdc_array *index = tdc_new(e, TDC_I64, 2, (const int64_t[]){samples, 1});
    tdc_array *factor = tdc_new_like(e, TDC_F64, x);
    for (int64_t i = 0; i < samples; i++) {
        int64_t t = target->whole[i];
        if (t < 0 || t >= classes)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "target %lld is out of bounds", (long long)t);
        index->whole[i] = t;
        for (int64_t c = 0; c < classes; c++)
            factor->real[i * classes + c] = c == t ? 0 : weight != NULL ? weight->real[t] : 1;
    }
    tdc_array *gap = tdc_sub(e, x, tdc_pick(e, x, index));
    gap = tdc_apply(e, TDC_RELU, tdc_shift(e, gap, tdc_real_argument(e, "margin")));
    if (p == 2)
        gap = tdc_apply(e, TDC_SQUARE, gap);
    tdc_array *y = tdc_sum_rows(e, tdc_mul(e, gap, factor));
    give_samples(e, tdc_div(e, y, tdc_number(e, (double)classes)), single);
}

/* Mean over i not among the targets, summed over targets j, of max(0, 1 - x_j + x_i). The targets
 * of a sample end at the first -1. */
static void multilabel_margin_loss(tdc_evaluation *e)
{
    bool single;
    tdc_array *x = as_samples(e, tdc_real_array_argument(e, "input"), &single);
    tdc_array *target = tdc_array_argument(e, "target");
    int64_t samples = x->shape[0], classes = x->shape[1], total = 0;
    if (target->count != x->count || tdc_dtype_is_floating(target->dtype))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "target does not fit the input");
    bool *named = tdc_take(e, x->count, sizeof *named);
    for (int64_t i = 0; i < samples; i++) {
        bool *own = named + i * classes;
        for (int64_t c = 0; c < classes; c++)
            own[c] = false;
        for (int64_t c = 0; c < classes && target->whole[i * classes + c] >= 0; c++, total++) {
            if (target->whole[i * classes + c] >= classes)
                tdc_refuse(e, TDC_ERR_ARGUMENT, "target is out of bounds");
            own[target->whole[i * classes + c]] = true;
        }
    }
    /* one line per target: which element it is, which sample it belongs to */
    int64_t *element = tdc_take(e, total, sizeof *element), *sample = tdc_take(e, total, 8);
    tdc_array *mask = tdc_new(e, TDC_F64, 2, (const int64_t[]){total, classes});
    int64_t *spread = tdc_take(e, mask->count, sizeof *spread);
    for (int64_t i = 0, k = 0; i < samples; i++)
        for (int64_t c = 0; c < classes && target->whole[i * classes + c] >= 0; c++, k++) {
            element[k] = i * classes + target->whole[i * classes + c];
            sample[k] = i;
            for (int64_t j = 0; j < classes; j++) {
                spread[k * classes + j] = i * classes + j;
                mask->real[k * classes + j] = named[i * classes + j] ? 0 : 1;
            }
        }
    tdc_array *own = tdc_mapped(e, x, element, 2, (const int64_t[]){total, 1}, 0);
    tdc_array *gap = tdc_sub(e, tdc_mapped(e, x, spread, 2, mask->shape, 0), own);
    gap = tdc_mul(e, tdc_apply(e, TDC_RELU, tdc_shift(e, gap, 1)), mask);
    tdc_array *y = tdc_scatter_add(e, tdc_sum_rows(e, gap), sample, 1, &samples);
    give_samples(e, tdc_div(e, y, tdc_number(e, (double)classes)), single);
}

#define FUNCTIONALS TDC_IN_FUNCTIONALS
#define OLD         "size_average=None, reduce=None, reduction='mean'"
static const struct tdc_operator rows[] = {
    {"soft_margin_loss", FUNCTIONALS, "input, target, " OLD, soft_margin_loss, 0, 0},
    {"multilabel_margin_loss", FUNCTIONALS, "input, target, " OLD, multilabel_margin_loss, 0, 0},
    {"multilabel_soft_margin_loss", FUNCTIONALS, "input, target, weight=None, " OLD,
     multilabel_soft_margin_loss, 0, 0},
    {"multi_margin_loss", FUNCTIONALS, "input, target, p=1, margin=1.0, weight=None, " OLD,
     multi_margin_loss, 0, 0},
};
const struct tdc_operator_family tdc_class_margin_family = TDC_FAMILY("losses of classes", rows);
