#include "host/match/match.h"

#include <stdlib.h>

#include "io/error.h"

#define MAPPING_LIMIT ((size_t)8 << 30)

bool tdc_match_add(struct tdc_match *match, uint32_t npu, uint32_t bench)
{
    if (match->count == match->capacity) {
        size_t capacity = match->capacity == 0 ? 1024 : match->capacity * 2;
        size_t bytes;
        struct tdc_pairing *pairs = NULL;
        if (!__builtin_mul_overflow(capacity, sizeof *pairs, &bytes))
            pairs = realloc(match->pairs, bytes);
        if (pairs == NULL)
            return false;
        match->pairs = pairs;
        match->capacity = capacity;
    }
    match->pairs[match->count++] = (struct tdc_pairing){npu, bench};
    return true;
}

static void take_apart_by_dtype(struct tdc_match *match)
{
    for (size_t i = 0; i < match->count; i++) {
        struct tdc_pairing *pair = &match->pairs[i];
        if (pair->bench != TDC_UNPAIRED &&
            !tdc_dtypes_agree(match->npu->records[pair->npu].dtype,
                              match->bench->records[pair->bench].dtype))
            pair->bench = TDC_UNPAIRED;
    }
}

static bool add_bench_only(struct tdc_match *match)
{
    size_t count = match->bench->record_count;
    bool *paired = calloc(count != 0 ? count : 1, sizeof *paired);
    if (paired == NULL)
        return false;
    for (size_t i = 0; i < match->count; i++)
        if (match->pairs[i].bench != TDC_UNPAIRED)
            paired[match->pairs[i].bench] = true;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        if (!paired[i])
            ok = tdc_match_add(match, TDC_UNPAIRED, (uint32_t)i);
    free(paired);
    return ok;
}

static tdc_status pair_up(struct tdc_match *match, const struct tdc_match_rules *rules,
                          const struct tdc_options *options, struct tdc_arena *arena,
                          struct tdc_error *error)
{
    size_t count = match->npu->record_count;
    const char **keys = tdc_arena_zeroed(arena, count + 1, sizeof *keys);
    if (keys == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory while matching");
    for (size_t i = 0; i < count; i++)
        keys[i] = match->npu->records[i].name;
    bool ok;
    if (options->data_mapping != NULL) {
        tdc_status status =
            tdc_match_map_names(options->data_mapping, match->npu, keys, arena, options, error);
        if (status != TDC_OK)
            return status;
        ok = tdc_match_by_name(match, keys);
    } else if (options->fuzzy) {
        ok = tdc_match_fuzzy(match, keys, rules);
    } else {
        ok = tdc_match_exact(match, keys, rules);
        if (rules->same_dtype_only)
            take_apart_by_dtype(match);
    }
    if (ok && rules->list_bench_only)
        ok = add_bench_only(match);
    return ok ? TDC_OK : tdc_fail(error, TDC_ERR_MEMORY, "out of memory while matching");
}

static tdc_status check_sizes(const struct tdc_dump *dump, struct tdc_error *error)
{
    if (dump->record_count >= TDC_UNPAIRED)
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: more than %u records", dump->path,
                        TDC_UNPAIRED - 1);
    return TDC_OK;
}

tdc_status tdc_match_build(const struct tdc_dump *npu, const struct tdc_dump *bench,
                           const struct tdc_match_rules *rules, const struct tdc_options *options,
                           struct tdc_match **match, struct tdc_error *error)
{
    *match = NULL;
    tdc_mode mode;
    tdc_status status = tdc_match_find_mode(npu, bench, &mode, error);
    if (status == TDC_OK)
        status = check_sizes(npu, error);
    if (status == TDC_OK)
        status = check_sizes(bench, error);
    if (status != TDC_OK)
        return status;
    const char *refusal = npu->refusal != NULL ? npu->refusal : bench->refusal;
    if (rules->refuse_content && refusal != NULL)
        return tdc_fail(error, TDC_ERR_REFUSED, "%s", refusal);
    struct tdc_match *built = calloc(1, sizeof *built);
    if (built == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory while matching");
    built->npu = npu;
    built->bench = bench;
    built->mode = mode;
    built->fuzzy = options->fuzzy;
    struct tdc_arena arena;
    tdc_arena_init(&arena, MAPPING_LIMIT);
    status = pair_up(built, rules, options, &arena, error);
    tdc_arena_free(&arena);
    if (status != TDC_OK) {
        tdc_match_free(built);
        return status;
    }
    *match = built;
    return TDC_OK;
}

void tdc_match_free(tdc_match *match)
{
    if (match == NULL)
        return;
    free(match->pairs);
    free(match);
}

tdc_mode tdc_match_mode(const tdc_match *match)
{
    return match->mode;
}

size_t tdc_match_pairs(const tdc_match *match)
{
    return match->count;
}

void tdc_match_pair(const tdc_match *match, size_t pair, size_t *npu, size_t *bench)
{
    struct tdc_pairing pairing = match->pairs[pair];
    *npu = pairing.npu == TDC_UNPAIRED ? TDC_NO_RECORD : pairing.npu;
    *bench = pairing.bench == TDC_UNPAIRED ? TDC_NO_RECORD : pairing.bench;
}
