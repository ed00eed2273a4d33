/* npy_folders.c - folders of files NAME_DTYPE_INDEX.npy: a table for each folder of both sides. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/graph/files/folder.h"
#include "host/kernel_dump/kernel_cells.h"
#include "io/base/error.h"
#include "io/base/name_table.h"
#include "io/file/out_file.h"
#include "io/text/pytext.h"

#define ARENA_LIMIT ((size_t)8 << 30)
/* Folders in folders, as msprobe looks into them. */
#define DEPTH 10

struct file {
    const char *key, *folder, *name;
};

struct files {
    struct file *files;
    size_t count, capacity;
};

struct work {
    struct tdc_arena arena;
    const struct tdc_kernel_name *names;
    size_t name_count;
    const struct tdc_options *options;
    size_t tables;
};

static tdc_status no_memory(const char *folder, struct tdc_error *error)
{
    return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", folder);
}

/* What stands before the last two parts between underscores; NULL when nothing does. */
static const char *key_of(struct tdc_arena *arena, const char *name, bool *failed)
{
    size_t length = strlen(name) - strlen(".npy");
    for (int part = 0; part < 2; part++) {
        while (length > 0 && name[length - 1] != '_')
            length--;
        if (length == 0)
            return NULL;
        length--;
    }
    const char *key = length != 0 ? tdc_arena_text(arena, name, length) : NULL;
    *failed |= length != 0 && key == NULL;
    return key;
}

static bool add_file(struct files *files, const char *key, const char *folder, const char *name)
{
    if (files->count == files->capacity) {
        size_t capacity = files->capacity == 0 ? 64 : files->capacity * 2;
        struct file *grown = realloc(files->files, capacity * sizeof *grown);
        if (grown == NULL)
            return false;
        files->files = grown;
        files->capacity = capacity;
    }
    files->files[files->count++] = (struct file){key, folder, name};
    return true;
}

/* The npy files of a folder and of those below it. */
static tdc_status find_files(struct work *work, const char *folder, struct files *files, int depth,
                             struct tdc_error *error)
{
    struct tdc_folder names;
    tdc_status status = tdc_folder_read(&work->arena, folder, &names, error);
    for (size_t i = 0; i < names.count && status == TDC_OK; i++) {
        const char *name = names.entries[i].name;
        bool failed = false;
        if (names.entries[i].folder || !tdc_ends_in(name, ".npy"))
            continue;
        const char *key = key_of(&work->arena, name, &failed);
        if (failed || (key != NULL && !add_file(files, key, folder, name)))
            status = no_memory(folder, error);
    }
    for (size_t i = 0; i < names.count && status == TDC_OK && depth < DEPTH; i++) {
        if (!names.entries[i].folder)
            continue;
        const char *below = tdc_folder_path(&work->arena, folder, names.entries[i].name);
        status = below != NULL ? find_files(work, below, files, depth + 1, error)
                               : no_memory(folder, error);
    }
    return status;
}

static int by_key(const void *left, const void *right)
{
    const struct file *one = left, *other = right;
    int order = strcmp(one->key, other->key);
    if (order == 0)
        order = strcmp(one->folder, other->folder);
    return order != 0 ? order : strcmp(one->name, other->name);
}

