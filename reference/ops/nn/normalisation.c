#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/binary.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/gather.h"
#include "reference/primitives/move.h"
#include "reference/primitives/reduce.h"
#include "reference/primitives/scan.h"

#define RANK TDC_REFERENCE_RANK

/* (x - mean) / sqrt(var + eps) over the last dimension; the two statistics keep that dimension. */
static tdc_array *standardise(tdc_evaluation *e, tdc_array *rows, double eps, tdc_array **mean,
                              tdc_array **rstd)
{
    unsigned last = rows->rank - 1;
    *mean = tdc_mean_dim(e, rows, last, true);
    tdc_array *centred = tdc_sub(e, rows, *mean);
    tdc_array *var = tdc_mean_dim(e, tdc_apply(e, TDC_SQUARE, centred), last, true);
    *rstd = tdc_apply(e, TDC_RSQRT, tdc_shift(e, var, eps));
    return tdc_mul(e, centred, *rstd);
}

static tdc_array *affine(tdc_evaluation *e, tdc_array *y, tdc_array *weight, tdc_array *bias)
{
    if (weight != NULL)
        y = tdc_mul(e, y, weight);
    return bias != NULL ? tdc_add(e, y, bias) : y;
}

static void layer_norm(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input"), *mean, *rstd;
    int64_t shape[RANK], inner = 1;
    size_t count = tdc_ints_argument(e, "normalized_shape", shape, RANK);
    if (count > x->rank || count == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "normalized_shape does not fit");
    for (size_t i = 0; i < count; i++) {
        if (shape[i] != x->shape[x->rank - count + i])
            tdc_refuse(e, TDC_ERR_ARGUMENT, "normalized_shape does not fit");
        inner *= shape[i];
    }
    int64_t outer = inner == 0 ? 0 : x->count / inner;
    tdc_array *rows = tdc_reshape(e, x, 2, (const int64_t[]){outer, inner});
    tdc_array *y = standardise(e, rows, tdc_real_argument(e, "epsilon"), &mean, &rstd);
    y = affine(e, tdc_reshape(e, y, x->rank, x->shape), tdc_optional_real_array(e, "weight"),
               tdc_optional_real_array(e, "bias"));
    tdc_give(e, y);
    if (e->definition->variant == 0)
        return;
    int64_t statistics[RANK];
    memcpy(statistics, x->shape, sizeof statistics);
    for (size_t i = 0; i < count; i++)
        statistics[x->rank - 1 - i] = 1;
    tdc_give(e, tdc_reshape(e, mean, x->rank, statistics));
    tdc_give(e, tdc_reshape(e, rstd, x->rank, statistics));
}

/* A vector per channel (dim 1) shaped to broadcast against x. */
static tdc_array *per_channel(tdc_evaluation *e, tdc_array *v, const tdc_array *x)
{
    int64_t shape[RANK];
    if (v == NULL)
        return NULL;
    for (unsigned d = 0; d < x->rank; d++)
        shape[d] = d == 1 ? v->count : 1;
    return tdc_reshape(e, v, x->rank, shape);
}

/* variant 1: followed by silu, gives mean and rstd too */
static void group_norm(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input"), *mean, *rstd;
    int64_t groups = tdc_int_argument(e, "num_groups");
    if (x->rank < 2 || groups < 1 || x->shape[1] % groups != 0 || x->count == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "channels must be divisible by num_groups");
    int64_t n = x->shape[0];
    tdc_array *rows = tdc_reshape(e, x, 3, (const int64_t[]){n, groups, x->count / (n * groups)});
    tdc_array *y = standardise(e, rows, tdc_real_argument(e, "epsilon"), &mean, &rstd);
    y = affine(e, tdc_reshape(e, y, x->rank, x->shape),
               per_channel(e, tdc_optional_real_array(e, "weight"), x),
               per_channel(e, tdc_optional_real_array(e, "bias"), x));
    if (e->definition->variant == 0) {
        tdc_give(e, y);
        return;
    }
    tdc_give(e, tdc_apply(e, TDC_SILU, y));
    tdc_give(e, tdc_squeeze(e, mean, 2));
    tdc_give(e, tdc_squeeze(e, rstd, 2));
}

