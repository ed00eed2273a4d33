/* exact.c - pairing by equal keys (docs/msprobe.md#equal-names) and by name alone
 * (docs/msprobe.md#data-mapping). Linear in the records. */
#include <stdlib.h>
#include <string.h>

#include "host/match/match.h"

/* Records of one side with the same key, chained in record order. */
struct chains {
    struct tdc_name_table keys;
    uint32_t *first, *last, *counts; /* by key number */
    uint32_t *next;                  /* by record */
    size_t capacity;
};

static void chains_free(struct chains *chains)
{
    tdc_names_free(&chains->keys);
    free(chains->first);
    free(chains->last);
    free(chains->counts);
    free(chains->next);
}

static bool chains_init(struct chains *chains, size_t records)
{
    *chains = (struct chains){0};
    tdc_names_init(&chains->keys);
    chains->capacity = records != 0 ? records : 1;
    chains->first = malloc(chains->capacity * sizeof(uint32_t));
    chains->last = malloc(chains->capacity * sizeof(uint32_t));
    chains->counts = malloc(chains->capacity * sizeof(uint32_t));
    chains->next = malloc(chains->capacity * sizeof(uint32_t));
    return chains->first != NULL && chains->last != NULL && chains->counts != NULL &&
           chains->next != NULL;
}

static bool chains_add(struct chains *chains, const char *key, size_t length, uint32_t record)
{
    bool fresh;
    uint32_t number = tdc_names_put(&chains->keys, key, length, &fresh);
    if (number == TDC_NAME_NONE)
        return false;
    chains->next[record] = TDC_UNPAIRED;
    if (fresh)
        chains->first[number] = record;
    else
        chains->next[chains->last[number]] = record;
    chains->last[number] = record;
    chains->counts[number] = fresh ? 1 : chains->counts[number] + 1;
    return true;
}

/* Key and shape in one text, with a separator that no JSON text survives as (NUL). */
static const char *joined(struct tdc_arena *arena, const char *key, const char *shape,
                          size_t *length)
{
    size_t key_length = strlen(key), shape_length = strlen(shape);
    *length = key_length + 1 + shape_length;
    char *text = tdc_arena_take(arena, *length);
    if (text != NULL) {
        memcpy(text, key, key_length);
        text[key_length] = '\0';
        memcpy(text + key_length + 1, shape, shape_length);
    }
    return text;
}

static const char *key_of(const struct tdc_dump *dump, const char *const *keys, size_t record)
{
    return keys != NULL ? keys[record] : dump->records[record].name;
}

static bool fill(struct chains *chains, struct tdc_arena *arena, const struct tdc_dump *dump,
                 const char *const *keys, const struct tdc_match_rules *rules, bool shapes)
{
    if (!chains_init(chains, dump->record_count))
        return false;
    for (size_t i = 0; i < dump->record_count; i++) {
        if (!tdc_match_takes(rules, &dump->records[i]))
            continue;
        const char *key = key_of(dump, keys, i);
        size_t length = strlen(key);
        if (shapes)
            key = joined(arena, key, dump->records[i].shape, &length);
        if (key == NULL || !chains_add(chains, key, length, (uint32_t)i))
            return false;
    }
    return true;
}

/* Whether each record of a group may face each of the other side: whether those are not too many
 * rows. */
static bool may_cross(struct tdc_match *match, size_t npu, size_t bench)
{
    size_t rows;
    return bench <= 1 ||
           (!__builtin_mul_overflow(npu, bench - 1, &rows) && tdc_match_may_repeat(match, rows));
}

static bool mark_group(struct tdc_match *match, const struct chains *npu, uint32_t group)
{
    bool ok = true;
    for (uint32_t i = npu->first[group]; i != TDC_UNPAIRED && ok; i = npu->next[i])
        ok = tdc_match_mark_crowded(match, i);
    return ok;
}

static bool pair_group(struct tdc_match *match, const struct chains *npu,
                       const struct chains *bench, uint32_t group,
                       const struct tdc_match_rules *rules)
{
    struct tdc_name_key key = npu->keys.keys[group];
    uint32_t found = tdc_names_find(&bench->keys, key.text, key.length);
    uint32_t partner = found == TDC_NAME_NONE ? TDC_UNPAIRED : bench->first[found];
    uint32_t first_partner = partner;
    size_t partners = found == TDC_NAME_NONE ? 0 : bench->counts[found];
    bool cross = rules->cross_product && may_cross(match, npu->counts[group], partners);
    if (rules->cross_product && !cross && !mark_group(match, npu, group))
        return false;
    for (uint32_t record = npu->first[group]; record != TDC_UNPAIRED; record = npu->next[record]) {
        if (partner == TDC_UNPAIRED) {
            if (!tdc_match_add(match, record, TDC_UNPAIRED))
                return false;
        } else if (!cross) {
            if (!tdc_match_add(match, record, partner))
                return false;
            partner = bench->next[partner];
        } else {
            for (uint32_t b = first_partner; b != TDC_UNPAIRED; b = bench->next[b])
                if (!tdc_match_add(match, record, b))
                    return false;
        }
    }
    return true;
}

