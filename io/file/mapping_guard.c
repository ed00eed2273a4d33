#include "io/file/mapping_guard.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

#include "io/storage/fetched_map.h"
#include "io/storage/mounts.h"

/*
 * Where the current thread's guarded read wants to land; NULL outside of one. initial-exec, because
 * the handler must reach it in any thread without the loader allocating the variable first.
 */
static _Thread_local sigjmp_buf *volatile landing __attribute__((tls_model("initial-exec")));

static pthread_mutex_t depth_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned depth;
/* What was there before; written only while our handler is not installed. */
static struct sigaction before_bus, before_touch;

static void pass_on(const struct sigaction *previous, int number, siginfo_t *info, void *context)
{
    if (previous->sa_flags & SA_SIGINFO) {
        previous->sa_sigaction(number, info, context);
        return;
    }
    bool sent = info->si_code <= 0; /* by kill() and the like, not by a faulting instruction */
    if (previous->sa_handler == SIG_IGN && sent)
        return;
    if (previous->sa_handler != SIG_DFL && previous->sa_handler != SIG_IGN) {
        previous->sa_handler(number);
        return;
    }
    /* A fault happens again as soon as we return, and then finds the default action. */
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigemptyset(&standard.sa_mask);
    sigaction(number, &standard, NULL);
    if (sent)
        raise(number);
}

/* Ends the guarded read of this thread. */
_Noreturn static void land(sigjmp_buf *target, const ucontext_t *context)
{
    landing = NULL;
    /* The jump saves no signal mask, so that entering a guarded read costs no system call; what
     * the mask was is told to the handler. */
    pthread_sigmask(SIG_SETMASK, &context->uc_sigmask, NULL);
    siglongjmp(*target, 1);
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    sigjmp_buf *target = landing;
    if (target == NULL || info->si_code != BUS_ADRERR)
        pass_on(&before_bus, number, info, context);
    else
        land(target, context);
}

/* A page of a remote file that nobody has read yet. */
static void on_touch(int number, siginfo_t *info, void *context)
{
    sigjmp_buf *target = landing;
    int kept = errno;
    enum tdc_fetch_result result = target != NULL && info->si_code == SEGV_ACCERR
                                       ? tdc_fetched_map_touch(info->si_addr)
                                       : TDC_FETCH_ELSEWHERE;
    errno = kept;
    if (result == TDC_FETCH_FAILED)
        land(target, context);
    else if (result == TDC_FETCH_ELSEWHERE)
        pass_on(&before_touch, number, info, context);
}

typedef void handler(int number, siginfo_t *info, void *context);

static bool install(int number, handler *handle, struct sigaction *previous)
{
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    /* Two calls: `previous` must be complete before the handler may read it. */
    return sigaction(number, NULL, previous) == 0 && sigaction(number, &action, NULL) == 0;
}

static void uninstall(int number, handler *handle, const struct sigaction *previous)
{
    struct sigaction current;
    if (sigaction(number, NULL, &current) != 0)
        return;
    /* Whoever replaced our handler meanwhile keeps theirs. */
    if ((current.sa_flags & SA_SIGINFO) && current.sa_sigaction == handle)
        sigaction(number, previous, NULL);
}

static bool install_all(void)
{
    return install(SIGBUS, on_bus_error, &before_bus) &&
           (!tdc_mounts_remote() || install(SIGSEGV, on_touch, &before_touch));
}

bool tdc_guard_begin(void)
{
    pthread_mutex_lock(&depth_lock);
    bool ready = depth > 0 || install_all();
    if (ready)
        depth++;
    pthread_mutex_unlock(&depth_lock);
    return ready;
}

void tdc_guard_end(void)
{
    pthread_mutex_lock(&depth_lock);
    if (depth > 0 && --depth == 0) {
        uninstall(SIGBUS, on_bus_error, &before_bus);
        if (tdc_mounts_remote())
            uninstall(SIGSEGV, on_touch, &before_touch);
    }
    pthread_mutex_unlock(&depth_lock);
}

bool tdc_guarded_read(void (*read)(void *), void *argument)
{
    sigjmp_buf place;
    tdc_fetch_failure_set(0);
    if (sigsetjmp(place, 0) != 0)
        return false;
    landing = &place;
    read(argument);
    landing = NULL;
    return true;
}
