/* ranks.c - the ranks of a step against each other. */
#include <stdlib.h>
#include <string.h>

#include "host/analysis/ranks/shared.h"
#include "host/api/options.h"
#include "io/base/error.h"
#include "io/base/sized.h"
#include "io/base/text.h"

/* Names and descriptions of what ranks share. */
#define ARENA_LIMIT ((size_t)32 << 30)

const char *tdc_rank_list(struct tdc_ranks *ranks, const bool *in)
{
    struct tdc_text text;
    tdc_text_init(&text, (size_t)1 << 20);
    for (size_t i = 0; i < ranks->dumps.count; i++) {
        if (!in[i])
            continue;
        size_t last = i;
        while (last + 1 < ranks->dumps.count && in[last + 1] &&
               ranks->dumps.ranks[last + 1].number == ranks->dumps.ranks[last].number + 1)
            last++;
        tdc_text_addf(&text, "%s%ld", text.length != 0 ? "," : "", ranks->dumps.ranks[i].number);
        if (last != i)
            tdc_text_addf(&text, "-%ld", ranks->dumps.ranks[last].number);
        i = last;
    }
    const char *list =
        text.failed ? NULL : tdc_arena_text(&ranks->arena, tdc_text_get(&text), text.length);
    tdc_text_free(&text);
    return list;
}

/* ---- one tensor on all ranks that share it --------------------------------------------------- */

/* Of a parameter the replicas share it, of a collective its group, which is part of the key. */
static uint32_t share_of(const struct tdc_ranks *ranks, const struct tdc_slot *slot)
{
    return slot->kind == TDC_SHARED_PARAMETER ? ranks->replica[slot->rank] : 0;
}

