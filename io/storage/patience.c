#include "io/storage/patience.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

enum {
    WAITING, /* in the queue */
    UNDER_WAY,
    ANSWERED,
    NOT_TRIED,
    GIVEN_UP, /* a thread is held in it */
    LEFT      /* under way, and nobody waits */
};

/* Of the whole process: so is what holds its threads. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct tdc_call *first, **end;
    unsigned queued;  /* calls that no thread has yet */
    unsigned idle;    /* threads that wait for a call, or were told of one and have not woken yet */
    unsigned threads; /* idle, or in a call that was not given up */
    unsigned left;    /* threads in a call that nobody waits for */
    unsigned held;    /* in one that was given up */
    bool watched;     /* a fork will be seen */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

static atomic_uint patience_ms = TDC_PATIENCE * 1000;

void tdc_patience_set(double seconds)
{
    const double most = 1e6; /* 11 days */
    double bounded = seconds > most ? most : seconds;
    atomic_store(&patience_ms, bounded > 0 ? (unsigned)(bounded * 1000 + 0.999) : 0);
}

double tdc_patience(void)
{
    return atomic_load(&patience_ms) / 1000.0;
}

const char *tdc_patience_text(int number, char *text, size_t size)
{
    if (number == TDC_NO_ANSWER)
        snprintf(text, size, "no answer from storage in %.10g s (--io-timeout)", tdc_patience());
    else if (number == TDC_NOT_TRIED)
        snprintf(text, size, "not tried: its storage has not answered %d calls", TDC_MOST_IN_A_ROW);
    else
        return NULL;
    return text;
}

/* ---- the queue; under the lock --------------------------------------------------------------- */

static void append(struct tdc_call *call)
{
    if (pool.end == NULL)
        pool.end = &pool.first;
    call->next = NULL;
    call->state = WAITING;
    *pool.end = call;
    pool.end = &call->next;
    pool.queued++;
}

static void take_out(struct tdc_call *call)
{
    struct tdc_call **at = &pool.first;
    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
    if (pool.end == &call->next)
        pool.end = at;
    pool.queued--;
}

/* ---- the threads ----------------------------------------------------------------------------- */

static void finish(struct tdc_call *call)
{
    call->mount->in_a_row = 0;
    if (call->state == UNDER_WAY) {
        call->state = ANSWERED;
        pthread_cond_signal(&call->answered);
        return;
    }
    if (call->state == GIVEN_UP) {
        call->mount->held--;
        pool.held--;
        pool.threads++; /* this one is back */
    }
    pool.left -= call->state == LEFT;
    pthread_mutex_unlock(&pool.lock);
    pthread_cond_destroy(&call->answered);
    call->drop(call);
    pthread_mutex_lock(&pool.lock);
}

static void *serve(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&pool.lock);
    while (pool.threads - pool.left <= TDC_MOST_AT_ONCE) {
        struct tdc_call *call = pool.first;
        if (call == NULL) {
            pool.idle++;
            pthread_cond_wait(&pool.more, &pool.lock);
            pool.idle--;
            continue;
        }
        take_out(call);
        clock_gettime(CLOCK_MONOTONIC, &call->began);
        call->state = call->state == LEFT ? LEFT : UNDER_WAY;
        pool.left += call->state == LEFT;
        pthread_mutex_unlock(&pool.lock);
        call->run(call);
        pthread_mutex_lock(&pool.lock);
        finish(call);
    }
    pool.threads--;
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

/* The threads stay with the parent. */
static void after_fork(void)
{
    pool.first = NULL;
    pool.end = &pool.first;
    pool.queued = pool.idle = pool.threads = pool.left = pool.held = 0;
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.more, NULL);
}

/* One more thread when all are at work. False when there is none at all. */
static bool provide_thread(void)
{
    if (pool.queued <= pool.idle || pool.threads - pool.left >= TDC_MOST_AT_ONCE) {
        pthread_cond_signal(&pool.more);
        return true;
    }
    if (!pool.watched)
        pool.watched = pthread_atfork(NULL, NULL, after_fork) == 0;
    pthread_attr_t detached;
    pthread_t thread;
    bool started = false;
    if (pthread_attr_init(&detached) == 0) {
        pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
        started = pthread_create(&thread, &detached, serve, NULL) == 0;
        pthread_attr_destroy(&detached);
    }
    pool.threads += started;
    return started || pool.threads != 0;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void prepare(struct tdc_call *call)
{
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&call->answered, &clock);
    pthread_condattr_destroy(&clock);
}

static bool is_dead(const struct tdc_mount *mount)
{
    return (mount->in_a_row >= TDC_MOST_IN_A_ROW || mount->held >= TDC_MOST_HELD) && !mount->any;
}

/* To a thread, which may be done with it when this returns; or the call stays with its maker, who
 * has to make it where there is no thread. */
