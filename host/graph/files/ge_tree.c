#include "host/graph/files/ge_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/graph/files/arena_list.h"
#include "host/graph/files/ge_file.h"
#include "host/graph/files/ge_statistics.h"
#include "host/graph/files/say.h"
#include "io/base/error.h"
#include "io/base/text.h"

#define STATISTICS_LIMIT ((size_t)1 << 30)

struct search {
    struct tdc_arena *arena;
    const struct tdc_options *options;
    struct tdc_ge_tree *tree;
    bool several_devices;
    struct tdc_error *error;
};

static tdc_status out_of_memory(const struct search *search, const char *path)
{
    return tdc_fail(search->error, TDC_ERR_MEMORY, "%s: out of memory", path);
}

/* The number a folder above has for a name, `up` levels above the last; 0 when it is none. */
static uint64_t number_above(const char *path, unsigned up)
{
    const char *end = path + strlen(path);
    for (;;) {
        const char *start = end;
        while (start > path && start[-1] != '/')
            start--;
        if (up-- == 0)
            return tdc_folder_number(start, (size_t)(end - start));
        if (start == path)
            return 0;
        end = start - 1;
    }
}

/* ---- places in the tree ---------------------------------------------------------------------- */

static struct tdc_ge_model *model_of(struct search *search, uint64_t id)
{
    struct tdc_ge_tree *tree = search->tree;
    for (size_t i = 0; i < tree->count; i++)
        if (tree->models[i].id == id)
            return &tree->models[i];
    if (!tdc_arena_grow(search->arena, (void **)&tree->models, tree->count, sizeof *tree->models,
                        &tree->room))
        return NULL;
    tree->models[tree->count] = (struct tdc_ge_model){.id = id};
    return &tree->models[tree->count++];
}

static struct tdc_ge_token *token_of(struct search *search, struct tdc_ge_model *model,
                                     uint64_t number)
{
    for (size_t i = model->count; i-- > 0;)
        if (model->tokens[i].token == number)
            return &model->tokens[i];
    if (!tdc_arena_grow(search->arena, (void **)&model->tokens, model->count, sizeof *model->tokens,
                        &model->room))
        return NULL;
    struct tdc_ge_token *token = &model->tokens[model->count++];
    *token = (struct tdc_ge_token){.token = number};
    tdc_names_init(&token->ops);
    return token;
}

/* ---- files ----------------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The larger of two files of one operator stays. */
static void settle_repeated(const struct search *search, struct tdc_op_file *old,
                            const struct tdc_op_file *file)
{
    const char *kept = file->size > old->size ? file->path : old->path;
    tdc_say(search->options, TDC_MESSAGE_WARNING,
            "duplicated op name: %s. [%s, %s]. Will keep the larger one %s.", file->name.op,
            base_name(file->path), base_name(old->path), base_name(kept));
    if (kept == file->path)
        *old = *file;
}

static bool add_file(struct search *search, struct tdc_ge_token *token,
                     const struct tdc_op_file *file)
{
    bool fresh;
    uint32_t number = tdc_names_put(&token->ops, file->name.op, strlen(file->name.op), &fresh);
    if (number == TDC_NAME_NONE)
        return false;
    if (!fresh) {
        settle_repeated(search, &token->files[number], file);
        return true;
    }
    if (!tdc_arena_grow(search->arena, (void **)&token->files, token->count, sizeof *token->files,
                        &token->room))
        return false;
    token->files[token->count++] = *file;
    return true;
}

/* TYPE.NAME.TASK.STREAM.TIME.csv: kept until it is known whether there is anything else. */
static tdc_status take_statistics(struct search *search, const char *folder,
                                  const struct tdc_folder_entry *entry, const char *real,
                                  struct tdc_ge_token *token)
{
    bool memory;
    struct tdc_op_file file = {.path = tdc_folder_path(search->arena, folder, entry->name),
                               .size = entry->size,
                               .statistics = true};
    const char *name = tdc_arena_text(search->arena, real, strlen(real) - strlen(".csv"));
    if (file.path == NULL || name == NULL ||
        !tdc_dump_name_read(search->arena, name, &file.name, &memory) ||
        !tdc_arena_grow(search->arena, (void **)&token->csv, token->csv_count, sizeof *token->csv,
                        &token->csv_room))
        return out_of_memory(search, folder);
    token->csv[token->csv_count++] = file;
    return TDC_OK;
}

