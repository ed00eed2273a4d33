#include <math.h>
#include <string.h>

#include "reference/arguments.h"
#include "reference/bounds.h"
#include "reference/operators.h"
#include "reference/ops/loss/loss_reduction.h"
#include "reference/primitives/elementwise/promote.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/move.h"
#include "reference/primitives/reduce.h"
#include "reference/primitives/scan.h"
#include "reference/tape.h"

static tdc_array *difference(tdc_evaluation *e)
{
    return tdc_sub(e, tdc_array_argument(e, "input"), tdc_array_argument(e, "target"));
}

static void mse_loss(tdc_evaluation *e)
{
    tdc_give_loss(e, tdc_apply(e, TDC_SQUARE, difference(e)));
}

static void l1_loss(tdc_evaluation *e)
{
    tdc_give_loss(e, tdc_apply(e, TDC_ABS, difference(e)));
}

/* Square below the bound, straight above: smooth_l1 divides by it, huber does not. */
static void smooth_loss(tdc_evaluation *e)
{
    double bound = tdc_real_argument(e, e->definition->variant == 0 ? "beta" : "delta");
    double unit = e->definition->variant == 0 ? bound : 1;
    tdc_array *size = tdc_apply(e, TDC_ABS, difference(e));
    if (bound == 0) {
        tdc_give_loss(e, size);
        return;
    }
    tdc_array *square = tdc_scale(e, tdc_apply(e, TDC_SQUARE, size), 0.5 / unit);
    tdc_array *straight = tdc_scale(e, tdc_shift(e, size, -0.5 * bound), bound / unit);
    tdc_array *small = tdc_relate(e, TDC_LT, size, tdc_number(e, bound));
    tdc_give_loss(e, tdc_select(e, small, square, straight));
}

static tdc_array *weighted(tdc_evaluation *e, tdc_array *x, const char *name)
{
    return tdc_given(e, name) ? tdc_mul(e, x, tdc_real_array_argument(e, name)) : x;
}

static tdc_array *one_minus(tdc_evaluation *e, tdc_array *x)
{
    return tdc_shift(e, tdc_scale(e, x, -1), 1);
}

static void bound_pulled_entropy(tdc_evaluation *e, const tdc_array *x, const tdc_array *t,
                                 const tdc_array *gradient, tdc_array *dx, tdc_array *dt)
{
    double *in = tdc_new_errors(e, dx), *aim = tdc_new_errors(e, dt);
    for (int64_t i = 0; i < x->count; i++) {
        double p = x->real[i], g = gradient->real[i], off = tdc_error_at(gradient, i);
        double scale = fmax(p * (1 - p), 1e-12), slope = (p - t->real[i]) / scale;
        /* 1 - p is off by a unit */
        in[i] = tdc_error_times(slope, off) +
                tdc_own_error(e, TDC_ELEMENTARY + TDC_BASIC / fmax(1 - p, 1e-12), slope * g);
        aim[i] = tdc_error_times(log1p(-p) - log(p), off) +
                 tdc_own_error(e, TDC_ELEMENTARY, g * (fabs(log1p(-p)) + fabs(log(p)) + 1));
    }
}

/* The input's slope is (x - t) / max(x (1 - x), 1e-12), not that of the clamped logarithms. torch's
 * bound is a float32. */
static void pull_cross_entropy(tdc_evaluation *e, struct tdc_tape_node *node, tdc_array *gradient)
{
    tdc_array *x = node->inputs[0], *t = node->inputs[1];
    tdc_array *dx = tdc_new_like(e, TDC_F64, x), *dt = tdc_new_like(e, TDC_F64, t);
    for (int64_t i = 0; i < x->count; i++) {
        double p = x->real[i], q = t->real[i], g = gradient->real[i];
        double scale = tdc_step(e, p * tdc_step(e, 1 - p));
        dx->real[i] = tdc_step(e, g * tdc_step(e, p - q)) / fmax(scale, 1e-12f);
        dt->real[i] = g * tdc_step(e, tdc_step(e, log1p(-p)) - tdc_step(e, log(p)));
    }
    if (tdc_is_bounded(e))
        bound_pulled_entropy(e, x, t, gradient, dx, dt);
    tdc_collect(e, x, dx);
    tdc_collect(e, t, dt);
}

