#include "bench/cases/compare_cases.h"

#include <stdio.h>
#include <string.h>

#include "bench/cases/compare_report.h"
#include "bench/cases/graph_dump.h"
#include "bench/cases/page_case.h"
#include "bench/yardsticks/rival_python.h"
#include "bench/yardsticks/rival_xlsx.h"
#include "bench/yardsticks/stream_read.h"
#include "io/base/error.h"

/* A case whose rounds take longer than this in all stops repeating. */
#define BUDGET_SECONDS 6.0
/* Files that are links to two: both pairs, of 256 KB a side, stay in the L2 cache of a core. */
#define SCALING_TENSORS  6000
#define SCALING_ELEMENTS (64 << 10)

struct stage {
    const struct tdc_cases_settings *settings;
    const struct tdc_bench_place *place;
    struct tdc_report *report;
};

static struct tdc_compare_setup setup_of(const struct stage *stage,
                                         const struct tdc_dump_pair *dumps, tdc_format format)
{
    const struct tdc_bench_options *bench = &stage->settings->bench;
    return (struct tdc_compare_setup){
        .options = bench->options,
        .tasks = dumps->tasks,
        .task_count = tdc_tasks_count(dumps->tasks),
        .files = &dumps->files,
        .result = stage->place->result,
        .format = format,
        .repeat = (unsigned)bench->repeat,
        .budget = BUDGET_SECONDS,
    };
}

/* ---- large, small ---------------------------------------------------------------------------- */

/* The share of the bare read the project asks for. */
static const char *share_target(const struct tdc_dtype_pair *pair)
{
    return pair->npu == pair->bench ? ">= 0.85" : ">= 0.9";
}

/* Beside the bare read. */
static tdc_status run_beside_bare(const struct stage *stage, const char *name,
                                  const struct tdc_dump_pair *dumps, const char *target,
                                  struct tdc_error *error)
{
    struct tdc_compare_setup setup = setup_of(stage, dumps, TDC_FORMAT_CSV);
    struct tdc_compare_figures figures;
    tdc_status status = tdc_compare_measure(&setup, NULL, &figures, error);
    if (status != TDC_OK)
        return status;
    double bare = tdc_bare_speed(&figures);
    struct tdc_beside beside = {
        "bare read", bare > 0 ? tdc_compare_speed(&figures) / bare : (double)NAN, target};
    tdc_compare_report(stage->report, name, &setup, &figures, &beside);
    return TDC_OK;
}

static void large_synthetic(const struct stage *stage, const struct tdc_dtype_pair *pair,
                            struct tdc_synthetic *synthetic, char *name, size_t size)
{
    const struct tdc_cases_settings *settings = stage->settings;
    size_t width = tdc_dtype_size(pair->npu);
    char dtype[16];
    tdc_synthetic_init(synthetic);
    synthetic->dtype = pair->npu;
    synthetic->bench_dtype = pair->bench;
    synthetic->tensors = settings->tensors;
    synthetic->elements = settings->size / settings->tensors / width;
    synthetic->share = 0;
    synthetic->noise = true;
    tdc_pair_text(pair, dtype);
    snprintf(name, size, "%s, %llu x %.4g MiB", dtype, (unsigned long long)settings->tensors,
             (double)(synthetic->elements * width) / (1024 * 1024));
}

static tdc_status run_large(const struct stage *stage, const struct tdc_dtype_pair *pair,
                            bool equal, struct tdc_error *error)
{
    struct tdc_synthetic synthetic;
    struct tdc_dump_pair dumps;
    char name[96];
    large_synthetic(stage, pair, &synthetic, name, sizeof name);
    if (equal) {
        synthetic.rounding = synthetic.noise = false;
        size_t length = strlen(name);
        snprintf(name + length, sizeof name - length, ", equal");
    }
    tdc_status status = tdc_dump_pair_make(&dumps, stage->place, &synthetic,
                                           &stage->settings->bench.options, error);
    if (status == TDC_OK)
        status = run_beside_bare(stage, name, &dumps, equal ? ">= 1" : share_target(pair), error);
    tdc_dump_pair_drop(&dumps, stage->place);
    return status;
}

static tdc_status run_small(const struct stage *stage, struct tdc_error *error)
{
    struct tdc_synthetic synthetic;
    struct tdc_dump_pair dumps;
    char name[96];
    tdc_synthetic_init(&synthetic);
    synthetic.tensors = stage->settings->small_tensors;
    synthetic.elements = 1024;
    snprintf(name, sizeof name, "f32, %llu x 4 KiB", (unsigned long long)synthetic.tensors);
    tdc_status status = tdc_dump_pair_make(&dumps, stage->place, &synthetic,
                                           &stage->settings->bench.options, error);
    if (status == TDC_OK)
        status = run_beside_bare(stage, name, &dumps, NULL, error);
    tdc_dump_pair_drop(&dumps, stage->place);
    return status;
}

