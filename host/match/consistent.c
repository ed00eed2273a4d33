/*
 * consistent.c - a training run against an inference run
 * (docs/msprobe.md#training-against-inference).
 *
 * Modules are called differently on both sides, and some of one side are joined on the other: the
 * three projections of an attention, the two of a gated layer. Rows are paired by the call, the
 * place in the network and the translated name of the module; rows of one partner become one
 * record, whose texts are lists. Both sides keep their order.
 */
#include <stdlib.h>
#include <string.h>

#include "host/match/consistent.h"
#include "io/base/error.h"

struct joining {
    struct tdc_arena *arena;
    const char *separator; /* of names */
};

/* ---- pairs ----------------------------------------------------------------------------------- */

/* A row before it has its place: the positions decide. */
struct row {
    struct tdc_record npu, bench;
    bool has_npu, has_bench, used;
    size_t npu_at, bench_at;
};

struct rows {
    struct row *rows;
    size_t count, capacity;
};

static struct row *new_row(struct rows *rows)
{
    if (rows->count == rows->capacity) {
        size_t capacity = rows->capacity == 0 ? 256 : rows->capacity * 2;
        struct row *grown = realloc(rows->rows, capacity * sizeof *grown);
        if (grown == NULL)
            return NULL;
        rows->rows = grown;
        rows->capacity = capacity;
    }
    struct row *row = &rows->rows[rows->count++];
    *row = (struct row){.has_npu = false};
    return row;
}

/* The records of a side by key, in order. */
struct groups {
    struct tdc_name_table keys;
    uint32_t *first, *last, *next;
};

static void groups_free(struct groups *groups)
{
    tdc_names_free(&groups->keys);
    free(groups->first);
    free(groups->last);
    free(groups->next);
}

static bool groups_make(struct groups *groups, const struct tdc_consistent_side *side)
{
    size_t count = side->dump->record_count;
    tdc_names_init(&groups->keys);
    groups->first = malloc((count + 1) * sizeof(uint32_t));
    groups->last = malloc((count + 1) * sizeof(uint32_t));
    groups->next = malloc((count + 1) * sizeof(uint32_t));
    if (groups->first == NULL || groups->last == NULL || groups->next == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        bool fresh;
        if (side->keys[i] == NULL)
            continue;
        uint32_t key = tdc_names_put(&groups->keys, side->keys[i], strlen(side->keys[i]), &fresh);
        if (key == TDC_NAME_NONE)
            return false;
        groups->next[i] = TDC_UNPAIRED;
        if (fresh)
            groups->first[key] = i;
        else
            groups->next[groups->last[key]] = i;
        groups->last[key] = i;
    }
    return true;
}

/*
 * One row for each record of `one`, with all records of `many` that have its key; then those of
 * `many` that found none.
 */
static bool pair_sides(const struct joining *joining, const struct tdc_consistent_side *one,
                       const struct tdc_consistent_side *many, bool one_is_npu, struct rows *rows)
{
    struct groups groups = {0};
    uint32_t *numbers = malloc((many->dump->record_count + 1) * sizeof *numbers);
    bool *found = calloc(many->dump->record_count + 1, sizeof *found);
    bool ok = numbers != NULL && found != NULL && groups_make(&groups, many);
    for (uint32_t i = 0; ok && i < one->dump->record_count; i++) {
        if (one->keys[i] == NULL)
            continue;
        uint32_t key = tdc_names_find(&groups.keys, one->keys[i], strlen(one->keys[i]));
        size_t count = 0;
        for (uint32_t at = key == TDC_NAME_NONE ? TDC_UNPAIRED : groups.first[key];
             at != TDC_UNPAIRED; at = groups.next[at]) {
            numbers[count++] = at;
            found[at] = true;
        }
        struct row *row = new_row(rows);
        ok = row != NULL;
        if (!ok)
            break;
        struct tdc_record *own = one_is_npu ? &row->npu : &row->bench;
        struct tdc_record *others = one_is_npu ? &row->bench : &row->npu;
        ok = tdc_consistent_join(joining->arena, joining->separator, one->dump, &i, 1, own) &&
             (count == 0 || tdc_consistent_join(joining->arena, joining->separator, many->dump,
                                                numbers, count, others));
        row->has_npu = one_is_npu || count != 0;
        row->has_bench = !one_is_npu || count != 0;
        row->npu_at = one_is_npu ? i : count != 0 ? numbers[0] : 0;
        row->bench_at = one_is_npu ? (count != 0 ? numbers[0] : 0) : i;
    }
    for (uint32_t i = 0; ok && i < many->dump->record_count; i++) {
        if (many->keys[i] == NULL || found[i])
            continue;
        struct row *row = new_row(rows);
        ok = row != NULL && tdc_consistent_join(joining->arena, joining->separator, many->dump, &i,
                                                1, one_is_npu ? &row->bench : &row->npu);
        if (ok) {
            row->has_npu = !one_is_npu;
            row->has_bench = one_is_npu;
            row->npu_at = row->bench_at = i;
        }
    }
    free(numbers);
    free(found);
    groups_free(&groups);
    return ok;
}

/* ---- order ----------------------------------------------------------------------------------- */

