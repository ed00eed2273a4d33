#include "bench/tools/anon_memory.h"

#include <time.h>

#include "io/platform/platform.h"

uint64_t tdc_anon_bytes(void)
{
    return tdc_memory_anonymous();
}

static void look(struct tdc_anon_watch *watch)
{
    uint64_t now = tdc_anon_bytes();
    if (now > watch->peak)
        watch->peak = now;
}

static void *watch_memory(void *argument)
{
    struct tdc_anon_watch *watch = argument;
    const struct timespec pause = {.tv_nsec = 500000};
    while (!atomic_load(&watch->stop)) {
        look(watch);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

void tdc_anon_watch_start(struct tdc_anon_watch *watch)
{
    tdc_memory_trim();
    watch->before = watch->peak = tdc_anon_bytes();
    atomic_init(&watch->stop, false);
    watch->running = pthread_create(&watch->thread, NULL, watch_memory, watch) == 0;
}

uint64_t tdc_anon_watch_stop(struct tdc_anon_watch *watch)
{
    if (watch->running) {
        atomic_store(&watch->stop, true);
        pthread_join(watch->thread, NULL);
    }
    look(watch);
    return watch->peak - watch->before;
}
