#include "bench/yardsticks/bare_read.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <omp.h>

#include "io/base/error.h"
#include "io/file/file_map.h"
#include "io/file/mapping_guard.h"

/* Files worked on at a time: systems allow 65530 maps in a process. */
#define BATCH 4096
/* Bytes a thread reads before it asks for more. Files up to this size are done by one thread. */
#define PIECE ((size_t)1 << 20)
/* Folders inside each other: dumps have four. */
#define DEEPEST 16

/* ---- which files ----------------------------------------------------------------------------- */

static bool is_tensor_file(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && (strcmp(dot, ".pt") == 0 || strcmp(dot, ".npy") == 0 ||
                           strcmp(dot, ".safetensors") == 0);
}

static bool add_path(struct tdc_bare_files *files, const char *path)
{
    if (files->count == files->capacity) {
        size_t capacity = files->capacity == 0 ? 256 : 2 * files->capacity;
        char **paths = realloc(files->paths, capacity * sizeof *paths);
        if (paths == NULL)
            return false;
        files->paths = paths;
        files->capacity = capacity;
    }
    char *copy = strdup(path);
    if (copy == NULL)
        return false;
    files->paths[files->count++] = copy;
    return true;
}

static int by_name(const struct dirent **left, const struct dirent **right)
{
    return strcmp((*left)->d_name, (*right)->d_name);
}

static tdc_status add_folder(struct tdc_bare_files *files, const char *folder, int depth,
                             struct tdc_error *error);

static tdc_status add_entry(struct tdc_bare_files *files, const char *folder, const char *name,
                            int depth, struct tdc_error *error)
{
    char path[PATH_MAX];
    struct stat state;
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof path || stat(path, &state) != 0)
        return TDC_OK;
    if (S_ISDIR(state.st_mode))
        return add_folder(files, path, depth + 1, error);
    if (S_ISREG(state.st_mode) && is_tensor_file(name) && !add_path(files, path))
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    return TDC_OK;
}

/* Links are followed; one that leads back up ends at the depth. */
static tdc_status add_folder(struct tdc_bare_files *files, const char *folder, int depth,
                             struct tdc_error *error)
{
    if (depth > DEEPEST)
        return TDC_OK;
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, by_name);
    if (count < 0)
        return tdc_fail_errno(error, TDC_ERR_READ, errno, "%s", folder);
    tdc_status status = TDC_OK;
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (status == TDC_OK && strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
            status = add_entry(files, folder, name, depth, error);
        free(entries[i]);
    }
    free(entries);
    return status;
}

tdc_status tdc_bare_files_add(struct tdc_bare_files *files, const char *folder,
                              struct tdc_error *error)
{
    return add_folder(files, folder, 0, error);
}

void tdc_bare_files_free(struct tdc_bare_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->paths[i]);
    free(files->paths);
    *files = (struct tdc_bare_files){0};
}

/* ---- reading --------------------------------------------------------------------------------- */

/*
 * Four pages side by side and the next four fetched ahead: one stream of loads does not fill the
 * memory bus (8.6 GB/s against 14.8 where this was tried), and a yardstick that the comparison
 * outruns would be none. Pages next to each other, so that read-ahead of files still sees a
 * sequence.
 */
#define PAGE    ((size_t)4096)
#define STREAMS 4
#define BLOCK   (STREAMS * PAGE)
#define WORDS   8 /* of a cache line */

static inline void join_line(const char *data, uint64_t lanes[WORDS])
{
    uint64_t words[WORDS];
    memcpy(words, data, sizeof words);
    for (int i = 0; i < WORDS; i++)
        lanes[i] ^= words[i];
}

static void join_block(const char *data, uint64_t lanes[WORDS])
{
    for (size_t i = 0; i < PAGE; i += sizeof(uint64_t[WORDS])) {
        for (size_t k = 0; k < STREAMS; k++) {
            const char *line = data + k * PAGE + i;
            __builtin_prefetch((const void *)((uintptr_t)line + BLOCK));
            join_line(line, lanes);
        }
    }
}

uint64_t tdc_join_words(const void *bytes, size_t size)
{
    const char *data = bytes;
    uint64_t lanes[WORDS] = {0}, word = 0;
    for (; size >= BLOCK; data += BLOCK, size -= BLOCK)
        join_block(data, lanes);
    for (; size >= sizeof lanes; data += sizeof lanes, size -= sizeof lanes)
        join_line(data, lanes);
    char last[sizeof lanes] = {0};
    if (size > 0)
        memcpy(last, data, size);
    join_line(last, lanes);
    for (int i = 0; i < WORDS; i++)
        word ^= lanes[i];
    return word;
}

