#include "kernels/cpu/vector/decode.h"
#include "kernels/cpu/wide_value.h"
#include "kernels/pair.h"

#define READ(type, element)                                                                        \
    __extension__({                                                                                \
        type value_;                                                                               \
        memcpy(&value_, (element), sizeof value_);                                                 \
        value_;                                                                                    \
    })

static double integer_value(tdc_dtype dtype, const void *element)
{
    switch (dtype) {
    case TDC_BOOL:
        return READ(uint8_t, element) != 0 ? 1.0 : 0.0;
    case TDC_I8:
        return READ(int8_t, element);
    case TDC_I16:
        return READ(int16_t, element);
    case TDC_I32:
        return READ(int32_t, element);
    case TDC_I64:
        return (double)READ(int64_t, element);
    case TDC_U8:
        return READ(uint8_t, element);
    case TDC_U16:
        return READ(uint16_t, element);
    case TDC_U32:
        return READ(uint32_t, element);
    case TDC_U64:
        return (double)READ(uint64_t, element);
    default:
        return NAN;
    }
}

double tdc_element_value(tdc_dtype dtype, const void *element, double *imaginary)
{
    *imaginary = 0;
    switch (dtype) {
    case TDC_F8_E4M3:
        return (double)decode_f8_e4m3(READ(uint8_t, element));
    case TDC_F8_E5M2:
        return (double)decode_f8_e5m2(READ(uint8_t, element));
    case TDC_F16:
        return (double)decode_f16(READ(uint16_t, element));
    case TDC_BF16:
        return (double)decode_bf16(READ(uint16_t, element));
    case TDC_F32:
        return (double)READ(float, element);
    case TDC_F64:
        return READ(double, element);
    case TDC_F80:
        return decode_f80(element);
    case TDC_C64:
        *imaginary = (double)READ(float, (const char *)element + sizeof(float));
        return (double)READ(float, element);
    case TDC_C128:
        *imaginary = READ(double, (const char *)element + sizeof(double));
        return READ(double, element);
    default:
        return integer_value(dtype, element);
    }
}

bool tdc_element_extended(const void *element, long double *value)
{
    *value = (long double)wide_f80(element);
    return isfinite(*value);
}

float tdc_round_to_f16(float value)
{
    return round_to_f16(value);
}
