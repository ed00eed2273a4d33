/* tasks.c - a list of comparisons to do. */
#include <stdlib.h>
#include <string.h>

#include "host/dump/atb_dump.h"
#include "host/dump/tensor_dump.h"
#include "host/find/folders.h"
#include "host/graph/graph_set.h"
#include "host/kernel_dump/kernel_set.h"
#include "io/base/error.h"
#include "io/storage/looking.h"

/* *stack is NULL where there is none. False when out of memory. */
static bool stack_beside(const char *json, char **stack)
{
    *stack = NULL;
    const char *slash = strrchr(json, '/');
    size_t folder = slash == NULL ? 0 : (size_t)(slash - json) + 1;
    char *path = malloc(folder + sizeof "stack.json");
    if (path == NULL)
        return false;
    memcpy(path, json, folder);
    memcpy(path + folder, "stack.json", sizeof "stack.json");
    if (tdc_is_file(path))
        *stack = path;
    else
        free(path);
    return true;
}

static void free_task(struct tdc_task *task)
{
    free(task->npu);
    free(task->bench);
    free(task->stack);
    free(task->rank);
    free(task->step);
    free(task->folder);
}

tdc_status tdc_tasks_add(struct tdc_tasks *list, const char *npu, const char *bench,
                         const char *rank, const char *step, const char *folder,
                         struct tdc_error *error)
{
    struct tdc_task *grown = realloc(list->tasks, (list->count + 1) * sizeof *grown);
    if (grown == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    list->tasks = grown;
    const char *slash = strrchr(npu, '/');
    struct tdc_task task = {
        .npu = strdup(npu),
        .bench = strdup(bench),
        .rank = strdup(rank),
        .step = strdup(step),
        .folder = strdup(folder),
        .debug = strcmp(slash == NULL ? npu : slash + 1, "debug.json") == 0,
    };
    if ((!tdc_is_tensor_file(npu) && !tdc_is_atb_dump(npu) && !stack_beside(npu, &task.stack)) ||
        task.npu == NULL || task.bench == NULL || task.rank == NULL || task.step == NULL ||
        task.folder == NULL) {
        free_task(&task);
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    }
    list->tasks[list->count++] = task;
    return TDC_OK;
}

tdc_status tdc_tasks_pair(const char *npu, const char *bench, tdc_tasks **tasks,
                          struct tdc_error *error)
{
    struct tdc_tasks *list = *tasks = calloc(1, sizeof *list);
    if (list == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    tdc_status status = tdc_tasks_add(list, npu, bench, "", "", "", error);
    if (status == TDC_OK) { /* what lies beside is no stack of theirs */
        free(list->tasks[0].stack);
        list->tasks[0].stack = NULL;
        list->tasks[0].debug = false;
    }
    return status;
}

void tdc_tasks_free(tdc_tasks *tasks)
{
    if (tasks == NULL)
        return;
    for (size_t i = 0; i < tasks->count; i++)
        free_task(&tasks->tasks[i]);
    tdc_graph_set_free(tasks->graphs);
    tdc_kernel_set_free(tasks->kernels);
    free(tasks->tasks);
    free(tasks);
}

size_t tdc_tasks_count(const tdc_tasks *tasks)
{
    return tasks != NULL ? tasks->count : 0;
}

const struct tdc_task *tdc_tasks_get(const tdc_tasks *tasks, size_t index)
{
    return index < tdc_tasks_count(tasks) ? &tasks->tasks[index] : NULL;
}

size_t tdc_tasks_left_out(const tdc_tasks *tasks)
{
    return tasks != NULL ? tasks->left_out : 0;
}

size_t tdc_tasks_empty(const tdc_tasks *tasks)
{
    return tasks != NULL ? tasks->empty : 0;
}
