/* page_starts.c - where differences begin: dumps that begin alike together, some origins of each.
 */
#include <math.h>
#include <string.h>

#include "host/cli/compare/page.h"
#include "host/terminal/page.h"

/* Origins that are shown unless --top says otherwise: a screen has room for the rest of the page.
 */
#define FEW ((size_t)5)

static size_t most_shown(const struct tdc_page *page)
{
    return page->request->top > 0 ? (size_t)page->request->top : FEW;
}

/* ---- one line -------------------------------------------------------------------------------- */

enum {
    ROW_COLUMNS = 6,
    NUMBER_COLUMNS = 9,
    EXPLAINS_COLUMNS = 12
};

/* Up to where the numbers begin. */
static size_t name_columns(const struct tdc_page *page, bool explains)
{
    return page->width - ROW_COLUMNS - 3 - 2 * (NUMBER_COLUMNS + 1) -
           (explains ? EXPLAINS_COLUMNS : 0);
}

static tdc_mode mode_of(const struct tdc_page *page)
{
    for (size_t i = 0; i < page->run->count; i++)
        if (page->run->comparisons[i].table != NULL)
            return tdc_table_mode(page->run->comparisons[i].table);
    return TDC_MODE_NONE;
}

static void print_header(const struct tdc_page *page, const char *what, bool explains)
{
    tdc_mode mode = mode_of(page);
    printf("%*s   ", ROW_COLUMNS, "row");
    tdc_put_padded(stdout, what, name_columns(page, explains));
    printf(" %*s %*s", NUMBER_COLUMNS,
           mode == TDC_MODE_TENSOR   ? "cosine"
           : mode == TDC_MODE_DIGEST ? ""
                                     : "distance",
           NUMBER_COLUMNS,
           mode == TDC_MODE_TENSOR   ? "max abs"
           : mode == TDC_MODE_DIGEST ? ""
                                     : "max diff");
    printf(explains ? " %*s\n" : "\n", EXPLAINS_COLUMNS - 1, explains ? "explains" : "");
}

/* The sign of a difference tells nothing here. */
static void print_number(const tdc_table *table, size_t row, tdc_field field)
{
    double number;
    char text[32];
    if (!tdc_table_number(table, row, field, &number))
        snprintf(text, sizeof text, "-");
    else if (field == TDC_FIELD_COSINE && number > 0.999 && number < 0.9999995)
        snprintf(text, sizeof text, "%.6f", number);
    else if (field == TDC_FIELD_COSINE)
        snprintf(text, sizeof text, "%.4f", number);
    else
        snprintf(text, sizeof text, "%.4g", fabs(number));
    printf(" %*s", NUMBER_COLUMNS, text);
}

static void print_numbers(const tdc_table *table, size_t row)
{
    switch (tdc_table_mode(table)) {
    case TDC_MODE_TENSOR:
        print_number(table, row, TDC_FIELD_COSINE);
        print_number(table, row, TDC_FIELD_MAX_ABS);
        break;
    case TDC_MODE_STATISTICS:
        print_number(table, row, TDC_FIELD_DISTANCE);
        print_number(table, row, TDC_FIELD_MAX_DIFF);
        break;
    default:
        printf("%*s", 2 * (NUMBER_COLUMNS + 1), "");
        break;
    }
}

/* What is wrong with a row, in short. */
static void worst_of(const struct tdc_run_comparison *comparison, size_t row, char *text,
                     size_t size)
{
    const char *worst = tdc_table_worst(comparison->table, row);
    const char *at = strstr(worst, " at [");
    /* cosine and maximum stand in columns of their own */
    bool numbers = strncmp(worst, "cosine ", 7) == 0 || strncmp(worst, "max abs err ", 12) == 0;
    if (numbers && at != NULL)
        snprintf(text, size, "worst%s", at);
    else
        snprintf(text, size, "%s", numbers ? "" : worst);
    text[strcspn(text, "\n")] = '\0';
}

static void describe_entry(const char *name, const char *worst, char *text, size_t size)
{
    const char *why = strstr(name, ".parameters.") != NULL ? "another weight"
                      : strstr(name, ".debug") != NULL     ? "a single point"
                                                           : "no recorded call made it";
    snprintf(text, size, "%s%s%s", why, worst[0] != '\0' ? "; " : "", worst);
}

static void describe_operator(const struct tdc_run_comparison *comparison,
                              const struct tdc_origin *origin, const char *worst, char *text,
                              size_t size)
{
    bool identical = origin->input_distance == 0 && origin->input_worst == 0;
    if (origin->consequence)
        snprintf(text, size, "may follow from an earlier one; %s", worst);
    else if (tdc_table_class(comparison->table, origin->row) != TDC_ROW_DIFFERENT)
        snprintf(text, size, "%s, output off by %.2g: more than rounding explains",
                 identical ? "inputs identical" : "inputs agree better", origin->distance);
    else if (identical)
        snprintf(text, size, "inputs identical; %s", worst);
    else
        snprintf(text, size, "inputs off by %.1e; %s", origin->input_distance, worst);
}

