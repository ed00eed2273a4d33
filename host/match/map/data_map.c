/* data_map.c - a yaml file that says which row faces which (docs/msprobe.md#data-mapping). */
#include <string.h>

#include "host/match/map/flat_map.h"

tdc_status tdc_map_data(struct tdc_match *match, const char *path,
                        const struct tdc_options *options, struct tdc_error *error)
{
    struct tdc_flat_map map;
    tdc_status status =
        tdc_flat_map_load(&map, path, "test row name: ref row name", &match->arena, error);
    for (size_t i = 0; i < match->npu->record_count && status == TDC_OK; i++) {
        const char *name = match->npu->records[i].name;
        const struct tdc_yaml *entry = tdc_flat_map_use(&map, name, strlen(name));
        if (entry == NULL)
            continue;
        match->keys[i] = entry->text;
        match->key_rules[i] = TDC_KEY_DATA;
    }
    if (status == TDC_OK)
        tdc_flat_map_report(&map, "test row", options);
    tdc_flat_map_free(&map);
    return status;
}
