/* graph_dumps.c - the rows of a token as two dumps whose records are called alike. */
#include <stdlib.h>
#include <string.h>

#include "host/graph/files/ge_statistics.h"
#include "host/graph/graph_match.h"
#include "host/graph/graph_statistics.h"
#include "host/graph/graph_set.h"
#include "io/base/error.h"
#include "io/base/text.h"
#include "io/tensor/ge/ge_dump.h"
#include "io/tensor/tensor_file.h"
#include "kernels/dtype.h"

#define TEXT_LIMIT ((size_t)1 << 16)
/* In place of the file that faces one that cannot be read: it is never opened. */
#define NOT_LOOKED_FOR "not looked for"

struct making {
    const struct tdc_graph_item *item;
    struct tdc_dump *dump; /* the side under way */
    bool golden;
    bool statistics; /* one side holds nothing else */
    struct tdc_text text;
    bool failed;
};

static const char *keep(struct making *making, const char *text)
{
    const char *kept = tdc_arena_text(&making->dump->arena, text, strlen(text));
    making->failed |= kept == NULL;
    return kept;
}

static const char *keep_made(struct making *making)
{
    making->failed |= making->text.failed;
    return keep(making, tdc_text_get(&making->text));
}

/* ---- entries --------------------------------------------------------------------------------- */

/* The operator a row belongs to, on both sides. */
static const char *entry_of(const struct tdc_graph_pair *pair)
{
    return pair->file != NULL ? pair->file->name.op : pair->node;
}

static bool takes_part(const struct making *making, const struct tdc_graph_pair *pair)
{
    bool faced = pair->error != NULL && pair->mine != NULL && !making->statistics;
    return making->golden ? pair->golden != NULL || faced : pair->mine != NULL;
}

static uint32_t entry_number(struct making *making, const char *name)
{
    struct tdc_dump *dump = making->dump;
    bool fresh = false;
    uint32_t number = tdc_names_find(&dump->entry_names, name, strlen(name));
    if (number != TDC_NAME_NONE)
        return number;
    const char *kept = keep(making, name);
    number = kept != NULL ? tdc_names_put(&dump->entry_names, kept, strlen(kept), &fresh)
                          : TDC_NAME_NONE;
    if (number == TDC_NAME_NONE) {
        making->failed = true;
        return 0;
    }
    dump->entries[number].name = kept;
    dump->entry_count = number + 1;
    return number;
}

/* ---- records --------------------------------------------------------------------------------- */

/* Type and shape by the header of the file. One that cannot be read is left to the comparison,
 * which says why. */
static void describe(struct making *making, const char *name, struct tdc_record *record)
{
    struct tdc_tensor tensor;
    struct tdc_error error;
    record->dtype = record->shape = TDC_UNKNOWN_SHAPE;
    if (tdc_tensor_open(name, TDC_TENSOR_BY_SUFFIX, &tensor, &error) != TDC_OK)
        return;
    tdc_text_clear(&making->text);
    tdc_text_addc(&making->text, '[');
    tdc_text_add_sizes(&making->text, tensor.shape, tensor.dimensions, ", ");
    tdc_text_addc(&making->text, ']');
    record->shape = keep_made(making);
    tdc_dtype dtype = tensor.coding == TDC_CODING_PLAIN ? tensor.dtype : TDC_F64;
    record->dtype = tdc_dtype_entry(dtype)->torch != NULL ? tdc_dtype_entry(dtype)->torch
                                                          : tdc_dtype_entry(dtype)->name;
    tdc_tensor_close(&tensor);
}

/* The name of the tensor below the folder of both sides. */
static const char *data_name(struct making *making, const char *name)
{
    const char *folder = making->dump->data_folder;
    size_t length = strlen(folder);
    if (strncmp(name, folder, length) == 0 && name[length] == '/')
        return keep(making, name + length + 1);
    return keep(making, name);
}

