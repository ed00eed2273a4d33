#include "bench/cases/page_case.h"

#include "bench/tools/prepared_comparison.h"

struct writing {
    const struct tdc_task *task;
    tdc_table *table;
    const char *path;
    int threads;
};

static tdc_status write_csv(void *context, double laps[TDC_LAPS], struct tdc_error *error)
{
    const struct writing *writing = context;
    double start = tdc_seconds();
    tdc_status status = tdc_table_write(writing->table, TDC_FORMAT_CSV, writing->path, error);
    laps[0] = tdc_seconds() - start;
    return status;
}

static tdc_status write_page(void *context, double laps[TDC_LAPS], struct tdc_error *error)
{
    const struct writing *writing = context;
    struct tdc_html_report_options options;
    tdc_html_report_options_init(&options, sizeof options);
    options.threads = writing->threads;
    double start = tdc_seconds();
    tdc_html_report *report;
    tdc_status status = tdc_html_report_new(&options, &report, error);
    if (status == TDC_OK)
        status = tdc_html_report_add_table(report, writing->task, writing->table, NULL, error);
    if (status == TDC_OK)
        status = tdc_html_report_write(report, writing->path, 0, error);
    tdc_html_report_free(report);
    laps[0] = tdc_seconds() - start;
    return status;
}

tdc_status tdc_page_measure(const struct tdc_task *task, const struct tdc_options *options,
                            const char *result, unsigned repeat, double budget,
                            struct tdc_page_figures *figures, struct tdc_error *error)
{
    struct tdc_prepared_comparison prepared = {0};
    double load = 0, match = 0;
    tdc_status status = tdc_comparison_prepare(&prepared, task, options, &load, &match, error);
    if (status == TDC_OK)
        status = tdc_compare(&prepared.table, 1, options, error);
    if (status == TDC_OK) {
        struct writing writing = {task, prepared.table, result, options->threads};
        struct tdc_work works[] = {{.run = write_page, .context = &writing},
                                   {.run = write_csv, .context = &writing}};
        status = tdc_measure(works, 2, repeat, budget, options->cancel, error);
        *figures = (struct tdc_page_figures){tdc_table_rows(prepared.table), works[0].best[0],
                                             works[1].best[0]};
    }
    tdc_comparison_free(&prepared);
    return status;
}
