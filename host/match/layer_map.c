/* layer_map.c - translating the place of a call in one network to its place in the other
 * (spec 4.8). */
#include <string.h>

#include "host/match/layer_gaps.h"
#include "host/match/layer_rows.h"
#include "host/match/layer_rules.h"
#include "io/error.h"

struct translation {
    struct tdc_match *match;
    struct tdc_layer_side *npu, *bench;
    struct tdc_layer_rules *rules;
    struct tdc_layer_rows rows;
    struct tdc_layer_gaps gaps;
};

/* The bench entry that stands where the NPU entry stands, or TDC_LAYER_NONE and a note that says
 * why not; *note is NULL when out of memory. */
static uint32_t translate(struct translation *translation, const struct tdc_layer_entry *entry,
                          const char **note)
{
    uint32_t here = TDC_LAYER_ROOT, there = TDC_LAYER_ROOT;
    const char *dot = strchr(entry->scope, '.');
    const char *scope = dot != NULL ? dot + 1 : "";
    while (*scope != '\0') {
        struct tdc_layer_rule *rule =
            tdc_layer_rule_find(translation->rules, translation->npu->nodes[here].type, scope);
        size_t length = rule != NULL ? strlen(rule->key) : strcspn(scope, ".");
        const char *name = rule != NULL ? rule->value : scope;
        size_t name_length = rule != NULL ? rule->value_length : length;
        if (rule != NULL)
            rule->used = true;
        uint32_t next = tdc_layer_descend(translation->bench, there, name, name_length);
        if (next == TDC_LAYER_NONE) {
            *note = tdc_layer_gap_name(&translation->gaps, there, name, name_length);
            return TDC_LAYER_NONE;
        }
        there = next;
        here = tdc_layer_descend(translation->npu, here, scope, length);
        scope += length;
        scope += *scope == '.';
    }
    uint32_t found = tdc_layer_entry_at(translation->bench, there, entry->state, entry->position);
    if (found == TDC_LAYER_NONE)
        *note = tdc_layer_gap_call(&translation->gaps, there, entry->state);
    return found;
}

static bool map_rows(struct translation *translation, uint32_t npu_entry, uint32_t bench_entry)
{
    struct tdc_match *match = translation->match;
    const struct tdc_dump_entry *npu = &match->npu->entries[npu_entry];
    for (size_t i = npu->first; i < npu->first + npu->count; i++) {
        const char *found = NULL;
        if (bench_entry != TDC_LAYER_NONE &&
            !tdc_layer_rows_find(&translation->rows, bench_entry,
                                 tdc_row_end(match->npu->records[i].name, npu->name), &found))
            return false;
        match->keys[i] = found != NULL ? found : "N/A";
        match->key_rules[i] = TDC_KEY_LAYER;
    }
    return true;
}

static bool map_entry(struct translation *translation, uint32_t number)
{
    struct tdc_match *match = translation->match;
    const struct tdc_layer_entry *entry = &translation->npu->entries[number];
    const char *note = "the name has no place in a network";
    uint32_t found = TDC_LAYER_NONE;
    if (entry->scope != NULL && translation->bench->usable)
        found = translate(translation, entry, &note);
    else if (entry->scope != NULL)
        note = "nothing is known about the places of the bench network";
    if (found != TDC_LAYER_NONE)
        note = match->bench->entries[found].name;
    match->entry_notes[number] = (struct tdc_entry_note){found != TDC_LAYER_NONE, note};
    return note != NULL && map_rows(translation, number, found);
}

static bool map_entries(struct translation *translation)
{
    struct tdc_match *match = translation->match;
    size_t count = match->npu->entry_count;
    match->entry_notes = tdc_arena_zeroed(&match->arena, count + 1, sizeof *match->entry_notes);
    tdc_layer_gaps_init(&translation->gaps, translation->bench, &match->arena);
    bool ok = tdc_layer_rows_init(&translation->rows, match->bench) && match->entry_notes != NULL;
    for (uint32_t i = 0; ok && i < count; i++)
        ok = map_entry(translation, i);
    tdc_layer_rows_free(&translation->rows);
    tdc_layer_gaps_free(&translation->gaps);
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
    struct translation translation = {
        .match = match, .npu = &npu, .bench = &bench, .rules = &layer_rules};
    if (*used && !(tdc_layer_tree(&npu) && tdc_layer_tree(&bench) && map_entries(&translation) &&
                   tdc_layer_rules_report(&layer_rules, &npu, options)))
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory while mapping layers");
    tdc_layer_free(&npu);
    tdc_layer_free(&bench);
    tdc_layer_rules_free(&layer_rules);
    return status;
}
