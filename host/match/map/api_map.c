/* api_map.c - MindSpore API names as PyTorch API names (docs/msprobe.md#api-mapping). */
#include <stdlib.h>
#include <string.h>

#include "host/match/map/flat_map.h"
#include "io/base/error.h"

/* host/match/map/api_table.yaml, compiled in */
extern const char tdc_api_table[];

/* Length of the first two parts of a name; 0 if it has fewer. */
static size_t api_length(const char *name)
{
    const char *dot = strchr(name, '.');
    if (dot == NULL)
        return 0;
    const char *second = strchr(dot + 1, '.');
    return second != NULL ? (size_t)(second - name) : strlen(name);
}

/* ---- the built-in table ---------------------------------------------------------------------- */

/* NULL when out of memory. */
static const char *translate(struct tdc_arena *arena, struct tdc_flat_map *table, const char *name)
{
    if (strncmp(name, "Mint.", 5) == 0)
        return tdc_text_replaced(arena, name, "Mint", "Torch", false);
    if (strncmp(name, "MintFunctional.", 15) == 0)
        return tdc_text_replaced(arena, name, "MintFunctional", "Functional", false);
    size_t length = api_length(name);
    const struct tdc_yaml *entry = length != 0 ? tdc_flat_map_use(table, name, length) : NULL;
    if (entry == NULL)
        return name;
    return tdc_text_replaced(arena, name, entry->key, entry->text, false);
}

/* ---- the user's file ------------------------------------------------------------------------- */

/* Which list of an entry speaks of a record, by its state. */
struct api_list {
    const char *pattern;  /* ".input." */
    const char *names[2]; /* without "ms_" or "pt_"; the documented spelling comes second */
};

static const struct api_list lists[] = {
    [TDC_STATE_INPUT] = {".input.", {"args", "args"}},
    [TDC_STATE_DEBUG] = {".input.", {"args", "args"}},
    [TDC_STATE_PARAMETERS] = {".parameters.", {"parameters", "parameters"}},
    [TDC_STATE_OUTPUT] = {".output.", {"output", "outputs"}},
    [TDC_STATE_PARAMETERS_GRAD] = {".parameters_grad.", {"parameters_grad", "parameters_grad"}},
};

static const struct tdc_yaml *member(const struct tdc_yaml *map, const char *prefix,
                                     const char *const names[2])
{
    for (const struct tdc_yaml *entry = map->child; entry != NULL; entry = entry->next) {
        if (strncmp(entry->key, prefix, 3) != 0)
            continue;
        if (strcmp(entry->key + 3, names[0]) == 0 || strcmp(entry->key + 3, names[1]) == 0)
            return entry;
    }
    return NULL;
}

static const char *scalar(const struct tdc_yaml *map, const char *name)
{
    for (const struct tdc_yaml *entry = map->child; entry != NULL; entry = entry->next)
        if (strcmp(entry->key, name) == 0 && entry->kind == TDC_YAML_SCALAR && !entry->is_null)
            return entry->text;
    return NULL;
}

/* "ms_args", "pt_outputs" and so on. */
static bool is_list_name(const char *key)
{
    if (strncmp(key, "ms_", 3) != 0 && strncmp(key, "pt_", 3) != 0)
        return false;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strcmp(key + 3, lists[i].names[0]) == 0 || strcmp(key + 3, lists[i].names[1]) == 0)
            return true;
    return false;
}

/* Types of the entry; the lists may be absent but must be lists of scalars. */
static tdc_status check_entry(const char *path, const struct tdc_yaml *entry,
                              struct tdc_error *error)
{
    if (entry->kind != TDC_YAML_MAP)
        return tdc_fail(error, TDC_ERR_FORMAT,
                        "%s:%u: an api mapping is a list of entries with ms_api, pt_api, ms_args, "
                        "pt_args, ms_output, pt_output",
                        path, entry->line);
    if (scalar(entry, "ms_api") == NULL || scalar(entry, "pt_api") == NULL)
        return tdc_fail(error, TDC_ERR_FORMAT, "%s:%u: this entry needs both ms_api and pt_api",
                        path, entry->line);
    for (const struct tdc_yaml *list = entry->child; list != NULL; list = list->next) {
        if (!is_list_name(list->key))
            continue;
        if (list->kind != TDC_YAML_LIST)
            return tdc_fail(error, TDC_ERR_FORMAT, "%s:%u: '%.100s' must be a list of indices",
                            path, list->line, list->key);
        for (const struct tdc_yaml *item = list->child; item != NULL; item = item->next)
            if (item->kind != TDC_YAML_SCALAR || item->is_null)
                return tdc_fail(error, TDC_ERR_FORMAT,
                                "%s:%u: '%.100s' must hold indices or names only", path, item->line,
                                list->key);
    }
    return TDC_OK;
}

