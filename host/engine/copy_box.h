/*
 * copy_box.h - elements of a box from one layout to another, at the speed of the memory.
 *
 * Where the axis that is dense in the target is not the one that is dense in the source, both are
 * walked in tiles, so that every line of memory that comes into the cache is used up while it is
 * there.
 */
#ifndef TDC_HOST_COPY_BOX_H
#define TDC_HOST_COPY_BOX_H

#include "io/tensor/tensor_file.h"

/* One axis of a box; the ways are in bytes. */
struct tdc_copy_axis {
    uint64_t length;
    int64_t from, to;
};

struct tdc_copy_box {
    unsigned axes; /* the target's order: the last is the innermost */
    struct tdc_copy_axis axis[TDC_MAX_DIMENSIONS + 1];
};

/*
 * Simplifies a box: axes of length 1 are dropped and those joined that one way walks through on
 * both sides. Returned are the bytes that follow each other on both sides; `axes` is what is left
 * around them.
 */
size_t tdc_copy_box_simplify(struct tdc_copy_box *box, size_t bytes);
/* Of a box that is simplified: whether its source is walked best in another order than its target.
 */
bool tdc_copy_box_turned(const struct tdc_copy_box *box);
/* `bytes` at each of `length` places of an axis. */
void tdc_copy_line(unsigned char *to, const unsigned char *from, const struct tdc_copy_axis *axis,
                   uint64_t length, size_t bytes);

/* Copies elements of `bytes` each. The box is simplified on the way. May touch mapped memory: call
 * it inside tdc_guarded_read. */
void tdc_copy_box(struct tdc_copy_box *box, unsigned char *to, const unsigned char *from,
                  size_t bytes);

#endif
