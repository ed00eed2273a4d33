#include "host/precheck/run/json_details.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"
#include "io/text/pytext.h"
#include "io/base/text.h"

#define HEAD_LIMIT ((size_t)1 << 20)
#define GAPS_LIMIT ((size_t)16 << 20)

static void quoted(struct tdc_text *text, const char *string)
{
    tdc_text_addc(text, '"');
    for (; *string != '\0'; string++) {
        if (*string == '"' || *string == '\\')
            tdc_text_addc(text, '\\');
        tdc_text_addc(text, (unsigned char)*string < 0x20 ? ' ' : *string);
    }
    tdc_text_addc(text, '"');
}

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
    char cosine[TDC_FLOAT_TEXT], max_abs[TDC_FLOAT_TEXT];
    tdc_float_repr(options->cosine, cosine);
    tdc_float_repr(options->max_abs_err, max_abs);
    tdc_text_init(&head, HEAD_LIMIT);
    tdc_text_adds(&head, "{\"dump\": ");
    quoted(&head, dump);
    tdc_text_addf(&head,
                  ", \"tested\": \"%s\", \"profile\": \"%s\", \"standard\": \"%s\", "
                  "\"bench_round\": \"%s\", \"max_abs_err\": %s, "
                  "\"cosine\": %s,\n \"rows\": [",
                  executor != NULL ? executor : "recorded",
                  options->profile == TDC_PROFILE_COMPAT ? "compat" : "extended",
                  options->standard == TDC_STANDARD_PYTORCH ? "pytorch" : "cosine",
                  roundings[options->bench_round], max_abs, cosine);
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

static void put_number(struct tdc_text *text, const char *name, double number)
{
    char digits[TDC_FLOAT_TEXT] = "null";
    if (number >= 0 && isfinite(number))
        tdc_float_repr(number, digits);
    tdc_text_addf(text, ", \"%s\": %s", name, digits);
}

static void put_api(struct tdc_json_details *details, const struct tdc_precheck_api *api,
                    bool first)
{
    struct tdc_text text;
    tdc_text_init(&text, HEAD_LIMIT);
    tdc_text_adds(&text, first ? "\n  {\"api\": " : ",\n  {\"api\": ");
    quoted(&text, api->name);
    tdc_text_addf(&text, ", \"calls\": %llu, \"failing\": %llu, \"skipped\": %llu",
                  (unsigned long long)api->calls, (unsigned long long)api->failing,
                  (unsigned long long)api->skipped);
    put_number(&text, "worst_ulp", api->worst_ulp);
    put_number(&text, "worst_abs_err", api->worst_abs);
    tdc_text_adds(&text, ", \"worst_call\": ");
    quoted(&text, api->worst_call != NULL ? api->worst_call : "");
    tdc_text_adds(&text, ", \"skip_reason\": ");
    quoted(&text, api->skip_reason != NULL ? api->skip_reason : "");
    tdc_text_addc(&text, '}');
    put_text(details, &text);
    tdc_text_free(&text);
}

static void put_checked(struct tdc_json_details *details,
                        const struct tdc_precheck_summary *summary, const struct tdc_gaps *gaps)
{
    struct tdc_text text;
    tdc_text_init(&text, GAPS_LIMIT);
    for (int d = 0; d < TDC_DIRECTIONS; d++) {
        const struct tdc_precheck_counts *counts =
            d == TDC_FORWARD ? &summary->forward : &summary->backward;
        tdc_text_addf(&text,
                      " \"%s\": {\"records\": %llu, \"checked\": %llu, \"failing\": %llu},\n",
                      tdc_direction_name[d], (unsigned long long)counts->records,
                      (unsigned long long)counts->checked, (unsigned long long)counts->failing);
    }
    tdc_text_adds(&text, " \"not_checked\": [");
    for (size_t i = 0; i < gaps->count; i++) {
        tdc_text_adds(&text, i == 0 ? "\n  {\"reason\": " : ",\n  {\"reason\": ");
        quoted(&text, gaps->gaps[i].reason);
        tdc_text_adds(&text, ", \"first\": ");
        quoted(&text, gaps->gaps[i].first);
        tdc_text_addf(&text, ", \"forward\": %llu, \"backward\": %llu, \"modules\": %s}",
                      (unsigned long long)gaps->gaps[i].forward,
                      (unsigned long long)gaps->gaps[i].backward,
                      gaps->gaps[i].is_module ? "true" : "false");
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