/* The first file of a key, or SIZE_MAX. */
static size_t find_key(const struct files *files, const char *key)
{
    size_t low = 0, high = files->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(files->files[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < files->count && strcmp(files->files[low].key, key) == 0 ? low : SIZE_MAX;
}

static const char *mapped(const struct work *work, const char *key)
{
    for (size_t i = 0; i < work->name_count; i++)
        if (strcmp(work->names[i].npu, key) == 0)
            return work->names[i].bench;
    return NULL;
}

static bool set_side(struct tdc_arena *arena, struct tdc_kernel_side *side, const struct file *file)
{
    side->folder = file->folder;
    side->file = file->name;
    side->path = tdc_folder_path(arena, file->folder, file->name);
    return side->path != NULL;
}

/* The k-th file of a name faces the k-th. */
static tdc_status make_pairs(struct work *work, const struct files *npu, const struct files *bench,
                             struct tdc_kernel_pair *pairs, const char **names, size_t *count,
                             struct tdc_error *error)
{
    size_t number = 0, start = SIZE_MAX;
    for (size_t i = 0; i < npu->count; i++) {
        const struct file *file = &npu->files[i];
        bool first = i == 0 || strcmp(file->key, npu->files[i - 1].key) != 0;
        number = first ? 0 : number + 1;
        if (first) {
            start = find_key(bench, file->key);
            const char *other = start == SIZE_MAX ? mapped(work, file->key) : NULL;
            start = other != NULL ? find_key(bench, other) : start;
        }
        if (start == SIZE_MAX || start + number >= bench->count ||
            strcmp(bench->files[start + number].key, bench->files[start].key) != 0)
            continue;
        char text[32];
        struct tdc_text name;
        tdc_text_init(&name, (size_t)1 << 13);
        snprintf(text, sizeof text, "_%zu", number);
        tdc_text_adds(&name, file->key);
        tdc_text_adds(&name, text);
        names[*count] =
            name.failed ? NULL : tdc_arena_text(&work->arena, tdc_text_get(&name), name.length);
        tdc_text_free(&name);
        struct tdc_kernel_pair *pair = &pairs[*count];
        if (names[(*count)++] == NULL || !set_side(&work->arena, &pair->npu, file) ||
            !set_side(&work->arena, &pair->bench, &bench->files[start + number]))
            return no_memory(file->folder, error);
    }
    return TDC_OK;
}

/* ---- result.csv ------------------------------------------------------------------------------ */

static const char *const columns[] = {"Name",
                                      "NPU Dtype",
                                      "Bench Dtype",
                                      "NPU Tensor Shape",
                                      "Bench Tensor Shape",
                                      "Cosine",
                                      "EucDist",
                                      "MaxAbsErr",
                                      "MaxRelativeErr",
                                      "One Thousandth Err Ratio",
                                      "Five Thousandths Err Ratio",
                                      "NPU max",
                                      "NPU min",
                                      "NPU mean",
                                      "NPU l2norm",
                                      "Bench max",
                                      "Bench min",
                                      "Bench mean",
                                      "Bench l2norm",
                                      "Accuracy Reached or Not",
                                      "Err_message",
                                      "Data_name"};

static void put_row(struct tdc_kernel_cells *row, const char *name,
                    const struct tdc_kernel_pair *pair)
{
    const struct tdc_kernel_side *npu = &pair->npu, *bench = &pair->bench;
    tdc_kernel_put_text(row, name);
    tdc_kernel_put_text(row, npu->read ? tdc_dtype_name(npu->dtype) : NULL);
    tdc_kernel_put_text(row, bench->read ? tdc_dtype_name(bench->dtype) : NULL);
    tdc_kernel_put_shape(row, npu, false);
    tdc_kernel_put_shape(row, bench, false);
    for (int i = 0; i < TDC_TENSOR_VALUES; i++)
        tdc_kernel_put_value(row, pair->values[i]);
    tdc_kernel_put_stats(row, npu);
    tdc_kernel_put_stats(row, bench);
    tdc_kernel_put_text(row, pair->verdict);
    tdc_kernel_put_text(row, pair->message);
    struct tdc_text both;
    tdc_text_init(&both, (size_t)1 << 16);
    tdc_text_addc(&both, '[');
    tdc_pytext_repr_string(&both, npu->path, strlen(npu->path));
    tdc_text_adds(&both, ", ");
    tdc_pytext_repr_string(&both, bench->path, strlen(bench->path));
    tdc_text_addc(&both, ']');
    tdc_kernel_put_text(row, tdc_text_get(&both));
    tdc_text_free(&both);
}

static tdc_status write_table(struct work *work, const char *output,
                              const struct tdc_kernel_pair *pairs, const char *const *names,
                              size_t count, struct tdc_error *error)
{
    const char *path = tdc_folder_path(&work->arena, output, "result.csv");
    tdc_status status = path != NULL ? tdc_make_folders(output, error) : no_memory(output, error);
    if (status != TDC_OK)
        return status;
    struct tdc_sink_spec spec = {.path = path,
                                 .columns = columns,
                                 .column_count = sizeof columns / sizeof *columns,
                                 .rows = count};
    struct tdc_sink *sink;
    struct tdc_kernel_cells row;
    status = tdc_sink_open(TDC_FORMAT_CSV, &spec, &sink, error);
    if (status != TDC_OK)
        return status;
    tdc_kernel_cells_init(&row);
    for (size_t i = 0; i < count && status == TDC_OK; i++) {
        tdc_kernel_cells_begin(&row);
        put_row(&row, names[i], &pairs[i]);
        status = tdc_kernel_cells_good(&row) ? tdc_sink_row(sink, row.cells, TDC_COLOUR_NONE, error)
                                             : no_memory(output, error);
    }
    tdc_kernel_cells_free(&row);
    if (status == TDC_OK)
        status = tdc_sink_close(sink, error);
    else
        tdc_sink_discard(sink);
    work->tables += status == TDC_OK;
    if (status == TDC_OK && work->options->message != NULL)
        work->options->message(work->options->context, TDC_MESSAGE_INFO, path);
    return status;
}

static tdc_status compare_folder(struct work *work, const char *npu, const char *bench,
                                 const char *output, struct tdc_error *error)
{
    struct files left = {0}, right = {0};
    tdc_status status = find_files(work, npu, &left, 0, error);
    if (status == TDC_OK)
        status = find_files(work, bench, &right, 0, error);
    if (left.count != 0)
        qsort(left.files, left.count, sizeof *left.files, by_key);
    if (right.count != 0)
        qsort(right.files, right.count, sizeof *right.files, by_key);
    struct tdc_kernel_pair *pairs = calloc(left.count + 1, sizeof *pairs);
    const char **names = calloc(left.count + 1, sizeof *names);
    size_t count = 0;
    if (status == TDC_OK)
        status = pairs != NULL && names != NULL
                     ? make_pairs(work, &left, &right, pairs, names, &count, error)
                     : no_memory(npu, error);
    if (status == TDC_OK && count != 0)
        status = tdc_kernel_pairs_compare(pairs, count, work->options, error);
    if (status == TDC_OK && count != 0)
        status = write_table(work, output, pairs, names, count, error);
    if (status == TDC_OK && count < left.count && work->options->message != NULL) {
        char text[512];
        snprintf(text, sizeof text, "%.400s: %zu npy files have no counterpart", npu,
                 left.count - count);
        work->options->message(work->options->context, TDC_MESSAGE_WARNING, text);
    }
    free(left.files);
    free(right.files);
    free(pairs);
    free(names);
    return status;
}

/* ---- all folders ----------------------------------------------------------------------------- */

static bool has_npy(const struct tdc_folder *names)
{
    for (size_t i = 0; i < names->count; i++)
        if (!names->entries[i].folder && tdc_ends_in(names->entries[i].name, ".npy"))
            return true;
    return false;
}

static tdc_status walk(struct work *work, const char *npu, const char *bench, const char *output,
                       int depth, struct tdc_error *error)
{
    struct tdc_folder names, other;
    struct tdc_error missing;
    tdc_status status = tdc_folder_read(&work->arena, npu, &names, error);
    if (status != TDC_OK || tdc_folder_read(&work->arena, bench, &other, &missing) != TDC_OK)
        return status;
    if (has_npy(&names))
        status = compare_folder(work, npu, bench, output, error);
    for (size_t i = 0; i < names.count && status == TDC_OK && depth < DEPTH; i++) {
        if (!names.entries[i].folder)
            continue;
        const char *name = names.entries[i].name;
        const char *left = tdc_folder_path(&work->arena, npu, name);
        const char *right = tdc_folder_path(&work->arena, bench, name);
        const char *out = tdc_folder_path(&work->arena, output, name);
        status = left != NULL && right != NULL && out != NULL
                     ? walk(work, left, right, out, depth + 1, error)
                     : no_memory(npu, error);
    }
    return status;
}

tdc_status tdc_npy_folders_compare(const char *npu, const char *bench, const char *output,
                                   const struct tdc_kernel_name *names, size_t name_count,
                                   const struct tdc_options *options, size_t *tables,
                                   struct tdc_error *error)
{
    struct work work = {.names = names, .name_count = name_count, .options = options};
    tdc_arena_init(&work.arena, ARENA_LIMIT);
    tdc_status status = walk(&work, npu, bench, output, 0, error);
    if (status == TDC_OK && work.tables == 0)
        status =
            tdc_fail(error, TDC_ERR_NOTHING, "%s and %s have no npy files in common", npu, bench);
    *tables = work.tables;
    tdc_arena_free(&work.arena);
    return status;
}
