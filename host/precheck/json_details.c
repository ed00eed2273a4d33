#include "host/precheck/json_details.h"

#include <stdlib.h>
#include <string.h>

#include "io/error.h"
#include "io/pytext.h"
#include "io/text.h"

#define HEAD_LIMIT ((size_t)1 << 20)

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

static void put_head(struct tdc_json_details *details, const char *dump,
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
                  ", \"profile\": \"%s\", \"bench_round\": \"%s\", \"max_abs_err\": %s, "
                  "\"cosine\": %s,\n \"rows\": [",
                  options->profile == TDC_PROFILE_COMPAT ? "compat" : "extended",
                  roundings[options->bench_round], max_abs, cosine);
    tdc_put(&details->writer, tdc_text_get(&head), head.length);
    tdc_text_free(&head);
}

tdc_status tdc_json_details_start(struct tdc_json_details *details, const char *path,
                                  const char *dump, const struct tdc_precheck_options *options,
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
    put_head(details, dump, options);
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

tdc_status tdc_json_details_end(struct tdc_json_details *details, struct tdc_error *error)
{
    if (!details->open)
        return TDC_OK;
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
