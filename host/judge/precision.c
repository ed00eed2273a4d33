/* precision.c - the dtypes of a dump and what their arithmetic can promise. */
#include "host/judge/precision.h"

#include "kernels/dtype.h"

enum tdc_precision tdc_precision_of(const char *dtype)
{
    switch (tdc_dtype_part(tdc_dtype_at_end(dtype))) {
    case TDC_F8_E4M3:
    case TDC_F8_E5M2:
        return TDC_PRECISION_F8;
    case TDC_BF16:
        return TDC_PRECISION_BF16;
    case TDC_F16:
        return TDC_PRECISION_F16;
    case TDC_F32:
        return TDC_PRECISION_F32;
    case TDC_F64:
    case TDC_F80:
        return TDC_PRECISION_F64;
    default:
        return TDC_PRECISION_EXACT;
    }
}

double tdc_unit_roundoff(enum tdc_precision precision)
{
    static const double roundoff[TDC_PRECISIONS] = {0, 0x1p-53, 0x1p-24, 0x1p-11, 0x1p-8, 0x1p-3};
    return roundoff[precision];
}

const char *tdc_precision_name(enum tdc_precision precision)
{
    static const char *const names[TDC_PRECISIONS] = {"integers", "float64",  "float32",
                                                      "float16",  "bfloat16", "float8"};
    return names[precision];
}

struct tdc_level_limits tdc_level_limits(enum tdc_precision precision, bool gradient)
{
    static const struct tdc_level_limits limits[TDC_PRECISIONS][2] = {
        [TDC_PRECISION_EXACT] = {{0, 0}, {0, 0}},
        [TDC_PRECISION_F64] = {{0x1p-49, 1e-6}, {0x1p-47, 1e-5}},
        [TDC_PRECISION_F32] = {{0x1p-20, 2e-3}, {0x1p-18, 1e-2}},
        [TDC_PRECISION_F16] = {{0x1p-9, 1e-2}, {0x1p-8, 5e-2}},
        [TDC_PRECISION_BF16] = {{0x1p-6, 4e-2}, {0x1p-5, 0.125}},
        [TDC_PRECISION_F8] = {{0x1p-2, 0.5}, {0x1p-1, 1}},
    };
    return limits[precision][gradient];
}
