#include "host/cli/msprobe/analysis_msprobe.h"

#include <stdio.h>

#include "host/cli/msprobe/msprobe_log.h"

void tdc_msprobe_saved(const char *file, const char *otherwise)
{
    char text[4096 + 64];
    snprintf(text, sizeof text, "The analyze result is saved in: %s", file != NULL ? file : "");
    tdc_msprobe_log(NULL, TDC_MESSAGE_INFO, file != NULL ? text : otherwise);
}

int tdc_msprobe_first_difference(const tdc_tasks *tasks, const char *output, unsigned flags,
                                 const struct tdc_options *options)
{
    struct tdc_options told = *options;
    told.message = tdc_msprobe_log;
    told.context = NULL;
    tdc_beginning *beginning;
    struct tdc_error error = {0};
    tdc_msprobe_log(NULL, TDC_MESSAGE_INFO, "Start finding first diff node......");
    if (tdc_difference_find(tasks, output, flags, &told, &beginning, &error) != TDC_OK) {
        tdc_msprobe_log(NULL, TDC_MESSAGE_ERROR, error.message);
        return 1;
    }
    tdc_msprobe_saved(tdc_beginning_file(beginning),
                      "Cannot find any diff node, no need to generate analyze file.");
    tdc_beginning_free(beginning);
    return 0;
}
