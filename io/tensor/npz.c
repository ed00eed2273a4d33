#include "io/tensor/npz.h"

#include <string.h>

#include "io/base/error.h"
#include "io/file/zip_reader.h"
#include "io/tensor/npy.h"

static const char suffix[] = ".npy";
#define SUFFIX (sizeof suffix - 1)

/* Arrays are called as their members without the suffix; other members are none of numpy's. */
static bool is_array(const char *name, size_t length)
{
    return length > SUFFIX && memcmp(name + length - SUFFIX, suffix, SUFFIX) == 0;
}

/* What numpy stores and no comparison takes (objects, records) is listed with the reason. */
static tdc_status take_array(struct tdc_tensor_list *list, const char *name, size_t length,
                             const unsigned char *bytes, size_t size, struct tdc_error *error)
{
    struct tdc_listed_tensor *item = tdc_tensor_list_add(list, name, length - SUFFIX, error);
    if (item == NULL)
        return error->status;
    size_t map_size = item->tensor.map_size;
    struct tdc_error refused = {0};
    tdc_status status = tdc_npy_parse(bytes, size, item->name, &item->tensor, &refused);
    item->tensor.map_size = map_size;
    item->tensor.descriptor = -1;
    if (status == TDC_OK)
        return TDC_OK;
    const char *reason = refused.message;
    size_t own = strlen(item->name);
    if (strncmp(reason, item->name, own) == 0 && strncmp(reason + own, ": ", 2) == 0)
        reason += own + 2; /* the row has the name */
    item->tensor = (struct tdc_tensor){.map_size = map_size, .descriptor = -1};
    item->refusal = tdc_arena_text(&list->arena, reason, strlen(reason));
    return item->refusal != NULL ? TDC_OK
                                 : tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", list->path);
}

tdc_status tdc_npz_list(const unsigned char *bytes, size_t size, struct tdc_tensor_list *list,
                        bool *packed, struct tdc_error *error)
{
    const struct tdc_zip_kind kind = {.what = "npz archive", .deflated = true};
    struct tdc_zip zip;
    struct tdc_zip_list members = {0};
    *packed = false;
    tdc_status status = tdc_zip_open(&zip, kind, bytes, size, list->path, error);
    if (status == TDC_OK)
        status = tdc_zip_list_make(&zip, &list->arena, &members, error);
    for (size_t i = 0; i < members.count && status == TDC_OK; i++)
        *packed |= members.items[i].member.deflated;
    for (size_t i = 0; i < members.count && status == TDC_OK && !*packed; i++) {
        const struct tdc_zip_item *item = &members.items[i];
        if (is_array((const char *)item->name, item->name_length))
            status = take_array(list, (const char *)item->name, item->name_length,
                                item->member.data, item->member.size, error);
    }
    return status;
}

tdc_status tdc_npz_unpack(const struct tdc_unzip *zip, struct tdc_tensor_list *list,
                          struct tdc_error *error)
{
    for (size_t i = 0; i < zip->count; i++) {
        const struct tdc_unzip_member *member = &zip->members[i];
        size_t length = strlen(member->name), size;
        const char *content;
        if (!is_array(member->name, length))
            continue;
        tdc_status status = tdc_unzip_read(zip, member, &list->arena, &content, &size, error);
        if (status == TDC_OK)
            status =
                take_array(list, member->name, length, (const unsigned char *)content, size, error);
        if (status != TDC_OK)
            return status;
    }
    return TDC_OK;
}