static int by_npu_record(const void *left, const void *right)
{
    const struct tdc_pairing *a = left, *b = right;
    if (a->npu != b->npu)
        return a->npu > b->npu ? 1 : -1;
    return (a->bench > b->bench) - (a->bench < b->bench);
}

static bool in_npu_order(const struct tdc_match *match)
{
    for (size_t i = 1; i < match->count; i++)
        if (match->pairs[i].npu < match->pairs[i - 1].npu)
            return false;
    return true;
}

/*
 * Two runs of one program have the same records in the same order: then each faces the one in its
 * place, as groups of equal keys would have it, and no table of names is needed. False where they
 * are not alike, or memory is out: *ok tells.
 */
static bool pair_alike(struct tdc_match *match, const struct tdc_match_rules *rules, bool *ok)
{
    const struct tdc_dump *npu = match->npu, *bench = match->bench;
    if (rules->cross_product || npu->record_count != bench->record_count)
        return false;
    for (size_t i = 0; i < npu->record_count; i++) {
        const struct tdc_record *n = &npu->records[i], *b = &bench->records[i];
        if (tdc_match_takes(rules, n) != tdc_match_takes(rules, b) ||
            strcmp(key_of(npu, match->keys, i), key_of(bench, match->bench_keys, i)) != 0 ||
            (rules->shape_in_key && strcmp(n->shape, b->shape) != 0))
            return false;
    }
    for (size_t i = 0; i < npu->record_count && *ok; i++)
        if (tdc_match_takes(rules, &npu->records[i]))
            *ok = tdc_match_add(match, (uint32_t)i, (uint32_t)i);
    return true;
}

/*
 * Groups of equal (key, shape) in order of their first NPU record. Without the cross product, or
 * where the rules say so, rows return to NPU order at the end, which is the same unless names
 * repeat.
 */
bool tdc_match_exact(struct tdc_match *match, const struct tdc_match_rules *rules)
{
    struct chains npu = {0}, bench = {0};
    struct tdc_arena arena;
    bool ok = true;
    if (pair_alike(match, rules, &ok))
        return ok;
    tdc_arena_init(&arena, (size_t)64 << 30);
    ok = fill(&npu, &arena, match->npu, match->keys, rules, rules->shape_in_key) &&
         fill(&bench, &arena, match->bench, match->bench_keys, rules, rules->shape_in_key);
    for (uint32_t group = 0; ok && group < npu.keys.count; group++)
        ok = pair_group(match, &npu, &bench, group, rules);
    if (ok && (!rules->cross_product || rules->npu_order) && !in_npu_order(match))
        qsort(match->pairs, match->count, sizeof *match->pairs, by_npu_record);
    chains_free(&npu);
    chains_free(&bench);
    tdc_arena_free(&arena);
    return ok;
}

/* A record with each of its partners, or with the first when they are too many. */
static bool face_all(struct tdc_match *match, const struct chains *bench, uint32_t npu,
                     uint32_t found)
{
    uint32_t b = bench->first[found];
    if (!may_cross(match, 1, bench->counts[found]))
        return tdc_match_add(match, npu, b) && tdc_match_mark_crowded(match, npu);
    bool ok = true;
    for (; ok && b != TDC_UNPAIRED; b = bench->next[b])
        ok = tdc_match_add(match, npu, b);
    return ok;
}

/* A left join on the key alone, in NPU order: several records may share one partner. */
bool tdc_match_by_name(struct tdc_match *match, const struct tdc_match_rules *rules)
{
    struct chains bench = {0};
    bool ok = fill(&bench, NULL, match->bench, NULL, rules, false);
    for (size_t i = 0; ok && i < match->npu->record_count; i++) {
        if (!tdc_match_takes(rules, &match->npu->records[i]))
            continue;
        uint32_t found = tdc_names_find(&bench.keys, match->keys[i], strlen(match->keys[i]));
        ok = found == TDC_NAME_NONE ? tdc_match_add(match, (uint32_t)i, TDC_UNPAIRED)
                                    : face_all(match, &bench, (uint32_t)i, found);
    }
    chains_free(&bench);
    return ok;
}
