#include "bench/cases/compare_report.h"

const struct tdc_report_column tdc_compare_columns[TDC_COMPARE_COLUMNS + TDC_BESIDE_COLUMNS] = {
    {"case", "case", 30, TDC_COLUMN_TEXT},
    {"files", "files", 8, TDC_COLUMN_TEXT},
    {"threads", "thr", 3, 0},
    {"rows", "rows", 7, 0},
    {"gigabytes", "GB", 6, 3},
    {"gigabytes_per_second", "GB/s", 6, 2},
    {"bare_gigabytes_per_second", "bare", 6, 2},
    {"share", "share", 5, 2},
    {"memory_gigabytes_per_second", "memory", 6, 2},
    {"memory_share", "share", 5, 2},
    {"rows_per_second", "rows/s", 8, 0},
    {"peak_megabytes", "peak MB", 7, 1},
    {"seconds", "whole s", 8, 4},
    {"written", "writes", 6, TDC_COLUMN_TEXT},
    {"beside", "beside", 13, TDC_COLUMN_TEXT},
    {"ratio", "ratio", 5, 2},
    {"target", "target", 7, TDC_COLUMN_TEXT},
};

double tdc_compare_speed(const struct tdc_compare_figures *figures)
{
    double seconds = figures->laps[TDC_LAP_COMPARE];
    return seconds > 0 ? (double)figures->bytes / 1e9 / seconds : 0;
}

double tdc_bare_speed(const struct tdc_compare_figures *figures)
{
    return figures->bare_seconds > 0 ? (double)figures->bare_bytes / 1e9 / figures->bare_seconds
                                     : 0;
}

void tdc_compare_report(struct tdc_report *report, const char *name,
                        const struct tdc_compare_setup *setup,
                        const struct tdc_compare_figures *figures, const struct tdc_beside *beside)
{
    static const struct tdc_beside nothing = {NULL, (double)NAN, NULL};
    const struct tdc_beside *stands = beside != NULL ? beside : &nothing;
    double speed = tdc_compare_speed(figures), bare = tdc_bare_speed(figures);
    double memory = figures->memory_seconds > 0
                        ? (double)figures->memory_bytes / 1e9 / figures->memory_seconds
                        : 0;
    struct tdc_report_value values[] = {
        tdc_text_value(name),
        tdc_text_value(tdc_compare_state(setup, figures)),
        tdc_number_value(setup->options.threads),
        tdc_number_value((double)figures->rows),
        tdc_quotient_value((double)figures->bytes, 1e9),
        tdc_quotient_value(speed, 1),
        tdc_quotient_value(bare, 1),
        tdc_quotient_value(speed, bare),
        tdc_quotient_value(memory, 1),
        tdc_quotient_value(speed, memory),
        tdc_quotient_value((double)figures->rows, figures->laps[TDC_LAP_WHOLE]),
        tdc_number_value((double)figures->peak_bytes / 1e6),
        tdc_number_value(figures->laps[TDC_LAP_WHOLE]),
        tdc_text_value(setup->format == TDC_FORMAT_XLSX   ? "xlsx"
                       : setup->format == TDC_FORMAT_NONE ? "html"
                                                          : "csv"),
        tdc_text_value(stands->name),
        tdc_number_value(stands->ratio),
        tdc_text_value(stands->target),
    };
    tdc_report_row(report, values);
}

void tdc_compare_notes(struct tdc_report *report)
{
    tdc_report_note(report, "GB/s: tensor data of both sides over the time of comparing. bare: "
                            "exclusive or of all words of the");
    tdc_report_note(report, "same mapped files, same threads, in turns with the comparison; "
                            "memory: the same bytes, in memory already;");
    tdc_report_note(report, "share: of what stands before it. rows/s and whole s: the whole run, "
                            "from dump.json to the finished file.");
    tdc_report_note(report, "peak MB: own memory beyond the tables.");
}
