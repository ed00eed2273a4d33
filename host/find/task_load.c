/* task_load.c - the two dumps of a comparison. */
#include <pthread.h>

#include "host/dump/dump.h"
#include "host/graph/graph_set.h"

struct loading {
    const char *path;
    tdc_dump *dump;
    tdc_status status;
    struct tdc_error error;
};

static void *load_one(void *argument)
{
    struct loading *loading = argument;
    loading->status = tdc_dump_load(loading->path, &loading->dump, &loading->error);
    return NULL;
}

/* Both sides at once, if a thread can be had: reading the json is the longest part of a statistics
 * comparison. */
static tdc_status load_json(const struct tdc_task *task, tdc_dump **npu, tdc_dump **bench,
                            struct tdc_error *error)
{
    struct loading sides[2] = {{.path = task->npu}, {.path = task->bench}};
    pthread_t thread;
    bool apart = pthread_create(&thread, NULL, load_one, &sides[1]) == 0;
    load_one(&sides[0]);
    if (apart)
        pthread_join(thread, NULL);
    else
        load_one(&sides[1]);
    for (int i = 0; i < 2; i++)
        if (sides[i].status != TDC_OK) {
            tdc_dump_free(sides[1 - i].dump);
            if (error != NULL)
                *error = sides[i].error;
            return sides[i].status;
        }
    *npu = sides[0].dump;
    *bench = sides[1].dump;
    return TDC_OK;
}

tdc_status tdc_task_load(const struct tdc_task *task, tdc_dump **npu, tdc_dump **bench,
                         struct tdc_error *error)
{
    *npu = *bench = NULL;
    return task->graph != NULL ? task->graph->load(task->graph, npu, bench, error)
                               : load_json(task, npu, bench, error);
}
