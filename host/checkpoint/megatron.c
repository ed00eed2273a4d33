/* megatron.c - finding the files of a Megatron checkpoint and numbering its layers as a whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/checkpoint/checkpoint.h"
#include "io/base/error.h"
#include "io/file/file_map.h"
#include "io/storage/looking.h"
#include "io/storage/storage_calls.h"

#define ARENA_LIMIT   ((size_t)4 << 30)
#define DEPTH_LIMIT   64
#define RANK_LIMIT    1024
#define TRACKER_LIMIT ((size_t)1 << 20)

struct loading {
    const struct tdc_checkpoint_options *options;
    struct tdc_checkpoint *checkpoint;
    struct tdc_error *error;
    char *folder; /* of the iteration */
    int64_t tp, pp, ep, experts;
    uint64_t layers; /* of a stage; 0: not known yet */
    /* the parts of one stage, while its ranks are read: names with "/STAGE" behind them */
    struct tdc_name_table names;
    struct slot {
        const char *name;
        struct tdc_tensor *parts;
        size_t count;
        const char *file;
    } * slots;
    size_t slot_room;
};

/* ---- the folder ------------------------------------------------------------------------------ */

static tdc_status no_memory(struct loading *loading)
{
    return tdc_fail(loading->error, TDC_ERR_MEMORY, "out of memory");
}

/* The folder of an iteration that a tracker file names, or the folder itself. */
static tdc_status find_iteration(struct loading *loading, const char *folder)
{
    char *tracker;
    if (asprintf(&tracker, "%s/latest_checkpointed_iteration.txt", folder) < 0)
        return no_memory(loading);
    char word[32] = "", *text;
    size_t size;
    tdc_status status = tdc_file_load(tracker, TRACKER_LIMIT, &text, &size, loading->error);
    free(tracker);
    if (status == TDC_ERR_NO_ANSWER)
        return status;
    bool tracked = status == TDC_OK && sscanf(text, "%31s", word) == 1;
    free(text);
    uint64_t iteration = 0;
    bool number = word[0] != '\0' && word[strspn(word, "0123456789")] == '\0' && strlen(word) < 10;
    if (number)
        iteration = strtoull(word, NULL, 10);
    int made;
    if (!tracked)
        made = asprintf(&loading->folder, "%s", folder);
    else if (number)
        made = asprintf(&loading->folder, "%s/iter_%07llu", folder, (unsigned long long)iteration);
    else if (strcmp(word, "release") == 0)
        made = asprintf(&loading->folder, "%s/release", folder);
    else
        return tdc_fail(loading->error, TDC_ERR_FORMAT,
                        "The latest_checkpointed_iteration is supposed to be `release` or an int. "
                        "But %s is found.",
                        word);
    if (made < 0) {
        loading->folder = NULL;
        return no_memory(loading);
    }
    const char *named = strstr(folder, "iter_");
    if (!tracked && named != NULL && strspn(named + 5, "0123456789") >= 7) {
        number = true;
        iteration = strtoull(named + 5, NULL, 10);
    }
    if (number)
        tdc_checkpoint_say(loading->options, TDC_MESSAGE_INFO,
                           "Loaded checkpoint from iteration %llu", (unsigned long long)iteration);
    else
        tdc_checkpoint_say(loading->options, TDC_MESSAGE_INFO,
                           "Loaded checkpoint from iteration None");
    if (!tdc_is_there(loading->folder))
        return tdc_fail(loading->error, TDC_ERR_NOT_FOUND, "Checkpoint directory not found: %s",
                        loading->folder);
    return TDC_OK;
}

/* The least name of a folder of a rank; false if there is none. */
static bool first_rank(const char *folder, char name[256])
{
    struct tdc_listing listing;
    (void)tdc_storage_list(folder, &listing);
    name[0] = '\0';
    for (size_t i = 0; i < listing.count; i++)
        if (strncmp(listing.names[i], "mp_rank_", 8) == 0 &&
            (name[0] == '\0' || strcmp(listing.names[i], name) < 0))
            snprintf(name, 256, "%s", listing.names[i]);
    tdc_listing_free(&listing);
    return name[0] != '\0';
}

