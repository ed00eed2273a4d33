/*
 * dims.h - how the stored axes of one part become logical axes, as a text says it.
 *
 *     s[cp:zigzag] b (head[tp] d=head_dim) ; dp=same
 *
 * Read from left to right it tells what is done to the stored tensor: ranges, products taken apart,
 * parts joined. docs/align.md has the whole of it. Dims texts of SGLang's dumper are valid.
 */
#ifndef TDC_ALIGN_DIMS_H
#define TDC_ALIGN_DIMS_H

#include "io/base/arena.h"
#include "tdcmp.h"

/* An expression as it was written, kept for messages; length 0: none. */
struct tdc_written {
    const char *text;
    size_t length;
};

/* Indices of an axis, in order. */
struct tdc_range {
    const char *text; /* between the braces */
    struct tdc_range_item {
        bool single;                 /* an index, else from..to */
        struct tdc_written from, to; /* empty: 0, the end */
    } * items;
    size_t count;
};

/* One mesh axis or capture whose parts follow each other. */
struct tdc_join_part {
    const char *name;
    bool zigzag, seq, whole;
    struct tdc_written repeat;
};

struct tdc_join_list {
    struct tdc_join_part *parts; /* the first is the outermost split */
    size_t count;
};

/* What is done to a leaf, in order. */
struct tdc_leaf_step {
    const struct tdc_range *range; /* NULL: a join */
    struct tdc_join_list join;
};

struct tdc_leaf {
    const char *name;
    bool fresh; /* an axis the file does not have */
    struct tdc_written size;
    struct tdc_leaf_step *steps;
    size_t step_count;
};

struct tdc_dims_axis {
    const char *text; /* as written */
    bool one;         /* of size 1, dropped */
    const struct tdc_range *before;
    struct tdc_leaf *leaves; /* more than one: a product, row by row */
    size_t leaf_count;
    struct tdc_join_list whole; /* joins of the product as a whole */
};

enum tdc_declared {
    TDC_DECLARED_SAME,
    TDC_DECLARED_SUM,
    TDC_DECLARED_FIRST,
    TDC_DECLARED_EACH
};

struct tdc_dims {
    const char *text;
    struct tdc_dims_axis *axes;
    size_t axis_count, stored_count; /* stored: without those the file does not have */
    struct tdc_declaration {
        const char *name;
        enum tdc_declared how;
    } * declarations;
    size_t declaration_count;
};

#define TDC_DIMS_TEXT 1000
/* Leaves of a dims text, and axes of a logical tensor. */
#define TDC_MOST_LEAVES 32

/* NULL with the reason in problem, or with problem empty when out of memory. */
struct tdc_dims *tdc_dims_parse(struct tdc_arena *arena, const char *text,
                                char problem[TDC_DIMS_TEXT]);

/* `d0 d1 ...`: a tensor as it is stored. NULL: no memory. */
struct tdc_dims *tdc_dims_plain(struct tdc_arena *arena, unsigned dimensions);

/* An axis whose only leaf the file does not have takes no stored axis. */
static inline bool tdc_dims_is_stored(const struct tdc_dims_axis *axis)
{
    return !(axis->leaf_count == 1 && axis->leaves[0].fresh);
}

/* Leaves of an axis whose size is not written. */
size_t tdc_dims_open_leaves(const struct tdc_dims_axis *axis);

bool tdc_dims_has_leaf(const struct tdc_dims *dims, const char *name);

/* Visits all join parts: those of the leaves of an axis, then those of the axis as a whole. */
typedef bool (*tdc_join_visit)(void *context, const struct tdc_join_part *part);
bool tdc_dims_each_join(const struct tdc_dims *dims, tdc_join_visit visit, void *context);

#endif
