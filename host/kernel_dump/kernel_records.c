#include "host/kernel_dump/kernel_records.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/graph/files/folder.h"
#include "io/base/error.h"
#include "io/base/text.h"
#include "io/tensor/tensor_file.h"
#include "kernels/dtype.h"

#define TEXT_LIMIT ((size_t)1 << 14)
#define DEPTH      10 /* folders in folders, as msprobe looks into them */
#define MOST_FILES ((size_t)10 << 20)

/* ---- npy files below a folder
 * --------------------------------------------------------------------- */

struct listing {
    struct tdc_arena *arena;
    struct tdc_kernel_list *list;
    struct tdc_text text;
    struct tdc_error *error;
};

/* NAME of NAME_DTYPE_INDEX.npy; else the name without its ending. */
static size_t key_length(const char *name)
{
    size_t whole = strlen(name) - strlen(".npy"), length = whole;
    const char *digits = name + length;
    while (digits > name && digits[-1] != '_')
        digits--;
    if (digits == name || !tdc_all_digits(digits, (size_t)(name + whole - digits)))
        return whole;
    length = (size_t)(digits - name) - 1;
    while (length > 0 && name[length - 1] != '_')
        length--;
    return length > 1 ? length - 1 : whole;
}

static tdc_status list_folder(struct listing *listing, const char *folder, const char *below,
                              int depth)
{
    struct tdc_folder names;
    tdc_status status = tdc_folder_read(listing->arena, folder, &names, listing->error);
    for (size_t i = 0; i < names.count && status == TDC_OK; i++) {
        const char *name = names.entries[i].name;
        const char *path = tdc_folder_path(listing->arena, folder, name);
        tdc_text_clear(&listing->text);
        tdc_text_addf(&listing->text, "%s%s", below, below[0] != '\0' ? "/" : "");
        if (names.entries[i].folder)
            tdc_text_adds(&listing->text, name);
        else if (tdc_ends_in(name, ".npy"))
            tdc_text_add(&listing->text, name, key_length(name));
        else
            continue;
        const char *key = listing->text.failed
                              ? NULL
                              : tdc_arena_text(listing->arena, tdc_text_get(&listing->text),
                                               listing->text.length);
        struct tdc_kernel_item item = {.key = key, .path = path, .folder = folder, .file = name};
        if (path == NULL || key == NULL)
            status = tdc_fail(listing->error, TDC_ERR_MEMORY, "%s: out of memory", folder);
        else if (names.entries[i].folder)
            status = depth < DEPTH ? list_folder(listing, path, key, depth + 1) : TDC_OK;
        else if (listing->list->count == MOST_FILES || !tdc_kernel_list_put(listing->list, &item))
            status = tdc_fail(listing->error, TDC_ERR_MEMORY, "%s: out of memory", folder);
    }
    return status;
}

tdc_status tdc_kernel_arrays_list(struct tdc_arena *arena, const char *root,
                                  struct tdc_kernel_list *list, struct tdc_error *error)
{
    struct listing listing = {.arena = arena, .list = list, .error = error};
    *list = (struct tdc_kernel_list){.mode = TDC_KERNEL_FILES};
    tdc_text_init(&listing.text, TEXT_LIMIT);
    tdc_status status = list_folder(&listing, root, "", 0);
    tdc_text_free(&listing.text);
    tdc_kernel_list_settle(list);
    return status;
}

/* ---- records
 * ----------------------------------------------------------------------------------------- */

struct making {
    struct tdc_dump *dump;
    const struct tdc_kernel_list *other;
    struct tdc_text text;
    bool failed;
};

static const char *keep(struct making *making, const char *text, size_t length)
{
    const char *kept = tdc_arena_text(&making->dump->arena, text, length);
    making->failed |= kept == NULL;
    return kept;
}

static const char *keep_made(struct making *making)
{
    making->failed |= making->text.failed;
    return keep(making, tdc_text_get(&making->text), making->text.length);
}

/* Where ".input." or ".output." of a key begins; its end where it has neither. */
static size_t entry_length(const char *key)
{
    const char *input = strstr(key, ".input."), *output = strstr(key, ".output.");
    const char *way = input != NULL ? input : output;
    return way != NULL ? (size_t)(way - key) : strlen(key);
}