/* ---- files ----------------------------------------------------------------------------------- */

static tdc_status open_file(struct loading *loading, const char *rank,
                            struct tdc_saved_state **state)
{
    struct tdc_checkpoint *checkpoint = loading->checkpoint;
    size_t length = strlen(loading->folder) + strlen(rank) + sizeof "//model_optim_rng.pt";
    char *path = tdc_arena_take(&checkpoint->arena, length);
    *state = tdc_arena_zeroed(&checkpoint->arena, 1, sizeof **state);
    if (path == NULL || *state == NULL)
        return no_memory(loading);
    snprintf(path, length, "%s/%s/model_optim_rng.pt", loading->folder, rank);
    if (loading->options->refuse_links && tdc_is_link(path))
        return tdc_fail(loading->error, TDC_ERR_REFUSED, "The file path %s is a soft link.", path);
    tdc_status status = tdc_saved_state_open(path, *state, loading->error);
    if (status != TDC_OK) {
        tdc_saved_state_close(*state);
        return status;
    }
    (*state)->next = checkpoint->states;
    checkpoint->states = *state;
    return TDC_OK;
}

static bool read_size(const struct tdc_saved *settings, const char *name, int64_t *size)
{
    const struct tdc_saved *value = tdc_saved_get(settings, name);
    if (value == NULL || value->kind != TDC_SAVED_INTEGER || value->integer < 1 ||
        value->integer > RANK_LIMIT)
        return false;
    *size = value->integer;
    return true;
}

/* How many ranks there are of each kind, from the settings that any file holds. */
static tdc_status read_sizes(struct loading *loading)
{
    char rank[256];
    if (!first_rank(loading->folder, rank))
        return tdc_fail(loading->error, TDC_ERR_NOT_FOUND,
                        "No checkpoint rank directories found in %s", loading->folder);
    struct tdc_saved_state *state;
    tdc_status status = open_file(loading, rank, &state);
    if (status != TDC_OK)
        return status;
    const struct tdc_saved *settings = tdc_saved_get(state->root, "args");
    const struct tdc_saved *experts = tdc_saved_get(settings, "num_experts");
    if (!read_size(settings, "tensor_model_parallel_size", &loading->tp) ||
        !read_size(settings, "pipeline_model_parallel_size", &loading->pp) ||
        !read_size(settings, "expert_model_parallel_size", &loading->ep))
        return tdc_fail(loading->error, TDC_ERR_FORMAT,
                        "%s: its args do not tell the sizes of the parallel groups", state->path);
    loading->experts = experts != NULL && experts->kind == TDC_SAVED_INTEGER && experts->integer > 0
                           ? experts->integer
                           : 0;
    return TDC_OK;
}

/* ---- the parts of a stage -------------------------------------------------------------------- */

static tdc_status add_part(struct loading *loading, const struct tdc_saved_state *state,
                           const char *name, int stage, const struct tdc_saved *value)
{
    struct tdc_arena *arena = &loading->checkpoint->arena;
    const char *mapped = tdc_checkpoint_name(arena, name);
    size_t length = mapped != NULL ? strlen(mapped) + 16 : 0;
    char *keyed = tdc_arena_take(arena, length);
    if (mapped == NULL || keyed == NULL)
        return no_memory(loading);
    snprintf(keyed, length, "%s/%d", mapped, stage);
    bool fresh;
    uint32_t number = tdc_names_put(&loading->names, keyed, strlen(keyed), &fresh);
    if (number == TDC_NAME_NONE)
        return no_memory(loading);
    if (number >= loading->slot_room) {
        size_t room = loading->slot_room == 0 ? 1024 : loading->slot_room * 2;
        struct slot *grown = reallocarray(loading->slots, room, sizeof *grown);
        if (grown == NULL)
            return no_memory(loading);
        loading->slots = grown;
        loading->slot_room = room;
    }
    struct slot *slot = &loading->slots[number];
    if (fresh)
        *slot = (struct slot){.name = keyed,
                              .parts =
                                  tdc_arena_zeroed(arena, (size_t)loading->tp, sizeof *slot->parts),
                              .file = state->path};
    if (slot->parts == NULL)
        return no_memory(loading);
    if (slot->count == (size_t)loading->tp) /* one name twice in a file: the last one counts */
        slot->count--;
    return tdc_saved_tensor(state, value, &slot->parts[slot->count++], loading->error);
}

