/* Losses of distributions and of pairs and triples of vectors. */
#include <math.h>
#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/ops/loss/loss_reduction.h"
#include "reference/primitives/elementwise/promote.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/move.h"
#include "reference/primitives/reduce.h"

/* ---- of pairs
 * -------------------------------------------------------------------------------------- */

/* max(x, least); the floor is set without a gradient, as the framework does */
static tdc_array *floored(tdc_evaluation *e, tdc_array *x, double least)
{
    tdc_array *old = tdc_constant(e, x);
    tdc_array *high = tdc_apply_with(e, TDC_CLAMP, old, least, (double)INFINITY, 0);
    return tdc_add(e, x, tdc_sub(e, high, old));
}

static tdc_array *cosine(tdc_evaluation *e, tdc_array *a, tdc_array *b, unsigned dim, double eps)
{
    tdc_array *ab = tdc_sum_dim(e, tdc_mul(e, a, b), dim, false);
    tdc_array *aa = tdc_sum_dim(e, tdc_apply(e, TDC_SQUARE, a), dim, false);
    tdc_array *bb = tdc_sum_dim(e, tdc_apply(e, TDC_SQUARE, b), dim, false);
    tdc_array *na = floored(e, tdc_apply(e, TDC_SQRT, aa), eps);
    tdc_array *nb = floored(e, tdc_apply(e, TDC_SQRT, bb), eps);
    return tdc_div(e, ab, tdc_mul(e, na, nb));
}