/* Statistics of the batch, or the running ones. */
static tdc_array *batch_normalised(tdc_evaluation *e, tdc_array *x, bool training, double eps)
{
    if (!training) {
        if (!tdc_given(e, "running_mean") || !tdc_given(e, "running_var"))
            tdc_refuse(e, TDC_ERR_ARGUMENT, "running statistics expected");
        tdc_array *mean = tdc_constant(e, tdc_real_array_argument(e, "running_mean"));
        tdc_array *var = tdc_constant(e, tdc_real_array_argument(e, "running_var"));
        tdc_array *rstd = tdc_apply(e, TDC_RSQRT, tdc_shift(e, per_channel(e, var, x), eps));
        return tdc_mul(e, tdc_sub(e, x, per_channel(e, mean, x)), rstd);
    }
    bool reduced[RANK];
    for (unsigned d = 0; d < RANK; d++)
        reduced[d] = d != 1 && d < x->rank;
    tdc_array *centred = tdc_sub(e, x, tdc_mean(e, x, reduced, true));
    tdc_array *var = tdc_mean(e, tdc_apply(e, TDC_SQUARE, centred), reduced, true);
    return tdc_mul(e, centred, tdc_apply(e, TDC_RSQRT, tdc_shift(e, var, eps)));
}

static void batch_norm(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input");
    if (x->rank < 2)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "at least two dimensions expected");
    tdc_array *y =
        batch_normalised(e, x, tdc_bool_argument(e, "training"), tdc_real_argument(e, "epsilon"));
    tdc_give(e, affine(e, y, per_channel(e, tdc_optional_real_array(e, "weight"), x),
                       per_channel(e, tdc_optional_real_array(e, "bias"), x)));
}

static void instance_norm(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input"), *mean, *rstd;
    if (x->rank < 3 || x->count == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "at least three dimensions expected");
    int64_t outer = x->shape[0] * x->shape[1];
    tdc_array *rows = tdc_reshape(e, x, 2, (const int64_t[]){outer, x->count / outer});
    double eps = tdc_real_argument(e, "epsilon");
    tdc_array *y = tdc_bool_argument(e, "use_input_stats") ? standardise(e, rows, eps, &mean, &rstd)
                                                           : batch_normalised(e, x, false, eps);
    tdc_give(e, affine(e, tdc_reshape(e, y, x->rank, x->shape),
                       per_channel(e, tdc_optional_real_array(e, "weight"), x),
                       per_channel(e, tdc_optional_real_array(e, "bias"), x)));
}

/* x * w / sqrt(mean(x^2) + eps) over the trailing dimensions; eps defaults to that of the recorded
 * dtype. */
static void rms_norm(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input"),
              *weight = tdc_optional_real_array(e, "weight");
    int64_t shape[RANK];
    size_t count = tdc_ints_argument(e, "normalized_shape", shape, RANK);
    bool reduced[RANK] = {false};
    if (count > x->rank || count == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "normalized_shape does not fit");
    for (size_t i = 0; i < count; i++) {
        unsigned d = x->rank - (unsigned)count + (unsigned)i;
        if (shape[i] != x->shape[d])
            tdc_refuse(e, TDC_ERR_ARGUMENT, "normalized_shape does not fit");
        reduced[d] = true;
    }
    double eps = x->recorded == TDC_F64    ? 0x1p-52
                 : x->recorded == TDC_F32  ? 0x1p-23
                 : x->recorded == TDC_BF16 ? 0x1p-7
                                           : 0x1p-10;
    if (tdc_given(e, "epsilon"))
        eps = tdc_real_argument(e, "epsilon");
    tdc_array *square = tdc_mean(e, tdc_apply(e, TDC_SQUARE, x), reduced, true);
    tdc_array *y = tdc_mul(e, x, tdc_apply(e, TDC_RSQRT, tdc_shift(e, square, eps)));
    tdc_give(e, affine(e, y, weight, NULL));
}

/* x / (k + alpha * mean of squares of `size` neighbouring channels)^beta, zeros beyond the ends */
static void local_response_norm(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input");
    int64_t size = tdc_int_argument(e, "size"), shape[RANK];
    if (x->rank < 3 || size < 1 || size > INT32_MAX)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "at least three dimensions and a positive size expected");
    tdc_array *square = tdc_apply(e, TDC_SQUARE, x), *pieces[3];
    memcpy(shape, x->shape, sizeof shape);
    shape[1] = size / 2;
    pieces[0] = tdc_zeros(e, TDC_F64, x->rank, shape);
    pieces[1] = square;
    shape[1] = (size - 1) / 2;
    pieces[2] = tdc_zeros(e, TDC_F64, x->rank, shape);
    tdc_array *wide = tdc_concatenate(e, pieces, 3, 1), *sum = NULL;
    for (int64_t i = 0; i < size; i++) {
        tdc_array *own = tdc_slice(e, wide, 1, i, x->shape[1], 1);
        sum = sum == NULL ? own : tdc_add(e, sum, own);
    }
    sum = tdc_scale(e, sum, tdc_real_argument(e, "alpha") / (double)size);
    sum = tdc_apply_with(e, TDC_POWER, tdc_shift(e, sum, tdc_real_argument(e, "k")),
                         tdc_real_argument(e, "beta"), 0, 0);
    tdc_give(e, tdc_div(e, x, sum));
}

