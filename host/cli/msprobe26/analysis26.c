/* analysis26.c - the analyses in the words of msprobe 26. */
#include "host/cli/msprobe/analysis_msprobe.h"
#include "host/cli/msprobe26/words26.h"

int tdc_word26_merge_result(int argc, char **argv)
{
    return tdc_msprobe_merge("tdcmp merge_result", argc - 1, argv + 1);
}

int tdc_word26_overflow_check(int argc, char **argv)
{
    return tdc_msprobe_overflow("tdcmp overflow_check", argc - 1, argv + 1);
}