/* Of -(t log(x) + (1 - t) log(1 - x)); near 1 the logarithm is as good as 1 - x is. */
static void bound_cross_entropy(tdc_evaluation *e, const tdc_array *x, const tdc_array *t,
                                tdc_array *y)
{
    double *errors = tdc_new_errors(e, y);
    for (int64_t i = 0; i < y->count; i++) {
        double p = x->real[i], q = t->real[i];
        double yes = fabs(q * fmax(log(p), -100)), no = fabs((1 - q) * fmax(log1p(-p), -100));
        double carried = tdc_error_at(x, i) + tdc_error_at(t, i);
        errors[i] =
            tdc_own_error(e, TDC_ELEMENTARY + TDC_BASIC, yes + no) +
            TDC_BASIC * (fabs(q) + fabs(1 - q)) +
            tdc_error_times(fabs(q) / fmax(p, 1e-12) + fabs(1 - q) / fmax(1 - p, 1e-12) + yes + no,
                            carried);
    }
}

static void binary_cross_entropy(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input"), *t = tdc_real_array_argument(e, "target");
    if (!tdc_same_shape(x, t))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "input and target differ in shape");
    tdc_array *y = tdc_new_like(e, TDC_F64, x);
    for (int64_t i = 0; i < x->count; i++) {
        double p = x->real[i], q = t->real[i];
        if (!(p >= 0 && p <= 1))
            tdc_refuse(e, TDC_ERR_ARGUMENT, "all elements of input should be between 0 and 1");
        double yes = tdc_step(e, q * tdc_step(e, fmax(log(p), -100)));
        double no = tdc_step(e, tdc_step(e, 1 - q) * tdc_step(e, fmax(log1p(-p), -100)));
        y->real[i] = -(yes + no);
    }
    if (tdc_is_bounded(e))
        bound_cross_entropy(e, x, t, y);
    tdc_note(e, y, pull_cross_entropy, NULL, 2, (tdc_array *[]){x, t});
    tdc_give_loss(e, weighted(e, y, "weight"));
}

/* w ((1 - t) x + (1 + (p - 1) t) softplus(-x)) */
static void bce_with_logits(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input"), *t = tdc_real_array_argument(e, "target");
    tdc_array *soft = tdc_scale(e, tdc_apply(e, TDC_LOGSIGMOID, x), -1);
    if (tdc_given(e, "pos_weight")) {
        tdc_array *extra = tdc_shift(e, tdc_real_array_argument(e, "pos_weight"), -1);
        soft = tdc_mul(e, soft, tdc_shift(e, tdc_mul(e, extra, t), 1));
    }
    tdc_array *y = tdc_add(e, tdc_mul(e, one_minus(e, t), x), soft);
    if (!tdc_given(e, "reduction")) {
        y = weighted(e, y, "weight");
        tdc_give(e, e->recorded_plain ? y : tdc_mean_all(e, y));
        return;
    }
    tdc_give_loss(e, weighted(e, y, "weight"));
}

static void kl_div(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input"), *t = tdc_real_array_argument(e, "target");
    tdc_array *y;
    if (tdc_bool_argument(e, "log_target"))
        y = tdc_mul(e, tdc_apply(e, TDC_EXP, t), tdc_sub(e, t, x));
    else
        y = tdc_sub(e, tdc_combine(e, TDC_XLOGY, t, t), tdc_mul(e, t, x));
    const tdc_call_value *how = tdc_argument(e, "reduction");
    if (how->kind != TDC_VALUE_TEXT || strcmp(how->text, "batchmean") != 0)
        tdc_give_loss(e, y);
    else if (x->rank == 0 || x->shape[0] == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "no batch to average over");
    else
        tdc_give(e, tdc_scale(e, tdc_sum_all(e, y), 1 / (double)x->shape[0]));
}

