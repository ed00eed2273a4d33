#include <stdio.h>
#include <string.h>

#include "reference/arguments.h"
#include "reference/arithmetic.h"
#include "reference/operators.h"
#include "reference/primitives/elementwise/binary.h"
#include "reference/primitives/elementwise/unary.h"
#include "reference/primitives/move.h"
#include "reference/twister.h"

static void plain(tdc_evaluation *e)
{
    tdc_give(e,
             tdc_apply(e, (enum tdc_unary)e->definition->variant, tdc_array_argument(e, "input")));
}

/* One parameter, the second of the signature. */
static void with_parameter(tdc_evaluation *e)
{
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)e->parameters[1].length, e->parameters[1].name);
    tdc_give(e, tdc_apply_with(e, (enum tdc_unary)e->definition->variant,
                               tdc_array_argument(e, "input"), tdc_real_argument(e, name), 0, 0));
}

static void gelu(tdc_evaluation *e)
{
    const char *how = tdc_text_argument(e, "approximate");
    bool tanh = strcmp(how, "tanh") == 0;
    if (!tanh && strcmp(how, "none") != 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "approximate must be 'none' or 'tanh'");
    tdc_give(e, tdc_apply(e, tanh ? TDC_GELU_TANH : TDC_GELU, tdc_array_argument(e, "input")));
}

static void softplus(tdc_evaluation *e)
{
    tdc_give(e, tdc_apply_with(e, TDC_SOFTPLUS, tdc_array_argument(e, "input"),
                               tdc_real_argument(e, "beta"), tdc_real_argument(e, "threshold"), 0));
}

static void elu(tdc_evaluation *e)
{
    tdc_give(e, tdc_apply_with(e, TDC_ELU, tdc_array_argument(e, "input"),
                               tdc_real_argument(e, "alpha"), 1, 1));
}

static void celu(tdc_evaluation *e)
{
    double alpha = tdc_real_argument(e, "alpha");
    tdc_give(e, tdc_apply_with(e, TDC_ELU, tdc_array_argument(e, "input"), alpha, 1, 1 / alpha));
}

static void selu(tdc_evaluation *e)
{
    tdc_give(e, tdc_apply_with(e, TDC_ELU, tdc_array_argument(e, "input"), 1.6732632423543772,
                               1.0507009873554805, 1));
}

static void hardtanh(tdc_evaluation *e)
{
    tdc_give(e,
             tdc_apply_with(e, TDC_HARDTANH, tdc_array_argument(e, "input"),
                            tdc_real_argument(e, "min_val"), tdc_real_argument(e, "max_val"), 0));
}

static void relu6(tdc_evaluation *e)
{
    tdc_give(e, tdc_apply_with(e, TDC_HARDTANH, tdc_array_argument(e, "input"), 0, 6, 0));
}

static void threshold(tdc_evaluation *e)
{
    tdc_give(e,
             tdc_apply_with(e, TDC_THRESHOLD, tdc_array_argument(e, "input"),
                            tdc_real_argument(e, "threshold"), tdc_real_argument(e, "value"), 0));
}

static void prelu(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input"), *w = tdc_real_array_argument(e, "weight");
    if (w->count != 1) {
        int64_t shape[TDC_REFERENCE_RANK];
        for (unsigned d = 0; d < x->rank; d++)
            shape[d] = d == 1 ? w->count : 1;
        w = tdc_reshape(e, w, x->rank < 2 ? 1 : x->rank, x->rank < 2 ? w->shape : shape);
    } else {
        w = tdc_reshape(e, w, 0, NULL);
    }
    tdc_give(e, tdc_combine(e, TDC_PRELU, x, w));
}

static void rrelu(tdc_evaluation *e)
{
    if (tdc_bool_argument(e, "training"))
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "random api, output is not reproducible");
    double slope = (tdc_real_argument(e, "lower") + tdc_real_argument(e, "upper")) / 2;
    tdc_give(e, tdc_apply_with(e, TDC_LEAKY_RELU, tdc_array_argument(e, "input"), slope, 0, 0));
}

static void glu(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input");
    unsigned dim = tdc_dim_argument(e, "dim", x->rank);
    if (x->rank == 0 || x->shape[dim] % 2 != 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "halving dimension must be even");
    int64_t half = x->shape[dim] / 2;
    tdc_array *gate = tdc_apply(e, TDC_SIGMOID, tdc_slice(e, x, dim, half, half, 1));
    tdc_give(e, tdc_mul(e, tdc_slice(e, x, dim, 0, half, 1), gate));
}

static bool drops(tdc_evaluation *e)
{
    return tdc_bool_argument(e, "training") && tdc_real_argument(e, "p") != 0;
}

/*
 * The mask that torch draws for a float64 tensor after manual_seed(0), one thread and no MKL: 53
 * bits per element of two words of its generator, kept when below the share to keep.
 */