static void report_unknown(const char *path, const struct tdc_yaml *entry,
                           const struct tdc_options *options)
{
    for (const struct tdc_yaml *list = entry->child; list != NULL; list = list->next)
        if (strcmp(list->key, "ms_api") != 0 && strcmp(list->key, "pt_api") != 0 &&
            !is_list_name(list->key))
            tdc_map_warn(options, path, list->key_line, "'%.100s' is not known and has no effect",
                         list->key);
}

static bool lengths_agree(const char *path, const struct tdc_yaml *entry,
                          const struct tdc_options *options)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const struct tdc_yaml *ms = member(entry, "ms_", lists[i].names);
        const struct tdc_yaml *pt = member(entry, "pt_", lists[i].names);
        if ((ms != NULL ? ms->children : 0) == (pt != NULL ? pt->children : 0))
            continue;
        tdc_map_warn(options, path, entry->line,
                     "ms_%s and pt_%s differ in length; the entry is passed over",
                     lists[i].names[0], lists[i].names[0]);
        return false;
    }
    return true;
}

static const char *joined(struct tdc_arena *arena, const char *first, const char *second)
{
    size_t length = strlen(first);
    char *text = tdc_arena_take(arena, length + strlen(second) + 1);
    if (text != NULL) {
        memcpy(text, first, length);
        strcpy(text + length, second);
    }
    return text;
}

/* The key of one record under one entry; NULL when out of memory. */
static const char *apply_entry(struct tdc_match *match, const struct tdc_yaml *entry,
                               const struct tdc_record *record)
{
    struct tdc_arena *arena = &match->arena;
    const char *ms_api = scalar(entry, "ms_api"), *pt_api = scalar(entry, "pt_api");
    const struct api_list *list = &lists[record->state];
    const char *owner = match->npu->entries[record->entry].name;
    const char *name = tdc_text_replaced(arena, record->name, ms_api, pt_api, true);
    const char *prefix = tdc_text_replaced(arena, owner, ms_api, pt_api, true);
    if (name == NULL || prefix == NULL || (prefix = joined(arena, prefix, list->pattern)) == NULL)
        return NULL;
    const struct tdc_yaml *ms = member(entry, "ms_", list->names);
    const struct tdc_yaml *pt = member(entry, "pt_", list->names);
    if (ms == NULL)
        return name; /* nothing said about this kind of argument: only the API is renamed */
    bool starts = strncmp(name, prefix, strlen(prefix)) == 0;
    const char *rest = starts ? name + strlen(prefix) : name;
    const char *key = NULL;
    const struct tdc_yaml *target = pt != NULL ? pt->child : NULL;
    for (const struct tdc_yaml *item = ms->child; item != NULL && target != NULL;
         item = item->next, target = target->next) { /* lengths_agree */
        if (strcmp(rest, item->text) != 0)
            continue;
        const char *from = joined(arena, list->pattern, item->text);
        const char *to = joined(arena, list->pattern, target->text);
        if (from == NULL || to == NULL)
            return NULL;
        key = tdc_text_replaced(arena, name, from, to, false);
        if (key == NULL)
            return NULL;
    }
    return key != NULL ? key : joined(arena, name, "abandoned");
}

/* Records by the first two parts of their names, in record order: a file may speak of many APIs. */
struct api_records {
    struct tdc_name_table apis;
    uint32_t *first, *last; /* by API */
    uint32_t *next;         /* by record */
};

static bool gather_records(struct api_records *records, const struct tdc_dump *dump)
{
    size_t room = (dump->record_count + 1) * sizeof(uint32_t);
    tdc_names_init(&records->apis);
    records->first = malloc(room);
    records->last = malloc(room);
    records->next = malloc(room);
    if (records->first == NULL || records->last == NULL || records->next == NULL)
        return false;
    for (uint32_t i = 0; i < dump->record_count; i++) {
        bool fresh;
        const char *name = dump->records[i].name;
        uint32_t api = tdc_names_put(&records->apis, name, api_length(name), &fresh);
        if (api == TDC_NAME_NONE)
            return false;
        records->next[i] = TDC_UNPAIRED;
        if (fresh)
            records->first[api] = i;
        else
            records->next[records->last[api]] = i;
        records->last[api] = i;
    }
    return true;
}

