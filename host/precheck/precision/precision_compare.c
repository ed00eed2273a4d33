/* precision_compare.c - two details files of the PyTorch standards, device against GPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/base/name_table.h"
#include "host/precheck/calls/calls.h"
#include "host/precheck/files/row_text.h"
#include "host/precheck/precision/precision_verdict.h"
#include "io/file/byte_writer.h"
#include "io/base/error.h"
#include "io/file/out_file.h"
#include "io/text/csv_field.h"

#define ROW_LIMIT ((size_t)1 << 30)

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

static void end_call(struct tdc_text *result, struct call *call)
{
    tdc_check forward = call->statuses[TDC_FORWARD], backward = call->statuses[TDC_BACKWARD];
    const char *message = forward == TDC_CHECK_SKIP ? call->message : "";
    if (forward == TDC_CHECK_ERROR && is_topk(call->name))
        message =
            "在npu上，topk的入参sorted=False时不生效，会返回有序tensor，而cpu上会返回无序tensor"
            "。 如果topk精度不达标，请检查是否是该原因导致的。";
    if (call->name[0] != '\0' && call->unsupported)
        add_result(result, call->name, "SKIP", "SKIP",
                   "This data type does not support benchmark compare.");
    else if (call->name[0] != '\0')
        add_result(result, call->name, status_text(forward), status_text(backward), message);
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

static void count_row(struct tdc_text *result, struct call *call,
                      const struct tdc_precision_row *row)
{
    const char *name = tdc_text_cell(row->npu, 0);
    if (row->failure != NULL) {
        add_result(result, name, "SKIP", "SKIP", row->failure);
        return;
    }
    char wanted[256];
    bool backward = strncmp(split_call(name, wanted), ".backward", 9) == 0;
    if (strcmp(wanted, call->name) != 0) {
        end_call(result, call);
        memcpy(call->name, wanted, sizeof wanted);
    }
    call->unsupported = tdc_precision_unsupported(row);
    if (call->unsupported)
        return;
    tdc_check *status = &call->statuses[backward ? TDC_BACKWARD : TDC_FORWARD];
    *status = worse(*status, row->status);
    if (!backward)
        snprintf(call->message, sizeof call->message, "%s",
                 row->status == TDC_CHECK_SKIP ? tdc_text_get(&row->message) : "");
}

/* ---- the files ------------------------------------------------------------------------------- */

struct work {
    struct tdc_text_table npu, gpu;
    struct tdc_name_table gpu_rows;
    struct tdc_text details, result;
};

static tdc_status index_rows(const struct tdc_text_table *table, const char *path,
                             struct tdc_name_table *names, struct tdc_error *error)
{
    static const char *const needed[] = {"API Name", "DEVICE Dtype", "Shape", "Status", "Message"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (tdc_text_column(table, needed[i]) == SIZE_MAX)
            return tdc_fail(error, TDC_ERR_REFUSED, "%s: no column %s", path, needed[i]);
    for (size_t i = 1; i < table->count; i++) {
        const char *name = tdc_text_cell(&table->rows[i], 0);
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
        const char *name = tdc_text_cell(&work->npu.rows[i], 0);
        uint32_t number = tdc_names_find(&work->gpu_rows, name, strlen(name));
        if (number == TDC_NAME_NONE) {
            char text[512];
            snprintf(text, sizeof text, "This API : %.300s does not exist in the GPU data.", name);
            if (message != NULL)
                message(context, TDC_MESSAGE_WARNING, text);
            continue;
        }
        struct tdc_precision_row row = {.npu = &work->npu.rows[i],
                                        .gpu = &work->gpu.rows[number + 1],
                                        .npu_table = &work->npu,
                                        .gpu_table = &work->gpu};
        tdc_judge_precision(&row);
        tdc_precision_text(&work->details, &row);
        count_row(&work->result, &call, &row);
        work->details.failed |= row.message.failed;
        tdc_text_free(&row.message);
    }
    end_call(&work->result, &call);
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

/* Both or none: one without the other is no result. */
static tdc_status write_both(const struct work *work, const char *details, const char *result,
                             struct tdc_error *error)
{
    if (details == NULL || result == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    tdc_status status = write_file(details, tdc_precision_header, &work->details, error);
    if (status != TDC_OK)
        return status;
    status = write_file(result, tdc_result_header, &work->result, error);
    if (status != TDC_OK)
        unlink(details);
    return status;
}

static tdc_status write_files(const struct work *work, const char *folder, struct tdc_error *error)
{
    if (work->details.failed || work->result.failed)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    tdc_stamp *stamp = NULL;
    tdc_status status = tdc_make_folders(folder, error);
    if (status == TDC_OK)
        status = tdc_stamp_new(folder, &stamp, error);
    char *details = NULL, *result = NULL;
    bool taken = true;
    while (status == TDC_OK && taken) {
        free(details);
        free(result);
        details = file_path(folder, "details", tdc_stamp_text(stamp));
        result = file_path(folder, "result", tdc_stamp_text(stamp));
        taken = details != NULL && result != NULL &&
                (access(details, F_OK) == 0 || access(result, F_OK) == 0);
        if (taken)
            status = tdc_stamp_next(stamp, error);
    }
    if (status == TDC_OK)
        status = write_both(work, details, result, error);
    free(details);
    free(result);
    tdc_stamp_free(stamp);
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
    tdc_status status = tdc_text_table_from_csv(npu_details, &work.npu, error);
    if (status == TDC_OK)
        status = tdc_text_table_from_csv(gpu_details, &work.gpu, error);
    if (status == TDC_OK)
        status = index_rows(&work.npu, npu_details, &npu_rows, error);
    if (status == TDC_OK)
        status = index_rows(&work.gpu, gpu_details, &work.gpu_rows, error);
    if (status == TDC_OK) {
        compare_rows(&work, message, context);
        status = write_files(&work, folder, error);
    }
    tdc_text_table_free(&work.npu);
    tdc_text_table_free(&work.gpu);
    tdc_names_free(&npu_rows);
    tdc_names_free(&work.gpu_rows);
    tdc_text_free(&work.details);
    tdc_text_free(&work.result);
    return status;
}
