/* layer_scope.c - where in the network each entry of a dump was called
 * (docs/msprobe.md#layer-mapping). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/match/layer/layer.h"
#include "io/base/error.h"
#include "io/file/file_map.h"
#include "io/storage/looking.h"
#include "io/text/json.h"
#include "io/file/mapping_guard.h"

#define CONSTRUCT_LIMIT ((size_t)16 << 30)
#define MOST_PARTS      256

/* Parents and framework functions, by entry of the dump. */
struct finding {
    struct tdc_layer_side *side;
    const struct tdc_match_rules *rules;
    const char **parents, **functions;
    bool mindspore;
    bool stack_entries, construct_entries; /* the files were not empty */
};

/* ---- reading the two files ------------------------------------------------------------------- */

static char *beside(const struct tdc_dump *dump, const char *name)
{
    size_t size = strlen(dump->folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path != NULL)
        snprintf(path, size, "%s/%s", dump->folder, name);
    return path;
}

static tdc_status note_function(void *context, const char *entry, size_t length,
                                const struct tdc_json *lines, long position)
{
    struct finding *finding = context;
    finding->stack_entries = true;
    if (position >= 0 && finding->rules->old_stacks_only)
        return TDC_OK;
    uint32_t number = tdc_names_find(&finding->side->dump->entry_names, entry, length);
    if (number != TDC_NAME_NONE)
        finding->functions[number] =
            tdc_framework_function(finding->side->arena, lines, finding->mindspore);
    return TDC_OK;
}

struct construct_reading {
    struct finding *finding;
    const struct tdc_file_map *map;
    const char *path;
    struct tdc_arena scratch;
    struct tdc_error *error;
    tdc_status status;
};

/* {api: parent or null}, or with micro steps {api: [parent, micro step]}. */
static tdc_status note_parent(struct construct_reading *reading, const char *key, size_t length,
                              const struct tdc_json *value)
{
    struct finding *finding = reading->finding;
    finding->construct_entries = true;
    if (value->kind == TDC_JSON_LIST)
        value = value->child;
    uint32_t number = tdc_names_find(&finding->side->dump->entry_names, key, length);
    if (number == TDC_NAME_NONE || value == NULL || value->kind != TDC_JSON_STRING ||
        value->length == 0)
        return TDC_OK;
    finding->parents[number] = tdc_arena_text(finding->side->arena, value->text, value->length);
    return finding->parents[number] != NULL
               ? TDC_OK
               : tdc_fail(reading->error, TDC_ERR_MEMORY, "%s: out of memory", reading->path);
}

static void read_construct(void *argument)
{
    struct construct_reading *reading = argument;
    struct tdc_json_cursor cursor;
    tdc_json_start(&cursor, reading->path, reading->map->data, reading->map->size);
    bool first = true;
    tdc_status status = tdc_json_enter(&cursor, reading->error);
    while (status == TDC_OK) {
        const char *key;
        size_t length;
        struct tdc_json *value;
        tdc_arena_reset(&reading->scratch);
        status = tdc_json_member(&cursor, &first, &reading->scratch, &key, &length, reading->error);
        if (status != TDC_OK || key == NULL)
            break;
        status = tdc_json_read(&cursor, &reading->scratch, &value, reading->error);
        if (status == TDC_OK)
            status = note_parent(reading, key, length, value);
    }
    reading->status = status == TDC_OK ? tdc_json_finish(&cursor, reading->error) : status;
}

static tdc_status load_construct(struct finding *finding, const char *path,
                                 const struct tdc_file_map *bytes, struct tdc_error *error)
{
    struct tdc_file_map map = {0};
    tdc_status status = TDC_OK;
    if (bytes != NULL)
        map = *bytes;
    else
        status = tdc_file_map_open(path, &map, error);
    if (status != TDC_OK)
        return status;
    struct construct_reading reading = {
        .finding = finding, .map = &map, .path = path, .error = error};
    tdc_arena_init(&reading.scratch, CONSTRUCT_LIMIT);
    if (!tdc_guard_begin()) {
        reading.status = tdc_fail(error, TDC_ERR_SYSTEM, "cannot install a signal handler");
    } else {
        if (!tdc_guarded_read(read_construct, &reading))
            reading.status = tdc_fail(error, TDC_ERR_CHANGED, "%s: changed while being read", path);
        tdc_guard_end();
    }
    tdc_arena_free(&reading.scratch);
    if (bytes == NULL)
        tdc_file_map_close(&map);
    return reading.status;
}