static tdc_array *drawn_mask(tdc_evaluation *e, const tdc_array *like, double keep)
{
    struct tdc_twister twister;
    tdc_twister_seed(&twister, 0);
    tdc_array *mask = tdc_new_like(e, TDC_F64, like);
    for (int64_t i = 0; i < mask->count; i++) {
        uint64_t high = tdc_twister_word(&twister), low = tdc_twister_word(&twister);
        double drawn = (double)((high << 32 | low) & 0x1fffffffffffff) * 0x1p-53;
        mask->real[i] = drawn < keep ? tdc_step(e, 1 / keep) : 0;
    }
    return mask;
}

static void dropout(tdc_evaluation *e)
{
    if (!drops(e)) {
        tdc_give(e, tdc_array_argument(e, "input"));
        return;
    }
    tdc_array *x = tdc_real_array_argument(e, "input");
    double keep = 1 - tdc_real_argument(e, "p");
    if (!(keep >= 0 && keep <= 1))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "dropout probability has to be between 0 and 1");
    tdc_give(e, tdc_mul(e, x, drawn_mask(e, x, keep)));
}

/* The variants draw whole channels, or add noise: only the identity can be computed. */
static void other_dropout(tdc_evaluation *e)
{
    if (drops(e))
        tdc_refuse(e, TDC_ERR_UNSUPPORTED, "random api, output is not reproducible");
    tdc_give(e, tdc_array_argument(e, "input"));
}

#define FUNCTIONALS TDC_IN_FUNCTIONALS
static const struct tdc_operator rows[] = {
    {"gelu", FUNCTIONALS, "input, *, approximate='none'", gelu, 0, 0},
    {"npu_gelu", TDC_IN_NPU, "input, approximate='none'", gelu, 0, 0},
    {"silu", FUNCTIONALS, "input, inplace=False", plain, TDC_SILU, 0},
    {"npu_silu", TDC_IN_NPU, "input", plain, TDC_SILU, 0},
    {"leaky_relu", FUNCTIONALS, "input, negative_slope=0.01, inplace=False", with_parameter,
     TDC_LEAKY_RELU, 0},
    {"softplus", FUNCTIONALS, "input, beta=1, threshold=20", softplus, 0, 0},
    {"elu", FUNCTIONALS, "input, alpha=1.0, inplace=False", elu, 0, 0},
    {"celu", FUNCTIONALS | TDC_IN_TORCH, "input, alpha=1.0, inplace=False", celu, 0, 0},
    {"selu", FUNCTIONALS | TDC_IN_TORCH, "input, inplace=False", selu, 0, 0},
    {"mish", FUNCTIONALS, "input, inplace=False", plain, TDC_MISH, 0},
    {"npu_mish", TDC_IN_NPU, "input", plain, TDC_MISH, 0},
    {"hardshrink", FUNCTIONALS | TDC_IN_TORCH | TDC_IN_TENSOR, "input, lambd=0.5", with_parameter,
     TDC_HARDSHRINK, 0},
    {"softshrink", FUNCTIONALS, "input, lambd=0.5", with_parameter, TDC_SOFTSHRINK, 0},
    {"hardsigmoid", FUNCTIONALS, "input, inplace=False", plain, TDC_HARDSIGMOID, 0},
    {"hardswish", FUNCTIONALS, "input, inplace=False", plain, TDC_HARDSWISH, 0},
    {"logsigmoid", FUNCTIONALS, "input", plain, TDC_LOGSIGMOID, 0},
    {"softsign", FUNCTIONALS, "input", plain, TDC_SOFTSIGN, 0},
    {"tanhshrink", FUNCTIONALS, "input", plain, TDC_TANHSHRINK, 0},
    {"prelu", FUNCTIONALS | TDC_IN_TORCH | TDC_IN_TENSOR, "input, weight", prelu, 0, 0},
    {"hardtanh", FUNCTIONALS, "input, min_val=-1.0, max_val=1.0, inplace=False", hardtanh, 0, 0},
    {"relu6", FUNCTIONALS, "input, inplace=False", relu6, 0, 0},
    {"threshold", FUNCTIONALS | TDC_IN_TORCH, "input, threshold, value, inplace=False", threshold,
     0, 0},
    {"rrelu", FUNCTIONALS | TDC_IN_TORCH,
     "input, lower=0.125, upper=0.3333333333333333, training=False, inplace=False", rrelu, 0, 0},
    {"glu", FUNCTIONALS, "input, dim=-1", glu, 0, 0},
    {"npu_fast_gelu fast_gelu", TDC_IN_NPU, "input", plain, TDC_FAST_GELU, 0},
    {"dropout alpha_dropout feature_dropout feature_alpha_dropout", TDC_IN_TORCH,
     "input, p, training", dropout, 0, 0},
    {"dropout", FUNCTIONALS, "input, p=0.5, training=True, inplace=False", dropout, 0, 0},
    {"dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout", FUNCTIONALS,
     "input, p=0.5, training=True, inplace=False", other_dropout, 0, 0},
};
const struct tdc_operator_family tdc_activation_family = TDC_FAMILY("activations", rows);
