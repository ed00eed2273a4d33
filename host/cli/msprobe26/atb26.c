/* atb26.c - `tdcmp compare -m atb -tp TARGET -gp GOLDEN`: two execution rounds of ATB. */

#include "host/cli/msprobe/msprobe_log.h"
#include "host/cli/msprobe26/compare26.h"
#include "io/storage/looking.h"

int tdc_compare26_atb(const struct tdc_argument arguments[ARG26_COUNT])
{
    const char *target = arguments[ARG26_TARGET].value, *golden = arguments[ARG26_GOLDEN].value;
    const char *output = arguments[ARG26_OUTPUT].value;
    struct tdc_options options;
    struct tdc_error error = {0};
    if (tdc_is_file(target) != tdc_is_file(golden)) {
        tdc_msprobe_log(NULL, TDC_MESSAGE_ERROR,
                        "The golden_path and target_path should be both files or directories");
        return 1;
    }
    if (tdc_is_file(target)) {
        tdc_msprobe_log(NULL, TDC_MESSAGE_WARNING,
                        "Comparison between ATB data files is not yet supported: `tdcmp compare "
                        "TARGET GOLDEN` takes them");
        return 1;
    }
    tdc_options_init(&options, sizeof options, TDC_RULES_COMPAT26);
    options.message = tdc_msprobe_log;
    tdc_status status =
        tdc_atb_compare(target, golden, output != NULL ? output : "./output", &options, &error);
    if (status != TDC_OK)
        tdc_msprobe_log(NULL, TDC_MESSAGE_ERROR, error.message);
    return status == TDC_OK ? 0 : 1;
}
