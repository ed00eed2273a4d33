#include "host/cli/precheck/precheck_summary.h"

#include <stdio.h>
#include <string.h>

#include "host/cli/shared/command.h"

/* API kinds shown that do not fail: those with the largest errors. */
#define PASSING_SHOWN 10
/* Reasons of skipped calls shown. */
#define REASONS_SHOWN 10

static void print_error(double value)
{
    if (value < 0)
        printf(" %10s", "-");
    else
        printf(" %10.3g", value);
}

static void print_api(const struct tdc_precheck_api *api)
{
    printf("  %-40s %6llu %7llu %7llu", tdc_shown(api->name), (unsigned long long)api->calls,
           (unsigned long long)api->failing, (unsigned long long)api->skipped);
    print_error(api->worst_ulp);
    print_error(api->worst_abs);
    printf("  %s\n", api->worst_call != NULL ? tdc_shown(api->worst_call) : "");
}

static void print_apis(const tdc_precheck *precheck)
{
    size_t count = tdc_precheck_apis(precheck), passing = 0, hidden = 0;
    printf("  %-40s %6s %7s %7s %10s %10s  %s\n", "API, worst first", "calls", "failing", "skipped",
           "ULP", "MaxAbsErr", "worst call");
    for (size_t i = 0; i < count; i++) {
        const struct tdc_precheck_api *api = tdc_precheck_api(precheck, i);
        bool shown = api->failing != 0 || passing < PASSING_SHOWN;
        passing += api->failing == 0;
        hidden += !shown;
        if (shown)
            print_api(api);
    }
    if (hidden != 0)
        printf("  and %zu more without failing calls\n", hidden);
}

/* msprobe's reasons begin with where they were found, which is longer than the reason. */
static const char *essence(const char *reason)
{
    static const char start[] = "[msprobe] ", end[] = "failed: ";
    if (strncmp(reason, start, sizeof start - 1) == 0)
        for (const char *at; (at = strstr(reason, end)) != NULL;)
            reason = at + sizeof end - 1;
    return reason;
}

static void print_gaps(const tdc_precheck *precheck)
{
    size_t count = tdc_precheck_gaps(precheck);
    if (count != 0)
        printf("\nrecords not checked:\n  %8s %8s  %s\n", "forward", "backward", "why (first)");
    for (size_t i = 0; i < count && i < REASONS_SHOWN; i++) {
        const struct tdc_precheck_gap *gap = tdc_precheck_gap(precheck, i);
        printf("  %8llu %8llu  %.100s", (unsigned long long)gap->forward,
               (unsigned long long)gap->backward, tdc_shown(essence(gap->reason)));
        printf(" (%s)\n", tdc_shown(gap->first));
    }
    if (count > REASONS_SHOWN)
        printf("  and %zu more reasons: see the result file\n", count - REASONS_SHOWN);
}

static void print_direction(const char *name, const struct tdc_precheck_counts *counts)
{
    printf("%s %llu of %llu checked, %llu fail", name, (unsigned long long)counts->checked,
           (unsigned long long)counts->records, (unsigned long long)counts->failing);
}

/* Whose results were judged, where they are not the recorded ones. */
static void print_executor(const struct tdc_precheck_summary *summary)
{
    if (summary->executor == NULL)
        return;
    printf("  no verdict about the recorded run: %s and each call was\n"
           "  computed by this machine (%s) in its own dtype. What fails below is an API that is\n"
           "  delicate in that dtype%s.\n",
           summary->drawn ? "the dump has no tensors, so inputs were drawn"
                          : "the recorded outputs were not read",
           summary->executor, summary->drawn ? ", for random inputs" : "");
}

void tdc_print_precheck(const char *dump, const tdc_precheck *precheck)
{
    struct tdc_precheck_summary summary;
    tdc_precheck_summary(precheck, &summary, sizeof summary);
    printf("%s: %llu calls in %.2f s", tdc_shown(dump), (unsigned long long)summary.calls,
           summary.seconds);
    if (summary.executor != NULL)
        printf(", executed here (%s)", summary.executor);
    if (summary.resumed != 0)
        printf(", %llu more in an earlier run", (unsigned long long)summary.resumed);
    printf("\n");
    print_executor(&summary);
    printf("  ");
    print_direction("forward", &summary.forward);
    printf("; ");
    print_direction("backward", &summary.backward);
    printf("\n  calls: pass %llu, error %llu, skipped %llu (%llu of them without a reference), "
           "nothing "
           "to compare %llu; %llu of %llu slots fail\n\n",
           (unsigned long long)summary.verdicts[TDC_CHECK_PASS],
           (unsigned long long)summary.verdicts[TDC_CHECK_ERROR],
           (unsigned long long)summary.verdicts[TDC_CHECK_SKIP],
           (unsigned long long)summary.unsupported,
           (unsigned long long)summary.verdicts[TDC_CHECK_NONE],
           (unsigned long long)summary.failed_slots, (unsigned long long)summary.slots);
    print_apis(precheck);
    print_gaps(precheck);
    printf("\n");
    static const tdc_precheck_file_kind kinds[] = {TDC_FILE_RESULT, TDC_FILE_DETAILS,
                                                   TDC_FILE_JSON};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (tdc_precheck_file(precheck, kinds[i]) != NULL)
            printf("%s\n", tdc_shown(tdc_precheck_file(precheck, kinds[i])));
}
