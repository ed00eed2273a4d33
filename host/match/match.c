#include "host/match/match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/match/consistent.h"
#include "io/base/error.h"

#define MAPPING_LIMIT ((size_t)64 << 30)
#define REASON_LIMIT  ((size_t)1 << 20)
#define SUGGEST_LIMIT ((size_t)1 << 26)

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

bool tdc_match_may_repeat(struct tdc_match *match, size_t rows)
{
    if (rows > match->crowd_room)
        return false;
    match->crowd_room -= rows;
    return true;
}

bool tdc_match_mark_crowded(struct tdc_match *match, uint32_t npu)
{
    if (match->crowded == NULL)
        match->crowded =
            tdc_arena_zeroed(&match->arena, match->npu->record_count, sizeof *match->crowded);
    if (match->crowded != NULL)
        match->crowded[npu] = true;
    return match->crowded != NULL;
}

static void warn_of_crowds(const struct tdc_match *match, const struct tdc_options *options)
{
    size_t records = 0;
    for (size_t i = 0; match->crowded != NULL && i < match->npu->record_count; i++)
        records += match->crowded[i];
    if (records == 0 || options->message == NULL)
        return;
    char text[160];
    snprintf(text, sizeof text,
             "%zu records have names that repeat too often to compare every one with every one: "
             "each is compared once",
             records);
    options->message(options->context, TDC_MESSAGE_WARNING, text);
}