/* ---- statistics ------------------------------------------------------------------------------ */

/* Whole run beside another work, as a ratio of seconds. */
static tdc_status run_beside_work(const struct stage *stage, const char *name,
                                  const struct tdc_dump_pair *dumps, tdc_format format,
                                  struct tdc_work *work, struct tdc_beside beside,
                                  struct tdc_error *error)
{
    struct tdc_compare_setup setup = setup_of(stage, dumps, format);
    struct tdc_compare_figures figures;
    tdc_status status = tdc_compare_measure(&setup, work, &figures, error);
    if (status != TDC_OK)
        return status;
    beside.ratio = (double)NAN;
    if (work != NULL && work->best[0] > 0)
        beside.ratio = figures.laps[TDC_LAP_WHOLE] / work->best[0];
    tdc_compare_report(stage->report, name, &setup, &figures, &beside);
    return TDC_OK;
}

static tdc_status run_statistics_csv(const struct stage *stage, const char *name,
                                     const struct tdc_dump_pair *dumps, struct tdc_error *error)
{
    const struct tdc_task *task = tdc_tasks_get(dumps->tasks, 0);
    struct tdc_python_rival rival = {task->npu, task->bench};
    struct tdc_work work = {.run = tdc_python_load, .context = &rival};
    bool python = tdc_python_there();
    if (!python)
        tdc_report_note(stage->report, "There is no python3 here to load the json files with.");
    struct tdc_beside beside = {python ? "json.load" : NULL, (double)NAN,
                                python ? "<= 0.15" : NULL};
    return run_beside_work(stage, name, dumps, TDC_FORMAT_CSV, python ? &work : NULL, beside,
                           error);
}

static tdc_status run_statistics_xlsx(const struct stage *stage, const char *name,
                                      const struct tdc_dump_pair *dumps, struct tdc_error *error)
{
    char path[4300];
    snprintf(path, sizeof path, "%s.rival.xlsx", stage->place->result);
    struct tdc_xlsx_rival rival = {.path = path};
    struct tdc_work work = {.run = tdc_xlsx_rival_write, .context = &rival};
    bool there = tdc_xlsx_rival_there();
    if (!there)
        tdc_report_note(stage->report, "This program was linked without libxlsxwriter.");
    struct tdc_beside beside = {there ? "libxlsxwriter" : NULL, (double)NAN,
                                there ? "<= 1.15" : NULL};
    tdc_status status = tdc_xlsx_rival_collect(&rival, tdc_tasks_get(dumps->tasks, 0),
                                               &stage->settings->bench.options, error);
    if (status == TDC_OK)
        status = run_beside_work(stage, name, dumps, TDC_FORMAT_XLSX, there ? &work : NULL, beside,
                                 error);
    tdc_xlsx_rival_free(&rival);
    return status;
}

/* The page beside the csv of the same rows, both from memory. */
static tdc_status run_statistics_page(const struct stage *stage, const char *name,
                                      const struct tdc_dump_pair *dumps, struct tdc_error *error)
{
    struct tdc_compare_setup setup = setup_of(stage, dumps, TDC_FORMAT_NONE);
    struct tdc_page_figures page;
    tdc_status status = tdc_page_measure(tdc_tasks_get(dumps->tasks, 0), &setup.options,
                                         setup.result, setup.repeat, setup.budget, &page, error);
    if (status != TDC_OK)
        return status;
    struct tdc_compare_figures figures = {.rows = page.rows};
    figures.laps[TDC_LAP_WHOLE] = page.page;
    struct tdc_beside beside = {"csv", page.csv > 0 ? page.page / page.csv : (double)NAN, "<= 1.5"};
    tdc_compare_report(stage->report, name, &setup, &figures, &beside);
    return TDC_OK;
}

static tdc_status run_statistics(const struct stage *stage, struct tdc_error *error)
{
    struct tdc_synthetic synthetic;
    struct tdc_dump_pair dumps;
    char name[96];
    tdc_synthetic_init(&synthetic);
    synthetic.task = TDC_MODE_STATISTICS;
    synthetic.tensors = stage->settings->statistics_tensors;
    synthetic.elements = 1024;
    snprintf(name, sizeof name, "statistics, %llu tensors", (unsigned long long)synthetic.tensors);
    tdc_status status = tdc_dump_pair_make(&dumps, stage->place, &synthetic,
                                           &stage->settings->bench.options, error);
    if (status == TDC_OK)
        status = run_statistics_csv(stage, name, &dumps, error);
    if (status == TDC_OK)
        status = run_statistics_xlsx(stage, name, &dumps, error);
    if (status == TDC_OK)
        status = run_statistics_page(stage, name, &dumps, error);
    tdc_dump_pair_drop(&dumps, stage->place);
    return status;
}

