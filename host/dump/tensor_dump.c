/* tensor_dump.c - a tensor file as a dump of one record, so that two files can be compared. */
#include "host/dump/tensor_dump.h"

#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"
#include "io/tensor/tensor_file.h"
#include "io/base/text.h"

bool tdc_is_tensor_file(const char *path)
{
    static const char *const endings[] = {".npy", ".pt", ".bin"};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t ending = strlen(endings[i]);
        if (length > ending && strcmp(path + length - ending, endings[i]) == 0)
            return true;
    }
    return false;
}

/* "[2, 3]"; NULL when out of memory. */
static const char *shape_text(struct tdc_arena *arena, const struct tdc_tensor *tensor)
{
    struct tdc_text text;
    tdc_text_init(&text, (size_t)1 << 16);
    tdc_text_addc(&text, '[');
    for (unsigned i = 0; i < tensor->dimensions; i++)
        tdc_text_addf(&text, "%s%llu", i != 0 ? ", " : "", (unsigned long long)tensor->shape[i]);
    tdc_text_addc(&text, ']');
    const char *shape =
        text.failed ? NULL : tdc_arena_text(arena, tdc_text_get(&text), text.length);
    tdc_text_free(&text);
    return shape;
}

static bool describe(struct tdc_dump *dump, const struct tdc_tensor *tensor)
{
    const char *slash = strrchr(dump->path, '/');
    const char *file = slash == NULL ? dump->path : slash + 1;
    const char *name = tdc_arena_text(&dump->arena, file, (size_t)(strrchr(file, '.') - file));
    struct tdc_record *record = dump->records = calloc(1, sizeof *record);
    dump->entries = calloc(1, sizeof *dump->entries);
    bool fresh;
    if (name == NULL || record == NULL || dump->entries == NULL ||
        tdc_names_put(&dump->entry_names, name, strlen(name), &fresh) == TDC_NAME_NONE)
        return false;
    *record = (struct tdc_record){
        .name = name,
        .dtype = tdc_dtype_name(tensor->dtype),
        .shape = shape_text(&dump->arena, tensor),
        .requires_grad = "N/A",
        .data_name = file,
        .digest = "N/A",
        .state = TDC_STATE_DEBUG,
        .first_of_entry = true,
    };
    for (int i = 0; i < TDC_STATISTICS; i++) {
        record->stat_kinds[i] = TDC_STAT_TEXT;
        record->stats[i].text = "None";
    }
    dump->entries[0] = (struct tdc_dump_entry){.name = name, .count = 1};
    dump->entry_count = dump->record_count = 1;
    return record->shape != NULL;
}

tdc_status tdc_dump_load_tensor(struct tdc_dump *dump, struct tdc_error *error)
{
    struct tdc_tensor tensor;
    tdc_status status = tdc_tensor_open(dump->path, TDC_TENSOR_BY_SUFFIX, &tensor, error);
    if (status != TDC_OK)
        return status;
    dump->kind = TDC_TENSOR_FILE;
    dump->task = "tensor";
    dump->data_missing = false;
    dump->bytes = tensor.map_size;
    free(dump->data_folder);
    dump->data_folder = strdup(dump->folder);
    if (dump->data_folder == NULL || !describe(dump, &tensor))
        status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", dump->path);
    tdc_tensor_close(&tensor);
    return status;
}
