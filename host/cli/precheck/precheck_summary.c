/*
 * precheck_summary.c - what a precheck found, on one page of 80 columns: the answer, how much was
 * checked, what fails by how much, what was not checked and why, and what to do next.
 */
#include "host/cli/precheck/precheck_summary.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/cli/shared/command.h"
#include "host/terminal/colour.h"
#include "host/terminal/page.h"

/* Reasons of records that were not checked. */
#define REASONS_SHOWN 6

typedef unsigned long long count;

static const char *plural(count number)
{
    return number == 1 ? "" : "s";
}

/* ---- the answer ------------------------------------------------------------------------------ */

static void print_word(const char *word, const char *paint)
{
    bool colour = tdc_coloured(STDOUT_FILENO);
    printf("%s%s%s   ", colour ? paint : "", word, colour ? "\x1b[0m" : "");
}

static void print_calls(const struct tdc_precheck_summary *summary)
{
    count failing = summary->verdicts[TDC_CHECK_ERROR];
    if (failing != 0)
        printf("%llu of %llu call%s fail%s, %llu of %llu slot%s", failing, (count)summary->calls,
               plural(summary->calls), failing == 1 ? "s" : "", (count)summary->failed_slots,
               (count)summary->slots, plural(summary->slots));
    else
        printf("%llu call%s, %llu slot%s, none beyond its limit", (count)summary->calls,
               plural(summary->calls), (count)summary->slots, plural(summary->slots));
    printf("\n");
}

/* What a device has computed was not looked at: that comes first. */
static void print_answer(const struct tdc_precheck_summary *summary)
{
    count checked = summary->forward.checked + summary->backward.checked;
    if (summary->executor != NULL) {
        print_word("NOT CHECKED", "\x1b[33m");
        printf("what the device computed: %s\n",
               summary->drawn ? "the dump has statistics alone" : "its outputs were not read");
        printf("Each call was computed by this machine (%s) in its own dtype%s:\n",
               summary->executor, summary->drawn ? ", inputs drawn" : "");
    } else if (checked == 0) {
        print_word("NOTHING CHECKED", "\x1b[33m");
    } else if (summary->verdicts[TDC_CHECK_ERROR] != 0) {
        print_word("FAIL", "\x1b[31m");
    } else {
        print_word("PASS", "\x1b[32m");
    }
    print_calls(summary);
}

static void print_direction(const char *name, const struct tdc_precheck_counts *counts)
{
    if (counts->records != 0)
        printf("  %-9s %llu of %llu checked, %llu fail\n", name, (count)counts->checked,
               (count)counts->records, (count)counts->failing);
}

/* ---- APIs ------------------------------------------------------------------------------------ */

static void print_error(double value)
{
    if (value < 0)
        printf(" %10s", "-");
    else
        printf(" %10.3g", value);
}

/* "5 of 15" */
static void print_api(const struct tdc_precheck_api *api, size_t room, bool failing)
{
    char calls[32];
    printf("  ");
    tdc_put_padded(stdout, tdc_fit(api->name, room), room);
    if (failing)
        snprintf(calls, sizeof calls, "%llu of %llu", (count)api->failing, (count)api->calls);
    else
        snprintf(calls, sizeof calls, "%llu", (count)api->calls);
    printf(" %10s", calls);
    print_error(failing && api->error >= 0 ? api->error : api->worst_abs);
    if (failing)
        print_error(api->limit);
    else
        print_error(api->worst_ulp);
    printf("\n");
    if (failing && api->worst_call != NULL)
        printf("    worst: %s\n", tdc_fit(api->worst_call, tdc_page_width() - 11));
}

static void print_apis(const tdc_precheck *precheck, bool failing, size_t most)
{
    size_t room = tdc_page_width() - 2 - 3 * 11, shown = 0, hidden = 0;
    for (size_t i = 0; i < tdc_precheck_apis(precheck); i++) {
        const struct tdc_precheck_api *api = tdc_precheck_api(precheck, i);
        if ((api->failing != 0) != failing || (!failing && api->worst_call == NULL))
            continue;
        if (shown == most) {
            hidden++;
            continue;
        }
        if (shown++ == 0) {
            printf("\n  ");
            tdc_put_padded(stdout, failing ? "API that fails" : "largest errors that pass", room);
            printf(" %10s %10s %10s\n", "calls", failing ? "max error" : "max abs",
                   failing ? "limit" : "ULP");
        }
        print_api(api, room, failing);
    }
    if (hidden != 0)
        printf("  and %zu more: --top %zu\n", hidden, hidden + most);
}

