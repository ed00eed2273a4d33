/*
 * rules.h - a rule file (align.yaml) as it was read, with the presets and files it uses.
 *
 * Syntax and keys have been checked; what names mean is found out when an entry meets records.
 * All memory is in the arena of the rules.
 */
#ifndef TDC_ALIGN_RULES_H
#define TDC_ALIGN_RULES_H

#include "host/align/rules/dims.h"
#include "host/align/rules/expression.h"
#include "host/align/rules/pattern.h"
#include "io/text/yaml_map.h"

/* Where something stands, for messages: "align.yaml", 7. */
struct tdc_rule_place {
    const char *file;
    unsigned line;
};

/* A message about a rule file: `FILE:LINE: text`, TDC_ERR_ARGUMENT. */
tdc_status tdc_rule_fail(struct tdc_error *error, struct tdc_rule_place place, const char *format,
                         ...) __attribute__((format(printf, 3, 4)));

struct tdc_let {
    const char *name;
    bool is_list;
    const int64_t *values;
    size_t count;
};

struct tdc_patterns {
    struct tdc_pattern **list;
    size_t count;
};

/* Numbers of tokens: written down, or in records. */
struct tdc_lengths {
    enum {
        TDC_LENGTHS_NONE,
        TDC_LENGTHS_LIST,
        TDC_LENGTHS_NAME,    /* of the side's lengths */
        TDC_LENGTHS_CU,      /* cumulative, 0 first */
        TDC_LENGTHS_LEN,     /* or owners of pieces */
        TDC_LENGTHS_MASK,    /* [batch, position] */
        TDC_LENGTHS_UNKNOWN, /* a map without one of these keys */
    } kind;
    const int64_t *list;
    size_t count;
    const char *name;
    struct tdc_patterns patterns;
    const char *written; /* the pattern, or the patterns, for messages */
    struct tdc_rule_place place;
};

struct tdc_tokens {
    const char *axis;
    const char *of[2]; /* batch and position; NULL: the axis is one of dims */
    struct tdc_lengths lengths, stored, owners;
    bool left, tail;
    const struct tdc_rule_entry *ids;
    struct tdc_rule_place place;
};

enum tdc_cast {
    TDC_CAST_NONE,
    TDC_CAST_F32,
    TDC_CAST_F16,
    TDC_CAST_BF16,
    TDC_CAST_NARROW
};

struct tdc_rule_entry {
    struct tdc_patterns match;
    const struct tdc_dims *dims; /* NULL: none given */
    struct tdc_rule_place dims_place;
    struct tdc_rule_set {
        const char *name;
        struct tdc_written expression;
        struct tdc_rule_place place;
    } * set;
    size_t set_count;
    const struct tdc_tokens *tokens;
    enum tdc_cast cast;
    struct tdc_rule_place place, match_place;
};

struct tdc_rule_entries {
    const char *key; /* a, b, c or a form */
    struct tdc_rule_entry **list;
    size_t count;
};

struct tdc_rule_tensor {
    const char *name;
    struct tdc_rule_place place, name_place;
    struct tdc_rule_entries *entries;
    size_t entry_count;
    const struct tdc_dims *dims;
    struct tdc_rule_place dims_place;
    const struct tdc_tokens *tokens;
    const char *axes; /* NULL: as side B has them */
    struct tdc_rule_place axes_place;
    const char **series;
    size_t series_count;
    const char *cat;
    const struct tdc_rule_tensor *next;
};

struct tdc_mesh_axis {
    const char *name;
    uint64_t size;
    const char *same_as; /* another name of that axis; NULL: an axis of its own */
    struct tdc_rule_place place;
};

struct tdc_mesh_line {
    struct tdc_mesh_axis *axes; /* fastest first */
    size_t count;
    struct tdc_rule_place place;
};

struct tdc_rule_side {
    const char *form;
    bool dtensor;
    struct tdc_mesh_line *mesh;
    size_t mesh_count;
    bool ranks_given;
    int64_t *ranks; /* in mesh order */
    size_t rank_count;
    const char **strip;
    size_t strip_count;
    struct tdc_lengths *lengths; /* by name */
    size_t length_count;
    const struct tdc_tokens *tokens;
    enum tdc_cast cast;
    double agree;
    struct tdc_rule_place place;
};

