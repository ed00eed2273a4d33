#include "host/precheck/precision/precision_verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/precheck/rebuild/dtype_names.h"
#include "io/text/csv_field.h"
#include "host/precheck/standards/standards.h"
#include "host/precheck/standards/verdict.h"
#include "io/text/pytext.h"

#define MESSAGE_LIMIT ((size_t)1 << 30)

/* Columns of the details, in order; those in between hold the verdict on the one before. */
enum {
    COLUMN_NAME,
    COLUMN_SMALL,
    COLUMN_RMSE = 3,
    COLUMN_MAX_RELATIVE = 5,
    COLUMN_MEAN_RELATIVE = 7,
    COLUMN_BALANCE = 9,
    COLUMN_INF_NAN = 11,
    COLUMN_RELATIVE = 13,
    COLUMN_ABSOLUTE = 15,
    COLUMN_BINARY = 17,
    COLUMN_ULP_MEAN = 19,
    COLUMN_ULP_SHARE = 20,
    COLUMN_ULP_RATIO = 21,
    COLUMN_ULP_VERDICT = 22,
    COLUMN_THOUSANDTH = 23,
    COLUMN_RESULT = 25,
    COLUMN_METHOD = 26,
    COLUMN_MESSAGE = 27
};

const char tdc_precision_header[] =
    "API Name,小值域错误比值,小值域判定结果,均方根误差比值,均方根误差判定结果,相对误差最大值比值,"
    "相对误差最大值判定结果,相对误差平均值比值,相对误差平均值判定结果,误差均衡性比值,"
    "误差均衡性判定结果,inf/nan错误率,inf/nan判定结果,相对误差错误率,相对误差判定结果,"
    "绝对误差错误率,绝对误差判定结果,二进制一致错误率,二进制一致错误率判定结果,ULP误差平均值,"
    "ULP误差大于阈值占比,ULP误差大于阈值占比比值,ULP误差判定结果,双千指标,双千指标判定结果,"
    "比对结果,比对算法,Message\r\n";

/* A cell as msprobe converts it. A blank raises, and with it falls the whole row; 26.2 takes it for
 * 0 where it compares two sides. */
static double number_in(struct tdc_precision_row *row, const struct tdc_text_table *table,
                        const struct tdc_text_row *line, const char *column, bool blank_is_zero)
{
    const char *text = tdc_text_cell(line, tdc_text_column(table, column));
    double value = (double)NAN;
    if (tdc_cell_is_missing(text) || tdc_python_float(text, strlen(text), &value))
        return value;
    bool blank = text[strspn(text, " \t\r\n")] == '\0';
    if (blank && blank_is_zero)
        return 0;
    if (row->failure == NULL)
        row->failure = blank ? "ERROR: Input data is an empty string"
                             : "ERROR: Input data cannot be converted to float";
    return (double)NAN;
}

static double npu(struct tdc_precision_row *row, const char *column)
{
    return number_in(row, row->npu_table, row->npu, column, false);
}

/* The same column of both sides. */
static void both(struct tdc_precision_row *row, const char *column, double *npu_value,
                 double *gpu_value)
{
    bool blank_is_zero = row->rules == TDC_RULES_COMPAT26;
    *npu_value = number_in(row, row->npu_table, row->npu, column, blank_is_zero);
    *gpu_value = number_in(row, row->gpu_table, row->gpu, column, blank_is_zero);
}

static void put_number(struct tdc_precision_row *row, int column, double value)
{
    if (isnan(value))
        snprintf(row->cells[column], TDC_PRECISION_CELL, "nan");
    else if (isinf(value))
        snprintf(row->cells[column], TDC_PRECISION_CELL, value > 0 ? "inf" : "-inf");
    else
        snprintf(row->cells[column], TDC_PRECISION_CELL, "%.14f", value);
}

/* The cell as it is; a column of numbers alone was read as such. */
static void put_copy(struct tdc_precision_row *row, int column, const char *source,
                     enum tdc_column_kind kind, double value)
{
    if (kind == TDC_COLUMN_FLOAT)
        put_number(row, column, value);
    else
        snprintf(row->cells[column], TDC_PRECISION_CELL, "%s",
                 tdc_text_cell(row->npu, tdc_text_column(row->npu_table, source)));
}