/* Never longer than the reader needs: the sheet and `tdcmp show` have the rest. */
static void describe(const struct tdc_run_comparison *comparison, size_t row,
                     const struct tdc_origin *origin, char *text, size_t size)
{
    char worst[256];
    const char *name = tdc_page_row_name(comparison, row);
    worst_of(comparison, row, worst, sizeof worst);
    switch (origin != NULL ? origin->kind : TDC_ORIGIN_NONE) {
    case TDC_ORIGIN_RANDOM:
        snprintf(text, size, "random operator: %s",
                 strstr(name, "ropout") != NULL ? "masks differ; fix the seed or set p=0"
                                                : "other numbers were drawn; fix the seed");
        break;
    case TDC_ORIGIN_ENTRY:
        describe_entry(name, worst, text, size);
        break;
    case TDC_ORIGIN_ARGUMENT:
        snprintf(text, size, "%s%s", strncmp(worst, "argument ", 9) == 0 ? "the " : "", worst);
        break;
    case TDC_ORIGIN_OPERATOR:
        describe_operator(comparison, origin, worst, text, size);
        break;
    default:
        snprintf(text, size, "%s", worst);
        break;
    }
}

size_t tdc_page_sheet_row(const struct tdc_page *page, const tdc_table *table, size_t row)
{
    size_t before = row;
    if (page->request->only != 0) {
        before = 0;
        for (size_t i = 0; i < row; i++)
            before += tdc_table_selected(table, i, page->request->only);
    }
    return tdc_sheet_row(before);
}

void tdc_page_put_row(const struct tdc_page *page, const tdc_table *table, size_t row)
{
    if (tdc_table_selected(table, row, page->request->only))
        printf("%*zu   ", ROW_COLUMNS, tdc_page_sheet_row(page, table, row));
    else
        printf("%*s   ", ROW_COLUMNS, "-");
}

static void print_line(const struct tdc_page *page, const struct tdc_run_comparison *comparison,
                       size_t row, const struct tdc_origin *origin)
{
    /* an output stands for its call; an input or argument is the very thing */
    bool call = origin != NULL &&
                (origin->kind == TDC_ORIGIN_OPERATOR || origin->kind == TDC_ORIGIN_RANDOM);
    const char *name =
        call ? tdc_table_call(comparison->table, row) : tdc_page_row_name(comparison, row);
    char reason[400];
    size_t columns = name_columns(page, origin != NULL);
    tdc_page_put_row(page, comparison->table, row);
    fputs(tdc_paint(page, TDC_PAINT_BOLD), stdout);
    if (tdc_columns_of(tdc_shown(name)) <= columns) {
        tdc_put_padded(stdout, tdc_shown(name), columns);
        fputs(tdc_paint(page, TDC_PAINT_END), stdout);
    } else { /* a line of its own, rather than half of what tells it from others */
        printf("%s%s\n%*s", tdc_fit(name, page->width - ROW_COLUMNS - 3),
               tdc_paint(page, TDC_PAINT_END), (int)columns + ROW_COLUMNS + 3, "");
    }
    print_numbers(comparison->table, row);
    if (origin != NULL) {
        char explains[32];
        snprintf(explains, sizeof explains, "%llu row%s", (unsigned long long)origin->explains,
                 origin->explains == 1 ? "" : "s");
        printf(" %*s", EXPLAINS_COLUMNS - 1, explains);
    }
    printf("\n");
    describe(comparison, row, origin, reason, sizeof reason);
    char *values = strrchr(reason, ':');
    if (values != NULL && tdc_columns_of(tdc_shown(reason)) > page->width - ROW_COLUMNS - 3)
        *values = '\0'; /* the sheet has them */
    if (reason[0] != '\0')
        printf("%*s   %s\n", ROW_COLUMNS, "", tdc_fit(reason, page->width - ROW_COLUMNS - 3));
}

static void print_more(const struct tdc_page *page, size_t hidden, size_t all)
{
    (void)page;
    if (hidden != 0)
        printf("%*s   %zu more: --top %zu\n", ROW_COLUMNS, "...", hidden, all <= 20 ? 20 : all);
}

/* ---- origins --------------------------------------------------------------------------------- */

/* True when every origin that is shown is one of an operator. */
static bool only_operators(const struct tdc_groups *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        const tdc_table *table = groups->all[i].first->table;
        for (size_t k = 0; k < tdc_table_origins(table); k++) {
            tdc_origin_kind kind = tdc_table_origin(table, k)->kind;
            if (kind != TDC_ORIGIN_OPERATOR && kind != TDC_ORIGIN_RANDOM)
                return false;
        }
    }
    return true;
}

