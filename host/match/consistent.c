/*
 * consistent.c - a training run against an inference run
 * (docs/msprobe.md#training-against-inference).
 *
 * Modules are called differently on both sides, and some of one side are joined on the other: the
 * three projections of an attention, the two of a gated layer. Rows are paired by the call, the
 * place in the network and the translated name of the module; rows of one partner become one
 * record, whose texts are lists. Both sides keep their order.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/match/consistent.h"
#include "io/base/error.h"
#include "io/text/pytext.h"

#define TEXT_LIMIT ((size_t)1 << 24)

static bool is_part(const char *part, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(part, word, length) == 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* An entry name without its last two parts, which are call number and direction. */
struct entry_parts {
    const char *name;
    size_t base;               /* length */
    const char *last, *before; /* parts */
    size_t last_length, before_length;
    const char *third; /* part from the end */
    size_t third_length;
};

static bool split_entry(const char *name, struct entry_parts *parts)
{
    const char *ends[3], *starts[3];
    const char *end = name + strlen(name);
    for (int i = 0; i < 3; i++) {
        const char *start = end;
        while (start > name && start[-1] != '.')
            start--;
        starts[i] = start;
        ends[i] = end;
        if (start == name && i < 2)
            return false;
        end = start > name ? start - 1 : name;
    }
    *parts = (struct entry_parts){.name = name,
                                  .base = (size_t)(ends[2] - name),
                                  .last = starts[0],
                                  .before = starts[1],
                                  .third = starts[2]};
    parts->last_length = (size_t)(ends[0] - starts[0]);
    parts->before_length = (size_t)(ends[1] - starts[1]);
    parts->third_length = (size_t)(ends[2] - starts[2]);
    return true;
}

/* Where the last "layers.<number>." of the text ends; NULL when there is none. */
static const char *behind_layers(const char *text, size_t length)
{
    const char *found = NULL;
    for (size_t i = 0; i + 8 < length; i++) {
        if (strncmp(text + i, "layers.", 7) != 0)
            continue;
        size_t digits = i + 7;
        while (digits < length && text[digits] >= '0' && text[digits] <= '9')
            digits++;
        if (digits > i + 7 && digits < length && text[digits] == '.')
            found = text + digits + 1;
    }
    return found;
}

/* The number behind the first "layers.", -1 without one. */
static long layer_of(const char *text, size_t length)
{
    for (size_t i = 0; i + 7 < length; i++)
        if (strncmp(text + i, "layers.", 7) == 0 && text[i + 7] >= '0' && text[i + 7] <= '9')
            return strtol(text + i + 7, NULL, 10);
    return -1;
}

/* The last occurrence of a pattern in which '?' stands for any character; NULL when there is none.
 */
static const char *last_of(const char *text, size_t length, const char *pattern)
{
    size_t size = strlen(pattern);
    for (size_t i = length >= size ? length - size + 1 : 0; i-- > 0;) {
        size_t k = 0;
        while (k < size && (pattern[k] == '?' || pattern[k] == text[i + k]))
            k++;
        if (k == size)
            return text + i;
    }
    return NULL;
}

/* What of the base names the module and its class. */
static void find_module(tdc_consistent backend, bool training, const char **text, size_t *length)
{
    const char *end = *text + *length, *cut = NULL;
    if (training && backend == TDC_CONSISTENT_FSDP) {
        cut = last_of(*text, *length, "_fsdp_wrapped_module.");
        cut = cut != NULL ? cut + strlen("_fsdp_wrapped_module.") : NULL;
    } else {
        cut = behind_layers(*text, *length);
    }
    if (cut != NULL)
        *text = cut;
    const char *prefix = NULL;
    if (training) {
        prefix = last_of(*text, (size_t)(end - *text), "module?module.");
        prefix = prefix != NULL ? prefix + strlen("module.module.") : NULL;
    } else if ((size_t)(end - *text) > strlen("Module.model.") &&
               strncmp(*text, "Module", 6) == 0 && strncmp(*text + 7, "model.", 6) == 0) {
        prefix = *text + strlen("Module.model.");
    }
    if (prefix != NULL)
        *text = prefix;
    *length = (size_t)(end - *text);
}

