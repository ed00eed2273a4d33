#include "bench/tools/prepared_comparison.h"

/* Both sides at once, as the command does. */
static tdc_status load_both(struct tdc_prepared_comparison *prepared, const struct tdc_task *task,
                            struct tdc_error *error)
{
    struct tdc_error npu_error = {0}, bench_error = {0};
    tdc_status npu_status = TDC_OK, bench_status = TDC_OK;
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        npu_status = tdc_dump_load(task->npu, &prepared->npu, &npu_error);
#pragma omp section
        bench_status = tdc_dump_load(task->bench, &prepared->bench, &bench_error);
    }
    if (npu_status != TDC_OK || bench_status != TDC_OK)
        *error = npu_status != TDC_OK ? npu_error : bench_error;
    return npu_status != TDC_OK ? npu_status : bench_status;
}

tdc_status tdc_comparison_prepare(struct tdc_prepared_comparison *prepared,
                                  const struct tdc_task *task, const struct tdc_options *options,
                                  double *load, double *match, struct tdc_error *error)
{
    *prepared = (struct tdc_prepared_comparison){0};
    double start = tdc_seconds();
    tdc_status status = load_both(prepared, task, error);
    double loaded = tdc_seconds();
    if (status == TDC_OK)
        status = tdc_match_new(prepared->npu, prepared->bench, options, &prepared->match, error);
    if (status == TDC_OK)
        status = tdc_table_new(prepared->match, options, NULL, &prepared->table, error);
    *load += loaded - start;
    *match += tdc_seconds() - loaded;
    return status;
}

void tdc_comparison_free(struct tdc_prepared_comparison *prepared)
{
    tdc_table_free(prepared->table);
    tdc_match_free(prepared->match);
    tdc_dump_free(prepared->npu);
    tdc_dump_free(prepared->bench);
    *prepared = (struct tdc_prepared_comparison){0};
}
