#include "host/cli/msprobe/analysis_msprobe.h"

#include <stdio.h>

#include "host/cli/msprobe/msprobe_log.h"

void tdc_msprobe_saved(const char *file, const char *otherwise)
{
    char text[4096 + 64];
    snprintf(text, sizeof text, "The analyze result is saved in: %s", file != NULL ? file : "");
    tdc_msprobe_log(NULL, TDC_MESSAGE_INFO, file != NULL ? text : otherwise);
}

int tdc_msprobe_first_difference(const struct tdc_difference_request *request,
                                 const struct tdc_options *options)
{
    struct tdc_options told = *options;
    told.message = tdc_msprobe_log;
    told.context = NULL;
    struct tdc_difference difference;
    struct tdc_error error = {0};
    tdc_msprobe_log(NULL, TDC_MESSAGE_INFO, "Start finding first diff node......");
    if (tdc_first_difference(request, &told, &difference, &error) != TDC_OK) {
        tdc_msprobe_log(NULL, TDC_MESSAGE_ERROR, error.message);
        return 1;
    }
    tdc_msprobe_saved(difference.file,
                      "Cannot find any diff node, no need to generate analyze file.");
    tdc_difference_free(&difference);
    return 0;
}
