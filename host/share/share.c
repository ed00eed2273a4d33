/* share.c - a share from its beginning to its end, and the part it writes. */
#include "host/share/share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/base/clock.h"
#include "io/base/error.h"
#include "io/base/sized.h"
#include "io/file/byte_writer.h"
#include "io/file/out_file.h"
#include "io/file/retry.h"
#include "io/storage/storage_calls.h"

#define PATIENCE_SECONDS 2.0
/* A process that is killed loses what it found since the last write. */
#define FLUSH_BYTES   ((size_t)256 << 10)
#define FLUSH_SECONDS 1.0
/* Of the records that a process hands to process 0 of its team. */
#define GATHERED_LIMIT ((size_t)1 << 40)

/* ---- options --------------------------------------------------------------------------------- */

static struct tdc_share_options default_options(void)
{
    return (struct tdc_share_options){.size = sizeof(struct tdc_share_options),
                                      .kind = TDC_SHARE_WHOLE,
                                      .count = 1,
                                      .patience = PATIENCE_SECONDS};
}

void tdc_share_options_init(struct tdc_share_options *options, size_t size)
{
    struct tdc_share_options defaults = default_options();
    defaults.size = size;
    tdc_sized_init(options, size, &defaults, sizeof defaults);
}

static tdc_status read_options(const struct tdc_share_options *given,
                               struct tdc_share_options *whole, struct tdc_error *error)
{
    *whole = default_options();
    tdc_status status = tdc_sized_read(given, offsetof(struct tdc_share_options, index), whole,
                                       sizeof *whole, "tdc_share_options_init", error);
    if (status != TDC_OK)
        return status;
    if (whole->kind <= TDC_SHARE_NONE || whole->kind > TDC_SHARE_TEAM || whole->count == 0 ||
        whole->index >= whole->count || whole->folder == NULL || whole->name == NULL ||
        whole->settings == NULL || (whole->kind == TDC_SHARE_TEAM && whole->team == NULL))
        return tdc_fail(error, TDC_ERR_ARGUMENT, "the options of a share are not complete");
    return TDC_OK;
}

/* ---- the beginning --------------------------------------------------------------------------- */

/* Equal for all processes of one command, whatever their inputs are by now. */
static void name_part(struct tdc_share *share)
{
    const struct tdc_share_options *options = &share->options;
    struct tdc_share_key key = tdc_share_key_start;
    tdc_share_key_text(&key, options->name);
    tdc_share_key_text(&key, options->settings);
    tdc_share_key_text(&key, share->folder);
    snprintf(share->digest, sizeof share->digest, "%016llx",
             (unsigned long long)(key.halves[0] ^ key.halves[1]));
    bool part = options->kind == TDC_SHARE_PART || options->kind == TDC_SHARE_MERGE;
    if (asprintf(&share->path, "%s/%s_%s_%u_of_%u%s", options->folder, options->name, share->digest,
                 options->index, options->count, part ? TDC_PART_ENDING : TDC_JOURNAL_ENDING) < 0)
        share->path = NULL;
}