struct piece {
    const char *data;
    size_t size;
    uint64_t word;
};

static void join_piece(void *argument)
{
    struct piece *piece = argument;
    piece->word = tdc_join_words(piece->data, piece->size);
}

static bool read_piece(struct piece piece, struct tdc_bare_sum *sum)
{
    if (!tdc_guarded_read(join_piece, &piece))
        return false;
    sum->word ^= piece.word;
    sum->bytes += piece.size;
    return true;
}

/* The large files of one batch, mapped, and the pieces of all of them one after the other. */
struct batch {
    struct tdc_file_map maps[BATCH]; /* of small files empty: they are done already */
    size_t first_piece[BATCH + 1];
    size_t count;
};

static void number_pieces(struct batch *batch)
{
    batch->first_piece[0] = 0;
    for (size_t i = 0; i < batch->count; i++)
        batch->first_piece[i + 1] =
            batch->first_piece[i] + (batch->maps[i].size + PIECE - 1) / PIECE;
}

static struct piece piece_of(const struct batch *batch, size_t number)
{
    size_t low = 0, high = batch->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (batch->first_piece[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    size_t offset = (number - batch->first_piece[low]) * PIECE;
    size_t left = batch->maps[low].size - offset;
    return (struct piece){batch->maps[low].data + offset, left < PIECE ? left : PIECE, 0};
}

/* Maps a file, and reads it at once if it is small. */
static tdc_status start_file(const char *path, struct tdc_file_map *map, struct tdc_bare_sum *sum,
                             struct tdc_error *error)
{
    *map = (struct tdc_file_map){0};
    tdc_status status = tdc_file_map_open(path, map, error);
    if (status != TDC_OK || map->size > PIECE)
        return status;
    if (!read_piece((struct piece){map->data, map->size, 0}, sum))
        status = tdc_fail(error, TDC_ERR_CHANGED, "%s shrank while it was read", path);
    tdc_file_map_close(map);
    *map = (struct tdc_file_map){0};
    return status;
}

static tdc_status read_batch(struct batch *batch, char *const *paths, int threads,
                             struct tdc_bare_sum *sum, struct tdc_error *error)
{
    struct tdc_error first = {0};
#pragma omp parallel num_threads(threads)
    {
        struct tdc_bare_sum own = {0};
        struct tdc_error failure = {0};
#pragma omp for schedule(dynamic, 4)
        for (size_t i = 0; i < batch->count; i++)
            start_file(paths[i], &batch->maps[i], &own, &failure);
#pragma omp single
        number_pieces(batch);
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < batch->first_piece[batch->count]; i++)
            if (!read_piece(piece_of(batch, i), &own))
                tdc_fail(&failure, TDC_ERR_CHANGED, "a file shrank while it was read");
#pragma omp for schedule(dynamic, 4)
        for (size_t i = 0; i < batch->count; i++)
            tdc_file_map_close(&batch->maps[i]);
#pragma omp critical
        {
            sum->word ^= own.word;
            sum->bytes += own.bytes;
            if (failure.status != TDC_OK)
                first = failure;
        }
    }
    if (first.status != TDC_OK)
        *error = first;
    return first.status;
}

tdc_status tdc_bare_read(const struct tdc_bare_files *files, int threads, struct tdc_bare_sum *sum,
                         struct tdc_error *error)
{
    struct tdc_error ignored;
    *sum = (struct tdc_bare_sum){0};
    struct batch *batch = malloc(sizeof *batch);
    if (batch == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    if (!tdc_guard_begin()) {
        free(batch);
        return tdc_fail(error, TDC_ERR_SYSTEM, "no guard for mapped files");
    }
    tdc_status status = TDC_OK;
    for (size_t done = 0; done < files->count && status == TDC_OK; done += batch->count) {
        size_t left = files->count - done;
        batch->count = left < BATCH ? left : BATCH;
        status = read_batch(batch, files->paths + done, threads > 0 ? threads : omp_get_num_procs(),
                            sum, error != NULL ? error : &ignored);
    }
    tdc_guard_end();
    free(batch);
    return status;
}
