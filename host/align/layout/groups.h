/*
 * groups.h - which records form which logical tensor.
 *
 * Records of one logical name are its parts; what a pattern captured, and what `set` made of it,
 * goes with each.
 */
#ifndef TDC_ALIGN_GROUPS_H
#define TDC_ALIGN_GROUPS_H

#include "host/align/layout/sided.h"

/* An entry with what it takes over from its tensor and its side. */
struct tdc_used_entry {
    const struct tdc_rule_entry *entry;
    const struct tdc_dims *dims; /* NULL: none */
    struct tdc_rule_place dims_place;
    const struct tdc_tokens *tokens;
    enum tdc_cast cast;
    bool each_rank; /* ranks are told apart, without a declaration */
};

/* A capture, or what `set` made. */
struct tdc_named_text {
    const char *name, *text;
};

struct tdc_part {
    size_t record;
    const struct tdc_named_text *values;
    size_t value_count;
};

struct tdc_part_group {
    const char *name;
    const struct tdc_dims *dims; /* of the entry, or of its first record; NULL: none */
    struct tdc_part *parts;      /* in the order of the records */
    size_t count, room;
};

struct tdc_part_groups {
    struct tdc_part_group *groups; /* in order of first appearance */
    size_t count, room;
    struct tdc_name_table names;
};

/* The coordinate of a part on an axis, or a capture. */
struct tdc_part_value {
    const char *text; /* NULL: a number */
    int64_t number;   /* also of a text that is all digits */
    bool is_number;
};
struct tdc_part_value tdc_part_value(const struct tdc_sided *sided, const struct tdc_part *part,
                                     const char *name);
/* Numbers before texts, each ascending. */
int tdc_part_value_order(const struct tdc_part_value *left, const struct tdc_part_value *right);

/* The entry of a tensor for a side, as its rules resolve it. */
struct tdc_used_entry tdc_entry_used(const struct tdc_sided *sided,
                                     const struct tdc_rule_tensor *tensor,
                                     const struct tdc_rule_entry *entry);

/*
 * Finds the records of an entry and their logical names, by the text `name` that stands at `place`.
 * TDC_ERR_ARGUMENT with file and line for names that mean nothing. name NULL: the records' own
 * names. The groups are to be freed in any case.
 */
tdc_status tdc_part_groups_find(const struct tdc_sided *sided, const struct tdc_used_entry *used,
                                const char *name, struct tdc_rule_place place,
                                struct tdc_arena *arena, struct tdc_part_groups *groups,
                                struct tdc_error *error);
void tdc_part_groups_free(struct tdc_part_groups *groups);

/* ---- between the files of this folder -------------------------------------------------------- */

/* A record that an entry has found. */
struct tdc_found {
    struct tdc_part part;
    const struct tdc_dims *dims;
};

/* What is to be checked when an entry has found its first record. */
tdc_status tdc_part_groups_check(const struct tdc_sided *sided, const struct tdc_used_entry *used,
                                 const struct tdc_found *found, const struct tdc_pattern *pattern,
                                 const char *name, struct tdc_error *error);

#endif
