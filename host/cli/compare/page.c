/*
 * page.c - the page: the answer, what was compared, the counts, and what to do next.
 *
 * Lines fit the terminal, or 80 columns; long names lose their middle.
 */
#include "host/cli/compare/page.h"

#include <string.h>
#include <unistd.h>

#include "host/terminal/colour.h"
#include "host/terminal/page.h"
#include "host/terminal/parse.h"

typedef unsigned long long count;

const char *tdc_paint(const struct tdc_page *page, const char *code)
{
    return page->colour ? code : "";
}

static const char *plural(count number)
{
    return number == 1 ? "" : "s";
}

/* ---- the answer ------------------------------------------------------------------------------ */

static const char *colour_of(const struct tdc_run_answer *answer)
{
    if (answer->answer == TDC_ANSWER_DIFFERENT)
        return TDC_PAINT_RED;
    return answer->code == TDC_EXIT_SAME && answer->answer != TDC_ANSWER_CLOSE ? TDC_PAINT_GREEN
                                                                               : TDC_PAINT_YELLOW;
}

static void print_different(const struct tdc_run_answer *answer)
{
    const struct tdc_summary *total = &answer->total;
    count different = total->classes[TDC_ROW_DIFFERENT], judged = 0;
    for (int i = TDC_ROW_SAME; i <= TDC_ROW_DIFFERENT; i++)
        judged += total->classes[i];
    bool arguments = total->different_arguments != 0;
    count all = arguments ? judged : total->tensors;
    if (different == 0) { /* what begins somewhere need not be beyond tolerance */
        printf("0 of %llu tensor%s beyond tolerance; %llu call%s start%s a difference", all,
               plural(all), (count)total->origins, plural(total->origins),
               total->origins == 1 ? "s" : "");
        return;
    }
    printf("%llu of %llu %s%s, %llu call%s", different, all,
           arguments ? "tensors and arguments" : "tensor", arguments ? "" : plural(all),
           (count)total->different_calls, plural(total->different_calls));
    if (total->origins != 0)
        printf("; %llu call%s start%s it", (count)total->origins, plural(total->origins),
               total->origins == 1 ? "s" : "");
}

static void print_unmatched(const struct tdc_run_answer *answer)
{
    const struct tdc_summary *total = &answer->total;
    count rows = total->classes[TDC_ROW_UNMATCHED];
    if (rows != 0)
        printf("%llu of %llu rows", rows, (count)total->rows);
    if (answer->left_out != 0)
        printf("%s%zu dump%s", rows != 0 ? " and " : "", answer->left_out,
               plural(answer->left_out));
    struct tdc_summary others = *total;
    others.classes[TDC_ROW_UNMATCHED] = 0;
    tdc_answer rest = tdc_summary_answer(&others, true);
    printf(" %s no partner; %s", rows + answer->left_out == 1 ? "has" : "have",
           rest == TDC_ANSWER_NONE        ? "nothing else was compared"
           : rest == TDC_ANSWER_IDENTICAL ? "the rest is identical"
           : rest == TDC_ANSWER_SAME      ? "the rest is the same"
                                          : "the rest is close");
}

static void print_agreeing(const struct tdc_page *page)
{
    const struct tdc_summary *total = &page->answer.total;
    printf("%llu tensor%s, %llu call%s", (count)total->tensors, plural(total->tensors),
           (count)total->calls, plural(total->calls));
    if (!page->levels)
        printf("; none beyond the limits of the rules");
    else if (page->answer.answer == TDC_ANSWER_SAME)
        printf("; %llu within rounding, the others identical",
               (count)total->classes[TDC_ROW_ROUNDING]);
    else if (page->answer.answer == TDC_ANSWER_CLOSE)
        printf("; %llu beyond rounding, all within tolerance",
               (count)total->classes[TDC_ROW_CLOSE]);
}

static void print_answer(const struct tdc_page *page)
{
    const struct tdc_run_answer *answer = &page->answer;
    printf("%s%s%s", tdc_paint(page, colour_of(answer)), tdc_answer_text(answer->answer),
           tdc_paint(page, TDC_PAINT_END));
    printf("%*s", 12 - (int)strlen(tdc_answer_text(answer->answer)), "");
    if (answer->answer == TDC_ANSWER_NONE)
        printf("   of %llu row%s; see below", (count)answer->total.rows,
               plural(answer->total.rows));
    else if (answer->answer == TDC_ANSWER_DIFFERENT)
        print_different(answer);
    else if (answer->answer == TDC_ANSWER_UNMATCHED)
        print_unmatched(answer);
    else
        print_agreeing(page);
    printf("\n");
    count errors = answer->total.classes[TDC_ROW_ERROR];
    if (errors != 0 || answer->failed != 0 || answer->without_data != 0) {
        printf("%sINCOMPLETE%s  ", tdc_paint(page, TDC_PAINT_YELLOW),
               tdc_paint(page, TDC_PAINT_END));
        const char *between = "";
        if (errors != 0) {
            printf("%llu row%s could not be compared", errors, plural(errors));
            between = ", ";
        }
        if (answer->failed != 0) {
            printf("%s%zu dump%s could not be compared", between, answer->failed,
                   plural(answer->failed));
            between = ", ";
        }
        if (answer->without_data != 0 && answer->answer != TDC_ANSWER_NONE)
            printf("%snothing compared in %zu dump%s", between, answer->without_data,
                   plural(answer->without_data));
        else if (answer->without_data != 0)
            printf("%sno data on both sides", between);
        printf("\n");
    }
}

