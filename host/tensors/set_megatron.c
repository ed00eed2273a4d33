/* set_megatron.c - checkpoints of Megatron with one file a rank: mp_rank_TT[_PPP][_EEE]. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/tensors/tensor_set.h"
#include "io/base/error.h"
#include "io/file/file_map.h"
#include "io/storage/looking.h"
#include "io/storage/storage_calls.h"
#include "io/tensor/pickle/saved_state.h"

#define RANK_LIMIT    65536u
#define TRACKER_LIMIT ((size_t)1 << 20)

static const char tracker[] = "latest_checkpointed_iteration.txt";
static const char file_name[] = "model_optim_rng.pt";

struct rank {
    char folder[64];
    unsigned numbers; /* behind mp_rank_ */
    uint32_t number[3];
};

/* "mp_rank_01_003": two digits, then groups of three. */
static bool read_rank(const char *name, struct rank *rank)
{
    static const char word[] = "mp_rank_";
    const char *at = name + sizeof word - 1;
    *rank = (struct rank){.numbers = 0};
    if (strncmp(name, word, sizeof word - 1) != 0 || strlen(name) >= sizeof rank->folder)
        return false;
    memcpy(rank->folder, name, strlen(name) + 1);
    for (unsigned i = 0; i < 3; i++) {
        size_t digits = strspn(at, "0123456789");
        if (digits < (i == 0 ? 2u : 3u) || digits > 5)
            return false;
        rank->number[i] = (uint32_t)strtoul(at, NULL, 10);
        rank->numbers = i + 1;
        at += digits;
        if (*at == '\0')
            return true;
        if (*at++ != '_')
            return false;
    }
    return false;
}

static int by_folder(const void *a, const void *b)
{
    return strcmp(((const struct rank *)a)->folder, ((const struct rank *)b)->folder);
}

/* The ranks of an iteration's folder in order of their names; NULL with *count 0 if there is none
 * or memory is out (*failed). */
static struct rank *find_ranks(const char *folder, size_t *count, bool *failed)
{
    struct rank *ranks = NULL;
    size_t room = 0;
    struct tdc_listing listing;
    (void)tdc_storage_list(folder, &listing); /* one that cannot be read has none */
    *count = 0;
    *failed = false;
    for (size_t i = 0; i < listing.count; i++) {
        struct rank rank;
        if (!read_rank(listing.names[i], &rank) || *count == RANK_LIMIT)
            continue;
        if (*count == room) {
            room = room == 0 ? 16 : room * 2;
            struct rank *grown = realloc(ranks, room * sizeof *grown);
            if (grown == NULL) {
                *failed = true;
                break;
            }
            ranks = grown;
        }
        ranks[(*count)++] = rank;
    }
    tdc_listing_free(&listing);
    if (*count != 0)
        qsort(ranks, *count, sizeof *ranks, by_folder);
    return ranks;
}

static bool has_ranks(const char *folder)
{
    size_t count;
    bool failed;
    free(find_ranks(folder, &count, &failed));
    return count != 0;
}

static bool exists(const char *folder, const char *name)
{
    char path[4400];
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path &&
           tdc_is_there(path);
}

/* "iter_0000005" or "release": the folder of the newest iteration below `folder`. */
static bool newest_iteration(const char *folder, char name[64])
{
    struct tdc_listing listing;
    (void)tdc_storage_list(folder, &listing);
    name[0] = '\0';
    for (size_t i = 0; i < listing.count; i++) {
        const char *entry = listing.names[i], *digits = entry + 5;
        if (strncmp(entry, "iter_", 5) == 0 && strlen(digits) >= 7 && strlen(digits) < 20 &&
            digits[strspn(digits, "0123456789")] == '\0' &&
            (strlen(entry) > strlen(name) || strcmp(entry, name) > 0))
            snprintf(name, 64, "%.60s", entry);
    }
    tdc_listing_free(&listing);
    if (name[0] == '\0' && exists(folder, "release"))
        snprintf(name, 64, "release");
    return name[0] != '\0';
}

bool tdc_is_megatron(const char *folder)
{
    char name[64];
    return exists(folder, tracker) || newest_iteration(folder, name) || has_ranks(folder);
}

