/* bench_matrix.c - `tdcmp bench`: synthetic dumps, types by tensor sizes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/commands/bench_plain.h"
#include "bench/cases/compare_report.h"
#include "bench/cases/dump_pair.h"
#include "bench/tools/plot.h"
#include "io/base/error.h"

/* Opening files is what small tensors cost; so many say it as well as more. */
#define MOST_TENSORS 2048
/* A cell whose rounds take longer than this in all stops repeating. */
#define BUDGET_SECONDS 0.8

struct matrix {
    const struct tdc_plain_settings *settings;
    struct tdc_bench_place place;
    struct tdc_report report;
    struct tdc_plot_bar *bars;
    size_t bar_count;
};

static tdc_status measure(struct matrix *matrix, const struct tdc_dump_pair *dumps,
                          const char *name, struct tdc_plot_bar *bar, struct tdc_error *error)
{
    const struct tdc_plain_settings *settings = matrix->settings;
    struct tdc_compare_setup setup = {
        .options = settings->bench.options,
        .tasks = dumps->tasks,
        .task_count = tdc_tasks_count(dumps->tasks),
        .files = &dumps->files,
        .result = matrix->place.result,
        .format = TDC_FORMAT_CSV,
        .repeat = (unsigned)settings->bench.repeat,
        .budget = BUDGET_SECONDS,
    };
    struct tdc_compare_figures figures;
    tdc_status status = tdc_compare_measure(&setup, NULL, &figures, error);
    if (status != TDC_OK)
        return status;
    tdc_compare_report(&matrix->report, name, &setup, &figures, NULL);
    bar->value = tdc_compare_speed(&figures);
    bar->top = tdc_bare_speed(&figures);
    return TDC_OK;
}

static tdc_status run_cell(struct matrix *matrix, const struct tdc_dtype_pair *pair, uint64_t size,
                           struct tdc_error *error)
{
    const struct tdc_plain_settings *settings = matrix->settings;
    struct tdc_plot_bar *bar = &matrix->bars[matrix->bar_count++];
    struct tdc_synthetic synthetic;
    tdc_synthetic_init(&synthetic);
    synthetic.dtype = pair->npu;
    synthetic.bench_dtype = pair->bench;
    synthetic.elements = size / tdc_dtype_size(pair->npu);
    synthetic.tensors = settings->total / size;
    if (synthetic.elements == 0)
        synthetic.elements = 1;
    if (synthetic.tensors == 0)
        synthetic.tensors = 1;
    if (synthetic.tensors > MOST_TENSORS)
        synthetic.tensors = MOST_TENSORS;
    tdc_pair_text(pair, bar->group);
    bar->size = size;
    char name[96], size_text[24];
    tdc_size_text(size, size_text);
    snprintf(name, sizeof name, "%s, %llu x %s", bar->group, (unsigned long long)synthetic.tensors,
             size_text);
    struct tdc_dump_pair dumps;
    tdc_status status =
        tdc_dump_pair_make(&dumps, &matrix->place, &synthetic, &settings->bench.options, error);
    if (status == TDC_OK)
        status = measure(matrix, &dumps, name, bar, error);
    tdc_dump_pair_drop(&dumps, &matrix->place);
    return status;
}

static tdc_status run_cells(struct matrix *matrix, struct tdc_error *error)
{
    const struct tdc_plain_settings *settings = matrix->settings;
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < settings->pair_count; i++)
        for (size_t k = 0; k < settings->size_count && status == TDC_OK; k++)
            status = run_cell(matrix, &settings->pairs[i], settings->sizes[k], error);
    return status;
}

static tdc_status report_cells(struct matrix *matrix, struct tdc_error *error)
{
    const struct tdc_bench_options *bench = &matrix->settings->bench;
    struct tdc_report_head head = {
        .command = "bench",
        .threads = bench->options.threads,
        .rules = tdc_rules_name(bench->options.rules),
        .io = tdc_io_name(bench->options.io),
        .repeat = (unsigned)bench->repeat,
        .folder = matrix->place.scratch.path,
        .file_state = "warm",
        .json = bench->json,
        .columns = tdc_compare_columns,
        .column_count = TDC_COMPARE_COLUMNS,
    };
    tdc_report_start(&matrix->report, &head);
    tdc_status status = run_cells(matrix, error);
    if (status != TDC_OK) {
        tdc_report_drop(&matrix->report);
        return status;
    }
    if (!bench->json)
        tdc_plot_print(matrix->bars, matrix->bar_count);
    tdc_compare_notes(&matrix->report);
    return tdc_report_end(&matrix->report, error);
}

tdc_status tdc_bench_matrix(void *context, struct tdc_error *error)
{
    struct matrix matrix = {.settings = context};
    matrix.bars =
        calloc(matrix.settings->pair_count * matrix.settings->size_count, sizeof *matrix.bars);
    if (matrix.bars == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    tdc_status status = tdc_place_open(&matrix.place, matrix.settings->bench.folder, error);
    if (status == TDC_OK) {
        status = report_cells(&matrix, error);
        tdc_place_close(&matrix.place);
    }
    free(matrix.bars);
    return status;
}