static tdc_status one_missing(struct tdc_error *error, const char *missing)
{
    return tdc_fail(error, TDC_ERR_NOT_FOUND,
                    "stack.json or construct.json not found, please check. (%s)", missing);
}

/* Both or none of what a dump in memory was given. */
static tdc_status take_bytes(struct finding *finding, struct tdc_error *error)
{
    const struct tdc_dump *dump = finding->side->dump;
    bool stack = dump->stack.data != NULL, construct = dump->construct.data != NULL;
    if (stack != construct)
        return one_missing(error, stack ? "construct.json" : "stack.json");
    if (!stack)
        return TDC_OK;
    tdc_status status =
        tdc_stacks_walk_bytes("stack.json", &dump->stack, note_function, finding, error);
    if (status == TDC_OK)
        status = load_construct(finding, "construct.json", &dump->construct, error);
    return status;
}

/* Both files or none. */
static tdc_status load_files(struct finding *finding, struct tdc_error *error)
{
    if (finding->side->dump->in_memory)
        return take_bytes(finding, error);
    char *stack = beside(finding->side->dump, "stack.json");
    char *construct = beside(finding->side->dump, "construct.json");
    tdc_status status = TDC_OK;
    if (stack == NULL || construct == NULL) {
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory while mapping layers");
    } else if (tdc_is_there(stack) != tdc_is_there(construct)) {
        status = one_missing(error, tdc_is_there(stack) ? construct : stack);
    } else if (tdc_is_there(stack)) {
        status = tdc_stacks_walk(stack, note_function, finding, error);
        if (status == TDC_OK)
            status = load_construct(finding, construct, NULL, error);
    }
    free(stack);
    free(construct);
    return status;
}

/* ---- scopes ---------------------------------------------------------------------------------- */

struct part {
    const char *text;
    size_t length;
};

/* The parts of a dotted name; 0 when there are too many. */
static size_t split(const char *name, struct part parts[MOST_PARTS])
{
    size_t count = 0;
    for (;;) {
        if (count == MOST_PARTS)
            return 0;
        size_t length = strcspn(name, ".");
        parts[count++] = (struct part){name, length};
        if (name[length] == '\0')
            return count;
        name += length + 1;
    }
}

static bool part_is(struct part part, const char *text)
{
    return part.length == strlen(text) && memcmp(part.text, text, part.length) == 0;
}

static const char *keep(struct tdc_layer_side *side, struct part part)
{
    return tdc_arena_text(side->arena, part.text, part.length);
}

/* layer path, function and node name, joined by dots. The path is the first path_length bytes. */
static const char *join_scope(struct tdc_arena *arena, const char *path, size_t path_length,
                              const char *function, struct part node)
{
    size_t function_length = function != NULL ? strlen(function) + 1 : 0;
    char *scope = tdc_arena_take(arena, path_length + function_length + node.length + 2);
    if (scope == NULL)
        return NULL;
    char *end = mempcpy(scope, path, path_length);
    if (function != NULL) {
        *end++ = '.';
        end = mempcpy(end, function, function_length - 1);
    }
    *end++ = '.';
    end = mempcpy(end, node.text, node.length);
    *end = '\0';
    return scope;
}

/* Bytes of a name without its last `drop` parts; 0 if nothing is left. */
static size_t without_last(const struct part *parts, size_t count, size_t drop)
{
    if (count <= drop)
        return 0;
    struct part last = parts[count - drop - 1];
    return (size_t)(last.text + last.length - parts[0].text);
}

