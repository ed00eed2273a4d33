#include "bench/cases/dump_pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"

tdc_status tdc_place_open(struct tdc_bench_place *place, const char *parent,
                          struct tdc_error *error)
{
    tdc_status status = tdc_scratch_open(parent, &place->scratch, error);
    if (status != TDC_OK)
        return status;
    snprintf(place->npu, sizeof place->npu, "%s/npu", place->scratch.path);
    snprintf(place->bench, sizeof place->bench, "%s/bench", place->scratch.path);
    snprintf(place->result, sizeof place->result, "%s/result", place->scratch.path);
    return TDC_OK;
}

void tdc_place_close(const struct tdc_bench_place *place)
{
    tdc_scratch_close(&place->scratch);
}

tdc_status tdc_dump_pair_make(struct tdc_dump_pair *dumps, const struct tdc_bench_place *place,
                              struct tdc_synthetic *synthetic, const struct tdc_options *options,
                              struct tdc_error *error)
{
    *dumps = (struct tdc_dump_pair){0};
    synthetic->threads = options->threads;
    synthetic->cancel = options->cancel;
    synthetic->stacks = false;
    tdc_status status = tdc_synthetic_make(synthetic, place->scratch.path, NULL, error);
    if (status != TDC_OK)
        return status;
    return tdc_dump_pair_find(dumps, place->npu, place->bench, -1, options, error);
}

/* The folder of a json file. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/* Several json files may lie in one folder (dump.json and debug.json): its files count once. */
static tdc_status add_folders(struct tdc_dump_pair *dumps, struct tdc_error *error)
{
    size_t count = 2 * tdc_tasks_count(dumps->tasks);
    char **folders = calloc(count + 1, sizeof *folders);
    tdc_status status = TDC_OK;
    if (folders == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < count && status == TDC_OK; i++) {
        const struct tdc_task *task = tdc_tasks_get(dumps->tasks, i / 2);
        folders[i] = folder_of(i % 2 == 0 ? task->npu : task->bench);
        size_t same = 0;
        if (folders[i] == NULL) {
            status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
            break;
        }
        while (strcmp(folders[same], folders[i]) != 0)
            same++;
        if (same == i)
            status = tdc_bare_files_add(&dumps->files, folders[i], error);
    }
    for (size_t i = 0; i < count; i++)
        free(folders[i]);
    free(folders);
    return status;
}

tdc_status tdc_dump_pair_find(struct tdc_dump_pair *dumps, const char *npu, const char *bench,
                              int step, const struct tdc_options *options, struct tdc_error *error)
{
    *dumps = (struct tdc_dump_pair){0};
    tdc_status status = tdc_tasks_find(npu, bench, step, options, &dumps->tasks, error);
    if (status == TDC_OK)
        status = add_folders(dumps, error);
    return status;
}

void tdc_dump_pair_free(struct tdc_dump_pair *dumps)
{
    tdc_tasks_free(dumps->tasks);
    tdc_bare_files_free(&dumps->files);
}

void tdc_dump_pair_drop(struct tdc_dump_pair *dumps, const struct tdc_bench_place *place)
{
    tdc_dump_pair_free(dumps);
    tdc_scratch_remove(&place->scratch, "npu");
    tdc_scratch_remove(&place->scratch, "bench");
}
