/* layer_map.c - translating the place of a call in one network to its place in the other
 * (docs/msprobe.md#layer-mapping). */
#include <string.h>

#include "host/match/layer/layer_gaps.h"
#include "host/match/layer/layer_rows.h"
#include "host/match/layer/layer_rules.h"
#include "io/base/error.h"

/* Where a node of the NPU network stands in the bench network. */
struct place {
    uint32_t node;    /* TDC_LAYER_NONE: nowhere */
    const char *note; /* why nowhere */
};

struct translation {
    struct tdc_match *match;
    struct tdc_layer_side *npu, *bench;
    struct tdc_layer_rules *rules;
    struct place *places; /* by NPU node */
    struct tdc_text path;
    struct tdc_layer_rows rows;
    struct tdc_layer_gaps gaps;
};

/* Names from the root to a node; rules with dots need them all. */
static void spell_path(struct translation *translation, uint32_t node)
{
    const struct tdc_layer_node *nodes = translation->npu->nodes;
    struct tdc_text *path = &translation->path;
    size_t length = 0;
    for (uint32_t at = node; at != TDC_LAYER_ROOT; at = nodes[at].parent)
        length += strlen(nodes[at].name) + 1;
    tdc_text_clear(path);
    for (size_t i = 0; i < length; i++)
        tdc_text_addc(path, '.');
    if (path->failed || length == 0)
        return;
    path->data[--length] = '\0';
    path->length = length;
    for (uint32_t at = node; at != TDC_LAYER_ROOT; at = nodes[at].parent) {
        size_t name_length = strlen(nodes[at].name);
        length -= name_length;
        memcpy(path->data + length, nodes[at].name, name_length);
        length -= length != 0;
    }
}

/* Goes down both networks along the names of the NPU's. False when out of memory. */
static bool go_down(struct translation *translation, uint32_t here, const char *names,
                    struct place *place)
{
    while (*names != '\0') {
        struct tdc_layer_rule *rule =
            tdc_layer_rule_find(translation->rules, translation->npu->nodes[here].type, names);
        size_t length = rule != NULL ? strlen(rule->key) : strcspn(names, ".");
        const char *name = rule != NULL ? rule->value : names;
        size_t name_length = rule != NULL ? rule->value_length : length;
        if (rule != NULL)
            rule->used = true;
        uint32_t next = tdc_layer_descend(translation->bench, place->node, name, name_length);
        if (next == TDC_LAYER_NONE) {
            place->note = tdc_layer_gap_name(&translation->gaps, place->node, name, name_length);
            place->node = TDC_LAYER_NONE;
            return place->note != NULL;
        }
        place->node = next;
        here = tdc_layer_descend(translation->npu, here, names, length);
        names += length;
        names += *names == '.';
    }
    return true;
}

/*
 * Finds the places of all nodes, parents before their children. A node stands below the place of
 * its parent, unless a rule with dots may lead past the parent: then the way starts at the root.
 */
static bool find_places(struct translation *translation)
{
    const struct tdc_layer_side *npu = translation->npu;
    struct place *places =
        tdc_arena_zeroed(&translation->match->arena, (size_t)npu->node_count + 1, sizeof *places);
    if (places == NULL)
        return false;
    translation->places = places;
    bool whole = translation->rules->most_levels > 1;
    for (uint32_t node = 1; node < npu->node_count; node++) {
        uint32_t start = whole ? TDC_LAYER_ROOT : npu->nodes[node].parent;
        places[node] = places[start];
        if (places[node].node == TDC_LAYER_NONE)
            continue;
        if (whole)
            spell_path(translation, node);
        if (translation->path.failed ||
            !go_down(translation, start,
                     whole ? tdc_text_get(&translation->path) : npu->nodes[node].name,
                     &places[node]))
            return false;
    }
    return true;
}

/* The bench entry that stands where the NPU entry stands, or TDC_LAYER_NONE and a note that says
 * why not; *note is NULL when out of memory. */
static uint32_t translate(struct translation *translation, const struct tdc_layer_entry *entry,
                          const char **note)
{
    const struct place *place = &translation->places[entry->node];
    *note = place->note;
    if (place->node == TDC_LAYER_NONE)
        return TDC_LAYER_NONE;
    uint32_t found =
        tdc_layer_entry_at(translation->bench, place->node, entry->state, entry->position);
    if (found == TDC_LAYER_NONE)
        *note = tdc_layer_gap_call(&translation->gaps, place->node, entry->state);
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
        note = "nothing is known about the places of the ref network";
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
    tdc_text_init(&translation->path, (size_t)1 << 24);
    bool ok = tdc_layer_rows_init(&translation->rows, match->bench) && match->entry_notes != NULL &&
              find_places(translation);
    for (uint32_t i = 0; ok && i < count; i++)
        ok = map_entry(translation, i);
    tdc_layer_rows_free(&translation->rows);
    tdc_layer_gaps_free(&translation->gaps);
    tdc_text_free(&translation->path);
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