static char *join(struct tdc_arena *arena, const char *prefix, const struct tdc_saved *key)
{
    size_t before = strlen(prefix);
    char *name = tdc_arena_take(arena, before + key->length + 2);
    if (name == NULL)
        return NULL;
    memcpy(name, prefix, before);
    size_t dot = before != 0;
    name[before] = '.';
    memcpy(name + before + dot, key->text, key->length);
    char *end = name + before + dot + key->length;
    while (end > name && end[-1] == '.')
        end--;
    *end = '\0';
    return name + strspn(name, ".");
}

/* Every tensor below a dict, its name the keys on the way. */
static tdc_status walk(struct loading *loading, const struct tdc_saved_state *state,
                       const struct tdc_saved *weights, const char *prefix, int stage, int depth)
{
    tdc_status status = TDC_OK;
    for (size_t i = 0; i + 1 < weights->count && status == TDC_OK; i += 2) {
        const struct tdc_saved *key = weights->items[i], *value = weights->items[i + 1];
        if (key->kind != TDC_SAVED_TEXT ||
            (value->kind != TDC_SAVED_DICT && value->kind != TDC_SAVED_TENSOR))
            continue;
        char *name = join(&loading->checkpoint->arena, prefix, key);
        if (name == NULL)
            return no_memory(loading);
        if (value->kind == TDC_SAVED_TENSOR)
            status = add_part(loading, state, name, stage, value);
        else if (depth < DEPTH_LIMIT)
            status = walk(loading, state, value, name, stage, depth + 1);
        else
            status =
                tdc_fail(loading->error, TDC_ERR_UNSUPPORTED, "%s: nested too deep", state->path);
    }
    return status;
}

/* `model`, or `model0`, `model1`, ... with virtual stages. */
static tdc_status add_file(struct loading *loading, const struct tdc_saved_state *state)
{
    const struct tdc_saved *model = tdc_saved_get(state->root, "model");
    if (model != NULL)
        return model->kind == TDC_SAVED_DICT ? walk(loading, state, model, "", 0, 0) : TDC_OK;
    tdc_status status = TDC_OK;
    for (int stage = 0; status == TDC_OK && stage < RANK_LIMIT; stage++) {
        char name[32];
        snprintf(name, sizeof name, "model%d", stage);
        model = tdc_saved_get(state->root, name);
        if (model == NULL)
            break;
        if (model->kind == TDC_SAVED_DICT)
            status = walk(loading, state, model, "", stage, 0);
    }
    return status;
}

static void count_layers(struct loading *loading)
{
    loading->layers = 1;
    for (uint32_t i = 0; i < loading->names.count; i++) {
        uint64_t layer;
        if (tdc_checkpoint_number(loading->slots[i].name, "layers", &layer) &&
            layer + 1 > loading->layers)
            loading->layers = layer + 1;
    }
}

/* The name in the whole model: layers and experts counted over all ranks. */
static const char *whole_name(struct loading *loading, const struct slot *slot, int64_t pp,
                              int64_t ep)
{
    struct tdc_arena *arena = &loading->checkpoint->arena;
    const char *slash = strrchr(slot->name, '/');
    char *name = tdc_arena_text(arena, slot->name, (size_t)(slash - slot->name));
    uint64_t stage = strtoull(slash + 1, NULL, 10), local;
    if (name != NULL && tdc_checkpoint_number(slot->name, "layers", &local))
        name = tdc_checkpoint_renumber(arena, name, "layers", local,
                                       local + ((uint64_t)loading->pp * stage + (uint64_t)pp) *
                                                   loading->layers);
    if (name != NULL && loading->experts != 0 && tdc_checkpoint_number(name, "experts", &local))
        name = tdc_checkpoint_renumber(arena, name, "experts", local,
                                       local + (uint64_t)(ep * (loading->experts / loading->ep)));
    return name;
}

