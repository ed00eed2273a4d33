/* inspect_modules.c - how the bytes of a dump are spread over modules and APIs. */
#include <stdlib.h>
#include <string.h>

#include "host/analysis/inspect/inspection.h"

/* Levels of a module's path that are told apart: "Module.model.layers.0". */
#define PATH_LEVELS 4

/* Length of the part of a call's name by which sizes are added up. */
static size_t group_length(const char *name)
{
    bool module = strncmp(name, "Module.", 7) == 0 || strncmp(name, "Cell.", 5) == 0;
    int levels = module ? PATH_LEVELS : 2;
    const char *end = name;
    for (int level = 0; level < levels; level++) {
        const char *dot = strchr(end, '.');
        const char *direction = dot != NULL ? dot : "";
        if (dot == NULL)
            return strlen(name);
        if (strncmp(direction, ".forward", 8) == 0 || strncmp(direction, ".backward", 9) == 0)
            return (size_t)(dot - name);
        end = dot + 1;
    }
    return (size_t)(end - 1 - name);
}

static int larger_first(const void *a, const void *b)
{
    const struct tdc_module_size *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return strcmp(x->name, y->name);
}

bool tdc_inspect_modules(struct tdc_inspection *inspection)
{
    const struct tdc_dump *dump = inspection->dump;
    struct tdc_name_table names;
    tdc_names_init(&names);
    struct tdc_module_size *modules = calloc(dump->entry_count + 1, sizeof *modules);
    bool done = modules != NULL;
    for (size_t i = 0; i < dump->entry_count && done; i++) {
        const struct tdc_dump_entry *entry = &dump->entries[i];
        size_t length = group_length(entry->name);
        bool fresh;
        uint32_t number = tdc_names_put(&names, entry->name, length, &fresh);
        if (number == TDC_NAME_NONE ||
            (fresh && (modules[number].name =
                           tdc_arena_text(&inspection->arena, entry->name, length)) == NULL)) {
            done = false;
            break;
        }
        for (size_t k = entry->first; k < entry->first + entry->count; k++) {
            uint64_t bytes = tdc_record_bytes(&dump->records[k]);
            modules[number].bytes += bytes;
            modules[number].tensors += !dump->records[k].scalar;
            inspection->counts.bytes += bytes;
        }
    }
    if (done) {
        inspection->modules = modules;
        inspection->module_count = names.count;
        qsort(modules, names.count, sizeof *modules, larger_first);
    } else {
        free(modules);
    }
    tdc_names_free(&names);
    return done;
}
