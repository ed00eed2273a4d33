/* Convolutions over one, two or three spatial dimensions, their adjoints, and unfolding. */
#include <string.h>

#include "reference/arguments.h"
#include "reference/operators.h"
#include "reference/ops/nn/window_arguments.h"
#include "reference/primitives/elementwise/binary.h"
#include "reference/primitives/window/windows.h"
#include "reference/primitives/move.h"

static tdc_array *add_bias(tdc_evaluation *e, tdc_array *y, unsigned n)
{
    tdc_array *bias = tdc_optional_real_array(e, "bias");
    int64_t shape[5] = {1, bias == NULL ? 0 : bias->count, 1, 1, 1};
    return bias == NULL ? y : tdc_add(e, y, tdc_reshape(e, bias, 2 + n, shape));
}

static void read_padding(tdc_evaluation *e, struct tdc_windows *w)
{
    const tdc_call_value *padding = tdc_argument(e, "padding");
    if (padding->kind != TDC_VALUE_TEXT) {
        tdc_read_sizes(e, "padding", w->n, w->before, 0);
        memcpy(w->after, w->before, sizeof w->after);
        return;
    }
    bool same = strcmp(padding->text, "same") == 0;
    if (!same && strcmp(padding->text, "valid") != 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "padding must be 'valid' or 'same'");
    for (unsigned i = 0; i < w->n; i++) {
        int64_t whole = same ? w->dilation[i] * (w->kernel[i] - 1) : 0;
        w->before[i] = whole / 2;
        w->after[i] = whole - whole / 2;
    }
}

static void convolve(tdc_evaluation *e, unsigned dimensions)
{
    bool single;
    struct tdc_windows w = {.n = dimensions};
    tdc_array *x = tdc_batched(e, tdc_real_array_argument(e, "input"), w.n, &single);
    tdc_array *weight = tdc_real_array_argument(e, "weight");
    int64_t groups = tdc_int_argument(e, "groups"), channels = x->shape[1];
    if (weight->rank != w.n + 2 || groups < 1 || channels % groups != 0 ||
        weight->shape[0] % groups != 0 || weight->shape[1] != channels / groups)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "weight does not fit input and groups");
    memcpy(w.size, x->shape + 2, w.n * sizeof *w.size);
    memcpy(w.kernel, weight->shape + 2, w.n * sizeof *w.kernel);
    tdc_read_sizes(e, "stride", w.n, w.stride, 1);
    tdc_read_sizes(e, "dilation", w.n, w.dilation, 1);
    read_padding(e, &w);
    tdc_count_windows(e, &w, false);
    tdc_give_batched(e, add_bias(e, tdc_convolve(e, x, weight, &w, groups), w.n), single);
}

/* The adjoint: windows of the output are summed from products with the input. */
static void convolve_back(tdc_evaluation *e, unsigned dimensions)
{
    bool single;
    struct tdc_windows w = {.n = dimensions};
    tdc_array *x = tdc_batched(e, tdc_real_array_argument(e, "input"), w.n, &single);
    tdc_array *weight = tdc_real_array_argument(e, "weight");
    int64_t groups = tdc_int_argument(e, "groups"), extra[3], channels = x->shape[1];
    if (weight->rank != w.n + 2 || weight->count == 0 || groups < 1 || groups > channels ||
        weight->shape[0] != channels || channels % groups != 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "weight does not fit input and groups");
    memcpy(w.kernel, weight->shape + 2, w.n * sizeof *w.kernel);
    memcpy(w.count, x->shape + 2, w.n * sizeof *w.count);
    tdc_read_sizes(e, "stride", w.n, w.stride, 1);
    tdc_read_sizes(e, "dilation", w.n, w.dilation, 1);
    tdc_read_sizes(e, "padding", w.n, w.before, 0);
    tdc_read_sizes(e, "output_padding", w.n, extra, 0);
    for (unsigned i = 0; i < w.n; i++) {
        w.size[i] = (w.count[i] - 1) * w.stride[i] - 2 * w.before[i] +
                    w.dilation[i] * (w.kernel[i] - 1) + extra[i] + 1;
        if (w.size[i] < 1)
            tdc_refuse(e, TDC_ERR_ARGUMENT, "output would be empty");
    }
    tdc_array *y = tdc_convolve_back(e, x, weight, &w, groups);
    tdc_give_batched(e, add_bias(e, y, w.n), single);
}

static void convolution(tdc_evaluation *e)
{
    convolve(e, (unsigned)e->definition->variant);
}

static void transposed_convolution(tdc_evaluation *e)
{
    convolve_back(e, (unsigned)e->definition->variant);
}

/* Any rank, either direction; what follows the groups only says how it is computed. */
static void any_convolution(tdc_evaluation *e)
{
    unsigned rank = tdc_real_array_argument(e, "weight")->rank;
    if (rank < 3 || rank > 5)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "weight does not fit input and groups");
    if (tdc_bool_argument(e, "transposed"))
        convolve_back(e, rank - 2);
    else
        convolve(e, rank - 2);
}

