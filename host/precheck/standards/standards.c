#include "host/precheck/standards/standards.h"

#include "host/precheck/calls/calls.h"

#include <string.h>

static const char *const binary[] = {
    "abs",           "abs_",           "absolute",    "absolute_",   "argmin",       "bitwise_and",
    "bitwise_and_",  "broadcast_to",   "ceil",        "ceil_",       "equal",        "fill_",
    "flatten",       "floor",          "floor_",      "gather",      "greater",      "greater_",
    "greater_equal", "greater_equal_", "histc",       "isfinite",    "isnan",        "less",
    "less_",         "less_equal",     "less_equal_", "logical_and", "logical_and_", "logical_not",
    "logical_not_",  "logical_or",     "logical_or_", "masked_fill", "masked_fill_", "max_pool3d",
    "maximum",       "minimum",        "neg",         "neg_",        "nonzero",      "not_equal",
    "not_equal_",    "one_hot",        "pad",         "relu",        "reshape",      "round",
    "round_",        "select",         "sign",        "sign_",       "sort",         "tile",
    "topk",          "transpose",      "transpose_",  "tril",        "tril_",        "triu",
    "triu_",         "type_as",        NULL};

static const char *const absolute[] = {
    "mul",      "mul_",     "__mul__",    "__imul__",    "__rmul__", "add",        "add_",
    "__add__",  "__iadd__", "__radd__",   "div",         "div_",     "__div__",    "__idiv__",
    "divide",   "divide_",  "leaky_relu", "leaky_relu_", "prelu",    "reciprocal", "reciprocal_",
    "rsqrt",    "rsqrt_",   "square",     "square_",     "sub",      "sub_",       "rsub",
    "__isub__", "__sub__",  NULL};

static const char *const ulp[] = {"__matmul__", "addbmm",   "addbmm_",  "addmm", "addmm_",
                                  "baddbmm",    "baddbmm_", "bilinear", "bmm",   "chain_matmul",
                                  "hspmm",      "linear",   "matmul",   "mm",    "mv",
                                  "smm",        "sspaddmm", NULL};

static const char *const thousandth[] = {"conv1d", "conv2d", NULL};
static const char *const accumulative[] = {"test_api", NULL};

enum tdc_api_standard tdc_api_standard(const char *name, tdc_dtype device)
{
    if (device != TDC_F16 && device != TDC_BF16 && device != TDC_F32)
        return TDC_BY_BINARY;
    return tdc_name_is_among(name, binary)         ? TDC_BY_BINARY
           : tdc_name_is_among(name, absolute)     ? TDC_BY_ABSOLUTE
           : tdc_name_is_among(name, ulp)          ? TDC_BY_ULP
           : tdc_name_is_among(name, thousandth)   ? TDC_BY_THOUSANDTH
           : tdc_name_is_among(name, accumulative) ? TDC_BY_ACCUMULATIVE
                                                   : TDC_BY_BENCHMARK;
}

bool tdc_is_float8(const char *dtype)
{
    static const char *const names[] = {
        "torch.float8_e4m3fn", "torch.float8_e5m2", "torch_npu.HiFloat8Tensor",
        "<class 'torch_npu.utils.hif8_tensor.HiFloat8Tensor'>", NULL};
    return tdc_name_is_among(dtype, names);
}

enum tdc_api_standard tdc_api_standard26(const char *device_dtype, bool float8_input)
{
    static const char *const floats[] = {"torch.float16", "torch.bfloat16", "torch.float32",
                                         "torch.float64", NULL};
    return tdc_is_float8(device_dtype)               ? TDC_BY_ULP
           : float8_input                            ? TDC_BY_ABSOLUTE
           : tdc_name_is_among(device_dtype, floats) ? TDC_BY_BENCHMARK
                                                     : TDC_BY_BINARY;
}

struct tdc_benchmark_limits tdc_benchmark_limits26(const char *name)
{
    static const char *const level1[] = {"embedding",
                                         "npu_fusion_attention_grad",
                                         "npu_fusion_attention",
                                         "scatter_",
                                         "scatter_add_",
                                         NULL};
    static const char *const level2[] = {"addmm",
                                         "npu_cross_entropy_loss",
                                         "npu_cross_entropy_loss_backward",
                                         "GELU",
                                         "layer_norm",
                                         "matmul",
                                         "mm",
                                         "index",
                                         "one_hot",
                                         "sum",
                                         "npu_rms_norm",
                                         "npu_rms_norm_backward",
                                         "nonzero",
                                         NULL};
    static const struct tdc_benchmark_limits limits[] = {{10, 2, 2}, {5, 1.5, 1.5}, {2, 1.2, 1.2}};
    return limits[tdc_name_is_among(name, level2) ? 2 : tdc_name_is_among(name, level1) ? 1 : 0];
}

const char *tdc_api_standard_title(enum tdc_api_standard standard)
{
    static const char *const titles[] = {
        [TDC_BY_BENCHMARK] = "标杆比对法",  [TDC_BY_BINARY] = "二进制一致法",
        [TDC_BY_ABSOLUTE] = "绝对阈值法",   [TDC_BY_ULP] = "ULP误差比对法",
        [TDC_BY_THOUSANDTH] = "双千指标法", [TDC_BY_ACCUMULATIVE] = "累积误差比对法"};
    return titles[standard];
}

double tdc_ratio_floor(tdc_dtype device)
{
    return device == TDC_F16 ? 0x1p-11 : device == TDC_BF16 ? 0x1p-8 : 0x1p-14;
}
