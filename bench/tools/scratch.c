#include "bench/tools/scratch.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "io/base/error.h"

static volatile sig_atomic_t caught;
static volatile time_t caught_at;
static struct tdc_cancel cancel;

/* clock_gettime and _exit are allowed in handlers. */
static void remember(int number)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (caught == 0) {
        caught_at = now.tv_sec;
        caught = number;
        tdc_cancel_set(&cancel);
    } else if (number != SIGPIPE && now.tv_sec - caught_at > 1) { /* a pipe says so at each write */
        _exit(128 + number);
    }
}

const struct tdc_cancel *tdc_interrupt_watch(void)
{
    struct sigaction action = {.sa_handler = remember};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    sigaction(SIGPIPE, &action, NULL); /* `| head` */
    return &cancel;
}

void tdc_interrupt_obey(void)
{
    if (caught == 0)
        return;
    signal((int)caught, SIG_DFL);
    raise((int)caught);
}

tdc_status tdc_scratch_open(const char *parent, struct tdc_scratch *scratch,
                            struct tdc_error *error)
{
    const char *base = parent != NULL ? parent : getenv("TMPDIR");
    if (base == NULL || base[0] == '\0')
        base = "/tmp";
    int length = snprintf(scratch->path, sizeof scratch->path, "%s/tdcmp-bench-XXXXXX", base);
    if (length < 0 || (size_t)length >= sizeof scratch->path)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: path too long", base);
    if (mkdtemp(scratch->path) == NULL)
        return tdc_fail_errno(error, TDC_ERR_WRITE, errno, "a temporary folder in %s", base);
    return TDC_OK;
}

static int remove_one(const char *path, const struct stat *state, int kind, struct FTW *place)
{
    (void)state;
    (void)kind;
    (void)place;
    remove(path);
    return 0;
}

static void remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void tdc_scratch_close(const struct tdc_scratch *scratch)
{
    remove_tree(scratch->path);
}

void tdc_scratch_remove(const struct tdc_scratch *scratch, const char *name)
{
    char path[sizeof scratch->path + 256];
    int length = snprintf(path, sizeof path, "%s/%s", scratch->path, name);
    if (length > 0 && (size_t)length < sizeof path)
        remove_tree(path);
}
