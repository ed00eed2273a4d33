#include "host/share/known.h"

#include <stdlib.h>

static size_t slot_of(const struct tdc_known *known, enum tdc_part_kind kind,
                      const struct tdc_share_key *key)
{
    size_t slot = (size_t)key->halves[1] & known->mask;
    for (; known->slots[slot] != 0; slot = (slot + 1) & known->mask) {
        const struct tdc_part_record *held = &known->records[known->slots[slot] - 1];
        if (held->kind == kind && held->key.halves[0] == key->halves[0] &&
            held->key.halves[1] == key->halves[1])
            break;
    }
    return slot;
}

/* At most half of the slots are taken. */
static bool grow(struct tdc_known *known)
{
    size_t room = known->room != 0 ? known->room * 2 : 256;
    struct tdc_part_record *records = realloc(known->records, room * sizeof *records);
    if (records != NULL)
        known->records = records;
    size_t *slots = records != NULL ? calloc(2 * room, sizeof *slots) : NULL;
    if (slots == NULL)
        return false;
    free(known->slots);
    known->slots = slots;
    known->mask = 2 * room - 1;
    known->room = room;
    for (size_t i = 0; i < known->count; i++)
        slots[slot_of(known, known->records[i].kind, &known->records[i].key)] = i + 1;
    return true;
}

static bool keep_block(struct tdc_known *known, unsigned char *bytes)
{
    unsigned char **blocks =
        realloc(known->blocks, (known->block_count + 1) * sizeof *known->blocks);
    if (blocks == NULL) {
        free(bytes);
        return false;
    }
    known->blocks = blocks;
    known->blocks[known->block_count++] = bytes;
    return true;
}

bool tdc_known_add(struct tdc_known *known, unsigned char *bytes, size_t size, size_t at)
{
    if (!keep_block(known, bytes))
        return false;
    for (struct tdc_part_record record; tdc_part_next(bytes, size, &at, &record);) {
        struct tdc_share_work work;
        if (record.kind == TDC_PART_WORK && tdc_work_read(&record, &work) &&
            !tdc_works_add(&known->works, &work))
            return false;
        if (record.kind == TDC_PART_END || record.kind == TDC_PART_WORK)
            continue;
        if (known->count == known->room && !grow(known))
            return false;
        size_t slot = slot_of(known, record.kind, &record.key);
        if (known->slots[slot] != 0) { /* what was found later stands */
            known->records[known->slots[slot] - 1] = record;
            continue;
        }
        known->records[known->count++] = record;
        known->slots[slot] = known->count;
    }
    return true;
}

const struct tdc_part_record *tdc_known_find(const struct tdc_known *known, enum tdc_part_kind kind,
                                             const struct tdc_share_key *key)
{
    if (known->count == 0)
        return NULL;
    size_t slot = known->slots[slot_of(known, kind, key)];
    return slot != 0 ? &known->records[slot - 1] : NULL;
}

void tdc_known_free(struct tdc_known *known)
{
    for (size_t i = 0; i < known->block_count; i++)
        free(known->blocks[i]);
    free(known->blocks);
    free(known->records);
    free(known->slots);
    tdc_works_free(&known->works);
    *known = (struct tdc_known){0};
}