static void make_record(struct making *making, const struct tdc_graph_pair *pair,
                        struct tdc_record *record, uint32_t entry)
{
    const char *name = making->golden ? pair->golden : pair->mine;
    bool first = making->dump->entries[entry].count++ == 0;
    *record = (struct tdc_record){
        .requires_grad = "N/A",
        .digest = "N/A",
        .state = (uint8_t)(pair->output ? TDC_STATE_OUTPUT : TDC_STATE_INPUT),
        .first_of_entry = first,
        .flat = true,
        .entry = entry,
    };
    for (int i = 0; i < TDC_STATISTICS; i++) {
        record->stat_kinds[i] = TDC_STAT_TEXT;
        record->stats[i].text = "None";
    }
    tdc_text_clear(&making->text);
    if (pair->error != NULL)
        tdc_text_addf(&making->text, "%s.file", entry_of(pair));
    else
        tdc_text_addf(&making->text, "%s.%s.%llu", entry_of(pair),
                      pair->output ? "output" : "input", (unsigned long long)pair->index);
    record->name = keep_made(making);
    record->found = keep(making, pair->error == NULL  ? pair->how
                                 : making->statistics ? pair->error
                                                      : "the file cannot be read");
    if (making->statistics) {
        record->dtype = record->shape = TDC_UNKNOWN_SHAPE;
        making->failed |= pair->error == NULL &&
                          !tdc_graph_statistics(&making->dump->arena, name,
                                                making->golden ? pair->mine : pair->golden, record);
        record->data_name = "-1";
        return;
    }
    if (pair->error != NULL) {
        record->dtype = record->shape = TDC_UNKNOWN_SHAPE;
        tdc_text_clear(&making->text);
        tdc_text_addf(&making->text, "%s,inputs,0", name != NULL ? name : NOT_LOOKED_FOR);
        name = keep_made(making);
    } else {
        describe(making, name, record);
    }
    record->data_name = name != NULL ? data_name(making, name) : NULL;
}

/* Records of an operator stand together, in the order in which operators first come. */
static bool fill_dump(struct making *making, const struct tdc_graph_pairs *pairs)
{
    struct tdc_dump *dump = making->dump;
    size_t count = 0, first = 0;
    for (size_t i = 0; i < pairs->count; i++)
        count += takes_part(making, &pairs->pairs[i]);
    dump->entries = calloc(count + 1, sizeof *dump->entries);
    dump->records = calloc(count + 1, sizeof *dump->records);
    size_t *sizes = calloc(count + 1, sizeof *sizes);
    if (dump->entries == NULL || dump->records == NULL || sizes == NULL) {
        free(sizes);
        return false;
    }
    for (size_t i = 0; i < pairs->count && !making->failed; i++)
        if (takes_part(making, &pairs->pairs[i]))
            sizes[entry_number(making, entry_of(&pairs->pairs[i]))]++;
    for (size_t i = 0; i < dump->entry_count; i++) {
        dump->entries[i].first = first;
        first += sizes[i];
    }
    free(sizes);
    for (size_t i = 0; i < pairs->count && !making->failed; i++) {
        const struct tdc_graph_pair *pair = &pairs->pairs[i];
        if (!takes_part(making, pair))
            continue;
        uint32_t entry = entry_number(making, entry_of(pair));
        size_t at = dump->entries[entry].first + dump->entries[entry].count;
        make_record(making, pair, &dump->records[at], entry);
    }
    dump->record_count = count;
    return !making->failed;
}

/* ---- dumps ----------------------------------------------------------------------------------- */

/* One folder that both sides' files lie below: casts face files of the same side. */
static char *common_folder(const char *mine, const char *golden)
{
    size_t end = 0;
    for (size_t i = 0; mine[i] != '\0' && mine[i] == golden[i]; i++)
        if (mine[i] == '/')
            end = i;
    char *folder = strdup(mine);
    if (folder != NULL)
        folder[end] = '\0';
    return folder;
}

static bool holds_statistics(const struct tdc_graph_pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        const struct tdc_graph_pair *pair = &pairs->pairs[i];
        if ((pair->file != NULL && pair->file->statistics) ||
            (pair->golden != NULL && tdc_is_ge_statistic(pair->golden)))
            return true;
    }
    return false;
}

static tdc_status make_dump(const struct tdc_graph_item *item, const struct tdc_graph_pairs *pairs,
                            bool golden, struct tdc_dump **dump, struct tdc_error *error)
{
    struct making making = {.item = item, .golden = golden, .statistics = holds_statistics(pairs)};
    const char *path = golden ? item->golden : item->mine;
    making.dump = tdc_dump_new(path);
    if (making.dump == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    struct tdc_dump *made = making.dump;
    made->kind = TDC_GRAPH_DUMP;
    made->framework = "pytorch";
    made->task = making.statistics ? "statistics" : "tensor";
    made->data_missing = false;
    made->explained = true;
    free(made->data_folder);
    made->data_folder = common_folder(item->mine, item->golden);
    tdc_text_init(&making.text, TEXT_LIMIT);
    bool filled = made->data_folder != NULL && fill_dump(&making, pairs);
    tdc_text_free(&making.text);
    if (!filled) {
        tdc_dump_free(made);
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    }
    *dump = made;
    return TDC_OK;
}

tdc_status tdc_graph_dumps(const struct tdc_graph_item *item, const struct tdc_graph_pairs *pairs,
                           struct tdc_dump **npu, struct tdc_dump **bench, struct tdc_error *error)
{
    tdc_status status = make_dump(item, pairs, false, npu, error);
    if (status == TDC_OK)
        status = make_dump(item, pairs, true, bench, error);
    if (status != TDC_OK) {
        tdc_dump_free(*npu);
        *npu = NULL;
    }
    return status;
}
