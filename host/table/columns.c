/* columns.c - which columns a table has (docs/msprobe.md#columns). */
#include "host/table/columns.h"

#include "host/table/column_id.h"
#include "io/table/sink.h"

static const struct tdc_column basic[] = {
    {NPU_NAME, "NPU Name", 48, TDC_LOOK_GENERAL},
    {BENCH_NAME, "Bench Name", 48, TDC_LOOK_GENERAL},
    {NPU_DTYPE, "NPU Dtype", 14, TDC_LOOK_GENERAL},
    {BENCH_DTYPE, "Bench Dtype", 14, TDC_LOOK_GENERAL},
    {NPU_SHAPE, "NPU Tensor Shape", 18, TDC_LOOK_GENERAL},
    {BENCH_SHAPE, "Bench Tensor Shape", 18, TDC_LOOK_GENERAL},
    {NPU_GRAD, "NPU Requires_grad", 10, TDC_LOOK_GENERAL},
    {BENCH_GRAD, "Bench Requires_grad", 10, TDC_LOOK_GENERAL},
};

static const struct tdc_column tensor_values[] = {
    {VALUE + TDC_COSINE, "Cosine", 14, TDC_LOOK_COSINE},
    {VALUE + TDC_EUC_DIST, "EucDist", 14, TDC_LOOK_ERROR},
    {VALUE + TDC_MAX_ABS, "MaxAbsErr", 14, TDC_LOOK_ERROR},
    {VALUE + TDC_MAX_REL, "MaxRelativeErr", 14, TDC_LOOK_ERROR},
    {VALUE + TDC_ONE_THOUSANDTH, "One Thousandth Err Ratio", 14, TDC_LOOK_PERCENT},
    {VALUE + TDC_FIVE_THOUSANDTHS, "Five Thousandths Err Ratio", 14, TDC_LOOK_PERCENT},
};

static const struct tdc_column distances[] = {
    {DISTANCE, "Relative Distance", 14, TDC_LOOK_ERROR},
    {WORST, "Worst To Largest", 14, TDC_LOOK_ERROR},
};

static const struct tdc_column tensor_extras[] = {
    {BELOW_1, "Rel Err Below 1%", 12, TDC_LOOK_PERCENT},
    {BELOW_10, "Rel Err Below 10%", 12, TDC_LOOK_PERCENT},
    {MEAN_ABS, "Mean Abs Err", 14, TDC_LOOK_ERROR},
    {RMSE, "RMSE", 14, TDC_LOOK_ERROR},
    {ABS_AT, "Worst Abs At", 14, TDC_LOOK_GENERAL},
    {ABS_NPU, "Worst Abs NPU", 14, TDC_LOOK_VALUE},
    {ABS_BENCH, "Worst Abs Bench", 14, TDC_LOOK_VALUE},
    {REL_AT, "Worst Rel At", 14, TDC_LOOK_GENERAL},
    {REL_NPU, "Worst Rel NPU", 14, TDC_LOOK_VALUE},
    {REL_BENCH, "Worst Rel Bench", 14, TDC_LOOK_VALUE},
    {NPU_NAN, "NPU NaN", 10, TDC_LOOK_COUNT},
    {NPU_INF, "NPU Inf", 10, TDC_LOOK_COUNT},
    {BENCH_NAN, "Bench NaN", 10, TDC_LOOK_COUNT},
    {BENCH_INF, "Bench Inf", 10, TDC_LOOK_COUNT},
    {ELEMENTS, "Elements", 12, TDC_LOOK_COUNT},
};

static const struct tdc_column statistics_values[] = {
    {VALUE + TDC_DIFF + TDC_MAX, "Max diff", 14, TDC_LOOK_ERROR},
    {VALUE + TDC_DIFF + TDC_MIN, "Min diff", 14, TDC_LOOK_ERROR},
    {VALUE + TDC_DIFF + TDC_MEAN, "Mean diff", 14, TDC_LOOK_ERROR},
    {VALUE + TDC_DIFF + TDC_NORM, "L2norm diff", 14, TDC_LOOK_ERROR},
    {VALUE + TDC_RELATIVE + TDC_MAX, "MaxRelativeErr", 14, TDC_LOOK_PERCENT},
    {VALUE + TDC_RELATIVE + TDC_MIN, "MinRelativeErr", 14, TDC_LOOK_PERCENT},
    {VALUE + TDC_RELATIVE + TDC_MEAN, "MeanRelativeErr", 14, TDC_LOOK_PERCENT},
    {VALUE + TDC_RELATIVE + TDC_NORM, "NormRelativeErr", 14, TDC_LOOK_PERCENT},
};

static const struct tdc_column stats[] = {
    {NPU_STAT + TDC_MAX, "NPU max", 14, TDC_LOOK_VALUE},
    {NPU_STAT + TDC_MIN, "NPU min", 14, TDC_LOOK_VALUE},
    {NPU_STAT + TDC_MEAN, "NPU mean", 14, TDC_LOOK_VALUE},
    {NPU_STAT + TDC_NORM, "NPU l2norm", 14, TDC_LOOK_VALUE},
    {BENCH_STAT + TDC_MAX, "Bench max", 14, TDC_LOOK_VALUE},
    {BENCH_STAT + TDC_MIN, "Bench min", 14, TDC_LOOK_VALUE},
    {BENCH_STAT + TDC_MEAN, "Bench mean", 14, TDC_LOOK_VALUE},
    {BENCH_STAT + TDC_NORM, "Bench l2norm", 14, TDC_LOOK_VALUE},
};

