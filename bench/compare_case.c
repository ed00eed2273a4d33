#include "bench/compare_case.h"

#include <stdlib.h>

#include "io/error.h"

/* What one comparison holds while it runs. */
struct session {
    tdc_dump *npu, *bench;
    tdc_match *match;
    tdc_table *table;
};

static void session_free(struct session *session)
{
    tdc_table_free(session->table);
    tdc_match_free(session->match);
    tdc_dump_free(session->npu);
    tdc_dump_free(session->bench);
    *session = (struct session){0};
}

struct compare_work {
    const struct tdc_compare_setup *setup;
    struct session *sessions;
    tdc_table **tables;
    struct tdc_compare_figures *figures;
};

/* Both sides at once, as the command does. */
static tdc_status load(const struct tdc_task *task, struct session *session,
                       struct tdc_error *error)
{
    struct tdc_error npu_error = {0}, bench_error = {0};
    tdc_status npu_status = TDC_OK, bench_status = TDC_OK;
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        npu_status = tdc_dump_load(task->npu, &session->npu, &npu_error);
#pragma omp section
        bench_status = tdc_dump_load(task->bench, &session->bench, &bench_error);
    }
    if (npu_status != TDC_OK || bench_status != TDC_OK)
        *error = npu_status != TDC_OK ? npu_error : bench_error;
    return npu_status != TDC_OK ? npu_status : bench_status;
}

static tdc_status prepare(const struct tdc_compare_setup *setup, const struct tdc_task *task,
                          struct session *session, double laps[TDC_LAPS], struct tdc_error *error)
{
    double start = tdc_seconds();
    tdc_status status = load(task, session, error);
    double loaded = tdc_seconds();
    if (status == TDC_OK)
        status =
            tdc_match_new(session->npu, session->bench, &setup->options, &session->match, error);
    if (status == TDC_OK)
        status = tdc_table_new(session->match, &setup->options, NULL, &session->table, error);
    laps[TDC_LAP_LOAD] += loaded - start;
    laps[TDC_LAP_MATCH] += tdc_seconds() - loaded;
    return status;
}

/* After the clock has stopped. */
static void keep_counts(struct compare_work *work)
{
    struct tdc_compare_figures *figures = work->figures;
    figures->rows = figures->different = figures->bytes = 0;
    for (size_t i = 0; i < work->setup->task_count; i++) {
        struct tdc_summary summary;
        tdc_table_summary(work->tables[i], &summary);
        figures->rows += summary.rows;
        figures->different += summary.classes[TDC_ROW_DIFFERENT];
        figures->bytes += summary.bytes;
    }
}

static tdc_status compare_once(void *context, double laps[TDC_LAPS], struct tdc_error *error)
{
    struct compare_work *work = context;
    const struct tdc_compare_setup *setup = work->setup;
    double start = tdc_seconds();
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < setup->task_count && status == TDC_OK; i++) {
        status = prepare(setup, &setup->tasks[i], &work->sessions[i], laps, error);
        work->tables[i] = work->sessions[i].table;
    }
    double prepared = tdc_seconds();
    if (status == TDC_OK)
        status = tdc_compare(work->tables, setup->task_count, &setup->options, error);
    double compared = tdc_seconds();
    for (size_t i = 0; i < setup->task_count && status == TDC_OK; i++)
        status = tdc_table_write(work->tables[i], setup->format, setup->result, error);
    double written = tdc_seconds();
    if (status == TDC_OK)
        keep_counts(work);
    double freeing = tdc_seconds();
    for (size_t i = 0; i < setup->task_count; i++)
        session_free(&work->sessions[i]);
    double end = tdc_seconds();
    laps[TDC_LAP_COMPARE] = compared - prepared;
    laps[TDC_LAP_WRITE] = written - compared;
    laps[TDC_LAP_WHOLE] = written - start + (end - freeing);
    return status;
}

struct bare_work {
    const struct tdc_bare_files *files;
    int threads;
    uint64_t bytes;
    volatile uint64_t word; /* so that no compiler drops the reading */
};

static tdc_status bare_once(void *context, double laps[TDC_LAPS], struct tdc_error *error)
{
    struct bare_work *work = context;
    struct tdc_bare_sum sum;
    double start = tdc_seconds();
    tdc_status status = tdc_bare_read(work->files, work->threads, &sum, error);
    laps[0] = tdc_seconds() - start;
    work->bytes = sum.bytes;
    work->word = sum.word;
    return status;
}

tdc_status tdc_compare_measure(const struct tdc_compare_setup *setup,
                               const struct tdc_bare_files *bare,
                               struct tdc_compare_figures *figures, struct tdc_error *error)
{
    *figures = (struct tdc_compare_figures){0};
    struct compare_work compare = {.setup = setup, .figures = figures};
    compare.sessions = calloc(setup->task_count, sizeof *compare.sessions);
    compare.tables = calloc(setup->task_count, sizeof *compare.tables);
    struct bare_work reading = {.files = bare, .threads = setup->options.threads};
    struct tdc_work works[] = {{.run = compare_once, .context = &compare},
                               {.run = bare_once, .context = &reading}};
    tdc_status status;
    if (compare.sessions == NULL || compare.tables == NULL)
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    else
        status = tdc_measure(works, bare->count > 0 ? 2 : 1, setup->repeat, setup->budget,
                             setup->options.cancel, error);
    for (int i = 0; i < TDC_LAPS; i++)
        figures->laps[i] = works[0].best[i];
    figures->runs = works[0].runs;
    figures->bare_bytes = reading.bytes;
    figures->bare_seconds = works[1].best[0];
    free(compare.sessions);
    free(compare.tables);
    return status;
}