static void put_verdict(struct tdc_precision_row *row, int column, bool passed)
{
    snprintf(row->cells[column], TDC_PRECISION_CELL, "%s", passed ? "pass" : "error");
    if (!passed)
        row->status = TDC_CHECK_ERROR;
}

/* Of two numbers of which one is not finite: are they the same? Says so in the message. */
static bool consistent(struct tdc_precision_row *row, double a, double b, const char *column)
{
    bool same = isinf(a) || isinf(b) ? a == b : isnan(a) && isnan(b);
    tdc_text_addf(&row->message, same ? "%s同为同号inf或nan\n" : "%sinf或nan不一致\n", column);
    return same;
}

static double ratio(const struct tdc_precision_row *row, double a, double b)
{
    double floor = tdc_ratio_floor(row->dtype);
    return fabs(a) / (fabs(b) > floor ? fabs(b) : floor);
}

/* ---- the standards --------------------------------------------------------------------------- */

static void by_binary(struct tdc_precision_row *row)
{
    double rate = npu(row, "二进制一致错误率");
    put_copy(row, COLUMN_BINARY, "二进制一致错误率", row->binary_kind, rate);
    put_verdict(row, COLUMN_BINARY + 1, rate == 0);
    if (rate != 0)
        tdc_text_adds(&row->message, "ERROR: 二进制一致错误率超过阈值\n");
}

