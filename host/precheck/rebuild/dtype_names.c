#include "host/precheck/rebuild/dtype_names.h"

#include <string.h>

#include "kernels/dtype.h"

tdc_dtype tdc_recorded_dtype(const char *text)
{
    if (strcmp(text, "Int4") == 0 || strcmp(text, "torch.int4") == 0)
        return TDC_I8;
    return tdc_dtype_shared(text);
}

const char *tdc_shown_dtype(tdc_dtype dtype)
{
    const char *name = tdc_dtype_entry(dtype)->mindspore;
    return name != NULL ? name : "";
}
