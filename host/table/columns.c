/* columns.c - which columns a table has (docs/msprobe.md#columns). */
#include "host/table/columns.h"

#include "host/table/column_id.h"

static const struct tdc_column basic[] = {
    {NPU_NAME, "NPU Name", 48},          {BENCH_NAME, "Bench Name", 48},
    {NPU_DTYPE, "NPU Dtype", 14},        {BENCH_DTYPE, "Bench Dtype", 14},
    {NPU_SHAPE, "NPU Tensor Shape", 18}, {BENCH_SHAPE, "Bench Tensor Shape", 18},
    {NPU_GRAD, "NPU Requires_grad", 10}, {BENCH_GRAD, "Bench Requires_grad", 10},
};

static const struct tdc_column tensor_values[] = {
    {VALUE + TDC_COSINE, "Cosine", 14},
    {VALUE + TDC_EUC_DIST, "EucDist", 14},
    {VALUE + TDC_MAX_ABS, "MaxAbsErr", 14},
    {VALUE + TDC_MAX_REL, "MaxRelativeErr", 14},
    {VALUE + TDC_ONE_THOUSANDTH, "One Thousandth Err Ratio", 14},
    {VALUE + TDC_FIVE_THOUSANDTHS, "Five Thousandths Err Ratio", 14},
};

static const struct tdc_column distances[] = {
    {DISTANCE, "Relative Distance", 14},
    {WORST, "Worst To Largest", 14},
};

static const struct tdc_column tensor_extras[] = {
    {BELOW_1, "Rel Err Below 1%", 12},  {BELOW_10, "Rel Err Below 10%", 12},
    {MEAN_ABS, "Mean Abs Err", 14},     {RMSE, "RMSE", 14},
    {ABS_AT, "Worst Abs At", 14},       {ABS_NPU, "Worst Abs NPU", 14},
    {ABS_BENCH, "Worst Abs Bench", 14}, {REL_AT, "Worst Rel At", 14},
    {REL_NPU, "Worst Rel NPU", 14},     {REL_BENCH, "Worst Rel Bench", 14},
    {NPU_NAN, "NPU NaN", 10},           {NPU_INF, "NPU Inf", 10},
    {BENCH_NAN, "Bench NaN", 10},       {BENCH_INF, "Bench Inf", 10},
    {ELEMENTS, "Elements", 12},
};

static const struct tdc_column statistics_values[] = {
    {VALUE + TDC_DIFF + TDC_MAX, "Max diff", 14},
    {VALUE + TDC_DIFF + TDC_MIN, "Min diff", 14},
    {VALUE + TDC_DIFF + TDC_MEAN, "Mean diff", 14},
    {VALUE + TDC_DIFF + TDC_NORM, "L2norm diff", 14},
    {VALUE + TDC_RELATIVE + TDC_MAX, "MaxRelativeErr", 14},
    {VALUE + TDC_RELATIVE + TDC_MIN, "MinRelativeErr", 14},
    {VALUE + TDC_RELATIVE + TDC_MEAN, "MeanRelativeErr", 14},
    {VALUE + TDC_RELATIVE + TDC_NORM, "NormRelativeErr", 14},
};

static const struct tdc_column stats[] = {
    {NPU_STAT + TDC_MAX, "NPU max", 14},       {NPU_STAT + TDC_MIN, "NPU min", 14},
    {NPU_STAT + TDC_MEAN, "NPU mean", 14},     {NPU_STAT + TDC_NORM, "NPU l2norm", 14},
    {BENCH_STAT + TDC_MAX, "Bench max", 14},   {BENCH_STAT + TDC_MIN, "Bench min", 14},
    {BENCH_STAT + TDC_MEAN, "Bench mean", 14}, {BENCH_STAT + TDC_NORM, "Bench l2norm", 14},
};

static const struct tdc_column digests[] = {
    {NPU_DIGEST, "NPU MD5", 12},
    {BENCH_DIGEST, "BENCH MD5", 12},
};

static const struct tdc_column consistent = {CONSISTENT, "Requires_grad Consistent", 12};
static const struct tdc_column accuracy = {VERDICT, "Accuracy Reached or Not", 12};
static const struct tdc_column result = {VERDICT, "Result", 12};
static const struct tdc_column message = {MESSAGE, "Err_message", 60};
static const struct tdc_column stack = {STACK, "NPU_Stack_Info", 40};
static const struct tdc_column data_name = {DATA_NAME, "Data_name", 40};
static const struct tdc_column found = {FOUND, "Paired_by", 40};

static const struct tdc_column alignment[] = {
    {AXES, "Axes", 16},
    {NPU_PARTS, "NPU Parts", 40},
    {BENCH_PARTS, "Bench Parts", 40},
};

static const struct tdc_column nearer = {NEARER, "Nearer The Truth", 14};
static const struct tdc_column noise_factor = {NOISE_FACTOR, "Noise Factor", 14};

static void add_columns(struct tdc_table *table, const struct tdc_column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        table->columns[table->column_count++] = &columns[i];
}

#define ADD(table, columns) add_columns(table, columns, sizeof(columns) / sizeof *(columns))

void tdc_columns_choose(struct tdc_table *table)
{
    table->column_count = 0;
    ADD(table, basic);
    switch (table->mode) {
    case TDC_MODE_NONE:
        break;
    case TDC_MODE_TENSOR:
        ADD(table, tensor_values);
        if (table->rules->extended)
            ADD(table, tensor_extras);
        ADD(table, stats);
        break;
    case TDC_MODE_STATISTICS:
        ADD(table, statistics_values);
        ADD(table, stats);
        break;
    case TDC_MODE_DIGEST:
        ADD(table, digests);
        break;
    }
    if (table->rules->extended)
        ADD(table, distances);
    add_columns(table, &consistent, 1);
    bool reached = table->mode == TDC_MODE_TENSOR && !table->rules->columns_of_26;
    add_columns(table, reached ? &accuracy : &result, 1);
    if (table->truth != NULL)
        add_columns(table, &nearer, 1);
    if (table->noise != NULL)
        add_columns(table, &noise_factor, 1);
    if (table->mode != TDC_MODE_DIGEST || table->rules->extended || table->rules->columns_of_26)
        add_columns(table, &message, 1);
    if (table->match->npu->explained && table->rules->extended)
        add_columns(table, &found, 1);
    if (table->stacks != NULL)
        add_columns(table, &stack, 1);
    if (table->match->alignment != NULL)
        ADD(table, alignment);
    else if (table->mode == TDC_MODE_TENSOR)
        add_columns(table, &data_name, 1);
}

const char *tdc_column_name(const struct tdc_column *column)
{
    return column->name;
}

double tdc_column_width(const struct tdc_column *column)
{
    return column->width;
}