static int by_share(const void *a, const void *b, void *context)
{
    const struct tdc_ranks *ranks = context;
    const struct tdc_slot *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    uint32_t x_share = share_of(ranks, x), y_share = share_of(ranks, y);
    if (x_share != y_share)
        return x_share < y_share ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* The value that most of them have; the first in rank order of those that as many have. */
static uint32_t usual_value(const struct tdc_slot *slots, size_t count, unsigned *parts)
{
    uint32_t usual = TDC_NO_VALUE;
    size_t most = 0;
    *parts = 0;
    for (size_t i = 0; i < count; i++) {
        bool seen = slots[i].value == TDC_NO_VALUE;
        for (size_t k = 0; k < i && !seen; k++)
            seen = slots[k].value == slots[i].value;
        if (seen)
            continue;
        size_t alike = 0;
        for (size_t k = i; k < count; k++)
            alike += slots[k].value == slots[i].value;
        ++*parts;
        if (alike > most) {
            most = alike;
            usual = slots[i].value;
        }
    }
    return usual;
}

struct found {
    struct tdc_rank_deviation deviation;
    uint32_t rank, order; /* for the order in the network */
};

struct collecting {
    struct tdc_ranks *ranks;
    struct found *found;
    size_t count, capacity;
    bool *in; /* by rank */
};

static bool list_of(struct collecting *collecting, const struct tdc_slot *slots, size_t count,
                    uint32_t without, const char **list)
{
    memset(collecting->in, 0, collecting->ranks->dumps.count * sizeof *collecting->in);
    for (size_t i = 0; i < count; i++)
        if (slots[i].value != TDC_NO_VALUE && slots[i].value != without)
            collecting->in[slots[i].rank] = true;
    *list = tdc_rank_list(collecting->ranks, collecting->in);
    return *list != NULL;
}

static bool note(struct collecting *collecting, const struct tdc_slot *slots, size_t count,
                 uint32_t usual, unsigned parts)
{
    if (collecting->count == collecting->capacity) {
        size_t capacity = collecting->capacity != 0 ? 2 * collecting->capacity : 64;
        struct found *larger = realloc(collecting->found, capacity * sizeof *larger);
        if (larger == NULL)
            return false;
        collecting->found = larger;
        collecting->capacity = capacity;
    }
    struct found *found = &collecting->found[collecting->count++];
    *found = (struct found){
        .deviation = {.kind = (tdc_shared_kind)slots[0].kind,
                      .name = slots[0].name,
                      .parts = parts,
                      .first = -1},
        .rank = slots[0].rank,
        .order = slots[0].order,
    };
    for (size_t i = 0; i < count && found->deviation.first < 0; i++)
        if (slots[i].value != TDC_NO_VALUE && slots[i].value != usual)
            found->deviation.first = collecting->ranks->dumps.ranks[slots[i].rank].number;
    return list_of(collecting, slots, count, TDC_NO_VALUE, &found->deviation.ranks) &&
           list_of(collecting, slots, count, usual, &found->deviation.deviating);
}

static bool check_share(struct collecting *collecting, const struct tdc_slot *slots, size_t count)
{
    struct tdc_ranks_counts *counts = &collecting->ranks->counts;
    bool parameter = slots[0].kind == TDC_SHARED_PARAMETER;
    if (count < 2) {
        counts->unshared += parameter;
        return true;
    }
    counts->parameters += parameter;
    counts->collectives += !parameter;
    unsigned parts;
    uint32_t usual = usual_value(slots, count, &parts);
    return parts < 2 || note(collecting, slots, count, usual, parts);
}

static int by_place(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static bool check_all(struct tdc_ranks *ranks)
{
    struct collecting collecting = {.ranks = ranks,
                                    .in = calloc(ranks->dumps.count, sizeof *collecting.in)};
    bool done = collecting.in != NULL;
    if (ranks->slot_count != 0)
        qsort_r(ranks->slots, ranks->slot_count, sizeof *ranks->slots, by_share, ranks);
    for (size_t first = 0, end; first < ranks->slot_count && done; first = end) {
        const struct tdc_slot *slots = ranks->slots;
        for (end = first + 1; end < ranks->slot_count; end++)
            if (slots[end].key != slots[first].key ||
                share_of(ranks, &slots[end]) != share_of(ranks, &slots[first]))
                break;
        done = check_share(&collecting, slots + first, end - first);
    }
    ranks->deviations = done ? calloc(collecting.count + 1, sizeof *ranks->deviations) : NULL;
    if (ranks->deviations != NULL) {
        if (collecting.count != 0)
            qsort(collecting.found, collecting.count, sizeof *collecting.found, by_place);
        for (size_t i = 0; i < collecting.count; i++)
            ranks->deviations[i] = collecting.found[i].deviation;
        ranks->deviation_count = collecting.count;
    }
    free(collecting.found);
    free(collecting.in);
    return ranks->deviations != NULL;
}

/* ---- the check ------------------------------------------------------------------------------- */

static tdc_status check(struct tdc_ranks *ranks, const char *step,
                        const struct tdc_options *options, struct tdc_error *error)
{
    tdc_status status = tdc_rank_dumps_find(step, options, &ranks->dumps, error);
    if (status != TDC_OK)
        return status;
    ranks->counts.ranks = ranks->dumps.count;
    if (ranks->dumps.count < 2)
        return tdc_fail(error, TDC_ERR_NOTHING,
                        "%s: one rank has nobody to be compared with: name a step folder", step);
    ranks->data_folders = calloc(ranks->dumps.count, sizeof *ranks->data_folders);
    if (ranks->data_folders == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < ranks->dumps.count && status == TDC_OK; i++)
        status = tdc_cancel_is_set(options->cancel)
                     ? tdc_fail(error, TDC_ERR_INTERRUPTED, "interrupted")
                     : tdc_slots_load(ranks, i, options, error);
    if (status == TDC_OK)
        status = tdc_slots_value(ranks, options, error);
    if (status == TDC_OK && (!tdc_replicas_find(ranks) || !check_all(ranks)))
        status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", step);
    if (status == TDC_OK && ranks->counts.parameters + ranks->counts.collectives == 0)
        status = tdc_fail(error, TDC_ERR_NOTHING,
                          "%s: nothing that ranks share: no parameters of replicas and no output "
                          "of an all-reduce, all-gather or broadcast",
                          step);
    return status;
}

tdc_status tdc_ranks_check(const char *step, const struct tdc_options *options, tdc_ranks **result,
                           struct tdc_error *error)
{
    *result = NULL;
    struct tdc_options whole;
    tdc_status status = tdc_options_read(options, &whole, error);
    if (status != TDC_OK)
        return status;
    struct tdc_ranks *ranks = calloc(1, sizeof *ranks);
    if (ranks == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    tdc_arena_init(&ranks->arena, ARENA_LIMIT);
    tdc_names_init(&ranks->keys);
    tdc_names_init(&ranks->values);
    status = check(ranks, step, &whole, error);
    if (status != TDC_OK) {
        tdc_ranks_free(ranks);
        return status;
    }
    *result = ranks;
    return TDC_OK;
}

void tdc_ranks_free(tdc_ranks *ranks)
{
    if (ranks == NULL)
        return;
    for (size_t i = 0; ranks->data_folders != NULL && i < ranks->dumps.count; i++)
        free(ranks->data_folders[i]);
    free(ranks->data_folders);
    tdc_rank_dumps_free(&ranks->dumps);
    tdc_names_free(&ranks->keys);
    tdc_names_free(&ranks->values);
    tdc_arena_free(&ranks->arena);
    free(ranks->slots);
    free(ranks->replica);
    free(ranks->deviations);
    free(ranks->groups);
    free(ranks);
}

void tdc_ranks_counts(const tdc_ranks *ranks, struct tdc_ranks_counts *counts, size_t size)
{
    tdc_sized_give(counts, size, &ranks->counts, sizeof ranks->counts);
}

size_t tdc_ranks_deviations(const tdc_ranks *ranks)
{
    return ranks->deviation_count;
}

const struct tdc_rank_deviation *tdc_ranks_deviation(const tdc_ranks *ranks, size_t index)
{
    return &ranks->deviations[index];
}

size_t tdc_ranks_groups(const tdc_ranks *ranks)
{
    return ranks->group_count;
}

const char *tdc_ranks_group(const tdc_ranks *ranks, size_t index)
{
    return ranks->groups[index];
}
