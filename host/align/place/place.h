/*
 * place.h - where the elements of the parts of a logical tensor stand in it.
 *
 * Joins, ranges and tokens map intervals of a stored axis to intervals of a logical one. A part is
 * the product of the runs of its axes: boxes. Checks come in a fixed order, and the first that
 * fails is the text of the row (TDC_ERR_MISMATCH); mistakes of the rules are TDC_ERR_ARGUMENT.
 */
#ifndef TDC_ALIGN_PLACE_H
#define TDC_ALIGN_PLACE_H

#include "host/align/layout/groups.h"
#include "host/engine/logical/logical.h"

/* The sequences of a token axis, one after the other. */
struct tdc_token_axis {
    unsigned axis;           /* among those of the placed tensor */
    const uint64_t *lengths; /* tokens of each sequence */
    size_t count;
    const int64_t *ids; /* of all tokens; NULL: not known */
};

/* The parts of one entry in their places. */
struct tdc_placed {
    unsigned axes;
    const char *names[TDC_LOGICAL_AXES];
    uint64_t sizes[TDC_LOGICAL_AXES];
    struct tdc_logical_part *parts; /* those that are used, then replicas */
    size_t part_count;
    struct tdc_logical_box *boxes;
    size_t box_count;
    uint32_t term_count;
    struct tdc_logical_twin *twins;
    size_t twin_count;
    bool has_tokens;
    struct tdc_token_axis tokens;
    const char *dtype; /* of the parts */
    enum tdc_cast cast;
    const char *text; /* how it was put together */
    const struct tdc_side_record *first;
    bool plain; /* no dims were given */
    /* What of the statistics of the parts can be put together: no element is left out. */
    bool all_elements;
};

/* Sizes of axes of the other side, for products that leave them open. */
struct tdc_size_hints {
    unsigned count;
    const char *names[TDC_LOGICAL_AXES];
    uint64_t sizes[TDC_LOGICAL_AXES];
    const struct tdc_dims *other; /* a product that is open there too is one axis; may be NULL */
};

/* In the arena. hints may be NULL. with_ids: the ids of tokens are read. */
tdc_status tdc_place(const struct tdc_sided *sided, const struct tdc_used_entry *used,
                     const struct tdc_part_group *group, const struct tdc_size_hints *hints,
                     struct tdc_arena *arena, struct tdc_placed *placed, struct tdc_error *error);

/* Whether two dims have the same product, and both leave its sizes open. */
bool tdc_place_is_fused(const struct tdc_dims_axis *axis, const struct tdc_dims *other);

/* ---- between the files of this folder -------------------------------------------------------- */

/* An interval of one coordinate and where it goes. */
struct tdc_run {
    uint64_t from, to, length;
};
struct tdc_runs {
    struct tdc_run *list;
    size_t count;
};

/* A mesh axis or capture whose places follow each other. */
struct tdc_join_plan {
    const char *name;
    bool axis;                     /* places are the coordinates 0 to value_count - 1 */
    struct tdc_part_value *values; /* else these */
    uint64_t value_count;
    int64_t repeat;
    uint64_t places; /* value_count / repeat */
    uint64_t stride; /* between neighbours, in keys */
};

/* A join as a leaf sees it: the place, or one digit of it where a product is split. */
struct tdc_digit {
    unsigned join;
    uint64_t divisor, modulus;
    bool zigzag, seq, whole;
};

struct tdc_step_plan {
    const struct tdc_range *range; /* NULL: digits, the last is the innermost */
    struct tdc_digit digits[8];
    unsigned digit_count;
};

struct tdc_leaf_plan {
    const char *name;
    bool fresh, sized, dropped;
    int64_t size; /* if sized */
    struct tdc_step_plan *steps;
    unsigned step_count;
    unsigned axis; /* of the plan */
    /* by cell */
    uint64_t *local; /* size in the part */
    uint64_t *way;   /* indices of the stored axis behind one of the leaf */
    struct tdc_runs *runs;
    uint64_t full; /* in the logical tensor, before tokens */
};