static const char *translated(tdc_consistent backend, const char *part, size_t length)
{
    static const char *const fsdp[][2] = {
        {"q_proj", "qkv_proj"},        {"k_proj", "qkv_proj"},      {"v_proj", "qkv_proj"},
        {"gate_proj", "gate_up_proj"}, {"up_proj", "gate_up_proj"}, {NULL, NULL}};
    static const char *const megatron[][2] = {{"word_embeddings", "embed_tokens"},
                                              {"self_attention", "self_attn"},
                                              {"linear_qkv", "qkv_proj"},
                                              {"q_layernorm", "q_norm"},
                                              {"k_layernorm", "k_norm"},
                                              {"core_attention", "attn"},
                                              {"linear_proj", "o_proj"},
                                              {"router", "gate"},
                                              {"linear_fc1", "gate_up_proj"},
                                              {"linear_fc2", "down_proj"},
                                              {NULL, NULL}};
    const char *const(*map)[2] = backend == TDC_CONSISTENT_FSDP ? fsdp : megatron;
    for (; (*map)[0] != NULL; map++)
        if (is_part(part, length, (*map)[0]))
            return (*map)[1];
    return NULL;
}

/* The key of the module: its path without the first part, translated; of an inference run beside
 * FSDP the last part of its path. */
static void add_module_key(struct tdc_text *key, tdc_consistent backend, bool training,
                           const char *text, size_t length)
{
    find_module(backend, training, &text, &length);
    const char *class = memrchr(text, '.', length);
    size_t path = class != NULL ? (size_t)(class - text) : 0;
    const char *dot = !training && backend == TDC_CONSISTENT_FSDP ? memrchr(text, '.', path)
                                                                  : memchr(text, '.', path);
    if (dot != NULL) {
        path -= (size_t)(dot + 1 - text);
        text = dot + 1;
    }
    /* a name of one part is looked up only where another has several; these are what the map holds
     */
    const char *other =
        (training || backend == TDC_CONSISTENT_MEGATRON) ? translated(backend, text, path) : NULL;
    if (other != NULL)
        tdc_text_adds(key, other);
    else
        tdc_text_add(key, text, path);
}

/* ---- one side -------------------------------------------------------------------------------- */

struct side {
    const struct tdc_dump *dump;
    bool training;
    const char **keys; /* by record; NULL: takes no part */
};

static bool stops(tdc_consistent backend, const struct entry_parts *parts)
{
    static const char *const fsdp[] = {"Qwen2Model", "Qwen3Model", "Qwen3MoeModel"};
    if (!is_part(parts->before, parts->before_length, "backward"))
        return false;
    if (backend == TDC_CONSISTENT_MEGATRON)
        return is_part(parts->third, parts->third_length, "GPTModel");
    for (size_t i = 0; i < 3; i++)
        if (is_part(parts->third, parts->third_length, fsdp[i]))
            return true;
    return false;
}

static bool begins(tdc_consistent backend, const struct entry_parts *parts)
{
    const char *module =
        backend == TDC_CONSISTENT_MEGATRON ? "VocabParallelEmbedding" : "Embedding";
    char part[64];
    if (!is_part(parts->before, parts->before_length, "forward") ||
        parts->third_length >= sizeof part)
        return false;
    memcpy(part, parts->third, parts->third_length);
    part[parts->third_length] = '\0';
    return strstr(module, part) != NULL;
}

/* Direction and number of the call; forward calls of a training run by their order. */
static void add_call(struct tdc_text *key, const struct entry_parts *parts, bool renumber,
                     uint32_t number)
{
    bool digits_last =
        parts->last_length != 0 && strspn(parts->last, "0123456789") >= parts->last_length;
    if (!renumber)
        tdc_text_addf(key, "%.*s.%.*s", (int)parts->before_length, parts->before,
                      (int)parts->last_length, parts->last);
    else if (digits_last)
        tdc_text_addf(key, "%.*s.%u", (int)parts->before_length, parts->before, number);
    else
        tdc_text_addf(key, "%u.%.*s", number, (int)parts->last_length, parts->last);
}

static bool is_either(const struct entry_parts *parts, const char *word)
{
    return is_part(parts->last, parts->last_length, word) ||
           is_part(parts->before, parts->before_length, word);
}