/* ---- what was compared ----------------------------------------------------------------------- */

/* The folder of a dump; other files than dump.json are named. */
static size_t place_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL || strcmp(slash, "/dump.json") != 0)
        return strlen(path);
    return slash == path ? 1 : (size_t)(slash - path);
}

/* What all paths of one side begin with, up to a slash. */
static size_t common_length(const struct tdc_run *run, bool test, const char *first)
{
    size_t length = strlen(first);
    for (size_t i = 0; i < run->count; i++) {
        const struct tdc_task *task = run->comparisons[i].task;
        const char *path = test ? task->npu : task->bench;
        size_t same = 0;
        while (same < length && path[same] == first[same])
            same++;
        length = same;
    }
    if (first[length] == '\0')
        return place_length(first);
    while (length > 1 && first[length - 1] != '/')
        length--;
    return length > 1 && first[length - 1] == '/' ? length - 1 : length;
}

static void describe_dump(const struct tdc_run *run, bool test, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < run->count; i++) {
        const struct tdc_run_comparison *comparison = &run->comparisons[i];
        const tdc_dump *dump = test ? comparison->npu : comparison->bench;
        if (comparison->table == NULL)
            continue;
        if (dump == NULL) {
            snprintf(text, size, "logical tensors");
            return;
        }
        const char *task = tdc_dump_task(dump), *framework = tdc_dump_framework(dump);
        const char *other = tdc_dump_framework(test ? comparison->bench : comparison->npu);
        bool apart = framework != NULL && other != NULL && strcmp(framework, other) != 0;
        bool digest = tdc_table_mode(comparison->table) == TDC_MODE_DIGEST;
        snprintf(text, size, "%s%s%s%s", task != NULL ? task : "tensor", digest ? ", md5" : "",
                 apart ? ", " : "", apart ? framework : "");
        return;
    }
}

/* Longer paths are cut anyway. */
#define PLACE_ROOM ((size_t)4200)

static void place_of(const struct tdc_run *run, bool test, char place[PLACE_ROOM])
{
    const struct tdc_task *task = run->comparisons[0].task;
    const char *path = test ? task->npu : task->bench;
    size_t length = run->count == 1 ? place_length(path) : common_length(run, test, path);
    snprintf(place, PLACE_ROOM, "%.*s", (int)length, length != 0 ? path : ".");
}

static void print_side(const struct tdc_page *page, bool test, size_t room)
{
    char kind[96], place[PLACE_ROOM];
    place_of(page->run, test, place);
    describe_dump(page->run, test, kind, sizeof kind);
    printf("%-6s", test ? "test" : "ref");
    tdc_put_padded(stdout, tdc_fit(place[0] != '\0' ? place : ".", room), room);
    printf("   %s\n", tdc_shown(kind));
}

static void print_sides(const struct tdc_page *page)
{
    char kind[96], place[PLACE_ROOM];
    size_t widest = 0, most = 0;
    for (int test = 0; test < 2; test++) {
        place_of(page->run, test != 0, place);
        size_t columns = tdc_columns_of(tdc_shown(place));
        describe_dump(page->run, test != 0, kind, sizeof kind);
        most = columns > most ? columns : most;
        widest = strlen(kind) > widest ? strlen(kind) : widest;
    }
    size_t room = page->width - 6 - 3 - widest;
    room = most < room ? most : room;
    print_side(page, true, room);
    print_side(page, false, room);
}

/* ---- counts ---------------------------------------------------------------------------------- */

struct counted {
    tdc_row_class row_class;
    const char *title;
};

static const struct counted level_counts[] = {
    {TDC_ROW_IDENTICAL, "identical"}, {TDC_ROW_ROUNDING, "rounding"},   {TDC_ROW_CLOSE, "close"},
    {TDC_ROW_SAME, "same"},           {TDC_ROW_DIFFERENT, "different"}, {TDC_ROW_CLASSES, NULL},
};

static const struct counted plain_counts[] = {
    {TDC_ROW_SAME, "same"},
    {TDC_ROW_DIFFERENT, "different"},
    {TDC_ROW_CLASSES, NULL},
};