static const struct tdc_column digests[] = {
    {NPU_DIGEST, "NPU MD5", 12, TDC_LOOK_GENERAL},
    {BENCH_DIGEST, "BENCH MD5", 12, TDC_LOOK_GENERAL},
};

static const struct tdc_column arguments[] = {
    {NPU_VALUE, "NPU Value", 14, TDC_LOOK_GENERAL},
    {BENCH_VALUE, "Bench Value", 14, TDC_LOOK_GENERAL},
};

static const struct tdc_column consistent = {CONSISTENT, "Requires_grad Consistent", 12,
                                             TDC_LOOK_GENERAL};
static const struct tdc_column accuracy = {VERDICT, "Accuracy Reached or Not", 12,
                                           TDC_LOOK_GENERAL};
static const struct tdc_column result = {VERDICT, "Result", 12, TDC_LOOK_GENERAL};
static const struct tdc_column message = {MESSAGE, "Err_message", 60, TDC_LOOK_GENERAL};
static const struct tdc_column verdict = {VERDICT, "Verdict", 11, TDC_LOOK_GENERAL};
static const struct tdc_column severity = {SEVERITY, "Severity", 9, TDC_LOOK_GENERAL};
static const struct tdc_column stack = {STACK, "NPU_Stack_Info", 40, TDC_LOOK_GENERAL};
static const struct tdc_column data_name = {DATA_NAME, "Data_name", 40, TDC_LOOK_GENERAL};
static const struct tdc_column found = {FOUND, "Paired_by", 40, TDC_LOOK_GENERAL};

static const struct tdc_column alignment[] = {
    {AXES, "Axes", 16, TDC_LOOK_GENERAL},
    {NPU_PARTS, "NPU Parts", 40, TDC_LOOK_GENERAL},
    {BENCH_PARTS, "Bench Parts", 40, TDC_LOOK_GENERAL},
};

static const struct tdc_column nearer = {NEARER, "Nearer The Truth", 14, TDC_LOOK_GENERAL};
static const struct tdc_column noise_factor = {NOISE_FACTOR, "Noise Factor", 14, TDC_LOOK_ERROR};

static void add_columns(struct tdc_table *table, const struct tdc_column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        table->columns[table->column_count++] = &columns[i];
}

#define ADD(table, columns) add_columns(table, columns, sizeof(columns) / sizeof *(columns))

/* What a person looks at first, by mode; the older heading of the verdict stays among the rest. */
static const enum column_id tensor_front[] = {
    NPU_NAME, MESSAGE, NPU_SHAPE, VALUE + TDC_COSINE, VALUE + TDC_MAX_ABS, VALUE + TDC_MAX_REL,
    ABS_AT,   ABS_NPU, ABS_BENCH, BENCH_NAME};
static const enum column_id statistics_front[] = {NPU_NAME,
                                                  MESSAGE,
                                                  NPU_SHAPE,
                                                  DISTANCE,
                                                  WORST,
                                                  VALUE + TDC_DIFF + TDC_MAX,
                                                  VALUE + TDC_DIFF + TDC_MIN,
                                                  VALUE + TDC_DIFF + TDC_MEAN,
                                                  VALUE + TDC_DIFF + TDC_NORM,
                                                  BENCH_NAME};
static const enum column_id digest_front[] = {NPU_NAME,   MESSAGE,      NPU_SHAPE,
                                              NPU_DIGEST, BENCH_DIGEST, BENCH_NAME};

/* Moves a column to the place behind the front ones. */
static void bring(struct tdc_table *table, enum column_id id)
{
    size_t at = table->front_columns;
    while (at < table->column_count && table->columns[at]->id != id)
        at++;
    if (at == table->column_count)
        return;
    const struct tdc_column *moved = table->columns[at];
    for (; at > table->front_columns; at--)
        table->columns[at] = table->columns[at - 1];
    table->columns[table->front_columns++] = moved;
}

static void bring_all(struct tdc_table *table, const enum column_id *ids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bring(table, ids[i]);
}

#define BRING(table, ids) bring_all(table, ids, sizeof(ids) / sizeof *(ids))

/* Verdict and severity, then what a person looks at, then the rest. */
static void arrange(struct tdc_table *table)
{
    for (size_t at = table->column_count; at > 0; at--)
        table->columns[at + 1] = table->columns[at - 1];
    table->columns[0] = &verdict;
    table->columns[1] = &severity;
    table->column_count += 2;
    table->front_columns = 2;
    if (table->mode == TDC_MODE_TENSOR)
        BRING(table, tensor_front);
    else if (table->mode == TDC_MODE_STATISTICS)
        BRING(table, statistics_front);
    else
        BRING(table, digest_front);
}

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
    if (table->rules->extended) {
        ADD(table, distances);
        ADD(table, arguments);
    }
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
    if (table->rules->extended)
        arrange(table);
}

const char *tdc_column_name(const struct tdc_column *column)
{
    return column->name;
}

double tdc_column_width(const struct tdc_column *column)
{
    return column->width;
}

unsigned char tdc_column_look(const struct tdc_column *column)
{
    return column->look;
}
