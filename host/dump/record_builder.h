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
    /* of the leaf that was taken last as it is written (plain_leaf.h): pieces of the input */
    struct tdc_recent_text plain_type, plain_shape;
    const char *plain_shape_text; /* what plain_shape is as a text */
    unsigned calls_in_vain;       /* since one was read as it is written (plain_call.h) */
    size_t capacity;              /* of dump->records */
    struct tdc_text name;         /* scratch */
    struct tdc_text text;         /* scratch */
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

/* The parts of a call, in the order in which records are made of them. */
struct tdc_call_member {
    const char *member;
    size_t length;
    const char *suffix; /* of the names of its records */
    enum tdc_state state;
    unsigned place; /* among the rows of the call */
};
#define TDC_CALL_MEMBERS 5
extern const struct tdc_call_member tdc_call_members[TDC_CALL_MEMBERS];
/* NULL: none of them. */
const struct tdc_call_member *tdc_call_member_of(const char *key, size_t length);
/* What a collector notes about a call; no record is made of it. */
#define TDC_CALL_NOTE "is_recompute"

/* The steps of tdc_records_add_entry. The records of a part, under names of their own: */
void tdc_records_add_member(struct tdc_record_builder *builder, const char *entry,
                            const struct tdc_call_member *part, const struct tdc_json *member);
/* Of an item, whatever it is, under the name in builder->name. Depth is bounded by the reader. */
void tdc_records_expand(struct tdc_record_builder *builder, const struct tdc_json *item,
                        enum tdc_state state);
void tdc_records_start_name(struct tdc_record_builder *builder, const char *entry,
                            const char *suffix);
/* All records from `first` on are those of the entry, in table order. */
void tdc_records_end_entry(struct tdc_dump *dump, uint32_t entry, size_t first);
/* The last of the dot-separated parts of a name. */
bool tdc_ends_in_part(const char *name, const char *part);
/* One of them is "parameters_grad". */
bool tdc_has_gradient_part(const char *name);

/* A new record that says nothing yet; NULL when out of memory. */
struct tdc_record *tdc_records_new(struct tdc_record_builder *builder, enum tdc_state state);
/* A copy in the dump's arena; "" when out of memory. */
const char *tdc_records_keep(struct tdc_record_builder *builder, const char *text, size_t length);
/* The same, one copy for all equal texts. */
const char *tdc_records_intern(struct tdc_record_builder *builder, const char *text, size_t length);
/* The file of a record names it, too. */
void tdc_record_name_by_file(struct tdc_record_builder *builder, struct tdc_record *record,
                             const char *file, size_t length);
/* The framework, by the first type that tells. */
void tdc_note_framework(struct tdc_dump *dump, const char *type, size_t length);

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
/* The same of a member of an entry of a dump.json. */
bool tdc_member_has_digest(const struct tdc_json *member);

/* The message with which msprobe refuses the entry (docs/msprobe.md#refused-content), in the arena;
 * NULL if it does not. */
const char *tdc_entry_refusal(struct tdc_arena *arena, const char *entry,
                              const struct tdc_json *value);
/* Whether it refuses an entry for this part of it. */
bool tdc_value_refused(const struct tdc_json *value);

#endif
