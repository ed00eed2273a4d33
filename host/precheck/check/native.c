/* native.c - the executor of machines without a device. */
#include "host/precheck/check/executor.h"

/* Of two floating dtypes the one both fit in. */
static tdc_dtype wider(tdc_dtype a, tdc_dtype b)
{
    if (a == TDC_DTYPE_NONE || a == b)
        return b;
    if ((a == TDC_F16 && b == TDC_BF16) || (a == TDC_BF16 && b == TDC_F16))
        return TDC_F32;
    return a > b ? a : b;
}

static tdc_dtype dtype_of(const struct tdc_reference_value *value, int depth, tdc_dtype so_far)
{
    if (value->kind == TDC_VALUE_TENSOR && tdc_dtype_is_floating(value->tensor->dtype))
        return wider(so_far, value->tensor->dtype);
    if (value->kind == TDC_VALUE_LIST && depth < TDC_REFERENCE_DEPTH)
        for (size_t i = 0; i < value->list.count; i++)
            so_far = dtype_of(&value->list.values[i], depth + 1, so_far);
    return so_far;
}

/* A floating dtype asked for by name wins over the inputs'. */
static tdc_dtype result_dtype(const struct tdc_reference_call *call)
{
    tdc_dtype dtype = TDC_DTYPE_NONE;
    for (size_t i = 0; i < call->argument_count; i++)
        dtype = dtype_of(&call->arguments[i], 0, dtype);
    for (size_t i = 0; i < call->keyword_count; i++)
        dtype = dtype_of(&call->keywords[i].value, 0, dtype);
    for (size_t i = 0; i < call->keyword_count; i++)
        if (call->keywords[i].value.kind == TDC_VALUE_DTYPE &&
            tdc_dtype_is_floating(call->keywords[i].value.dtype))
            return call->keywords[i].value.dtype;
    return dtype == TDC_DTYPE_NONE ? TDC_F32 : dtype;
}

/* Outputs may share elements with inputs: rounding makes a copy. */
static tdc_status round_value(struct tdc_reference_value *value, tdc_dtype dtype,
                              struct tdc_arena *arena)
{
    struct tdc_reference_tensor *tensor = value->tensor;
    if (value->kind != TDC_VALUE_TENSOR || tensor->dtype != TDC_F64 || dtype == TDC_F64)
        return TDC_OK;
    struct tdc_reference_tensor *copy =
        tdc_reference_tensor_new(arena, dtype, tensor->rank, tensor->shape);
    if (copy == NULL)
        return TDC_ERR_MEMORY;
    for (int64_t i = 0; i < tensor->count; i++)
        copy->real[i] = tdc_reference_round(tensor->real[i], dtype);
    value->tensor = copy;
    return TDC_OK;
}

static tdc_status native_forward(void *state, const struct tdc_reference_call *call,
                                 struct tdc_arena *arena, struct tdc_reference_results *outputs)
{
    (void)state;
    struct tdc_reference_call narrow = *call;
    narrow.arithmetic = result_dtype(call);
    tdc_status status = tdc_reference_forward(&narrow, arena, outputs);
    for (size_t i = 0; status == TDC_OK && i < outputs->count; i++)
        status = round_value(&outputs->values[i], narrow.arithmetic, arena);
    return status;
}

/* A gradient has the dtype of its input. */
static tdc_status round_leaf(const struct tdc_reference_value *input, int depth,
                             struct tdc_reference_results *results, size_t *next,
                             struct tdc_arena *arena)
{
    if (input->kind == TDC_VALUE_LIST && depth < TDC_REFERENCE_DEPTH) {
        for (size_t i = 0; i < input->list.count; i++) {
            tdc_status status = round_leaf(&input->list.values[i], depth + 1, results, next, arena);
            if (status != TDC_OK)
                return status;
        }
        return TDC_OK;
    }
    if (input->kind != TDC_VALUE_TENSOR || !input->tensor->wants_gradient ||
        *next >= results->count)
        return TDC_OK;
    return round_value(&results->values[(*next)++], input->tensor->dtype, arena);
}

static tdc_status native_backward(void *state, const struct tdc_reference_call *call,
                                  struct tdc_reference_tensor *const *gradients,
                                  size_t gradient_count, struct tdc_arena *arena,
                                  struct tdc_reference_results *results)
{
    (void)state;
    struct tdc_reference_call narrow = *call;
    narrow.arithmetic = result_dtype(call);
    tdc_status status = tdc_reference_backward(&narrow, gradients, gradient_count, arena, results);
    size_t next = 0;
    for (size_t i = 0; status == TDC_OK && i < call->argument_count; i++)
        status = round_leaf(&call->arguments[i], 0, results, &next, arena);
    for (size_t i = 0; status == TDC_OK && i < call->keyword_count; i++)
        status = round_leaf(&call->keywords[i].value, 0, results, &next, arena);
    return status;
}

const struct tdc_executor tdc_executor_native = {"native", NULL, native_forward, native_backward};
