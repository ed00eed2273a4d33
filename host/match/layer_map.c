/* layer_map.c - translating the place of a call in one network to its place in the other
 * (spec 4.8). */
#include <stdlib.h>
#include <string.h>

#include "host/match/layer_rules.h"
#include "io/error.h"

/* ---- translation ----------------------------------------------------------------------------- */

struct translation {
    struct tdc_layer_side *npu, *bench;
    struct tdc_layer_rules *rules;
};

/* The bench entry that stands where the NPU entry stands; TDC_LAYER_NONE if there is none. */
static uint32_t translate(struct translation *translation, const struct tdc_layer_entry *entry)
{
    uint32_t here = TDC_LAYER_ROOT, there = TDC_LAYER_ROOT;
    const char *dot = strchr(entry->scope, '.');
    const char *scope = dot != NULL ? dot + 1 : "";
    while (*scope != '\0' && there != TDC_LAYER_NONE) {
        struct tdc_layer_rule *rule =
            tdc_layer_rule_find(translation->rules, translation->npu->nodes[here].type, scope);
        size_t length = rule != NULL ? strlen(rule->key) : strcspn(scope, ".");
        if (rule != NULL) {
            rule->used = true;
            there = tdc_layer_descend(translation->bench, there, rule->value, rule->value_length);
        } else {
            there = tdc_layer_child(translation->bench, there, scope, length);
        }
        here = tdc_layer_descend(translation->npu, here, scope, length);
        scope += length;
        scope += *scope == '.';
    }
    return there == TDC_LAYER_NONE
               ? TDC_LAYER_NONE
               : tdc_layer_entry_at(translation->bench, there, entry->state, entry->position);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Up to so many rows of an entry are looked through one by one. */
#define FEW_ROWS 16

/* Rows of the bench entries that have many, by entry and end of the name. */
struct row_index {
    const struct tdc_dump *bench;
    struct tdc_arena arena;
    struct tdc_name_table ends; /* entry number and end of the name */
    uint32_t *last;             /* by number in ends: the last record */
    size_t capacity;
    bool *indexed; /* by entry */
};

static bool row_index_init(struct row_index *index, const struct tdc_dump *bench)
{
    *index = (struct row_index){.bench = bench};
    tdc_arena_init(&index->arena, (size_t)64 << 30);
    tdc_names_init(&index->ends);
    index->indexed = calloc(bench->entry_count + 1, sizeof *index->indexed);
    return index->indexed != NULL;
}

static void row_index_free(struct row_index *index)
{
    tdc_names_free(&index->ends);
    tdc_arena_free(&index->arena);
    free(index->indexed);
    free(index->last);
}

/* What follows the name of the entry, whatever the row is really called (spec 4.8). */
static const char *end_of(const char *row, const char *entry)
{
    size_t skip = strlen(entry);
    return strlen(row) > skip ? row + skip : "";
}

static const char *end_key(struct tdc_arena *arena, uint32_t entry, const char *end, size_t *length)
{
    size_t end_length = strlen(end);
    *length = sizeof entry + end_length;
    char *key = tdc_arena_take(arena, *length);
    if (key != NULL) {
        memcpy(key, &entry, sizeof entry);
        memcpy(key + sizeof entry, end, end_length);
    }
    return key;
}

static bool index_entry(struct row_index *index, uint32_t number)
{
    const struct tdc_dump_entry *entry = &index->bench->entries[number];
    index->indexed[number] = true;
    for (size_t i = entry->first; i < entry->first + entry->count; i++) {
        size_t length;
        bool fresh;
        const char *key = end_key(&index->arena, number,
                                  end_of(index->bench->records[i].name, entry->name), &length);
        uint32_t end =
            key != NULL ? tdc_names_put(&index->ends, key, length, &fresh) : TDC_NAME_NONE;
        if (end == TDC_NAME_NONE)
            return false;
        if (end >= index->capacity) {
            size_t capacity = index->capacity == 0 ? 1024 : index->capacity * 2;
            uint32_t *last = realloc(index->last, capacity * sizeof *last);
            if (last == NULL)
                return false;
            index->last = last;
            index->capacity = capacity;
        }
        index->last[end] = (uint32_t)i;
    }
    return true;
}

/* The last row of the bench entry that ends so; *found is NULL if there is none. False when out of
 * memory. */
static bool find_row(struct row_index *index, uint32_t number, const char *end, const char **found)
{
    const struct tdc_dump_entry *entry = &index->bench->entries[number];
    *found = NULL;
    if (entry->count <= FEW_ROWS) {
        for (size_t i = entry->count; i-- > 0 && *found == NULL;) {
            const char *name = index->bench->records[entry->first + i].name;
            if (strcmp(end_of(name, entry->name), end) == 0)
                *found = name;
        }
        return true;
    }
    size_t length;
    if (!index->indexed[number] && !index_entry(index, number))
        return false;
    const char *key = end_key(&index->arena, number, end, &length);
    if (key == NULL)
        return false;
    uint32_t known = tdc_names_find(&index->ends, key, length);
    if (known != TDC_NAME_NONE)
        *found = index->bench->records[index->last[known]].name;
    return true;
}

static bool map_rows(struct tdc_match *match, struct row_index *index, uint32_t npu_entry,
                     uint32_t bench_entry)
{
    const struct tdc_dump_entry *npu = &match->npu->entries[npu_entry];
    for (size_t i = npu->first; i < npu->first + npu->count; i++) {
        const char *found = NULL;
        if (bench_entry != TDC_LAYER_NONE &&
            !find_row(index, bench_entry, end_of(match->npu->records[i].name, npu->name), &found))
            return false;
        match->keys[i] = found != NULL ? found : "N/A";
        match->key_rules[i] = TDC_KEY_LAYER;
    }
    return true;
}

static bool map_entries(struct tdc_match *match, struct translation *translation)
{
    struct row_index index;
    bool ok = row_index_init(&index, match->bench);
    for (uint32_t i = 0; ok && i < match->npu->entry_count; i++) {
        const struct tdc_layer_entry *entry = &translation->npu->entries[i];
        uint32_t found = TDC_LAYER_NONE;
        if (entry->scope != NULL && translation->bench->usable)
            found = translate(translation, entry);
        ok = map_rows(match, &index, i, found);
    }
    row_index_free(&index);
    return ok;
}

/* Without the two files there is no place in the network to go by. */
static void report_missing(const struct tdc_layer_side *npu, const struct tdc_layer_side *bench,
                           const struct tdc_options *options)
{
    if (!npu->usable)
        tdc_map_warn(options, npu->dump->path, 0,
                     "stack.json or construct.json beside it is missing or empty; names are "
                     "compared as they are");
    else if (!bench->usable)
        tdc_map_warn(options, bench->dump->path, 0,
                     "stack.json or construct.json beside it is missing or empty; layer mapping "
                     "finds no partner");
}

tdc_status tdc_map_layers(struct tdc_match *match, const char *path,
                          const struct tdc_match_rules *rules, const struct tdc_options *options,
                          bool *used, struct tdc_error *error)
{
    struct tdc_layer_side npu = {.dump = match->npu, .arena = &match->arena};
    struct tdc_layer_side bench = {.dump = match->bench, .arena = &match->arena};
    struct tdc_layer_rules layer_rules;
    tdc_status status = tdc_layer_rules_load(&layer_rules, path, &match->arena, error);
    if (status == TDC_OK)
        status = tdc_layer_scopes(&npu, rules, error);
    if (status == TDC_OK)
        status = tdc_layer_scopes(&bench, rules, error);
    *used = status == TDC_OK && npu.usable;
    if (status == TDC_OK)
        report_missing(&npu, &bench, options);
    struct translation translation = {.npu = &npu, .bench = &bench, .rules = &layer_rules};
    if (*used &&
        !(tdc_layer_tree(&npu) && tdc_layer_tree(&bench) && map_entries(match, &translation) &&
          tdc_layer_rules_report(&layer_rules, &npu, options)))
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory while mapping layers");
    tdc_layer_free(&npu);
    tdc_layer_free(&bench);
    tdc_layer_rules_free(&layer_rules);
    return status;
}
