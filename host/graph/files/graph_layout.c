#include "host/graph/files/graph_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/graph/files/arena_list.h"
#include "host/graph/files/say.h"
#include "io/base/error.h"
#include "io/base/text.h"

#define TEXT_DEPTH   6u /* folders below which no graph text is looked for */
#define SEARCH_LIMIT ((size_t)1 << 30)

/* ---- graph texts ----------------------------------------------------------------------------- */

struct found_text {
    const char *path;
    uint64_t number; /* of the graph */
    size_t order;    /* in which it was found */
};

struct text_search {
    struct tdc_arena *arena;
    const char *part; /* of the name, "" for any: "rank_3_" */
    struct found_text *texts;
    size_t count, room;
    bool one_is_enough;
};

/* dynamo_original_graph_1_rank_0_pid_77_ts_20250402100000000000.txt */
static bool is_graph_text(const char *name, const char *part, uint64_t *number)
{
    static const char start[] = "dynamo_original_graph_";
    if (strncmp(name, start, strlen(start)) != 0 || !tdc_ends_in(name, ".txt") ||
        strstr(name, part) == NULL)
        return false;
    const char *digits = name + strcspn(name, "0123456789");
    *number = tdc_folder_number(digits, strspn(digits, "0123456789"));
    return *digits != '\0';
}

static tdc_status search_texts(struct text_search *search, const char *path, unsigned depth,
                               struct tdc_error *error)
{
    struct tdc_folder folder;
    tdc_status status = tdc_folder_read(search->arena, path, &folder, error);
    if (status != TDC_OK)
        return depth == 0 || status == TDC_ERR_MEMORY ? status : TDC_OK;
    for (int folders = 0; folders < 2; folders++) /* files first, as the old tools go */
        for (size_t i = 0; i < folder.count && status == TDC_OK; i++) {
            const struct tdc_folder_entry *entry = &folder.entries[i];
            struct found_text text = {.order = search->count};
            if (entry->folder != (folders == 1) || (entry->folder && depth == TEXT_DEPTH) ||
                (!entry->folder && !is_graph_text(entry->name, search->part, &text.number)))
                continue;
            if (search->one_is_enough && search->count != 0)
                return TDC_OK;
            text.path = tdc_folder_path(search->arena, path, entry->name);
            if (text.path == NULL || !tdc_arena_grow(search->arena, (void **)&search->texts,
                                                     search->count, sizeof text, &search->room))
                return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
            if (entry->folder)
                status = search_texts(search, text.path, depth + 1, error);
            else
                search->texts[search->count++] = text;
        }
    return status;
}