/* Entries that do not look like calls of a network have no scope. False when out of memory. */
static bool find_scope(struct finding *finding, uint32_t number)
{
    struct tdc_layer_side *side = finding->side;
    struct tdc_layer_entry *entry = &side->entries[number];
    const char *name = side->dump->entries[number].name;
    struct part parts[MOST_PARTS], parent_parts[MOST_PARTS];
    size_t count = split(name, parts);
    if (count < 4)
        return true;
    struct part node, type, state;
    const char *path = name, *function = NULL;
    size_t path_length;
    if (part_is(parts[count - 1], "parameters_grad")) {
        node = parts[count - 3];
        type = parts[count - 2];
        state = parts[count - 1];
        path_length = without_last(parts, count, 3);
    } else if (part_is(parts[0], "Cell") || part_is(parts[0], "Module")) {
        node = parts[count - 4];
        type = parts[count - 3];
        state = parts[count - 2];
        path_length = without_last(parts, count, 4);
    } else {
        node = type = parts[count - 3];
        state = parts[count - 1];
        path = finding->parents[number];
        size_t parent_count = path != NULL ? split(path, parent_parts) : 0;
        path_length = without_last(parent_parts, parent_count, 3);
        if (!part_is(parts[0], "Primitive") && !part_is(parts[0], "Jit"))
            function = finding->functions[number];
    }
    if (path_length == 0) {
        path = path == name ? "" : "TopLayer";
        path_length = strlen(path);
    }
    entry->scope = join_scope(side->arena, path, path_length, function, node);
    entry->type = keep(side, type);
    entry->state = keep(side, state);
    return entry->scope != NULL && entry->type != NULL && entry->state != NULL;
}

/* Backward calls have no stack: they take the scope of their forward call. */
static bool follow_forward(struct tdc_layer_side *side, uint32_t number)
{
    const char *name = side->dump->entries[number].name;
    struct part parts[MOST_PARTS];
    size_t count = split(name, parts);
    if (side->entries[number].scope == NULL || count < 2)
        return true;
    for (size_t i = count - 2; i < count; i++) {
        if (!part_is(parts[i], "backward"))
            continue;
        size_t before = (size_t)(parts[i].text - name);
        const char *rest = parts[i].text + parts[i].length;
        char *forward = tdc_arena_take(side->arena, strlen(name) + 1);
        if (forward == NULL)
            return false;
        strcpy(mempcpy(mempcpy(forward, name, before), "forward", 7), rest);
        uint32_t found = tdc_names_find(&side->dump->entry_names, forward, strlen(forward));
        if (found != TDC_NAME_NONE && side->entries[found].scope != NULL)
            side->entries[number].scope = side->entries[found].scope;
        break;
    }
    return true;
}

/* ---- renumbering ----------------------------------------------------------------------------- */

/* The last run of digits of a component; -1 without digits. */
static long last_number(const char *text, size_t length)
{
    size_t end = length;
    while (end > 0 && (text[end - 1] < '0' || text[end - 1] > '9'))
        end--;
    size_t start = end;
    while (start > 0 && text[start - 1] >= '0' && text[start - 1] <= '9')
        start--;
    if (start == end || end - start > 9)
        return -1;
    return strtol(text + start, NULL, 10);
}

/* A number in a scope that counts the layers below a prefix. */
struct numbered {
    uint32_t prefix;
    const char *component;
    long number;
};

/* The first prefix in the order of the dump that follows `after` and that the scope begins with. */
static bool find_numbered(const struct tdc_name_table *prefixes, const char *scope, long after,
                          struct numbered *found)
{
    found->component = NULL;
    for (const char *dot = strchr(scope, '.'); dot != NULL; dot = strchr(dot + 1, '.')) {
        uint32_t prefix = tdc_names_find(prefixes, scope, (size_t)(dot - scope));
        if (prefix == TDC_NAME_NONE || (long)prefix <= after ||
            (found->component != NULL && prefix > found->prefix))
            continue;
        *found = (struct numbered){prefix, dot + 1, last_number(dot + 1, strcspn(dot + 1, "."))};
    }
    return found->component != NULL;
}

static bool collect_prefixes(struct tdc_layer_side *side, struct tdc_name_table *prefixes)
{
    for (size_t i = 0; i < side->dump->entry_count; i++) {
        const struct tdc_layer_entry *entry = &side->entries[i];
        if (entry->scope == NULL || strcmp(entry->type, "ParallelTransformer") != 0)
            continue;
        size_t length = strlen(entry->scope) + sizeof ".layers" - 1;
        char *prefix = tdc_arena_take(side->arena, length + 1);
        bool fresh;
        if (prefix == NULL)
            return false;
        sprintf(prefix, "%s.layers", entry->scope);
        if (tdc_names_put(prefixes, prefix, length, &fresh) == TDC_NAME_NONE)
            return false;
    }
    return true;
}

