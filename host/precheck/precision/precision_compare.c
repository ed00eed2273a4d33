/* precision_compare.c - two details files of the PyTorch standards, device against GPU. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/dump/dump.h"
#include "io/base/name_table.h"
#include "host/precheck/calls/calls.h"
#include "host/precheck/precision/precision_verdict.h"
#include "host/precheck/files/row_text.h"
#include "io/file/byte_writer.h"
#include "io/base/error.h"
#include "io/file/out_file.h"
#include "io/storage/looking.h"
#include "io/storage/storage_calls.h"
#include "io/text/csv_field.h"

#define ROW_LIMIT ((size_t)1 << 30)

struct work {
    struct tdc_text_table npu, gpu;
    struct tdc_name_table gpu_rows;
    struct tdc_text details, result;
    char *details_path, *result_path;
    tdc_stamp *stamp;
    tdc_rules_id rules;
    enum tdc_column_kind binary_kind, relative_kind; /* of the device's columns */
    void (*message)(void *context, tdc_message_level level, const char *text);
    void *context;
};

__attribute__((format(printf, 3, 4))) static void
say(const struct work *work, tdc_message_level level, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (work->message != NULL)
        work->message(work->context, level, text);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The verdicts of one call while its rows pass by. */
struct call {
    char name[256];
    tdc_check statuses[TDC_DIRECTIONS];
    bool unsupported;  /* its last row has a dtype without a standard */
    char message[512]; /* of its last forward row, if that was skipped */
};

static void add_result(struct tdc_text *result, const char *name, const char *forward,
                       const char *backward, const char *message)
{
    tdc_csv_field(result, name);
    tdc_text_addf(result, ",%s,%s,", forward, backward);
    tdc_csv_field(result, message);
    tdc_text_adds(result, "\r\n");
}

static const char *status_text(tdc_check status)
{
    return status == TDC_CHECK_NONE ? " " : tdc_check_text(status);
}

/* "topk" of "Tensor.topk.0" */
static bool is_topk(const char *call)
{
    const char *dot = strchr(call, '.');
    return dot != NULL && strncmp(dot, ".topk.", 6) == 0 && strchr(dot + 6, '.') == NULL;
}

static void end_call(struct work *work, struct call *call)
{
    struct tdc_text *result = &work->result;
    tdc_check forward = call->statuses[TDC_FORWARD], backward = call->statuses[TDC_BACKWARD];
    const char *message = forward == TDC_CHECK_SKIP ? call->message : "";
    if (forward == TDC_CHECK_ERROR && is_topk(call->name))
        message =
            "在npu上，topk的入参sorted=False时不生效，会返回有序tensor，而cpu上会返回无序tensor"
            "。 如果topk精度不达标，请检查是否是该原因导致的。";
    if (call->unsupported) {
        forward = backward = TDC_CHECK_SKIP;
        message = "This data type does not support benchmark compare.";
    }
    if (call->name[0] != '\0') {
        add_result(result, call->name, status_text(forward), status_text(backward), message);
        say(work, TDC_MESSAGE_INFO,
            "running api_full_name %s compare, is_fwd_success: %s, is_bwd_success: %s", call->name,
            forward == TDC_CHECK_PASS ? "True" : "False",
            backward == TDC_CHECK_PASS || backward == TDC_CHECK_NONE ? "True" : "False");
    }
    *call = (struct call){0};
}

/* Worse wins; SKIP only stays when nothing else comes. */
static tdc_check worse(tdc_check a, tdc_check b)
{
    if (a == TDC_CHECK_NONE || a == TDC_CHECK_SKIP)
        return b;
    return b == TDC_CHECK_SKIP || a > b ? a : b;
}

/* "Tensor.add.0" of "Tensor.add.0.forward.output.0", and the direction's dot. */
static const char *split_call(const char *name, char call[256])
{
    const char *dot = name + strlen(name);
    for (int part = 0; part < 3; part++) {
        const char *before = memrchr(name, '.', (size_t)(dot - name));
        dot = before != NULL ? before : dot;
    }
    snprintf(call, 256, "%.*s", (int)(dot - name), name);
    return dot;
}

static void count_row(struct work *work, struct call *call, const struct tdc_precision_row *row)
{
    const char *name = tdc_text_cell(row->npu, 0);
    if (row->failure != NULL) {
        say(work, TDC_MESSAGE_ERROR, "Get api status error: %s", row->failure);
        add_result(&work->result, name, "SKIP", "SKIP", row->failure);
        return;
    }
    char wanted[256];
    const char *direction = split_call(name, wanted);
    bool forward = strncmp(direction, ".forward.", 9) == 0;
    bool backward = strncmp(direction, ".backward", 9) == 0;
    if (strcmp(wanted, call->name) != 0) {
        end_call(work, call);
        memcpy(call->name, wanted, sizeof wanted);
    }
    call->unsupported = tdc_precision_unsupported(row);
    if (call->unsupported)
        return;
    if (work->rules == TDC_RULES_COMPAT26 && !forward && !backward) {
        say(work, TDC_MESSAGE_ERROR, "Invalid direction status: %.*s",
            (int)strcspn(direction + 1, "."), direction + 1);
        return;
    }
    tdc_check *status = &call->statuses[backward ? TDC_BACKWARD : TDC_FORWARD];
    *status = worse(*status, row->status);
    if (!backward)
        snprintf(call->message, sizeof call->message, "%s",
                 row->status == TDC_CHECK_SKIP ? tdc_text_get(&row->message) : "");
}

/* ---- the files ------------------------------------------------------------------------------- */

/* Columns without which there is no verdict, by the rules: 2025 asks for few. */
static const char *const needed[] = {"API Name", "DEVICE Dtype", "Shape", "Status", "Message"};
static const char *const needed26[] = {
    "API Name",       "DEVICE Dtype",  "小值域错误占比",      "均方根误差",    "相对误差最大值",
    "相对误差平均值", "误差均衡性",    "二进制一致错误率",    "inf/nan错误率", "相对误差错误率",
    "绝对误差错误率", "ULP误差平均值", "ULP误差大于阈值占比", "双千指标",      "Shape",
    "Message"};

static tdc_status check_columns(const struct work *work, const struct tdc_text_table *table,
                                const char *path, const char *kind, struct tdc_error *error)
{
    bool newest = work->rules == TDC_RULES_COMPAT26;
    const char *const *names = newest ? needed26 : needed;
    size_t count = newest ? sizeof needed26 / sizeof *needed26 : sizeof needed / sizeof *needed;
    struct tdc_text missing;
    tdc_text_init(&missing, 4096);
    for (size_t i = 0; i < count; i++)
        if (tdc_text_column(table, names[i]) == SIZE_MAX)
            tdc_text_addf(&missing, "%s%s", missing.length != 0 ? "," : "", names[i]);
    tdc_status status = TDC_OK;
    if (missing.length != 0 && newest)
        status = tdc_fail(error, TDC_ERR_REFUSED, "The following columns %s are missing in%s",
                          tdc_text_get(&missing), kind);
    else if (missing.length != 0)
        status = tdc_fail(error, TDC_ERR_REFUSED, "%s: no column %s", path, tdc_text_get(&missing));
    tdc_text_free(&missing);
    return status;
}

static tdc_status index_rows(const struct work *work, const struct tdc_text_table *table,
                             const char *path, struct tdc_name_table *names,
                             struct tdc_error *error)
{
    for (size_t i = 1; i < table->count; i++) {
        const char *name = tdc_text_cell(&table->rows[i], 0);
        bool fresh;
        if (tdc_names_put(names, name, strlen(name), &fresh) == TDC_NAME_NONE)
            return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
        if (!fresh && work->rules != TDC_RULES_COMPAT26)
            return tdc_fail(error, TDC_ERR_REFUSED, "%s: %s occurs twice", path, name);
        if (!fresh)
            return tdc_fail(
                error, TDC_ERR_REFUSED,
                "Analyse csv Error: This API : %s has multiple records in the GPU data.", name);
    }
    return TDC_OK;
}

/* Names that 26.2 can take apart: six parts, or seven with a prefix of the API's name. */
static bool is_row_name(const char *name)
{
    int dots = 0;
    for (; *name != '\0'; name++)
        dots += *name == '.';
    return dots == 5 || dots == 6;
}

static void skip_name(struct work *work, const char *name)
{
    char text[512];
    snprintf(text, sizeof text, "The API name %.400s is invalid.", name);
    say(work, TDC_MESSAGE_ERROR, "%s", text);
    tdc_skipped_row_text(&work->details, name, text);
    add_result(&work->result, name, "SKIP", "SKIP", text);
}

static void compare_row(struct work *work, struct call *call, size_t line, size_t gpu_line)
{
    struct tdc_precision_row row = {.npu = &work->npu.rows[line],
                                    .gpu = &work->gpu.rows[gpu_line],
                                    .npu_table = &work->npu,
                                    .gpu_table = &work->gpu,
                                    .rules = work->rules,
                                    .binary_kind = work->binary_kind,
                                    .relative_kind = work->relative_kind};
    tdc_judge_precision(&row);
    tdc_precision_text(&work->details, &row);
    count_row(work, call, &row);
    work->details.failed |= row.message.failed;
    tdc_text_free(&row.message);
}

static tdc_status compare_rows(struct work *work, struct tdc_error *error)
{
    struct call call = {0};
    work->binary_kind =
        tdc_column_kind(&work->npu, tdc_text_column(&work->npu, "二进制一致错误率"));
    work->relative_kind =
        tdc_column_kind(&work->npu, tdc_text_column(&work->npu, "相对误差错误率"));
    for (size_t i = 1; i < work->npu.count; i++) {
        const char *name = tdc_text_cell(&work->npu.rows[i], 0);
        if (work->rules == TDC_RULES_COMPAT26 && tdc_runs_as_formula(name, strlen(name))) {
            say(work, TDC_MESSAGE_ERROR, "api name contains special characters, please check!");
            return tdc_fail(error, TDC_ERR_REFUSED, "Analyse csv Error: ");
        }
        uint32_t number = tdc_names_find(&work->gpu_rows, name, strlen(name));
        if (work->rules == TDC_RULES_COMPAT26 && !is_row_name(name))
            skip_name(work, name);
        else if (number == TDC_NAME_NONE)
            say(work, TDC_MESSAGE_WARNING, "This API : %.300s does not exist in the GPU data.",
                name);
        else
            compare_row(work, &call, i, number + 1);
    }
    end_call(work, &call);
    return TDC_OK;
}

static char *file_path(const char *folder, const char *kind, const char *stamp)
{
    char *path;
    if (asprintf(&path, "%s/api_precision_compare_%s_%s.csv", folder, kind, stamp) < 0)
        return NULL;
    return path;
}

static tdc_status write_file(const char *path, const char *header, const struct tdc_text *rows,
                             struct tdc_error *error)
{
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
        status = flushed ? tdc_out_file_commit_new(&file, error)
                         : tdc_fail_errno(error, TDC_ERR_WRITE, writer.failure, "%s", path);
        if (!flushed)
            tdc_out_file_discard(&file);
    }
    tdc_byte_writer_free(&writer);
    return status;
}

