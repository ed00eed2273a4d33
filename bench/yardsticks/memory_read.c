#include "bench/yardsticks/memory_read.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <omp.h>

#include "io/base/memory_limit.h"

/* As much as the bare read of files hands to a thread at a time. */
#define PIECE ((size_t)1 << 20)

static bool total_size(const struct tdc_bare_files *files, size_t *size)
{
    size_t most = tdc_memory_limit() / 2;
    *size = 0;
    for (size_t i = 0; i < files->count; i++) {
        struct stat state;
        if (stat(files->paths[i], &state) != 0 || state.st_size < 0 ||
            (uint64_t)state.st_size > most - *size)
            return false;
        *size += (size_t)state.st_size;
    }
    return *size > 0;
}

/* Fills what is left of the memory with as much of a file as there is. */
static bool append_file(struct tdc_held_files *held, size_t capacity, const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t got = 1;
    while (got > 0 && held->size < capacity) {
        got = read(file, held->bytes + held->size, capacity - held->size);
        held->size += got > 0 ? (size_t)got : 0;
    }
    close(file);
    return got >= 0;
}

void tdc_held_files_load(struct tdc_held_files *held, const struct tdc_bare_files *files)
{
    size_t capacity;
    *held = (struct tdc_held_files){0};
    if (!total_size(files, &capacity))
        return;
    held->bytes = malloc(capacity);
    if (held->bytes == NULL)
        return;
    for (size_t i = 0; i < files->count; i++)
        if (!append_file(held, capacity, files->paths[i])) {
            tdc_held_files_free(held);
            return;
        }
}

void tdc_held_files_free(struct tdc_held_files *held)
{
    free(held->bytes);
    *held = (struct tdc_held_files){0};
}

uint64_t tdc_held_files_read(const struct tdc_held_files *held, int threads)
{
    uint64_t word = 0;
#pragma omp parallel for num_threads(threads > 0 ? threads : omp_get_num_procs())                  \
    schedule(dynamic) reduction(^ : word)
    for (size_t at = 0; at < held->size; at += PIECE)
        word ^= tdc_join_words(held->bytes + at, held->size - at < PIECE ? held->size - at : PIECE);
    return word;
}