/* Which folder the tracker names. */
static tdc_status read_tracker(const struct tdc_tensor_set *set, char name[64],
                               struct tdc_error *error)
{
    char path[4400], word[32] = "";
    snprintf(path, sizeof path, "%s/%s", set->folder, tracker);
    char *text;
    size_t size;
    tdc_status status = tdc_file_load(path, TRACKER_LIMIT, &text, &size, error);
    if (status != TDC_OK)
        return status;
    bool got = sscanf(text, "%31s", word) == 1;
    free(text);
    bool number = got && strlen(word) < 10 && word[strspn(word, "0123456789")] == '\0';
    if (number)
        snprintf(name, 64, "iter_%07lu", strtoul(word, NULL, 10));
    else if (got && strcmp(word, "release") == 0)
        snprintf(name, 64, "release");
    else
        return tdc_fail(error, TDC_ERR_FORMAT, "%s: neither a number nor 'release'", path);
    return TDC_OK;
}

/* The iteration's folder below the set's, "" for itself. */
static tdc_status find_iteration(struct tdc_tensor_set *set, const char **below,
                                 struct tdc_error *error)
{
    char name[64] = "";
    tdc_status status = TDC_OK;
    if (exists(set->folder, tracker))
        status = read_tracker(set, name, error);
    else if (!has_ranks(set->folder))
        newest_iteration(set->folder, name);
    if (status != TDC_OK)
        return status;
    *below = name[0] != '\0' ? tdc_set_text(set, name, "/") : "";
    return *below != NULL ? TDC_OK : tdc_set_no_memory(set, error);
}

/* Of two numbers the second is the pipeline's rank where there is a pipeline, else the expert's. */
static bool has_pipeline(const struct tdc_tensor_set *set)
{
    const struct tdc_saved *state = set->files != NULL ? set->files->list.state : NULL;
    const struct tdc_saved *size =
        tdc_saved_get(tdc_saved_get(state, "args"), "pipeline_model_parallel_size");
    return size != NULL && size->kind == TDC_SAVED_INTEGER && size->integer > 1;
}

static void set_coordinates(struct tdc_tensor_set *set, const struct rank *rank, size_t first)
{
    uint32_t at[TDC_SET_AXES] = {[TDC_SET_TP] = rank->number[0]};
    if (rank->numbers == 3) {
        at[TDC_SET_PP] = rank->number[1];
        at[TDC_SET_EP] = rank->number[2];
    } else if (rank->numbers == 2) {
        at[has_pipeline(set) ? TDC_SET_PP : TDC_SET_EP] = rank->number[1];
    }
    for (size_t i = first; i < set->count; i++)
        memcpy(set->records[i].coordinates, at, sizeof at);
    for (int axis = 0; axis < TDC_SET_AXES; axis++)
        if (at[axis] + 1 > set->sizes[axis])
            set->sizes[axis] = at[axis] + 1;
}

static tdc_status take_rank(struct tdc_tensor_set *set, const char *below, const struct rank *rank,
                            uint32_t number, struct tdc_error *error)
{
    const char *folder = tdc_set_text(set, below, rank->folder);
    struct tdc_set_place place = {
        .folder = folder != NULL ? tdc_set_text(set, folder, "/") : NULL,
        .where = tdc_set_text(set, "", rank->folder),
        .rank = number,
    };
    if (place.folder == NULL || place.where == NULL)
        return tdc_set_no_memory(set, error);
    size_t first = set->count;
    tdc_names_free(&set->names);
    tdc_names_init(&set->names);
    tdc_status status = tdc_set_take_file(set, &place, file_name, false, NULL, error);
    if (status == TDC_OK)
        set_coordinates(set, rank, first);
    return status;
}

tdc_status tdc_set_megatron(struct tdc_tensor_set *set, struct tdc_error *error)
{
    const char *below = NULL;
    tdc_status status = find_iteration(set, &below, error);
    if (status != TDC_OK)
        return status;
    const char *folder = below[0] != '\0' ? tdc_set_path(set, below) : set->folder;
    if (folder == NULL)
        return tdc_set_no_memory(set, error);
    if (exists(folder, ".metadata")) { /* torch_dist: distributed, not one file a rank */
        const struct tdc_set_place place = {.folder = below};
        return tdc_set_distributed(set, &place, error);
    }
    size_t count;
    bool failed;
    struct rank *ranks = find_ranks(folder, &count, &failed);
    if (failed)
        status = tdc_set_no_memory(set, error);
    else if (count == 0)
        status = tdc_fail(error, TDC_ERR_NOTHING, "%s: no folder mp_rank_* in it", folder);
    for (size_t i = 0; i < count && status == TDC_OK; i++)
        status = take_rank(set, below, &ranks[i], (uint32_t)i, error);
    set->ranks = count != 0 ? (uint32_t)count : 1;
    set->meshed = true;
    free(ranks);
    return status;
}
