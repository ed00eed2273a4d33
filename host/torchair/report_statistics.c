/* report_statistics.c - sides of rows by the statistics that GE has written in place of tensors. */
#include <string.h>

#include "host/graph/files/ge_statistics.h"
#include "host/torchair/report_row.h"
#include "io/base/error.h"
#include "io/tensor/tensor_file.h"

#define STATISTICS_LIMIT ((size_t)1 << 30)

static tdc_status describe(const struct tdc_ge_statistic *statistic, struct tdc_report_side *side,
                           struct tdc_error *error)
{
    uint64_t sizes[TDC_MAX_DIMENSIONS];
    size_t dimensions;
    const char *dtype = tdc_ge_statistic_dtype(statistic);
    if (!tdc_ge_statistic_shape(statistic, sizes, TDC_MAX_DIMENSIONS, &dimensions))
        return tdc_fail(error, TDC_ERR_FORMAT, "%s: no shape", side->name);
    side->written = true;
    side->dtype = dtype != statistic->type ? dtype : NULL; /* none that torch has */
    side->shape = tdc_report_shape(sizes, dimensions);
    uint64_t count = statistic->count != 0 ? statistic->count : 1;
    side->sums = (struct tdc_lone_sums){.count = count,
                                        .nan = statistic->nan,
                                        .inf = statistic->negative + statistic->positive,
                                        .largest = (float)statistic->most,
                                        .least = (float)statistic->least,
                                        .sum = statistic->mean * (double)count};
    return side->shape != NULL ? TDC_OK
                               : tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", side->name);
}

tdc_status tdc_report_written_side(struct tdc_report_side *side, struct tdc_error *error)
{
    struct tdc_arena arena;
    const struct tdc_ge_statistic *statistic;
    tdc_arena_init(&arena, STATISTICS_LIMIT);
    tdc_status status = tdc_ge_statistic_read(&arena, side->name, &statistic, error);
    if (status == TDC_OK)
        status = describe(statistic, side, error);
    tdc_arena_free(&arena);
    return status;
}
