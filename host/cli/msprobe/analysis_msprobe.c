#include "host/cli/msprobe/analysis_msprobe.h"

#include <stdio.h>

#include "host/cli/msprobe/msprobe_log.h"

void tdc_msprobe_saved(const char *file, const char *otherwise)
{
    char text[4096 + 64];
    snprintf(text, sizeof text, "The analyze result is saved in: %s", file != NULL ? file : "");
    tdc_msprobe_log(NULL, TDC_MESSAGE_INFO, file != NULL ? text : otherwise);
}