static uint64_t nanoseconds(struct timespec time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The clock that file systems stamp with. */
static uint64_t stamp_now(void)
{
    struct timespec now = {0};
#ifdef CLOCK_REALTIME_COARSE
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
#else
    clock_gettime(CLOCK_REALTIME, &now);
#endif
    return nanoseconds(now);
}

tdc_status tdc_share_new(const struct tdc_share_options *given, tdc_share **share,
                         struct tdc_error *error)
{
    struct tdc_share_options options;
    *share = NULL;
    tdc_status status = read_options(given, &options, error);
    if (status != TDC_OK)
        return status;
    struct tdc_share *made = calloc(1, sizeof *made);
    if (made == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    made->options = options;
    made->fd = -1;
    made->opened = stamp_now();
    made->begun = tdc_seconds();
    pthread_mutex_init(&made->lock, NULL);
    tdc_text_init(&made->pending, (size_t)2 << 30);
    tdc_text_init(&made->gathered, GATHERED_LIMIT);
    made->folder = getcwd(NULL, 0);
    if (made->folder != NULL)
        name_part(made);
    made->head = (struct tdc_part_head){.index = options.index,
                                        .count = options.count,
                                        .version = tdc_version(),
                                        .settings = options.settings,
                                        .folder = made->folder,
                                        .words = options.words,
                                        .word_count = options.word_count};
    if (made->path == NULL) {
        tdc_share_free(made);
        return tdc_fail(error, TDC_ERR_MEMORY, "no folder to work in, or no memory");
    }
    *share = made;
    return TDC_OK;
}

void tdc_share_free(tdc_share *share)
{
    if (share == NULL)
        return;
    if (share->fd >= 0)
        close(share->fd);
    for (size_t i = 0; i < share->head.input_count; i++)
        free((char *)(uintptr_t)share->inputs[i].path);
    free(share->inputs);
    free(share->folder);
    free(share->path);
    tdc_known_free(&share->known);
    tdc_text_free(&share->pending);
    tdc_text_free(&share->gathered);
    pthread_mutex_destroy(&share->lock);
    free(share);
}

bool tdc_marks_equal(const struct tdc_file_mark *left, const struct tdc_file_mark *right)
{
    return left->size == right->size && left->changed == right->changed && left->changed != 0;
}

static struct tdc_file_mark mark_now(const char *path)
{
    struct stat info;
    int number = tdc_storage_stat(path, &info);
    if (number != 0) /* to be absent is a state, too */
        return (struct tdc_file_mark){UINT64_MAX, (uint64_t)number};
    return (struct tdc_file_mark){(uint64_t)info.st_size, nanoseconds(info.st_mtim)};
}

struct tdc_file_mark tdc_share_mark(const struct tdc_share *share, const char *path)
{
    struct tdc_file_mark mark = mark_now(path);
    if (mark.changed > share->opened && mark.changed <= stamp_now())
        return (struct tdc_file_mark){0};
    return mark;
}

tdc_status tdc_share_input(tdc_share *share, const char *path, struct tdc_error *error)
{
    if (path == NULL)
        return TDC_OK;
    size_t count = share->head.input_count;
    struct tdc_part_input *inputs = realloc(share->inputs, (count + 1) * sizeof *inputs);
    char *copy = strdup(path);
    if (inputs != NULL)
        share->inputs = inputs;
    if (inputs == NULL || copy == NULL) {
        free(copy);
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    }
    inputs[count] = (struct tdc_part_input){copy, mark_now(path)};
    share->head.inputs = inputs;
    share->head.input_count = count + 1;
    return TDC_OK;
}

tdc_status tdc_share_start(tdc_share *share, struct tdc_error *error)
{
    tdc_status status = TDC_OK;
    if (share->options.kind == TDC_SHARE_PART)
        status = tdc_make_folders(share->options.folder, error);
    if (status == TDC_OK)
        status = tdc_share_load(share, error);
    if (status == TDC_OK && share->options.kind == TDC_SHARE_PART)
        status = tdc_share_open_part(share, error);
    return status;
}

/* ---- the part -------------------------------------------------------------------------------- */

/* Whether the locked file is still the one of that name: another run may have removed it. */
static bool is_named(int fd, const char *path)
{
    struct stat held, named;
    return fstat(fd, &held) == 0 && tdc_storage_stat(path, &named) == 0 &&
           held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

static tdc_status lock_part(struct tdc_share *share, struct tdc_error *error)
{
    const int flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    for (int attempt = 0; attempt < 100; attempt++) {
        int fd = TDC_RETRY(open(share->path, flags, 0640));
        if (fd < 0)
            return tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", share->path);
        /* where the file system has no locks, there is none */
        if (TDC_RETRY(flock(fd, LOCK_EX | LOCK_NB)) != 0 && errno == EWOULDBLOCK) {
            close(fd);
            return tdc_fail(error, TDC_ERR_REFUSED, "%s: another process is writing it",
                            share->path);
        }
        if (is_named(fd, share->path)) {
            share->fd = fd;
            return TDC_OK;
        }
        close(fd);
    }
    return tdc_fail(error, TDC_ERR_WRITE, "%s: it vanishes again and again", share->path);
}

tdc_status tdc_share_open_part(struct tdc_share *share, struct tdc_error *error)
{
    tdc_status status = share->fd >= 0 ? TDC_OK : lock_part(share, error);
    struct stat info;
    if (status == TDC_OK && fstat(share->fd, &info) != 0)
        status = tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", share->path);
    if (status != TDC_OK)
        return status;
    size_t keep = share->own_whole <= (size_t)info.st_size ? share->own_whole : 0;
    if ((size_t)info.st_size != keep && ftruncate(share->fd, (off_t)keep) != 0)
        return tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", share->path);
    if (keep != 0)
        return TDC_OK;
    struct tdc_text head;
    tdc_text_init(&head, (size_t)1 << 30);
    tdc_part_put_head(&head, &share->head);
    int failure = head.failed ? ENOMEM : tdc_write_fully(share->fd, head.data, head.length);
    tdc_text_free(&head);
    return failure == 0 ? TDC_OK : tdc_fail_errno(error, TDC_ERR_WRITE, failure, "%s", share->path);
}

/* Under the lock. A part must be complete; a journal is a convenience. */
static void give_up(struct tdc_share *share, const struct tdc_error *error)
{
    share->given_up = true;
    if (share->options.kind == TDC_SHARE_PART) {
        share->failure = *error;
        return;
    }
    if (share->fd >= 0) {
        unlink(share->path);
        close(share->fd);
        share->fd = -1;
    }
    char text[1200];
    snprintf(text, sizeof text, "no journal is kept: %s", error->message);
    if (share->options.message != NULL && error->status != TDC_ERR_REFUSED)
        share->options.message(share->options.context, TDC_MESSAGE_WARNING, text);
}

/* Under the lock. */
static bool is_writing(struct tdc_share *share)
{
    if (share->given_up || share->options.kind == TDC_SHARE_MERGE)
        return false;
    if (share->fd < 0) {
        if (tdc_seconds() - share->begun < share->options.patience)
            return false;
        struct tdc_error error = {0};
        if (tdc_share_open_part(share, &error) != TDC_OK)
            give_up(share, &error);
    }
    return !share->given_up;
}

bool tdc_share_wants(struct tdc_share *share)
{
    pthread_mutex_lock(&share->lock);
    bool wants = is_writing(share) || share->options.kind == TDC_SHARE_TEAM;
    pthread_mutex_unlock(&share->lock);
    return wants;
}

/* Under the lock. */
static void flush(struct tdc_share *share)
{
    struct tdc_error error = {0};
    int failure = share->pending.failed
                      ? ENOMEM
                      : tdc_write_fully(share->fd, share->pending.data, share->pending.length);
    tdc_text_clear(&share->pending);
    share->flushed = tdc_seconds();
    if (failure != 0) {
        tdc_fail_errno(&error, TDC_ERR_WRITE, failure, "%s", share->path);
        give_up(share, &error);
    }
}

void tdc_share_add(struct tdc_share *share, const struct tdc_part_record *record)
{
    pthread_mutex_lock(&share->lock);
    if (share->options.kind == TDC_SHARE_TEAM)
        tdc_part_put(&share->gathered, record);
    if (is_writing(share)) {
        tdc_part_put(&share->pending, record);
        if (share->pending.failed || share->pending.length >= FLUSH_BYTES ||
            share->options.patience <= 0 || tdc_seconds() - share->flushed >= FLUSH_SECONDS)
            flush(share);
    }
    pthread_mutex_unlock(&share->lock);
}

/* ---- how much, and how long ------------------------------------------------------------------ */

/* What was done since, to where others read it; under the lock. */
static void tell_work(struct tdc_share *share, struct tdc_text *to)
{
    double now = tdc_seconds();
    struct tdc_share_work *own = &share->own;
    own->process = share->options.index;
    own->nanoseconds = (uint64_t)((now - share->round_begun) * 1e9);
    if (own->done != 0)
        tdc_work_put(to, own);
    *own = (struct tdc_share_work){.round = own->round};
    share->round_begun = now;
}

void tdc_share_round(struct tdc_share *share)
{
    pthread_mutex_lock(&share->lock);
    if (share->round_begun != 0 && share->options.kind == TDC_SHARE_PART)
        tell_work(share, &share->pending);
    share->own.round += share->round_begun != 0;
    share->round_begun = tdc_seconds();
    pthread_mutex_unlock(&share->lock);
}

void tdc_share_count(struct tdc_share *share, uint64_t known, uint64_t changed, uint64_t done,
                     uint64_t bytes)
{
    pthread_mutex_lock(&share->lock);
    share->sums.known += known;
    share->sums.changed += changed;
    share->sums.done += done;
    share->sums.bytes += bytes;
    share->own.done += done;
    share->own.bytes += bytes;
    pthread_mutex_unlock(&share->lock);
}

void tdc_share_times(struct tdc_share *share, const double *seconds, size_t count)
{
    pthread_mutex_lock(&share->lock);
    for (size_t i = 0; i < count && i < TDC_SHARE_TIMES; i++)
        share->own.times[i] = (uint64_t)(seconds[i] * 1e9);
    pthread_mutex_unlock(&share->lock);
}

struct tdc_work_sums tdc_share_others(const struct tdc_share *share)
{
    bool team = share->options.kind == TDC_SHARE_TEAM;
    return tdc_works_sum(&share->known.works, share->own.round,
                         team ? share->options.index : TDC_NO_PROCESS);
}

/* ---- the end --------------------------------------------------------------------------------- */

static tdc_status end_part(struct tdc_share *share, struct tdc_error *error)
{
    bool added = share->pending.length != 0 || share->sums.done != 0;
    const struct tdc_part_record end = {.kind = TDC_PART_END};
    if (!share->own_complete || added) {
        if (share->round_begun != 0)
            tell_work(share, &share->pending);
        tdc_part_put(&share->pending, &end);
        if (!share->given_up)
            flush(share);
    }
    if (share->failure.status == TDC_OK && fsync(share->fd) != 0 && errno != EINVAL &&
        errno != ENOSYS)
        tdc_fail_errno(&share->failure, TDC_ERR_WRITE, errno, "%s", share->path);
    if (share->failure.status != TDC_OK && error != NULL)
        *error = share->failure;
    return share->failure.status;
}

tdc_status tdc_share_finish(tdc_share *share, struct tdc_error *error)
{
    tdc_status status = TDC_OK;
    pthread_mutex_lock(&share->lock);
    if (share->options.kind == TDC_SHARE_PART)
        status = end_part(share, error);
    else if (share->fd >= 0 && !tdc_share_delivers(share))
        flush(share); /* process 0 removes it when all is written */
    if (share->fd >= 0) {
        close(share->fd);
        share->fd = -1;
    }
    share->given_up = true;
    pthread_mutex_unlock(&share->lock);
    if (tdc_share_delivers(share) && share->options.kind != TDC_SHARE_MERGE)
        tdc_share_remove_journals(share);
    return status;
}

void tdc_share_tell(const tdc_share *share, struct tdc_share_sums *sums, size_t size)
{
    struct tdc_share_sums whole = share->sums;
    whole.part = share->options.kind == TDC_SHARE_PART ? share->path : NULL;
    struct tdc_work_sums work = tdc_works_sum(&share->known.works, TDC_EVERY_ROUND, TDC_NO_PROCESS);
    whole.processes = work.processes;
    whole.seconds = work.seconds;
    whole.longest = work.longest;
    if (share->options.kind == TDC_SHARE_MERGE) {
        whole.done = work.done;
        whole.bytes = work.bytes;
    }
    tdc_sized_give(sums, size, &whole, sizeof whole);
}

/* ---- a team ---------------------------------------------------------------------------------- */

static bool take_gathered(void *taker, const void *bytes, size_t size)
{
    struct tdc_share *share = taker;
    unsigned char *copy = malloc(size + 1);
    if (copy == NULL)
        return false;
    memcpy(copy, bytes, size);
    return tdc_known_add(&share->known, copy, size, 0);
}

tdc_status tdc_share_gather(struct tdc_share *share, struct tdc_error *error)
{
    const struct tdc_share_team *team = share->options.team;
    pthread_mutex_lock(&share->lock);
    tell_work(share, &share->gathered);
    pthread_mutex_unlock(&share->lock);
    bool whole = !share->gathered.failed;
    const char *bytes = tdc_text_get(&share->gathered);
    bool gathered = team->gather(team->context, bytes, whole ? share->gathered.length : 0,
                                 take_gathered, share);
    if (share->options.index == 0 && whole)
        whole = take_gathered(share, bytes, share->gathered.length);
    tdc_text_clear(&share->gathered);
    uint64_t numbers[] = {share->sums.known, share->sums.done, share->sums.bytes,
                          share->sums.changed};
    if (gathered)
        gathered = team->add(team->context, numbers, sizeof numbers / sizeof *numbers);
    if (gathered && share->options.index == 0) {
        share->sums.known = numbers[0];
        share->sums.done = numbers[1];
        share->sums.bytes = numbers[2];
        share->sums.changed = numbers[3];
    } else { /* they are counted there now */
        share->sums.known = share->sums.done = share->sums.bytes = share->sums.changed = 0;
    }
    if (gathered && whole)
        return TDC_OK;
    return tdc_fail(error, TDC_ERR_SYSTEM, "what processes have found cannot be gathered");
}
