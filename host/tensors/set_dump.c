/* set_dump.c - named tensors as a dump, so that they are matched, compared and shown as one. */
#include <stdlib.h>
#include <string.h>

#include "host/dump/dump.h"
#include "host/tensors/tensor_set.h"
#include "io/base/error.h"

#define DUMP_LIMIT ((size_t)64 << 30)

static void let_go(void *held)
{
    struct tdc_tensor_set *set = held;
    tdc_tensor_set_free(set);
    free(set);
}

static void fill_record(struct tdc_record *record, const struct tdc_set_record *from,
                        uint32_t entry)
{
    *record = (struct tdc_record){
        .name = from->name,
        .dtype = from->dtype,
        .shape = from->shape,
        .requires_grad = "N/A",
        .data_name = from->file,
        .digest = "N/A",
        .state = TDC_STATE_DEBUG,
        .first_of_entry = true,
        .entry = entry,
        .tensor = from->tensor,
        .refusal = from->refusal,
    };
    for (int i = 0; i < TDC_STATISTICS; i++) {
        record->stat_kinds[i] = TDC_STAT_TEXT;
        record->stats[i].text = "None";
    }
}

/* One record and one entry for each name; of several ranks the lowest has it. */
static tdc_status fill_dump(struct tdc_dump *dump, const struct tdc_tensor_set *set,
                            struct tdc_error *error)
{
    dump->records = calloc(set->count + 1, sizeof *dump->records);
    dump->entries = calloc(set->count + 1, sizeof *dump->entries);
    if (dump->records == NULL || dump->entries == NULL)
        return tdc_set_no_memory(set, error);
    for (size_t i = 0; i < set->count; i++) {
        const struct tdc_set_record *from = &set->records[i];
        bool fresh;
        uint32_t number = tdc_names_put(&dump->entry_names, from->name, strlen(from->name), &fresh);
        if (number == TDC_NAME_NONE)
            return tdc_set_no_memory(set, error);
        dump->in_parts |= from->chunks != NULL;
        if (!fresh)
            continue;
        fill_record(&dump->records[number], from, number);
        dump->entries[number] =
            (struct tdc_dump_entry){.name = from->name, .first = number, .count = 1};
        dump->record_count = dump->entry_count = number + 1;
    }
    return TDC_OK;
}

tdc_status tdc_tensors_load(const char *path, const char *key, tdc_dump **dump,
                            struct tdc_error *error)
{
    *dump = NULL;
    struct tdc_tensor_set *set = malloc(sizeof *set);
    struct tdc_dump *made = calloc(1, sizeof *made);
    if (set == NULL || made == NULL) {
        free(set);
        free(made);
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    }
    tdc_status status = tdc_tensor_set_load(path, key, set, error);
    tdc_arena_init(&made->arena, DUMP_LIMIT);
    made->held = set;
    made->let_go = let_go;
    made->kind = TDC_TENSORS_BY_NAME;
    made->task = "tensor";
    made->in_parts = set->ranks > 1 || set->dumped;
    if (status == TDC_OK) {
        made->path = strdup(path);
        made->folder = strdup(set->folder);
        made->data_folder = strdup(set->folder);
        if (made->path == NULL || made->folder == NULL || made->data_folder == NULL)
            status = tdc_set_no_memory(set, error);
    }
    if (status == TDC_OK)
        status = fill_dump(made, set, error);
    if (status != TDC_OK) {
        tdc_dump_free(made);
        return status;
    }
    *dump = made;
    return TDC_OK;
}

bool tdc_tensors_in_parts(const tdc_dump *dump)
{
    return dump->in_parts;
}
