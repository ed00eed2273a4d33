/*
 * plain_call.h - the records of a call straight from the text of a dump.json.
 *
 * Nearly all entries are calls with lists of leaves. They are walked over where they are written,
 * and a tree is made of single items only, where a leaf is not plain (plain_leaf.h). Internal to
 * host/dump.
 */
#ifndef TDC_HOST_PLAIN_CALL_H
#define TDC_HOST_PLAIN_CALL_H

#include "host/dump/record_builder.h"

/*
 * Appends the records of the entry at the cursor and moves behind it. False, with the cursor and
 * the records as they were, for what is not plain, not well formed or refused by msprobe: then the
 * entry is read as any other. Out of memory is noted in the builder. scratch: for single items.
 */
bool tdc_plain_call_read(struct tdc_record_builder *builder, struct tdc_json_cursor *cursor,
                         struct tdc_arena *scratch, uint32_t entry);

#endif
