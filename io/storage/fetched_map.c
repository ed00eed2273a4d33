#include "io/storage/fetched_map.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/platform/platform.h"
#include "io/storage/patient_read.h"
#include "io/storage/storage_calls.h"

/* The least that is read for a touch, and what is read of one that goes on in order: so much with
 * each call, so many of them at once. */
#define PIECE       ((size_t)64 << 10)
#define CALL_PIECES ((size_t)16)
#define MOST_CALLS  8
#define MOST_PIECES (CALL_PIECES * MOST_CALLS)

enum {
    EMPTY,
    COMING,
    THERE
};

struct map {
    struct map *next;
    char *start;
    size_t size, pieces, page;
    int descriptor;
    pthread_mutex_t lock;
    pthread_cond_t came;
    size_t expected, window; /* where reading in order would go on, and by how many pieces */
    unsigned char states[];
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct map *list;

static _Thread_local int failure __attribute__((tls_model("initial-exec")));

int tdc_fetch_failure(void)
{
    return failure;
}

void tdc_fetch_failure_set(int number)
{
    failure = number;
}

static struct map *find(const void *at)
{
    pthread_mutex_lock(&list_lock);
    struct map *map = list;
    while (map != NULL &&
           ((const char *)at < map->start || (const char *)at >= map->start + map->pieces * PIECE))
        map = map->next;
    pthread_mutex_unlock(&list_lock);
    return map;
}

/* ---- making and closing ---------------------------------------------------------------------- */

void *tdc_fetched_map_make(int descriptor, size_t size)
{
    size_t pieces = (size + PIECE - 1) / PIECE;
    struct map *map = calloc(1, sizeof *map + pieces);
    if (map == NULL)
        return NULL;
    map->size = size;
    map->pieces = pieces;
    map->page = (size_t)sysconf(_SC_PAGESIZE);
    map->window = 1;
    map->descriptor = tdc_storage_again(descriptor);
    map->start = map->descriptor < 0 ? MAP_FAILED
                                     : mmap(NULL, pieces * PIECE, PROT_NONE,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map->start == MAP_FAILED) {
        int number = errno;
        if (map->descriptor >= 0)
            tdc_storage_close(map->descriptor);
        free(map);
        errno = number;
        return NULL;
    }
    pthread_mutex_init(&map->lock, NULL);
    pthread_cond_init(&map->came, NULL);
    pthread_mutex_lock(&list_lock);
    map->next = list;
    list = map;
    pthread_mutex_unlock(&list_lock);
    return map->start;
}

bool tdc_fetched_map_close(const void *start)
{
    pthread_mutex_lock(&list_lock);
    struct map **at = &list, *map;
    while ((map = *at) != NULL && map->start != start)
        at = &map->next;
    if (map != NULL)
        *at = map->next;
    pthread_mutex_unlock(&list_lock);
    if (map == NULL)
        return false;
    munmap(map->start, map->pieces * PIECE);
    tdc_storage_close(map->descriptor);
    pthread_mutex_destroy(&map->lock);
    pthread_cond_destroy(&map->came);
    free(map);
    return true;
}

bool tdc_fetched_map_forget(const void *start, size_t size)
{
    struct map *map = find(start);
    if (map == NULL)
        return false;
    size_t from = (size_t)((const char *)start - map->start), to = from + size;
    size_t first = (from + PIECE - 1) / PIECE, end = to >= map->size ? map->pieces : to / PIECE;
    pthread_mutex_lock(&map->lock);
    for (size_t i = first; i < end; i++) {
        size_t count = 0;
        while (i + count < end && map->states[i + count] == THERE)
            count++;
        if (count != 0 &&
            mmap(map->start + i * PIECE, count * PIECE, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED)
            for (size_t k = 0; k < count; k++)
                map->states[i + k] = EMPTY;
        i += count;
    }
    pthread_mutex_unlock(&map->lock);
    return true;
}

/* ---- fetching -------------------------------------------------------------------------------- */

/* The bytes of one call, on their way. */
struct part {
    char *block;
    size_t offset, size, room;
};

static bool begin(const struct map *map, size_t piece, size_t count, struct part *part)
{
    part->offset = piece * PIECE;
    part->size = count * PIECE;
    if (part->size > map->size - part->offset)
        part->size = map->size - part->offset;
    part->room = count * PIECE;
    part->block = mmap(NULL, part->room + TDC_READ_EXTRA, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (part->block == MAP_FAILED)
        return false;
    tdc_read_begin(map->descriptor, (off_t)part->offset, part->size, part->block, part->room);
    return true;
}

/* 0, or why the bytes are not there; -1 when the file is shorter than it was. */
static int end(const struct map *map, const struct part *part)
{
    size_t got;
    bool kept;
    int number = tdc_read_end(part->block, part->room, &got, &kept);
    if (!kept)
        return number;
    if (number == 0 && got < part->size)
        number = -1;
    if (number == 0 && (mprotect(part->block, part->room, PROT_READ) != 0 ||
                        !tdc_pages_move(part->block, map->start + part->offset, part->room)))
        number = ENOMEM;
    if (number == 0)
        munmap(part->block + part->room, TDC_READ_EXTRA);
    else
        munmap(part->block, part->room + TDC_READ_EXTRA);
    return number;
}

/* Reads pieces that are marked as coming; how many of them, in order, are there. */
static size_t fetch(const struct map *map, size_t first, size_t count, int *number)
{
    struct part parts[MOST_CALLS];
    size_t begun = 0, there = 0;
    *number = 0;
    for (size_t at = 0; at < count; at += CALL_PIECES) {
        size_t some = count - at < CALL_PIECES ? count - at : CALL_PIECES;
        if (!begin(map, first + at, some, &parts[begun]))
            break;
        begun++;
    }
    if (begun == 0)
        *number = ENOMEM;
    for (size_t i = 0; i < begun; i++) {
        int result = end(map, &parts[i]);
        if (*number == 0 && result == 0)
            there += parts[i].room / PIECE;
        else if (*number == 0)
            *number = result;
    }
    return there;
}

/* Pieces to read from `piece` on; under the lock. */
static size_t window_of(struct map *map, size_t piece)
{
    size_t window = piece != map->expected      ? 1
                    : map->window < MOST_PIECES ? 2 * map->window
                                                : MOST_PIECES;
    size_t count = 0;
    while (count < window && piece + count < map->pieces && map->states[piece + count] == EMPTY)
        count++;
    map->window = window;
    map->expected = piece + count;
    return count;
}

static void settle(struct map *map, size_t first, size_t count, unsigned char state)
{
    for (size_t i = 0; i < count; i++)
        map->states[first + i] = state;
}

enum tdc_fetch_result tdc_fetched_map_touch(const void *at)
{
    struct map *map = find(at);
    if (map == NULL)
        return TDC_FETCH_ELSEWHERE;
    size_t piece = (size_t)((const char *)at - map->start) / PIECE;
    int number = 0;
    pthread_mutex_lock(&map->lock);
    while (map->states[piece] == COMING)
        pthread_cond_wait(&map->came, &map->lock);
    if (map->states[piece] == EMPTY) {
        size_t count = window_of(map, piece);
        settle(map, piece, count, COMING);
        pthread_mutex_unlock(&map->lock);
        size_t there = fetch(map, piece, count, &number);
        pthread_mutex_lock(&map->lock);
        settle(map, piece, there, THERE);
        settle(map, piece + there, count - there, EMPTY);
        if (there != 0) /* what was asked for is there; the next touch tells of the rest */
            number = 0;
        pthread_cond_broadcast(&map->came);
    }
    pthread_mutex_unlock(&map->lock);
    failure = number > 0 ? number : 0;
    return number == 0 ? TDC_FETCHED : TDC_FETCH_FAILED;
}
