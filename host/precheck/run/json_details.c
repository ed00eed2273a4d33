#include "host/precheck/run/json_details.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"
#include "io/table/json_object.h"
#include "io/base/text.h"

#define HEAD_LIMIT ((size_t)1 << 20)
#define GAPS_LIMIT ((size_t)16 << 20)

/* A text that could not be made is a failure of the file. */
static void put_text(struct tdc_json_details *details, const struct tdc_text *text)
{
    if (text->failed && details->writer.failure == 0)
        details->writer.failure = ENOMEM;
    tdc_put(&details->writer, tdc_text_get(text), text->length);
}

static void put_head(struct tdc_json_details *details, const char *dump, const char *executor,
                     const struct tdc_precheck_options *options)
{
    static const char *const roundings[] = {"auto", "none", "tested"};
    struct tdc_text head;
    struct tdc_json_object object;
    tdc_text_init(&head, HEAD_LIMIT);
    tdc_object_begin(&object, &head);
    tdc_object_text(&object, "schema", "tdcmp.precheck/1");
    tdc_object_text(&object, "version", tdc_version());
    tdc_object_text(&object, "dump", dump);
    tdc_object_text(&object, "tested", executor != NULL ? executor : "recorded");
    tdc_object_text(&object, "profile",
                    options->profile == TDC_PROFILE_COMPAT ? "compat" : "extended");
    tdc_object_text(&object, "standard",
                    options->standard == TDC_STANDARD_PYTORCH ? "pytorch" : "cosine");
    tdc_object_text(&object, "bench_round", roundings[options->bench_round]);
    tdc_object_number(&object, "max_abs_err", options->max_abs_err);
    tdc_object_number(&object, "cosine", options->cosine);
    tdc_text_adds(&head, ",\n \"rows\": [");
    put_text(details, &head);
    tdc_text_free(&head);
}

tdc_status tdc_json_details_start(struct tdc_json_details *details, const char *path,
                                  const char *dump, const char *executor,
                                  const struct tdc_precheck_options *options,
                                  struct tdc_error *error)
{
    memset(details, 0, sizeof *details);
    tdc_status status = tdc_out_file_open(path, &details->file, error);
    if (status != TDC_OK)
        return status;
    if (!tdc_byte_writer_start(&details->writer, details->file.fd)) {
        tdc_out_file_discard(&details->file);
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    }
    details->open = details->first = true;
    put_head(details, dump, executor, options);
    return TDC_OK;
}

void tdc_json_details_add(struct tdc_json_details *details, const char *rows, size_t length)
{
    if (!details->open || length == 0)
        return;
    /* the comma before the very first row */
    tdc_put(&details->writer, rows + details->first, length - details->first);
    details->first = false;
}

/* Negative: nothing was measured. */
static void put_measure(struct tdc_json_object *object, const char *name, double number)
{
    if (number < 0)
        tdc_object_null(object, name);
    else
        tdc_object_number(object, name, number);
}

static void put_api(struct tdc_json_details *details, const struct tdc_precheck_api *api,
                    bool first)
{
    struct tdc_text text;
    struct tdc_json_object object;
    tdc_text_init(&text, HEAD_LIMIT);
    tdc_text_adds(&text, first ? "\n  " : ",\n  ");
    tdc_object_begin(&object, &text);
    tdc_object_text(&object, "api", api->name);
    tdc_object_whole(&object, "calls", api->calls);
    tdc_object_whole(&object, "failing", api->failing);
    tdc_object_whole(&object, "skipped", api->skipped);
    put_measure(&object, "worst_ulp", api->worst_ulp);
    put_measure(&object, "worst_abs_err", api->worst_abs);
    tdc_object_text(&object, "worst_call", api->worst_call != NULL ? api->worst_call : "");
    tdc_object_text(&object, "skip_reason", api->skip_reason != NULL ? api->skip_reason : "");
    tdc_object_end(&object);
    put_text(details, &text);
    tdc_text_free(&text);
}

static void put_checked(struct tdc_json_details *details,
                        const struct tdc_precheck_summary *summary, const struct tdc_gaps *gaps)
{
    struct tdc_text text;
    struct tdc_json_object object;
    tdc_text_init(&text, GAPS_LIMIT);
    for (int d = 0; d < TDC_DIRECTIONS; d++) {
        const struct tdc_precheck_counts *counts =
            d == TDC_FORWARD ? &summary->forward : &summary->backward;
        tdc_text_addf(&text, " \"%s\": ", tdc_direction_name[d]);
        tdc_object_begin(&object, &text);
        tdc_object_whole(&object, "records", counts->records);
        tdc_object_whole(&object, "checked", counts->checked);
        tdc_object_whole(&object, "failing", counts->failing);
        tdc_object_end(&object);
        tdc_text_adds(&text, ",\n");
    }
    tdc_text_adds(&text, " \"not_checked\": [");
    for (size_t i = 0; i < gaps->count; i++) {
        tdc_text_adds(&text, i == 0 ? "\n  " : ",\n  ");
        tdc_object_begin(&object, &text);
        tdc_object_text(&object, "reason", gaps->gaps[i].reason);
        tdc_object_text(&object, "first", gaps->gaps[i].first);
        tdc_object_whole(&object, "forward", gaps->gaps[i].forward);
        tdc_object_whole(&object, "backward", gaps->gaps[i].backward);
        tdc_object_truth(&object, "modules", gaps->gaps[i].is_module);
        tdc_object_end(&object);
    }
    tdc_text_adds(&text, "\n ],\n");
    put_text(details, &text);
    tdc_text_free(&text);
}

tdc_status tdc_json_details_end(struct tdc_json_details *details,
                                const struct tdc_precheck_summary *summary,
                                const struct tdc_gaps *gaps, const struct tdc_api_summary *apis,
                                struct tdc_error *error)
{
    if (!details->open)
        return TDC_OK;
    TDC_PUT_LITERAL(&details->writer, "\n ],\n");
    put_checked(details, summary, gaps);
    TDC_PUT_LITERAL(&details->writer, " \"apis\": [");
    for (size_t i = 0; i < apis->count; i++)
        put_api(details, &apis->apis[i].api, i == 0);
    TDC_PUT_LITERAL(&details->writer, "\n ]}\n");
    bool flushed = tdc_byte_writer_flush(&details->writer);
    int failure = details->writer.failure;
    if (!flushed) {
        tdc_status status = tdc_fail_errno(error, TDC_ERR_WRITE, failure, "%s", details->file.path);
        tdc_json_details_discard(details);
        return status;
    }
    tdc_byte_writer_free(&details->writer);
    details->open = false;
    return tdc_out_file_commit(&details->file, error);
}

void tdc_json_details_discard(struct tdc_json_details *details)
{
    if (!details->open)
        return;
    tdc_byte_writer_free(&details->writer);
    tdc_out_file_discard(&details->file);
    details->open = false;
}