static void cosine_similarity(tdc_evaluation *e)
{
    tdc_array *a = tdc_real_array_argument(e, "x1"), *b = tdc_real_array_argument(e, "x2");
    unsigned rank;
    int64_t shape[TDC_REFERENCE_RANK];
    tdc_broadcast_shape(e, a, b, &rank, shape);
    if (rank == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a dimension expected");
    a = tdc_expand(e, a, rank, shape);
    b = tdc_expand(e, b, rank, shape);
    tdc_give(e, cosine(e, a, b, tdc_dim_argument(e, "dim", rank), tdc_real_argument(e, "epsilon")));
}

static void margin_ranking_loss(tdc_evaluation *e)
{
    tdc_array *d = tdc_sub(e, tdc_array_argument(e, "input1"), tdc_array_argument(e, "input2"));
    tdc_array *y = tdc_mul(e, tdc_scale(e, tdc_array_argument(e, "target"), -1), d);
    tdc_give_loss(e, tdc_apply(e, TDC_RELU, tdc_shift(e, y, tdc_real_argument(e, "margin"))));
}

static void hinge_embedding_loss(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input"), *t = tdc_array_argument(e, "target");
    tdc_array *hinge =
        tdc_apply(e, TDC_RELU, tdc_shift(e, tdc_scale(e, x, -1), tdc_real_argument(e, "margin")));
    tdc_give_loss(e, tdc_select(e, tdc_relate(e, TDC_EQ, t, tdc_number(e, 1)), x, hinge));
}

/* 1 - cos for target 1, max(0, cos - margin) for -1 */
static void cosine_embedding_loss(tdc_evaluation *e)
{
    tdc_array *a = tdc_real_array_argument(e, "input1"), *b = tdc_real_array_argument(e, "input2");
    tdc_array *t = tdc_array_argument(e, "target");
    if (!tdc_same_shape(a, b) || a->rank < 1 || a->rank > 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "two vectors or matrices expected");
    unsigned dim = a->rank - 1;
    tdc_array *ab = tdc_sum_dim(e, tdc_mul(e, a, b), dim, false);
    tdc_array *aa = tdc_shift(e, tdc_sum_dim(e, tdc_apply(e, TDC_SQUARE, a), dim, false), 1e-12);
    tdc_array *bb = tdc_shift(e, tdc_sum_dim(e, tdc_apply(e, TDC_SQUARE, b), dim, false), 1e-12);
    tdc_array *c = tdc_div(e, ab, tdc_apply(e, TDC_SQRT, tdc_mul(e, aa, bb)));
    tdc_array *near = tdc_shift(e, tdc_scale(e, c, -1), 1);
    tdc_array *far = tdc_apply(e, TDC_RELU, tdc_shift(e, c, -tdc_real_argument(e, "margin")));
    tdc_give_loss(e, tdc_select(e, tdc_relate(e, TDC_EQ, t, tdc_number(e, 1)), near, far));
}

/* |a - b + eps|_p along the last dimension */
static tdc_array *distance(tdc_evaluation *e, tdc_array *a, tdc_array *b, double p, double eps)
{
    tdc_array *d = tdc_shift(e, tdc_sub(e, a, b), eps);
    if (d->rank == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a dimension expected");
    return tdc_norm_rows(e, d, p);
}

static void pairwise_distance(tdc_evaluation *e)
{
    tdc_array *y = distance(e, tdc_real_array_argument(e, "x1"), tdc_real_array_argument(e, "x2"),
                            tdc_real_argument(e, "p"), tdc_real_argument(e, "epsilon"));
    tdc_give(e, tdc_bool_argument(e, "keepdim") ? tdc_unsqueeze(e, y, y->rank) : y);
}

static void triplet_margin_loss(tdc_evaluation *e)
{
    tdc_array *anchor = tdc_real_array_argument(e, "anchor");
    tdc_array *same = tdc_real_array_argument(e, "positive");
    tdc_array *other = tdc_real_array_argument(e, "negative");
    double p = tdc_real_argument(e, "p"), eps = tdc_real_argument(e, "epsilon");
    tdc_array *near = distance(e, anchor, same, p, eps), *far = distance(e, anchor, other, p, eps);
    if (tdc_bool_argument(e, "swap"))
        far = tdc_combine(e, TDC_MINIMUM, far, distance(e, same, other, p, eps));
    tdc_array *y = tdc_shift(e, tdc_sub(e, near, far), tdc_real_argument(e, "margin"));
    tdc_give_loss(e, tdc_apply(e, TDC_RELU, y));
}

/* t log t - t + log(2 pi t) / 2 */
static tdc_array *stirling(tdc_evaluation *e, tdc_array *t)
{
    tdc_array *half = tdc_apply(e, TDC_LOG, tdc_scale(e, t, 6.283185307179586476925));
    tdc_array *y = tdc_sub(e, tdc_mul(e, t, tdc_apply(e, TDC_LOG, t)), t);
    return tdc_add(e, y, tdc_scale(e, half, 0.5));
}

static void poisson_nll_loss(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input"), *t = tdc_real_array_argument(e, "target");
    tdc_array *y;
    if (tdc_bool_argument(e, "log_input"))
        y = tdc_sub(e, tdc_apply(e, TDC_EXP, x), tdc_mul(e, t, x));
    else
        y = tdc_sub(
            e, x,
            tdc_mul(e, t, tdc_apply(e, TDC_LOG, tdc_shift(e, x, tdc_real_argument(e, "epsilon")))));
    if (tdc_bool_argument(e, "full")) /* Stirling's formula for log(t!), where t > 1 */
        y = tdc_add(e, y,
                    tdc_select(e, tdc_relate(e, TDC_GT, t, tdc_number(e, 1)), stirling(e, t),
                               tdc_number(e, 0)));
    tdc_give_loss(e, y);
}

static void gaussian_nll_loss(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input"), *t = tdc_real_array_argument(e, "target");
    tdc_array *var = tdc_real_array_argument(e, "var");
    if (var->rank + 1 == x->rank)
        var = tdc_unsqueeze(e, var, var->rank);
    var = floored(e, var, tdc_real_argument(e, "epsilon"));
    tdc_array *square = tdc_apply(e, TDC_SQUARE, tdc_sub(e, x, t));
    tdc_array *y = tdc_add(e, tdc_apply(e, TDC_LOG, var), tdc_div(e, square, var));
    y = tdc_scale(e, y, 0.5);
    if (tdc_bool_argument(e, "full"))
        y = tdc_shift(e, y, 0.918938533204672741780);
    tdc_give_loss(e, y);
}

#define FUNCTIONALS TDC_IN_FUNCTIONALS
#define OLD         "size_average=None, reduce=None, reduction='mean'"
#define TORCH       TDC_IN_TORCH
static const struct tdc_operator rows[] = {
    {"cosine_similarity", FUNCTIONALS | TDC_IN_TORCH, "x1, x2, dim=1, epsilon=1e-08",
     cosine_similarity, 0, 0},
    {"margin_ranking_loss", TORCH, "input1, input2, target, margin=0.0, reduction=1",
     margin_ranking_loss, 0, 0},
    {"hinge_embedding_loss", TORCH, "input, target, margin=1.0, reduction=1", hinge_embedding_loss,
     0, 0},
    {"cosine_embedding_loss", TORCH, "input1, input2, target, margin=0.0, reduction=1",
     cosine_embedding_loss, 0, 0},
    {"triplet_margin_loss", TORCH,
     "anchor, positive, negative, margin=1.0, p=2, epsilon=1e-06, swap=False, reduction=1",
     triplet_margin_loss, 0, 0},
    {"poisson_nll_loss", TORCH, "input, target, log_input, full, epsilon, reduction",
     poisson_nll_loss, 0, 0},
    {"pairwise_distance", FUNCTIONALS | TORCH, "x1, x2, p=2.0, epsilon=1e-06, keepdim=False",
     pairwise_distance, 0, 0},
    {"margin_ranking_loss", FUNCTIONALS, "input1, input2, target, margin=0.0, " OLD,
     margin_ranking_loss, 0, 0},
    {"hinge_embedding_loss", FUNCTIONALS, "input, target, margin=1.0, " OLD, hinge_embedding_loss,
     0, 0},
    {"cosine_embedding_loss", FUNCTIONALS, "input1, input2, target, margin=0.0, " OLD,
     cosine_embedding_loss, 0, 0},
    {"triplet_margin_loss", FUNCTIONALS,
     "anchor, positive, negative, margin=1.0, p=2, epsilon=1e-06, swap=False, " OLD,
     triplet_margin_loss, 0, 0},
    {"poisson_nll_loss", FUNCTIONALS,
     "input, target, log_input=True, full=False, size_average=None, epsilon=1e-08, reduce=None, "
     "reduction='mean'",
     poisson_nll_loss, 0, 0},
    {"gaussian_nll_loss", FUNCTIONALS,
     "input, target, var, full=False, epsilon=1e-06, reduction='mean'", gaussian_nll_loss, 0, 0},
};
const struct tdc_operator_family tdc_pair_loss_family = TDC_FAMILY("losses of pairs", rows);
