/* rules_read.h - a tolerance file as it was read; between the files of this folder. */
#ifndef TDC_HOST_RULES_READ_H
#define TDC_HOST_RULES_READ_H

#include "host/align/rules/pattern.h"
#include "host/judge/user_rules/user_rules.h"

/* What a row is of, by its name. */
enum tdc_row_kind {
    TDC_KIND_INPUT,
    TDC_KIND_OUTPUT,
    TDC_KIND_PARAMETER,
    TDC_KIND_GRADIENT,
    TDC_KIND_OTHER,
    TDC_ROW_KINDS
};

/* Types as tolerance files call them. */
enum tdc_row_type {
    TDC_TYPE_F64,
    TDC_TYPE_F32,
    TDC_TYPE_F16,
    TDC_TYPE_BF16,
    TDC_TYPE_F8,
    TDC_TYPE_I8,
    TDC_TYPE_I16,
    TDC_TYPE_I32,
    TDC_TYPE_I64,
    TDC_TYPE_U8,
    TDC_TYPE_U16,
    TDC_TYPE_U32,
    TDC_TYPE_U64,
    TDC_TYPE_BOOL,
    TDC_TYPE_COMPLEX,
    TDC_ROW_TYPES
};
extern const char *const tdc_row_kind_names[TDC_ROW_KINDS];
extern const char *const tdc_row_type_names[TDC_ROW_TYPES];

struct tdc_patterns {
    struct tdc_pattern **list;
    atomic_uint_least64_t *used; /* by pattern; NULL: not counted */
    size_t count;
};

struct tdc_user_rule {
    struct tdc_patterns names; /* none: every name */
    unsigned kinds, types;     /* bits; 0: all */
    const char *text;          /* of the predicate */
    const struct tdc_predicate *pass;
    atomic_uint_least64_t judged, failed;
};

/* Lists of patterns beside the rules. */
enum tdc_tolerance_list {
    TDC_LIST_IGNORE,
    TDC_LIST_MAY_FAIL,
    TDC_LIST_MAY_MISS,
    TDC_TOLERANCE_LISTS
};
extern const char *const tdc_tolerance_list_names[TDC_TOLERANCE_LISTS];

struct tdc_user_rules {
    struct tdc_arena arena;
    struct tdc_user_rule *rules;
    size_t count;
    struct tdc_patterns lists[TDC_TOLERANCE_LISTS];
};

/* The first pattern that fits; NULL: none. */
const char *tdc_patterns_find(const struct tdc_patterns *patterns, const char *name);

#endif
