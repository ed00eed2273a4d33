#include "host/graph/files/fx_tree.h"

#include <stdlib.h>
#include <string.h>

#include "host/graph/files/arena_list.h"
#include "host/graph/files/say.h"
#include "io/base/error.h"
#include "io/base/text.h"

#define LONGEST_TOKEN 11u /* digits; what is longer is a time */

struct search {
    struct tdc_arena *arena;
    const struct tdc_options *options;
    struct tdc_fx_tree *tree;
    struct tdc_error *error;
    const char **levels; /* folders whose folders are tokens */
    size_t level_count, level_room;
};

static tdc_status out_of_memory(const struct search *search, const char *path)
{
    return tdc_fail(search->error, TDC_ERR_MEMORY, "%s: out of memory", path);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* "0.20240125031118787351.npy" or "0.3.2024...npy" behind the word: one number or two, and the
 * rest. */
static void take_numbers(const char *text, struct tdc_fx_array *array)
{
    uint64_t *numbers[] = {&array->argument, &array->element};
    for (size_t i = 0; i < 2; i++) {
        const char *dot = strchr(text, '.');
        /* the time, which the ending follows, is no index */
        if (dot == NULL || !tdc_all_digits(text, (size_t)(dot - text)) ||
            (i == 1 && strcmp(dot, ".npy") == 0))
            break;
        *numbers[i] = tdc_folder_number(text, (size_t)(dot - text));
        text = dot + 1;
    }
    array->rest = text;
}

static struct tdc_fx_node *node_of(struct search *search, struct tdc_fx_token *token,
                                   const char *name, size_t length)
{
    bool fresh;
    uint32_t number = tdc_names_find(&token->names, name, length);
    if (number != TDC_NAME_NONE)
        return &token->nodes[number];
    const char *kept = tdc_arena_text(search->arena, name, length);
    if (kept == NULL ||
        !tdc_arena_grow(search->arena, (void **)&token->nodes, token->count, sizeof *token->nodes,
                        &token->room) ||
        tdc_names_put(&token->names, kept, length, &fresh) == TDC_NAME_NONE)
        return NULL;
    token->nodes[token->count] = (struct tdc_fx_node){.name = kept};
    return &token->nodes[token->count++];
}

static tdc_status take_file(struct search *search, const char *folder, const char *name,
                            struct tdc_fx_token *token)
{
    static const char input[] = ".INPUT.", output[] = ".OUTPUT.";
    const char *in = strstr(name, input), *out = strstr(name, output);
    const char *mark = in != NULL ? in : out;
    struct tdc_fx_array array = {.path = tdc_folder_path(search->arena, folder, name)};
    if (array.path == NULL)
        return out_of_memory(search, folder);
    if (mark == NULL) {
        tdc_say(search->options, TDC_MESSAGE_WARNING,
                "%s: neither an input nor an output by its name, it is left out", array.path);
        return TDC_OK;
    }
    take_numbers(mark + (in != NULL ? sizeof input : sizeof output) - 1, &array);
    size_t list = in == NULL;
    struct tdc_fx_node *node = node_of(search, token, name, (size_t)(mark - name));
    if (node == NULL || !tdc_arena_grow(search->arena, (void **)&node->arrays[list],
                                        node->counts[list], sizeof array, &node->rooms[list]))
        return out_of_memory(search, folder);
    array.rest = tdc_arena_text(search->arena, array.rest, strlen(array.rest));
    if (array.rest == NULL)
        return out_of_memory(search, folder);
    node->arrays[list][node->counts[list]++] = array;
    return TDC_OK;
}

static int by_numbers(const void *left, const void *right)
{
    const struct tdc_fx_array *a = left, *b = right;
    if (a->argument != b->argument)
        return a->argument < b->argument ? -1 : 1;
    if (a->element != b->element)
        return a->element < b->element ? -1 : 1;
    return strcmp(a->rest, b->rest);
}

static void order_arrays(const struct search *search, struct tdc_fx_node *node)
{
    for (size_t list = 0; list < 2; list++) {
        struct tdc_fx_array *arrays = node->arrays[list];
        if (node->counts[list] > 1)
            qsort(arrays, node->counts[list], sizeof *arrays, by_numbers);
        for (size_t i = 1; i < node->counts[list]; i++) {
            arrays[i].repeated = arrays[i].argument == arrays[i - 1].argument &&
                                 arrays[i].element == arrays[i - 1].element;
            if (arrays[i].repeated)
                tdc_say(search->options, TDC_MESSAGE_WARNING, "two files of one %s: %s, %s",
                        list == 0 ? "input" : "output", arrays[i - 1].path, arrays[i].path);
        }
    }
}

/* The npy files of a folder become a token of a graph; a folder without any is none. */
static tdc_status take_token(struct search *search, const char *path, uint64_t number,
                             struct tdc_fx_graph *graph)
{
    struct tdc_folder folder;
    struct tdc_fx_token token = {.token = number};
    tdc_names_init(&token.names);
    tdc_status status = tdc_folder_read(search->arena, path, &folder, search->error);
    for (size_t i = 0; i < folder.count && status == TDC_OK; i++)
        if (!folder.entries[i].folder && tdc_ends_in(folder.entries[i].name, ".npy"))
            status = take_file(search, path, folder.entries[i].name, &token);
    for (size_t i = 0; i < token.count; i++)
        order_arrays(search, &token.nodes[i]);
    if (status == TDC_OK && token.count != 0 &&
        !tdc_arena_grow(search->arena, (void **)&graph->tokens, graph->count, sizeof token,
                        &graph->room))
        status = out_of_memory(search, path);
    if (status == TDC_OK && token.count != 0)
        graph->tokens[graph->count++] = token;
    else
        tdc_names_free(&token.names);
    return status;
}

/* ---- folders --------------------------------------------------------------------------------- */

static struct tdc_fx_graph *graph_at(struct search *search, size_t index)
{
    struct tdc_fx_tree *tree = search->tree;
    while (tree->count <= index) {
        if (!tdc_arena_grow(search->arena, (void **)&tree->graphs, tree->count,
                            sizeof *tree->graphs, &tree->room))
            return NULL;
        tree->graphs[tree->count++] = (struct tdc_fx_graph){0};
    }
    return &tree->graphs[index];
}

static bool is_token_level(const struct tdc_folder *folder)
{
    for (size_t i = 0; i < folder->count; i++) {
        size_t length = strlen(folder->entries[i].name);
        if (folder->entries[i].folder &&
            (length > LONGEST_TOKEN || !tdc_all_digits(folder->entries[i].name, length)))
            return false;
    }
    return folder->folders != 0;
}

static tdc_status find_levels(struct search *search, const char *path, unsigned depth)
{
    struct tdc_folder folder;
    tdc_status status = tdc_folder_read(search->arena, path, &folder, search->error);
    if (status != TDC_OK)
        return depth == 0 || status == TDC_ERR_MEMORY ? status : TDC_OK;
    if (is_token_level(&folder)) {
        if (!tdc_arena_grow(search->arena, (void **)&search->levels, search->level_count,
                            sizeof *search->levels, &search->level_room))
            return out_of_memory(search, path);
        search->levels[search->level_count++] = path;
        return TDC_OK;
    }
    for (size_t i = 0; i < folder.count && status == TDC_OK && depth < TDC_FOLDER_DEPTH; i++) {
        if (!folder.entries[i].folder)
            continue;
        const char *below = tdc_folder_path(search->arena, path, folder.entries[i].name);
        status =
            below != NULL ? find_levels(search, below, depth + 1) : out_of_memory(search, path);
    }
    return status;
}

/* Tokens with their files directly inside: one graph. */
static tdc_status take_level(struct search *search, const char *path)
{
    struct tdc_folder folder;
    struct tdc_fx_graph *graph = graph_at(search, search->tree->count);
    tdc_status status = graph != NULL ? tdc_folder_read(search->arena, path, &folder, search->error)
                                      : out_of_memory(search, path);
    if (status != TDC_OK)
        return status;
    for (size_t i = 0; i < folder.count && status == TDC_OK; i++) {
        const char *name = folder.entries[i].name;
        const char *below = tdc_folder_path(search->arena, path, name);
        if (below == NULL)
            status = out_of_memory(search, path);
        else if (folder.entries[i].folder)
            status = take_token(search, below, tdc_folder_number(name, strlen(name)), graph);
    }
    return status;
}

/* The folders inside a token, in the order of their names, belong to the graphs in theirs. Returns
 * how many there are. */
static tdc_status take_graphs(struct search *search, const char *path, uint64_t token,
                              size_t *count)
{
    struct tdc_folder folder;
    tdc_status status = tdc_folder_read(search->arena, path, &folder, search->error);
    *count = 0;
    for (size_t i = 0; i < folder.count && status == TDC_OK; i++) {
        if (!folder.entries[i].folder)
            continue;
        const char *below = tdc_folder_path(search->arena, path, folder.entries[i].name);
        struct tdc_fx_graph *graph = graph_at(search, *count);
        status = below != NULL && graph != NULL ? take_token(search, below, token, graph)
                                                : out_of_memory(search, path);
        ++*count;
    }
    return status;
}

static void free_graph(struct tdc_fx_graph *graph)
{
    for (size_t i = 0; i < graph->count; i++)
        tdc_names_free(&graph->tokens[i].names);
}

/* The older layout: a folder for each graph inside each token, the first of which is 1. */
static tdc_status take_old_level(struct search *search, const char *path)
{
    struct tdc_folder folder;
    size_t least = SIZE_MAX, most = 0;
    tdc_status status = tdc_folder_read(search->arena, path, &folder, search->error);
    for (size_t i = 0; i < folder.count && status == TDC_OK; i++) {
        const char *name = folder.entries[i].name;
        const char *below = tdc_folder_path(search->arena, path, name);
        uint64_t number = tdc_folder_number(name, strlen(name));
        size_t count = 0;
        if (below == NULL)
            return out_of_memory(search, path);
        if (!folder.entries[i].folder)
            continue;
        status = take_graphs(search, below, number != 0 ? number - 1 : 0, &count);
        least = count < least ? count : least;
        most = count > most ? count : most;
    }
    if (status == TDC_OK && most == 0)
        return take_level(search, path);
    if (status == TDC_OK && least != most)
        tdc_say(search->options, TDC_MESSAGE_WARNING,
                "%s: %zu to %zu graphs in its tokens, the first %zu are compared", path, least,
                most, least);
    while (status == TDC_OK && search->tree->count > least)
        free_graph(&search->tree->graphs[--search->tree->count]);
    return status;
}

/* No token in sight: all is of token 0. */
static tdc_status take_single(struct search *search, const char *root)
{
    size_t count;
    tdc_status status = take_graphs(search, root, 0, &count);
    if (status != TDC_OK || count != 0)
        return status;
    struct tdc_fx_graph *graph = graph_at(search, 0);
    return graph != NULL ? take_token(search, root, 0, graph) : out_of_memory(search, root);
}

static int by_token(const void *left, const void *right)
{
    const struct tdc_fx_token *a = left, *b = right;
    return a->token < b->token ? -1 : a->token > b->token;
}

tdc_status tdc_fx_tree_find(struct tdc_arena *arena, const char *root, bool ranked,
                            const struct tdc_options *options, struct tdc_fx_tree *tree,
                            struct tdc_error *error)
{
    struct search search = {.arena = arena, .options = options, .tree = tree, .error = error};
    *tree = (struct tdc_fx_tree){0};
    tdc_status status = find_levels(&search, root, 0);
    if (status == TDC_OK && search.level_count == 0)
        status = take_single(&search, root);
    else if (status == TDC_OK && !ranked)
        status = take_old_level(&search, search.levels[0]);
    for (size_t i = 0; i < search.level_count && status == TDC_OK && ranked; i++)
        status = take_level(&search, search.levels[i]);
    for (size_t i = 0; i < tree->count; i++)
        if (tree->graphs[i].count > 1)
            qsort(tree->graphs[i].tokens, tree->graphs[i].count, sizeof *tree->graphs[i].tokens,
                  by_token);
    return status;
}

void tdc_fx_tree_free(struct tdc_fx_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++)
        free_graph(&tree->graphs[i]);
    *tree = (struct tdc_fx_tree){0};
}

const struct tdc_fx_node *tdc_fx_token_find(const struct tdc_fx_token *token, const char *node)
{
    uint32_t number = tdc_names_find(&token->names, node, strlen(node));
    return number != TDC_NAME_NONE ? &token->nodes[number] : NULL;
}

const struct tdc_fx_token *tdc_fx_graph_find(const struct tdc_fx_graph *graph, uint64_t token)
{
    for (size_t i = 0; i < graph->count; i++)
        if (graph->tokens[i].token == token)
            return &graph->tokens[i];
    return NULL;
}