/* x / max(norm, eps) */
static void normalize(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input");
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    double p = tdc_real_argument(e, "p"), eps = tdc_real_argument(e, "epsilon");
    if (x->rank == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "a dimension expected");
    tdc_array *total = tdc_unsqueeze(e, tdc_norm_rows(e, tdc_dim_last(e, x, dim), p), dim);
    tdc_array *floored = tdc_apply_with(e, TDC_CLAMP, total, eps, (double)__builtin_inf(), 0);
    tdc_give(e, tdc_div(e, x, floored));
}

/* ---- softmax
 * -------------------------------------------------------------------------------------- */

enum softmax_kind {
    SOFTMAX,
    LOG_SOFTMAX,
    SOFTMIN
};

static void softmax(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input");
    int64_t implicit = x->rank == 0 || x->rank == 1 || x->rank == 3 ? 0 : 1;
    unsigned dim =
        tdc_dimension(e, tdc_given(e, "dim") ? tdc_int_argument(e, "dim") : implicit, x->rank);
    if (e->definition->variant == SOFTMIN)
        x = tdc_scale(e, x, -1);
    tdc_array *rows = tdc_dim_last(e, x, dim);
    tdc_array *y = e->definition->variant == LOG_SOFTMAX ? tdc_log_softmax_rows(e, rows)
                                                         : tdc_softmax_rows(e, rows);
    tdc_give(e, tdc_reshape(e, tdc_dim_back(e, y, dim), x->rank, x->shape));
}

#define METHODS     TDC_IN_METHODS
#define FUNCTIONALS TDC_IN_FUNCTIONALS
#define SOFT        "input, dim=None, dtype=None"
/* torch.nn.functional has a deprecated parameter in between */
#define TORCH_SOFT "input, dim=None, _stacklevel=3, dtype=None"
static const struct tdc_operator rows[] = {
    {"layer_norm", TDC_IN_BOTH,
     "input, normalized_shape, weight=None, bias=None, epsilon=1e-05, cudnn_enable=True",
     layer_norm, 0, 0},
    {"native_layer_norm", TDC_IN_TORCH, "input, normalized_shape, weight, bias, epsilon",
     layer_norm, 1, 0},
    {"npu_layer_norm_eval", TDC_IN_NPU,
     "input, normalized_shape, weight=None, bias=None, epsilon=1e-05", layer_norm, 0, 0},
    {"group_norm", TDC_IN_BOTH,
     "input, num_groups, weight=None, bias=None, epsilon=1e-05, cudnn_enabled=True", group_norm, 0,
     0},
    {"npu_group_norm_silu", TDC_IN_NPU, "input, weight, bias, num_groups, epsilon=1e-05",
     group_norm, 1, 0},
    {"batch_norm", FUNCTIONALS,
     "input, running_mean=None, running_var=None, weight=None, bias=None, training=False, "
     "momentum=0.1, epsilon=1e-05",
     batch_norm, 0, 0},
    {"batch_norm", TDC_IN_TORCH,
     "input, weight, bias, running_mean, running_var, training, momentum, epsilon, "
     "cudnn_enabled=True",
     batch_norm, 0, 0},
    {"instance_norm", FUNCTIONALS,
     "input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, "
     "momentum=0.1, epsilon=1e-05",
     instance_norm, 0, 0},
    {"instance_norm", TDC_IN_TORCH,
     "input, weight, bias, running_mean, running_var, use_input_stats, momentum, epsilon, "
     "cudnn_enabled=True",
     instance_norm, 0, 0},
    {"rms_norm", TDC_IN_TORCH | FUNCTIONALS, "input, normalized_shape, weight=None, epsilon=None",
     rms_norm, 0, 0},
    {"local_response_norm", FUNCTIONALS, "input, size, alpha=0.0001, beta=0.75, k=1.0",
     local_response_norm, 0, 0},
    {"normalize", FUNCTIONALS, "input, p=2.0, dim=1, epsilon=1e-12", normalize, 0, 0},
    {"softmax", METHODS | TDC_IN_MINT_FUNCTIONAL, SOFT, softmax, SOFTMAX, 0},
    {"softmax", TDC_IN_TORCH_FUNCTIONAL, TORCH_SOFT, softmax, SOFTMAX, 0},
    {"log_softmax", METHODS | TDC_IN_MINT_FUNCTIONAL, SOFT, softmax, LOG_SOFTMAX, 0},
    {"log_softmax", TDC_IN_TORCH_FUNCTIONAL, TORCH_SOFT, softmax, LOG_SOFTMAX, 0},
    {"softmin", FUNCTIONALS, TORCH_SOFT, softmax, SOFTMIN, 0},
};
const struct tdc_operator_family tdc_normalisation_family = TDC_FAMILY("normalisations", rows);