static tdc_status take_entry(struct search *search, const char *folder,
                             const struct tdc_folder_entry *entry,
                             const struct tdc_long_names *names, struct tdc_ge_token *token)
{
    bool memory;
    const char *real = tdc_long_name(names, entry->name);
    if (entry->folder || strcmp(entry->name, "mapping.csv") == 0)
        return TDC_OK;
    if (tdc_ge_statistics_name(real))
        return take_statistics(search, folder, entry, real, token);
    if (!tdc_dump_name_may_be(real))
        return TDC_OK;
    struct tdc_op_file file = {.path = tdc_folder_path(search->arena, folder, entry->name),
                               .size = entry->size};
    if (file.path == NULL)
        return out_of_memory(search, folder);
    if (!tdc_dump_name_read(search->arena, real, &file.name, &memory)) {
        if (memory)
            return out_of_memory(search, folder);
        tdc_say(search->options, TDC_MESSAGE_WARNING,
                "invalid file name: %s, should contain at least 4 '.'", file.path);
        return TDC_OK;
    }
    return add_file(search, token, &file) ? TDC_OK : out_of_memory(search, folder);
}

/* Statistics are the files of a token that has no dumps. */
static tdc_status settle_statistics(struct search *search, const char *root,
                                    struct tdc_ge_token *token)
{
    bool alone = token->count == 0;
    if (!alone && token->csv_count != 0)
        tdc_say(search->options, TDC_MESSAGE_WARNING,
                "%s: %zu csv files of statistics beside the dumps of token %llu are left out", root,
                token->csv_count, (unsigned long long)token->token);
    for (size_t i = 0; i < token->csv_count && alone; i++)
        if (!add_file(search, token, &token->csv[i]))
            return out_of_memory(search, root);
    return TDC_OK;
}

/* A folder without folders: the files of one token. */
static tdc_status take_leaf(struct search *search, const char *path,
                            const struct tdc_folder *folder)
{
    struct tdc_long_names names = {0};
    struct tdc_ge_model *model =
        model_of(search, number_above(path, search->several_devices ? 3 : 1));
    struct tdc_ge_token *token =
        model != NULL ? token_of(search, model, number_above(path, 0)) : NULL;
    tdc_status status = token != NULL && tdc_long_names_read(search->arena, path, &names)
                            ? TDC_OK
                            : out_of_memory(search, path);
    for (size_t i = 0; i < folder->count && status == TDC_OK; i++)
        status = take_entry(search, path, &folder->entries[i], &names, token);
    tdc_long_names_free(&names);
    return status;
}

static tdc_status walk(struct search *search, const char *path, unsigned depth)
{
    struct tdc_folder folder;
    tdc_status status = tdc_folder_read(search->arena, path, &folder, search->error);
    if (status != TDC_OK && depth != 0 && status != TDC_ERR_MEMORY) {
        tdc_say(search->options, TDC_MESSAGE_WARNING, "%s; it is left out", search->error->message);
        return TDC_OK;
    }
    if (status != TDC_OK || folder.folders == 0)
        return status != TDC_OK ? status : take_leaf(search, path, &folder);
    if (depth == TDC_FOLDER_DEPTH) {
        tdc_say(search->options, TDC_MESSAGE_WARNING, "%s: too deep, it is left out", path);
        return TDC_OK;
    }
    for (size_t i = 0; i < folder.count && status == TDC_OK; i++) {
        if (!folder.entries[i].folder)
            continue;
        const char *below = tdc_folder_path(search->arena, path, folder.entries[i].name);
        status = below != NULL ? walk(search, below, depth + 1) : out_of_memory(search, path);
    }
    return status;
}

