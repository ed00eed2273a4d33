#include "tdcmp.h"

static const struct {
    const char *name;
    unsigned char size;
} dtypes[TDC_DTYPE_COUNT] = {
    [TDC_DTYPE_NONE] = {"none", 0},
    [TDC_BOOL] = {"bool", 1},
    [TDC_I8] = {"int8", 1},
    [TDC_I16] = {"int16", 2},
    [TDC_I32] = {"int32", 4},
    [TDC_I64] = {"int64", 8},
    [TDC_U8] = {"uint8", 1},
    [TDC_U16] = {"uint16", 2},
    [TDC_U32] = {"uint32", 4},
    [TDC_U64] = {"uint64", 8},
    [TDC_F8_E4M3] = {"float8_e4m3fn", 1},
    [TDC_F8_E5M2] = {"float8_e5m2", 1},
    [TDC_F16] = {"float16", 2},
    [TDC_BF16] = {"bfloat16", 2},
    [TDC_F32] = {"float32", 4},
    [TDC_F64] = {"float64", 8},
    [TDC_F80] = {"longdouble", 16},
    [TDC_C64] = {"complex64", 8},
    [TDC_C128] = {"complex128", 16},
    [TDC_TEXT] = {"text", 0},
};

size_t tdc_dtype_size(tdc_dtype dtype)
{
    return (unsigned)dtype < TDC_DTYPE_COUNT ? dtypes[dtype].size : 0;
}

const char *tdc_dtype_name(tdc_dtype dtype)
{
    return (unsigned)dtype < TDC_DTYPE_COUNT ? dtypes[dtype].name : "unknown";
}
