/* shared_slots.c - which tensors of a rank others must hold as well. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/analysis/communication/comm_name.h"
#include "host/analysis/ranks/shared.h"
#include "host/dump/members.h"
#include "host/find/folders.h"
#include "io/base/error.h"
#include "io/base/text.h"

#define TEXT_LIMIT ((size_t)1 << 20)

/* ---- collectives ----------------------------------------------------------------------------- */

/* Those after which all ranks of the group hold the same. */
static bool leaves_the_same(const char *name)
{
    static const char *const apis[] = {"all_reduce", "all_gather", "all_gather_into_tensor",
                                       "broadcast", "_all_gather_base"};
    struct tdc_comm_api api = tdc_comm_api_of(name);
    for (size_t i = 0; i < sizeof apis / sizeof *apis; i++)
        if (strlen(apis[i]) == api.length && memcmp(apis[i], api.text, api.length) == 0)
            return true;
    return false;
}

/* What of a rank's calls is worth knowing: the members of the group, and how many calls of the API
 * it had in that group before. */
struct groups {
    struct tdc_name_table calls; /* entry names */
    const char **keys;           /* by call: "all_reduce 0,1 3"; NULL: had not ended */
    size_t capacity;
    struct tdc_name_table counted; /* "all_reduce 0,1" */
    uint32_t *counts;
    size_t count_capacity;
    struct tdc_arena *arena;
    struct tdc_text text;
    uint64_t async;
};

static bool is_true(const struct tdc_json *argument)
{
    const struct tdc_json *value = tdc_json_get(argument, "value");
    return value != NULL && value->kind == TDC_JSON_TRUE;
}

/* "all_reduce 0,1", or "all_reduce" for a group that is not recorded: all ranks. */
static void describe_group(struct groups *groups, const char *name, const struct tdc_json *call)
{
    struct tdc_comm_api api = tdc_comm_api_of(name);
    const struct tdc_json *keywords = tdc_json_get(call, "input_kwargs");
    const struct tdc_json *ranks = tdc_json_get(tdc_json_get(keywords, "group"), "group_ranks");
    tdc_text_clear(&groups->text);
    tdc_text_add(&groups->text, api.text, api.length);
    if (ranks == NULL || ranks->kind != TDC_JSON_LIST)
        return;
    char separator = ' ';
    for (const struct tdc_json *rank = ranks->child; rank != NULL; rank = rank->next) {
        if (rank->kind != TDC_JSON_INTEGER)
            continue;
        tdc_text_addc(&groups->text, separator);
        tdc_text_addf(&groups->text, "%.0f", rank->number);
        separator = ',';
    }
}

static bool make_room(void **array, size_t *capacity, size_t index, size_t size)
{
    if (index < *capacity)
        return true;
    size_t larger = *capacity != 0 ? 2 * *capacity : 256;
    void *grown = realloc(*array, larger * size);
    if (grown == NULL)
        return false;
    memset((char *)grown + *capacity * size, 0, (larger - *capacity) * size);
    *array = grown;
    *capacity = larger;
    return true;
}

static tdc_status see_call(void *context, const char *name, size_t length,
                           const struct tdc_json *call)
{
    struct groups *groups = context;
    if (!tdc_comm_is_call(name) || !leaves_the_same(name))
        return TDC_OK;
    bool fresh;
    const char *kept = tdc_arena_text(groups->arena, name, length);
    uint32_t number =
        kept != NULL ? tdc_names_put(&groups->calls, kept, length, &fresh) : TDC_NAME_NONE;
    if (number == TDC_NAME_NONE ||
        !make_room((void **)&groups->keys, &groups->capacity, number, sizeof *groups->keys))
        return TDC_ERR_MEMORY;
    describe_group(groups, name, call);
    const char *group =
        tdc_arena_text(groups->arena, tdc_text_get(&groups->text), groups->text.length);
    uint32_t counted = group != NULL
                           ? tdc_names_put(&groups->counted, group, groups->text.length, &fresh)
                           : TDC_NAME_NONE;
    if (counted == TDC_NAME_NONE || !make_room((void **)&groups->counts, &groups->count_capacity,
                                               counted, sizeof *groups->counts))
        return TDC_ERR_MEMORY;
    tdc_text_addf(&groups->text, " %u", groups->counts[counted]++);
    if (is_true(tdc_json_get(tdc_json_get(call, "input_kwargs"), "async_op"))) {
        groups->async++;
        groups->keys[number] = NULL;
        return groups->text.failed ? TDC_ERR_MEMORY : TDC_OK;
    }
    groups->keys[number] =
        tdc_arena_text(groups->arena, tdc_text_get(&groups->text), groups->text.length);
    return groups->keys[number] == NULL || groups->text.failed ? TDC_ERR_MEMORY : TDC_OK;
}

static void groups_free(struct groups *groups)
{
    tdc_names_free(&groups->calls);
    tdc_names_free(&groups->counted);
    tdc_text_free(&groups->text);
    free(groups->keys);
    free(groups->counts);
}

/* ---- slots ----------------------------------------------------------------------------------- */

