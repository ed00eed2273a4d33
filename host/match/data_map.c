/* data_map.c - a yaml file that says which row faces which (spec 4.4). */
#include <string.h>

#include "host/match/match.h"
#include "io/error.h"
#include "io/text.h"
#include "io/yaml_map.h"

/* At most this many names that fit nothing are reported one by one. */
#define REPORTED 10

static void report_unknown(const char *path, const struct tdc_yaml *entry,
                           const struct tdc_options *options, size_t *unknown)
{
    if (options->message == NULL || ++*unknown > REPORTED)
        return;
    struct tdc_text text;
    tdc_text_init(&text, 4096);
    tdc_text_addf(&text, "%s:%u: no NPU row is called '%.512s'", path, entry->key_line, entry->key);
    options->message(options->context, TDC_MESSAGE_WARNING, tdc_text_get(&text));
    tdc_text_free(&text);
}

static void report_rest(const char *path, const struct tdc_options *options, size_t unknown)
{
    if (options->message == NULL || unknown <= REPORTED)
        return;
    struct tdc_text text;
    tdc_text_init(&text, 4096);
    tdc_text_addf(&text, "%s: %zu more names fit no NPU row", path, unknown - REPORTED);
    options->message(options->context, TDC_MESSAGE_WARNING, tdc_text_get(&text));
    tdc_text_free(&text);
}

static tdc_status apply(const char *path, const struct tdc_yaml *map, const struct tdc_dump *npu,
                        const char **keys, const struct tdc_options *options,
                        struct tdc_error *error)
{
    struct tdc_name_table names;
    tdc_names_init(&names);
    tdc_status status = TDC_OK;
    bool fresh;
    const struct tdc_yaml **targets = NULL;
    size_t unknown = 0;
    for (const struct tdc_yaml *entry = map->child; entry != NULL && status == TDC_OK;
         entry = entry->next) {
        if (entry->kind != TDC_YAML_SCALAR || entry->is_null)
            status = tdc_fail(error, TDC_ERR_FORMAT, "%s:%u: '%.200s' must be mapped to one name",
                              path, entry->line, entry->key);
        else if (tdc_names_put(&names, entry->key, strlen(entry->key), &fresh) == TDC_NAME_NONE)
            status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    }
    struct tdc_arena arena;
    tdc_arena_init(&arena, SIZE_MAX);
    bool *used = NULL;
    if (status == TDC_OK) {
        targets = tdc_arena_zeroed(&arena, names.count + 1, sizeof *targets);
        used = tdc_arena_zeroed(&arena, names.count + 1, sizeof *used);
        if (targets == NULL || used == NULL)
            status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    }
    if (status == TDC_OK) {
        uint32_t number = 0;
        for (const struct tdc_yaml *entry = map->child; entry != NULL; entry = entry->next)
            targets[number++] = entry;
        for (size_t i = 0; i < npu->record_count; i++) {
            number = tdc_names_find(&names, npu->records[i].name, strlen(npu->records[i].name));
            if (number == TDC_NAME_NONE)
                continue;
            keys[i] = targets[number]->text;
            used[number] = true;
        }
        for (uint32_t k = 0; k < names.count; k++)
            if (!used[k])
                report_unknown(path, targets[k], options, &unknown);
        report_rest(path, options, unknown);
    }
    tdc_arena_free(&arena);
    tdc_names_free(&names);
    return status;
}

tdc_status tdc_match_map_names(const char *path, const struct tdc_dump *npu, const char **keys,
                               struct tdc_arena *arena, const struct tdc_options *options,
                               struct tdc_error *error)
{
    struct tdc_yaml *map;
    tdc_status status = tdc_yaml_load(path, arena, &map, error);
    if (status != TDC_OK || map == NULL)
        return status;
    if (map->kind != TDC_YAML_MAP)
        return tdc_fail(error, TDC_ERR_FORMAT,
                        "%s:%u: a data mapping is a list of lines 'NPU row name: bench row name'",
                        path, map->line);
    return apply(path, map, npu, keys, options, error);
}
