/*
 * recount.c - backward calls by their order.
 *
 * Where a network recomputes parts of itself, the numbers of its backward calls depend on what was
 * computed again. msprobe 26 pairs the k-th backward call of an API or module with the k-th of the
 * other side, in the order of the files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/match/match.h"

/* The last two parts of an entry's name, and where they begin. */
struct call_name {
    size_t base; /* length of what stands before, without the dot */
    const char *last, *before_last;
    size_t last_length, before_length;
};

static bool is_part(const char *part, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(part, word, length) == 0;
}

static bool is_number(const char *part, size_t length)
{
    return length != 0 && strspn(part, "0123456789") >= length;
}

static bool split(const char *entry, struct call_name *name)
{
    const char *last = strrchr(entry, '.');
    if (last == NULL || last == entry)
        return false;
    const char *before = last - 1;
    while (before > entry && *before != '.')
        before--;
    if (*before != '.')
        return false;
    *name = (struct call_name){
        .base = (size_t)(before - entry),
        .last = last + 1,
        .before_last = before + 1,
        .last_length = strlen(last + 1),
        .before_length = (size_t)(last - before - 1),
    };
    return true;
}

static bool either_is(const struct call_name *name, const char *word)
{
    return is_part(name->last, name->last_length, word) ||
           is_part(name->before_last, name->before_length, word);
}

static bool is_backward(const struct call_name *name)
{
    return !either_is(name, "parameters_grad") && !either_is(name, "forward") &&
           either_is(name, "backward");
}

/* What the row's name has besides the name of its entry. */
static bool add_rest(struct tdc_text *key, const char *row, const char *entry)
{
    size_t length = strlen(entry);
    for (const char *at; (at = strstr(row, entry)) != NULL; row = at + length)
        tdc_text_add(key, row, (size_t)(at - row));
    return tdc_text_adds(key, row);
}

static const char *numbered(struct tdc_arena *arena, struct tdc_text *key, const char *entry,
                            const struct call_name *name, uint32_t number, const char *row)
{
    bool number_last = is_number(name->last, name->last_length);
    tdc_text_clear(key);
    tdc_text_add(key, entry, name->base);
    if (number_last)
        tdc_text_addf(key, ".%.*s.%u", (int)name->before_length, name->before_last, number);
    else
        tdc_text_addf(key, ".%u.%s", number, name->last);
    return add_rest(key, row, entry) ? tdc_arena_text(arena, tdc_text_get(key), key->length) : NULL;
}

/* Counts the backward calls of one side and gives their records new keys. */
static bool recount(struct tdc_arena *arena, const struct tdc_dump *dump,
                    const struct tdc_match_rules *rules, const char **keys)
{
    struct tdc_name_table bases;
    struct tdc_text key;
    tdc_names_init(&bases);
    tdc_text_init(&key, (size_t)1 << 20);
    uint32_t *counts = calloc(dump->entry_count + 1, sizeof *counts);
    bool ok = counts != NULL, fresh;
    for (size_t e = 0; e < dump->entry_count && ok; e++) {
        const struct tdc_dump_entry *entry = &dump->entries[e];
        struct call_name name;
        if (!split(entry->name, &name) || !is_backward(&name))
            continue;
        uint32_t base = tdc_names_put(&bases, entry->name, name.base, &fresh);
        ok = base != TDC_NAME_NONE;
        if (!ok)
            break;
        uint32_t number = counts[base]++;
        if (!is_number(name.last, name.last_length) &&
            !is_number(name.before_last, name.before_length))
            continue;
        for (size_t i = entry->first; i < entry->first + entry->count && ok; i++) {
            if (!tdc_match_takes(rules, &dump->records[i]))
                continue;
            keys[i] = numbered(arena, &key, entry->name, &name, number, dump->records[i].name);
            ok = keys[i] != NULL;
        }
    }
    free(counts);
    tdc_text_free(&key);
    tdc_names_free(&bases);
    return ok;
}

bool tdc_match_recount(struct tdc_match *match)
{
    size_t count = match->bench->record_count;
    match->bench_keys = tdc_arena_zeroed(&match->arena, count + 1, sizeof *match->bench_keys);
    if (match->bench_keys == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        match->bench_keys[i] = match->bench->records[i].name;
    return recount(&match->arena, match->npu, match->rules, match->keys) &&
           recount(&match->arena, match->bench, match->rules, match->bench_keys);
}
