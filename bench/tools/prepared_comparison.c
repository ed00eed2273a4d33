#include "bench/tools/prepared_comparison.h"

tdc_status tdc_comparison_prepare(struct tdc_prepared_comparison *prepared,
                                  const struct tdc_task *task, const struct tdc_options *options,
                                  double *load, double *match, struct tdc_error *error)
{
    *prepared = (struct tdc_prepared_comparison){0};
    double start = tdc_seconds();
    tdc_status status = tdc_task_load(task, &prepared->npu, &prepared->bench, error);
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
