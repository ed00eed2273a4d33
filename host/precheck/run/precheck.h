/* precheck.h - a precheck from the inside. */
#ifndef TDC_PRECHECK_PRECHECK_H
#define TDC_PRECHECK_PRECHECK_H

#include "host/precheck/run/api_summary.h"
#include "host/precheck/calls/calls.h"
#include "host/precheck/run/gaps.h"
#include "host/precheck/run/journal.h"
#include "host/precheck/run/json_details.h"
#include "host/precheck/run/shared_calls.h"
#include "tdcmp/share.h"

struct tdc_precheck {
    struct tdc_precheck_options own_options; /* the caller's, with defaults behind */
    const struct tdc_precheck_options *options;
    struct tdc_calls calls;
    struct tdc_journal journal;
    bool journal_open;
    struct tdc_share *share; /* the caller's; NULL: none */
    struct tdc_shared_calls shared;
    struct tdc_json_details json;
    char *json_path;
    bool json_written;
    char *error_folder; /* NULL: tensors of failing calls are not kept */
    struct tdc_api_summary apis;
    struct tdc_gaps gaps;
    struct tdc_precheck_summary summary;
    struct tdc_text explanation;
};

/* The call of a name that tables show: its own, that of a direction or of a slot ("Torch.add.0",
 * "Torch.add.0.forward", "Torch.add.0.forward.output.0"); NULL when there is none. */
const struct tdc_call *tdc_precheck_find(const struct tdc_precheck *precheck, const char *name);

#endif