static const struct counted other_counts[] = {
    {TDC_ROW_UNMATCHED, "unmatched"}, {TDC_ROW_ERROR, "errors"},    {TDC_ROW_NONE, "no data"},
    {TDC_ROW_SHOWN, "not judged"},    {TDC_ROW_IGNORED, "ignored"}, {TDC_ROW_ALLOWED, "allowed"},
    {TDC_ROW_CLASSES, NULL},
};

static void print_counts(const struct tdc_page *page, const struct counted *counted)
{
    const char *between = "  ";
    for (; counted->title != NULL; counted++) {
        count rows = page->answer.total.classes[counted->row_class];
        if (rows == 0 && (counted->row_class == TDC_ROW_SHOWN ||
                          (counted->row_class == TDC_ROW_SAME && page->levels) ||
                          counted->row_class >= TDC_ROW_IGNORED))
            continue;
        bool red = rows != 0 && counted->row_class == TDC_ROW_DIFFERENT;
        printf("%s%s%s %llu%s", between, tdc_paint(page, red ? TDC_PAINT_RED : ""), counted->title,
               rows, tdc_paint(page, red ? TDC_PAINT_END : ""));
        between = "   ";
    }
    printf("\n");
}

static void print_remarks(const struct tdc_page *page)
{
    const struct tdc_summary *total = &page->answer.total;
    if (total->entering != 0)
        printf("  %llu parameter%s or input%s of the runs %s not identical\n",
               (count)total->entering, plural(total->entering), plural(total->entering),
               total->entering == 1 ? "is" : "are");
    if (!page->levels && total->coloured[TDC_COLOUR_RED] != 0)
        printf("  %llu rows are red in the sheet: these rules colour apart from their verdicts\n",
               (count)total->coloured[TDC_COLOUR_RED]);
}

/* The limits in force, where they are not those of the rules. */
static void print_tolerance(const struct tdc_page *page)
{
    const struct tdc_tolerance *tolerance = &page->request->options.tolerance;
    if (!tolerance->elements && !tolerance->use_cosine) {
        if (page->levels && page->request->verbose)
            printf("  tolerance by precision: docs/verdicts.md\n");
        return;
    }
    printf("  tolerance");
    if (tolerance->elements)
        printf(" |test - ref| <= %g + %g * |ref|", tolerance->atol, tolerance->rtol);
    if (tolerance->use_cosine)
        printf("%s cosine >= %g", tolerance->elements ? "," : "", tolerance->cosine);
    printf("\n");
}

/* Rows without a partner of all comparisons that were matched so. */
static count unmatched_by(const struct tdc_run *run, const char *method)
{
    count rows = 0;
    for (size_t i = 0; i < run->count; i++) {
        const struct tdc_run_comparison *comparison = &run->comparisons[i];
        struct tdc_summary summary;
        if (comparison->table == NULL || strcmp(tdc_match_method(comparison->match), method) != 0)
            continue;
        tdc_table_summary(comparison->table, &summary, sizeof summary);
        rows += summary.classes[TDC_ROW_UNMATCHED];
    }
    return rows;
}

