#include "host/precheck/rebuild/dtype_names.h"

#include <string.h>

static const struct {
    const char *mindspore, *torch;
    tdc_dtype dtype;
} names[] = {
    {"Bool", "torch.bool", TDC_BOOL},          {"Int8", "torch.int8", TDC_I8},
    {"UInt8", "torch.uint8", TDC_U8},          {"Int16", "torch.int16", TDC_I16},
    {"UInt16", "torch.uint16", TDC_U16},       {"Int32", "torch.int32", TDC_I32},
    {"UInt32", "torch.uint32", TDC_U32},       {"Int64", "torch.int64", TDC_I64},
    {"UInt64", "torch.uint64", TDC_U64},       {"Float16", "torch.float16", TDC_F16},
    {"BFloat16", "torch.bfloat16", TDC_BF16},  {"Float32", "torch.float32", TDC_F32},
    {"Float64", "torch.float64", TDC_F64},     {"Int4", "torch.int4", TDC_I8},
    {"Complex64", "torch.complex64", TDC_C64}, {"Complex128", "torch.complex128", TDC_C128},
};

tdc_dtype tdc_recorded_dtype(const char *text)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i].mindspore) == 0 || strcmp(text, names[i].torch) == 0)
            return names[i].dtype;
    return TDC_DTYPE_NONE;
}

const char *tdc_shown_dtype(tdc_dtype dtype)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].dtype == dtype)
            return names[i].mindspore;
    return "";
}
