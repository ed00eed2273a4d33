/* dtype_rule.c - types that may face each other (spec 4.3). */
#include <string.h>

#include "host/match/match.h"

static bool among(const char *dtype, const char *const group[3])
{
    return strcmp(dtype, group[0]) == 0 || strcmp(dtype, group[1]) == 0 ||
           strcmp(dtype, group[2]) == 0;
}

bool tdc_dtypes_agree(const char *npu, const char *bench)
{
    static const char *const mindspore[3] = {"Float16", "Float32", "BFloat16"};
    static const char *const torch[3] = {"torch.float16", "torch.float32", "torch.bfloat16"};
    return strcmp(npu, bench) == 0 || (among(npu, mindspore) && among(bench, mindspore)) ||
           (among(npu, torch) && among(bench, torch));
}