/* The names of both results; nothing is written yet. */
static tdc_status choose_names(struct work *work, const char *folder, struct tdc_error *error)
{
    tdc_status status = tdc_make_folders(folder, error);
    char *whole = NULL;
    int number = status == TDC_OK ? tdc_storage_realpath(folder, &whole) : 0;
    if (number != 0)
        status = tdc_fail_errno(error, TDC_ERR_WRITE, number, "%s", folder);
    if (status == TDC_OK)
        status = tdc_stamp_new(folder, &work->stamp, error);
    for (bool taken = true; status == TDC_OK && taken;) {
        free(work->details_path);
        free(work->result_path);
        work->details_path = file_path(whole, "details", tdc_stamp_text(work->stamp));
        work->result_path = file_path(whole, "result", tdc_stamp_text(work->stamp));
        if (work->details_path == NULL || work->result_path == NULL) {
            status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
            break;
        }
        taken = tdc_is_there(work->details_path) || tdc_is_there(work->result_path);
        if (taken)
            status = tdc_stamp_next(work->stamp, error);
    }
    free(whole);
    return status;
}

static tdc_status write_files(const struct work *work, struct tdc_error *error)
{
    if (work->details.failed || work->result.failed)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    tdc_status status = write_file(work->details_path, tdc_precision_header, &work->details, error);
    if (status == TDC_OK) {
        status = write_file(work->result_path, tdc_result_header, &work->result, error);
        if (status != TDC_OK)
            unlink(work->details_path); /* one without the other is no result */
    }
    return status;
}

