/* compare_options.h - the command line of `tdcmp compare TEST REF`. */
#ifndef TDC_CLI_COMPARE_OPTIONS_H
#define TDC_CLI_COMPARE_OPTIONS_H

#include "host/cli/share/sharing.h"
#include "host/cli/shared/run_options.h"

struct tdc_compare_settings {
    struct tdc_run_settings run;
    int step; /* -1: all */
    bool version;
    bool no_highlight;
    struct tdc_sharing sharing;
    bool mapped; /* an option says how names are matched */
};

extern const char tdc_compare_usage[];

/* Defaults, then the options; the two dumps are at optind. False: complained about. The sharing is
 * to be freed in any case. */
bool tdc_take_compare_options(int argc, char **argv, struct tdc_compare_settings *settings);

#endif