/* ---- the root -------------------------------------------------------------------------------- */

/* With several devices below it, a device is what groups files; else a model is. */
static tdc_status count_devices(struct search *search, const char *root)
{
    enum {
        TIME_DIGITS = 14
    };
    struct tdc_folder folder, below;
    tdc_status status = tdc_folder_read(search->arena, root, &folder, search->error);
    search->several_devices = folder.folders > 1;
    for (size_t i = 0; i < folder.count && status == TDC_OK && folder.folders == 1; i++) {
        const struct tdc_folder_entry *entry = &folder.entries[i];
        if (!entry->folder || strlen(entry->name) != TIME_DIGITS ||
            !tdc_all_digits(entry->name, TIME_DIGITS))
            continue;
        const char *path = tdc_folder_path(search->arena, root, entry->name);
        if (path == NULL)
            return out_of_memory(search, root);
        tdc_status read = tdc_folder_read(search->arena, path, &below, search->error);
        if (read == TDC_ERR_MEMORY)
            return read;
        search->several_devices = read == TDC_OK && below.folders > 1;
    }
    return status;
}

static int by_id(const void *left, const void *right)
{
    const struct tdc_ge_model *a = left, *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

static int by_token(const void *left, const void *right)
{
    const struct tdc_ge_token *a = left, *b = right;
    return a->token < b->token ? -1 : a->token > b->token;
}

tdc_status tdc_ge_tree_find(struct tdc_arena *arena, const char *root,
                            const struct tdc_options *options, struct tdc_ge_tree *tree,
                            struct tdc_error *error)
{
    struct search search = {arena, options, tree, false, error};
    *tree = (struct tdc_ge_tree){0};
    tdc_status status = count_devices(&search, root);
    if (status == TDC_OK)
        status = walk(&search, root, 0);
    if (status != TDC_OK)
        return status;
    if (tree->count > 1)
        qsort(tree->models, tree->count, sizeof *tree->models, by_id);
    for (size_t i = 0; i < tree->count; i++)
        if (tree->models[i].count > 1)
            qsort(tree->models[i].tokens, tree->models[i].count, sizeof *tree->models[i].tokens,
                  by_token);
    for (size_t i = 0; i < tree->count; i++)
        for (size_t k = 0; k < tree->models[i].count && status == TDC_OK; k++)
            status = settle_statistics(&search, root, &tree->models[i].tokens[k]);
    return status;
}

void tdc_ge_tree_free(struct tdc_ge_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++)
        for (size_t k = 0; k < tree->models[i].count; k++)
            tdc_names_free(&tree->models[i].tokens[k].ops);
    *tree = (struct tdc_ge_tree){0};
}

tdc_status tdc_op_file_count(const struct tdc_op_file *file, uint64_t counts[2],
                             struct tdc_error *error)
{
    struct tdc_arena arena;
    struct tdc_ge_statistics statistics;
    if (!file->statistics)
        return tdc_ge_file_counts(file->path, counts, error);
    tdc_arena_init(&arena, STATISTICS_LIMIT);
    tdc_status status = tdc_ge_statistics_read(&arena, file->path, &statistics, error);
    counts[0] = status == TDC_OK ? statistics.counts[0] : 0;
    counts[1] = status == TDC_OK ? statistics.counts[1] : 0;
    tdc_arena_free(&arena);
    return status;
}

const struct tdc_op_file *tdc_ge_token_find(const struct tdc_ge_token *token, const char *op,
                                            size_t length)
{
    uint32_t number = tdc_names_find(&token->ops, op, length);
    return number != TDC_NAME_NONE ? &token->files[number] : NULL;
}

const struct tdc_ge_token *tdc_ge_model_find(const struct tdc_ge_model *model, uint64_t token)
{
    for (size_t i = 0; i < model->count; i++)
        if (model->tokens[i].token == token)
            return &model->tokens[i];
    return NULL;
}