static int by_npu(const void *left, const void *right)
{
    const struct row *a = *(const struct row *const *)left, *b = *(const struct row *const *)right;
    if (a->has_npu != b->has_npu)
        return a->has_npu ? -1 : 1;
    size_t x = a->has_npu ? a->npu_at : 0, y = b->has_npu ? b->npu_at : 0;
    return x != y ? (x > y) - (x < y) : (a > b) - (a < b);
}

static int by_bench(const void *left, const void *right)
{
    const struct row *a = *(const struct row *const *)left, *b = *(const struct row *const *)right;
    if (a->has_bench != b->has_bench)
        return a->has_bench ? -1 : 1;
    size_t x = a->has_bench ? a->bench_at : 0, y = b->has_bench ? b->bench_at : 0;
    return x != y ? (x > y) - (x < y) : (a > b) - (a < b);
}

/* Both sides keep their order; a row may come when it is the next on each side it has. */
static tdc_status put_in_order(const struct rows *rows, struct row **order, struct tdc_error *error)
{
    size_t n = rows->count, i = 0, j = 0;
    struct row **npu = malloc((n + 1) * sizeof *npu), **bench = malloc((n + 1) * sizeof *bench);
    tdc_status status = npu != NULL && bench != NULL
                            ? TDC_OK
                            : tdc_fail(error, TDC_ERR_MEMORY, "out of memory while matching");
    for (size_t k = 0; k < n && status == TDC_OK; k++)
        npu[k] = bench[k] = &rows->rows[k];
    if (status == TDC_OK) {
        qsort(npu, n, sizeof *npu, by_npu);
        qsort(bench, n, sizeof *bench, by_bench);
    }
    for (size_t done = 0; done < n && status == TDC_OK; done++) {
        while (i < n && npu[i]->used)
            i++;
        while (j < n && bench[j]->used)
            j++;
        struct row *candidates[2] = {i < n ? npu[i] : NULL, j < n ? bench[j] : NULL};
        struct row *picked = NULL;
        for (int k = 0; k < 2 && picked == NULL; k++) {
            struct row *row = candidates[k];
            if (row != NULL && (!row->has_npu || row == candidates[0]) &&
                (!row->has_bench || row == candidates[1]))
                picked = row;
        }
        if (picked == NULL)
            status =
                tdc_fail(error, TDC_ERR_UNSUPPORTED,
                         "Conflicting comparison data: the two columns cannot be monotonically "
                         "increasing at the same time.");
        else
            (order[done] = picked)->used = true;
    }
    free(npu);
    free(bench);
    return status;
}

/* The sides of the match become those of the joined records. */
static tdc_status take_rows(struct tdc_match *match, struct row *const *order, size_t count,
                            struct tdc_error *error)
{
    const struct tdc_dump *sides[2] = {match->npu, match->bench};
    for (int s = 0; s < 2; s++) {
        match->joined[s] = tdc_arena_take(&match->arena, sizeof **match->joined);
        struct tdc_record *records =
            tdc_arena_zeroed(&match->arena, count + 1, sizeof *match->joined[s]->records);
        if (match->joined[s] == NULL || records == NULL)
            return tdc_fail(error, TDC_ERR_MEMORY, "out of memory while matching");
        *match->joined[s] = *sides[s];
        match->joined[s]->records = records;
        match->joined[s]->record_count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t numbers[2] = {TDC_UNPAIRED, TDC_UNPAIRED};
        for (int s = 0; s < 2; s++) {
            if (!(s == 0 ? order[i]->has_npu : order[i]->has_bench))
                continue;
            numbers[s] = (uint32_t)match->joined[s]->record_count++;
            match->joined[s]->records[numbers[s]] = s == 0 ? order[i]->npu : order[i]->bench;
        }
        if (!tdc_match_add(match, numbers[0], numbers[1]))
            return tdc_fail(error, TDC_ERR_MEMORY, "out of memory while matching");
    }
    match->npu = match->joined[0];
    match->bench = match->joined[1];
    return TDC_OK;
}

tdc_status tdc_match_consistent(struct tdc_match *match, const struct tdc_match_rules *rules,
                                const struct tdc_options *options, struct tdc_error *error)
{
    struct tdc_consistent_side npu = {.dump = match->npu, .training = true},
                               bench = {.dump = match->bench};
    struct joining joining = {&match->arena,
                              (options->flags & TDC_OPTION_NAME_LINES) != 0 ? ";\n" : ";  "};
    struct rows rows = {0};
    bool fsdp = match->consistent == TDC_CONSISTENT_FSDP;
    match->method = "names of training and inference";
    bool ok = tdc_consistent_keys(&match->arena, &npu, match->consistent, rules) &&
              tdc_consistent_keys(&match->arena, &bench, match->consistent, rules) &&
              pair_sides(&joining, fsdp ? &bench : &npu, fsdp ? &npu : &bench, !fsdp, &rows);
    struct row **order = malloc((rows.count + 1) * sizeof *order);
    tdc_status status = ok && order != NULL
                            ? put_in_order(&rows, order, error)
                            : tdc_fail(error, TDC_ERR_MEMORY, "out of memory while matching");
    if (status == TDC_OK)
        status = take_rows(match, order, rows.count, error);
    free(order);
    free(rows.rows);
    return status;
}
