#include "host/cli/compare/page_groups.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ----------------------------------------------------------------------------------- */

const char *tdc_page_row_name(const struct tdc_run_comparison *comparison, size_t row)
{
    size_t npu, bench;
    tdc_match_pair(comparison->match, row, &npu, &bench);
    struct tdc_aligned logical;
    if (tdc_match_aligned(comparison->match, row, &logical, sizeof logical))
        return logical.name;
    return npu != TDC_NO_RECORD ? tdc_dump_record_name(comparison->npu, npu)
                                : tdc_dump_record_name(comparison->bench, bench);
}

void tdc_page_label(const struct tdc_task *task, char *label, size_t size)
{
    const char *parts[] = {task->folder, task->step, task->rank, task->debug ? "debug" : ""};
    size_t used = 0;
    label[0] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof *parts && used + 1 < size; i++)
        if (parts[i][0] != '\0')
            used +=
                (size_t)snprintf(label + used, size - used, "%s%s", used != 0 ? " " : "", parts[i]);
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Of an origin: smaller ones are shown first. */
static int turn_of(const struct tdc_origin *origin)
{
    return (origin->consequence ? 2 : 0) + (origin->backward ? 1 : 0);
}

static size_t origin_of_table(const tdc_table *table, size_t k)
{
    size_t count = tdc_table_origins(table);
    for (int turn = 0; turn < 4; turn++)
        for (size_t i = 0; i < count; i++)
            if (turn_of(tdc_table_origin(table, i)) == turn && k-- == 0)
                return i;
    return 0;
}

size_t tdc_group_origin(const struct tdc_group *group, size_t k)
{
    return origin_of_table(group->first->table, k);
}

/* The row where a comparison begins to differ; SIZE_MAX: it does not. */
static size_t start_of(const tdc_table *table)
{
    if (tdc_table_origins(table) != 0)
        return tdc_table_origin(table, origin_of_table(table, 0))->row;
    for (size_t row = 0; row < tdc_table_rows(table); row++)
        if (tdc_table_class(table, row) == TDC_ROW_DIFFERENT)
            return row;
    return SIZE_MAX;
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* The number of "rank12"; -1: another name. */
static long rank_number(const struct tdc_task *task)
{
    char *end;
    if (strncmp(task->rank, "rank", 4) != 0 || !isdigit((unsigned char)task->rank[4]))
        return -1;
    long number = strtol(task->rank + 4, &end, 10);
    return *end == '\0' ? number : -1;
}

/* Same step and kind: only the ranks tell them apart. */
static bool same_place(const struct tdc_task *a, const struct tdc_task *b)
{
    return strcmp(a->folder, b->folder) == 0 && strcmp(a->step, b->step) == 0 &&
           a->debug == b->debug;
}

static void append(struct tdc_group *group, const char *between, const char *text)
{
    size_t used = strlen(group->label);
    snprintf(group->label + used, sizeof group->label - used, "%s%s", between, text);
}

/* "rank 3" of "step0 rank 3": so that it can become "ranks 3-5". */
static void begin_place(struct tdc_group *group, const struct tdc_task *task, bool many)
{
    struct tdc_task place = *task;
    char text[128];
    place.rank = "";
    tdc_page_label(&place, text, sizeof text);
    append(group, group->label[0] != '\0' ? "; " : "", text);
    append(group, text[0] != '\0' ? " " : "", many ? "ranks " : "rank ");
}

static void put_range(struct tdc_group *group)
{
    char text[64];
    group->label[group->number_at] = '\0';
    if (group->range_first == group->range_last)
        snprintf(text, sizeof text, "%ld", group->range_first);
    else
        snprintf(text, sizeof text, "%ld-%ld", group->range_first, group->range_last);
    append(group, "", text);
}

static void name_member(struct tdc_group *group, const struct tdc_run_comparison *comparison,
                        bool many)
{
    char text[128];
    long number = rank_number(comparison->task);
    bool follows = group->last != NULL && rank_number(group->last->task) >= 0 &&
                   same_place(group->last->task, comparison->task);
    group->last = comparison;
    if (number < 0) {
        tdc_page_label(comparison->task, text, sizeof text);
        append(group, group->label[0] != '\0' ? ", " : "", text);
        return;
    }
    if (follows && number == group->range_last + 1) {
        group->range_last = number;
        put_range(group);
        return;
    }
    if (follows)
        append(group, "", ", ");
    else
        begin_place(group, comparison->task, many);
    group->number_at = strlen(group->label);
    group->range_first = group->range_last = number;
    put_range(group);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static bool starts_alike(const struct tdc_group *group, const struct tdc_run_comparison *comparison,
                         size_t start)
{
    return strcmp(tdc_page_row_name(group->first, group->start),
                  tdc_page_row_name(comparison, start)) == 0;
}

static bool next_of_group(const struct tdc_run *run, const struct tdc_group *group, size_t *at)
{
    for (; *at < run->count; (*at)++) {
        const struct tdc_run_comparison *comparison = &run->comparisons[*at];
        size_t start = comparison->table != NULL ? start_of(comparison->table) : SIZE_MAX;
        if (start != SIZE_MAX && starts_alike(group, comparison, start))
            return true;
    }
    return false;
}

bool tdc_groups_make(const struct tdc_run *run, struct tdc_groups *groups)
{
    *groups = (struct tdc_groups){.all = calloc(run->count + 1, sizeof *groups->all)};
    if (groups->all == NULL)
        return false;
    for (size_t i = 0; i < run->count; i++) {
        const struct tdc_run_comparison *comparison = &run->comparisons[i];
        size_t start = comparison->table != NULL ? start_of(comparison->table) : SIZE_MAX;
        size_t k = 0;
        while (k < groups->count && start != SIZE_MAX &&
               !starts_alike(&groups->all[k], comparison, start))
            k++;
        if (start == SIZE_MAX)
            continue;
        if (k == groups->count) {
            groups->all[k].first = comparison;
            groups->all[k].start = start;
            groups->count++;
        }
        groups->all[k].count++;
    }
    for (size_t k = 0; k < groups->count; k++)
        for (size_t i = 0; next_of_group(run, &groups->all[k], &i); i++)
            name_member(&groups->all[k], &run->comparisons[i], groups->all[k].count > 1);
    return true;
}

void tdc_groups_free(struct tdc_groups *groups)
{
    free(groups->all);
}
