/* precision.c - the dtypes of a dump and what their arithmetic can promise. */
#include "host/judge/precision.h"

#include <string.h>
#include <strings.h>

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && strcasecmp(text + length - tail, ending) == 0;
}

enum tdc_precision tdc_precision_of(const char *dtype)
{
    static const struct {
        const char *ending;
        enum tdc_precision precision;
    } endings[] = {
        {"bfloat16", TDC_PRECISION_BF16},  {"float16", TDC_PRECISION_F16},
        {"half", TDC_PRECISION_F16},       {"float32", TDC_PRECISION_F32},
        {"complex64", TDC_PRECISION_F32},  {"float64", TDC_PRECISION_F64},
        {"double", TDC_PRECISION_F64},     {"longdouble", TDC_PRECISION_F64},
        {"complex128", TDC_PRECISION_F64}, {"float8_e4m3fn", TDC_PRECISION_F8},
        {"float8_e5m2", TDC_PRECISION_F8}, {".float", TDC_PRECISION_F32},
    };
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(dtype, endings[i].ending))
            return endings[i].precision;
    return TDC_PRECISION_EXACT;
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
