/* What optimisers call: fused steps, norms of all parameters, gradients of a softmax. */
#include <math.h>
#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/binary.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/move.h"
#include "reference/primitives/reduce.h"

static void read_state(tdc_evaluation *e, tdc_array *state[3])
{
    tdc_array **out;
    if (tdc_arrays_argument(e, "out", &out) != 3)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "out must be var, m and v");
    for (int i = 0; i < 3; i++)
        state[i] = tdc_constant(e, out[i]);
}

/* a * x + b * y */
static tdc_array *blend(tdc_evaluation *e, double a, tdc_array *x, double b, tdc_array *y)
{
    return tdc_add(e, tdc_scale(e, x, a), tdc_scale(e, y, b));
}

static void adam_w(tdc_evaluation *e)
{
    tdc_array *state[3], *g = tdc_real_array_argument(e, "grad");
    double lr = tdc_real_argument(e, "lr"), b1 = tdc_real_argument(e, "beta1"),
           b2 = tdc_real_argument(e, "beta2");
    if (tdc_bool_argument(e, "amsgrad"))
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "amsgrad");
    read_state(e, state);
    if (tdc_bool_argument(e, "maximize"))
        g = tdc_scale(e, g, -1);
    tdc_array *m = blend(e, b1, state[1], 1 - b1, g);
    tdc_array *v = blend(e, b2, state[2], 1 - b2, tdc_apply(e, TDC_SQUARE, g));
    double p1 = tdc_real_argument(e, "beta1_power") * b1,
           p2 = tdc_real_argument(e, "beta2_power") * b2;
    tdc_array *root = tdc_apply(e, TDC_SQRT, tdc_scale(e, v, 1 / (1 - p2)));
    tdc_array *step = tdc_div(e, tdc_scale(e, m, lr / (1 - p1)),
                              tdc_shift(e, root, tdc_real_argument(e, "epsilon")));
    tdc_array *kept = tdc_scale(e, state[0], 1 - lr * tdc_real_argument(e, "weight_decay"));
    tdc_give(e, tdc_sub(e, kept, step));
    tdc_give(e, m);
    tdc_give(e, v);
}

static void adam(tdc_evaluation *e)
{
    tdc_array *state[3], *g = tdc_real_array_argument(e, "grad");
    double b1 = tdc_real_argument(e, "beta1"), b2 = tdc_real_argument(e, "beta2");
    read_state(e, state);
    tdc_array *m = blend(e, b1, state[1], 1 - b1, g);
    tdc_array *v = blend(e, b2, state[2], 1 - b2, tdc_apply(e, TDC_SQUARE, g));
    double rate = tdc_real_argument(e, "lr") *
                  __builtin_sqrt(1 - tdc_real_argument(e, "beta2_power")) /
                  (1 - tdc_real_argument(e, "beta1_power"));
    tdc_array *top = tdc_bool_argument(e, "use_nesterov") ? blend(e, b1, m, 1 - b1, g) : m;
    tdc_array *bottom = tdc_shift(e, tdc_apply(e, TDC_SQRT, v), tdc_real_argument(e, "epsilon"));
    tdc_give(e, tdc_sub(e, state[0], tdc_div(e, tdc_scale(e, top, rate), bottom)));
    tdc_give(e, m);
    tdc_give(e, v);
}

/* The norm of each tensor of a list. */
static void norms_of_all(tdc_evaluation *e)
{
    tdc_array **list;
    size_t count = tdc_arrays_argument(e, "input", &list);
    bool all[TDC_REFERENCE_RANK];
    memset(all, 1, sizeof all);
    for (size_t i = 0; i < count; i++) {
        tdc_array *rows = tdc_rows(e, tdc_to_real(e, list[i]), all);
        tdc_give(e, tdc_norm_rows(e, rows, tdc_real_argument(e, "p")));
    }
}

/* It changes its arguments and returns None: a dump has nothing to compare with. */
static void returns_none(tdc_evaluation *e)
{
    tdc_give_value(e, (tdc_call_value){.kind = TDC_VALUE_NULL});
}

/* y (g - sum(g y)) along dim, the gradient of a softmax from its result y */
static void softmax_backward(tdc_evaluation *e)
{
    tdc_array *g = tdc_real_array_argument(e, "grad_output");
    tdc_array *y = tdc_real_array_argument(e, "output");
    unsigned dim = tdc_dim_argument(e, "dim", y->rank);
    if (!tdc_same_shape(g, y))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "gradient and output differ in shape");
    tdc_array *rows_g = tdc_dim_last(e, g, dim), *rows_y = tdc_dim_last(e, y, dim);
    tdc_array *p = tdc_mul(e, rows_g, rows_y);
    tdc_array *sum = tdc_sum_rows(e, p);
    tdc_array *x = tdc_sub(e, p, tdc_mul(e, rows_y, tdc_unsqueeze(e, sum, sum->rank)));
    tdc_give(e, tdc_reshape(e, tdc_dim_back(e, x, dim), y->rank, y->shape));
}

static const struct tdc_operator rows[] = {
    {"_foreach_norm", TDC_IN_TORCH, "input, p=2, dtype=None", norms_of_all, 0, 0},
    {"_fused_adamw_ _fused_adam_", TDC_IN_TORCH,
     "input, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, *, lr, beta1, beta2, "
     "weight_decay, eps, amsgrad, maximize, grad_scale=None, found_inf=None",
     returns_none, 0, TDC_NO_GRADIENT},
    {"_softmax_backward_data", TDC_IN_TORCH, "grad_output, output, dim, input_dtype=None",
     softmax_backward, 0, 0},
    {"npu_apply_adam_w", TDC_IN_NPU,
     "beta1_power, beta2_power, lr, weight_decay, beta1, beta2, epsilon, grad, max_grad_norm=None, "
     "amsgrad=False, maximize=False, *, out",
     adam_w, 0, TDC_NO_GRADIENT},
    {"npu_apply_adam", TDC_IN_NPU,
     "beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, use_locking=False, "
     "use_nesterov=False, *, out",
     adam, 0, TDC_NO_GRADIENT},
};
const struct tdc_operator_family tdc_optimiser_family = TDC_FAMILY("optimisers", rows);
