/* summary.c - what a run found, on one screen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/cli/shared/command.h"
#include "host/terminal/colour.h"
#include "host/terminal/parse.h"

static const char *paint(const char *code)
{
    return tdc_coloured(STDOUT_FILENO) ? code : "";
}

static const char *label_of(const struct tdc_task *task, char label[128])
{
    snprintf(label, 128, "%s%s%s%s%s%s", task->folder, task->folder[0] != '\0' ? " " : "",
             task->step, task->step[0] != '\0' ? " " : "", task->rank, task->debug ? " debug" : "");
    return label[0] != '\0' ? tdc_shown(label) : "all";
}

static void add_up(struct tdc_summary *total, const struct tdc_summary *part)
{
    total->rows += part->rows;
    total->bytes += part->bytes;
    total->origins += part->origins;
    total->entering += part->entering;
    total->seconds = part->seconds; /* of the whole run, the same for all */
    for (int i = 0; i < TDC_ROW_CLASSES; i++)
        total->classes[i] += part->classes[i];
    for (int i = 0; i < 3; i++)
        total->coloured[i] += part->coloured[i];
}

/* The classes a rule set knows, in the order they are shown. */
struct count_column {
    tdc_row_class row_class;
    const char *title;
};

static const struct count_column level_columns[] = {
    {TDC_ROW_IDENTICAL, "identical"}, {TDC_ROW_ROUNDING, "rounding"},   {TDC_ROW_CLOSE, "close"},
    {TDC_ROW_DIFFERENT, "different"}, {TDC_ROW_UNMATCHED, "unmatched"}, {TDC_ROW_ERROR, "errors"},
    {TDC_ROW_NONE, "no data"},        {TDC_ROW_CLASSES, NULL},
};

static const struct count_column plain_columns[] = {
    {TDC_ROW_SAME, "same"},    {TDC_ROW_DIFFERENT, "different"}, {TDC_ROW_UNMATCHED, "unmatched"},
    {TDC_ROW_ERROR, "errors"}, {TDC_ROW_NONE, "no data"},        {TDC_ROW_CLASSES, NULL},
};

static const struct count_column *columns_of(const struct tdc_run_request *request)
{
    return request->options.rules != TDC_RULES_SOUND ? plain_columns : level_columns;
}

static void print_counts(const struct count_column *columns, int width, const char *label,
                         const struct tdc_summary *summary)
{
    printf("%-*s %7llu", width, label, (unsigned long long)summary->rows);
    for (; columns->title != NULL; columns++)
        printf(" %9llu", (unsigned long long)summary->classes[columns->row_class]);
    printf("\n");
}

/* Of the widest label, at least 12. */
static int label_width(const struct tdc_run *run)
{
    size_t width = 12;
    for (size_t i = 0; i < run->count; i++) {
        char label[128];
        size_t length = strlen(label_of(run->comparisons[i].task, label));
        width = length > width ? length : width;
    }
    return (int)width;
}

static void print_table(const struct tdc_run *run, const struct count_column *columns,
                        struct tdc_summary *total)
{
    int width = label_width(run);
    printf("%-*s %7s", width, "", "rows");
    for (const struct count_column *column = columns; column->title != NULL; column++)
        printf(" %9s", column->title);
    printf("\n");
    for (size_t i = 0; i < run->count; i++) {
        const struct tdc_run_comparison *comparison = &run->comparisons[i];
        char label[128];
        if (comparison->table == NULL) {
            printf("%-*s not compared: %s\n", width, label_of(comparison->task, label),
                   tdc_shown(comparison->error.message));
            continue;
        }
        struct tdc_summary summary;
        tdc_table_summary(comparison->table, &summary, sizeof summary);
        add_up(total, &summary);
        print_counts(columns, width, label_of(comparison->task, label), &summary);
    }
    if (run->count > 1)
        print_counts(columns, width, "total", total);
}

/* Name of the row: the NPU's, or the bench's where there is no NPU record. */
static const char *row_name(const struct tdc_run_comparison *comparison, size_t row)
{
    size_t npu, bench;
    tdc_match_pair(comparison->match, row, &npu, &bench);
    return npu != TDC_NO_RECORD ? tdc_dump_record_name(comparison->npu, npu)
                                : tdc_dump_record_name(comparison->bench, bench);
}

static void print_row(const struct tdc_run *run, const struct tdc_run_comparison *comparison,
                      size_t row)
{
    char label[128];
    char worst[160];
    snprintf(worst, sizeof worst, "%s", tdc_table_worst(comparison->table, row));
    worst[strcspn(worst, "\n")] = '\0';
    printf("  %s%s%6zu  %s%s%s\n          %s\n",
           run->count > 1 ? label_of(comparison->task, label) : "", run->count > 1 ? " " : "", row,
           paint("\x1b[1m"), tdc_shown(row_name(comparison, row)), paint("\x1b[0m"),
           tdc_shown(worst));
}

/* The first rows of a class in network order. */
static void print_first(const struct tdc_run *run, tdc_row_class row_class, const char *title,
                        const char *colour, uint64_t all, size_t most)
{
    if (all == 0)
        return;
    size_t shown = 0;
    printf("\n%s%s%s", paint(colour), title, paint("\x1b[0m"));
    if (all > most)
        printf(" (the first %zu of %llu)", most, (unsigned long long)all);
    printf(":\n");
    for (size_t i = 0; i < run->count; i++) {
        const struct tdc_run_comparison *comparison = &run->comparisons[i];
        size_t rows = comparison->table != NULL ? tdc_table_rows(comparison->table) : 0;
        for (size_t row = 0; row < rows && shown < most; row++) {
            if (tdc_table_class(comparison->table, row) != row_class)
                continue;
            print_row(run, comparison, row);
            shown++;
        }
    }
}

