#include "bench/cases/one_dump.h"

/* Both sides at once, as the command does. */
static tdc_status load_both(struct tdc_one_dump *dump, const struct tdc_task *task,
                            struct tdc_error *error)
{
    struct tdc_error npu_error = {0}, bench_error = {0};
    tdc_status npu_status = TDC_OK, bench_status = TDC_OK;
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        npu_status = tdc_dump_load(task->npu, &dump->npu, &npu_error);
#pragma omp section
        bench_status = tdc_dump_load(task->bench, &dump->bench, &bench_error);
    }
    if (npu_status != TDC_OK || bench_status != TDC_OK)
        *error = npu_status != TDC_OK ? npu_error : bench_error;
    return npu_status != TDC_OK ? npu_status : bench_status;
}

tdc_status tdc_one_dump_prepare(struct tdc_one_dump *dump, const struct tdc_task *task,
                                const struct tdc_options *options, double *load, double *match,
                                struct tdc_error *error)
{
    *dump = (struct tdc_one_dump){0};
    double start = tdc_seconds();
    tdc_status status = load_both(dump, task, error);
    double loaded = tdc_seconds();
    if (status == TDC_OK)
        status = tdc_match_new(dump->npu, dump->bench, options, &dump->match, error);
    if (status == TDC_OK)
        status = tdc_table_new(dump->match, options, NULL, &dump->table, error);
    *load += loaded - start;
    *match += tdc_seconds() - loaded;
    return status;
}

void tdc_one_dump_free(struct tdc_one_dump *dump)
{
    tdc_table_free(dump->table);
    tdc_match_free(dump->match);
    tdc_dump_free(dump->npu);
    tdc_dump_free(dump->bench);
    *dump = (struct tdc_one_dump){0};
}
