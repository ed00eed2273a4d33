/* tokens.c - one axis of all real tokens, sequence after sequence. */
#include <string.h>

#include "host/align/place/place.h"

#define NO_LEAF UINT32_MAX

static unsigned leaf_named(const struct tdc_placing *placing, const char *name)
{
    for (unsigned i = 0; i < placing->leaf_count; i++)
        if (strcmp(placing->leaves[i].name, name) == 0 && !placing->leaves[i].dropped)
            return i;
    return NO_LEAF;
}

/* ---- lengths --------------------------------------------------------------------------------- */

static tdc_status read_numbers(const struct tdc_placing *placing, const struct tdc_lengths *written,
                               const int64_t **numbers, size_t *count)
{
    const struct tdc_lengths *lengths;
    tdc_status status = tdc_sided_lengths(placing->sided, written, &lengths, placing->error);
    if (status != TDC_OK)
        return status;
    if (lengths->kind == TDC_LENGTHS_MASK || lengths->kind == TDC_LENGTHS_UNKNOWN)
        return tdc_rule_fail(placing->error, lengths->place,
                             "lengths need a list, cu, len or mask");
    if (lengths->kind == TDC_LENGTHS_LIST) {
        *numbers = lengths->list;
        *count = lengths->count;
        return TDC_OK;
    }
    return tdc_sided_integers(placing->sided, lengths, lengths->kind == TDC_LENGTHS_CU,
                              placing->arena, numbers, count, placing->error);
}

static tdc_status read_lengths(const struct tdc_placing *placing, const struct tdc_lengths *written,
                               const int64_t **numbers, size_t *count)
{
    tdc_status status = read_numbers(placing, written, numbers, count);
    uint64_t sum = 0;
    for (size_t i = 0; i < *count && status == TDC_OK; i++)
        if ((*numbers)[i] < 0 || __builtin_add_overflow(sum, (uint64_t)(*numbers)[i], &sum))
            status = tdc_placing_fail(placing, "a length of %lld", (long long)(*numbers)[i]);
    return status;
}

tdc_status tdc_placing_read_lengths(struct tdc_placing *placing)
{
    const struct tdc_tokens *tokens = placing->tokens;
    if (tokens == NULL || tokens->of[0] != NULL)
        return TDC_OK;
    tdc_status status =
        read_lengths(placing, &tokens->lengths, &placing->lengths, &placing->length_count);
    placing->stored = placing->lengths;
    placing->stored_count_of_pieces = placing->length_count;
    if (status == TDC_OK && tokens->stored.kind != TDC_LENGTHS_NONE)
        status = read_lengths(placing, &tokens->stored, &placing->stored,
                              &placing->stored_count_of_pieces);
    placing->owner_count = placing->length_count;
    if (status == TDC_OK && tokens->owners.kind != TDC_LENGTHS_NONE)
        status = read_numbers(placing, &tokens->owners, &placing->owners, &placing->owner_count);
    return status;
}

/* ---- a packed axis --------------------------------------------------------------------------- */

/* The sequence of each piece, by first appearance of its owner. */
static tdc_status number_owners(struct tdc_placing *placing, size_t *sequence)
{
    int64_t *seen = tdc_arena_zeroed(placing->arena, placing->length_count + 1, sizeof *seen);
    if (seen == NULL)
        return tdc_placing_no_memory(placing);
    for (size_t i = 0; i < placing->length_count; i++) {
        size_t at = 0;
        if (placing->owners == NULL) {
            at = i;
        } else {
            while (at < placing->sequence_count && seen[at] != placing->owners[i])
                at++;
            seen[at] = placing->owners[i];
        }
        sequence[i] = at;
        placing->sequence_count = at >= placing->sequence_count ? at + 1 : placing->sequence_count;
    }
    return TDC_OK;
}

