#include "bench/tools/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bench/tools/machine.h"
#include "io/base/error.h"
#include "io/base/utf8_step.h"

#define MOST_TEXT ((size_t)64 << 20)

/* ---- json ------------------------------------------------------------------------------------ */

static void add_string(struct tdc_text *out, const char *text)
{
    tdc_text_addc(out, '"');
    for (size_t left = strlen(text), taken; left > 0; left -= taken, text += taken) {
        uint32_t character = tdc_utf8_step(text, left, &taken);
        if (character == TDC_UTF8_REPLACEMENT)
            tdc_text_adds(out, TDC_UTF8_REPLACEMENT_TEXT);
        else if (character < 0x20 || character == '"' || character == '\\')
            tdc_text_addf(out, "\\u%04x", (unsigned)character);
        else
            tdc_text_add(out, text, taken);
    }
    tdc_text_addc(out, '"');
}

static void add_member(struct tdc_text *out, const char *key, const char *text)
{
    tdc_text_addf(out, "\"%s\": ", key);
    if (text == NULL)
        tdc_text_adds(out, "null");
    else
        add_string(out, text);
}

static void add_json_row(struct tdc_report *report, const struct tdc_report_value *values)
{
    struct tdc_text *out = &report->rows;
    tdc_text_adds(out, out->length > 0 ? ",\n  {" : "\n  {");
    for (size_t i = 0; i < report->head.column_count; i++) {
        const struct tdc_report_column *column = &report->head.columns[i];
        if (i > 0)
            tdc_text_adds(out, ", ");
        if (column->decimals == TDC_COLUMN_TEXT)
            add_member(out, column->key, values[i].text);
        else if (isfinite(values[i].number))
            tdc_text_addf(out, "\"%s\": %.10g", column->key, values[i].number);
        else
            tdc_text_addf(out, "\"%s\": null", column->key);
    }
    tdc_text_addc(out, '}');
}

static void add_machine(struct tdc_text *out)
{
    struct tdc_machine machine;
    tdc_machine_describe(&machine);
    tdc_text_adds(out, " \"machine\": {");
    add_member(out, "cpu", machine.cpu);
    tdc_text_addf(out, ", \"processors\": %d, \"memory_bytes\": %" PRIu64 ", ", machine.processors,
                  machine.memory);
    add_member(out, "system", machine.system);
    tdc_text_adds(out, ", \"load\": ");
    tdc_text_adds(out, machine.load[0] != '\0' ? machine.load : "null");
    tdc_text_adds(out, ", \"device\": \"cpu\", ");
    add_member(out, "cpu_variant", machine.model);
    tdc_text_adds(out, "},\n");
}

static void add_settings(struct tdc_text *out, const struct tdc_report_head *head)
{
    char system[32];
    if (head->folder != NULL)
        tdc_file_system_name(head->folder, system, sizeof system);
    tdc_text_addf(out, " \"settings\": {\"threads\": %d, \"repeat\": %u, ", head->threads,
                  head->repeat);
    add_member(out, "rules", head->rules);
    tdc_text_adds(out, ", ");
    add_member(out, "io", head->io);
    tdc_text_adds(out, ", ");
    add_member(out, "folder", head->folder);
    tdc_text_adds(out, ", ");
    add_member(out, "file_system", head->folder != NULL ? system : NULL);
    tdc_text_adds(out, ", ");
    add_member(out, "file_state", head->file_state);
    tdc_text_adds(out, "},\n");
}

static bool print_json(const struct tdc_report *report)
{
    struct tdc_text out;
    tdc_text_init(&out, MOST_TEXT);
    tdc_text_adds(&out, "{");
    add_member(&out, "program", "tdcmp");
    tdc_text_adds(&out, ", ");
    add_member(&out, "version", tdc_version());
    tdc_text_adds(&out, ", ");
    add_member(&out, "command", report->head.command);
    tdc_text_adds(&out, ",\n");
    add_machine(&out);
    add_settings(&out, &report->head);
    tdc_text_addf(&out, " \"rows\": [");
    tdc_text_adds(&out, tdc_text_get(&report->rows));
    tdc_text_adds(&out, "\n ],\n \"notes\": [");
    tdc_text_adds(&out, tdc_text_get(&report->notes));
    tdc_text_adds(&out, "]}\n");
    bool complete = !out.failed && !report->rows.failed && !report->notes.failed;
    if (complete)
        fputs(tdc_text_get(&out), stdout);
    tdc_text_free(&out);
    return complete;
}

