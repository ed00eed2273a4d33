#include "io/base/key_index.h"

#include <string.h>

#define FIRST_SLOTS ((size_t)64)

__extension__ typedef unsigned __int128 wide;

static uint64_t mix(uint64_t a, uint64_t b)
{
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash(uint64_t seed, const char *key, size_t length)
{
    uint64_t state = mix(seed ^ length, UINT64_C(0x9e3779b97f4a7c15));
    for (; length >= 8; key += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, key, sizeof word);
        state = mix(state ^ word, seed | 1);
    }
    uint64_t tail = 0;
    if (length > 0) /* key may be NULL when empty */
        memcpy(&tail, key, length);
    return mix(state ^ tail, UINT64_C(0xd6e8feb86659fd93));
}

struct tdc_key_index *tdc_key_index_new(struct tdc_arena *arena,
                                        const char *(*key_of)(const void *member, size_t *length))
{
    struct tdc_key_index *index = tdc_arena_take(arena, sizeof *index);
    if (index == NULL)
        return NULL;
    const void **slots = tdc_arena_zeroed(arena, FIRST_SLOTS, sizeof *slots);
    if (slots == NULL)
        return NULL;
    *index = (struct tdc_key_index){slots, FIRST_SLOTS - 1, 0, 0, key_of};
    /* where the memory and the stack lie is the randomness at hand */
    index->seed = mix((uint64_t)(uintptr_t)slots ^ UINT64_C(0xa0761d6478bd642f),
                      (uint64_t)(uintptr_t)&arena ^ UINT64_C(0xe7037ed1a0b428db));
    return index;
}

/* The slot that holds the key, or the free one where it belongs. */
static size_t slot_of(const struct tdc_key_index *index, const char *key, size_t length)
{
    size_t slot = (size_t)hash(index->seed, key, length) & index->mask;
    for (; index->slots[slot] != NULL; slot = (slot + 1) & index->mask) {
        size_t other_length;
        const char *other = index->key_of(index->slots[slot], &other_length);
        if (other_length == length && memcmp(other, key, length) == 0)
            break;
    }
    return slot;
}

const void *tdc_key_index_find(const struct tdc_key_index *index, const char *key, size_t length)
{
    return index->slots[slot_of(index, key, length)];
}

static void put(struct tdc_key_index *index, const void *member)
{
    size_t length;
    const char *key = index->key_of(member, &length);
    index->slots[slot_of(index, key, length)] = member;
}

static bool grow(struct tdc_key_index *index, struct tdc_arena *arena)
{
    size_t old_slots = index->mask + 1, slots;
    const void **old = index->slots;
    if (__builtin_mul_overflow(old_slots, (size_t)2, &slots))
        return false;
    const void **larger = tdc_arena_zeroed(arena, slots, sizeof *larger);
    if (larger == NULL)
        return false;
    index->slots = larger;
    index->mask = slots - 1;
    for (size_t i = 0; i < old_slots; i++)
        if (old[i] != NULL)
            put(index, old[i]);
    return true;
}

bool tdc_key_index_add(struct tdc_key_index *index, struct tdc_arena *arena, const void *member)
{
    if (index->count > index->mask / 4 * 3 && !grow(index, arena))
        return false;
    put(index, member);
    index->count++;
    return true;
}