/* ---- cold ------------------------------------------------------------------------------------ */

struct direct_work {
    const struct tdc_bare_files *files;
    uint64_t bytes; /* 0: not supported */
};

/* One reader front to back, as dd. */
static tdc_status read_direct(void *context, double laps[TDC_LAPS], struct tdc_error *error)
{
    struct direct_work *work = context;
    struct tdc_bare_sum sum;
    struct tdc_drop drop;
    tdc_status status = tdc_files_drop(work->files, &drop, error);
    if (status != TDC_OK)
        return status;
    double start = tdc_seconds();
    status = tdc_stream_read(work->files, TDC_STREAM_DIRECT, 1, &sum, error);
    laps[0] = tdc_seconds() - start;
    work->bytes = status == TDC_OK ? sum.bytes : 0;
    return status == TDC_ERR_UNSUPPORTED ? TDC_OK : status;
}

static tdc_status measure_cold(const struct stage *stage, const char *name,
                               const struct tdc_dump_pair *dumps, struct tdc_error *error)
{
    struct direct_work direct = {.files = &dumps->files};
    struct tdc_work work = {.run = read_direct, .context = &direct};
    struct tdc_compare_setup setup = setup_of(stage, dumps, TDC_FORMAT_CSV);
    struct tdc_compare_figures figures;
    setup.cold = true;
    setup.budget = 2 * BUDGET_SECONDS;
    tdc_status status = tdc_compare_measure(&setup, &work, &figures, error);
    if (status != TDC_OK)
        return status;
    struct tdc_beside beside = {"direct read", (double)NAN, ">= 0.9"};
    if (direct.bytes > 0)
        beside.ratio = tdc_compare_speed(&figures) / ((double)direct.bytes / 1e9 / work.best[0]);
    else
        tdc_report_note(stage->report, "This file system has no direct reads.");
    tdc_compare_report(stage->report, name, &setup, &figures, &beside);
    return TDC_OK;
}

static tdc_status run_cold(const struct stage *stage, struct tdc_error *error)
{
    const struct tdc_dtype_pair pair = {TDC_F32, TDC_F32};
    struct tdc_synthetic synthetic;
    struct tdc_dump_pair dumps;
    char name[96];
    large_synthetic(stage, &pair, &synthetic, name, sizeof name);
    tdc_status status = tdc_dump_pair_make(&dumps, stage->place, &synthetic,
                                           &stage->settings->bench.options, error);
    if (status == TDC_OK)
        status = measure_cold(stage, name, &dumps, error);
    tdc_dump_pair_drop(&dumps, stage->place);
    return status;
}

/* ---- scaling --------------------------------------------------------------------------------- */

/* As many as take long enough to measure, unless --rows asks for a quick look. */
static uint64_t scaling_tensors(const struct stage *stage)
{
    uint64_t rows = stage->settings->small_tensors;
    return rows < SCALING_TENSORS ? rows : SCALING_TENSORS;
}

static tdc_status measure_scaling(const struct stage *stage, const struct tdc_dump_pair *dumps,
                                  struct tdc_error *error)
{
    struct tdc_compare_setup setup = setup_of(stage, dumps, TDC_FORMAT_CSV);
    struct tdc_compare_other other = {.setup = setup};
    struct tdc_work work = {.run = tdc_compare_run_other, .context = &other};
    struct tdc_compare_figures figures;
    other.setup.options.threads = 1;
    if (setup.options.threads == 1)
        setup.options.threads = 2;
    tdc_status status = tdc_compare_measure(&setup, &work, &figures, error);
    if (status != TDC_OK)
        return status;
    /* one thread writes the file afterwards, several meanwhile: the writing belongs to both */
    struct tdc_beside beside = {"1 thread",
                                work.best[TDC_LAP_TABLES] / figures.laps[TDC_LAP_TABLES],
                                setup.options.threads == 2 ? ">= 1.9" : NULL};
    char name[64];
    snprintf(name, sizeof name, "in cache, %llu x 256 KiB",
             (unsigned long long)scaling_tensors(stage));
    tdc_compare_report(stage->report, name, &setup, &figures, &beside);
    return TDC_OK;
}

