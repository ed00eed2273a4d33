/* layer_map.c - translating the place of a call in one network to its place in the other
 * (spec 4.8). */
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

/* The bench row of the entry whose name ends as the NPU row's does; the last one counts. */
static const char *find_row(const struct tdc_dump *bench, const struct tdc_dump_entry *entry,
                            const char *suffix)
{
    size_t skip = strlen(entry->name);
    for (size_t i = entry->count; i-- > 0;) {
        const char *name = bench->records[entry->first + i].name;
        if (strcmp(strlen(name) > skip ? name + skip : "", suffix) == 0)
            return name;
    }
    return NULL;
}

static void map_rows(struct tdc_match *match, uint32_t npu_entry, uint32_t bench_entry)
{
    const struct tdc_dump_entry *npu = &match->npu->entries[npu_entry];
    size_t skip = strlen(npu->name);
    for (size_t i = npu->first; i < npu->first + npu->count; i++) {
        const char *name = match->npu->records[i].name;
        const char *found = NULL;
        if (bench_entry != TDC_LAYER_NONE)
            found = find_row(match->bench, &match->bench->entries[bench_entry],
                             strlen(name) > skip ? name + skip : "");
        match->keys[i] = found != NULL ? found : "N/A";
        match->key_rules[i] = TDC_KEY_LAYER;
    }
}

static tdc_status map_entries(struct tdc_match *match, struct tdc_layer_side *npu,
                              struct tdc_layer_side *bench, struct tdc_layer_rules *rules,
                              const struct tdc_options *options, struct tdc_error *error)
{
    if (!tdc_layer_tree(npu) || !tdc_layer_tree(bench))
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory while mapping layers");
    struct translation translation = {.npu = npu, .bench = bench, .rules = rules};
    for (uint32_t i = 0; i < match->npu->entry_count; i++) {
        const struct tdc_layer_entry *entry = &npu->entries[i];
        uint32_t found = TDC_LAYER_NONE;
        if (entry->scope != NULL && bench->usable)
            found = translate(&translation, entry);
        map_rows(match, i, found);
    }
    tdc_layer_rules_report(rules, npu, options);
    return TDC_OK;
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
        status = tdc_layer_scopes(&npu, rules, options, error);
    if (status == TDC_OK)
        status = tdc_layer_scopes(&bench, rules, options, error);
    *used = status == TDC_OK && npu.usable;
    if (*used)
        status = map_entries(match, &npu, &bench, &layer_rules, options, error);
    tdc_layer_free(&npu);
    tdc_layer_free(&bench);
    tdc_layer_rules_free(&layer_rules);
    return status;
}
