#include "kernels/pair.h"
#include "tdcmp.h"

#define TEXT(x)     #x
#define EXPANDED(x) TEXT(x)

const char *tdc_version(void)
{
    return EXPANDED(TDC_VERSION_MAJOR) "." EXPANDED(TDC_VERSION_MINOR) "." EXPANDED(
        TDC_VERSION_PATCH);
}

const char *tdc_cpu_name(void)
{
    return tdc_cpu_variant_name(tdc_cpu_variant_chosen());
}