static bool replace_number(struct tdc_layer_side *side, struct tdc_layer_entry *entry,
                           const char *component, long number)
{
    size_t before = (size_t)(component - entry->scope);
    const char *rest = component + strcspn(component, ".");
    char *scope = tdc_arena_take(side->arena, strlen(entry->scope) + 24);
    if (scope == NULL)
        return false;
    sprintf(mempcpy(scope, entry->scope, before), "%ld%s", number, rest);
    entry->scope = scope;
    return true;
}

/* The least number below each prefix; -1 where nothing is numbered. */
static void find_least(const struct tdc_layer_side *side, const struct tdc_name_table *prefixes,
                       long *least)
{
    struct numbered at;
    for (size_t i = 0; i < side->dump->entry_count; i++) {
        const char *scope = side->entries[i].scope;
        for (long after = -1; scope != NULL && find_numbered(prefixes, scope, after, &at);
             after = at.prefix)
            if (at.number >= 0 && (least[at.prefix] < 0 || at.number < least[at.prefix]))
                least[at.prefix] = at.number;
    }
}

/* Prefixes are gone through in the order of the dump; one that lies inside another is found as the
 * other has left the scope. */
static bool shift_numbers(struct tdc_layer_side *side, const struct tdc_name_table *prefixes,
                          const long *least)
{
    struct numbered at;
    for (size_t i = 0; i < side->dump->entry_count; i++) {
        struct tdc_layer_entry *entry = &side->entries[i];
        for (long after = -1;
             entry->scope != NULL && find_numbered(prefixes, entry->scope, after, &at);
             after = at.prefix)
            if (at.number >= 0 &&
                !replace_number(side, entry, at.component, at.number - least[at.prefix]))
                return false;
    }
    return true;
}

/* Layers of a pipeline stage count from its first layer: both sides then count from 0. */
static bool renumber(struct tdc_layer_side *side)
{
    struct tdc_name_table prefixes;
    tdc_names_init(&prefixes);
    bool ok = collect_prefixes(side, &prefixes);
    long *least = malloc(((size_t)prefixes.count + 1) * sizeof *least);
    ok = ok && least != NULL;
    for (uint32_t i = 0; ok && i < prefixes.count; i++)
        least[i] = -1;
    if (ok && prefixes.count != 0) {
        find_least(side, &prefixes, least);
        ok = shift_numbers(side, &prefixes, least);
    }
    free(least);
    tdc_names_free(&prefixes);
    return ok;
}

tdc_status tdc_layer_scopes(struct tdc_layer_side *side, const struct tdc_match_rules *rules,
                            struct tdc_error *error)
{
    size_t count = side->dump->entry_count;
    const char *framework = tdc_dump_detected_framework(side->dump);
    struct finding finding = {.side = side, .rules = rules};
    finding.mindspore = framework != NULL && strcmp(framework, "mindspore") == 0;
    side->entries = tdc_arena_zeroed(side->arena, count + 1, sizeof *side->entries);
    finding.parents = tdc_arena_zeroed(side->arena, count + 1, sizeof *finding.parents);
    finding.functions = tdc_arena_zeroed(side->arena, count + 1, sizeof *finding.functions);
    bool ok = side->entries != NULL && finding.parents != NULL && finding.functions != NULL;
    if (ok) {
        tdc_status status = load_files(&finding, error);
        if (status != TDC_OK)
            return status;
    }
    side->usable = finding.stack_entries && finding.construct_entries;
    if (ok && !side->usable)
        return TDC_OK;
    for (uint32_t i = 0; ok && i < count; i++)
        ok = find_scope(&finding, i);
    for (uint32_t i = 0; ok && i < count; i++)
        ok = follow_forward(side, i);
    if (!ok || !renumber(side))
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory while mapping layers");
    return TDC_OK;
}
