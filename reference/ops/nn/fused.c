/* Operators of the NPU that do several things at once. */
#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/promote.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/move.h"
#include "reference/primitives/reduce.h"
#include "reference/primitives/scan.h"
#include "reference/primitives/sort.h"

/* x * r * gamma, r = 1 / sqrt(mean(x^2) + eps) */
static tdc_array *rms(tdc_evaluation *e, tdc_array *x, tdc_array *gamma, double eps,
                      tdc_array **rstd)
{
    if (x->rank == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "at least one dimension expected");
    tdc_array *square = tdc_mean_dim(e, tdc_apply(e, TDC_SQUARE, x), x->rank - 1, true);
    *rstd = tdc_apply(e, TDC_RSQRT, tdc_shift(e, square, eps));
    return tdc_mul(e, tdc_mul(e, x, *rstd), gamma);
}

static void rms_norm(tdc_evaluation *e)
{
    tdc_array *rstd;
    tdc_array *y = rms(e, tdc_real_array_argument(e, "input"), tdc_real_array_argument(e, "gamma"),
                       tdc_real_argument(e, "epsilon"), &rstd);
    tdc_give(e, y);
    tdc_give(e, rstd);
}

static void add_rms_norm(tdc_evaluation *e)
{
    tdc_array *rstd;
    tdc_array *x = tdc_add(e, tdc_array_argument(e, "x1"), tdc_array_argument(e, "x2"));
    tdc_array *y =
        rms(e, x, tdc_real_array_argument(e, "gamma"), tdc_real_argument(e, "epsilon"), &rstd);
    tdc_give(e, y);
    tdc_give(e, rstd);
    tdc_give(e, x);
}

/* As torch.chunk(2): of an odd size the first half is the longer one. */
static void halves(tdc_evaluation *e, tdc_array *x, unsigned dim, tdc_array *half[2])
{
    if (x->rank == 0 || x->shape[dim] < 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "the halved dimension needs at least two elements");
    int64_t first = (x->shape[dim] + 1) / 2;
    half[0] = tdc_slice(e, x, dim, 0, first, 1);
    half[1] = tdc_slice(e, x, dim, first, x->shape[dim] - first, 1);
}

static void rotary_mul(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input"), *half[2];
    if (tdc_given(e, "rotary_mode") && strcmp(tdc_text_argument(e, "rotary_mode"), "half") != 0)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "interleaved rotary mode");
    unsigned last = x->rank == 0 ? 0 : x->rank - 1;
    halves(e, x, last, half);
    tdc_array *turned[2] = {tdc_scale(e, half[1], -1), half[0]};
    tdc_array *rotated = tdc_concatenate(e, turned, 2, last);
    tdc_give(e, tdc_add(e, tdc_mul(e, x, tdc_array_argument(e, "r1")),
                        tdc_mul(e, rotated, tdc_array_argument(e, "r2"))));
}

static void swiglu(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input"), *half[2];
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    if (x->rank != 0 && x->shape[dim] % 2 != 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "the halved dimension must be even");
    halves(e, x, dim, half);
    tdc_give(e, tdc_mul(e, tdc_apply(e, TDC_SILU, half[0]), half[1]));
}

static tdc_array *permuted(tdc_evaluation *e, tdc_array *x)
{
    int64_t dims[TDC_REFERENCE_RANK];
    unsigned order[TDC_REFERENCE_RANK];
    bool seen[TDC_REFERENCE_RANK] = {false};
    if (tdc_ints_argument(e, "perm", dims, TDC_REFERENCE_RANK) != x->rank)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "perm must name all dimensions");
    for (unsigned d = 0; d < x->rank; d++) {
        order[d] = tdc_dimension(e, dims[d], x->rank);
        if (seen[order[d]])
            tdc_refuse(e, TDC_ERR_ARGUMENT, "repeated dim");
        seen[order[d]] = true;
    }
    return tdc_permute(e, x, order);
}

static void confusion_transpose(tdc_evaluation *e)
{
    tdc_array *x = tdc_array_argument(e, "input");
    int64_t shape[TDC_REFERENCE_RANK];
    unsigned rank = (unsigned)tdc_ints_argument(e, "shape", shape, TDC_REFERENCE_RANK);
    if (tdc_bool_argument(e, "transpose_first"))
        tdc_give(e, tdc_reshape(e, permuted(e, x), rank, shape));
    else
        tdc_give(e, permuted(e, tdc_reshape(e, x, rank, shape)));
}

static void gating_top_k(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input");
    int64_t k = tdc_int_argument(e, "k");
    if (x->rank != 2 || k < 1 || k > x->shape[1])
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a matrix and k within its columns expected");
    int64_t lines = x->shape[0];
    tdc_array *weights = tdc_softmax_rows(e, x);
    tdc_array *order = tdc_slice(e, tdc_order_rows(e, weights, true), 1, 0, k, 1);
    tdc_give(e, tdc_pick(e, weights, order));
    tdc_array *expert = tdc_convert(e, order, TDC_I32), *row = tdc_new_like(e, TDC_I32, order);
    if (tdc_given(e, "finished")) {
        tdc_array *finished = tdc_truth(e, tdc_array_argument(e, "finished"));
        if (finished->count != lines)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "finished must have one element per row");
        for (int64_t i = 0; i < order->count; i++)
            if (finished->whole[i / k])
                expert->whole[i] = x->shape[1];
    }
    for (int64_t i = 0; i < order->count; i++)
        row->whole[i] = i % k * lines + i / k;
    tdc_give(e, expert);
    tdc_give(e, row);
}

/* The layout in memory changes, no value does. */
static void as_is(tdc_evaluation *e)
{
    tdc_give(e, tdc_array_argument(e, "input"));
}

/* Of rows with the probabilities of their classes. */
static void softmax_cross_entropy(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input"),
              *labels = tdc_real_array_argument(e, "labels");
    if (x->rank == 0 || !tdc_same_shape(x, labels))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "labels have not the shape of the input");
    tdc_array *y = tdc_sum_rows(e, tdc_mul(e, tdc_log_softmax_rows(e, x), labels));
    tdc_give(e, tdc_scale(e, y, -1));
}

static const struct tdc_operator rows[] = {
    {"npu_format_cast", TDC_IN_NPU, "input, format=None", as_is, 0, 0},
    {"npu_softmax_cross_entropy_with_logits", TDC_IN_NPU, "input, labels", softmax_cross_entropy, 0,
     0},
    {"npu_rms_norm", TDC_IN_NPU, "input, gamma, epsilon=1e-06", rms_norm, 0, 0},
    {"npu_add_rms_norm", TDC_IN_NPU, "x1, x2, gamma, epsilon=1e-06", add_rms_norm, 0, 0},
    {"npu_rotary_mul", TDC_IN_NPU, "input, r1, r2, rotary_mode=None", rotary_mul, 0, 0},
    {"npu_swiglu", TDC_IN_NPU, "input, dim=-1", swiglu, 0, 0},
    {"npu_confusion_transpose", TDC_IN_NPU, "input, perm, shape, transpose_first",
     confusion_transpose, 0, 0},
    {"npu_moe_gating_top_k_softmax", TDC_IN_NPU, "input, finished=None, k=1", gating_top_k, 0, 0},
};
const struct tdc_operator_family tdc_fused_family = TDC_FAMILY("fused", rows);