static tdc_status check_pieces(const struct tdc_placing *placing)
{
    const struct tdc_leaf_plan *leaf = &placing->leaves[placing->token_leaf];
    uint64_t sum = 0;
    if (placing->owner_count != placing->length_count ||
        placing->stored_count_of_pieces != placing->length_count)
        return tdc_placing_fail(placing, "%zu lengths, %zu stored lengths, %zu owners",
                                placing->length_count, placing->stored_count_of_pieces,
                                placing->owner_count);
    for (size_t i = 0; i < placing->length_count; i++)
        sum += (uint64_t)placing->stored[i];
    if (sum > leaf->full || (sum < leaf->full && !placing->tokens->tail))
        return tdc_placing_fail(placing, "lengths add up to %llu, axis '%s' has %llu",
                                (unsigned long long)sum, leaf->name,
                                (unsigned long long)leaf->full);
    for (size_t i = 0; i < placing->length_count; i++)
        if (placing->lengths[i] > placing->stored[i])
            return tdc_placing_fail(placing, "a sequence of %lld tokens is stored in %lld",
                                    (long long)placing->lengths[i], (long long)placing->stored[i]);
    return TDC_OK;
}

static tdc_status pack_tokens(struct tdc_placing *placing)
{
    size_t count = placing->length_count;
    size_t *sequence = tdc_arena_zeroed(placing->arena, count + 1, sizeof *sequence);
    uint64_t *lengths = tdc_arena_zeroed(placing->arena, count + 1, sizeof *lengths);
    uint64_t *next = tdc_arena_zeroed(placing->arena, count + 1, sizeof *next);
    struct tdc_run *list = tdc_arena_zeroed(placing->arena, count + 1, sizeof *list);
    if (sequence == NULL || lengths == NULL || next == NULL || list == NULL)
        return tdc_placing_no_memory(placing);
    tdc_status status = check_pieces(placing);
    if (status == TDC_OK)
        status = number_owners(placing, sequence);
    if (status != TDC_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        lengths[sequence[i]] += (uint64_t)placing->lengths[i];
    for (size_t i = 1; i < placing->sequence_count; i++)
        next[i] = next[i - 1] + lengths[i - 1];
    uint64_t base = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t length = (uint64_t)placing->lengths[i], stored = (uint64_t)placing->stored[i];
        list[i] = (struct tdc_run){base + (placing->tokens->left ? stored - length : 0),
                                   next[sequence[i]], length};
        next[sequence[i]] += length;
        placing->token_count += length;
        base += stored;
    }
    placing->pieces = (struct tdc_runs){list, count};
    placing->sequences = lengths;
    return TDC_OK;
}

/* ---- batch and position ---------------------------------------------------------------------- */

/* The runs of a row of a mask that are not 0. */
static tdc_status mask_row(struct tdc_placing *placing, const int64_t *mask, uint64_t size,
                           struct tdc_runs *row, uint64_t *length)
{
    size_t count = 0;
    for (uint64_t i = 0; i < size; i++)
        count += mask[i] != 0 && (i == 0 || mask[i - 1] == 0);
    struct tdc_run *list = tdc_arena_zeroed(placing->arena, count + 1, sizeof *list);
    if (list == NULL)
        return tdc_placing_no_memory(placing);
    size_t used = 0;
    for (uint64_t i = 0; i < size; i++) {
        if (mask[i] == 0)
            continue;
        if (i == 0 || mask[i - 1] == 0)
            list[used++] = (struct tdc_run){i, placing->token_count + *length, 0};
        list[used - 1].length++;
        ++*length;
    }
    *row = (struct tdc_runs){list, used};
    return TDC_OK;
}

static tdc_status read_mask(const struct tdc_placing *placing, const struct tdc_lengths *lengths,
                            int64_t **mask)
{
    uint64_t batch = placing->leaves[placing->batch_leaf].full;
    uint64_t positions = placing->leaves[placing->position_leaf].full;
    char shape[TDC_SHAPE_TEXT];
    size_t count, found = tdc_sided_find(placing->sided, &lengths->patterns);
    if (found == SIZE_MAX)
        return tdc_placing_fail(placing, "no record matches '%.500s'", lengths->written);
    const struct tdc_side_record *record = &placing->sided->side->records[found];
    if (record->dimensions != 2 || record->shape[0] != batch || record->shape[1] != positions)
        return tdc_placing_fail(placing, "the mask has shape %s, not [%llu, %llu]",
                                tdc_side_shape_text(record, shape), (unsigned long long)batch,
                                (unsigned long long)positions);
    return tdc_sided_read(placing->sided, found, placing->arena, mask, &count, placing->error);
}

