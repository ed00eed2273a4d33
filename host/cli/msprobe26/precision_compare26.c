/* precision_compare26.c - `tdcmp api_precision_compare -npu FILE -gpu FILE`, by the rules of 26.2.
 */
#include "host/cli/msprobe/precision_compare_msprobe.h"
#include "host/cli/msprobe26/words26.h"

int tdc_word26_precision_compare(int argc, char **argv)
{
    return tdc_precision_compare_words("tdcmp api_precision_compare", TDC_RULES_COMPAT26, argc - 1,
                                       argv + 1);
}
