/* task_load.c - the two dumps of a comparison, and that of a third run beside them. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "host/dump/dump.h"
#include "host/find/folders.h"
#include "host/graph/graph_set.h"
#include "io/base/error.h"
#include "io/storage/looking.h"

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

/* "C/step0/rank0" for the test's "A/step0/rank0/dump.json", as far as C has such folders;
 * allocated. */
static char *place_below(const struct tdc_task *task, const char *path)
{
    char *place = strdup(path);
    const char *const parts[] = {task->folder, task->step, task->rank};
    for (size_t i = 0; i < sizeof parts / sizeof *parts && place != NULL; i++) {
        bool in_folder =
            i == 1 && task->folder[0] != '\0' && strstr(task->folder, task->step) != NULL;
        if (parts[i][0] == '\0' || in_folder)
            continue;
        char *below = tdc_path_join(place, parts[i]);
        if (below != NULL && !tdc_is_folder(below)) {
            free(below);
            continue;
        }
        free(place);
        place = below;
    }
    return place;
}

tdc_status tdc_task_load_third(const struct tdc_task *task, const char *path,
                               const struct tdc_options *options, tdc_dump **dump,
                               struct tdc_error *error)
{
    tdc_tasks *tasks = NULL;
    char *place = place_below(task, path);
    *dump = NULL;
    if (place == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for %s", path);
    tdc_status status = tdc_tasks_find(task->npu, place, -1, options, &tasks, error);
    free(place);
    if (status == TDC_OK)
        status =
            tdc_tasks_count(tasks) == 1
                ? tdc_dump_load(tdc_tasks_get(tasks, 0)->bench, dump, error)
                : tdc_fail(error, TDC_ERR_NOT_FOUND, "%s: no dump that faces %s", path, task->npu);
    tdc_tasks_free(tasks);
    return status;
}
