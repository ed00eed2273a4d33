/*
 * wrapper.c - modules of one side inside a module more: DistributedDataParallel's `module.`, a
 * class that holds the network as `backbone.`.
 *
 * Every name of the wrapped side then has a few parts in front that the other side lacks. Such a
 * prefix is recognised only when there is no doubt: modules hardly ever have equal names, one
 * prefix on one side gives partners to at least half of the modules of both, to several different
 * ones, nearly all of their records have equal shapes, and no other prefix comes near it.
 */
#include <stdlib.h>
#include <string.h>

#include "host/match/match.h"

/* A wrapper of a wrapper of a wrapper. */
#define MOST_PARTS 3
/* Candidates are parts of names of one network: a few. More is no wrapper. */
#define MOST_CANDIDATES 1024

struct search {
    const struct tdc_dump *outer, *inner; /* the side that would have the prefix, and the other */
    struct tdc_name_table candidates;
    uint32_t votes[MOST_CANDIDATES];
    struct tdc_text name; /* scratch */
};

/* What one prefix achieves. */
struct gain {
    size_t pairs, modules;      /* calls that find a partner; of how many modules */
    size_t records, same_shape; /* of these calls */
};

/* Bytes of "Module." or "Cell." in front of the path of a module; 0 for other names. */
static size_t kind_length(const char *name)
{
    return strncmp(name, "Module.", 7) == 0 ? 7 : strncmp(name, "Cell.", 5) == 0 ? 5 : 0;
}

static bool has_entry(const struct tdc_dump *dump, const char *name, size_t length)
{
    return tdc_names_find(&dump->entry_names, name, length) != TDC_NAME_NONE;
}

/* The entry of the inner side that a name is without the first `skip` bytes of its path. */
static uint32_t partner_of(struct search *search, const char *name, size_t skip)
{
    size_t kind = kind_length(name);
    tdc_text_clear(&search->name);
    tdc_text_add(&search->name, name, kind);
    tdc_text_adds(&search->name, name + kind + skip);
    if (search->name.failed)
        return TDC_NAME_NONE;
    return tdc_names_find(&search->inner->entry_names, tdc_text_get(&search->name),
                          search->name.length);
}

/* Modules of a side, and how many of their calls have their like on the other side as they are. */
static size_t count_modules(const struct tdc_dump *dump, const struct tdc_dump *other,
                            size_t *equal)
{
    size_t count = 0;
    *equal = 0;
    for (size_t i = 0; i < dump->entry_count; i++) {
        const char *name = dump->entries[i].name;
        if (kind_length(name) == 0)
            continue;
        count++;
        *equal += has_entry(other, name, strlen(name));
    }
    return count;
}

/* Each call of the outer side votes for the prefixes that would give it a partner. False when out
 * of memory. */
static bool vote(struct search *search)
{
    for (size_t i = 0; i < search->outer->entry_count; i++) {
        const char *name = search->outer->entries[i].name;
        size_t kind = kind_length(name);
        if (kind == 0 || has_entry(search->inner, name, strlen(name)))
            continue;
        const char *path = name + kind, *dot = path;
        for (int parts = 0; parts < MOST_PARTS && (dot = strchr(dot, '.')) != NULL; parts++) {
            size_t skip = (size_t)(++dot - path);
            if (partner_of(search, name, skip) == TDC_NAME_NONE)
                continue;
            bool fresh;
            if (search->candidates.count == MOST_CANDIDATES &&
                tdc_names_find(&search->candidates, path, skip) == TDC_NAME_NONE)
                continue;
            uint32_t candidate = tdc_names_put(&search->candidates, path, skip, &fresh);
            if (candidate == TDC_NAME_NONE)
                return false;
            search->votes[candidate]++;
        }
    }
    return true;
}

/* The prefix with most votes, NULL if another has more than half as many. */
static const struct tdc_name_key *winner(const struct search *search)
{
    uint32_t best = TDC_NAME_NONE, most = 0, second = 0;
    for (uint32_t i = 0; i < search->candidates.count; i++) {
        if (search->votes[i] > most) {
            second = most;
            most = search->votes[i];
            best = i;
        } else if (search->votes[i] > second) {
            second = search->votes[i];
        }
    }
    return best == TDC_NAME_NONE || 2 * second > most ? NULL : &search->candidates.keys[best];
}

/* Where the name of the module ends: before ".forward", ".backward" or ".parameters_grad". */
static size_t module_length(const char *name)
{
    static const char *const marks[] = {".forward", ".backward", ".parameters_grad"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *at = strstr(name, marks[i]);
        if (at != NULL && (size_t)(at - name) < length)
            length = (size_t)(at - name);
    }
    return length;
}

static void add_shapes(const struct search *search, const struct tdc_dump_entry *outer,
                       const struct tdc_dump_entry *inner, struct gain *gain)
{
    size_t count = outer->count < inner->count ? outer->count : inner->count;
    for (size_t i = 0; i < count; i++)
        gain->same_shape += strcmp(search->outer->records[outer->first + i].shape,
                                   search->inner->records[inner->first + i].shape) == 0;
    gain->records += outer->count > inner->count ? outer->count : inner->count;
}