static void free_records(struct api_records *records)
{
    tdc_names_free(&records->apis);
    free(records->first);
    free(records->last);
    free(records->next);
}

/* The first record of the API, TDC_UNPAIRED if there is none. */
static uint32_t first_record(const struct api_records *records, const char *api)
{
    uint32_t number = tdc_names_find(&records->apis, api, strlen(api));
    return number == TDC_NAME_NONE ? TDC_UNPAIRED : records->first[number];
}

struct applying {
    struct tdc_match *match;
    const char *path;
    const struct tdc_options *options;
    struct api_records npu, bench;
};

/* An entry that comes later takes the place of an earlier one for the same API. */
static bool apply_to_records(struct applying *applying, const struct tdc_yaml *entry)
{
    struct tdc_match *match = applying->match;
    const char *ms_api = scalar(entry, "ms_api"), *pt_api = scalar(entry, "pt_api");
    uint32_t record = first_record(&applying->npu, ms_api);
    if (record == TDC_UNPAIRED) {
        tdc_map_warn(applying->options, applying->path, entry->line,
                     "the test dump has no API '%.200s'", ms_api);
        return true;
    }
    if (first_record(&applying->bench, pt_api) == TDC_UNPAIRED) {
        tdc_map_warn(applying->options, applying->path, entry->line,
                     "the ref dump has no API '%.200s'", pt_api);
        return true;
    }
    if (match->key_rules[record] == TDC_KEY_API_FILE)
        tdc_map_warn(applying->options, applying->path, entry->line,
                     "'%.200s' has an entry already; the later one counts", ms_api);
    for (; record != TDC_UNPAIRED; record = applying->npu.next[record]) {
        match->keys[record] = apply_entry(match, entry, &match->npu->records[record]);
        match->key_rules[record] = TDC_KEY_API_FILE;
        if (match->keys[record] == NULL)
            return false;
    }
    return true;
}

static tdc_status apply_file(struct tdc_match *match, const char *path,
                             const struct tdc_options *options, struct tdc_error *error)
{
    struct tdc_yaml *root;
    tdc_status status = tdc_yaml_load(path, &match->arena, &root, error);
    if (status != TDC_OK || root == NULL || root->is_null)
        return status;
    struct applying applying = {.match = match, .path = path, .options = options};
    bool ok =
        gather_records(&applying.npu, match->npu) && gather_records(&applying.bench, match->bench);
    /* the documentation shows one entry alone, the original wants a list: both are fine */
    const struct tdc_yaml *first = root->kind == TDC_YAML_LIST ? root->child : root;
    for (const struct tdc_yaml *entry = first; entry != NULL && status == TDC_OK;
         entry = entry->next)
        status = check_entry(path, entry, error);
    for (const struct tdc_yaml *entry = first; ok && entry != NULL && status == TDC_OK;
         entry = entry->next) {
        report_unknown(path, entry, options);
        if (lengths_agree(path, entry, options))
            ok = apply_to_records(&applying, entry);
    }
    free_records(&applying.npu);
    free_records(&applying.bench);
    return ok ? status : tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
}

tdc_status tdc_map_apis(struct tdc_match *match, const char *path, bool leave_cells,
                        const struct tdc_options *options, struct tdc_error *error)
{
    struct tdc_flat_map table;
    tdc_status status = tdc_flat_map_parse(&table, tdc_api_table, "built-in API table",
                                           "MindSpore API: PyTorch API", &match->arena, error);
    for (size_t i = 0; i < match->npu->record_count && status == TDC_OK; i++) {
        const char *name = match->npu->records[i].name;
        if (leave_cells && strncmp(name, "Cell.", 5) == 0)
            continue;
        match->keys[i] = translate(&match->arena, &table, name);
        if (match->keys[i] == NULL)
            status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory while mapping APIs");
        else if (match->keys[i] != name)
            match->key_rules[i] = TDC_KEY_API_TABLE;
    }
    tdc_flat_map_free(&table);
    if (status == TDC_OK && path != NULL)
        status = apply_file(match, path, options, error);
    return status;
}
