#include "host/table/changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/engine/side_change.h"
#include "io/base/error.h"
#include "io/text/yaml_map.h"

/* ---- matrices -------------------------------------------------------------------------------- */

/* The maps of the file, in the order in which their products are made. */
static const struct {
    const char *kind, *map;
    bool bench, left;
} product_maps[] = {
    {"right_matmul", "target_tensor_map", false, false},
    {"right_matmul", "golden_tensor_map", true, false},
    {"left_matmul", "target_tensor_map", false, true},
    {"left_matmul", "golden_tensor_map", true, true},
    {"left_right_matmul", "left_target_tensor_map", false, true},
    {"left_right_matmul", "right_target_tensor_map", false, false},
    {"left_right_matmul", "left_golden_tensor_map", true, true},
    {"left_right_matmul", "right_golden_tensor_map", true, false},
};

#define PRODUCT_MAPS (sizeof product_maps / sizeof *product_maps)

static const struct tdc_yaml *member(const struct tdc_yaml *map, const char *key)
{
    if (map == NULL || map->kind != TDC_YAML_MAP)
        return NULL;
    for (const struct tdc_yaml *at = map->child; at != NULL; at = at->next)
        if (strcmp(at->key, key) == 0)
            return at;
    return NULL;
}

/* The matrix whose list holds the name; of several the last. */
static const char *matrix_for(const struct tdc_yaml *map, const char *name)
{
    const char *found = NULL;
    for (const struct tdc_yaml *at = map != NULL && map->kind == TDC_YAML_MAP ? map->child : NULL;
         at != NULL; at = at->next)
        for (const struct tdc_yaml *item = at->kind == TDC_YAML_LIST ? at->child : NULL;
             item != NULL; item = item->next)
            if (item->kind == TDC_YAML_SCALAR && strcmp(item->text, name) == 0)
                found = at->key;
    return found;
}

/* Appends the products of a side for a file; false when out of memory. */
static bool add_products(struct tdc_table *table, const struct tdc_yaml *root, const char *file,
                         bool bench, struct tdc_side_change *change)
{
    const struct tdc_product **end = &change->products;
    for (size_t i = 0; i < PRODUCT_MAPS; i++) {
        if (product_maps[i].bench != bench)
            continue;
        const char *matrix =
            matrix_for(member(member(root, product_maps[i].kind), product_maps[i].map), file);
        if (matrix == NULL)
            continue;
        struct tdc_product *product = tdc_arena_take(&table->arena, sizeof *product);
        if (product == NULL)
            return false;
        *product = (struct tdc_product){.matrix = matrix, .left = product_maps[i].left};
        *end = product;
        end = &product->next;
    }
    return true;
}

/* ---- padding --------------------------------------------------------------------------------- */

/* Grouped operators fill the rows behind the last group with what lay there before. */
static const struct {
    const char *api, *keyword;
} grouped[] = {{"npu_dequant_swiglu_quant", "group_index"}, {"npu_grouped_matmul", "group_list"}};

/* How many rows of the outputs of an entry are valid; false when nothing tells. */
static bool find_valid_rows(const struct tdc_dump *npu, const struct tdc_dump_entry *entry,
                            uint64_t *rows)
{
    for (size_t g = 0; g < sizeof grouped / sizeof *grouped; g++) {
        if (strstr(entry->name, grouped[g].api) == NULL)
            continue;
        for (size_t i = entry->first; i < entry->first + entry->count; i++) {
            const struct tdc_record *record = &npu->records[i];
            size_t length = strlen(record->data_name);
            if (record->keyword == NULL || strcmp(record->keyword, grouped[g].keyword) != 0 ||
                length < 3 || strcmp(record->data_name + length - 3, ".pt") != 0)
                continue;
            char path[8192];
            int64_t sum;
            if ((size_t)snprintf(path, sizeof path, "%s/%s", npu->data_folder, record->data_name) >=
                sizeof path)
                return false;
            if (!tdc_sum_integers(path, &sum) || sum < 0)
                return false;
            *rows = (uint64_t)sum;
            return true;
        }
        return false;
    }
    return false;
}

/* ---- joined files ---------------------------------------------------------------------------- */

static enum tdc_join join_of(const struct tdc_match *match, const char *file, bool bench)
{
    bool joined =
        match->consistent == TDC_CONSISTENT_FSDP
            ? !bench && (strstr(file, ".q_proj.") != NULL || strstr(file, ".gate_proj.") != NULL)
            : match->consistent == TDC_CONSISTENT_MEGATRON && bench &&
                  strstr(file, ".gate_up_proj.") != NULL;
    if (!joined)
        return TDC_JOIN_NONE;
    if (strstr(file, ".input.") != NULL)
        return TDC_JOIN_FIRST;
    return strstr(file, ".parameters.") != NULL ? TDC_JOIN_AXIS_0 : TDC_JOIN_AXIS_1;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool is_change(const struct tdc_side_change *change)
{
    return change->join != TDC_JOIN_NONE || change->clear_padding || change->products != NULL;
}

static bool keep(struct tdc_table *table, const struct tdc_side_change *change, size_t row,
                 bool bench)
{
    if (!is_change(change))
        return true;
    if (table->changes == NULL)
        table->changes = calloc(table->row_count + 1, sizeof *table->changes);
    struct tdc_side_change *copy = tdc_arena_take(&table->arena, sizeof *copy);
    if (table->changes == NULL || copy == NULL)
        return false;
    *copy = *change;
    table->changes[row].sides[bench] = copy;
    return true;
}

/* The padding of the entry whose rows come one after the other. */
struct padding {
    uint32_t entry;
    bool known, any;
    uint64_t rows;
};

static bool find_row(struct tdc_table *table, const struct tdc_yaml *root, size_t index,
                     struct padding *padding)
{
    const struct tdc_match *match = table->match;
    const struct tdc_record *npu = tdc_row_npu(table, &table->rows[index]);
    const struct tdc_record *bench = tdc_row_bench(table, &table->rows[index]);
    if (npu == NULL || bench == NULL)
        return true;
    struct tdc_side_change ours = {.join = join_of(match, npu->data_name, false)};
    struct tdc_side_change theirs = {.join = join_of(match, bench->data_name, true)};
    if (!padding->known || padding->entry != npu->entry) {
        *padding = (struct padding){.entry = npu->entry, .known = true};
        padding->any =
            match->consistent == TDC_CONSISTENT_NONE &&
            find_valid_rows(match->npu, &match->npu->entries[npu->entry], &padding->rows);
    }
    ours.clear_padding = padding->any && strstr(npu->name, "output") != NULL;
    ours.valid_rows = padding->rows;
    return add_products(table, root, npu->data_name, false, &ours) &&
           add_products(table, root, bench->data_name, true, &theirs) &&
           keep(table, &ours, index, false) && keep(table, &theirs, index, true);
}

tdc_status tdc_changes_find(struct tdc_table *table, const struct tdc_options *options,
                            struct tdc_error *error)
{
    struct tdc_yaml *root = NULL;
    tdc_status status = TDC_OK;
    if (options->products != NULL)
        status = tdc_yaml_load(options->products, &table->arena, &root, error);
    struct padding padding = {0};
    for (size_t i = 0; i < table->row_count && status == TDC_OK; i++)
        if (!find_row(table, root, i, &padding))
            status =
                tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %zu rows", table->row_count);
    return status;
}
