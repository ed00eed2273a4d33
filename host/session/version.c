#include "tdcmp.h"

#define TEXT(x)     #x
#define EXPANDED(x) TEXT(x)

const char *tdc_version(void)
{
    return EXPANDED(TDC_VERSION_MAJOR) "." EXPANDED(TDC_VERSION_MINOR) "." EXPANDED(
        TDC_VERSION_PATCH);
}
