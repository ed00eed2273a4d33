#include "io/base/team.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "io/base/memory_limit.h"
#include "io/platform/platform.h"

/* What a thread may need: buffers of both sides, working memory of files, its stack in use. Half of
 * the memory is left for everything else. */
#define THREAD_MEMORY ((size_t)16 << 20)
/* Files it may have open: those of a pair it opens and of one whose last span it works on, and the
 * two folders; and what is kept for results and all else. A thread without would make rows out of
 * its lack. */
#define THREAD_FILES ((size_t)6)
#define OTHER_FILES  ((size_t)40)

/* Threads whose files the process may open. */
static size_t room_for_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    return limit.rlim_cur > OTHER_FILES ? (limit.rlim_cur - OTHER_FILES) / THREAD_FILES : 0;
}

int tdc_team_size(int wanted)
{
    int size = wanted > 0 ? wanted : tdc_processors();
    size_t room = tdc_memory_limit() / 2 / THREAD_MEMORY, files = room_for_files();
    if (files < room)
        room = files;
    if (size > TDC_MOST_THREADS)
        size = TDC_MOST_THREADS;
    if ((size_t)size > room)
        size = room > 1 ? (int)room : 1;
    return size;
}

struct member {
    pthread_t thread;
    void (*work)(void *argument, int member);
    void *argument;
    int number;
};

static void *run_member(void *argument)
{
    const struct member *member = argument;
    member->work(member->argument, member->number);
    return NULL;
}

int tdc_team_run(int size, void (*work)(void *argument, int member), void *argument)
{
    struct member *members = size > 1 ? calloc((size_t)size, sizeof *members) : NULL;
    int started = 1;
    for (; members != NULL && started < size; started++) {
        struct member *member = &members[started];
        *member = (struct member){.work = work, .argument = argument, .number = started};
        if (pthread_create(&member->thread, NULL, run_member, member) != 0)
            break;
    }
    work(argument, 0);
    for (int i = 1; i < started; i++)
        pthread_join(members[i].thread, NULL);
    free(members);
    return started;
}

/* ---- probing --------------------------------------------------------------------------------- */

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    bool open;
};

static void *wait_at_gate(void *argument)
{
    struct gate *gate = argument;
    pthread_mutex_lock(&gate->lock);
    while (!gate->open)
        pthread_cond_wait(&gate->opened, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
    return NULL;
}

int tdc_team_probe(int size)
{
    struct gate gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER};
    pthread_t *threads = size > 1 ? calloc((size_t)size, sizeof *threads) : NULL;
    int started = 1;
    while (threads != NULL && started < size &&
           pthread_create(&threads[started], NULL, wait_at_gate, &gate) == 0)
        started++;
    pthread_mutex_lock(&gate.lock);
    gate.open = true;
    pthread_cond_broadcast(&gate.opened);
    pthread_mutex_unlock(&gate.lock);
    for (int i = 1; i < started; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    return started;
}

void tdc_team_say(void (*message)(void *context, tdc_message_level level, const char *text),
                  void *context, int asked, int used)
{
    if (message == NULL || asked <= used)
        return;
    char text[128];
    const char *reason =
        used == TDC_MOST_THREADS ? "no run takes more" : "there is no room for more";
    snprintf(text, sizeof text, "%d thread%s of the %d asked for: %s", used, used == 1 ? "" : "s",
             asked, reason);
    message(context, TDC_MESSAGE_WARNING, text);
}