static void take_apart_by_dtype(struct tdc_match *match)
{
    for (size_t i = 0; i < match->count; i++) {
        struct tdc_pairing *pair = &match->pairs[i];
        if (pair->bench != TDC_UNPAIRED && !tdc_match_dtypes_agree(match, pair->npu, pair->bench))
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

/* ---- keys ------------------------------------------------------------------------------------ */

static void reset_keys(struct tdc_match *match)
{
    for (size_t i = 0; i < match->npu->record_count; i++)
        match->keys[i] = match->npu->records[i].name;
    memset(match->key_rules, TDC_KEY_NAME, match->npu->record_count);
    match->by_name = match->layer_used = false;
}

/* API names and cell names; which of the two wins when both are asked for depends on the rules. */
static tdc_status map_names(struct tdc_match *match, const struct tdc_match_rules *rules,
                            const struct tdc_options *options, struct tdc_error *error)
{
    tdc_status status = TDC_OK;
    bool both = options->api_mapping.use && options->cell_mapping.use;
    if (options->api_mapping.use)
        status = tdc_map_apis(match, options->api_mapping.file, both && !rules->one_mapping,
                              options, error);
    if (status == TDC_OK && options->cell_mapping.use && !(both && rules->one_mapping))
        status = tdc_map_cells(match, options->cell_mapping.file, both, options, error);
    return status;
}

static tdc_status map_places(struct tdc_match *match, const struct tdc_match_rules *rules,
                             const struct tdc_options *options, struct tdc_error *error)
{
    bool used;
    size_t count = match->npu->record_count;
    tdc_status status =
        tdc_map_layers(match, options->layer_mapping.file, rules, options, &used, error);
    if (status != TDC_OK || !used)
        return status;
    match->layer_used = match->by_name = true;
    match->layer_keys = tdc_arena_take(&match->arena, (count + 1) * sizeof *match->layer_keys);
    if (match->layer_keys == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory while mapping layers");
    memcpy(match->layer_keys, match->keys, count * sizeof *match->layer_keys);
    return TDC_OK;
}

/* Names are for the records whose place in the network has no counterpart. */
static void put_places_first(struct tdc_match *match)
{
    for (size_t i = 0; i < match->npu->record_count; i++) {
        if (strcmp(match->layer_keys[i], "N/A") == 0)
            continue;
        match->keys[i] = match->layer_keys[i];
        match->key_rules[i] = TDC_KEY_LAYER;
    }
}

/* "API, cell and data mapping"; NULL when out of memory. */
static const char *name_method(struct tdc_arena *arena, const bool used[4])
{
    static const char *const names[] = {"layer", "API", "cell", "data"};
    char text[64] = "";
    size_t left = 0;
    for (int i = 0; i < 4; i++)
        left += used[i];
    if (left == 0)
        return "equal names";
    for (int i = 0; i < 4; i++) {
        if (!used[i])
            continue;
        left--;
        strcat(text, names[i]);
        strcat(text, left > 1 ? ", " : left == 1 ? " and " : " mapping");
    }
    return tdc_arena_text(arena, text, strlen(text));
}

static tdc_status find_keys(struct tdc_match *match, const struct tdc_match_rules *rules,
                            const struct tdc_options *options, struct tdc_error *error)
{
    reset_keys(match);
    const struct tdc_mapping *api = &options->api_mapping, *cell = &options->cell_mapping;
    bool named = api->use || cell->use, layers = options->layer_mapping.use;
    tdc_status status = TDC_OK;
    match->layer_asked = layers;
    if (layers)
        status = map_places(match, rules, options, error);
    if (status == TDC_OK && named)
        status = map_names(match, rules, options, error);
    if (status == TDC_OK && named && match->layer_used && !rules->one_mapping)
        put_places_first(match);
    /* msprobe puts the result of a layer mapping in the place of the data mapping, and takes keys
     * of names before those of rows (docs/msprobe.md#several-mappings) */
    bool rows = options->data_mapping != NULL && !(layers && rules->one_mapping);
    match->by_name |= rows;
    rows = rows && !(named && rules->one_mapping);
    if (status == TDC_OK && rows)
        status = tdc_map_data(match, options->data_mapping, options, error);
    bool used[4] = {match->layer_used && !(named && rules->one_mapping), api->use,
                    cell->use && !(api->use && rules->one_mapping), rows};
    match->method = name_method(&match->arena, used);
    if (status == TDC_OK && match->method == NULL)
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory while matching");
    return status;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static bool any_mapping(const struct tdc_options *options)
{
    return options->data_mapping != NULL || options->api_mapping.use || options->cell_mapping.use ||
           options->layer_mapping.use;
}

static tdc_status pair_up(struct tdc_match *match, const struct tdc_match_rules *rules,
                          const struct tdc_options *options, struct tdc_error *error)
{
    bool ok;
    match->count = 0;
    match->fuzzy_used = false;
    match->crowd_room = TDC_REPEATED_ROWS;
    if (match->crowded != NULL)
        memset(match->crowded, 0, match->npu->record_count * sizeof *match->crowded);
    if (match->npu->kind == TDC_TENSOR_FILE) {
        match->method = "position";
        ok = tdc_match_add(match, 0, 0);
    } else if (match->by_name) {
        ok = tdc_match_by_name(match, rules);
    } else if ((options->flags & TDC_OPTION_FUZZY) != 0) {
        match->fuzzy_used = true;
        ok = tdc_match_fuzzy(match, rules);
    } else {
        /* with a mapping names are what they are called: numbers of its own would cross them */
        bool recount =
            rules->recount_backward && match->npu->kind == TDC_DUMP_JSON && !any_mapping(options);
        ok = (!recount || tdc_match_recount(match)) && tdc_match_exact(match, rules);
        if (rules->same_dtype_only)
            take_apart_by_dtype(match);
    }
    return ok ? TDC_OK : tdc_fail(error, TDC_ERR_MEMORY, "out of memory while matching");
}

/* How many records found a partner. */
static size_t pairs_found(const struct tdc_match *match)
{
    size_t found = 0;
    for (size_t i = 0; i < match->count; i++)
        found += match->pairs[i].npu != TDC_UNPAIRED && match->pairs[i].bench != TDC_UNPAIRED;
    return found;
}

/* Nobody said how to translate between the frameworks: take what pairs most. */
static tdc_status choose_mapping(struct tdc_match *match, const struct tdc_match_rules *rules,
                                 const struct tdc_options *options, struct tdc_error *error)
{
    struct tdc_options by_layer = *options, by_name = *options;
    by_name.api_mapping.use = by_name.cell_mapping.use = true;
    by_layer.layer_mapping.use = true;
    by_layer.message = NULL;
    size_t best = 0;
    struct tdc_error ignored;
    tdc_status status = find_keys(match, rules, &by_layer, &ignored);
    if (status == TDC_OK && match->layer_used &&
        pair_up(match, rules, &by_layer, &ignored) == TDC_OK)
        best = pairs_found(match);
    status = find_keys(match, rules, &by_name, error);
    if (status == TDC_OK)
        status = pair_up(match, rules, &by_name, error);
    if (status == TDC_OK && best > pairs_found(match)) {
        status = find_keys(match, rules, &by_layer, error);
        if (status == TDC_OK)
            status = pair_up(match, rules, &by_layer, error);
    }
    return status;
}

static tdc_status find_pairs(struct tdc_match *match, const struct tdc_match_rules *rules,
                             const struct tdc_options *options, struct tdc_error *error)
{
    size_t count = match->npu->record_count;
    match->keys = tdc_arena_zeroed(&match->arena, count + 1, sizeof *match->keys);
    match->key_rules = tdc_arena_zeroed(&match->arena, count + 1, sizeof *match->key_rules);
    if (match->keys == NULL || match->key_rules == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory while matching");
    tdc_status status;
    bool automatic = (options->flags & TDC_OPTION_AUTO_MAPPING) != 0 && !any_mapping(options);
    if (match->cross && automatic) {
        status = choose_mapping(match, rules, options, error);
    } else {
        status = find_keys(match, rules, options, error);
        bool plain =
            automatic && !rules->msprobe_records && (options->flags & TDC_OPTION_FUZZY) == 0;
        if (status == TDC_OK && plain && !tdc_match_wrapper(match, options))
            status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory while matching");
        if (status == TDC_OK)
            status = pair_up(match, rules, options, error);
    }
    if (status == TDC_OK)
        warn_of_crowds(match, options);
    if (status == TDC_OK && match->fuzzy_used)
        match->method = "fuzzy names";
    if (status == TDC_OK && rules->list_bench_only && !add_bench_only(match))
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory while matching");
    if (status == TDC_OK && !tdc_match_remark(match, options))
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory while matching");
    return status;
}

/* ---- building -------------------------------------------------------------------------------- */

static tdc_status check_sizes(const struct tdc_dump *dump, struct tdc_error *error)
{
    if (dump->record_count >= TDC_UNPAIRED)
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: more than %u records", dump->path,
                        TDC_UNPAIRED - 1);
    return TDC_OK;
}

static bool is_framework(const struct tdc_dump *dump, const char *name)
{
    const char *framework = tdc_dump_detected_framework(dump);
    return framework != NULL && strcmp(framework, name) == 0;
}

static tdc_status check_content(const struct tdc_dump *npu, const struct tdc_dump *bench,
                                const struct tdc_match_rules *rules, struct tdc_error *error)
{
    if ((npu->kind == TDC_TENSOR_FILE) != (bench->kind == TDC_TENSOR_FILE))
        return tdc_fail(error, TDC_ERR_MISMATCH, "%s and %s: a tensor file has to face another one",
                        npu->path, bench->path);
    const char *refusal = npu->refusal != NULL ? npu->refusal : bench->refusal;
    if (rules->refuse_content && refusal != NULL)
        return tdc_fail(error, TDC_ERR_REFUSED, "%s", refusal);
    tdc_status status = check_sizes(npu, error);
    return status == TDC_OK ? check_sizes(bench, error) : status;
}

static bool is_empty(const struct tdc_dump *dump, const struct tdc_match_rules *rules)
{
    for (size_t i = 0; i < dump->record_count; i++)
        if (tdc_match_takes(rules, &dump->records[i]))
            return false;
    return true;
}

/* msprobe opens the files of the framework it was told (docs/msprobe.md#tensor-files). */
static void set_suffixes(struct tdc_match *match, const struct tdc_options *options)
{
    if (options->framework == TDC_FRAMEWORK_PYTORCH)
        match->n_suffix = match->b_suffix = ".pt";
    if (options->framework == TDC_FRAMEWORK_MINDSPORE) {
        match->n_suffix = ".npy";
        match->b_suffix = match->cross ? ".pt" : ".npy";
    }
}

tdc_status tdc_match_build(const struct tdc_dump *npu, const struct tdc_dump *bench,
                           const struct tdc_match_rules *rules, const struct tdc_options *options,
                           struct tdc_match **match, struct tdc_error *error)
{
    *match = NULL;
    tdc_mode mode;
    tdc_status status = tdc_match_find_mode(npu, bench, rules, &mode, error);
    if (status == TDC_OK)
        status = check_content(npu, bench, rules, error);
    if (status == TDC_OK && rules->both_needed && (is_empty(npu, rules) || is_empty(bench, rules)))
        status = tdc_fail(error, TDC_ERR_NOTHING,
                          "No valid data found. No compare result file generated. "
                          "Please check input json.");
    if (status != TDC_OK)
        return status;
    if ((options->flags & TDC_OPTION_STATISTICS) != 0 && mode == TDC_MODE_TENSOR)
        mode = TDC_MODE_STATISTICS;
    struct tdc_match *built = calloc(1, sizeof *built);
    if (built == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory while matching");
    built->npu = npu;
    built->bench = bench;
    built->mode = mode;
    built->fuzzy = (options->flags & TDC_OPTION_FUZZY) != 0;
    built->rules = rules;
    built->cross = is_framework(bench, "pytorch") &&
                   (options->framework == TDC_FRAMEWORK_MINDSPORE ||
                    (options->framework == TDC_FRAMEWORK_NONE && is_framework(npu, "mindspore")));
    set_suffixes(built, options);
    tdc_arena_init(&built->arena, MAPPING_LIMIT);
    tdc_text_init(&built->reason, REASON_LIMIT);
    tdc_text_init(&built->suggestion, SUGGEST_LIMIT);
    tdc_names_init(&built->bench_names);
    if (options->layer_mapping.file != NULL)
        built->layer_file = tdc_arena_text(&built->arena, options->layer_mapping.file,
                                           strlen(options->layer_mapping.file));
    built->consistent = rules->consistent ? options->consistent : TDC_CONSISTENT_NONE;
    status = built->consistent != TDC_CONSISTENT_NONE
                 ? tdc_match_consistent(built, rules, options, error)
                 : find_pairs(built, rules, options, error);
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
    tdc_names_free(&match->bench_names);
    tdc_text_free(&match->reason);
    tdc_text_free(&match->suggestion);
    tdc_arena_free(&match->arena);
    free(match->pairs);
    if (match->alignment_free != NULL)
        match->alignment_free(match->alignment);
    free(match);
}

tdc_mode tdc_match_mode(const tdc_match *match)
{
    return match->mode;
}

const char *tdc_match_method(const tdc_match *match)
{
    return match->method;
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