/* How names were translated, where that was not plain equality. */
static void print_methods(const struct tdc_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        const struct tdc_run_comparison *comparison = &run->comparisons[i];
        if (comparison->table == NULL ||
            strcmp(tdc_match_method(comparison->match), "equal names") == 0)
            continue;
        struct tdc_summary summary;
        char label[128];
        tdc_table_summary(comparison->table, &summary, sizeof summary);
        printf("%s%snames matched by %s, %llu rows without a partner%s\n",
               run->count > 1 ? label_of(comparison->task, label) : "", run->count > 1 ? ": " : "",
               tdc_shown(tdc_match_method(comparison->match)),
               (unsigned long long)summary.classes[TDC_ROW_UNMATCHED],
               summary.classes[TDC_ROW_UNMATCHED] != 0
                   ? " (tdcmp match -u lists them, tdcmp match --suggest proposes names)"
                   : "");
    }
}

static void print_origin(const struct tdc_run *run, const struct tdc_run_comparison *comparison,
                         const struct tdc_origin *origin)
{
    static const char *const words[] = {
        [TDC_ORIGIN_OPERATOR] = "the inputs of the call do not explain it",
        [TDC_ORIGIN_ENTRY] = "no recorded call has produced it",
        [TDC_ORIGIN_ARGUMENT] = "an argument of the call",
        [TDC_ORIGIN_RANDOM] = "random state differs: fix the seed, what follows is not comparable",
    };
    print_row(run, comparison, origin->row);
    printf("          %s: %s", tdc_origin_text(origin->kind), words[origin->kind]);
    if (origin->kind != TDC_ORIGIN_ARGUMENT)
        printf("\n          relative distance %.3g, worst element %.3g of the largest",
               origin->distance, origin->worst);
    if (origin->kind == TDC_ORIGIN_OPERATOR)
        printf(" (inputs %.3g, %.3g)", origin->input_distance, origin->input_worst);
    printf("\n");
}

/* Origins of one direction, and whether sure ones or those that may be consequences. */
static size_t print_origins_of(const struct tdc_run *run, bool backward, bool consequence,
                               size_t most)
{
    size_t shown = 0;
    for (size_t i = 0; i < run->count; i++) {
        const struct tdc_run_comparison *comparison = &run->comparisons[i];
        size_t count = comparison->table != NULL ? tdc_table_origins(comparison->table) : 0;
        for (size_t k = 0; k < count && shown < most; k++) {
            const struct tdc_origin *origin = tdc_table_origin(comparison->table, k);
            if (origin->backward != backward || origin->consequence != consequence)
                continue;
            print_origin(run, comparison, origin);
            shown++;
        }
    }
    return shown;
}

/* Where differences begin: forward before backward. */
static void print_origins(const struct tdc_run *run, uint64_t all)
{
    const size_t most = 10, most_consequences = 3;
    if (all == 0)
        return;
    printf("\n%sFirst differences%s (where they begin, in network order):\n", paint("\x1b[31m"),
           paint("\x1b[0m"));
    size_t shown = print_origins_of(run, false, false, most);
    shown += print_origins_of(run, true, false, most - shown);
    if (shown < most_consequences) {
        shown += print_origins_of(run, false, true, most_consequences - shown);
        shown += print_origins_of(run, true, true, most_consequences - shown);
    }
    if (shown < all)
        printf("  and %llu more, consequences of these perhaps\n",
               (unsigned long long)(all - shown));
}

void tdc_print_summary(const struct tdc_run_request *request, const struct tdc_run *run)
{
    struct tdc_summary total = {0};
    print_table(run, columns_of(request), &total);
    if (total.classes[TDC_ROW_SHOWN] != 0)
        printf("%llu rows are shown and not judged\n",
               (unsigned long long)total.classes[TDC_ROW_SHOWN]);
    if (total.entering != 0)
        printf("%llu parameters or inputs of the two runs are not identical\n",
               (unsigned long long)total.entering);
    print_origins(run, total.origins);
    if (total.origins == 0)
        print_first(run, TDC_ROW_DIFFERENT,
                    request->options.rules != TDC_RULES_SOUND
                        ? "First differences, in network order"
                        : "First differences, grown from smaller ones",
                    "\x1b[31m", total.classes[TDC_ROW_DIFFERENT], 10);
    print_first(run, TDC_ROW_ERROR, "Could not be compared", "\x1b[33m",
                total.classes[TDC_ROW_ERROR], 5);
    print_first(run, TDC_ROW_UNMATCHED, "Without a partner", "\x1b[33m",
                total.classes[TDC_ROW_UNMATCHED], 3);
    printf("\n");
    print_methods(run);
    if (total.bytes != 0)
        printf(total.bytes < 100000000 ? "%.3g MB of tensors compared at %.2f GB/s, "
                                       : "%.4g GB of tensors compared at %.2f GB/s, ",
               (double)total.bytes * (total.bytes < 100000000 ? 1e-6 : 1e-9),
               (double)total.bytes * 1e-9 / total.seconds);
    printf("%.2f s in all (rules %s, %s kernels)\n", run->seconds,
           tdc_name_of_rules(request->options.rules), tdc_cpu_name());
    for (size_t i = 0; i < run->count; i++)
        for (size_t k = 0; k < run->comparisons[i].file_count; k++)
            printf("written: %s\n", tdc_shown(run->comparisons[i].files[k]));
}
