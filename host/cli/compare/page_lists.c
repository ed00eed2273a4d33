/* page_lists.c - what has no verdict: rows without a partner, unreadable ones, rows without data.
 */
#include <string.h>

#include "host/cli/compare/page.h"
#include "host/terminal/page.h"

/* Why a row is on the list. */
enum reason {
    ONLY_TEST,
    ONLY_REF,
    OTHER_SHAPE,
    NO_FILE,
    EMPTY,
    REASONS
};

static const char *const reason_texts[REASONS] = {
    [ONLY_TEST] = "only in test",        [ONLY_REF] = "only in ref",
    [OTHER_SHAPE] = "the shapes differ", [NO_FILE] = "no file was recorded",
    [EMPTY] = "empty, or no values",
};

static enum reason reason_of(const struct tdc_run_comparison *comparison, size_t row)
{
    size_t npu, bench;
    tdc_match_pair(comparison->match, row, &npu, &bench);
    if (tdc_table_class(comparison->table, row) != TDC_ROW_UNMATCHED)
        return strstr(tdc_table_remark(comparison->table, row), "data file") != NULL ? NO_FILE
                                                                                     : EMPTY;
    return bench == TDC_NO_RECORD ? ONLY_TEST : npu == TDC_NO_RECORD ? ONLY_REF : OTHER_SHAPE;
}

/* A line that fills up with names. */
struct name_line {
    const struct tdc_page *page;
    size_t used, end; /* columns */
    size_t shown;
    bool full;
};

static void add_name(struct name_line *line, const char *name)
{
    const size_t dots = 5; /* ", ..." */
    size_t gap = line->shown != 0 ? 2 : 0, room = line->end - line->used;
    size_t columns = tdc_columns_of(tdc_shown(name));
    if (line->full || (line->shown != 0 && gap + columns + dots > room)) {
        line->full = true;
        return;
    }
    const char *text = tdc_fit(name, room - dots);
    printf("%s%s", gap != 0 ? ", " : "", text);
    line->used += gap + tdc_columns_of(text);
    line->shown++;
}

static void list_reason(const struct tdc_page *page, tdc_row_class row_class, const char *title,
                        enum reason reason)
{
    char head[64], tail[64];
    size_t rows = 0;
    for (int pass = 0; pass < 2; pass++) {
        struct name_line line = {.page = page};
        if (pass == 1 && rows == 0)
            return;
        if (pass == 1) {
            snprintf(head, sizeof head, "%s (%zu): ", title, rows);
            snprintf(tail, sizeof tail, " (%s)", reason_texts[reason]);
            fputs(head, stdout);
            line.used = strlen(head);
            line.end = page->width - strlen(tail);
        }
        for (size_t i = 0; i < page->run->count; i++) {
            const struct tdc_run_comparison *comparison = &page->run->comparisons[i];
            size_t count = comparison->table != NULL ? tdc_table_rows(comparison->table) : 0;
            for (size_t row = 0; row < count && !line.full; row++) {
                if (tdc_table_class(comparison->table, row) != row_class ||
                    reason_of(comparison, row) != reason)
                    continue;
                if (pass == 0)
                    rows++;
                else
                    add_name(&line, tdc_page_row_name(comparison, row));
            }
        }
        if (pass == 1)
            printf("%s%s\n", line.shown < rows ? ", ..." : "", tail);
    }
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void list_errors(const struct tdc_page *page)
{
    size_t all = page->answer.total.classes[TDC_ROW_ERROR], shown = 0;
    size_t most = page->request->top > 0 ? (size_t)page->request->top : 3;
    if (all == 0)
        return;
    printf("%sCould not be compared%s (%zu):\n", tdc_paint(page, TDC_PAINT_YELLOW),
           tdc_paint(page, TDC_PAINT_END), all);
    for (size_t i = 0; i < page->run->count; i++) {
        const struct tdc_run_comparison *comparison = &page->run->comparisons[i];
        size_t count = comparison->table != NULL ? tdc_table_rows(comparison->table) : 0;
        for (size_t row = 0; row < count && shown < most; row++) {
            if (tdc_table_class(comparison->table, row) != TDC_ROW_ERROR)
                continue;
            char why[400];
            snprintf(why, sizeof why, "%s", tdc_table_remark(comparison->table, row));
            why[strcspn(why, "\n")] = '\0';
            tdc_page_put_row(page, comparison->table, row);
            printf("%s\n", tdc_fit(tdc_page_row_name(comparison, row), page->width - 9));
            printf("         %s\n", tdc_fit(why, page->width - 9));
            shown++;
        }
    }
    if (shown < all)
        printf("   ...   %zu more: --top %zu\n", all - shown, all <= 20 ? (size_t)20 : all);
}

/* The message, with the name of the side for its path. */
static void failure_of(const struct tdc_run_comparison *comparison, char *text, size_t size)
{
    const char *const sides[] = {"test", "ref"};
    const char *const paths[] = {comparison->task->npu, comparison->task->bench};
    snprintf(text, size, "%s", comparison->error.message);
    for (int i = 0; i < 2; i++) {
        size_t length = strlen(paths[i]);
        if (strncmp(comparison->error.message, paths[i], length) == 0)
            snprintf(text, size, "%s%s", sides[i], comparison->error.message + length);
    }
}

static void list_failed(const struct tdc_page *page)
{
    bool titled = false;
    for (size_t i = 0; i < page->run->count; i++) {
        const struct tdc_run_comparison *comparison = &page->run->comparisons[i];
        char label[128], why[1024];
        if (comparison->table != NULL)
            continue;
        if (!titled)
            printf("%sNot compared%s:\n", tdc_paint(page, TDC_PAINT_YELLOW),
                   tdc_paint(page, TDC_PAINT_END));
        titled = true;
        tdc_page_label(comparison->task, label, sizeof label);
        failure_of(comparison, why, sizeof why);
        const char *name = tdc_fit(label, 20);
        size_t used = tdc_columns_of(name) + 5;
        if (used + tdc_columns_of(tdc_shown(why)) <= page->width)
            printf("  %s   %s\n", name, tdc_shown(why));
        else
            printf("  %s\n      %s\n", name, tdc_fit(why, page->width - 6));
    }
}

void tdc_page_lists(const struct tdc_page *page)
{
    const struct tdc_summary *total = &page->answer.total;
    bool some = total->classes[TDC_ROW_UNMATCHED] != 0 || total->classes[TDC_ROW_ERROR] != 0 ||
                total->classes[TDC_ROW_NONE] != 0 || page->answer.failed != 0;
    if (some)
        printf("\n");
    list_failed(page);
    list_errors(page);
    list_reason(page, TDC_ROW_UNMATCHED, "Unmatched", ONLY_TEST);
    list_reason(page, TDC_ROW_UNMATCHED, "Unmatched", ONLY_REF);
    list_reason(page, TDC_ROW_UNMATCHED, "Unmatched", OTHER_SHAPE);
    if (total->classes[TDC_ROW_UNMATCHED] != 0)
        printf("  tdcmp match -u TEST REF lists them, --suggest proposes names\n");
    list_reason(page, TDC_ROW_NONE, "No data", NO_FILE);
    list_reason(page, TDC_ROW_NONE, "No data", EMPTY);
}