static bool key_entry(struct tdc_arena *arena, struct side *side, tdc_consistent backend,
                      const struct tdc_match_rules *rules, const struct tdc_dump_entry *entry,
                      const struct entry_parts *parts, uint32_t number)
{
    struct tdc_text key;
    tdc_text_init(&key, TEXT_LIMIT);
    bool ok = true;
    size_t entry_length = strlen(entry->name);
    bool gradient = is_either(parts, "parameters_grad");
    bool forward = !gradient && is_either(parts, "forward");
    bool numbered = strspn(parts->last, "0123456789") >= parts->last_length ||
                    strspn(parts->before, "0123456789") >= parts->before_length;
    for (size_t i = entry->first; i < entry->first + entry->count && ok; i++) {
        const struct tdc_record *record = &side->dump->records[i];
        if (!tdc_match_takes(rules, record))
            continue;
        tdc_text_clear(&key);
        if (gradient)
            tdc_text_adds(&key, "parameters_grad");
        else
            add_call(&key, parts, side->training && forward && numbered, number);
        tdc_text_addc(&key, '\n');
        const char *rest = record->name;
        for (const char *at; (at = strstr(rest, entry->name)) != NULL; rest = at + entry_length)
            tdc_text_add(&key, rest, (size_t)(at - rest));
        tdc_text_adds(&key, rest);
        tdc_text_addf(&key, "\n%ld\n", layer_of(entry->name, parts->base));
        add_module_key(&key, backend, side->training, entry->name, parts->base);
        side->keys[i] = key.failed ? NULL : tdc_arena_text(arena, tdc_text_get(&key), key.length);
        ok = side->keys[i] != NULL;
    }
    tdc_text_free(&key);
    return ok;
}

static bool make_keys(struct tdc_arena *arena, struct side *side, tdc_consistent backend,
                      const struct tdc_match_rules *rules)
{
    const struct tdc_dump *dump = side->dump;
    struct tdc_name_table bases;
    tdc_names_init(&bases);
    side->keys = tdc_arena_zeroed(arena, dump->record_count + 1, sizeof *side->keys);
    uint32_t *counts = calloc(dump->entry_count + 1, sizeof *counts);
    bool ok = side->keys != NULL && counts != NULL, reading = true;
    for (size_t e = 0; e < dump->entry_count && ok; e++) {
        const struct tdc_dump_entry *entry = &dump->entries[e];
        struct entry_parts parts;
        if (!split_entry(entry->name, &parts))
            continue;
        if (side->training && stops(backend, &parts))
            reading = false;
        else if (side->training && begins(backend, &parts))
            reading = true;
        if (!reading)
            continue;
        bool fresh, gradient = is_either(&parts, "parameters_grad");
        if (gradient) /* its base has the part parameters_grad where a number follows */
            parts.base = (size_t)(parts.last - 1 - entry->name);
        uint32_t base = tdc_names_put(&bases, entry->name, parts.base, &fresh), number = 0;
        ok = base != TDC_NAME_NONE;
        if (ok && !gradient && is_either(&parts, "forward"))
            number = counts[base]++;
        ok = ok && key_entry(arena, side, backend, rules, entry, &parts, number);
    }
    free(counts);
    tdc_names_free(&bases);
    return ok;
}

/* ---- joining records ------------------------------------------------------------------------- */

static const char *put(struct tdc_arena *arena, const struct tdc_text *text)
{
    return text->failed ? NULL : tdc_arena_text(arena, tdc_text_get(text), text->length);
}

/* A statistic as it is read back from the text of the list: numbers are floats. */
static void read_back(struct tdc_record *record, int which)
{
    double number;
    if (record->stat_kinds[which] == TDC_STAT_TRUE || record->stat_kinds[which] == TDC_STAT_FALSE) {
        record->stats[which].text = record->stat_kinds[which] == TDC_STAT_TRUE ? "True" : "False";
        record->stat_kinds[which] = TDC_STAT_TEXT;
    } else if (record->stat_kinds[which] == TDC_STAT_BIG_INTEGER &&
               tdc_float_parse(record->stats[which].text, strlen(record->stats[which].text),
                               &number)) {
        record->stats[which].number = number;
        record->stat_kinds[which] = TDC_STAT_FLOAT;
    } else if (record->stat_kinds[which] == TDC_STAT_INTEGER) {
        record->stat_kinds[which] = TDC_STAT_FLOAT;
    }
}

static void add_stat(struct tdc_text *text, const struct tdc_record *record, int which)
{
    char digits[TDC_FLOAT_TEXT];
    if (record->stat_kinds[which] == TDC_STAT_FLOAT)
        tdc_text_add(text, digits, tdc_float_repr(record->stats[which].number, digits));
    else
        tdc_text_adds(text, strcmp(record->stats[which].text, "Nan") == 0
                                ? "nan"
                                : record->stats[which].text);
}

