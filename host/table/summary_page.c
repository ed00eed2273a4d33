/* summary_page.c - the sheet that says what became of a comparison: the page of the terminal, where
 * the dumps are, and the limits in force. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/judge/precision.h"
#include "host/table/sheet.h"

/* Origins that are listed; the json has them all. */
#define MOST_ORIGINS 200

struct page {
    struct tdc_table *table;
    struct tdc_sink *sink;
    size_t page;
    tdc_status status;
    struct tdc_error *error;
    struct tdc_cell cells[TDC_PAGE_COLUMNS];
    size_t count;
};

static void put(struct page *page, struct tdc_cell cell)
{
    if (page->count < TDC_PAGE_COLUMNS)
        page->cells[page->count++] = cell;
}

static void put_text(struct page *page, const char *text)
{
    put(page, (struct tdc_cell){.kind = text != NULL ? TDC_CELL_TEXT : TDC_CELL_NONE,
                                .text = text,
                                .length = text != NULL ? strlen(text) : 0});
}

static void put_number(struct page *page, double number)
{
    put(page, (struct tdc_cell){.kind = isfinite(number) ? TDC_CELL_NUMBER : TDC_CELL_NONE,
                                .number = number});
}

static void end_row(struct page *page, bool bold)
{
    if (page->status == TDC_OK)
        page->status =
            tdc_sink_page_row(page->sink, page->page, page->cells, page->count, bold, page->error);
    page->count = 0;
}

static void named(struct page *page, const char *name, const char *text)
{
    put_text(page, name);
    put_text(page, text);
    end_row(page, false);
}

static void title(struct page *page, const char *text)
{
    end_row(page, false);
    put_text(page, text);
    end_row(page, true);
}

static void put_answer(struct page *page, const struct tdc_summary *summary)
{
    char text[200];
    tdc_answer answer = tdc_summary_answer(summary, page->table->allow_unmatched);
    if (summary->classes[TDC_ROW_DIFFERENT] != 0 || summary->origins != 0)
        snprintf(text, sizeof text,
                 "%llu of %llu rows are different, in %llu of %llu calls; %llu call%s start%s it",
                 (unsigned long long)summary->classes[TDC_ROW_DIFFERENT],
                 (unsigned long long)summary->rows, (unsigned long long)summary->different_calls,
                 (unsigned long long)summary->calls, (unsigned long long)summary->origins,
                 summary->origins == 1 ? "" : "s", summary->origins == 1 ? "s" : "");
    else
        snprintf(text, sizeof text, "%llu tensors in %llu calls were compared",
                 (unsigned long long)summary->tensors, (unsigned long long)summary->calls);
    put_text(page, tdc_answer_text(answer));
    put_text(page, text);
    end_row(page, true);
    if (summary->classes[TDC_ROW_ERROR] != 0) {
        snprintf(text, sizeof text, "%llu rows could not be compared",
                 (unsigned long long)summary->classes[TDC_ROW_ERROR]);
        named(page, "INCOMPLETE", text);
    }
}

static void put_side(struct page *page, const char *name, const struct tdc_dump *dump)
{
    put_text(page, name);
    put_text(page, dump->path);
    put_text(page, dump->task);
    put_text(page, tdc_dump_detected_framework(dump));
    put_text(page, dump->level);
    end_row(page, false);
}

static void put_counts(struct page *page, const struct tdc_summary *summary)
{
    static const tdc_row_class shown[] = {TDC_ROW_IDENTICAL, TDC_ROW_ROUNDING,  TDC_ROW_CLOSE,
                                          TDC_ROW_DIFFERENT, TDC_ROW_UNMATCHED, TDC_ROW_ERROR,
                                          TDC_ROW_NONE,      TDC_ROW_SHOWN};
    title(page, "Rows by verdict");
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        put_text(page, tdc_level_text(shown[i]));
        put_number(page, (double)summary->classes[shown[i]]);
        end_row(page, false);
    }
}

static void put_field(struct page *page, size_t row, tdc_field field)
{
    double number;
    put_number(page, tdc_table_number(page->table, row, field, &number) ? number : (double)NAN);
}

static void put_origins(struct page *page)
{
    struct tdc_table *table = page->table;
    size_t count = tdc_table_origins(table);
    if (count == 0)
        return;
    title(page, "Where it starts (inputs agree, outputs do not)");
    static const char *const heads[] = {"row",     "call",     "kind",      "distance",
                                        "max abs", "explains", "direction", "worst"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        put_text(page, heads[i]);
    end_row(page, true);
    for (size_t i = 0; i < count && i < MOST_ORIGINS; i++) {
        const struct tdc_origin *origin = tdc_table_origin(table, i);
        put_number(page, (double)tdc_sheet_row(origin->row));
        put_text(page, tdc_table_call(table, origin->row));
        put_text(page, tdc_origin_text(origin->kind));
        put_number(page, origin->distance);
        put_field(page, origin->row, TDC_FIELD_MAX_ABS);
        put_number(page, (double)origin->explains);
        put_text(page, origin->backward ? "backward" : "forward");
        put_text(page, tdc_table_worst(table, origin->row));
        end_row(page, false);
    }
    if (count > MOST_ORIGINS)
        named(page, "...", "more in the sheet Rows: Severity 3");
}

static void put_tolerance(struct page *page)
{
    title(page,
          "Tolerances: largest relative distance; the worst element may be four times as far");
    static const char *const heads[] = {
        "precision", NULL, "rounding", "close", "gradients: rounding", "gradients: close"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        put_text(page, heads[i]);
    end_row(page, true);
    for (int i = TDC_PRECISION_EXACT; i < TDC_PRECISIONS; i++) {
        put_text(page, tdc_precision_name((enum tdc_precision)i));
        put_text(page, NULL);
        for (int gradient = 0; gradient < 2; gradient++) {
            struct tdc_level_limits limits = tdc_level_limits((enum tdc_precision)i, gradient != 0);
            put_number(page, limits.rounding);
            put_number(page, limits.close);
        }
        end_row(page, false);
    }
}

tdc_status tdc_summary_page(struct tdc_table *table, struct tdc_sink *sink, size_t number,
                            struct tdc_error *error)
{
    static const char *const modes[] = {[TDC_MODE_NONE] = NULL,
                                        [TDC_MODE_TENSOR] = "tensor",
                                        [TDC_MODE_STATISTICS] = "statistics",
                                        [TDC_MODE_DIGEST] = "md5"};
    struct tdc_summary summary;
    struct page page = {.table = table, .sink = sink, .page = number, .error = error};
    tdc_table_count(table, &summary);
    put_answer(&page, &summary);
    put_side(&page, "test", table->match->npu);
    put_side(&page, "ref", table->match->bench);
    put_counts(&page, &summary);
    put_origins(&page);
    title(&page, "Severity");
    named(&page, "3", "differences begin here (red)");
    named(&page, "2", "different (red)");
    named(&page, "1", "worth a look: close, no partner, unreadable, what enters differs (yellow)");
    put_tolerance(&page);
    title(&page, "Run");
    named(&page, "version", tdc_version());
    named(&page, "rules", table->rules->name);
    named(&page, "mode", modes[table->mode]);
    named(&page, "matched by", tdc_match_method(table->match));
    named(&page, "folder", table->folder);
    return page.status;
}