/* ---- classes
 * -------------------------------------------------------------------------------------- */

struct classes {
    tdc_array *picked;  /* log-probabilities of the targets, any shape of the target */
    tdc_array *weights; /* of the targets, 0 where ignored */
};

/* scores [N, C, ...] with the class dimension last, target [N, ...] */
static struct classes pick_targets(tdc_evaluation *e, tdc_array *rows, tdc_array *target)
{
    int64_t classes = rows->shape[rows->rank - 1];
    int64_t ignored = tdc_int_argument(e, "ignore_index");
    tdc_array *weight = tdc_optional_real_array(e, "weight");
    if (tdc_dtype_is_floating(target->dtype) || target->rank + 1 != rows->rank ||
        memcmp(target->shape, rows->shape, target->rank * sizeof *target->shape) != 0 ||
        (weight != NULL && (weight->rank != 1 || weight->count != classes)))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "target or weight does not fit the input");
    struct classes c = {.weights = tdc_new_like(e, TDC_F64, target)};
    tdc_array *index = tdc_new_like(e, TDC_I64, target);
    for (int64_t i = 0; i < target->count; i++) {
        int64_t t = target->whole[i];
        bool skip = t == ignored;
        if (!skip && (t < 0 || t >= classes))
            tdc_refuse(e, TDC_ERR_ARGUMENT, "target %lld is out of bounds", (long long)t);
        index->whole[i] = skip ? 0 : t;
        c.weights->real[i] = skip ? 0 : weight != NULL ? weight->real[t] : 1;
    }
    tdc_bound_exactly(c.weights);
    c.picked = tdc_pick(e, rows, index);
    return c;
}

static void give_weighted(tdc_evaluation *e, tdc_array *losses, tdc_array *weights)
{
    if (tdc_loss_reduction(e) == TDC_LOSS_MEAN)
        tdc_give(e, tdc_div(e, tdc_sum_all(e, losses), tdc_sum_all(e, weights)));
    else
        tdc_give_loss(e, losses);
}

/* Masked rather than multiplied: an ignored infinity must not become NaN. */
static tdc_array *negative_masked(tdc_evaluation *e, tdc_array *x, tdc_array *weights)
{
    tdc_array *y = tdc_mul(e, tdc_scale(e, x, -1), weights);
    return tdc_select(e, tdc_truth(e, weights), y, tdc_number(e, 0));
}

static tdc_array *class_rows(tdc_evaluation *e, tdc_array *x)
{
    if (x->rank == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "input needs a class dimension");
    return tdc_dim_last(e, x, x->rank == 1 ? 0 : 1);
}

static void nll_loss(tdc_evaluation *e)
{
    tdc_array *rows = class_rows(e, tdc_real_array_argument(e, "input"));
    struct classes c = pick_targets(e, rows, tdc_array_argument(e, "target"));
    give_weighted(e, negative_masked(e, c.picked, c.weights), c.weights);
}

static void soft_targets(tdc_evaluation *e, tdc_array *logs, tdc_array *target, double smoothing)
{
    int64_t classes = logs->shape[logs->rank - 1];
    tdc_array *t = class_rows(e, target);
    if (!tdc_same_shape(t, logs))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "target does not fit the input");
    if (smoothing > 0)
        t = tdc_shift(e, tdc_scale(e, t, 1 - smoothing), smoothing / (double)classes);
    tdc_array *y = weighted(e, tdc_mul(e, logs, t), "weight");
    y = tdc_scale(e, tdc_sum_rows(e, y), -1);
    if (tdc_loss_reduction(e) == TDC_LOSS_MEAN)
        tdc_give(e, tdc_scale(e, tdc_sum_all(e, y), 1 / (double)y->count));
    else
        tdc_give_loss(e, y);
}