struct tdc_axis_plan {
    const struct tdc_dims_axis *axis;
    bool one;
    int stored; /* -1: none */
    unsigned first_leaf, leaf_count;
    struct tdc_step_plan whole; /* joins of the product as a whole, before they are split */
    /* of the stored axis, by cell: what is left by the range before; NULL: all */
    struct tdc_runs *before;
};

/* A part, or a summand of it. */
struct tdc_part_cell {
    const struct tdc_side_record *record;
    size_t index; /* of the record */
};

#define TDC_MOST_JOINS 16

struct tdc_placing {
    const struct tdc_sided *sided;
    const struct tdc_used_entry *used;
    const struct tdc_part_group *group;
    const struct tdc_size_hints *hints;
    const struct tdc_dims *dims;
    struct tdc_arena *arena;
    struct tdc_error *error;

    struct tdc_axis_plan axes[TDC_LOGICAL_AXES];
    unsigned axis_count, stored_count;
    struct tdc_leaf_plan leaves[TDC_LOGICAL_AXES];
    unsigned leaf_count;
    struct tdc_join_plan joins[TDC_MOST_JOINS];
    unsigned join_count;
    struct tdc_join_plan sums[TDC_MOST_JOINS];
    unsigned sum_count;

    /* cells: keys of the joins times terms of the sums */
    struct tdc_part_cell *cells;
    uint64_t keys, terms;
    struct tdc_twin_pair {
        size_t cell;
        const struct tdc_side_record *twin;
    } * twins;
    size_t twin_count;

    /* tokens */
    const struct tdc_tokens *tokens;
    const int64_t *lengths, *stored, *owners;
    size_t length_count, stored_count_of_pieces, owner_count;
    unsigned token_leaf, batch_leaf, position_leaf;
    struct tdc_runs *rows;  /* of: by batch, positions to tokens */
    struct tdc_runs pieces; /* else: the axis to tokens */
    uint64_t token_count;
    const uint64_t *sequences;
    size_t sequence_count;
};

tdc_status tdc_placing_no_memory(const struct tdc_placing *placing);
/* "A: " and the text: TDC_ERR_MISMATCH. */
tdc_status tdc_placing_fail(const struct tdc_placing *placing, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "[2, 3]" into a text of this size. */
#define TDC_SHAPE_TEXT 256
const char *tdc_side_shape_text(const struct tdc_side_record *record, char text[TDC_SHAPE_TEXT]);
tdc_status tdc_placing_number(const struct tdc_placing *placing, struct tdc_written written,
                              int64_t *value);
/* The intervals of an axis that a range takes, in its order. */
tdc_status tdc_placing_range(const struct tdc_placing *placing, const struct tdc_range *range,
                             uint64_t size, struct tdc_runs *runs);
/* What runs become when the coordinate they lead to is mapped on; segments are sorted by from. */
tdc_status tdc_runs_map(const struct tdc_placing *placing, const struct tdc_runs *runs,
                        const struct tdc_runs *segments, struct tdc_runs *mapped);
void tdc_runs_sort(struct tdc_runs *runs);

tdc_status tdc_placing_plan(struct tdc_placing *placing);
tdc_status tdc_placing_parts(struct tdc_placing *placing);
/* Splits products by the shape of their first part. */
tdc_status tdc_placing_split(struct tdc_placing *placing, const struct tdc_side_record *first);
tdc_status tdc_placing_sizes(struct tdc_placing *placing);
tdc_status tdc_placing_runs(struct tdc_placing *placing);
tdc_status tdc_placing_read_lengths(struct tdc_placing *placing);
tdc_status tdc_placing_tokens(struct tdc_placing *placing);
tdc_status tdc_placing_boxes(struct tdc_placing *placing, struct tdc_placed *placed);

static inline bool tdc_range_is_index(const struct tdc_range *range)
{
    return range->count == 1 && range->items[0].single;
}

#endif
