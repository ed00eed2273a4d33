/* reason.c - why two records face each other, or why one has no partner. */
#include <string.h>

#include "host/match/match.h"

static const char *rule_text(const struct tdc_match *match, enum tdc_key_rule rule)
{
    switch (rule) {
    case TDC_KEY_NAME:
        return match->fuzzy_used ? "fuzzy name" : "equal name";
    case TDC_KEY_API_TABLE:
        return "built-in API table";
    case TDC_KEY_API_FILE:
        return "API mapping file";
    case TDC_KEY_CELL:
        return "cell mapping";
    case TDC_KEY_DATA:
        return "data mapping";
    case TDC_KEY_LAYER:
        return "layer mapping";
    case TDC_KEY_WRAPPER:
        return "equal name but for the prefix";
    }
    return "";
}

/* The first bench record of that name, NULL if there is none. The table is made on the first call.
 */
static const struct tdc_record *find_bench(struct tdc_match *match, const char *name)
{
    size_t count = match->bench->record_count;
    if (match->bench_first == NULL) {
        match->bench_first = tdc_arena_zeroed(&match->arena, count + 1, sizeof(uint32_t));
        if (match->bench_first == NULL)
            return NULL;
        for (size_t i = 0; i < count; i++) {
            const char *record = match->bench->records[i].name;
            bool fresh;
            uint32_t number = tdc_names_put(&match->bench_names, record, strlen(record), &fresh);
            if (number == TDC_NAME_NONE)
                return NULL;
            if (fresh)
                match->bench_first[number] = (uint32_t)i;
        }
    }
    uint32_t found = tdc_names_find(&match->bench_names, name, strlen(name));
    return found == TDC_NAME_NONE ? NULL : &match->bench->records[match->bench_first[found]];
}

static void explain_lonely(struct tdc_match *match, uint32_t npu)
{
    const struct tdc_record *record = &match->npu->records[npu];
    const char *key = match->keys[npu];
    if (strcmp(key, "N/A") == 0) {
        const struct tdc_entry_note *note =
            match->layer_used ? &match->entry_notes[record->entry] : NULL;
        if (note == NULL)
            tdc_text_adds(&match->reason, "not a cell");
        else if (note->found)
            tdc_text_addf(&match->reason, "'%s' has no such row", note->text);
        else
            tdc_text_adds(&match->reason, note->text);
        return;
    }
    if (match->fuzzy_used) {
        tdc_text_adds(&match->reason, "no ref row that follows has this name without its call "
                                      "number, and this shape");
        return;
    }
    const struct tdc_record *other = find_bench(match, key);
    if (other == NULL)
        tdc_text_addf(&match->reason, "no ref row is called '%s'", key);
    else if (strcmp(record->shape, other->shape) != 0)
        tdc_text_addf(&match->reason, "'%s' has shape %s, not %s", key, other->shape,
                      record->shape);
    else if (!tdc_dtypes_agree(record->dtype, other->dtype, match->cross, match->rules->any_float))
        tdc_text_addf(&match->reason, "'%s' has type %s, not %s", key, other->dtype, record->dtype);
    else
        tdc_text_addf(&match->reason, "'%s' already has a partner", key);
}

/* Rows that face each other and yet cannot be the same tensor: the mapping may be wrong. */
static void explain_pair(struct tdc_match *match, const struct tdc_record *npu,
                         const struct tdc_record *bench, enum tdc_key_rule rule)
{
    tdc_text_adds(&match->reason, rule_text(match, rule));
    if (strcmp(npu->shape, bench->shape) != 0)
        tdc_text_addf(&match->reason, "; shape %s against %s", npu->shape, bench->shape);
    else if (!tdc_dtypes_agree(npu->dtype, bench->dtype, match->cross, match->rules->any_float))
        tdc_text_addf(&match->reason, "; type %s against %s", npu->dtype, bench->dtype);
}

const char *tdc_match_reason(tdc_match *match, size_t pair)
{
    struct tdc_pairing pairing = match->pairs[pair];
    tdc_text_clear(&match->reason);
    const struct tdc_record *teller =
        pairing.npu != TDC_UNPAIRED     ? &match->npu->records[pairing.npu]
        : pairing.bench != TDC_UNPAIRED ? &match->bench->records[pairing.bench]
                                        : NULL;
    if (match->alignment != NULL)
        tdc_text_adds(&match->reason, pairing.npu == TDC_UNPAIRED     ? "no test records"
                                      : pairing.bench == TDC_UNPAIRED ? "no ref records"
                                                                      : "rules");
    else if (teller != NULL && teller->found != NULL)
        tdc_text_adds(&match->reason, teller->found);
    else if (pairing.npu == TDC_UNPAIRED)
        tdc_text_adds(&match->reason, "no test row leads here");
    else if (pairing.bench == TDC_UNPAIRED)
        explain_lonely(match, pairing.npu);
    else
        explain_pair(match, &match->npu->records[pairing.npu],
                     &match->bench->records[pairing.bench],
                     (enum tdc_key_rule)match->key_rules[pairing.npu]);
    return match->reason.failed ? NULL : tdc_text_get(&match->reason);
}
