/* precision_compare.c - two details files of the PyTorch standards, device against GPU. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/dump/name_table.h"
#include "host/precheck/csv_table.h"
#include "host/precheck/dtype_names.h"
#include "host/precheck/row_text.h"
#include "host/precheck/standards.h"
#include "io/byte_writer.h"
#include "io/error.h"
#include "io/out_file.h"
#include "io/pytext.h"

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
    COLUMN_MESSAGE = 27,
    COLUMNS = 28
};

static const char details_header[] =
    "API Name,小值域错误比值,小值域判定结果,均方根误差比值,均方根误差判定结果,相对误差最大值比值,"
    "相对误差最大值判定结果,相对误差平均值比值,相对误差平均值判定结果,误差均衡性比值,"
    "误差均衡性判定结果,inf/nan错误率,inf/nan判定结果,相对误差错误率,相对误差判定结果,"
    "绝对误差错误率,绝对误差判定结果,二进制一致错误率,二进制一致错误率判定结果,ULP误差平均值,"
    "ULP误差大于阈值占比,ULP误差大于阈值占比比值,ULP误差判定结果,双千指标,双千指标判定结果,"
    "比对结果,比对算法,Message\r\n";

#define CELL_TEXT 64
#define ROW_LIMIT ((size_t)1 << 30)

/* One slot being judged. */
struct row {
    const struct tdc_csv_line *npu, *gpu;
    const struct tdc_csv_table *npu_table, *gpu_table;
    char cells[COLUMNS][CELL_TEXT];
    struct tdc_text message;
    tdc_check status;
    tdc_dtype dtype;
};

static double number_in(const struct tdc_csv_table *table, const struct tdc_csv_line *line,
                        const char *column)
{
    const char *text = tdc_csv_cell(line, tdc_csv_column(table, column));
    double value;
    return tdc_python_float(text, strlen(text), &value) ? value : (double)NAN;
}

static double npu(const struct row *row, const char *column)
{
    return number_in(row->npu_table, row->npu, column);
}

static double gpu(const struct row *row, const char *column)
{
    return number_in(row->gpu_table, row->gpu, column);
}

static void put_number(struct row *row, int column, double value)
{
    if (isnan(value))
        snprintf(row->cells[column], CELL_TEXT, "nan");
    else if (isinf(value))
        snprintf(row->cells[column], CELL_TEXT, value > 0 ? "inf" : "-inf");
    else
        snprintf(row->cells[column], CELL_TEXT, "%.14f", value);
}

static void put_verdict(struct row *row, int column, bool passed)
{
    snprintf(row->cells[column], CELL_TEXT, "%s", passed ? "pass" : "error");
    if (!passed)
        row->status = TDC_CHECK_ERROR;
}

static bool same_nonfinite(double a, double b)
{
    return (isnan(a) && isnan(b)) || (isinf(a) && a == b);
}

static double ratio(const struct row *row, double a, double b)
{
    double floor = tdc_ratio_floor(row->dtype);
    return fabs(a) / (fabs(b) > floor ? fabs(b) : floor);
}

/* ---- the standards --------------------------------------------------------------------------- */

static void by_binary(struct row *row)
{
    double rate = npu(row, "二进制一致错误率");
    put_number(row, COLUMN_BINARY, rate);
    put_verdict(row, COLUMN_BINARY + 1, rate == 0);
    if (rate != 0)
        tdc_text_adds(&row->message, "ERROR: 二进制一致错误率超过阈值\n");
}

static void by_absolute(struct row *row)
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

static void by_accumulative(struct row *row)
{
    double limit = row->dtype == TDC_F16 ? 0x1p-20 : row->dtype == TDC_BF16 ? 0x1p-7 : 0x1p-14;
    by_absolute(row);
    double balance = npu(row, "误差均衡性");
    put_number(row, COLUMN_BALANCE, balance);
    put_verdict(row, COLUMN_BALANCE + 1, balance <= limit);
    if (!(balance <= limit))
        tdc_text_adds(&row->message, "ERROR: 误差均衡性超过阈值\n");
}

static void by_thousandth(struct row *row)
{
    double share = npu(row, "双千指标");
    put_number(row, COLUMN_THOUSANDTH, share);
    put_verdict(row, COLUMN_THOUSANDTH + 1, share >= 0.999);
    if (!(share >= 0.999))
        tdc_text_adds(&row->message, "ERROR: 双千指标不达标\n");
}

