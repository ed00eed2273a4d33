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
    unsigned idle;    /* threads that wait for a call */
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
}

static void take_out(struct tdc_call *call)
{
    struct tdc_call **at = &pool.first;
    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
    if (pool.end == &call->next)
        pool.end = at;
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
    pool.idle = pool.threads = pool.left = pool.held = 0;
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.more, NULL);
}

/* One more thread when all are at work. False when there is none at all. */
static bool provide_thread(void)
{
    if (pool.idle != 0 || pool.threads - pool.left >= TDC_MOST_AT_ONCE) {
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

static struct timespec deadline_of(const struct timespec *began)
{
    unsigned wait = atomic_load(&patience_ms);
    struct timespec until = *began;
    until.tv_sec += wait / 1000;
    until.tv_nsec += (long)(wait % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    return until;
}

/* Under the lock. Without an answer it is in the hands of a thread, or of nobody. */
static int await(struct tdc_call *call)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    while (call->state == WAITING || call->state == UNDER_WAY) {
        /* its time begins when a thread has it; one that gets none has the same from now on */
        bool waiting = call->state == WAITING;
        struct timespec until = deadline_of(waiting ? &now : &call->began);
        int late = pthread_cond_timedwait(&call->answered, &pool.lock, &until);
        if (late != ETIMEDOUT || waiting != (call->state == WAITING) || call->state == ANSWERED)
            continue;
        if (waiting) {
            take_out(call);
            call->state = NOT_TRIED;
        } else {
            call->state = GIVEN_UP;
            call->mount->held++;
            call->mount->in_a_row++;
            pool.held++;
            pool.threads--; /* another may take its place */
        }
        return TDC_NO_ANSWER;
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
