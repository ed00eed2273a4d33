#include "host/cli/analysis/json_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/text/json_write.h"
#include "tdcmp.h"

#define REPORT_LIMIT ((size_t)4 << 30)

static void begin_value(struct tdc_json_report *report, const char *name)
{
    if (report->begun)
        tdc_text_addc(&report->text, ',');
    if (report->depth > 0)
        tdc_json_put_line(&report->text, 1, report->depth);
    report->begun = true;
    if (name != NULL) {
        tdc_json_put_text(&report->text, name, strlen(name));
        tdc_text_adds(&report->text, ": ");
    }
}

void tdc_json_report_open(struct tdc_json_report *report, const char *name, char bracket)
{
    begin_value(report, name);
    tdc_text_addc(&report->text, bracket);
    report->depth++;
    report->begun = false;
}

void tdc_json_report_close(struct tdc_json_report *report, char bracket)
{
    report->depth--;
    if (report->begun)
        tdc_json_put_line(&report->text, 1, report->depth);
    tdc_text_addc(&report->text, bracket);
    report->begun = true;
}

void tdc_json_report_text(struct tdc_json_report *report, const char *name, const char *text)
{
    begin_value(report, name);
    if (text != NULL)
        tdc_json_put_text(&report->text, text, strlen(text));
    else
        tdc_text_adds(&report->text, "null");
}

void tdc_json_report_number(struct tdc_json_report *report, const char *name, uint64_t number)
{
    begin_value(report, name);
    tdc_text_addf(&report->text, "%" PRIu64, number);
}

void tdc_json_report_bool(struct tdc_json_report *report, const char *name, bool value)
{
    begin_value(report, name);
    tdc_text_adds(&report->text, value ? "true" : "false");
}

void tdc_json_report_start(struct tdc_json_report *report, const char *schema)
{
    *report = (struct tdc_json_report){0};
    tdc_text_init(&report->text, REPORT_LIMIT);
    tdc_json_report_open(report, NULL, '{');
    tdc_json_report_text(report, "schema", schema);
    tdc_json_report_text(report, "version", tdc_version());
}

bool tdc_json_report_print(struct tdc_json_report *report)
{
    tdc_json_report_close(report, '}');
    bool whole = !report->text.failed;
    if (whole)
        puts(tdc_text_get(&report->text));
    tdc_text_free(&report->text);
    return whole;
}
