/*
 * draw.c - random inputs where the dump holds statistics alone, exactly as msprobe draws them.
 *
 * Every tensor starts numpy's generator anew with seed 42, so that equal shapes and ranges give
 * equal tensors. (PyTorch dumps: draw_pytorch.c.)
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "host/precheck/rebuild/rebuild.h"
#include "reference/twister.h"

#define SEED 42u

/* 53 bits in [0, 1) */
static double fraction(struct tdc_twister *twister)
{
    double high = tdc_twister_word(twister) >> 5, low = tdc_twister_word(twister) >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
}

bool tdc_drawn_shape(const struct tdc_json *element, int64_t *shape, unsigned *rank)
{
    const struct tdc_json *list = tdc_json_get(element, "shape");
    *rank = 0;
    if (list == NULL || list->kind != TDC_JSON_LIST)
        return false;
    for (const struct tdc_json *size = list->child; size != NULL; size = size->next) {
        if (*rank == TDC_REFERENCE_RANK || size->kind != TDC_JSON_INTEGER || size->number < 0 ||
            size->number > 0x1p53)
            return false;
        shape[(*rank)++] = (int64_t)size->number;
    }
    return true;
}

static bool read_bound(struct tdc_rebuild *rebuild, const struct tdc_json *element,
                       const char *name, double *bound)
{
    const struct tdc_json *json = tdc_json_get(element, name);
    if (json == NULL || json->kind == TDC_JSON_NULL)
        return tdc_give_reason(rebuild->reason,
                               TDC_JSON_PARSE_FAILED "%s field in api_info.json is missing", name);
    if (json->kind == TDC_JSON_TRUE || json->kind == TDC_JSON_FALSE)
        *bound = json->kind == TDC_JSON_TRUE;
    else if (json->kind == TDC_JSON_INTEGER || json->kind == TDC_JSON_FLOAT)
        *bound = json->number;
    else
        return tdc_give_reason(rebuild->reason,
                               TDC_JSON_PARSE_FAILED
                               "%s field in api_info.json is not accepted type: (<class 'int'>, "
                               "<class 'float'>)",
                               name);
    if (isinf(*bound))
        *bound = *bound > 0 ? DBL_MAX : -DBL_MAX;
    return true;
}

/* Toward zero, and then the low bits, as numpy's conversions on x86-64. */
static int64_t to_whole(double value, tdc_dtype dtype)
{
    int64_t whole = value >= -0x1p63 && value < 0x1p63 ? (int64_t)value : INT64_MIN;
    switch (dtype) {
    case TDC_I8:
        return (int8_t)whole;
    case TDC_U8:
        return (uint8_t)whole;
    case TDC_I16:
        return (int16_t)whole;
    case TDC_I32:
        return value >= -0x1p31 && value < 0x1p31 ? (int32_t)whole : INT32_MIN;
    default:
        return whole;
    }
}

static void fill(struct tdc_reference_tensor *tensor, double low, double range)
{
    struct tdc_twister twister;
    tdc_twister_seed(&twister, SEED);
    for (int64_t i = 0; i < tensor->count; i++) {
        double r = fraction(&twister);
        if (tensor->dtype == TDC_BOOL)
            tensor->whole[i] = r > 0.5;
        else if (tdc_dtype_is_floating(tensor->dtype))
            /* numpy has no bfloat16: torch converts that one */
            tensor->real[i] = tensor->dtype == TDC_BF16
                                  ? tdc_reference_cast(low + range * r, tensor->dtype)
                                  : tdc_reference_round(low + range * r, tensor->dtype);
        else
            tensor->whole[i] = to_whole(low + range * r, tensor->dtype);
    }
}

bool tdc_draw_tensor(struct tdc_rebuild *rebuild, const struct tdc_json *element, tdc_dtype dtype,
                     struct tdc_reference_tensor **tensor)
{
    int64_t shape[TDC_REFERENCE_RANK];
    unsigned rank;
    if (!tdc_drawn_shape(element, shape, &rank))
        return tdc_give_reason(rebuild->reason,
                               TDC_JSON_PARSE_FAILED "shape field in api_info.json is missing");
    double low = 0, high = 1;
    if (!read_bound(rebuild, element, "Max", &high) || !read_bound(rebuild, element, "Min", &low))
        return false;
    if (dtype == TDC_U16 || dtype == TDC_U32 || dtype == TDC_U64)
        return tdc_give_reason(rebuild->reason, "the reference takes no tensors of this dtype");
    if (dtype != TDC_BOOL && !isfinite(high - low))
        return tdc_give_reason(rebuild->reason, "Range exceeds valid bounds");
    *tensor = tdc_reference_tensor_new(rebuild->arena, dtype, rank, shape);
    if (*tensor == NULL)
        return tdc_give_reason(rebuild->reason, "the call needs more memory than a call may take");
    fill(*tensor, low, high - low);
    return true;
}