enum hands {
    HANDED,
    KEPT,
    REFUSED
};

static enum hands hand_over(struct tdc_call *call, int state)
{
    prepare(call);
    if (atomic_load(&patience_ms) == 0)
        return KEPT;
    enum hands hands = HANDED;
    pthread_mutex_lock(&pool.lock);
    /* so many that nobody waits for are held by storage that does not tell: no more */
    if (is_dead(call->mount) || (state == LEFT && pool.left >= TDC_MOST_AT_ONCE)) {
        hands = REFUSED;
    } else {
        append(call);
        call->state = state;
        if (!provide_thread()) {
            take_out(call);
            hands = KEPT;
        }
    }
    pthread_mutex_unlock(&pool.lock);
    return hands;
}

void tdc_call_begin(struct tdc_call *call)
{
    enum hands hands = hand_over(call, WAITING);
    if (hands == HANDED)
        return;
    if (hands == KEPT)
        call->run(call);
    call->state = hands == KEPT ? ANSWERED : NOT_TRIED;
}

/* Patience is counted in so many waits, one after the other: while the process or its machine
 * stands still it loses one of them at most, and an answer that came meanwhile is seen. */
#define WAITS 8U

static struct timespec after(const struct timespec *from, unsigned milliseconds)
{
    struct timespec until = *from;
    until.tv_sec += milliseconds / 1000;
    until.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    return until;
}

/* Waits that are over already for a call that was begun before it was waited for; the last one is
 * not, unless its storage is known to be dead. */
static unsigned waits_over(const struct tdc_call *call, const struct timespec *now, unsigned each)
{
    if (call->state != UNDER_WAY)
        return 0;
    double seconds = (double)(now->tv_sec - call->began.tv_sec) +
                     1e-9 * (double)(now->tv_nsec - call->began.tv_nsec);
    double over = seconds * 1000 / each;
    unsigned most = is_dead(call->mount) ? WAITS : WAITS - 1;
    return over <= 0 ? 0 : over < most ? (unsigned)over : most;
}

/* Nobody waits for it any more: it is in the hands of a thread, or of nobody. */
static void give_up(struct tdc_call *call)
{
    if (call->state == WAITING) {
        take_out(call);
        call->state = NOT_TRIED;
        return;
    }
    call->state = GIVEN_UP;
    call->mount->held++;
    call->mount->in_a_row++;
    pool.held++;
    pool.threads--; /* another may take its place */
    if (pool.queued != 0)
        (void)provide_thread();
}

/* Under the lock. */
static int await(struct tdc_call *call)
{
    unsigned each = (atomic_load(&patience_ms) + WAITS - 1) / WAITS;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int state = call->state;
    unsigned over = waits_over(call, &now, each);
    while (call->state == WAITING || call->state == UNDER_WAY) {
        if (over == WAITS) {
            give_up(call);
            return TDC_NO_ANSWER;
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
        struct timespec until = after(&now, each);
        int late = pthread_cond_timedwait(&call->answered, &pool.lock, &until);
        /* its time begins when a thread has it; one that gets none has the same from now on */
        if (call->state != state)
            over = 0;
        else if (late == ETIMEDOUT)
            over++;
        state = call->state;
    }
    return call->state == ANSWERED ? 0 : TDC_NOT_TRIED;
}

int tdc_call_end(struct tdc_call *call)
{
    pthread_mutex_lock(&pool.lock);
    if (call->state == WAITING && is_dead(call->mount)) {
        take_out(call);
        call->state = NOT_TRIED;
    }
    int number = await(call);
    bool held = call->state == GIVEN_UP;
    pthread_mutex_unlock(&pool.lock);
    if (!held)
        pthread_cond_destroy(&call->answered);
    if (number != 0 && !held)
        call->drop(call);
    return number;
}

void tdc_call_leave(struct tdc_call *call)
{
    enum hands hands = hand_over(call, LEFT);
    if (hands == HANDED)
        return;
    if (hands == KEPT)
        call->run(call);
    pthread_cond_destroy(&call->answered);
    call->drop(call);
}

void tdc_call_forget(struct tdc_call *call)
{
    pthread_mutex_lock(&pool.lock);
    bool under_way = call->state == UNDER_WAY;
    if (call->state == WAITING)
        take_out(call);
    if (under_way)
        call->state = LEFT;
    pool.left += under_way;
    pthread_mutex_unlock(&pool.lock);
    if (under_way)
        return;
    pthread_cond_destroy(&call->answered);
    call->drop(call);
}

unsigned tdc_calls_held(void)
{
    pthread_mutex_lock(&pool.lock);
    unsigned held = pool.held + pool.left;
    pthread_mutex_unlock(&pool.lock);
    return held;
}

int tdc_call_make(struct tdc_call *call)
{
    tdc_call_begin(call);
    return tdc_call_end(call);
}
