#include "host/cli/precheck_summary.h"

#include <stdio.h>
#include <string.h>

#include "host/cli/command.h"

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
        struct tdc_precheck_api api;
        tdc_precheck_api(precheck, i, &api);
        bool shown = api.failing != 0 || passing < PASSING_SHOWN;
        passing += api.failing == 0;
        hidden += !shown;
        if (shown)
            print_api(&api);
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

static void print_reasons(const tdc_precheck *precheck)
{
    size_t count = tdc_precheck_apis(precheck), shown = 0, hidden = 0;
    for (size_t i = 0; i < count; i++) {
        struct tdc_precheck_api api;
        tdc_precheck_api(precheck, i, &api);
        if (api.skip_reason == NULL)
            continue;
        if (shown == 0)
            printf("\nnot checked, the first reason of each API:\n");
        if (shown++ < REASONS_SHOWN)
            printf("  %-40s %.100s\n", tdc_shown(api.name), tdc_shown(essence(api.skip_reason)));
        else
            hidden++;
    }
    if (hidden != 0)
        printf("  and %zu more: see the result file\n", hidden);
}

void tdc_print_precheck(const char *dump, const tdc_precheck *precheck)
{
    struct tdc_precheck_summary summary;
    tdc_precheck_summary(precheck, &summary);
    printf("%s: %llu calls in %.2f s", tdc_shown(dump), (unsigned long long)summary.calls,
           summary.seconds);
    if (summary.executor != NULL)
        printf(", executed here (%s)", summary.executor);
    if (summary.resumed != 0)
        printf(", %llu more in an earlier run", (unsigned long long)summary.resumed);
    printf("\n  pass %llu, error %llu, skipped %llu (%llu of them without a reference), nothing to "
           "compare %llu; %llu of %llu slots fail\n\n",
           (unsigned long long)summary.verdicts[TDC_CHECK_PASS],
           (unsigned long long)summary.verdicts[TDC_CHECK_ERROR],
           (unsigned long long)summary.verdicts[TDC_CHECK_SKIP],
           (unsigned long long)summary.unsupported,
           (unsigned long long)summary.verdicts[TDC_CHECK_NONE],
           (unsigned long long)summary.failed_slots, (unsigned long long)summary.slots);
    print_apis(precheck);
    print_reasons(precheck);
    printf("\n");
    for (int which = 0; which < 3; which++)
        if (tdc_precheck_file(precheck, which) != NULL)
            printf("%s\n", tdc_shown(tdc_precheck_file(precheck, which)));
}
