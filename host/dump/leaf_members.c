#include "host/dump/leaf_members.h"

#include <string.h>

#define IS(literal) (memcmp(key, literal, sizeof literal - 1) == 0)

enum tdc_leaf_member tdc_leaf_member_of(const char *key, size_t length)
{
    switch (length) {
    case 3:
        return IS("Max")   ? TDC_LEAF_MAX
               : IS("Min") ? TDC_LEAF_MIN
               : IS("md5") ? TDC_LEAF_MD5
                           : TDC_LEAF_MEMBERS;
    case 4:
        return IS("type")   ? TDC_LEAF_TYPE
               : IS("Mean") ? TDC_LEAF_MEAN
               : IS("Norm") ? TDC_LEAF_NORM
                            : TDC_LEAF_MEMBERS;
    case 5:
        return IS("dtype")   ? TDC_LEAF_DTYPE
               : IS("shape") ? TDC_LEAF_SHAPE
               : IS("value") ? TDC_LEAF_VALUE
                             : TDC_LEAF_MEMBERS;
    case 6:
        return IS("tensor") ? TDC_LEAF_TENSOR : TDC_LEAF_MEMBERS;
    case 9:
        return IS("data_name") ? TDC_LEAF_DATA_NAME : TDC_LEAF_MEMBERS;
    case 10:
        return IS("class_type") ? TDC_LEAF_CLASS_TYPE : TDC_LEAF_MEMBERS;
    case 11:
        return IS("group_ranks")   ? TDC_LEAF_GROUP_RANKS
               : IS("device_mesh") ? TDC_LEAF_DEVICE_MESH
                                   : TDC_LEAF_MEMBERS;
    case 13:
        return IS("requires_grad") ? TDC_LEAF_REQUIRES_GRAD : TDC_LEAF_MEMBERS;
    default:
        return TDC_LEAF_MEMBERS;
    }
}

void tdc_leaf_look(const struct tdc_json *object, struct tdc_leaf *leaf)
{
    *leaf = (struct tdc_leaf){.object = object};
    if (object->kind != TDC_JSON_OBJECT)
        return;
    for (const struct tdc_json *child = object->child; child != NULL; child = child->next) {
        enum tdc_leaf_member member = tdc_leaf_member_of(child->key, child->key_length);
        if (member != TDC_LEAF_MEMBERS)
            leaf->members[member] = child;
    }
}