static void by_ulp(struct row *row)
{
    double mean = npu(row, "ULP误差平均值"), share = npu(row, "ULP误差大于阈值占比");
    double gpu_mean = gpu(row, "ULP误差平均值"), gpu_share = gpu(row, "ULP误差大于阈值占比");
    double shares = ratio(row, share, gpu_share);
    put_number(row, COLUMN_ULP_MEAN, mean);
    put_number(row, COLUMN_ULP_SHARE, share);
    put_number(row, COLUMN_ULP_RATIO, shares);
    if (same_nonfinite(mean, gpu_mean))
        tdc_text_adds(&row->message, "ULP误差平均值同为同号inf或nan\n");
    bool passed = row->dtype == TDC_F32 ? mean < 64 || share < 0.05 || shares < 1
                                        : share < 0.001 || shares < 1;
    put_verdict(row, COLUMN_ULP_VERDICT, passed);
    if (!passed)
        tdc_text_adds(&row->message, "ERROR: ULP误差不满足标准\n");
}

static void by_benchmark(struct row *row)
{
    static const struct {
        int column;
        const char *source, *title;
        double limit;
        bool judged;
    } parts[] = {{COLUMN_SMALL, "小值域错误占比", "小值域错误比值", 2, true},
                 {COLUMN_RMSE, "均方根误差", "均方根误差比值", 2, true},
                 {COLUMN_MAX_RELATIVE, "相对误差最大值", "相对误差最大值比值", 10, true},
                 {COLUMN_MEAN_RELATIVE, "相对误差平均值", "相对误差平均值比值", 2, true},
                 {COLUMN_BALANCE, "误差均衡性", "误差均衡性比值", 2, false}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        double a = npu(row, parts[i].source), b = gpu(row, parts[i].source);
        bool consistent = same_nonfinite(a, b);
        double value = consistent || !isfinite(a) || !isfinite(b) ? (double)NAN : ratio(row, a, b);
        tdc_check before = row->status;
        put_number(row, parts[i].column, value);
        put_verdict(row, parts[i].column + 1, consistent || value <= parts[i].limit);
        if (consistent)
            tdc_text_addf(&row->message, "%s同为同号inf或nan\n", parts[i].title);
        else if (!(value <= parts[i].limit) && parts[i].judged)
            tdc_text_addf(&row->message, "ERROR: %s超过阈值\n", parts[i].title);
        if (!parts[i].judged)
            row->status = before;
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* "add" of Tensor.add.0.forward.output.0 */
static void api_name(const char *row_name, char name[128])
{
    const char *first = strchr(row_name, '.');
    const char *last = row_name + strlen(row_name);
    for (int part = 0; part < 4 && last > row_name; part++)
        while (last > row_name && *--last != '.')
            continue;
    if (first == NULL || last <= first)
        snprintf(name, 128, "%s", "");
    else
        snprintf(name, 128, "%.*s", (int)(last - first - 1), first + 1);
}

static void skip(struct row *row, const char *message)
{
    row->status = TDC_CHECK_SKIP;
    tdc_text_adds(&row->message, message);
}

static void judge(struct row *row)
{
    static void (*const judges[])(struct row *) = {
        [TDC_BY_BENCHMARK] = by_benchmark,   [TDC_BY_BINARY] = by_binary,
        [TDC_BY_ABSOLUTE] = by_absolute,     [TDC_BY_ULP] = by_ulp,
        [TDC_BY_THOUSANDTH] = by_thousandth, [TDC_BY_ACCUMULATIVE] = by_accumulative};
    const char *status = tdc_csv_cell(row->npu, tdc_csv_column(row->npu_table, "Status"));
    const char *dtype = tdc_csv_cell(row->npu, tdc_csv_column(row->npu_table, "DEVICE Dtype"));
    const char *shape = tdc_csv_cell(row->npu, tdc_csv_column(row->npu_table, "Shape"));
    row->dtype = tdc_recorded_dtype(dtype);
    row->status = TDC_CHECK_PASS;
    if (strcmp(status, "SKIP") == 0) {
        skip(row, tdc_csv_cell(row->npu, tdc_csv_column(row->npu_table, "Message")));
    } else if (row->dtype == TDC_DTYPE_NONE || row->dtype == TDC_F64 ||
               strcmp(shape, "(0,)") == 0) {
        skip(row, "This data type does not support benchmark compare.");
    } else {
        char name[128];
        api_name(tdc_csv_cell(row->npu, 0), name);
        enum tdc_api_standard standard = tdc_api_standard(name, row->dtype);
        judges[standard](row);
        snprintf(row->cells[COLUMN_METHOD], CELL_TEXT, "%s", tdc_api_standard_title(standard));
        if (row->status == TDC_CHECK_ERROR && strcmp(name, "topk") == 0)
            tdc_text_adds(&row->message,
                          "请检查topk的sorted参数，若sorted=False，输出的顺序可能不同\n");
    }
}

static void add_row(struct tdc_text *details, const struct row *row)
{
    tdc_csv_field(details, tdc_csv_cell(row->npu, 0));
    for (int i = 1; i < COLUMN_RESULT; i++)
        tdc_text_addf(details, ",%s", row->cells[i]);
    tdc_text_addf(details, ",%s,%s,", tdc_check_text(row->status), row->cells[COLUMN_METHOD]);
    tdc_csv_field(details, tdc_text_get(&row->message));
    tdc_text_adds(details, "\r\n");
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The verdicts of one call while its rows pass by. */
struct call {
    char name[256];
    tdc_check statuses[TDC_DIRECTIONS];
    char message[512];
};

static void end_call(struct tdc_text *result, struct call *call)
{
    if (call->name[0] == '\0')
        return;
    tdc_csv_field(result, call->name);
    for (int d = 0; d < TDC_DIRECTIONS; d++)
        tdc_text_addf(result, ",%s",
                      call->statuses[d] == TDC_CHECK_NONE ? " "
                                                          : tdc_check_text(call->statuses[d]));
    tdc_text_addc(result, ',');
    tdc_csv_field(result, call->message);
    tdc_text_adds(result, "\r\n");
    *call = (struct call){0};
}

/* Worse wins; SKIP only stays when nothing else comes. */
static tdc_check worse(tdc_check a, tdc_check b)
{
    if (a == TDC_CHECK_NONE || a == TDC_CHECK_SKIP)
        return b;
    return b == TDC_CHECK_SKIP || a > b ? a : b;
}

static void count_row(struct tdc_text *result, struct call *call, const struct row *row)
{
    const char *name = tdc_csv_cell(row->npu, 0);
    size_t length = strlen(name);
    const char *dots[3] = {name + length, name + length, name + length};
    for (int part = 0; part < 3; part++) {
        const char *end = part == 0 ? name + length : dots[part - 1];
        const char *dot = memrchr(name, '.', (size_t)(end - name));
        dots[part] = dot != NULL ? dot : end;
    }
    char wanted[256];
    snprintf(wanted, sizeof wanted, "%.*s", (int)(dots[2] - name), name);
    if (strcmp(wanted, call->name) != 0) {
        end_call(result, call);
        memcpy(call->name, wanted, sizeof wanted);
    }
    bool backward = strncmp(dots[2], ".backward", 9) == 0;
    tdc_check *status = &call->statuses[backward ? TDC_BACKWARD : TDC_FORWARD];
    *status = worse(*status, row->status);
    if (!backward && row->status == TDC_CHECK_SKIP)
        snprintf(call->message, sizeof call->message, "%s", tdc_text_get(&row->message));
}

/* ---- the files ------------------------------------------------------------------------------- */

struct work {
    struct tdc_csv_table npu, gpu;
    struct tdc_name_table gpu_rows;
    struct tdc_text details, result;
};

static tdc_status index_rows(const struct tdc_csv_table *table, const char *path,
                             struct tdc_name_table *names, struct tdc_error *error)
{
    static const char *const needed[] = {"API Name", "DEVICE Dtype", "Shape", "Status", "Message"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (tdc_csv_column(table, needed[i]) == SIZE_MAX)
            return tdc_fail(error, TDC_ERR_REFUSED, "%s: no column %s", path, needed[i]);
    for (size_t i = 1; i < table->count; i++) {
        const char *name = tdc_csv_cell(&table->lines[i], 0);
        bool fresh;
        if (tdc_names_put(names, name, strlen(name), &fresh) == TDC_NAME_NONE)
            return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
        if (!fresh)
            return tdc_fail(error, TDC_ERR_REFUSED, "%s: %s occurs twice", path, name);
    }
    return TDC_OK;
}

static void compare_rows(struct work *work,
                         void (*message)(void *context, tdc_message_level level, const char *text),
                         void *context)
{
    struct call call = {0};
    for (size_t i = 1; i < work->npu.count; i++) {
        const char *name = tdc_csv_cell(&work->npu.lines[i], 0);
        uint32_t number = tdc_names_find(&work->gpu_rows, name, strlen(name));
        if (number == TDC_NAME_NONE) {
            char text[512];
            snprintf(text, sizeof text, "This API : %.300s does not exist in the GPU data.", name);
            if (message != NULL)
                message(context, TDC_MESSAGE_WARNING, text);
            continue;
        }
        struct row row = {.npu = &work->npu.lines[i],
                          .gpu = &work->gpu.lines[number + 1],
                          .npu_table = &work->npu,
                          .gpu_table = &work->gpu};
        for (int c = 0; c < COLUMNS; c++)
            strcpy(row.cells[c], " ");
        tdc_text_init(&row.message, ROW_LIMIT);
        judge(&row);
        add_row(&work->details, &row);
        count_row(&work->result, &call, &row);
        tdc_text_free(&row.message);
    }
    end_call(&work->result, &call);
}

static tdc_status write_file(const char *folder, const char *kind, const char *stamp,
                             const char *header, const struct tdc_text *rows,
                             struct tdc_error *error)
{
    char *path;
    if (asprintf(&path, "%s/api_precision_compare_%s_%s.csv", folder, kind, stamp) < 0)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    struct tdc_out_file file;
    struct tdc_byte_writer writer = {0};
    tdc_status status = tdc_out_file_open(path, &file, error);
    if (status == TDC_OK && !tdc_byte_writer_start(&writer, file.fd)) {
        tdc_out_file_discard(&file);
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    }
    if (status == TDC_OK) {
        TDC_PUT_LITERAL(&writer, "\xef\xbb\xbf");
        tdc_put(&writer, header, strlen(header));
        tdc_put(&writer, tdc_text_get(rows), rows->length);
        bool flushed = tdc_byte_writer_flush(&writer);
        status = flushed ? tdc_out_file_commit(&file, error)
                         : tdc_fail_errno(error, TDC_ERR_WRITE, writer.failure, "%s", path);
        if (!flushed)
            tdc_out_file_discard(&file);
    }
    tdc_byte_writer_free(&writer);
    free(path);
    return status;
}

static tdc_status write_files(const struct work *work, const char *folder, struct tdc_error *error)
{
    char stamp[32];
    time_t now = time(NULL);
    struct tm local;
    localtime_r(&now, &local);
    strftime(stamp, sizeof stamp, "%Y%m%d%H%M%S", &local);
    if (work->details.failed || work->result.failed)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    tdc_status status = tdc_make_folders(folder, error);
    if (status == TDC_OK)
        status = write_file(folder, "details", stamp, details_header, &work->details, error);
    if (status == TDC_OK)
        status = write_file(folder, "result", stamp, tdc_result_header, &work->result, error);
    return status;
}

tdc_status
tdc_precision_compare(const char *npu_details, const char *gpu_details, const char *folder,
                      void (*message)(void *context, tdc_message_level level, const char *text),
                      void *context, struct tdc_error *error)
{
    struct work work = {0};
    struct tdc_name_table npu_rows;
    tdc_names_init(&npu_rows);
    tdc_names_init(&work.gpu_rows);
    tdc_text_init(&work.details, ROW_LIMIT);
    tdc_text_init(&work.result, ROW_LIMIT);
    tdc_status status = tdc_csv_table_read(npu_details, &work.npu, error);
    if (status == TDC_OK)
        status = tdc_csv_table_read(gpu_details, &work.gpu, error);
    if (status == TDC_OK)
        status = index_rows(&work.npu, npu_details, &npu_rows, error);
    if (status == TDC_OK)
        status = index_rows(&work.gpu, gpu_details, &work.gpu_rows, error);
    if (status == TDC_OK) {
        compare_rows(&work, message, context);
        status = write_files(&work, folder, error);
    }
    tdc_csv_table_free(&work.npu);
    tdc_csv_table_free(&work.gpu);
    tdc_names_free(&npu_rows);
    tdc_names_free(&work.gpu_rows);
    tdc_text_free(&work.details);
    tdc_text_free(&work.result);
    return status;
}
