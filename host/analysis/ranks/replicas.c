/*
 * replicas.c - which ranks hold the same parameters.
 *
 * Nothing in a dump says which ranks are replicas. Those of data parallelism hold the same
 * parameters, those that split a model hold different ones under equal names, but for small ones
 * (norms, biases). So two ranks are replicas when more than half of the bytes that they both have
 * are equal: a damaged parameter does not part them, a split one does.
 */
#include <stdlib.h>

#include "host/analysis/ranks/shared.h"

/* The values of the parameters among the slots [first, end), all of one rank, by their keys. */
static void fill(const struct tdc_ranks *ranks, size_t first, size_t end, uint32_t *values)
{
    for (uint32_t i = 0; i < ranks->keys.count; i++)
        values[i] = TDC_NO_VALUE;
    for (size_t i = first; i < end; i++)
        if (ranks->slots[i].kind == TDC_SHARED_PARAMETER)
            values[ranks->slots[i].key] = ranks->slots[i].value;
}

struct overlap {
    uint64_t shared, equal;
};

/* Of the slots [first, end), all of one rank, with the values of another. */
static struct overlap overlap_of(const struct tdc_ranks *ranks, size_t first, size_t end,
                                 const uint32_t *values)
{
    struct overlap overlap = {0};
    for (size_t i = first; i < end; i++) {
        const struct tdc_slot *slot = &ranks->slots[i];
        if (slot->kind != TDC_SHARED_PARAMETER || slot->value == TDC_NO_VALUE ||
            values[slot->key] == TDC_NO_VALUE)
            continue;
        overlap.shared += slot->bytes;
        if (values[slot->key] == slot->value)
            overlap.equal += slot->bytes;
    }
    return overlap;
}

/* Slots come rank by rank: where those of each rank begin. */
static void find_starts(const struct tdc_ranks *ranks, size_t *starts)
{
    size_t slot = 0;
    for (size_t rank = 0; rank <= ranks->dumps.count; rank++) {
        while (slot < ranks->slot_count && ranks->slots[slot].rank < rank)
            slot++;
        starts[rank] = slot;
    }
}

static bool name_groups(struct tdc_ranks *ranks)
{
    size_t count = ranks->dumps.count;
    bool *in = calloc(count, sizeof *in);
    ranks->groups = calloc(count, sizeof *ranks->groups);
    bool done = in != NULL && ranks->groups != NULL;
    for (uint32_t head = 0; head < count && done; head++) {
        if (ranks->replica[head] != head)
            continue;
        for (uint32_t rank = 0; rank < count; rank++)
            in[rank] = ranks->replica[rank] == head;
        const char *list = tdc_rank_list(ranks, in);
        done = list != NULL;
        ranks->groups[ranks->group_count++] = list;
    }
    free(in);
    return done;
}

bool tdc_replicas_find(struct tdc_ranks *ranks)
{
    size_t count = ranks->dumps.count;
    uint32_t *values = malloc(((size_t)ranks->keys.count + 1) * sizeof *values);
    size_t *starts = calloc(count + 1, sizeof *starts);
    ranks->replica = malloc(count * sizeof *ranks->replica);
    bool done = values != NULL && starts != NULL && ranks->replica != NULL;
    if (done) {
        find_starts(ranks, starts);
        for (uint32_t rank = 0; rank < count; rank++)
            ranks->replica[rank] = rank;
        /* each rank without a group asks those behind it: time is groups times slots */
        bool *taken = calloc(count, sizeof *taken);
        done = taken != NULL;
        for (uint32_t head = 0; head < count && done; head++) {
            if (taken[head])
                continue;
            fill(ranks, starts[head], starts[head + 1], values);
            for (uint32_t rank = head + 1; rank < count; rank++) {
                if (taken[rank])
                    continue;
                struct overlap overlap = overlap_of(ranks, starts[rank], starts[rank + 1], values);
                if (overlap.shared != 0 && overlap.equal > overlap.shared / 2) {
                    ranks->replica[rank] = head;
                    taken[rank] = true;
                }
            }
        }
        free(taken);
    }
    free(values);
    free(starts);
    return done && name_groups(ranks);
}
