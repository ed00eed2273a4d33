/* members.c - members of the JSON objects of a page. */
#include <inttypes.h>
#include <string.h>

#include "host/report/report.h"
#include "io/table/sink.h"

void tdc_report_put_name(struct tdc_text *out, const char *name)
{
    bool first = out->length == 0 || out->data[out->length - 1] == '{';
    tdc_text_addf(out, "%s\"%s\": ", first ? "" : ", ", name);
}

void tdc_report_put_text(struct tdc_text *out, const char *name, const char *text)
{
    tdc_report_put_name(out, name);
    if (text != NULL)
        tdc_json_add_string(out, text, strlen(text));
    else
        tdc_text_adds(out, "null");
}

void tdc_report_put_number(struct tdc_text *out, const char *name, double number)
{
    tdc_report_put_name(out, name);
    tdc_json_add_number(out, number);
}

void tdc_report_put_count(struct tdc_text *out, const char *name, uint64_t count)
{
    tdc_report_put_name(out, name);
    tdc_text_addf(out, "%" PRIu64, count);
}

void tdc_report_put_truth(struct tdc_text *out, const char *name, bool truth)
{
    tdc_report_put_name(out, name);
    tdc_text_adds(out, truth ? "true" : "false");
}
