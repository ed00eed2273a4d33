#include "bench/cases/compare_case.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/tools/anon_memory.h"
#include "bench/tools/prepared_comparison.h"
#include "bench/yardsticks/memory_read.h"
#include "io/base/error.h"

struct compare_work {
    const struct tdc_compare_setup *setup;
    struct tdc_compare_figures *figures;
    bool watched; /* look at the memory: not for timing */
    struct tdc_prepared_comparison *dumps;
    tdc_table **tables;
    struct tdc_output *outputs; /* paths are owned */
};

/* Before the clock starts. */
static tdc_status settle_files(const struct tdc_compare_setup *setup,
                               struct tdc_compare_figures *figures, struct tdc_error *error)
{
    struct tdc_drop drop;
    if (!setup->cold)
        return TDC_OK;
    tdc_status status = tdc_files_drop(setup->files, &drop, error);
    if (drop.resident >= figures->drop.resident)
        figures->drop = drop;
    return status;
}

/* After the clock has stopped. Returns the seconds of reading and comparing. */
static double keep_counts(const struct compare_work *work)
{
    struct tdc_compare_figures *figures = work->figures;
    figures->rows = figures->different = figures->bytes = 0;
    double seconds = 0;
    for (size_t i = 0; i < work->setup->task_count; i++) {
        struct tdc_summary summary;
        tdc_table_summary(work->tables[i], &summary, sizeof summary);
        figures->rows += summary.rows;
        figures->different += summary.classes[TDC_ROW_DIFFERENT];
        figures->bytes += summary.bytes;
        seconds = summary.seconds > seconds ? summary.seconds : seconds;
    }
    return seconds;
}

static tdc_status compare_tables(struct compare_work *work, struct tdc_error *error)
{
    const struct tdc_compare_setup *setup = work->setup;
    struct tdc_anon_watch watch;
    if (work->watched)
        tdc_anon_watch_start(&watch);
    tdc_status status = tdc_compare_to(work->tables, setup->task_count, work->outputs,
                                       setup->task_count, &setup->options, error);
    if (work->watched)
        work->figures->peak_bytes = tdc_anon_watch_stop(&watch);
    return status;
}

static tdc_status compare_all(struct compare_work *work, double laps[TDC_LAPS],
                              struct tdc_error *error)
{
    const struct tdc_compare_setup *setup = work->setup;
    double start = tdc_seconds();
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < setup->task_count && status == TDC_OK; i++) {
        status =
            tdc_comparison_prepare(&work->dumps[i], tdc_tasks_get(setup->tasks, i), &setup->options,
                                   &laps[TDC_LAP_LOAD], &laps[TDC_LAP_MATCH], error);
        work->tables[i] = work->outputs[i].table = work->dumps[i].table;
    }
    double comparing = tdc_seconds();
    if (status == TDC_OK)
        status = compare_tables(work, error);
    double written = tdc_seconds();
    laps[TDC_LAP_TABLES] = written - comparing;
    if (status == TDC_OK)
        laps[TDC_LAP_COMPARE] = keep_counts(work);
    double freeing = tdc_seconds();
    for (size_t i = 0; i < setup->task_count; i++)
        tdc_comparison_free(&work->dumps[i]);
    laps[TDC_LAP_WHOLE] = written - start + (tdc_seconds() - freeing);
    return status;
}

/* A result file for each task. */
static bool name_outputs(const struct compare_work *work)
{
    for (size_t i = 0; i < work->setup->task_count; i++) {
        char *path;
        if (asprintf(&path, "%s%zu", work->setup->result, i) < 0)
            return false;
        tdc_output_init(&work->outputs[i], sizeof work->outputs[i], NULL, work->setup->format,
                        path);
    }
    return true;
}

static void free_work(struct compare_work *work)
{
    for (size_t i = 0; work->outputs != NULL && i < work->setup->task_count; i++) {
        union {
            const char *given;
            char *owned;
        } path = {work->outputs[i].path};
        free(path.owned);
    }
    free(work->outputs);
    free(work->dumps);
    free(work->tables);
}

