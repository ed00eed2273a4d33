#include "io/base/name_table.h"

#include <stdlib.h>
#include <string.h>

void tdc_names_init(struct tdc_name_table *table)
{
    *table = (struct tdc_name_table){0};
}

void tdc_names_free(struct tdc_name_table *table)
{
    free(table->keys);
    free(table->slots);
    tdc_names_init(table);
}

/* Eight bytes at a time with a 64x64->128 bit product folded: names are long and differ late. */
static uint64_t hash_text(const char *text, size_t length)
{
    uint64_t hash = 0x9e3779b97f4a7c15u ^ length;
    while (length >= 8) {
        uint64_t word;
        memcpy(&word, text, 8);
        __uint128_t product = (__uint128_t)(hash ^ word) * 0xd6e8feb86659fd93u;
        hash = (uint64_t)product ^ (uint64_t)(product >> 64);
        text += 8;
        length -= 8;
    }
    uint64_t rest = 0;
    memcpy(&rest, text, length);
    __uint128_t product = (__uint128_t)(hash ^ rest) * 0xa0761d6478bd642fu;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The slot that holds the key, or the free slot where it belongs. */
static size_t find_slot(const struct tdc_name_table *table, const struct tdc_name_key *key)
{
    size_t mask = table->slot_count - 1;
    size_t slot = (size_t)key->hash & mask;
    while (table->slots[slot] != 0) {
        const struct tdc_name_key *held = &table->keys[table->slots[slot] - 1];
        if (held->hash == key->hash && held->length == key->length &&
            memcmp(held->text, key->text, key->length) == 0)
            break;
        slot = (slot + 1) & mask;
    }
    return slot;
}

static bool grow_slots(struct tdc_name_table *table)
{
    size_t count = table->slot_count == 0 ? 64 : table->slot_count * 2;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (slots == NULL)
        return false;
    free(table->slots);
    table->slots = slots;
    table->slot_count = count;
    for (uint32_t i = 0; i < table->count; i++)
        table->slots[find_slot(table, &table->keys[i])] = i + 1;
    return true;
}

static bool grow_keys(struct tdc_name_table *table)
{
    if (table->capacity > UINT32_MAX / 2 - 1)
        return false;
    uint32_t capacity = table->capacity == 0 ? 32 : table->capacity * 2;
    struct tdc_name_key *keys = realloc(table->keys, capacity * sizeof *keys);
    if (keys == NULL)
        return false;
    table->keys = keys;
    table->capacity = capacity;
    return true;
}

uint32_t tdc_names_find(const struct tdc_name_table *table, const char *text, size_t length)
{
    if (table->count == 0)
        return TDC_NAME_NONE;
    struct tdc_name_key key = {text, length, hash_text(text, length)};
    uint32_t held = table->slots[find_slot(table, &key)];
    return held == 0 ? TDC_NAME_NONE : held - 1;
}

/* arena: of the copy that a new key is to be; NULL: it is the key itself. */
static uint32_t put_key(struct tdc_name_table *table, struct tdc_name_key key,
                        struct tdc_arena *arena, bool *fresh)
{
    *fresh = false;
    if ((size_t)table->count * 2 >= table->slot_count && !grow_slots(table))
        return TDC_NAME_NONE;
    size_t slot = find_slot(table, &key);
    if (table->slots[slot] != 0)
        return table->slots[slot] - 1;
    if (table->count == table->capacity && !grow_keys(table))
        return TDC_NAME_NONE;
    if (arena != NULL && (key.text = tdc_arena_text(arena, key.text, key.length)) == NULL)
        return TDC_NAME_NONE;
    table->keys[table->count] = key;
    table->slots[slot] = ++table->count;
    *fresh = true;
    return table->count - 1;
}

uint32_t tdc_names_put(struct tdc_name_table *table, const char *text, size_t length, bool *fresh)
{
    return put_key(table, (struct tdc_name_key){text, length, hash_text(text, length)}, NULL,
                   fresh);
}

uint32_t tdc_names_keep(struct tdc_name_table *table, struct tdc_arena *arena, const char *text,
                        size_t length)
{
    bool fresh;
    return put_key(table, (struct tdc_name_key){text, length, hash_text(text, length)}, arena,
                   &fresh);
}