/* All files of a side are links to eight: the data stays in the processor's cache, and the threads
 * seldom count references to the same page, which a dump of its own files never does. */
static tdc_status run_scaling(const struct stage *stage, struct tdc_error *error)
{
    struct tdc_synthetic synthetic;
    struct tdc_dump_pair dumps;
    tdc_synthetic_init(&synthetic);
    synthetic.tensors = scaling_tensors(stage);
    synthetic.elements = SCALING_ELEMENTS;
    synthetic.distinct = 8;
    tdc_status status = tdc_dump_pair_make(&dumps, stage->place, &synthetic,
                                           &stage->settings->bench.options, error);
    if (status == TDC_OK)
        status = measure_scaling(stage, &dumps, error);
    tdc_dump_pair_drop(&dumps, stage->place);
    return status;
}

/* ---- graphs ---------------------------------------------------------------------------------- */

/* A dump of GE against one of FX, beside two npy files of the same bytes. */
static tdc_status measure_graph(const struct stage *stage, bool blocks, const tdc_tasks *tasks,
                                const tdc_tasks *plain, struct tdc_error *error)
{
    const struct tdc_bare_files none = {0};
    struct tdc_dump_pair dumps = {.tasks = (tdc_tasks *)(uintptr_t)tasks};
    struct tdc_compare_setup setup = setup_of(stage, &dumps, TDC_FORMAT_CSV);
    setup.files = &none;
    struct tdc_compare_other other = {.setup = setup};
    struct tdc_work work = {.run = tdc_compare_run_other, .context = &other};
    struct tdc_compare_figures figures;
    other.setup.tasks = plain;
    tdc_status status = tdc_compare_measure(&setup, &work, &figures, error);
    if (status != TDC_OK)
        return status;
    struct tdc_beside beside = {"npy", work.best[TDC_LAP_COMPARE] / figures.laps[TDC_LAP_COMPARE],
                                blocks ? ">= 0.25" : ">= 0.95"};
    tdc_compare_report(stage->report, blocks ? "GE, FRACTAL_NZ" : "GE, ND", &setup, &figures,
                       &beside);
    return TDC_OK;
}

static tdc_status run_graph(const struct stage *stage, struct tdc_error *error)
{
    const struct tdc_options *options = &stage->settings->bench.options;
    tdc_status status = TDC_OK;
    for (int blocks = 0; blocks < 2 && status == TDC_OK; blocks++) {
        struct tdc_graph_paths paths;
        tdc_tasks *tasks = NULL, *plain = NULL;
        uint64_t size;
        status = tdc_graph_dump_make(stage->place->scratch.path, stage->settings->size, blocks == 1,
                                     &paths, &size, error);
        if (status == TDC_OK)
            status = tdc_tasks_find(paths.ge, paths.fx, -1, options, &tasks, error);
        if (status == TDC_OK)
            status = tdc_tasks_find(paths.plain, paths.other, -1, options, &plain, error);
        if (status == TDC_OK)
            status = measure_graph(stage, blocks == 1, tasks, plain, error);
        tdc_tasks_free(tasks);
        tdc_tasks_free(plain);
        tdc_scratch_remove(&stage->place->scratch, "npu");
        tdc_scratch_remove(&stage->place->scratch, "bench");
    }
    return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

tdc_status tdc_cases_run(const struct tdc_cases_settings *settings,
                         const struct tdc_bench_place *place, struct tdc_report *report,
                         struct tdc_error *error)
{
    static tdc_status (*const cases[TDC_CASES])(const struct stage *, struct tdc_error *) = {
        [TDC_CASE_SMALL] = run_small, [TDC_CASE_STATISTICS] = run_statistics,
        [TDC_CASE_COLD] = run_cold,   [TDC_CASE_SCALING] = run_scaling,
        [TDC_CASE_GRAPH] = run_graph,
    };
    struct stage stage = {settings, place, report};
    tdc_status status = TDC_OK;
    if (settings->cases[TDC_CASE_LARGE])
        for (size_t i = 0; i < settings->pair_count && status == TDC_OK; i++)
            status = run_large(&stage, &settings->pairs[i], false, error);
    if (settings->cases[TDC_CASE_EQUAL])
        for (size_t i = 0; i < settings->pair_count && status == TDC_OK; i++)
            if (settings->pairs[i].npu == settings->pairs[i].bench)
                status = run_large(&stage, &settings->pairs[i], true, error);
    for (int i = 0; i < TDC_CASES && status == TDC_OK; i++)
        if (settings->cases[i] && cases[i] != NULL)
            status = cases[i](&stage, error);
    return status;
}