/* The larger maximum or the smaller minimum; what is no number counts only without one. */
static void merge_extreme(struct tdc_record *into, const struct tdc_record *next, int which)
{
    bool ours = into->stat_kinds[which] == TDC_STAT_FLOAT;
    bool theirs = next->stat_kinds[which] == TDC_STAT_FLOAT;
    double x = ours ? into->stats[which].number : 0, y = theirs ? next->stats[which].number : 0;
    if (theirs && (!ours || (which == TDC_MAX ? y > x : y < x))) {
        into->stat_kinds[which] = TDC_STAT_FLOAT;
        into->stats[which].number = y;
    } else if (!ours && !theirs) {
        into->stat_kinds[which] = TDC_STAT_TEXT;
        into->stats[which].text = "None";
    }
}

struct joining {
    struct tdc_arena *arena;
    const char *separator; /* of names */
};

/* Joins records of one side into one; false when out of memory. */
static bool join_records(const struct joining *joining, const struct tdc_dump *dump,
                         const uint32_t *numbers, size_t count, struct tdc_record *joined)
{
    struct tdc_text texts[6]; /* name, dtype, shape, data name, mean, norm */
    *joined = dump->records[numbers[0]];
    for (int i = 0; i < TDC_STATISTICS; i++)
        read_back(joined, i);
    if (count == 1)
        return true;
    for (int i = 0; i < 6; i++)
        tdc_text_init(&texts[i], TEXT_LIMIT);
    for (size_t k = 0; k < count; k++) {
        struct tdc_record next = dump->records[numbers[k]];
        for (int i = 0; i < TDC_STATISTICS; i++)
            read_back(&next, i);
        const char *parts[4] = {next.name, next.no_dtype ? "N/A" : next.dtype,
                                next.no_shape ? "N/A" : next.shape, next.data_name};
        for (int i = 0; i < 4; i++) {
            tdc_text_adds(&texts[i], k == 0 ? "" : i == 0 ? joining->separator : ";");
            tdc_text_adds(&texts[i], parts[i]);
        }
        for (int i = 0; i < 2; i++) {
            tdc_text_adds(&texts[4 + i], k == 0 ? "" : ";");
            add_stat(&texts[4 + i], &next, TDC_MEAN + i);
        }
        merge_extreme(joined, &next, TDC_MAX);
        merge_extreme(joined, &next, TDC_MIN);
    }
    const char *made[6];
    bool ok = true;
    for (int i = 0; i < 6; i++) {
        made[i] = put(joining->arena, &texts[i]);
        ok &= made[i] != NULL;
        tdc_text_free(&texts[i]);
    }
    joined->name = made[0];
    joined->dtype = made[1];
    joined->shape = made[2];
    joined->data_name = made[3];
    joined->no_dtype = joined->no_shape = false;
    for (int i = 0; i < 2 && ok; i++) {
        joined->stat_kinds[TDC_MEAN + i] = TDC_STAT_TEXT;
        joined->stats[TDC_MEAN + i].text = made[4 + i];
    }
    return ok;
}

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

static bool groups_make(struct groups *groups, const struct side *side)
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
static bool pair_sides(const struct joining *joining, const struct side *one,
                       const struct side *many, bool one_is_npu, struct rows *rows)
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
        ok = join_records(joining, one->dump, &i, 1, own) &&
             (count == 0 || join_records(joining, many->dump, numbers, count, others));
        row->has_npu = one_is_npu || count != 0;
        row->has_bench = !one_is_npu || count != 0;
        row->npu_at = one_is_npu ? i : count != 0 ? numbers[0] : 0;
        row->bench_at = one_is_npu ? (count != 0 ? numbers[0] : 0) : i;
    }
    for (uint32_t i = 0; ok && i < many->dump->record_count; i++) {
        if (many->keys[i] == NULL || found[i])
            continue;
        struct row *row = new_row(rows);
        ok = row != NULL &&
             join_records(joining, many->dump, &i, 1, one_is_npu ? &row->bench : &row->npu);
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
    struct side npu = {.dump = match->npu, .training = true}, bench = {.dump = match->bench};
    struct joining joining = {&match->arena,
                              (options->flags & TDC_OPTION_NAME_LINES) != 0 ? ";\n" : ";  "};
    struct rows rows = {0};
    bool fsdp = match->consistent == TDC_CONSISTENT_FSDP;
    match->method = "names of training and inference";
    bool ok = make_keys(&match->arena, &npu, match->consistent, rules) &&
              make_keys(&match->arena, &bench, match->consistent, rules) &&
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
