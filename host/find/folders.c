#include "host/find/folders.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/dump/tensor_dump.h"
#include "io/base/error.h"

/* More ranks than any cluster; a folder with more is something else. */
#define NAMES_LIMIT 1000000

bool tdc_is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool tdc_is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

char *tdc_path_join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path != NULL)
        snprintf(path, size, "%s/%s", folder, name);
    return path;
}

/* prefix, or prefix followed by a number without leading zeros. */
static bool numbered(const char *name, const char *prefix, long *number)
{
    size_t length = strlen(prefix);
    if (strncmp(name, prefix, length) != 0)
        return false;
    const char *digits = name + length;
    *number = -1;
    if (*digits == '\0')
        return true;
    if (strspn(digits, "0123456789") != strlen(digits) || strlen(digits) > 9 ||
        (digits[0] == '0' && digits[1] != '\0'))
        return false;
    *number = strtol(digits, NULL, 10);
    return true;
}

static bool add_name(struct tdc_names *names, const char *name, long number)
{
    if (names->count >= NAMES_LIMIT)
        return false;
    struct tdc_numbered *grown = realloc(names->names, (names->count + 1) * sizeof *grown);
    if (grown == NULL)
        return false;
    names->names = grown;
    char *copy = strdup(name);
    if (copy == NULL)
        return false;
    names->names[names->count++] = (struct tdc_numbered){copy, number};
    return true;
}

static int by_number(const void *left, const void *right)
{
    long a = ((const struct tdc_numbered *)left)->number;
    long b = ((const struct tdc_numbered *)right)->number;
    return (a > b) - (a < b);
}

tdc_status tdc_folder_names(const char *folder, const char *prefix, struct tdc_names *names,
                            struct tdc_error *error)
{
    *names = (struct tdc_names){0};
    DIR *directory = opendir(folder);
    if (directory == NULL)
        return tdc_fail_errno(error, errno == ENOENT ? TDC_ERR_NOT_FOUND : TDC_ERR_READ, errno,
                              "%s", folder);
    bool ok = true;
    const struct dirent *entry;
    while (ok && (entry = readdir(directory)) != NULL) {
        long number;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (numbered(entry->d_name, prefix, &number)) {
            ok = add_name(names, entry->d_name, number);
        } else if (names->stranger == NULL) {
            names->stranger = strdup(entry->d_name);
            ok = names->stranger != NULL;
        }
    }
    closedir(directory);
    if (!ok) {
        tdc_folder_names_free(names);
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory or too many entries", folder);
    }
    if (names->count > 1)
        qsort(names->names, names->count, sizeof *names->names, by_number);
    return TDC_OK;
}

void tdc_folder_names_free(struct tdc_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->names[i].name);
    free(names->names);
    free(names->stranger);
    *names = (struct tdc_names){0};
}

/* ---- tasks ----------------------------------------------------------------------------------- */

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

tdc_status tdc_tasks_add(struct tdc_task_list *list, const char *npu, const char *bench,
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
    if ((!tdc_is_tensor_file(npu) && !stack_beside(npu, &task.stack)) || task.npu == NULL ||
        task.bench == NULL || task.rank == NULL || task.step == NULL || task.folder == NULL) {
        free_task(&task);
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    }
    list->tasks[list->count++] = task;
    return TDC_OK;
}

void tdc_tasks_free(struct tdc_task_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free_task(&list->tasks[i]);
    free(list->tasks);
    *list = (struct tdc_task_list){0};
}
