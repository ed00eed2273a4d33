#include "bench/yardsticks/stream_read.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <omp.h>

#include "io/base/error.h"
#include "io/platform/platform.h"

/* Buffered: fits the L2 cache with room to spare. Direct: a request as large as dd's usual bs=4M.
 */
#define BUFFERED_PIECE ((size_t)256 << 10)
#define DIRECT_PIECE   ((size_t)4 << 20)
/* What every direct read is aligned to; no device asks for more. */
#define ALIGNMENT 4096

/* Where the reading stands: which file is open and how much of it is claimed. */
struct line {
    const struct tdc_bare_files *files;
    enum tdc_stream stream;
    size_t piece;
    pthread_mutex_t lock;
    size_t next_file;
    struct source *source;
    struct tdc_error *error;
    tdc_status status;
};

/* An open file; the last reader closes it. */
struct source {
    int fd;
    uint64_t size, claimed;
    unsigned readers;
};

static tdc_status open_source(struct line *line, const char *path)
{
    struct stat state;
    struct source *source = calloc(1, sizeof *source);
    if (source == NULL)
        return tdc_fail(line->error, TDC_ERR_MEMORY, "out of memory");
    bool direct = line->stream == TDC_STREAM_DIRECT;
    source->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (source->fd < 0 || fstat(source->fd, &state) != 0 ||
        (direct && !tdc_file_bypass_cache(source->fd))) {
        int number = errno;
        if (source->fd >= 0)
            close(source->fd);
        free(source);
        if (direct && number == EINVAL)
            return tdc_fail(line->error, TDC_ERR_UNSUPPORTED, "%s: no direct reads", path);
        return tdc_fail_errno(line->error, TDC_ERR_READ, number, "%s", path);
    }
    if (!direct)
        tdc_file_advise(source->fd, TDC_FILE_SEQUENTIAL);
    source->size = (uint64_t)state.st_size;
    source->readers = 1; /* the line itself */
    line->source = source;
    return TDC_OK;
}

/* Under the lock. */
static void release(struct source *source)
{
    if (--source->readers > 0)
        return;
    close(source->fd);
    free(source);
}

/* The next piece of the line, with a reader counted; NULL at the end or after a failure. */
static struct source *claim(struct line *line, uint64_t *offset)
{
    struct source *source = NULL;
    pthread_mutex_lock(&line->lock);
    while (line->status == TDC_OK && source == NULL) {
        if (line->source != NULL && line->source->claimed < line->source->size) {
            source = line->source;
            *offset = source->claimed;
            source->claimed += line->piece;
            source->readers++;
            break;
        }
        if (line->source != NULL)
            release(line->source);
        line->source = NULL;
        if (line->next_file == line->files->count)
            break;
        line->status = open_source(line, line->files->paths[line->next_file++]);
    }
    pthread_mutex_unlock(&line->lock);
    return source;
}

static bool read_piece(struct line *line, const struct source *source, uint64_t offset,
                       char *buffer, struct tdc_bare_sum *sum)
{
    size_t done = 0;
    while (done < line->piece) {
        ssize_t got = pread(source->fd, buffer + done, line->piece - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return false;
        done += (size_t)got;
        /* what follows an unaligned end cannot be asked for directly */
        if (got == 0 || offset + done >= source->size)
            break;
    }
    if (line->stream == TDC_STREAM_BUFFERED)
        sum->word ^= tdc_join_words(buffer, done);
    sum->bytes += done;
    return true;
}

static void read_pieces(struct line *line, struct tdc_bare_sum *sum)
{
    char *buffer = aligned_alloc(ALIGNMENT, line->piece);
    uint64_t offset;
    struct source *source;
    while (buffer != NULL && (source = claim(line, &offset)) != NULL) {
        bool right = read_piece(line, source, offset, buffer, sum);
        int number = errno;
        pthread_mutex_lock(&line->lock);
        if (!right && line->status == TDC_OK)
            line->status =
                tdc_fail_errno(line->error, number == EINVAL ? TDC_ERR_UNSUPPORTED : TDC_ERR_READ,
                               number, "%s", line->files->paths[line->next_file - 1]);
        release(source);
        pthread_mutex_unlock(&line->lock);
    }
    if (buffer == NULL) {
        pthread_mutex_lock(&line->lock);
        line->status = tdc_fail(line->error, TDC_ERR_MEMORY, "out of memory");
        pthread_mutex_unlock(&line->lock);
    }
    free(buffer);
}

tdc_status tdc_stream_read(const struct tdc_bare_files *files, enum tdc_stream stream, int threads,
                           struct tdc_bare_sum *sum, struct tdc_error *error)
{
    struct line line = {.files = files, .stream = stream, .error = error};
    line.piece = stream == TDC_STREAM_DIRECT ? DIRECT_PIECE : BUFFERED_PIECE;
    uint64_t word = 0, bytes = 0;
    pthread_mutex_init(&line.lock, NULL);
#pragma omp parallel num_threads(threads > 0 ? threads : omp_get_num_procs()) \
    reduction(^ : word) reduction(+ : bytes)
    {
        struct tdc_bare_sum own = {0};
        read_pieces(&line, &own);
        word ^= own.word;
        bytes += own.bytes;
    }
    if (line.source != NULL)
        release(line.source);
    pthread_mutex_destroy(&line.lock);
    *sum = (struct tdc_bare_sum){word, bytes};
    return line.status;
}