static bool is_faced(const struct making *making, const struct tdc_kernel_item *item)
{
    const struct tdc_kernel_list *other = making->other;
    size_t low = 0, high = other->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = tdc_kernel_order(&other->items[middle], item);
        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static const char *torch_name(const char *text, const char *otherwise)
{
    tdc_dtype dtype = text != NULL ? tdc_dtype_called(text, strlen(text)) : TDC_DTYPE_NONE;
    const char *torch = tdc_dtype_entry(dtype)->torch;
    return dtype != TDC_DTYPE_NONE && torch != NULL ? torch : otherwise;
}

/* Type and shape by the header; what cannot be read is left to the comparison, which says why. */
static void describe_file(struct making *making, const struct tdc_kernel_item *item,
                          struct tdc_record *record)
{
    struct tdc_tensor tensor;
    struct tdc_error error;
    if (tdc_tensor_open(item->path, TDC_TENSOR_NPY, &tensor, &error) != TDC_OK) {
        making->failed |= error.status == TDC_ERR_MEMORY;
        return;
    }
    const struct tdc_dtype_entry *entry = tdc_dtype_entry(tensor.dtype);
    tdc_text_clear(&making->text);
    tdc_text_addc(&making->text, '[');
    tdc_text_add_sizes(&making->text, tensor.shape, tensor.dimensions, ", ");
    tdc_text_addc(&making->text, ']');
    record->shape = keep_made(making);
    record->dtype = entry->torch != NULL ? entry->torch : entry->name;
    tdc_tensor_close(&tensor);
}

/* "(2, 3)" as other dumps have it: "[2, 3]". */
static void describe_line(struct making *making, const struct tdc_kernel_item *item,
                          struct tdc_record *record)
{
    if (item->shape != NULL) {
        tdc_text_clear(&making->text);
        for (const char *at = item->shape; *at != '\0'; at++)
            tdc_text_addc(&making->text, *at == '(' ? '[' : *at == ')' ? ']' : *at);
        record->shape = keep_made(making);
    }
    if (item->dtype != NULL)
        record->dtype = torch_name(item->dtype, keep(making, item->dtype, strlen(item->dtype)));
    for (int i = 0; i < TDC_STATISTICS; i++)
        if (!isnan(item->stats[i])) {
            record->stat_kinds[i] = TDC_STAT_FLOAT;
            record->stats[i].number = (double)item->stats[i];
        }
}

static void make_record(struct making *making, const struct tdc_kernel_item *item, bool statistics,
                        struct tdc_record *record)
{
    *record = (struct tdc_record){.requires_grad = "N/A",
                                  .digest = "N/A",
                                  .dtype = TDC_UNKNOWN_SHAPE,
                                  .shape = TDC_UNKNOWN_SHAPE,
                                  .data_name = "-1"};
    record->state =
        (uint8_t)(strstr(item->key, ".input.") != NULL ? TDC_STATE_INPUT : TDC_STATE_OUTPUT);
    for (int i = 0; i < TDC_STATISTICS; i++) {
        record->stat_kinds[i] = TDC_STAT_TEXT;
        record->stats[i].text = "None";
    }
    tdc_text_clear(&making->text);
    tdc_text_adds(&making->text, item->key);
    if (item->number != 0)
        tdc_text_addf(&making->text, ".%u", item->number);
    record->name = keep_made(making);
    tdc_text_clear(&making->text);
    if (is_faced(making, item))
        tdc_text_addf(&making->text, "same name, number %u in time", item->number);
    else
        tdc_text_adds(&making->text, "the other side has no such tensor");
    record->found = keep_made(making);
    if (statistics) {
        describe_line(making, item, record);
        return;
    }
    describe_file(making, item, record);
    const char *root = making->dump->data_folder;
    size_t length = strlen(root);
    const char *name =
        strncmp(item->path, root, length) == 0 ? item->path + length + 1 : item->path;
    record->data_name = keep(making, name, strlen(name));
}

/* Records are in the order of their keys, so those of an operator stand together. */
static bool fill(struct making *making, const struct tdc_kernel_list *list)
{
    struct tdc_dump *dump = making->dump;
    dump->entries = calloc(list->count + 1, sizeof *dump->entries);
    dump->records = calloc(list->count + 1, sizeof *dump->records);
    if (dump->entries == NULL || dump->records == NULL)
        return false;
    for (size_t i = 0; i < list->count && !making->failed; i++) {
        const struct tdc_kernel_item *item = &list->items[i];
        const char *name = keep(making, item->key, entry_length(item->key));
        bool fresh = false;
        uint32_t entry = name != NULL
                             ? tdc_names_put(&dump->entry_names, name, strlen(name), &fresh)
                             : TDC_NAME_NONE;
        if (entry == TDC_NAME_NONE)
            return false;
        if (fresh) {
            dump->entries[entry] = (struct tdc_dump_entry){name, i, 0};
            dump->entry_count = (size_t)entry + 1;
        }
        make_record(making, item, list->mode == TDC_KERNEL_STATISTICS, &dump->records[i]);
        dump->records[i].entry = entry;
        dump->records[i].first_of_entry = dump->entries[entry].count++ == 0;
    }
    dump->record_count = list->count;
    return !making->failed;
}

tdc_status tdc_kernel_records(const char *root, const struct tdc_kernel_list *list,
                              const struct tdc_kernel_list *other, struct tdc_dump **dump,
                              struct tdc_error *error)
{
    struct making making = {.dump = tdc_dump_new(root), .other = other};
    if (making.dump == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", root);
    struct tdc_dump *made = making.dump;
    made->kind = TDC_GRAPH_DUMP;
    made->framework = "mindspore";
    made->task = list->mode == TDC_KERNEL_STATISTICS ? "statistics" : "tensor";
    made->data_missing = false;
    made->explained = true;
    free(made->data_folder);
    made->data_folder = strdup(root);
    tdc_text_init(&making.text, TEXT_LIMIT);
    bool filled = made->data_folder != NULL && fill(&making, list);
    tdc_text_free(&making.text);
    if (!filled) {
        tdc_dump_free(made);
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", root);
    }
    *dump = made;
    return TDC_OK;
}
