/* offline26.c - `tdcmp compare -m offline_data -tp TARGET -gp GOLDEN`: dump files without a graph.
 */
#include <stdio.h>

#include "host/cli/msprobe/msprobe_log.h"
#include "host/cli/msprobe26/compare26.h"
#include "io/storage/looking.h"

int tdc_compare26_offline(const struct tdc_argument arguments[ARG26_COUNT])
{
    const char *target = arguments[ARG26_TARGET].value, *golden = arguments[ARG26_GOLDEN].value;
    const char *output = arguments[ARG26_OUTPUT].value;
    const struct tdc_offline_rules rules = {.fusion = arguments[ARG26_FUSION_RULE].value,
                                            .quantised = arguments[ARG26_QUANT_FUSION_RULE].value,
                                            .unfused = arguments[ARG26_CLOSE_FUSION_RULE].value};
    struct tdc_options options;
    struct tdc_error error = {0};
    size_t lonely = 0;
    tdc_options_init(&options, sizeof options, TDC_RULES_COMPAT26);
    options.message = tdc_msprobe_log;
    tdc_status status =
        tdc_is_file(target) && tdc_is_file(golden)
            ? tdc_offline_compare_files(target, golden, &options, &error)
            : tdc_offline_compare(target, golden, output != NULL ? output : "./output", &rules,
                                  &options, &lonely, &error);
    if (lonely != 0 && status == TDC_OK) {
        char text[128];
        snprintf(text, sizeof text, "%zu operators have no counterpart", lonely);
        tdc_msprobe_log(NULL, TDC_MESSAGE_WARNING, text);
    }
    if (status != TDC_OK)
        tdc_msprobe_log(NULL, TDC_MESSAGE_ERROR, error.message);
    return status == TDC_OK ? 0 : 1;
}
