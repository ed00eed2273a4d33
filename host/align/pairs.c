/* pairs.c - which sequence of one side is which of the other, by the ids of their tokens. */
#include <string.h>

#include "host/align/align.h"

/* Where the sequences of an axis begin. */
static uint64_t *starts_of(const struct tdc_token_axis *axis, struct tdc_arena *arena)
{
    uint64_t *starts = tdc_arena_zeroed(arena, axis->count + 1, sizeof *starts);
    for (size_t i = 0; i < axis->count && starts != NULL; i++)
        starts[i + 1] = starts[i] + axis->lengths[i];
    return starts;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The unused sequence of A with the same ids, the first of them; else the one that is a prefix of
 * it or has it as prefix, with the longest overlap. SIZE_MAX: none. */
static size_t partner_of(const struct tdc_token_axis *a, const uint64_t *a_starts, const bool *used,
                         const int64_t *ids, uint64_t length)
{
    size_t best = SIZE_MAX;
    uint64_t overlap = 0;
    for (size_t i = 0; i < a->count; i++) {
        uint64_t common = least(a->lengths[i], length);
        if (used[i] || memcmp(a->ids + a_starts[i], ids, common * sizeof *ids) != 0)
            continue;
        if (a->lengths[i] == length)
            return i;
        if (best == SIZE_MAX || common > overlap) {
            best = i;
            overlap = common;
        }
    }
    return best;
}

bool tdc_tokens_pair(const struct tdc_token_axis *a, const struct tdc_token_axis *b,
                     struct tdc_arena *arena, struct tdc_token_pairs *pairs)
{
    uint64_t *a_starts = starts_of(a, arena), *b_starts = starts_of(b, arena);
    bool *used = tdc_arena_zeroed(arena, a->count + 1, sizeof *used);
    *pairs = (struct tdc_token_pairs){0};
    for (int i = 0; i < 2; i++)
        pairs->maps[i].list = tdc_arena_zeroed(arena, b->count + 1, sizeof(struct tdc_run));
    if (a_starts == NULL || b_starts == NULL || used == NULL || pairs->maps[0].list == NULL ||
        pairs->maps[1].list == NULL)
        return false;
    pairs->sequence = tdc_arena_zeroed(arena, b_starts[b->count] + 1, sizeof *pairs->sequence);
    pairs->position = tdc_arena_zeroed(arena, b_starts[b->count] + 1, sizeof *pairs->position);
    if (pairs->sequence == NULL || pairs->position == NULL)
        return false;
    for (size_t k = 0; k < b->count; k++) {
        size_t i = partner_of(a, a_starts, used, b->ids + b_starts[k], b->lengths[k]);
        if (i == SIZE_MAX)
            continue;
        uint64_t common = least(a->lengths[i], b->lengths[k]);
        used[i] = true;
        pairs->maps[0].list[pairs->pairs] = (struct tdc_run){a_starts[i], pairs->tokens, common};
        pairs->maps[1].list[pairs->pairs] = (struct tdc_run){b_starts[k], pairs->tokens, common};
        for (uint64_t t = 0; t < common; t++) {
            pairs->sequence[pairs->tokens + t] = (uint32_t)k;
            pairs->position[pairs->tokens + t] = (uint32_t)t;
        }
        pairs->tokens += common;
        pairs->pairs++;
    }
    pairs->maps[0].count = pairs->maps[1].count = pairs->pairs;
    return true;
}