static void cross_entropy(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input"), *target = tdc_array_argument(e, "target");
    double smoothing = tdc_real_argument(e, "label_smoothing");
    tdc_array *logs = tdc_log_softmax_rows(e, class_rows(e, x));
    if (tdc_dtype_is_floating(target->dtype)) {
        soft_targets(e, logs, target, smoothing);
        return;
    }
    struct classes c = pick_targets(e, logs, target);
    tdc_array *losses = negative_masked(e, c.picked, c.weights);
    if (smoothing > 0) {
        int64_t classes = logs->shape[logs->rank - 1];
        tdc_array *all = tdc_sum_rows(e, weighted(e, logs, "weight"));
        tdc_array *kept = tdc_to_real(e, tdc_truth(e, c.weights));
        tdc_array *smooth =
            tdc_scale(e, negative_masked(e, all, kept), smoothing / (double)classes);
        losses = tdc_add(e, tdc_scale(e, losses, 1 - smoothing), smooth);
    }
    give_weighted(e, losses, c.weights);
}

#define FUNCTIONALS TDC_IN_FUNCTIONALS
#define TORCH       TDC_IN_TORCH_FUNCTIONAL
#define MINT        (TDC_IN_MINT | TDC_IN_MINT_FUNCTIONAL)
/* torch has two deprecated parameters before reduction */
#define OLD "size_average=None, reduce=None, reduction='mean'"
static const struct tdc_operator rows[] = {
    {"mse_loss", MINT, "input, target, reduction='mean'", mse_loss, 0, 0},
    {"mse_loss", TORCH, "input, target, " OLD, mse_loss, 0, 0},
    {"l1_loss", MINT, "input, target, reduction='mean'", l1_loss, 0, 0},
    {"l1_loss", TORCH, "input, target, " OLD, l1_loss, 0, 0},
    {"smooth_l1_loss", MINT, "input, target, reduction='mean', beta=1.0", smooth_loss, 0, 0},
    {"smooth_l1_loss", TORCH, "input, target, " OLD ", beta=1.0", smooth_loss, 0, 0},
    {"huber_loss", FUNCTIONALS, "input, target, reduction='mean', delta=1.0", smooth_loss, 1, 0},
    {"binary_cross_entropy", MINT, "input, target, weight=None, reduction='mean'",
     binary_cross_entropy, 0, 0},
    {"binary_cross_entropy", TORCH, "input, target, weight=None, " OLD, binary_cross_entropy, 0, 0},
    {"binary_cross_entropy_with_logits bce_with_logits", TDC_IN_MINT_FUNCTIONAL,
     "input, target, weight=None, reduction='mean', pos_weight=None", bce_with_logits, 0, 0},
    {"binary_cross_entropy_with_logits", TDC_IN_MINT,
     "input, target, weight=None, reduction=None, pos_weight=None", bce_with_logits, 0, 0},
    {"binary_cross_entropy_with_logits", TORCH,
     "input, target, weight=None, " OLD ", pos_weight=None", bce_with_logits, 0, 0},
    {"binary_cross_entropy_with_logits", TDC_IN_TORCH,
     "input, target, weight=None, pos_weight=None, reduction=1", bce_with_logits, 0, 0},
    {"kl_div", TDC_IN_TORCH, "input, target, reduction=1, *, log_target=False", kl_div, 0, 0},
    {"kl_div", FUNCTIONALS, "input, target, " OLD ", log_target=False", kl_div, 0, 0},
    {"nll_loss", FUNCTIONALS,
     "input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, "
     "reduction='mean'",
     nll_loss, 0, 0},
    {"cross_entropy", FUNCTIONALS,
     "input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, "
     "reduction='mean', label_smoothing=0.0",
     cross_entropy, 0, 0},
};
const struct tdc_operator_family tdc_loss_family = TDC_FAMILY("losses", rows);