/* ---- for people ------------------------------------------------------------------------------ */

static void print_head(const struct tdc_report_head *head)
{
    struct tdc_machine machine;
    char system[32];
    tdc_machine_describe(&machine);
    printf("tdcmp %s %s\n", tdc_version(), head->command);
    printf("machine: %s, %d processor%s, %.1f GB, %s%s%s\n", machine.cpu, machine.processors,
           machine.processors == 1 ? "" : "s", (double)machine.memory / 1e9, machine.system,
           machine.load[0] != '\0' ? ", load " : "", machine.load);
    printf("device cpu, %s kernels, %d thread%s", machine.model, head->threads,
           head->threads == 1 ? "" : "s");
    if (head->rules != NULL)
        printf(", rules %s", head->rules);
    if (head->io != NULL)
        printf(", io %s", head->io);
    printf(", fastest of %u\n", head->repeat);
    if (head->folder != NULL) {
        tdc_file_system_name(head->folder, system, sizeof system);
        printf("files%s%s in %s (%s)\n", head->file_state != NULL ? " " : "",
               head->file_state != NULL ? head->file_state : "", head->folder, system);
    }
    putchar('\n');
}

static void print_titles(const struct tdc_report_head *head)
{
    for (size_t i = 0; i < head->column_count; i++) {
        const struct tdc_report_column *column = &head->columns[i];
        int width = column->decimals == TDC_COLUMN_TEXT ? -column->width : column->width;
        printf("%s%*s", i > 0 ? " " : "", width, column->title);
    }
    putchar('\n');
}

static void print_row(const struct tdc_report_head *head, const struct tdc_report_value *values)
{
    for (size_t i = 0; i < head->column_count; i++) {
        const struct tdc_report_column *column = &head->columns[i];
        const char *gap = i > 0 ? " " : "";
        if (column->decimals == TDC_COLUMN_TEXT)
            printf("%s%-*s", gap, column->width, values[i].text != NULL ? values[i].text : "-");
        else if (!isfinite(values[i].number))
            printf("%s%*s", gap, column->width, "-");
        else if (column->decimals == TDC_COLUMN_SCIENTIFIC)
            printf("%s%*.1e", gap, column->width, values[i].number);
        else
            printf("%s%*.*f", gap, column->width, column->decimals, values[i].number);
    }
    putchar('\n');
    fflush(stdout);
}

/* ---- all ------------------------------------------------------------------------------------- */

void tdc_report_start(struct tdc_report *report, const struct tdc_report_head *head)
{
    report->head = *head;
    tdc_text_init(&report->rows, MOST_TEXT);
    tdc_text_init(&report->notes, MOST_TEXT);
    if (head->json)
        return;
    print_head(head);
    print_titles(head);
    fflush(stdout);
}

void tdc_report_row(struct tdc_report *report, const struct tdc_report_value *values)
{
    if (report->head.json)
        add_json_row(report, values);
    else
        print_row(&report->head, values);
}

void tdc_report_note(struct tdc_report *report, const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (!report->head.json) {
        tdc_text_addf(&report->notes, "%s\n", line);
        return;
    }
    if (report->notes.length > 0)
        tdc_text_adds(&report->notes, ", ");
    add_string(&report->notes, line);
}

tdc_status tdc_report_end(struct tdc_report *report, struct tdc_error *error)
{
    tdc_status status = TDC_OK;
    if (!report->head.json)
        printf("\n%s", tdc_text_get(&report->notes));
    else if (!print_json(report))
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the report");
    if (fflush(stdout) != 0 && status == TDC_OK)
        status = tdc_fail_errno(error, TDC_ERR_WRITE, errno, "standard output");
    tdc_report_drop(report);
    return status;
}

void tdc_report_drop(struct tdc_report *report)
{
    tdc_text_free(&report->rows);
    tdc_text_free(&report->notes);
}