static bool measure(struct search *search, const struct tdc_name_key *prefix, struct gain *gain)
{
    struct tdc_name_table modules;
    tdc_names_init(&modules);
    *gain = (struct gain){0};
    bool ok = true;
    for (size_t i = 0; ok && i < search->outer->entry_count; i++) {
        const struct tdc_dump_entry *entry = &search->outer->entries[i];
        size_t kind = kind_length(entry->name);
        if (kind == 0 || strncmp(entry->name + kind, prefix->text, prefix->length) != 0)
            continue;
        uint32_t partner = partner_of(search, entry->name, prefix->length);
        if (partner == TDC_NAME_NONE)
            continue;
        bool fresh;
        gain->pairs++;
        add_shapes(search, entry, &search->inner->entries[partner], gain);
        ok = tdc_names_put(&modules, entry->name, module_length(entry->name), &fresh) !=
             TDC_NAME_NONE;
    }
    gain->modules = modules.count;
    tdc_names_free(&modules);
    return ok;
}

static bool convinces(const struct gain *gain, size_t outer, size_t inner, size_t equal)
{
    return gain->modules >= 2 && 2 * gain->pairs >= outer && 2 * gain->pairs >= inner &&
           10 * equal <= gain->pairs && 10 * gain->same_shape >= 9 * gain->records;
}

/* Looks for a prefix of the outer side; *prefix is NULL if there is none. */
static bool find_prefix(struct tdc_match *match, const struct tdc_dump *outer,
                        const struct tdc_dump *inner, const char **prefix)
{
    struct search *search = calloc(1, sizeof *search);
    size_t equal, unused;
    *prefix = NULL;
    if (search == NULL)
        return false;
    search->outer = outer;
    search->inner = inner;
    tdc_names_init(&search->candidates);
    tdc_text_init(&search->name, (size_t)1 << 20);
    size_t outer_modules = count_modules(outer, inner, &equal);
    size_t inner_modules = count_modules(inner, outer, &unused);
    bool ok = true;
    if (2 * equal < outer_modules && inner_modules != 0) {
        ok = vote(search);
        const struct tdc_name_key *best = ok ? winner(search) : NULL;
        struct gain gain;
        if (best != NULL)
            ok = measure(search, best, &gain);
        if (ok && best != NULL && convinces(&gain, outer_modules, inner_modules, equal)) {
            *prefix = tdc_arena_text(&match->arena, best->text, best->length);
            ok = *prefix != NULL;
        }
    }
    tdc_names_free(&search->candidates);
    tdc_text_free(&search->name);
    free(search);
    return ok;
}

/* The name under which an NPU record looks for its partner; NULL when out of memory. */
static const char *key_of(struct tdc_match *match, const char *name, const char *prefix,
                          bool npu_wrapped)
{
    size_t kind = kind_length(name), length = strlen(prefix);
    if (kind == 0 || (npu_wrapped && strncmp(name + kind, prefix, length) != 0))
        return name;
    size_t size = strlen(name) + length + 1;
    char *key = tdc_arena_take(&match->arena, size);
    if (key == NULL)
        return NULL;
    memcpy(key, name, kind);
    if (npu_wrapped) {
        strcpy(key + kind, name + kind + length);
    } else {
        memcpy(key + kind, prefix, length);
        strcpy(key + kind + length, name + kind);
    }
    return key;
}

bool tdc_match_wrapper(struct tdc_match *match, const struct tdc_options *options)
{
    const char *prefix;
    bool npu_wrapped = true;
    if (!find_prefix(match, match->npu, match->bench, &prefix))
        return false;
    if (prefix == NULL) {
        npu_wrapped = false;
        if (!find_prefix(match, match->bench, match->npu, &prefix))
            return false;
    }
    if (prefix == NULL)
        return true;
    for (size_t i = 0; i < match->npu->record_count; i++) {
        const char *name = match->npu->records[i].name;
        match->keys[i] = key_of(match, name, prefix, npu_wrapped);
        if (match->keys[i] == NULL)
            return false;
        if (match->keys[i] != name)
            match->key_rules[i] = TDC_KEY_WRAPPER;
    }
    struct tdc_text text;
    tdc_text_init(&text, (size_t)1 << 20);
    tdc_text_addf(&text, "equal names without the %s's '%s'", npu_wrapped ? "test" : "ref", prefix);
    match->method = tdc_arena_text(&match->arena, tdc_text_get(&text), text.length);
    tdc_text_clear(&text);
    tdc_text_addf(&text,
                  "modules of %s have '%s' in front of their names, those of %s have not: "
                  "they are matched without it",
                  npu_wrapped ? match->npu->path : match->bench->path, prefix,
                  npu_wrapped ? match->bench->path : match->npu->path);
    bool ok = match->method != NULL && !text.failed;
    if (ok && options->message != NULL)
        options->message(options->context, TDC_MESSAGE_INFO, tdc_text_get(&text));
    tdc_text_free(&text);
    return ok;
}
