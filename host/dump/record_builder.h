/* record_builder.h - from the JSON tree of one dump entry to records. Internal to host/dump. */
#ifndef TDC_HOST_RECORD_BUILDER_H
#define TDC_HOST_RECORD_BUILDER_H

#include "host/dump/dump.h"
#include "io/text/json.h"
#include "io/base/text.h"

struct tdc_recent_text {
    const char *text; /* NULL: none yet */
    size_t length;
};

/* Collects the records of a dump; the arrays belong to the caller. */
struct tdc_record_builder {
    struct tdc_dump *dump;
    struct tdc_name_table interned;      /* texts that repeat: types, shapes, names of states */
    struct tdc_recent_text dtype, shape; /* interned last: neighbours are often alike */
    size_t capacity;                     /* of dump->records */
    struct tdc_text name;                /* scratch */
    struct tdc_text text;                /* scratch */
    uint32_t entry;
    bool sound_only, since_26; /* of the records to come */
    const char *keyword;       /* of the next record, if it is the argument itself */
    bool failed;               /* out of memory or a limit reached */
};

void tdc_records_begin(struct tdc_record_builder *builder, struct tdc_dump *dump);
void tdc_records_end(struct tdc_record_builder *builder);

/* Appends the records of one entry in table order: inputs, parameters, outputs, gradients. */
bool tdc_records_add_entry(struct tdc_record_builder *builder, uint32_t entry,
                           const struct tdc_json *value);

/* Appends a record for a leaf object, or for a null item, under the name in builder->name. */
struct tdc_leaf;
void tdc_records_add_leaf(struct tdc_record_builder *builder, const struct tdc_leaf *leaf,
                          enum tdc_state state);
void tdc_records_add_null(struct tdc_record_builder *builder, enum tdc_state state);
/* The same for a bare number, text or truth value, which no collector of today writes. */
void tdc_records_add_bare(struct tdc_record_builder *builder, const struct tdc_json *value,
                          enum tdc_state state);

/* True when the entry holds md5 values where msprobe looks for them (docs/msprobe.md#mode). */
bool tdc_entry_has_digest(enum tdc_dump_kind kind, const struct tdc_json *value);

/* The message with which msprobe refuses the entry (docs/msprobe.md#refused-content), in the arena;
 * NULL if it does not. */
const char *tdc_entry_refusal(struct tdc_arena *arena, const char *entry,
                              const struct tdc_json *value);

#endif
