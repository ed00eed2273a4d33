/*
 * members.h - the members of a JSON file, one small tree at a time.
 *
 * For files of the size of a dump: dump.json's calls, construct.json's parents. A file that shrinks
 * while it is read is TDC_ERR_CHANGED.
 */
#ifndef TDC_HOST_MEMBERS_H
#define TDC_HOST_MEMBERS_H

#include "io/text/json.h"

/* Key and value live until visit returns. Anything but TDC_OK ends the walk and is its result. */
typedef tdc_status (*tdc_member_visit)(void *context, const char *key, size_t length,
                                       const struct tdc_json *value);

struct tdc_members {
    const char *inside; /* visit the members of this member, an object; NULL: of the file */
    tdc_member_visit visit;
    tdc_member_visit beside; /* the other members of the file, with `inside`; NULL: pass over */
    void *context;
};

tdc_status tdc_members_walk(const char *path, const struct tdc_members *members,
                            struct tdc_error *error);

#endif