static tdc_status read_sides(struct work *work, const char *npu_details, const char *gpu_details,
                             struct tdc_error *error)
{
    struct tdc_name_table npu_rows;
    tdc_names_init(&npu_rows);
    tdc_status status = tdc_text_table_from_csv(npu_details, &work->npu, error);
    if (status == TDC_OK)
        status = check_columns(work, &work->npu, npu_details, "npu_csv", error);
    if (status == TDC_OK)
        status = tdc_text_table_from_csv(gpu_details, &work->gpu, error);
    if (status == TDC_OK)
        status = check_columns(work, &work->gpu, gpu_details, "gpu_csv", error);
    if (status == TDC_OK && work->rules != TDC_RULES_COMPAT26)
        status = index_rows(work, &work->npu, npu_details, &npu_rows, error);
    if (status == TDC_OK)
        status = index_rows(work, &work->gpu, gpu_details, &work->gpu_rows, error);
    tdc_names_free(&npu_rows);
    return status;
}

tdc_status tdc_precision_compare(const char *npu_details, const char *gpu_details,
                                 const char *folder, tdc_rules_id rules,
                                 void (*message)(void *context, tdc_message_level level,
                                                 const char *text),
                                 void *context, struct tdc_error *error)
{
    struct work work = {.rules = rules, .message = message, .context = context};
    tdc_names_init(&work.gpu_rows);
    tdc_text_init(&work.details, ROW_LIMIT);
    tdc_text_init(&work.result, ROW_LIMIT);
    tdc_status status = choose_names(&work, folder, error);
    if (status == TDC_OK) {
        say(&work, TDC_MESSAGE_INFO, "Start compare task");
        say(&work, TDC_MESSAGE_INFO, "Compare task result will be saved in %s", work.result_path);
        say(&work, TDC_MESSAGE_INFO, "Compare task detail will be saved in %s", work.details_path);
        status = read_sides(&work, npu_details, gpu_details, error);
    }
    if (status == TDC_OK)
        status = compare_rows(&work, error);
    if (status == TDC_OK)
        status = write_files(&work, error);
    tdc_text_table_free(&work.npu);
    tdc_text_table_free(&work.gpu);
    tdc_names_free(&work.gpu_rows);
    tdc_text_free(&work.details);
    tdc_text_free(&work.result);
    free(work.details_path);
    free(work.result_path);
    tdc_stamp_free(work.stamp);
    return status;
}