/* ---- what was not checked -------------------------------------------------------------------- */

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
    size_t gaps = tdc_precheck_gaps(precheck), width = tdc_page_width();
    if (gaps != 0)
        printf("\nNot checked:\n  %8s %8s  why, and the first\n", "forward", "backward");
    for (size_t i = 0; i < gaps && i < REASONS_SHOWN; i++) {
        const struct tdc_precheck_gap *gap = tdc_precheck_gap(precheck, i);
        printf("  %8llu %8llu  %s\n", (count)gap->forward, (count)gap->backward,
               tdc_fit(essence(gap->reason), width - 21));
        printf("%21s%s\n", "", tdc_fit(gap->first, width - 21));
    }
    if (gaps > REASONS_SHOWN)
        printf("  and %zu more reasons: see the result file\n", gaps - REASONS_SHOWN);
}

/* Where the threads' time went, and what a faster run would have to be faster at. */
static void print_work(const struct tdc_precheck_summary *summary)
{
    static const struct {
        const char *part, *done;
    } works[TDC_WORKS] = {
        [TDC_WORK_READING] = {"reading", "read"},
        [TDC_WORK_WIDENING] = {"widening", "widen"},
        [TDC_WORK_COMPUTING] = {"computing", "compute"},
        [TDC_WORK_JUDGING] = {"judging", "judge"},
        [TDC_WORK_WRITING] = {"writing", "write"},
    };
    double all = 0;
    int slowest = 0;
    for (int i = 0; i < TDC_WORKS; i++) {
        all += summary->work[i];
        slowest = summary->work[i] > summary->work[slowest] ? i : slowest;
    }
    if (all <= 0)
        return;
    printf("slowest is %s: ", works[slowest].part);
    for (int i = 0; i < TDC_WORKS; i++)
        printf("%s%s %.0f%%", i == 0 ? "" : ", ", works[i].done, 100 * summary->work[i] / all);
    printf("\n");
}

/* How fast it went: what a run over a large dump is judged by. */
static void print_speed(const struct tdc_precheck_summary *summary)
{
    printf("%.2f s, %d thread%s, %s kernels\n", summary->seconds, summary->threads,
           plural((count)summary->threads), tdc_cpu_name());
    if (summary->seconds <= 0)
        return;
    printf("%.4g calls/s", (double)summary->calls / summary->seconds);
    if (summary->bytes != 0)
        printf(", %.3g GB of tensors, %.3g GB/s", (double)summary->bytes / 1e9,
               (double)summary->bytes / 1e9 / summary->seconds);
    printf("\n");
    print_work(summary);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static const tdc_precheck_file_kind kinds[] = {TDC_FILE_DETAILS, TDC_FILE_RESULT, TDC_FILE_JSON};
#define KINDS (sizeof kinds / sizeof *kinds)

void tdc_print_precheck_files(const tdc_precheck *precheck)
{
    for (size_t i = 0; i < KINDS; i++)
        if (tdc_precheck_file(precheck, kinds[i]) != NULL)
            puts(tdc_precheck_file(precheck, kinds[i]));
}

static void print_files(const tdc_precheck *precheck, bool all)
{
    for (size_t i = 0; i < KINDS; i++) {
        const char *file = tdc_precheck_file(precheck, kinds[i]);
        if (file != NULL && (all || i == 0))
            printf("Wrote %s\n", tdc_shown(file));
    }
}

/* The call to look at first; the path is what a person can give again. */
static void print_next(const char *dump, const tdc_precheck *precheck)
{
    for (size_t i = 0; i < tdc_precheck_apis(precheck); i++) {
        const struct tdc_precheck_api *api = tdc_precheck_api(precheck, i);
        if (api->failing == 0 || api->worst_call == NULL)
            continue;
        const char *path = tdc_shown(dump), *call = tdc_shown(api->worst_call);
        size_t used = strlen("next: tdcmp precheck  --explain ") + tdc_columns_of(call);
        printf("next: tdcmp precheck %s --explain %s\n",
               used + tdc_columns_of(path) <= tdc_page_width() ? path : "DUMP", call);
        return;
    }
}

void tdc_print_precheck(const char *dump, const tdc_precheck *precheck, int top, bool verbose)
{
    struct tdc_precheck_summary summary;
    tdc_precheck_summary(precheck, &summary, sizeof summary);
    print_answer(&summary);
    printf("dump  %s\n\n", tdc_fit(dump, tdc_page_width() - 6));
    print_direction("forward", &summary.forward);
    print_direction("backward", &summary.backward);
    if (summary.resumed != 0)
        printf("  %llu more call%s in an earlier run\n", (count)summary.resumed,
               plural(summary.resumed));
    print_apis(precheck, true, top > 0 ? (size_t)top : 10);
    if (top > 0 || verbose || summary.verdicts[TDC_CHECK_ERROR] == 0)
        print_apis(precheck, false, top > 0 ? (size_t)top : 3);
    print_gaps(precheck);
    printf("\n");
    if (verbose)
        print_speed(&summary);
    print_files(precheck, verbose);
    print_next(dump, precheck);
}
