/* bench_dumps.c - `tdcmp bench DUMP_A DUMP_B`: the user's dumps, warm and cold. */
#include <stdio.h>

#include "bench/commands/bench_plain.h"
#include "bench/cases/compare_report.h"
#include "bench/cases/dump_pair.h"

/* Real dumps take long: two rounds are wanted, more only if they are quick. */
#define BUDGET_SECONDS 20.0

static void note_drop(struct tdc_report *report, const struct tdc_drop *drop)
{
    double percent = drop->bytes > 0 ? 100 * (double)drop->resident / (double)drop->bytes : 0;
    if (drop->resident > drop->bytes / 100)
        tdc_report_note(report,
                        "not cold: %.0f %% of the bytes stayed in the page cache; this file system "
                        "does not drop them when asked, or others use the files.",
                        percent);
    if (drop->unchecked > 0)
        tdc_report_note(report, "unchecked: the system does not tell this user which pages of "
                                "other users' files are in memory.");
}

static tdc_status measure(const struct tdc_plain_settings *settings, struct tdc_report *report,
                          const struct tdc_dump_pair *dumps, const char *result, bool cold,
                          struct tdc_error *error)
{
    struct tdc_compare_setup setup = {
        .options = settings->bench.options,
        .tasks = dumps->tasks,
        .task_count = tdc_tasks_count(dumps->tasks),
        .files = &dumps->files,
        .cold = cold,
        .result = result,
        .format = TDC_FORMAT_CSV,
        .repeat = (unsigned)settings->bench.repeat,
        .budget = BUDGET_SECONDS,
    };
    struct tdc_compare_figures figures;
    tdc_status status = tdc_compare_measure(&setup, NULL, &figures, error);
    if (status != TDC_OK)
        return status;
    char name[64];
    snprintf(name, sizeof name, "%zu comparison%s, %zu files", tdc_tasks_count(dumps->tasks),
             tdc_tasks_count(dumps->tasks) == 1 ? "" : "s", dumps->files.count);
    tdc_compare_report(report, name, &setup, &figures, NULL);
    if (cold)
        note_drop(report, &figures.drop);
    return TDC_OK;
}

static tdc_status report_dumps(const struct tdc_plain_settings *settings,
                               const struct tdc_dump_pair *dumps,
                               const struct tdc_bench_place *place, struct tdc_error *error)
{
    struct tdc_report_head head = {
        .command = "bench",
        .threads = settings->bench.options.threads,
        .rules = tdc_rules_name(settings->bench.options.rules),
        .io = tdc_io_name(settings->bench.options.io),
        .repeat = (unsigned)settings->bench.repeat,
        .folder = settings->npu,
        .json = settings->bench.json,
        .columns = tdc_compare_columns,
        .column_count = TDC_COMPARE_COLUMNS,
    };
    struct tdc_report report;
    tdc_status status = TDC_OK;
    bool files = dumps->files.count > 0;
    tdc_report_start(&report, &head);
    /* without tensor files there is nothing to be cold */
    if (settings->warm || !files)
        status = measure(settings, &report, dumps, place->result, false, error);
    if (status == TDC_OK && settings->cold && files)
        status = measure(settings, &report, dumps, place->result, true, error);
    if (status != TDC_OK) {
        tdc_report_drop(&report);
        return status;
    }
    if (!files)
        tdc_report_note(&report, "These dumps have no tensor files: there is no data to read.");
    tdc_compare_notes(&report);
    return tdc_report_end(&report, error);
}

tdc_status tdc_bench_dumps(void *context, struct tdc_error *error)
{
    const struct tdc_plain_settings *settings = context;
    struct tdc_dump_pair dumps;
    struct tdc_bench_place place;
    tdc_status status = tdc_dump_pair_find(&dumps, settings->npu, settings->bench_dump,
                                           settings->step, &settings->bench.options, error);
    if (status == TDC_OK)
        status = tdc_place_open(&place, settings->bench.folder, error);
    if (status == TDC_OK) {
        status = report_dumps(settings, &dumps, &place, error);
        tdc_place_close(&place);
    }
    tdc_dump_pair_free(&dumps);
    return status;
}