static tdc_status compare_once(void *context, double laps[TDC_LAPS], struct tdc_error *error)
{
    struct compare_work *work = context;
    size_t count = work->setup->task_count;
    tdc_status status = settle_files(work->setup, work->figures, error);
    if (status != TDC_OK)
        return status;
    work->dumps = calloc(count, sizeof *work->dumps);
    work->tables = calloc(count, sizeof *work->tables);
    work->outputs = calloc(count, sizeof *work->outputs);
    if (work->dumps == NULL || work->tables == NULL || work->outputs == NULL || !name_outputs(work))
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    else
        status = compare_all(work, laps, error);
    free_work(work);
    return status;
}

tdc_status tdc_compare_run_other(void *context, double laps[TDC_LAPS], struct tdc_error *error)
{
    struct tdc_compare_other *other = context;
    struct compare_work work = {.setup = &other->setup, .figures = &other->figures};
    return compare_once(&work, laps, error);
}

/* ---- the bare read --------------------------------------------------------------------------- */

struct bare_work {
    const struct tdc_compare_setup *setup;
    struct tdc_compare_figures *figures;
    volatile uint64_t word; /* so that no compiler drops the reading */
};

static tdc_status bare_once(void *context, double laps[TDC_LAPS], struct tdc_error *error)
{
    struct bare_work *work = context;
    struct tdc_bare_sum sum;
    tdc_status status = settle_files(work->setup, work->figures, error);
    if (status != TDC_OK)
        return status;
    double start = tdc_seconds();
    status = tdc_bare_read(work->setup->files, work->setup->options.threads, &sum, error);
    laps[0] = tdc_seconds() - start;
    work->figures->bare_bytes = sum.bytes;
    work->word = sum.word;
    return status;
}

/* ---- the same bytes in memory ---------------------------------------------------------------- */

struct memory_work {
    const struct tdc_compare_setup *setup;
    struct tdc_held_files held;
    volatile uint64_t word;
};

static tdc_status memory_once(void *context, double laps[TDC_LAPS], struct tdc_error *error)
{
    (void)error;
    struct memory_work *work = context;
    double start = tdc_seconds();
    work->word = tdc_held_files_read(&work->held, work->setup->options.threads);
    laps[0] = tdc_seconds() - start;
    return TDC_OK;
}

/* ---- all ------------------------------------------------------------------------------------- */

tdc_status tdc_compare_measure(const struct tdc_compare_setup *setup, struct tdc_work *other,
                               struct tdc_compare_figures *figures, struct tdc_error *error)
{
    *figures = (struct tdc_compare_figures){0};
    struct compare_work compare = {.setup = setup, .figures = figures, .watched = true};
    struct bare_work bare = {.setup = setup, .figures = figures};
    double ignored[TDC_LAPS] = {0};
    tdc_status status = compare_once(&compare, ignored, error);
    if (status != TDC_OK)
        return status;
    compare.watched = false;
    struct memory_work memory = {.setup = setup};
    if (!setup->cold)
        tdc_held_files_load(&memory.held, setup->files);
    struct tdc_work works[4] = {{.run = compare_once, .context = &compare}};
    size_t count = 1, bare_at = 0, memory_at = 0, other_at = 0;
    if (setup->files->count > 0) {
        bare_at = count++;
        works[bare_at] = (struct tdc_work){.run = bare_once, .context = &bare};
    }
    if (memory.held.size > 0) {
        memory_at = count++;
        works[memory_at] = (struct tdc_work){.run = memory_once, .context = &memory};
    }
    if (other != NULL) {
        other_at = count++;
        works[other_at] = *other;
    }
    status = tdc_measure(works, count, setup->repeat, setup->budget, setup->options.cancel, error);
    for (int i = 0; i < TDC_LAPS; i++)
        figures->laps[i] = works[0].best[i];
    figures->runs = works[0].runs;
    if (bare_at > 0)
        figures->bare_seconds = works[bare_at].best[0];
    if (memory_at > 0) {
        figures->memory_bytes = memory.held.size;
        figures->memory_seconds = works[memory_at].best[0];
    }
    if (other != NULL)
        *other = works[other_at];
    tdc_held_files_free(&memory.held);
    return status;
}

const char *tdc_compare_state(const struct tdc_compare_setup *setup,
                              const struct tdc_compare_figures *figures)
{
    if (setup->files->count == 0)
        return NULL;
    return setup->cold ? tdc_drop_name(&figures->drop) : "warm";
}