static tdc_status end_stage(struct loading *loading, int64_t pp, int64_t ep)
{
    if (loading->names.count == 0)
        return tdc_fail(loading->error, TDC_ERR_NOT_FOUND, "No state loaded.");
    if (loading->layers == 0)
        count_layers(loading);
    tdc_status status = TDC_OK;
    for (uint32_t i = 0; i < loading->names.count && status == TDC_OK; i++) {
        const struct slot *slot = &loading->slots[i];
        const char *name = whole_name(loading, slot, pp, ep);
        status = name != NULL
                     ? tdc_checkpoint_add(loading->checkpoint, name, slot->parts, slot->count,
                                          slot->file, loading->options, loading->error)
                     : no_memory(loading);
    }
    tdc_names_free(&loading->names);
    tdc_names_init(&loading->names);
    return status;
}

static tdc_status load_stage(struct loading *loading, int64_t pp, int64_t ep)
{
    for (int64_t tp = 0; tp < loading->tp; tp++) {
        char rank[64];
        int used = snprintf(rank, sizeof rank, "mp_rank_%02d", (int)tp);
        if (loading->pp > 1)
            used += snprintf(rank + used, sizeof rank - (size_t)used, "_%03d", (int)pp);
        if (loading->ep > 1)
            snprintf(rank + used, sizeof rank - (size_t)used, "_%03d", (int)ep);
        struct tdc_saved_state *state;
        tdc_status status = open_file(loading, rank, &state);
        if (status == TDC_OK)
            status = add_file(loading, state);
        if (status == TDC_ERR_MEMORY || status == TDC_ERR_REFUSED)
            return status;
        if (status != TDC_OK)
            tdc_checkpoint_say(loading->options, TDC_MESSAGE_WARNING,
                               "Error loading %s/%s/model_optim_rng.pt: %s", loading->folder, rank,
                               loading->error->message);
    }
    return end_stage(loading, pp, ep);
}

tdc_status tdc_checkpoint_load(const char *folder, const struct tdc_checkpoint_options *options,
                               struct tdc_checkpoint *checkpoint, struct tdc_error *error)
{
    struct loading loading = {.options = options, .checkpoint = checkpoint, .error = error};
    *checkpoint = (struct tdc_checkpoint){0};
    tdc_arena_init(&checkpoint->arena, ARENA_LIMIT);
    tdc_names_init(&checkpoint->names);
    tdc_names_init(&loading.names);
    tdc_status status = find_iteration(&loading, folder);
    if (status == TDC_OK)
        status = read_sizes(&loading);
    for (int64_t ep = 0; ep < loading.ep && status == TDC_OK; ep++) {
        loading.layers = 0;
        for (int64_t pp = 0; pp < loading.pp && status == TDC_OK; pp++)
            status = load_stage(&loading, pp, ep);
    }
    if (status == TDC_OK)
        tdc_checkpoint_say(options, TDC_MESSAGE_INFO, "Found %zu total parameters across all ranks",
                           checkpoint->count);
    tdc_names_free(&loading.names);
    free(loading.slots);
    free(loading.folder);
    return status;
}

void tdc_checkpoint_free(struct tdc_checkpoint *checkpoint)
{
    for (struct tdc_saved_state *state = checkpoint->states, *next; state != NULL; state = next) {
        next = state->next;
        tdc_saved_state_close(state);
    }
    tdc_names_free(&checkpoint->names);
    free(checkpoint->parameters);
    tdc_arena_free(&checkpoint->arena);
    *checkpoint = (struct tdc_checkpoint){0};
}
