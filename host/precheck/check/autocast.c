/*
 * autocast.c - operators that round their inputs first.
 *
 * Under autocast the frameworks convert the float32 inputs of products, convolutions and attention
 * to float16 or bfloat16 and compute on those. The record has the inputs as they came, and tells it
 * by its dtypes alone: an input in float32, an output in 16 bits. The reference then takes the
 * inputs rounded.
 */
#include <string.h>

#include "host/precheck/check/check.h"
#include "host/precheck/rebuild/dtype_names.h"

/* Of the frameworks' lists for the narrow dtype; other operators of these lists that keep float32
 * on some device show it by their output. */
static bool is_listed(const char *name)
{
    static const char *const names[] = {"linear",
                                        "matmul",
                                        "mm",
                                        "bmm",
                                        "addmm",
                                        "addbmm",
                                        "baddbmm",
                                        "addmv",
                                        "addr",
                                        "mv",
                                        "dot",
                                        "vdot",
                                        "inner",
                                        "outer",
                                        "einsum",
                                        "tensordot",
                                        "chain_matmul",
                                        "multi_dot",
                                        "linalg_multi_dot",
                                        "bilinear",
                                        "conv1d",
                                        "conv2d",
                                        "conv3d",
                                        "convolution",
                                        "conv_tbc",
                                        "conv_transpose1d",
                                        "conv_transpose2d",
                                        "conv_transpose3d",
                                        "prelu",
                                        "lstm_cell",
                                        "gru_cell",
                                        "rnn_tanh_cell",
                                        "rnn_relu_cell",
                                        "scaled_dot_product_attention",
                                        "multi_head_attention_forward",
                                        "npu_fusion_attention",
                                        "flash_attention_score",
                                        "__matmul__",
                                        "__rmatmul__"};
    const char *last = strrchr(name, '.');
    name = last != NULL ? last + 1 : name;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static bool has_dtype(const struct tdc_reference_value *value, tdc_dtype dtype, int depth)
{
    if (value->kind == TDC_VALUE_TENSOR)
        return value->tensor->dtype == dtype;
    if (value->kind == TDC_VALUE_LIST && depth < TDC_REFERENCE_DEPTH)
        for (size_t i = 0; i < value->list.count; i++)
            if (has_dtype(&value->list.values[i], dtype, depth + 1))
                return true;
    return false;
}

/* The first output's recorded dtype; TDC_DTYPE_NONE when there is none. */
static tdc_dtype recorded_output(const struct tdc_call_check *check)
{
    const struct tdc_json *outputs = tdc_json_get(check->records[TDC_FORWARD], "output");
    const struct tdc_json *first =
        outputs != NULL && outputs->kind == TDC_JSON_LIST ? outputs->child : NULL;
    const struct tdc_json *dtype = first != NULL ? tdc_json_get(first, "dtype") : NULL;
    return dtype != NULL && dtype->kind == TDC_JSON_STRING ? tdc_recorded_dtype(dtype->text)
                                                           : TDC_DTYPE_NONE;
}

static bool round_inputs(struct tdc_arena *arena, struct tdc_reference_value *value,
                         tdc_dtype dtype, int depth)
{
    if (value->kind == TDC_VALUE_LIST && depth < TDC_REFERENCE_DEPTH)
        for (size_t i = 0; i < value->list.count; i++)
            if (!round_inputs(arena, &value->list.values[i], dtype, depth + 1))
                return false;
    if (value->kind != TDC_VALUE_TENSOR || !tdc_dtype_is_floating(value->tensor->dtype) ||
        value->tensor->dtype == TDC_F64 || value->tensor->dtype == dtype)
        return true;
    const struct tdc_reference_tensor *given = value->tensor;
    struct tdc_reference_tensor *copy =
        tdc_reference_tensor_new(arena, dtype, given->rank, given->shape);
    if (copy == NULL)
        return false;
    copy->wants_gradient = given->wants_gradient;
    for (int64_t i = 0; i < given->count; i++)
        copy->real[i] = tdc_reference_cast(given->real[i], dtype);
    value->tensor = copy;
    return true;
}

bool tdc_autocast_inputs(struct tdc_call_check *check, struct tdc_reason *reason)
{
    if (check->checker->options->profile != TDC_PROFILE_EXTENDED || !is_listed(check->name))
        return true;
    tdc_dtype dtype = recorded_output(check);
    bool wider = false;
    for (size_t i = 0; i < check->arguments.count; i++)
        wider |= has_dtype(&check->arguments.list[i], TDC_F32, 0);
    for (size_t i = 0; i < check->keyword_count; i++)
        wider |= has_dtype(&check->keywords[i].value, TDC_F32, 0);
    if (!wider || (dtype != TDC_F16 && dtype != TDC_BF16))
        return true;
    check->autocast = dtype;
    struct tdc_arena *arena = &check->checker->arena;
    for (size_t i = 0; i < check->arguments.count; i++)
        if (!round_inputs(arena, &check->arguments.list[i], dtype, 0))
            return tdc_give_reason(reason, "out of memory");
    for (size_t i = 0; i < check->keyword_count; i++)
        if (!round_inputs(arena, &check->keywords[i].value, dtype, 0))
            return tdc_give_reason(reason, "out of memory");
    return true;
}