static tdc_status length_row(struct tdc_placing *placing, uint64_t row, uint64_t length)
{
    uint64_t size = placing->leaves[placing->position_leaf].full;
    struct tdc_run *run = tdc_arena_zeroed(placing->arena, 1, sizeof *run);
    if (run == NULL)
        return tdc_placing_no_memory(placing);
    if (length > size)
        return tdc_placing_fail(placing, "sequence %llu has %llu tokens, axis '%s' has %llu",
                                (unsigned long long)row, (unsigned long long)length,
                                placing->tokens->of[1], (unsigned long long)size);
    *run =
        (struct tdc_run){placing->tokens->left ? size - length : 0, placing->token_count, length};
    placing->rows[row] = (struct tdc_runs){run, length != 0};
    return TDC_OK;
}

static tdc_status unpad_tokens(struct tdc_placing *placing)
{
    const struct tdc_lengths *lengths;
    uint64_t batch = placing->leaves[placing->batch_leaf].full;
    uint64_t size = placing->leaves[placing->position_leaf].full;
    tdc_status status =
        tdc_sided_lengths(placing->sided, &placing->tokens->lengths, &lengths, placing->error);
    if (status != TDC_OK)
        return status;
    int64_t *mask = NULL;
    const int64_t *list = NULL;
    size_t count = 0;
    if (lengths->kind == TDC_LENGTHS_MASK)
        status = read_mask(placing, lengths, &mask);
    else
        status = read_lengths(placing, lengths, &list, &count);
    if (status == TDC_OK && mask == NULL && count != batch)
        status = tdc_placing_fail(placing, "%zu lengths for an axis '%s' of %llu", count,
                                  placing->tokens->of[0], (unsigned long long)batch);
    if (status != TDC_OK)
        return status;
    uint64_t *sequences = tdc_arena_zeroed(placing->arena, batch + 1, sizeof *sequences);
    placing->rows = tdc_arena_zeroed(placing->arena, batch + 1, sizeof *placing->rows);
    if (sequences == NULL || placing->rows == NULL || (mask == NULL && list == NULL && batch != 0))
        return tdc_placing_no_memory(placing);
    for (uint64_t i = 0; i < batch && status == TDC_OK; i++) {
        if (mask != NULL)
            status = mask_row(placing, mask + i * size, size, &placing->rows[i], &sequences[i]);
        else
            status = length_row(placing, i, sequences[i] = (uint64_t)list[i]);
        placing->token_count += sequences[i];
    }
    placing->sequences = sequences;
    placing->sequence_count = (size_t)batch;
    return status;
}

tdc_status tdc_placing_tokens(struct tdc_placing *placing)
{
    const struct tdc_tokens *tokens = placing->tokens;
    if (tokens == NULL)
        return TDC_OK;
    bool of = tokens->of[0] != NULL;
    placing->token_leaf = of ? NO_LEAF : leaf_named(placing, tokens->axis);
    placing->batch_leaf = of ? leaf_named(placing, tokens->of[0]) : NO_LEAF;
    placing->position_leaf = of ? leaf_named(placing, tokens->of[1]) : NO_LEAF;
    if (of ? placing->batch_leaf == NO_LEAF || placing->position_leaf == NO_LEAF ||
                 placing->batch_leaf == placing->position_leaf
           : placing->token_leaf == NO_LEAF)
        return tdc_placing_fail(placing, "dims '%.400s' has not the axes of its tokens",
                                placing->dims->text);
    return of ? unpad_tokens(placing) : pack_tokens(placing);
}