static void describe_statistics(const struct tdc_record *record, struct tdc_text *text)
{
    for (int i = 0; i < TDC_STATISTICS; i++) {
        switch (record->stat_kinds[i]) {
        case TDC_STAT_FLOAT:
        case TDC_STAT_INTEGER:
            tdc_text_addf(text, " %a", record->stats[i].number);
            break;
        case TDC_STAT_FALSE:
        case TDC_STAT_TRUE:
            tdc_text_addf(text, " %d", record->stat_kinds[i] == TDC_STAT_TRUE);
            break;
        default:
            tdc_text_addf(text, " %s", record->stats[i].text);
        }
    }
}

static bool has_statistics(const struct tdc_record *record)
{
    for (int i = 0; i < TDC_STATISTICS; i++)
        if (record->stat_kinds[i] != TDC_STAT_TEXT || strcmp(record->stats[i].text, "N/A") != 0)
            return true;
    return false;
}

/* Adds a slot for the record under the key; false when out of memory. */
static bool add_slot(struct tdc_ranks *ranks, uint32_t rank, const struct tdc_record *record,
                     uint32_t order, tdc_shared_kind kind, const char *key)
{
    if (!make_room((void **)&ranks->slots, &ranks->slot_capacity, ranks->slot_count,
                   sizeof *ranks->slots))
        return false;
    bool fresh,
        valued = tdc_record_has_file(record) || record->digest_given || has_statistics(record);
    struct tdc_text text;
    tdc_text_init(&text, TEXT_LIMIT);
    tdc_text_addf(&text, "%s %s", record->dtype, record->shape);
    if (tdc_record_has_file(record))
        tdc_text_adds(&text, " file");
    else if (record->digest_given)
        tdc_text_addf(&text, " %s", record->digest);
    else
        describe_statistics(record, &text);
    size_t length = strlen(key);
    const char *kept = tdc_arena_text(&ranks->arena, key, length);
    struct tdc_slot *slot = &ranks->slots[ranks->slot_count];
    *slot = (struct tdc_slot){
        .key = kept != NULL ? tdc_names_put(&ranks->keys, kept, length, &fresh) : TDC_NAME_NONE,
        .rank = rank,
        .value = TDC_NO_VALUE,
        .order = order,
        .kind = (uint8_t)kind,
        .bytes = tdc_record_bytes(record),
        .name = tdc_arena_text(&ranks->arena, record->name, strlen(record->name)),
        .description = tdc_arena_text(&ranks->arena, tdc_text_get(&text), text.length),
    };
    if (tdc_record_has_file(record))
        slot->file = tdc_arena_text(&ranks->arena, record->data_name, strlen(record->data_name));
    bool done = slot->key != TDC_NAME_NONE && slot->name != NULL && slot->description != NULL &&
                (!tdc_record_has_file(record) || slot->file != NULL) && !text.failed;
    tdc_text_free(&text);
    ranks->slot_count += done && valued;
    ranks->counts.no_value += done && !valued;
    return done;
}

static bool add_record(struct tdc_ranks *ranks, uint32_t rank, const struct tdc_dump *dump,
                       size_t index, const struct groups *groups, struct tdc_text *key)
{
    const struct tdc_record *record = &dump->records[index];
    const char *entry = dump->entries[record->entry].name;
    if (record->scalar)
        return true;
    if (record->state == TDC_STATE_PARAMETERS)
        return add_slot(ranks, rank, record, (uint32_t)index, TDC_SHARED_PARAMETER, record->name);
    if (record->state != TDC_STATE_OUTPUT)
        return true;
    uint32_t call = tdc_names_find(&groups->calls, entry, strlen(entry));
    if (call == TDC_NAME_NONE || groups->keys[call] == NULL)
        return true;
    tdc_text_clear(key);
    tdc_text_addf(key, "%s%s", groups->keys[call], record->name + strlen(entry));
    return !key->failed &&
           add_slot(ranks, rank, record, (uint32_t)index, TDC_SHARED_COLLECTIVE, tdc_text_get(key));
}

tdc_status tdc_slots_load(struct tdc_ranks *ranks, uint32_t rank, const struct tdc_options *options,
                          struct tdc_error *error)
{
    (void)options;
    struct groups groups = {.arena = &ranks->arena};
    const struct tdc_members members = {.inside = "data", .visit = see_call, .context = &groups};
    struct tdc_text key;
    struct tdc_dump *dump = NULL;
    tdc_names_init(&groups.calls);
    tdc_names_init(&groups.counted);
    tdc_text_init(&groups.text, TEXT_LIMIT);
    tdc_text_init(&key, TEXT_LIMIT);
    char *path = tdc_path_join(ranks->dumps.ranks[rank].folder, "dump.json");
    tdc_status status = path != NULL ? tdc_members_walk(path, &members, error) : TDC_ERR_MEMORY;
    if (status == TDC_OK)
        status = tdc_dump_load(path, &dump, error);
    for (size_t i = 0; status == TDC_OK && i < dump->record_count; i++)
        if (!add_record(ranks, rank, dump, i, &groups, &key))
            status = TDC_ERR_MEMORY;
    if (status == TDC_OK && (ranks->data_folders[rank] = strdup(dump->data_folder)) == NULL)
        status = TDC_ERR_MEMORY;
    if (status == TDC_ERR_MEMORY)
        tdc_fail(error, status, "%s: out of memory", ranks->dumps.ranks[rank].folder);
    ranks->counts.async += groups.async;
    tdc_dump_free(dump);
    tdc_text_free(&key);
    groups_free(&groups);
    free(path);
    return status;
}
