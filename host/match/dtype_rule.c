/* dtype_rule.c - types that may face each other (docs/msprobe.md#types-that-agree). */
#include <string.h>

#include "host/match/match.h"
#include "kernels/dtype.h"

/* Across frameworks only the kind of number counts; what no dtype is called stays itself. */
static const char *kind_of(const char *text)
{
    static const char *const kinds[] = {[TDC_KIND_TRUTH] = "bool",
                                        [TDC_KIND_WHOLE] = "int",
                                        [TDC_KIND_FLOATING] = "float",
                                        [TDC_KIND_COMPLEX] = "complex"};
    tdc_dtype dtype = tdc_dtype_shared(text);
    return dtype == TDC_DTYPE_NONE ? text : kinds[tdc_dtype_entry(dtype)->kind];
}

/* Within one, float16, bfloat16 and float32 may face each other, float64 not by all rules. */
static bool is_mixed(const char *text, bool any_float)
{
    tdc_dtype dtype = tdc_dtype_shared(text);
    return (any_float && dtype == TDC_F64) || dtype == TDC_F16 || dtype == TDC_BF16 ||
           dtype == TDC_F32;
}

bool tdc_dtypes_agree(const char *npu, const char *bench, bool cross, bool any_float)
{
    if (cross)
        return strcmp(kind_of(npu), kind_of(bench)) == 0;
    /* 't': as torch writes them */
    return strcmp(npu, bench) == 0 || (is_mixed(npu, any_float) && is_mixed(bench, any_float) &&
                                       (npu[0] == 't') == (bench[0] == 't'));
}

bool tdc_match_dtypes_agree(const struct tdc_match *match, uint32_t npu, uint32_t bench)
{
    return tdc_dtypes_agree(match->npu->records[npu].dtype, match->bench->records[bench].dtype,
                            match->cross, match->rules->any_float);
}
