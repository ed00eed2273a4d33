#include "io/tensor/tensor_list.h"

#include <string.h>
#include <unistd.h>

#include "io/base/error.h"
#include "io/base/text.h"
#include "io/file/mapping_guard.h"
#include "io/platform/platform.h"
#include "io/tensor/gguf.h"
#include "io/tensor/npz.h"
#include "io/tensor/pickle/state_list.h"
#include "io/tensor/safetensors.h"

#define LIST_LIMIT    ((size_t)64 << 30) /* or what the process may use */
#define SCRATCH_LIMIT ((size_t)1 << 30)

enum tdc_list_kind tdc_list_kind_of(const char *path)
{
    static const struct {
        const char *suffix;
        enum tdc_list_kind kind;
    } kinds[] = {
        {".safetensors", TDC_LIST_SAFETENSORS},
        {".gguf", TDC_LIST_GGUF},
        {".npz", TDC_LIST_NPZ},
        {".pt", TDC_LIST_STATE},
        {".pth", TDC_LIST_STATE},
        {".bin", TDC_LIST_STATE},
        {".ckpt", TDC_LIST_STATE},
        {".npy", TDC_LIST_ONE},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (tdc_ends_in(path, kinds[i].suffix))
            return kinds[i].kind;
    return TDC_LIST_BY_SUFFIX;
}

static bool grow(struct tdc_tensor_list *list)
{
    size_t room = list->room == 0 ? 64 : list->room * 2;
    struct tdc_listed_tensor **items = tdc_arena_zeroed(&list->arena, room, sizeof *items);
    if (items == NULL)
        return false;
    if (list->count != 0)
        memcpy(items, list->items, list->count * sizeof *items);
    list->items = items;
    list->room = room;
    return true;
}

struct tdc_listed_tensor *tdc_tensor_list_add(struct tdc_tensor_list *list, const char *name,
                                              size_t length, struct tdc_error *error)
{
    if (list->count == TDC_LISTED_TENSORS) {
        tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: more than %zu tensors", list->path,
                 TDC_LISTED_TENSORS);
        return NULL;
    }
    struct tdc_listed_tensor *item = tdc_arena_zeroed(&list->arena, 1, sizeof *item);
    const char *copy = tdc_arena_text(&list->arena, name, length);
    bool fresh = false;
    if (item == NULL || copy == NULL || (list->count == list->room && !grow(list)) ||
        tdc_names_put(&list->names, copy, strlen(copy), &fresh) == TDC_NAME_NONE) {
        tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", list->path);
        return NULL;
    }
    if (!fresh) {
        tdc_fail(error, TDC_ERR_FORMAT, "%s: two tensors are called %.200s", list->path, copy);
        return NULL;
    }
    *item = (struct tdc_listed_tensor){.name = copy,
                                       .tensor = {.descriptor = -1, .map_size = list->map.size}};
    list->items[list->count++] = item;
    return item;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct listing {
    struct tdc_tensor_list *list;
    enum tdc_list_kind kind;
    bool elsewhere; /* what the guarded read found has to be read in another way */
    struct tdc_error *error;
    tdc_status status;
};

static void run(void *argument)
{
    struct listing *listing = argument;
    struct tdc_tensor_list *list = listing->list;
    const unsigned char *bytes = (const unsigned char *)list->map.data;
    size_t size = list->map.size;
    switch (listing->kind) {
    case TDC_LIST_SAFETENSORS:
        listing->status = tdc_safetensors_list(bytes, size, list, listing->error);
        break;
    case TDC_LIST_GGUF:
        listing->status = tdc_gguf_list(bytes, size, list, listing->error);
        break;
    case TDC_LIST_NPZ:
        listing->status = tdc_npz_list(bytes, size, list, &listing->elsewhere, listing->error);
        break;
    case TDC_LIST_STATE:
        /* a torch file of before 1.6, or a tensor of ATB: one tensor */
        listing->elsewhere = size >= 4 && memcmp(bytes, "PK\3\4", 4) != 0;
        if (!listing->elsewhere)
            listing->status =
                tdc_state_list(bytes, size, list, &listing->elsewhere, listing->error);
        break;
    case TDC_LIST_ONE:
        listing->elsewhere = true;
        break;
    case TDC_LIST_BY_SUFFIX:
        break;
    }
}

/* The one tensor of a file, which tensor_file.h knows. */
static tdc_status list_one(struct listing *listing, bool in_memory)
{
    struct tdc_tensor_list *list = listing->list;
    struct tdc_listed_tensor *item = tdc_tensor_list_add(list, "", 0, listing->error);
    if (item == NULL)
        return listing->error->status;
    enum tdc_tensor_kind kind = listing->kind == TDC_LIST_ONE     ? TDC_TENSOR_NPY
                                : tdc_ends_in(list->path, ".bin") ? TDC_TENSOR_ATB
                                                                  : TDC_TENSOR_PT;
    if (kind == TDC_TENSOR_ATB && list->map.size >= 2 && memcmp(list->map.data, "PK", 2) == 0)
        kind = TDC_TENSOR_PT;
    if (in_memory)
        return tdc_tensor_parse(list->map.data, list->map.size, kind, list->path, &item->tensor,
                                listing->error);
    /* the tensor's own map and descriptor take the place of the list's */
    tdc_file_map_close(&list->map);
    list->map = (struct tdc_file_map){0};
    tdc_tensor_list_drop_descriptor(list);
    tdc_status status = tdc_tensor_open(list->path, kind, &item->tensor, listing->error);
    if (status != TDC_OK)
        return status;
    list->map = (struct tdc_file_map){item->tensor.map, item->tensor.map_size};
    list->descriptor = item->tensor.descriptor;
    return TDC_OK;
}

static tdc_status unpack(struct listing *listing, bool in_memory)
{
    struct tdc_tensor_list *list = listing->list;
    struct tdc_unzip zip;
    tdc_status status = in_memory ? tdc_unzip_start(list->path, list->map.data, list->map.size,
                                                    &list->arena, &zip, listing->error)
                                  : tdc_unzip_open(list->path, &list->arena, &zip, listing->error);
    return status == TDC_OK ? tdc_npz_unpack(&zip, list, listing->error) : status;
}

static tdc_status finish(struct listing *listing, bool in_memory)
{
    if (listing->status != TDC_OK || !listing->elsewhere)
        return listing->status;
    return listing->kind == TDC_LIST_NPZ ? unpack(listing, in_memory)
                                         : list_one(listing, in_memory);
}

static tdc_status start(struct listing *listing, const char *path)
{
    if (listing->kind == TDC_LIST_BY_SUFFIX)
        listing->kind = tdc_list_kind_of(path);
    if (listing->kind == TDC_LIST_BY_SUFFIX)
        return tdc_fail(listing->error, TDC_ERR_UNSUPPORTED,
                        "%s: no format of tensors is known by this name", path);
    if (listing->list->map.size == 0)
        return tdc_fail(listing->error, TDC_ERR_FORMAT, "%s: the file is empty", path);
    return TDC_OK;
}

static void init(struct tdc_tensor_list *list, const char *path, const char *key)
{
    *list = (struct tdc_tensor_list){.path = path, .key = key, .descriptor = -1};
    tdc_arena_init(&list->arena, LIST_LIMIT);
    tdc_arena_init(&list->scratch, SCRATCH_LIMIT);
    tdc_names_init(&list->names);
}

tdc_status tdc_tensor_list_parse(const void *bytes, size_t size, enum tdc_list_kind kind,
                                 const char *name, const char *key, struct tdc_tensor_list *list,
                                 struct tdc_error *error)
{
    init(list, name, key);
    list->map = (struct tdc_file_map){bytes, size};
    struct listing listing = {.list = list, .kind = kind, .error = error};
    tdc_status status = start(&listing, name);
    if (status == TDC_OK) {
        run(&listing);
        status = finish(&listing, true);
    }
    list->map = (struct tdc_file_map){0}; /* the caller's */
    return status;
}

/* Tensors in the map are read as those of files of their own are. */
static void lend_map(struct tdc_tensor_list *list)
{
    const unsigned char *start = (const unsigned char *)list->map.data;
    for (size_t i = 0; i < list->count; i++) {
        struct tdc_tensor *tensor = &list->items[i]->tensor;
        bool inside = start != NULL && tensor->data >= start &&
                      tensor->data < start + list->map.size && tensor->count != 0;
        tensor->borrowed = true;
        tensor->linked = list->linked;
        tensor->map = inside ? (void *)(uintptr_t)start : NULL;
        tensor->descriptor = inside ? list->descriptor : -1;
    }
}

tdc_status tdc_tensor_list_open(const char *path, enum tdc_list_kind kind, const char *key,
                                struct tdc_tensor_list *list, struct tdc_error *error)
{
    struct tdc_file file;
    init(list, path, key);
    tdc_status status = tdc_file_open(path, &file, error);
    if (status != TDC_OK)
        return status;
    list->descriptor = file.descriptor;
    list->linked = file.linked;
    status = tdc_file_map_make(&file, path, &list->map, error);
    struct listing listing = {.list = list, .kind = kind, .error = error};
    if (status == TDC_OK)
        status = start(&listing, path);
    if (status != TDC_OK)
        return status;
    list->guarded = tdc_guard_begin();
    if (!list->guarded)
        return tdc_fail(error, TDC_ERR_SYSTEM, "%s: no handler for SIGBUS", path);
    /* headers lie scattered: a fault must not bring in a window of read-ahead each */
    tdc_pages_advise((void *)(uintptr_t)list->map.data, list->map.size, TDC_PAGES_RANDOM);
    if (!tdc_guarded_read(run, &listing))
        return tdc_fail(error, TDC_ERR_CHANGED, "%s: the file shrank while it was read", path);
    status = finish(&listing, false);
    if (list->map.data != NULL)
        tdc_pages_advise((void *)(uintptr_t)list->map.data, list->map.size, TDC_PAGES_NORMAL);
    if (status == TDC_OK)
        lend_map(list);
    return status;
}

void tdc_tensor_list_drop_descriptor(struct tdc_tensor_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        list->items[i]->tensor.descriptor = -1;
    if (list->descriptor >= 0)
        tdc_file_close(list->descriptor);
    list->descriptor = -1;
}

void tdc_tensor_list_close(struct tdc_tensor_list *list)
{
    tdc_tensor_list_drop_descriptor(list);
    if (list->map.data != NULL)
        tdc_file_map_close(&list->map);
    if (list->guarded)
        tdc_guard_end();
    tdc_names_free(&list->names);
    tdc_arena_free(&list->scratch);
    tdc_arena_free(&list->arena);
    *list = (struct tdc_tensor_list){.descriptor = -1};
}