/* [time, batch, channels] with a weight of [time, in, out], padded with zeros at both ends */
static void time_convolution(tdc_evaluation *e)
{
    tdc_array *x = tdc_real_array_argument(e, "input"),
              *weight = tdc_real_array_argument(e, "weight");
    if (x->rank != 3 || weight->rank != 3 || weight->shape[1] != x->shape[2] || weight->count == 0)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "weight does not fit the input");
    struct tdc_windows w = {.n = 1, .size = {x->shape[0]}, .kernel = {weight->shape[0]}};
    w.stride[0] = w.dilation[0] = 1;
    w.before[0] = w.after[0] = tdc_int_argument(e, "pad");
    if (w.before[0] < 0 || w.before[0] > INT32_MAX)
        tdc_refuse(e, TDC_ERR_ARGUMENT, "pad is out of range");
    tdc_count_windows(e, &w, false);
    x = tdc_permute(e, x, (const unsigned[]){1, 2, 0});
    weight = tdc_permute(e, weight, (const unsigned[]){2, 1, 0});
    tdc_array *y = add_bias(e, tdc_convolve(e, x, weight, &w, 1), 1);
    tdc_give(e, tdc_permute(e, y, (const unsigned[]){2, 0, 1}));
}

static void unfold(tdc_evaluation *e)
{
    bool single;
    struct tdc_windows w = {.n = 2};
    tdc_array *x = tdc_batched(e, tdc_real_array_argument(e, "input"), 2, &single);
    tdc_read_window(e, &w, x->shape + 2, false);
    tdc_give_batched(e, tdc_unfold(e, x, &w), single);
}

static void fold(tdc_evaluation *e)
{
    struct tdc_windows w = {.n = 2};
    tdc_array *x = tdc_real_array_argument(e, "input");
    bool single = x->rank == 2;
    int64_t size[3];
    if (single)
        x = tdc_unsqueeze(e, x, 0);
    tdc_read_sizes(e, "output_size", 2, size, 1);
    tdc_read_window(e, &w, size, false);
    if (x->rank != 3 || x->shape[1] % tdc_window_product(&w, w.kernel) != 0 ||
        x->shape[2] != tdc_window_product(&w, w.count))
        tdc_refuse(e, TDC_ERR_ARGUMENT, "input does not fit the windows");
    tdc_give_batched(e, tdc_fold(e, x, &w), single);
}

#define FUNCTIONALS (TDC_IN_FUNCTIONALS | TDC_IN_TORCH)
#define CONVOLUTION "input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1"
#define TRANSPOSED                                                                                 \
    "input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1"
static const struct tdc_operator rows[] = {
    {"conv1d", FUNCTIONALS, CONVOLUTION, convolution, 1, 0},
    {"conv2d", FUNCTIONALS, CONVOLUTION, convolution, 2, 0},
    {"conv3d", FUNCTIONALS, CONVOLUTION, convolution, 3, 0},
    {"conv_transpose1d", FUNCTIONALS, TRANSPOSED, transposed_convolution, 1, 0},
    {"conv_transpose2d", FUNCTIONALS, TRANSPOSED, transposed_convolution, 2, 0},
    {"conv_transpose3d", FUNCTIONALS, TRANSPOSED, transposed_convolution, 3, 0},
    {"convolution _convolution", TDC_IN_TORCH,
     "input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, "
     "benchmark=False, deterministic=False, cudnn_enabled=True, allow_tf32=True",
     any_convolution, 0, 0},
    {"npu_convolution", TDC_IN_NPU,
     "input, weight, bias, stride, padding, dilation, groups, *, transposed=False, "
     "output_padding=0",
     any_convolution, 0, 0},
    {"npu_conv2d npu_conv3d", TDC_IN_NPU,
     "input, weight, bias, stride, padding, dilation, groups, *, transposed=False, "
     "output_padding=0",
     any_convolution, 0, 0},
    {"npu_conv_transpose2d npu_convolution_transpose", TDC_IN_NPU,
     "input, weight, bias, padding, output_padding, stride, dilation, groups, *, transposed=True",
     any_convolution, 0, 0},
    {"conv_tbc", FUNCTIONALS, "input, weight, bias, pad=0", time_convolution, 0, 0},
    {"unfold", TDC_IN_FUNCTIONALS, "input, kernel_size, dilation=1, padding=0, stride=1", unfold, 0,
     0},
    {"fold", TDC_IN_FUNCTIONALS, "input, output_size, kernel_size, dilation=1, padding=0, stride=1",
     fold, 0, 0},
};
const struct tdc_operator_family tdc_convolution_family = TDC_FAMILY("convolution", rows);
