#include "bench/report.h"

#include <inttypes.h>
#include <stdio.h>

#define NAME_WIDTH 32

void tdc_report_start(const struct tdc_report_head *head)
{
    printf("tdcmp %s %s: %d thread%s, %s kernels, rules %s, files %s (in %s), fastest of %u\n\n",
           tdc_version(), head->title, head->threads, head->threads == 1 ? "" : "s", tdc_cpu_name(),
           head->rules == TDC_RULES_COMPAT ? "compat" : "sound", head->file_state, head->folder,
           head->repeat);
    printf("%-*s %8s %7s %7s %9s %6s %9s | %9s %9s  %s\n", NAME_WIDTH, "case", "rows", "GB", "GB/s",
           "bare GB/s", "share", "rows/s", "whole s", "rows/s", "written");
    fflush(stdout);
}

/* A quotient, or a dash where there is nothing to divide. */
static void print_quotient(int width, int decimals, double numerator, double denominator)
{
    if (numerator > 0 && denominator > 0)
        printf(" %*.*f", width, decimals, numerator / denominator);
    else
        printf(" %*s", width, "-");
}

void tdc_report_compare(const char *name, const struct tdc_compare_figures *figures,
                        const char *written)
{
    double bytes = (double)figures->bytes, rows = (double)figures->rows;
    double seconds = figures->bytes > 0 ? figures->laps[TDC_LAP_COMPARE] : 0;
    printf("%-*s %8" PRIu64, NAME_WIDTH, name, figures->rows);
    print_quotient(7, 3, bytes, 1e9);
    print_quotient(7, 2, bytes / 1e9, seconds);
    print_quotient(9, 2, (double)figures->bare_bytes / 1e9, figures->bare_seconds);
    print_quotient(6, 2, seconds > 0 ? bytes / seconds : 0,
                   figures->bare_seconds > 0 ? (double)figures->bare_bytes / figures->bare_seconds
                                             : 0);
    print_quotient(9, 0, rows, seconds);
    printf(" | %9.3f", figures->laps[TDC_LAP_WHOLE]);
    print_quotient(9, 0, rows, figures->laps[TDC_LAP_WHOLE]);
    printf("  %s\n", written);
    fflush(stdout);
}

void tdc_report_end(void)
{
    fputs(
        "\nGB and GB/s count the tensor data of both sides while they are compared; bare GB/s is\n"
        "the exclusive or of all words of the same mapped files with the same threads, in turns\n"
        "with the comparison; share is the ratio of the two. Right of the bar: the whole run,\n"
        "from reading dump.json to the finished result file.\n",
        stdout);
}