static int by_number(const void *left, const void *right)
{
    const struct found_text *a = left, *b = right;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

tdc_status tdc_graph_text_exists(const char *path, bool *exists, struct tdc_error *error)
{
    struct tdc_arena arena;
    struct text_search search = {.arena = &arena, .part = "", .one_is_enough = true};
    tdc_arena_init(&arena, SEARCH_LIMIT);
    tdc_status status = search_texts(&search, path, 0, error);
    *exists = search.count != 0;
    tdc_arena_free(&arena);
    return status == TDC_ERR_MEMORY ? status : TDC_OK;
}

bool tdc_has_graph_text(const char *path)
{
    bool exists;
    struct tdc_error error;
    return tdc_graph_text_exists(path, &exists, &error) == TDC_OK && exists;
}

static tdc_status take_texts(struct tdc_arena *arena, const char *root, struct tdc_graph_rank *rank,
                             struct tdc_error *error)
{
    char part[48] = "";
    if (rank->rank >= 0)
        snprintf(part, sizeof part, "rank_%ld_", rank->rank);
    struct text_search search = {.arena = arena, .part = part};
    tdc_status status = search_texts(&search, root, 0, error);
    if (status != TDC_OK)
        return status;
    if (search.count == 0)
        return tdc_fail(error, TDC_ERR_NOT_FOUND,
                        "Can not get ge graph, Please check whether the input path contains "
                        "graph.");
    qsort(search.texts, search.count, sizeof *search.texts, by_number);
    rank->texts = tdc_arena_zeroed(arena, search.count, sizeof *rank->texts);
    if (rank->texts == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", root);
    for (size_t i = 0; i < search.count; i++)
        rank->texts[i] = search.texts[i].path;
    rank->text_count = search.count;
    return TDC_OK;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* worldsize8_global_rank3; -1 for any other name. */
static long rank_of(const struct tdc_folder_entry *entry)
{
    const char *name = entry->name, *last = NULL;
    if (!entry->folder || strncmp(name, "worldsize", strlen("worldsize")) != 0)
        return -1;
    for (const char *at = strstr(name, "rank"); at != NULL; at = strstr(at + 1, "rank"))
        last = at + strlen("rank");
    if (last == NULL || !tdc_all_digits(last, strlen(last)) || strlen(last) > 9)
        return -1;
    return strtol(last, NULL, 10);
}

/* The last folder of the rank, by name; NULL: none. */
static const char *folder_of_rank(const struct tdc_folder *folder, long rank)
{
    const char *name = NULL;
    for (size_t i = 0; i < folder->count; i++)
        if (rank_of(&folder->entries[i]) == rank)
            name = folder->entries[i].name;
    return name;
}

static bool has_ranks(const struct tdc_folder *folder)
{
    for (size_t i = 0; i < folder->count; i++)
        if (rank_of(&folder->entries[i]) >= 0)
            return true;
    return false;
}

static tdc_status add_rank(struct tdc_arena *arena, struct tdc_graph_layout *layout,
                           const struct tdc_graph_rank *rank, struct tdc_error *error)
{
    if (rank->mine == NULL || rank->golden == NULL ||
        !tdc_arena_grow(arena, (void **)&layout->ranks, layout->count, sizeof *rank, &layout->room))
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    layout->ranks[layout->count++] = *rank;
    return TDC_OK;
}

static int by_rank(const void *left, const void *right)
{
    const struct tdc_graph_rank *a = left, *b = right;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static bool has_rank(const struct tdc_graph_layout *layout, long rank)
{
    for (size_t i = 0; i < layout->count; i++)
        if (layout->ranks[i].rank == rank)
            return true;
    return false;
}

struct ranked_sides {
    struct tdc_arena *arena;
    const char *paths[2]; /* golden, mine */
    struct tdc_folder folders[2];
    const struct tdc_options *options;
};

static tdc_status add_common(const struct ranked_sides *sides, long wanted,
                             struct tdc_graph_layout *layout, struct tdc_error *error)
{
    tdc_status status = TDC_OK;
    const struct tdc_folder *mine = &sides->folders[1];
    for (size_t i = 0; i < mine->count && status == TDC_OK; i++) {
        struct tdc_graph_rank rank = {.rank = rank_of(&mine->entries[i])};
        if (rank.rank < 0 || (wanted >= 0 && rank.rank != wanted) || has_rank(layout, rank.rank))
            continue;
        const char *golden = folder_of_rank(&sides->folders[0], rank.rank);
        if (golden == NULL && wanted < 0) {
            tdc_say(sides->options, TDC_MESSAGE_WARNING, "%s/%s has no counterpart, it is left out",
                    sides->paths[1], mine->entries[i].name);
            continue;
        }
        if (golden == NULL)
            return tdc_fail(error, TDC_ERR_NOT_FOUND, "Can not get golden data in rank %ld",
                            wanted);
        rank.golden = tdc_folder_path(sides->arena, sides->paths[0], golden);
        rank.mine = tdc_folder_path(sides->arena, sides->paths[1], folder_of_rank(mine, rank.rank));
        status = add_rank(sides->arena, layout, &rank, error);
    }
    return status;
}

static tdc_status find_ranks(const struct ranked_sides *sides, long wanted,
                             struct tdc_graph_layout *layout, struct tdc_error *error)
{
    bool golden_has = wanted >= 0 && folder_of_rank(&sides->folders[0], wanted) != NULL;
    tdc_status status = add_common(sides, wanted, layout, error);
    if (status != TDC_OK || layout->count != 0) {
        if (layout->count > 1)
            qsort(layout->ranks, layout->count, sizeof *layout->ranks, by_rank);
        return status;
    }
    if (wanted >= 0)
        return tdc_fail(error, TDC_ERR_NOT_FOUND, "Can not get %s data in rank %ld",
                        golden_has ? "my" : "golden", wanted);
    return tdc_fail(error, TDC_ERR_NOT_FOUND, "No common rank data in golden_path and my_path.");
}

tdc_status tdc_graph_layout_find(struct tdc_arena *arena, const char *mine, const char *golden,
                                 long rank, const struct tdc_options *options,
                                 struct tdc_graph_layout *layout, struct tdc_error *error)
{
    struct ranked_sides sides = {.arena = arena, .paths = {golden, mine}, .options = options};
    bool ge;
    *layout = (struct tdc_graph_layout){0};
    tdc_status status = tdc_graph_text_exists(golden, &ge, error);
    layout->fx = !ge;
    if (status == TDC_OK)
        status = tdc_folder_read(arena, mine, &sides.folders[1], error);
    if (status == TDC_OK)
        status = tdc_folder_read(arena, golden, &sides.folders[0], error);
    if (status != TDC_OK)
        return status;
    layout->ranked = has_ranks(&sides.folders[1]);
    if (!layout->ranked && rank >= 0)
        tdc_say(options, TDC_MESSAGE_WARNING,
                "The directory structure of torchair data is old, the rank parameter will not "
                "take effect.");
    struct tdc_graph_rank only = {.rank = -1, .mine = mine, .golden = golden};
    status = layout->ranked ? find_ranks(&sides, rank, layout, error)
                            : add_rank(arena, layout, &only, error);
    for (size_t i = 0; i < layout->count && status == TDC_OK; i++)
        status = take_texts(arena, mine, &layout->ranks[i], error);
    return status;
}