/* The rows that differ of a comparison without origins, from a row on; SIZE_MAX: no more. */
static size_t next_different(const tdc_table *table, size_t row)
{
    for (; row < tdc_table_rows(table); row++)
        if (tdc_table_class(table, row) == TDC_ROW_DIFFERENT)
            return row;
    return SIZE_MAX;
}

static size_t lines_of(const struct tdc_group *group)
{
    const tdc_table *table = group->first->table;
    size_t count = tdc_table_origins(table);
    for (size_t row = 0; count == 0 || row != 0;) {
        row = next_different(table, row);
        if (row++ == SIZE_MAX)
            break;
        count++;
    }
    return count;
}

static size_t print_group(const struct tdc_page *page, const struct tdc_group *group, size_t most)
{
    const tdc_table *table = group->first->table;
    size_t shown = 0, origins = tdc_table_origins(table);
    for (; shown < origins && shown < most; shown++) {
        const struct tdc_origin *origin = tdc_table_origin(table, tdc_group_origin(group, shown));
        print_line(page, group->first, origin->row, origin);
    }
    if (origins != 0)
        return shown;
    for (size_t row = 0; shown < most && (row = next_different(table, row)) != SIZE_MAX; row++) {
        print_line(page, group->first, row, NULL);
        shown++;
    }
    return shown;
}

static void print_groups(const struct tdc_page *page, const struct tdc_groups *groups)
{
    size_t most = most_shown(page), lines = 0, shown = 0, shown_groups = 0;
    for (size_t i = 0; i < groups->count; i++)
        lines += lines_of(&groups->all[i]);
    for (size_t i = 0; i < groups->count && shown < most; i++, shown_groups++) {
        const struct tdc_group *group = &groups->all[i];
        if (page->run->count > 1) {
            bool several = group->count > 1;
            printf("%s%s\n", tdc_fit(group->label, page->width - 30),
                   several ? " start at the same call" : "");
        }
        size_t left = groups->count - i; /* each gets its share of what is left */
        size_t share = (most - shown + left - 1) / left;
        shown += print_group(page, group, share);
    }
    print_more(page, lines - shown, lines);
    if (shown_groups < groups->count)
        printf("%*s   and %zu more groups of dumps\n", ROW_COLUMNS, "",
               groups->count - shown_groups);
}

/* ---- nothing is different -------------------------------------------------------------------- */

struct close_row {
    const struct tdc_run_comparison *comparison;
    size_t row;
    double distance;
};

static void keep_largest(struct close_row *rows, size_t most, struct close_row row)
{
    for (size_t i = 0; i < most; i++) {
        if (rows[i].comparison != NULL && !(row.distance > rows[i].distance))
            continue;
        struct close_row moved = rows[i];
        rows[i] = row;
        row = moved;
        if (row.comparison == NULL)
            return;
    }
}

static void print_close(const struct tdc_page *page)
{
    enum {
        MOST = 3
    };
    struct close_row rows[MOST] = {{NULL, 0, 0}};
    for (size_t i = 0; i < page->run->count; i++) {
        const struct tdc_run_comparison *comparison = &page->run->comparisons[i];
        size_t count = comparison->table != NULL ? tdc_table_rows(comparison->table) : 0;
        for (size_t row = 0; row < count; row++) {
            struct close_row found = {comparison, row, 0};
            if (tdc_table_class(comparison->table, row) != TDC_ROW_CLOSE)
                continue;
            tdc_table_number(comparison->table, row, TDC_FIELD_DISTANCE, &found.distance);
            keep_largest(rows, MOST, found);
        }
    }
    printf("\nFurthest off, within tolerance:\n");
    print_header(page, "tensor", false);
    for (size_t i = 0; i < MOST && rows[i].comparison != NULL; i++)
        print_line(page, rows[i].comparison, rows[i].row, NULL);
}

/* ---- all ------------------------------------------------------------------------------------- */

void tdc_page_starts(const struct tdc_page *page)
{
    if (page->answer.answer == TDC_ANSWER_CLOSE)
        print_close(page);
    if (page->answer.answer != TDC_ANSWER_DIFFERENT)
        return;
    bool origins = page->answer.total.origins != 0;
    printf("\n%s%s%s%s:\n", tdc_paint(page, TDC_PAINT_RED),
           origins        ? "Where it starts"
           : page->levels ? "Different, grown from smaller differences"
                          : "Different rows",
           tdc_paint(page, TDC_PAINT_END),
           origins && only_operators(page->groups) ? " (inputs agree, outputs do not)" : "");
    print_header(page, origins ? "call" : "tensor", origins);
    print_groups(page, page->groups);
}
