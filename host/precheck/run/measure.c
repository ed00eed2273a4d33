#include "host/precheck/run/measure.h"

#include <stdio.h>
#include <string.h>

#include "host/precheck/check/check.h"
#include "host/precheck/run/precheck.h"

#define MEASURE_MEMORY ((size_t)16 << 30)

static void skip(struct tdc_measure *measure, const char *reason)
{
    measure->status = TDC_CHECK_SKIP;
    snprintf(measure->reason, sizeof measure->reason, "%s", reason);
}

static void take_direction(const struct tdc_direction_check *checked, struct tdc_measure *measure)
{
    measure->status = checked->status;
    if (checked->status == TDC_CHECK_SKIP || checked->status == TDC_CHECK_NONE) {
        skip(measure,
             checked->reason.text[0] != '\0' ? checked->reason.text : "nothing to compare with it");
        return;
    }
    for (size_t i = 0; i < checked->count; i++) {
        const struct tdc_slot_row *row = &checked->rows[i];
        if (row->measured && row->floating && row->metrics.max_ulp > measure->ulp)
            measure->ulp = row->metrics.max_ulp;
    }
}

void tdc_precheck_measure(tdc_precheck *precheck, const char *name, struct tdc_measure *measure)
{
    *measure = (struct tdc_measure){.ulp = -1};
    const struct tdc_call *call = tdc_precheck_find(precheck, name);
    if (call == NULL) {
        skip(measure, "it is no call of an API");
        return;
    }
    struct tdc_checker checker;
    if (!tdc_checker_start(&checker, &precheck->calls, precheck->options, MEASURE_MEMORY)) {
        skip(measure, "out of memory");
    } else {
        struct tdc_call_check check;
        bool backward = strstr(name + strlen(call->name), ".backward") != NULL;
        tdc_check_call(&checker, call, &check);
        if (check.unsupported)
            skip(measure, "no reference for this API");
        else
            take_direction(&check.directions[backward ? TDC_BACKWARD : TDC_FORWARD], measure);
        tdc_call_check_end(&check);
    }
    tdc_checker_end(&checker);
}
