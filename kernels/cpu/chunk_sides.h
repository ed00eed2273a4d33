/*
 * chunk_sides.h - where the blocks of a chunk lie: one behind the other, or in pieces that a feed
 * hands out (kernels/pair.h).
 */
#ifndef TDC_KERNELS_CPU_CHUNK_SIDES_H
#define TDC_KERNELS_CPU_CHUNK_SIDES_H

#include "kernels/cpu/vector/vector.h"
#include "kernels/dtype.h"
#include "kernels/pair.h"

_Static_assert(BLOCK == TDC_PAIR_BLOCK, "feeds hand out whole blocks");

/*
 * Both streams are asked for this far ahead of the element being worked on: the hardware stops at
 * the end of each page. Nothing is read, so the address may lie beyond the tensor. Twice as far is
 * slower by up to a third: both streams, which often lie alike in their pages, and the buffers they
 * are converted to would no longer share a cache of 32 KB.
 */
#define PREFETCH_AHEAD 2048

struct prefetch {
    uintptr_t n, b;
    size_t n_size, b_size; /* of an element */
    /* of copied sides: for each group of the block; NULL: one behind the other from n or b on */
    const uintptr_t *n_groups, *b_groups;
};

ALWAYS_INLINE void prefetch_pair(const struct prefetch *ahead, size_t i)
{
    __builtin_prefetch((const void *)(ahead->n + i * ahead->n_size));
    __builtin_prefetch((const void *)(ahead->b + i * ahead->b_size));
}

/* Elements of one side from index `first` of the chunk up to `end`. */
struct side_piece {
    struct tdc_pair_feed *feed; /* NULL: this is all */
    const char *elements;
    size_t first, end, size;
};

struct chunk_sides {
    struct side_piece n, b;
};

/* A block, and how many elements lie behind its first one on both sides. */
struct block_sides {
    const void *n, *b;
    /* of kernels that take them: where the groups of a side lie, else NULL */
    const void *const *n_groups, *const *b_groups;
    size_t left;
    struct prefetch ahead;
};

static inline struct side_piece start_side(struct tdc_pair_feed *feed, const void *elements,
                                           tdc_dtype dtype, size_t count)
{
    return (struct side_piece){feed, elements, 0, feed == NULL ? count : 0, tdc_dtype_size(dtype)};
}

static inline void start_sides(const struct tdc_pair_plan *plan, const void *n, const void *b,
                               size_t count, struct chunk_sides *sides)
{
    sides->n = start_side(plan->n_feed, n, plan->n_dtype, count);
    sides->b = start_side(plan->b_feed, b, plan->b_dtype, count);
}

/* Of a kernel that takes blocks by groups. */
static inline void take_groups(const struct tdc_pair_plan *plan)
{
    if (plan->n_feed != NULL)
        plan->n_feed->takes_groups = true;
    if (plan->b_feed != NULL)
        plan->b_feed->takes_groups = true;
}

/* The group that begins with element i of a block, elements being of `size` bytes. */
ALWAYS_INLINE const void *group_at(const void *elements, const void *const *groups, size_t i,
                                   size_t size)
{
    return groups == NULL ? (const char *)elements + i * size : groups[i / TDC_PAIR_GROUP];
}

ALWAYS_INLINE const void *side_at(struct side_piece *side, size_t start, const void *const **groups,
                                  uintptr_t *ahead, const uintptr_t **ahead_groups)
{
    if (start == side->end) {
        size_t count;
        side->elements = side->feed->next(side->feed, start, &count);
        side->first = start;
        side->end = start + count;
    }
    size_t group = (start - side->first) / TDC_PAIR_GROUP;
    *groups = side->elements == NULL ? &side->feed->groups[group] : NULL;
    const char *elements = side->elements == NULL
                               ? side->feed->groups[group]
                               : side->elements + (start - side->first) * side->size;
    *ahead = (uintptr_t)elements + PREFETCH_AHEAD;
    *ahead_groups = NULL;
    if (side->feed != NULL && side->feed->copied) {
        bool known = group + BLOCK / TDC_PAIR_GROUP <= side->feed->ahead_count;
        *ahead_groups = known ? &side->feed->ahead[group] : NULL;
        *ahead = known ? **ahead_groups : (uintptr_t)elements;
    }
    return elements;
}

/* The block from `start` on, which rises from call to call. */
static inline struct block_sides block_at(struct chunk_sides *sides, size_t start)
{
    struct block_sides block;
    block.n = side_at(&sides->n, start, &block.n_groups, &block.ahead.n, &block.ahead.n_groups);
    block.b = side_at(&sides->b, start, &block.b_groups, &block.ahead.b, &block.ahead.b_groups);
    block.ahead.n_size = sides->n.size;
    block.ahead.b_size = sides->b.size;
    block.left = (sides->n.end < sides->b.end ? sides->n.end : sides->b.end) - start;
    if (block.n_groups != NULL || block.b_groups != NULL)
        block.left = BLOCK;
    return block;
}

#endif
