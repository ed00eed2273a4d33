/* summary.c - what a run found, on one screen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/cli/command.h"

static bool colourful(void)
{
    const char *no_colour = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && (no_colour == NULL || no_colour[0] == '\0');
}

static const char *paint(const char *code)
{
    return colourful() ? code : "";
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
    total->seconds = part->seconds; /* of the whole run, the same for all */
    for (int i = 0; i < TDC_ROW_CLASSES; i++)
        total->classes[i] += part->classes[i];
    for (int i = 0; i < 3; i++)
        total->coloured[i] += part->coloured[i];
}

static void print_counts(const char *label, const struct tdc_summary *summary)
{
    printf("%-18s %10llu %10llu %10llu %10llu %8llu %8llu\n", label,
           (unsigned long long)summary->rows, (unsigned long long)summary->classes[TDC_ROW_SAME],
           (unsigned long long)summary->classes[TDC_ROW_DIFFERENT],
           (unsigned long long)summary->classes[TDC_ROW_UNMATCHED],
           (unsigned long long)summary->classes[TDC_ROW_ERROR],
           (unsigned long long)summary->classes[TDC_ROW_NONE]);
}

static void print_table(const struct tdc_run *run, struct tdc_summary *total)
{
    printf("%-18s %10s %10s %10s %10s %8s %8s\n", "", "rows", "same", "different", "unmatched",
           "errors", "no data");
    for (size_t i = 0; i < run->count; i++) {
        const struct tdc_run_item *item = &run->items[i];
        char label[128];
        if (item->table == NULL) {
            printf("%-18s not compared: %s\n", label_of(item->task, label),
                   tdc_shown(item->error.message));
            continue;
        }
        struct tdc_summary summary;
        tdc_table_summary(item->table, &summary);
        add_up(total, &summary);
        print_counts(label_of(item->task, label), &summary);
    }
    if (run->count > 1)
        print_counts("total", total);
}

/* Name of the row: the NPU's, or the bench's where there is no NPU record. */
static const char *row_name(const struct tdc_run_item *item, size_t row)
{
    size_t npu, bench;
    tdc_match_pair(item->match, row, &npu, &bench);
    return npu != TDC_NO_RECORD ? tdc_dump_record_name(item->npu, npu)
                                : tdc_dump_record_name(item->bench, bench);
}

static void print_row(const struct tdc_run *run, const struct tdc_run_item *item, size_t row)
{
    char label[128];
    char worst[160];
    snprintf(worst, sizeof worst, "%s", tdc_table_worst(item->table, row));
    worst[strcspn(worst, "\n")] = '\0';
    printf("  %s%s%6zu  %s%s%s\n          %s\n", run->count > 1 ? label_of(item->task, label) : "",
           run->count > 1 ? " " : "", row, paint("\x1b[1m"), tdc_shown(row_name(item, row)),
           paint("\x1b[0m"), tdc_shown(worst));
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
        const struct tdc_run_item *item = &run->items[i];
        size_t rows = item->table != NULL ? tdc_table_rows(item->table) : 0;
        for (size_t row = 0; row < rows && shown < most; row++) {
            if (tdc_table_class(item->table, row) != row_class)
                continue;
            print_row(run, item, row);
            shown++;
        }
    }
}

/* How names were translated, where that was not plain equality. */
static void print_methods(const struct tdc_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        const struct tdc_run_item *item = &run->items[i];
        if (item->table == NULL || strcmp(tdc_match_method(item->match), "equal names") == 0)
            continue;
        struct tdc_summary summary;
        char label[128];
        tdc_table_summary(item->table, &summary);
        printf("%s%snames matched by %s, %llu rows without a partner%s\n",
               run->count > 1 ? label_of(item->task, label) : "", run->count > 1 ? ": " : "",
               tdc_shown(tdc_match_method(item->match)),
               (unsigned long long)summary.classes[TDC_ROW_UNMATCHED],
               summary.classes[TDC_ROW_UNMATCHED] != 0
                   ? " (tdcmp match -u lists them, tdcmp match --suggest proposes names)"
                   : "");
    }
}

void tdc_print_summary(const struct tdc_run_request *request, const struct tdc_run *run)
{
    struct tdc_summary total = {0};
    print_table(run, &total);
    print_first(run, TDC_ROW_DIFFERENT, "First differences, in network order", "\x1b[31m",
                total.classes[TDC_ROW_DIFFERENT], 10);
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
           request->options.rules == TDC_RULES_COMPAT ? "compat" : "sound", tdc_cpu_name());
    for (size_t i = 0; i < run->count; i++)
        for (size_t k = 0; k < run->items[i].file_count; k++)
            printf("written: %s\n", tdc_shown(run->items[i].files[k]));
}
