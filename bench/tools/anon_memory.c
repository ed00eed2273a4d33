#include "bench/tools/anon_memory.h"

#include <malloc.h>
#include <stdio.h>
#include <time.h>

uint64_t tdc_anon_bytes(void)
{
    FILE *file = fopen("/proc/self/status", "re");
    if (file == NULL)
        return 0;
    char line[256];
    unsigned long long kilobytes = 0;
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "RssAnon: %llu kB", &kilobytes) == 1)
            break;
    fclose(file);
    return (uint64_t)kilobytes << 10;
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
    malloc_trim(0);
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