/* How names were translated, where that was not plain equality; told once for all ranks. */
static void print_methods(const struct tdc_page *page)
{
    const char *said = "equal names";
    for (size_t i = 0; i < page->run->count; i++) {
        const struct tdc_run_comparison *comparison = &page->run->comparisons[i];
        if (comparison->table == NULL || strcmp(tdc_match_method(comparison->match), said) == 0)
            continue;
        said = tdc_match_method(comparison->match);
        printf("  names matched by %s, %llu unmatched\n", tdc_fit(said, page->width - 38),
               unmatched_by(page->run, said));
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

static void print_speed(const struct tdc_page *page)
{
    const struct tdc_summary *total = &page->answer.total;
    if (total->bytes != 0)
        printf(total->bytes < 100000000 ? "%.3g MB of tensors compared at %.2f GB/s\n"
                                        : "%.4g GB of tensors compared at %.2f GB/s\n",
               (double)total->bytes * (total->bytes < 100000000 ? 1e-6 : 1e-9),
               (double)total->bytes * 1e-9 / total->seconds);
    printf("%.2f s in all (rules %s, %s kernels)\n", page->run->seconds,
           tdc_name_of_rules(page->request->options.rules), tdc_cpu_name());
}

/* The call without its direction, as far as that names it: `tdcmp show` finds both. */
static void print_next(const struct tdc_page *page, const struct tdc_run_comparison *comparison,
                       size_t row, size_t used)
{
    const char *call = tdc_shown(tdc_table_call(comparison->table, row));
    size_t length = strlen(call);
    static const char *const directions[] = {".forward", ".backward"};
    for (size_t i = 0; i < 2; i++) {
        size_t ending = strlen(directions[i]);
        if (length > ending && strcmp(call + length - ending, directions[i]) == 0)
            length -= ending;
    }
    const char *file = tdc_shown(comparison->files[0]);
    const char *folder = tdc_shown(page->request->output);
    size_t rest = strlen("next: tdcmp show  ") + length;
    if (used + 6 + rest + tdc_columns_of(file) <= page->width)
        printf("      next: tdcmp show %s %.*s\n", file, (int)length, call);
    else if (rest + tdc_columns_of(file) <= page->width)
        printf("\nnext: tdcmp show %s %.*s\n", file, (int)length, call);
    else if (rest + tdc_columns_of(folder) <= page->width)
        printf("\nnext: tdcmp show %s %.*s\n", folder, (int)length, call);
    else if (rest + strlen("RESULT") <= page->width)
        printf("\nnext: tdcmp show RESULT %.*s\n", (int)length, call);
    else
        printf("\nnext: tdcmp show RESULT %zu\n", tdc_page_sheet_row(page, comparison->table, row));
}

/* ", .csv, .json": the other files of the same name. Returns the columns they take. */
static size_t print_endings(const struct tdc_page *page, size_t used)
{
    const struct tdc_run_comparison *comparison = &page->run->comparisons[0];
    const char *dot = strrchr(comparison->files[0], '.');
    size_t stem = dot != NULL ? (size_t)(dot - comparison->files[0]) : 0, columns = 0;
    for (size_t i = 1; i < comparison->file_count; i++) {
        const char *file = comparison->files[i];
        size_t length = strlen(file);
        if (stem == 0 || length <= stem || memcmp(file, comparison->files[0], stem + 1) != 0 ||
            used + columns + 2 + length - stem > page->width)
            continue;
        printf(", %s", file + stem);
        columns += 2 + length - stem;
    }
    return columns;
}

static void print_files(const struct tdc_page *page)
{
    const struct tdc_run *run = page->run;
    size_t files = 0, used = 0;
    const char *first = NULL;
    for (size_t i = 0; i < run->count; i++) {
        files += run->comparisons[i].file_count;
        if (first == NULL && run->comparisons[i].file_count != 0)
            first = run->comparisons[i].files[0];
    }
    if (run->page != NULL)
        printf("Wrote %s\n", tdc_shown(run->page));
    if (files == 0)
        return;
    bool all = page->request->verbose;
    for (size_t i = 0; i < run->count && all; i++)
        for (size_t k = 0; k < run->comparisons[i].file_count; k++)
            printf("Wrote %s\n", tdc_shown(run->comparisons[i].files[k]));
    if (!all && run->count == 1) {
        const char *text = tdc_fit(first, page->width - 6);
        printf("Wrote %s", text);
        used = 6 + tdc_columns_of(text) + print_endings(page, 6 + tdc_columns_of(text));
    } else if (!all) {
        char count_text[64];
        snprintf(count_text, sizeof count_text, "Wrote %zu files to ", files);
        const char *folder = tdc_fit(page->request->output, page->width - strlen(count_text) - 1);
        bool slash = folder[0] != '\0' && folder[strlen(folder) - 1] == '/';
        printf("%s%s%s", count_text, folder, slash ? "" : "/");
        used = strlen(count_text) + tdc_columns_of(folder) + 1;
    }
    const struct tdc_group *start = page->groups->count != 0 ? &page->groups->all[0] : NULL;
    bool table = (page->request->formats & ~TDC_FORMATS_PAGE) != 0;
    if (table && start != NULL && start->first->file_count != 0)
        print_next(page, start->first, start->start, all ? page->width : used);
    else if (!all)
        printf("\n");
}

/* ---- all of it ------------------------------------------------------------------------------- */

bool tdc_print_page(const struct tdc_run_request *request, const struct tdc_run *run)
{
    struct tdc_page page = {.request = request, .run = run, .width = tdc_page_width()};
    struct tdc_groups groups;
    page.colour = tdc_coloured(STDOUT_FILENO);
    page.levels = request->options.rules == TDC_RULES_SOUND;
    tdc_run_judge(request, run, &page.answer);
    if (!tdc_groups_make(run, &groups)) {
        tdc_complain("out of memory");
        return false;
    }
    page.groups = &groups;
    print_answer(&page);
    if (run->count != 0)
        print_sides(&page);
    printf("\n");
    print_counts(&page, page.levels ? level_counts : plain_counts);
    print_counts(&page, other_counts);
    print_tolerance(&page);
    print_remarks(&page);
    print_methods(&page);
    tdc_page_starts(&page);
    tdc_page_lists(&page);
    tdc_print_third(request, run);
    printf("\n");
    if (request->verbose)
        print_speed(&page);
    print_files(&page);
    tdc_groups_free(&groups);
    return true;
}
