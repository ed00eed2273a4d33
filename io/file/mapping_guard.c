#include "io/file/mapping_guard.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

/*
 * Where the current thread's guarded read wants to land; NULL outside of one. initial-exec, because
 * the handler must reach it in any thread without the loader allocating the variable first.
 */
static _Thread_local sigjmp_buf *volatile landing __attribute__((tls_model("initial-exec")));

static pthread_mutex_t depth_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned depth;
static struct sigaction previous; /* written only while our handler is not installed */

static void pass_on(int number, siginfo_t *info, void *context)
{
    if (previous.sa_flags & SA_SIGINFO) {
        previous.sa_sigaction(number, info, context);
        return;
    }
    bool sent = info->si_code <= 0; /* by kill() and the like, not by a faulting instruction */
    if (previous.sa_handler == SIG_IGN && sent)
        return;
    if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
        previous.sa_handler(number);
        return;
    }
    /* A fault happens again as soon as we return, and then finds the default action. */
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigemptyset(&standard.sa_mask);
    sigaction(number, &standard, NULL);
    if (sent)
        raise(number);
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    sigjmp_buf *target = landing;
    if (target == NULL || info->si_code != BUS_ADRERR) {
        pass_on(number, info, context);
        return;
    }
    landing = NULL;
    /* The jump saves no signal mask, so that entering a guarded read costs no system call; what
     * the mask was is told to the handler. */
    pthread_sigmask(SIG_SETMASK, &((ucontext_t *)context)->uc_sigmask, NULL);
    siglongjmp(*target, 1);
}

static bool install(void)
{
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    /* Two calls: `previous` must be complete before the handler may read it. */
    return sigaction(SIGBUS, NULL, &previous) == 0 && sigaction(SIGBUS, &action, NULL) == 0;
}

static void uninstall(void)
{
    struct sigaction current;
    if (sigaction(SIGBUS, NULL, &current) != 0)
        return;
    /* Whoever replaced our handler meanwhile keeps theirs. */
    if ((current.sa_flags & SA_SIGINFO) && current.sa_sigaction == on_bus_error)
        sigaction(SIGBUS, &previous, NULL);
}

bool tdc_guard_begin(void)
{
    pthread_mutex_lock(&depth_lock);
    bool ready = depth > 0 || install();
    if (ready)
        depth++;
    pthread_mutex_unlock(&depth_lock);
    return ready;
}

void tdc_guard_end(void)
{
    pthread_mutex_lock(&depth_lock);
    if (depth > 0 && --depth == 0)
        uninstall();
    pthread_mutex_unlock(&depth_lock);
}

bool tdc_guarded_read(void (*read)(void *), void *argument)
{
    sigjmp_buf place;
    if (sigsetjmp(place, 0) != 0)
        return false;
    landing = &place;
    read(argument);
    landing = NULL;
    return true;
}
