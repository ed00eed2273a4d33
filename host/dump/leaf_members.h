/*
 * leaf_members.h - the members of a leaf that records are made of, found in one walk.
 *
 * A dump has as many leaves as tensors, and a dozen members is asked for of each: one search after
 * the other was a quarter of reading a dump. Internal to host/dump.
 */
#ifndef TDC_HOST_LEAF_MEMBERS_H
#define TDC_HOST_LEAF_MEMBERS_H

#include "host/dump/dump.h"
#include "io/text/json.h"

enum tdc_leaf_member {
    TDC_LEAF_MAX, /* the four statistics in the order of enum tdc_statistic */
    TDC_LEAF_MIN,
    TDC_LEAF_MEAN,
    TDC_LEAF_NORM,
    TDC_LEAF_MD5,
    TDC_LEAF_TYPE,
    TDC_LEAF_DTYPE,
    TDC_LEAF_SHAPE,
    TDC_LEAF_VALUE,
    TDC_LEAF_TENSOR,
    TDC_LEAF_DATA_NAME,
    TDC_LEAF_CLASS_TYPE,
    TDC_LEAF_GROUP_RANKS,
    TDC_LEAF_DEVICE_MESH,
    TDC_LEAF_REQUIRES_GRAD,
    TDC_LEAF_MEMBERS
};

struct tdc_leaf {
    const struct tdc_json *object;
    const struct tdc_json *members[TDC_LEAF_MEMBERS]; /* NULL: it has none of that name */
};

/* TDC_LEAF_MEMBERS: none of them. */
enum tdc_leaf_member tdc_leaf_member_of(const char *key, size_t length);

/* Of an object; of anything else: no members. */
void tdc_leaf_look(const struct tdc_json *object, struct tdc_leaf *leaf);

#endif