static void by_absolute(struct tdc_precision_row *row)
{
    static const struct {
        int column;
        const char *source, *complaint;
    } parts[] = {{COLUMN_INF_NAN, "inf/nan错误率", "ERROR: inf/nan错误率超过阈值"},
                 {COLUMN_RELATIVE, "相对误差错误率", "ERROR: 相对误差错误率超过阈值"},
                 {COLUMN_ABSOLUTE, "绝对误差错误率", "ERROR: 绝对误差错误率超过阈值"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        double share = npu(row, parts[i].source);
        put_number(row, parts[i].column, share);
        put_verdict(row, parts[i].column + 1, share == 0);
        if (share != 0)
            tdc_text_adds(&row->message, parts[i].complaint);
    }
}

static void by_accumulative(struct tdc_precision_row *row)
{
    double limit = row->dtype == TDC_F16 ? 0x1p-20 : row->dtype == TDC_BF16 ? 0x1p-7 : 0x1p-14;
    by_absolute(row);
    double balance = npu(row, "误差均衡性");
    put_number(row, COLUMN_BALANCE, balance);
    put_verdict(row, COLUMN_BALANCE + 1, balance <= limit);
    if (!(balance <= limit))
        tdc_text_adds(&row->message, "ERROR: 误差均衡性超过阈值\n");
}

static void by_thousandth(struct tdc_precision_row *row)
{
    double share = npu(row, "双千指标");
    put_copy(row, COLUMN_THOUSANDTH, "双千指标", TDC_COLUMN_TEXT, share);
    put_verdict(row, COLUMN_THOUSANDTH + 1, share >= 0.999);
    if (!(share >= 0.999))
        tdc_text_adds(&row->message, "ERROR: 双千指标不达标\n");
}

static void by_ulp(struct tdc_precision_row *row)
{
    static const char means[] = "ULP误差平均值", parts[] = "ULP误差大于阈值占比";
    double mean, gpu_mean, share, gpu_share;
    both(row, means, &mean, &gpu_mean);
    both(row, parts, &share, &gpu_share);
    bool agree = (isfinite(mean) && isfinite(gpu_mean)) || consistent(row, mean, gpu_mean, means);
    double shares = (double)NAN;
    if (isfinite(share) && isfinite(gpu_share))
        shares = ratio(row, share, gpu_share);
    else
        agree &= consistent(row, share, gpu_share, parts);
    put_number(row, COLUMN_ULP_MEAN, mean);
    put_number(row, COLUMN_ULP_SHARE, share);
    put_number(row, COLUMN_ULP_RATIO, shares);
    bool passed = row->dtype == TDC_F32 ? mean < 64 || share < 0.05 || shares < 1
                                        : share < 0.001 || shares < 1;
    if (agree)
        put_verdict(row, COLUMN_ULP_VERDICT, passed);
    else
        row->status = TDC_CHECK_ERROR;
    if (!agree || !passed)
        tdc_text_adds(&row->message, "ERROR: ULP误差不满足标准\n");
}

/* Float8 results of 26.2: the device's share alone. */
static void by_float8_ulp(struct tdc_precision_row *row)
{
    double share = number_in(row, row->npu_table, row->npu, "ULP误差大于阈值占比", true);
    put_number(row, COLUMN_ULP_SHARE, share);
    put_verdict(row, COLUMN_ULP_VERDICT, share < 0.001);
    if (!(share < 0.001))
        tdc_text_adds(&row->message, "ERROR: ULP误差不满足标准\n");
}

static void by_benchmark(struct tdc_precision_row *row)
{
    struct tdc_benchmark_limits limits =
        tdc_benchmark_limits26(row->rules == TDC_RULES_COMPAT26 ? row->api : "");
    const struct {
        int column;
        const char *source, *complaint; /* no complaint: shown, not judged */
        double limit;
    } parts[] = {{COLUMN_SMALL, "小值域错误占比", "ERROR: 小值域错误比值超过阈值\n", 2},
                 {COLUMN_RMSE, "均方根误差", "ERROR: 均方根误差比值超过阈值\n", limits.rmse},
                 {COLUMN_MAX_RELATIVE, "相对误差最大值", "ERROR: 相对误差最大值比值超过阈值\n",
                  limits.max_relative},
                 {COLUMN_MEAN_RELATIVE, "相对误差平均值", "ERROR: 相对误差平均值比值超过阈值\n",
                  limits.mean_relative},
                 {COLUMN_BALANCE, "误差均衡性", NULL, 2}};
    enum {
        PARTS = sizeof parts / sizeof *parts
    };
    bool passed[PARTS];
    for (int i = 0; i < PARTS; i++) {
        double a, b;
        both(row, parts[i].source, &a, &b);
        bool finite = isfinite(a) && isfinite(b);
        double value = finite ? ratio(row, a, b) : (double)NAN;
        passed[i] = finite ? value <= parts[i].limit : consistent(row, a, b, parts[i].source);
        tdc_check before = row->status;
        put_number(row, parts[i].column, value);
        put_verdict(row, parts[i].column + 1, passed[i]);
        if (parts[i].complaint == NULL)
            row->status = before;
    }
    for (int i = 0; i < PARTS; i++)
        if (!passed[i] && parts[i].complaint != NULL)
            tdc_text_adds(&row->message, parts[i].complaint);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* "add" of Tensor.add.0.forward.output.0 */
static void api_name(const char *row_name, char name[TDC_PRECISION_API])
{
    const char *first = strchr(row_name, '.');
    const char *last = row_name + strlen(row_name);
    for (int part = 0; part < 4 && last > row_name; part++)
        while (last > row_name && *--last != '.')
            continue;
    if (first == NULL || last <= first)
        snprintf(name, TDC_PRECISION_API, "%s", "");
    else
        snprintf(name, TDC_PRECISION_API, "%.*s", (int)(last - first - 1), first + 1);
}

static void clear(struct tdc_precision_row *row)
{
    for (int c = 0; c < TDC_PRECISION_COLUMNS; c++)
        strcpy(row->cells[c], " ");
    tdc_text_free(&row->message);
    tdc_text_init(&row->message, MESSAGE_LIMIT);
}

static const char *device_dtype(const struct tdc_precision_row *row)
{
    return tdc_text_cell(row->npu, tdc_text_column(row->npu_table, "DEVICE Dtype"));
}

bool tdc_precision_unsupported(const struct tdc_precision_row *row)
{
    const char *dtype = device_dtype(row);
    return strcmp(dtype, "torch.float64") == 0 || strcmp(dtype, "torch.complex64") == 0 ||
           strcmp(dtype, "torch.complex128") == 0;
}

/* The cell of a skipped row; an empty one was read as a number that is none. */
static void skip(struct tdc_precision_row *row)
{
    const char *text = tdc_text_cell(row->npu, tdc_text_column(row->npu_table, "Message"));
    row->status = TDC_CHECK_SKIP;
    tdc_text_adds(&row->message, tdc_cell_is_missing(text) ? "nan" : text);
}

/* Whether 26.2 takes the inputs for Float8; its reader may have made the cell a number, which it
 * then treats as a text. */
static bool float8_input(struct tdc_precision_row *row)
{
    const char *cell = tdc_text_cell(row->npu, tdc_text_column(row->npu_table, "相对误差错误率"));
    if (row->relative_kind == TDC_COLUMN_INTEGER)
        row->failure = "'int' object has no attribute 'isspace'";
    else if (row->relative_kind == TDC_COLUMN_FLOAT || tdc_cell_is_missing(cell))
        row->failure = "'float' object has no attribute 'isspace'";
    return cell[strspn(cell, " \t\r\n\v\f")] != '\0';
}

static void judge26(struct tdc_precision_row *row)
{
    const char *dtype = device_dtype(row);
    if (tdc_cell_is_missing(dtype)) {
        row->failure = "'float' object has no attribute 'isspace'";
        return;
    }
    enum tdc_api_standard standard = tdc_api_standard26(dtype, float8_input(row));
    if (row->failure != NULL)
        return;
    if (standard == TDC_BY_ULP)
        by_float8_ulp(row);
    else if (standard == TDC_BY_ABSOLUTE)
        by_absolute(row);
    else if (standard == TDC_BY_BENCHMARK)
        by_benchmark(row);
    else
        by_binary(row);
    snprintf(row->cells[COLUMN_METHOD], TDC_PRECISION_CELL, "%s", tdc_api_standard_title(standard));
}

static void judge25(struct tdc_precision_row *row)
{
    static void (*const judges[])(struct tdc_precision_row *) = {
        [TDC_BY_BENCHMARK] = by_benchmark,   [TDC_BY_BINARY] = by_binary,
        [TDC_BY_ABSOLUTE] = by_absolute,     [TDC_BY_ULP] = by_ulp,
        [TDC_BY_THOUSANDTH] = by_thousandth, [TDC_BY_ACCUMULATIVE] = by_accumulative};
    enum tdc_api_standard standard = tdc_api_standard(row->api, row->dtype);
    judges[standard](row);
    snprintf(row->cells[COLUMN_METHOD], TDC_PRECISION_CELL, "%s", tdc_api_standard_title(standard));
}

void tdc_judge_precision(struct tdc_precision_row *row)
{
    const char *dtype = device_dtype(row);
    const char *shape = tdc_text_cell(row->npu, tdc_text_column(row->npu_table, "Shape"));
    bool newest = row->rules == TDC_RULES_COMPAT26;
    tdc_text_init(&row->message, MESSAGE_LIMIT);
    clear(row);
    row->failure = NULL;
    row->dtype = tdc_recorded_dtype(dtype);
    row->status = TDC_CHECK_PASS;
    api_name(tdc_text_cell(row->npu, 0), row->api);
    bool blank = dtype[strspn(dtype, " ")] == '\0' && !(newest && dtype[0] == '\0');
    if (blank || tdc_precision_unsupported(row) || strcmp(shape, "(0,)") == 0) {
        skip(row);
        return;
    }
    if (newest)
        judge26(row);
    else
        judge25(row);
    if (row->failure != NULL) {
        clear(row);
        row->status = TDC_CHECK_SKIP;
        tdc_text_adds(&row->message, row->failure);
    }
}

void tdc_precision_text(struct tdc_text *details, const struct tdc_precision_row *row)
{
    tdc_csv_field(details, tdc_text_cell(row->npu, 0));
    for (int i = 1; i < COLUMN_RESULT; i++) {
        tdc_text_addc(details, ',');
        tdc_csv_field(details, row->cells[i]);
    }
    tdc_text_addf(details, ",%s,%s,", tdc_check_text(row->status), row->cells[COLUMN_METHOD]);
    tdc_csv_field(details, tdc_text_get(&row->message));
    tdc_text_adds(details, "\r\n");
}

void tdc_skipped_row_text(struct tdc_text *details, const char *name, const char *reason)
{
    tdc_csv_field(details, name);
    for (int i = 1; i < COLUMN_RESULT; i++)
        tdc_text_adds(details, ", ");
    tdc_text_adds(details, ",SKIP, ,");
    tdc_csv_field(details, reason);
    tdc_text_adds(details, "\r\n");
}
