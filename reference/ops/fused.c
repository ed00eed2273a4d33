/* Operators of the NPU that do several things at once. */
#include <string.h>

#include "reference/primitives/primitives.h"

/* x * r * gamma, r = 1 / sqrt(mean(x^2) + eps) */
static array *rms(evaluation *e, array *x, array *gamma, double eps, array **rstd)
{
    if (x->rank == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "at least one dimension expected");
    array *square = tdc_mean_dim(e, tdc_apply(e, TDC_SQUARE, x), x->rank - 1, true);
    *rstd = tdc_apply(e, TDC_RSQRT, tdc_shift(e, square, eps));
    return tdc_mul(e, tdc_mul(e, x, *rstd), gamma);
}

static void rms_norm(evaluation *e)
{
    array *rstd;
    array *y = rms(e, tdc_real_array_argument(e, "input"), tdc_real_array_argument(e, "gamma"),
                   tdc_real_argument(e, "epsilon"), &rstd);
    tdc_give(e, y);
    tdc_give(e, rstd);
}

static void add_rms_norm(evaluation *e)
{
    array *rstd;
    array *x = tdc_add(e, tdc_array_argument(e, "x1"), tdc_array_argument(e, "x2"));
    array *y =
        rms(e, x, tdc_real_array_argument(e, "gamma"), tdc_real_argument(e, "epsilon"), &rstd);
    tdc_give(e, y);
    tdc_give(e, rstd);
    tdc_give(e, x);
}

/* As torch.chunk(2): of an odd size the first half is the longer one. */
static void halves(evaluation *e, array *x, unsigned dim, array *half[2])
{
    if (x->rank == 0 || x->shape[dim] < 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "the halved dimension needs at least two elements");
    int64_t first = (x->shape[dim] + 1) / 2;
    half[0] = tdc_slice(e, x, dim, 0, first, 1);
    half[1] = tdc_slice(e, x, dim, first, x->shape[dim] - first, 1);
}

static void rotary_mul(evaluation *e)
{
    array *x = tdc_real_array_argument(e, "input"), *half[2];
    if (tdc_given(e, "rotary_mode") && strcmp(tdc_text_argument(e, "rotary_mode"), "half") != 0)
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "interleaved rotary mode");
    unsigned last = x->rank == 0 ? 0 : x->rank - 1;
    halves(e, x, last, half);
    array *turned[2] = {tdc_scale(e, half[1], -1), half[0]};
    array *rotated = tdc_concatenate(e, turned, 2, last);
    tdc_give(e, tdc_add(e, tdc_mul(e, x, tdc_array_argument(e, "r1")),
                        tdc_mul(e, rotated, tdc_array_argument(e, "r2"))));
}

static void swiglu(evaluation *e)
{
    array *x = tdc_real_array_argument(e, "input"), *half[2];
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    if (x->rank != 0 && x->shape[dim] % 2 != 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "the halved dimension must be even");
    halves(e, x, dim, half);
    tdc_give(e, tdc_mul(e, tdc_apply(e, TDC_SILU, half[0]), half[1]));
}

static array *permuted(evaluation *e, array *x)
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

static void confusion_transpose(evaluation *e)
{
    array *x = tdc_array_argument(e, "input");
    int64_t shape[TDC_REFERENCE_RANK];
    unsigned rank = (unsigned)tdc_ints_argument(e, "shape", shape, TDC_REFERENCE_RANK);
    if (tdc_bool_argument(e, "transpose_first"))
        tdc_give(e, tdc_reshape(e, permuted(e, x), rank, shape));
    else
        tdc_give(e, permuted(e, tdc_reshape(e, x, rank, shape)));
}