enum tdc_rest {
    TDC_REST_REPORT,
    TDC_REST_COMPARE,
    TDC_REST_IGNORE
};

struct tdc_align_rules {
    struct tdc_arena arena;
    struct tdc_rule_side sides[3]; /* a, b, c */
    bool side_given[3];
    enum tdc_rest rest;
    struct tdc_rule_place rest_place; /* if it is said */
    struct tdc_let *lets;             /* the first of a name counts */
    size_t let_count, let_room;
    const struct tdc_rule_tensor *tensors; /* in the order they count */
    struct tdc_pattern **patterns;         /* all, to be freed */
    size_t pattern_count, pattern_room;
};

/*
 * Reads a file, or a preset by its name. TDC_ERR_ARGUMENT with `FILE:LINE: text` for what is wrong
 * with it. The rules are to be freed in any case; when they could not be read to the end they hold
 * what stands before the mistake, so that an earlier one can still be found.
 */
tdc_status tdc_align_rules_load(const char *path, struct tdc_align_rules *rules,
                                struct tdc_error *error);
/* The same from bytes, in which no files may be used (for fuzzing and tests). */
tdc_status tdc_align_rules_parse(const char *bytes, size_t size, const char *name,
                                 struct tdc_align_rules *rules, struct tdc_error *error);
/* Rules without a file: equal names face each other. */
void tdc_align_rules_init(struct tdc_align_rules *rules);
void tdc_align_rules_free(struct tdc_align_rules *rules);

const struct tdc_let *tdc_align_let(const struct tdc_align_rules *rules, const char *name,
                                    size_t length);

/* ---- presets --------------------------------------------------------------------------------- */

/* The name of a preset; NULL beyond the last. */
const char *tdc_preset_name(size_t index);
/* Its text; NULL for an unknown name. */
const char *tdc_preset_text(const char *name);

/* ---- between the files of this folder -------------------------------------------------------- */

/* A file being read. */
struct tdc_rule_reading {
    struct tdc_align_rules *rules;
    const char *file; /* as messages name it */
    struct tdc_error *error;
};

tdc_status tdc_rules_no_memory(const struct tdc_rule_reading *reading);
tdc_status tdc_rules_unknown_key(const struct tdc_rule_reading *reading,
                                 const struct tdc_yaml *node);
/* "'KEY' needs ...": the value of a key is not of the kind it must be. */
tdc_status tdc_rules_wrong_kind(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                                const char *needs);
static inline struct tdc_rule_place tdc_rules_place(const struct tdc_rule_reading *reading,
                                                    unsigned line)
{
    return (struct tdc_rule_place){reading->file, line};
}
static inline bool tdc_yaml_is_text(const struct tdc_yaml *node)
{
    return node->kind == TDC_YAML_SCALAR && !node->is_null;
}

tdc_status tdc_rules_read_side(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                               struct tdc_rule_side *side);
tdc_status tdc_rules_read_tensors(const struct tdc_rule_reading *reading,
                                  const struct tdc_yaml *node, const struct tdc_rule_tensor ***end);
tdc_status tdc_rules_read_entry(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                                struct tdc_rule_entry **entry);
tdc_status tdc_rules_read_patterns(const struct tdc_rule_reading *reading,
                                   const struct tdc_yaml *node, struct tdc_patterns *patterns);
tdc_status tdc_rules_read_dims(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                               const struct tdc_dims **dims);
tdc_status tdc_rules_read_cast(const struct tdc_rule_reading *reading, const struct tdc_yaml *node,
                               enum tdc_cast *cast);
tdc_status tdc_rules_read_tokens(const struct tdc_rule_reading *reading,
                                 const struct tdc_yaml *node, const struct tdc_tokens **tokens);
tdc_status tdc_rules_read_lengths(const struct tdc_rule_reading *reading,
                                  const struct tdc_yaml *node, struct tdc_lengths *lengths);
tdc_status tdc_rules_read_numbers(const struct tdc_rule_reading *reading,
                                  const struct tdc_yaml *node, const int64_t **numbers,
                                  size_t *count);

#endif
