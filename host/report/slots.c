/* slots.c - what prechecks have judged: slots come from any thread, and are put in order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/report/report.h"

static const char *const check_words[TDC_CHECKS] = {
    [TDC_CHECK_NONE] = "none",   [TDC_CHECK_PASS] = "pass", [TDC_CHECK_WARNING] = "warning",
    [TDC_CHECK_ERROR] = "error", [TDC_CHECK_SKIP] = "skip",
};

static void forget(struct tdc_slot *slot)
{
    for (size_t i = 0; i < sizeof slot->texts / sizeof *slot->texts; i++)
        free(slot->texts[i]);
}

void tdc_html_report_forget_slots(struct tdc_html_report *report)
{
    for (size_t i = 0; i < report->waiting_count; i++)
        forget(&report->waiting[i]);
    free(report->waiting);
    report->waiting = NULL;
    report->waiting_count = report->waiting_capacity = 0;
}

static bool add_slot(struct tdc_html_report *report, const struct tdc_slot *slot)
{
    if (report->waiting_count == report->waiting_capacity) {
        size_t capacity = report->waiting_capacity != 0 ? 2 * report->waiting_capacity : 256;
        struct tdc_slot *waiting = realloc(report->waiting, capacity * sizeof *waiting);
        if (waiting == NULL)
            return false;
        report->waiting = waiting;
        report->waiting_capacity = capacity;
    }
    report->waiting[report->waiting_count++] = *slot;
    return true;
}

void tdc_html_report_precheck_row(tdc_html_report *report, const struct tdc_precheck_row *row)
{
    const char *const texts[] = {row->call,         row->api,   row->bench_dtype,
                                 row->tested_dtype, row->shape, row->message};
    struct tdc_slot slot = {.row = *row};
    bool whole = true;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        slot.texts[i] = strdup(texts[i] != NULL ? texts[i] : "");
        whole &= slot.texts[i] != NULL;
    }
    pthread_mutex_lock(&report->lock);
    if (!whole || !add_slot(report, &slot)) {
        report->out_of_memory = true;
        forget(&slot);
    }
    pthread_mutex_unlock(&report->lock);
}

/* Of an API its calls by number: the same order whichever thread was first. */
static int by_call(const void *left, const void *right)
{
    const struct tdc_slot *a = left, *b = right;
    int order = strcmp(a->texts[1], b->texts[1]);
    if (order != 0)
        return order;
    size_t length = strlen(a->texts[0]), other = strlen(b->texts[0]);
    if (length != other)
        return length < other ? -1 : 1;
    order = strcmp(a->texts[0], b->texts[0]);
    if (order != 0)
        return order;
    if (a->row.backward != b->row.backward)
        return a->row.backward ? 1 : -1;
    return (a->row.slot > b->row.slot) - (a->row.slot < b->row.slot);
}

static struct tdc_cell text_cell(const char *text)
{
    return (struct tdc_cell){.kind = TDC_CELL_TEXT, .text = text, .length = strlen(text)};
}

static struct tdc_cell number_cell(double number, bool known)
{
    return (struct tdc_cell){.kind = known ? TDC_CELL_NUMBER : TDC_CELL_NONE, .number = number};
}

static bool put_slot(struct tdc_html_report *report, const struct tdc_slot *slot, size_t precheck)
{
    static const char *const names[] = {"#precheck", "Call",     "API",          "Direction",
                                        "Slot",      "Verdict",  "Tested Dtype", "Ref Dtype",
                                        "Shape",     "Cosine",   "MaxAbsErr",    "MaxRelativeErr",
                                        "Max ULP",   "Worst At", "Message"};
    enum {
        COLUMNS = sizeof names / sizeof *names
    };
    const struct tdc_precheck_row *row = &slot->row;
    const char *verdict = row->verdict < TDC_CHECKS ? check_words[row->verdict] : "none";
    const struct tdc_cell cells[COLUMNS] = {
        number_cell((double)precheck, true),
        text_cell(slot->texts[0]),
        text_cell(slot->texts[1]),
        text_cell(row->backward ? "backward" : "forward"),
        number_cell((double)row->slot, true),
        text_cell(verdict),
        text_cell(slot->texts[3]),
        text_cell(slot->texts[2]),
        text_cell(slot->texts[4]),
        number_cell(row->cosine, row->measured),
        number_cell(row->max_abs, row->measured),
        number_cell(row->max_relative, row->measured),
        number_cell(row->max_ulp, row->measured && !isnan(row->max_ulp)),
        number_cell((double)row->max_abs_at, row->measured),
        text_cell(slot->texts[5]),
    };
    int places[COLUMNS];
    for (size_t i = 0; i < COLUMNS; i++) {
        places[i] = tdc_html_sheet_column(&report->slots, names[i]);
        if (places[i] < 0)
            return false;
    }
    return tdc_html_sheet_row(&report->slots, places, cells, COLUMNS);
}

bool tdc_html_report_take_slots(struct tdc_html_report *report, size_t precheck)
{
    if (report->waiting_count != 0)
        qsort(report->waiting, report->waiting_count, sizeof *report->waiting, by_call);
    bool room = !report->out_of_memory;
    /* failing slots first, should there be more than the page can hold */
    for (int failing = 1; failing >= 0; failing--)
        for (size_t i = 0; i < report->waiting_count && room; i++) {
            const struct tdc_slot *slot = &report->waiting[i];
            bool fails = slot->row.verdict == TDC_CHECK_ERROR;
            if (fails == (failing == 1) && report->slots.rows < report->options.rows)
                room = put_slot(report, slot, precheck);
        }
    tdc_html_report_forget_slots(report);
    return room;
}