static void gating_top_k(evaluation *e)
{
    array *x = tdc_real_array_argument(e, "input");
    int64_t k = tdc_int_argument(e, "k");
    if (x->rank != 2 || k < 1 || k > x->shape[1])
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a matrix and k within its columns expected");
    int64_t lines = x->shape[0];
    array *weights = tdc_softmax_rows(e, x);
    array *order = tdc_slice(e, tdc_order_rows(e, weights, true), 1, 0, k, 1);
    tdc_give(e, tdc_pick(e, weights, order));
    array *expert = tdc_convert(e, order, TDC_I32), *row = tdc_new_like(e, TDC_I32, order);
    if (tdc_given(e, "finished")) {
        array *finished = tdc_truth(e, tdc_array_argument(e, "finished"));
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

/* ---- optimisers
 * ------------------------------------------------------------------------------------ */

static void read_state(evaluation *e, array *state[3])
{
    array **out;
    if (tdc_arrays_argument(e, "out", &out) != 3)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "out must be var, m and v");
    for (int i = 0; i < 3; i++)
        state[i] = tdc_constant(e, out[i]);
}

/* a * x + b * y */
static array *blend(evaluation *e, double a, array *x, double b, array *y)
{
    return tdc_add(e, tdc_scale(e, x, a), tdc_scale(e, y, b));
}

static void adam_w(evaluation *e)
{
    array *state[3], *g = tdc_real_array_argument(e, "grad");
    double lr = tdc_real_argument(e, "lr"), b1 = tdc_real_argument(e, "beta1"),
           b2 = tdc_real_argument(e, "beta2");
    if (tdc_bool_argument(e, "amsgrad"))
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "amsgrad");
    read_state(e, state);
    if (tdc_bool_argument(e, "maximize"))
        g = tdc_scale(e, g, -1);
    array *m = blend(e, b1, state[1], 1 - b1, g);
    array *v = blend(e, b2, state[2], 1 - b2, tdc_apply(e, TDC_SQUARE, g));
    double p1 = tdc_real_argument(e, "beta1_power") * b1,
           p2 = tdc_real_argument(e, "beta2_power") * b2;
    array *root = tdc_apply(e, TDC_SQRT, tdc_scale(e, v, 1 / (1 - p2)));
    array *step = tdc_div(e, tdc_scale(e, m, lr / (1 - p1)),
                          tdc_shift(e, root, tdc_real_argument(e, "epsilon")));
    array *kept = tdc_scale(e, state[0], 1 - lr * tdc_real_argument(e, "weight_decay"));
    tdc_give(e, tdc_sub(e, kept, step));
    tdc_give(e, m);
    tdc_give(e, v);
}

static void adam(evaluation *e)
{
    array *state[3], *g = tdc_real_array_argument(e, "grad");
    double b1 = tdc_real_argument(e, "beta1"), b2 = tdc_real_argument(e, "beta2");
    read_state(e, state);
    array *m = blend(e, b1, state[1], 1 - b1, g);
    array *v = blend(e, b2, state[2], 1 - b2, tdc_apply(e, TDC_SQUARE, g));
    double rate = tdc_real_argument(e, "lr") *
                  __builtin_sqrt(1 - tdc_real_argument(e, "beta2_power")) /
                  (1 - tdc_real_argument(e, "beta1_power"));
    array *top = tdc_bool_argument(e, "use_nesterov") ? blend(e, b1, m, 1 - b1, g) : m;
    array *bottom = tdc_shift(e, tdc_apply(e, TDC_SQRT, v), tdc_real_argument(e, "epsilon"));
    tdc_give(e, tdc_sub(e, state[0], tdc_div(e, tdc_scale(e, top, rate), bottom)));
    tdc_give(e, m);
    tdc_give(e, v);
}

static const struct tdc_operator rows[] = {
    {"npu_rms_norm", TDC_IN_NPU, "input, gamma, epsilon=1e-06", rms_norm, 0, 0},
    {"npu_add_rms_norm", TDC_IN_NPU, "x1, x2, gamma, epsilon=1e-06", add_rms_norm, 0, 0},
    {"npu_rotary_mul", TDC_IN_NPU, "input, r1, r2, rotary_mode=None", rotary_mul, 0, 0},
    {"npu_swiglu", TDC_IN_NPU, "input, dim=-1", swiglu, 0, 0},
    {"npu_confusion_transpose", TDC_IN_NPU, "input, perm, shape, transpose_first",
     confusion_transpose, 0, 0},
    {"npu_moe_gating_top_k_softmax", TDC_IN_NPU, "input, finished=None, k=1", gating_top_k, 0, 0},
    {"npu_apply_adam_w", TDC_IN_NPU,
     "beta1_power, beta2_power, lr, weight_decay, beta1, beta2, epsilon, grad, max_grad_norm=None, "
     "amsgrad=False, maximize=False, *, out",
     adam_w, 0, TDC_NO_GRADIENT},
    {"npu_apply_adam", TDC_IN_NPU,
     "beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, use_locking=False, "
     "use_nesterov=False, *, out",
     adam, 0, TDC_NO_GRADIENT},
};
const struct tdc_operator_family tdc_fused_family = TDC_FAMILY("fused", rows);
