#include "io/file/listed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/file/retry.h"
#include "tdcmp.h"

/* ---- the table ------------------------------------------------------------------------------- */

/* FREE -> FILLING -> (OPENING ->) LISTED -> FREE by who writes the file; OPENING if its name can be
 * nobody else's. tdc_out_files_remove borrows a LISTED slot (-> REMOVING -> LISTED), so that the
 * name cannot change under it. */
enum slot_state {
    SLOT_FREE,
    SLOT_FILLING,
    SLOT_OPENING,
    SLOT_LISTED,
    SLOT_REMOVING
};

static struct {
    atomic_int state;
    char path[PATH_MAX];
} slots[TDC_LISTED_FILES];

_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "a signal handler uses the table");

static atomic_bool leaving;

/* -1 when all are taken. While the process is leaving nothing is created any more. */
static int slot_claim(void)
{
    for (int i = 0; i < TDC_LISTED_FILES; i++) {
        int expected = SLOT_FREE;
        if (!atomic_compare_exchange_strong(&slots[i].state, &expected, SLOT_FILLING))
            continue;
        if (!atomic_load(&leaving))
            return i;
        atomic_store(&slots[i].state, SLOT_FREE);
        for (;;)
            pause();
    }
    return -1;
}

/* Waits for a tdc_out_files_remove in another thread, which takes one unlink. In the thread of the
 * signal handler itself the slot is never found borrowed: the handler has ended by then. */
static void slot_free(int slot)
{
    int expected = SLOT_LISTED;
    while (!atomic_compare_exchange_weak(&slots[slot].state, &expected, SLOT_FREE)) {
        expected = SLOT_LISTED;
        sched_yield();
    }
}

void tdc_out_files_remove(void)
{
    int saved = errno;
    for (int i = 0; i < TDC_LISTED_FILES; i++) {
        int expected = SLOT_LISTED;
        if (atomic_compare_exchange_strong(&slots[i].state, &expected, SLOT_REMOVING)) {
            unlink(slots[i].path);
            atomic_store(&slots[i].state, SLOT_LISTED);
        }
    }
    errno = saved;
}

static bool some_are_being_created(void)
{
    for (int i = 0; i < TDC_LISTED_FILES; i++) {
        int state = atomic_load(&slots[i].state);
        if (state == SLOT_FILLING || state == SLOT_OPENING)
            return true;
    }
    return false;
}

/* Another thread may be about to create a file: it is given a moment. */
void tdc_out_files_end(void)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    atomic_store(&leaving, true);
    for (int attempt = 0; attempt < 100 && some_are_being_created(); attempt++)
        nanosleep(&moment, NULL);
    tdc_out_files_remove();
}

/* ---- one file -------------------------------------------------------------------------------- */

/* A sweeper may have found the file between its creation and its lock: it holds the lock for a
 * moment, or has removed the name already. On file systems without locks nobody sweeps. */
static bool lock_new(int fd)
{
    struct stat status;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return false;
    return fstat(fd, &status) == 0 && status.st_nlink != 0;
}

/* Told before it exists, so that no thread that leaves overlooks it; unless the name may be another
 * process's, whose file it would remove. Signals wait, so that this thread does not leave itself
 * between the file and the word that it is ours. */
static int create_listed(int slot, const char *path, bool unique)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    snprintf(slots[slot].path, PATH_MAX, "%s", path);
    if (unique)
        atomic_store(&slots[slot].state, SLOT_OPENING);
    const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    int fd = TDC_RETRY(open(path, flags, 0600));
    int number = errno;
    if (fd < 0 && !unique)
        slots[slot].path[0] = '\0'; /* somebody else's */
    atomic_store(&slots[slot].state, SLOT_LISTED);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = number;
    return fd;
}

bool tdc_listed_create(const char *path, bool unique, struct tdc_listed_file *file)
{
    *file = (struct tdc_listed_file){.slot = slot_claim(), .fd = -1};
    if (file->slot < 0) {
        errno = EUSERS;
        return false;
    }
    file->fd = create_listed(file->slot, path, unique);
    int number = errno;
    if (file->fd < 0) {
        tdc_listed_forget(file);
        errno = number;
        return false;
    }
    if (lock_new(file->fd))
        return true;
    tdc_listed_remove(file);
    errno = EEXIST;
    return false;
}

const char *tdc_listed_path(const struct tdc_listed_file *file)
{
    return slots[file->slot].path;
}

void tdc_listed_forget(struct tdc_listed_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    if (file->slot >= 0)
        slot_free(file->slot);
    *file = (struct tdc_listed_file){.slot = -1, .fd = -1};
}

void tdc_listed_remove(struct tdc_listed_file *file)
{
    if (file->slot >= 0)
        unlink(slots[file->slot].path);
    tdc_listed_forget(file);
}
