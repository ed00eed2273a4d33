#include "io/tensor_file.h"

#include <stdlib.h>
#include <string.h>

#include "io/error.h"
#include "io/file_map.h"
#include "io/mapping_guard.h"
#include "io/npy.h"
#include "io/pt.h"

/* All that reading a header needs, made before and freed after: the reading may be cut off. */
struct job {
    const unsigned char *bytes;
    size_t size;
    enum tdc_tensor_kind kind;
    const char *name;
    struct tdc_pickle *pickle; /* NULL for npy */
    struct tdc_tensor *tensor;
    struct tdc_error *error;
    tdc_status status;
};

static bool ends_with(const char *text, const char *suffix)
{
    size_t length = strlen(text), suffix_length = strlen(suffix);
    return length >= suffix_length && strcmp(text + length - suffix_length, suffix) == 0;
}

static enum tdc_tensor_kind kind_by_suffix(const char *name)
{
    if (ends_with(name, ".npy"))
        return TDC_TENSOR_NPY;
    return ends_with(name, ".pt") ? TDC_TENSOR_PT : TDC_TENSOR_BY_SUFFIX;
}

static tdc_status job_begin(struct job *job)
{
    if (job->kind == TDC_TENSOR_BY_SUFFIX)
        job->kind = kind_by_suffix(job->name);
    if (job->kind != TDC_TENSOR_NPY && job->kind != TDC_TENSOR_PT)
        return tdc_fail(job->error, TDC_ERR_UNSUPPORTED, "%s: neither .npy nor .pt", job->name);
    if (job->size == 0)
        return tdc_fail(job->error, TDC_ERR_FORMAT, "%s: the file is empty", job->name);
    if (job->kind == TDC_TENSOR_NPY)
        return TDC_OK;
    job->pickle = malloc(sizeof *job->pickle);
    if (job->pickle == NULL)
        return tdc_fail(job->error, TDC_ERR_MEMORY, "%s: out of memory", job->name);
    tdc_pickle_init(job->pickle, job->name, job->error);
    return TDC_OK;
}

static void job_run(void *argument)
{
    struct job *job = argument;
    if (job->kind == TDC_TENSOR_NPY)
        job->status = tdc_npy_parse(job->bytes, job->size, job->name, job->tensor, job->error);
    else
        job->status = tdc_pt_parse(job->bytes, job->size, job->pickle, job->tensor);
}

tdc_status tdc_tensor_parse(const void *bytes, size_t size, enum tdc_tensor_kind kind,
                            const char *name, struct tdc_tensor *tensor, struct tdc_error *error)
{
    *tensor = (struct tdc_tensor){0};
    struct job job = {bytes, size, kind, name, NULL, tensor, error, TDC_OK};
    job.status = job_begin(&job);
    if (job.status == TDC_OK)
        job_run(&job);
    free(job.pickle);
    if (job.status != TDC_OK)
        *tensor = (struct tdc_tensor){0};
    return job.status;
}

static tdc_status parse_mapped(struct job *job)
{
    tdc_status status = job_begin(job);
    if (status != TDC_OK)
        return status;
    if (!tdc_guard_begin())
        return tdc_fail(job->error, TDC_ERR_SYSTEM, "%s: no handler for SIGBUS", job->name);
    bool complete = tdc_guarded_read(job_run, job);
    tdc_guard_end();
    if (!complete)
        return tdc_fail(job->error, TDC_ERR_CHANGED, "%s: the file shrank while it was read",
                        job->name);
    return job->status;
}

tdc_status tdc_tensor_open(const char *path, enum tdc_tensor_kind kind, struct tdc_tensor *tensor,
                           struct tdc_error *error)
{
    *tensor = (struct tdc_tensor){0};
    struct tdc_file_map map;
    tdc_status status = tdc_file_map_open(path, &map, error);
    if (status != TDC_OK)
        return status;
    struct job job = {
        (const unsigned char *)map.data, map.size, kind, path, NULL, tensor, error, TDC_OK};
    status = parse_mapped(&job);
    free(job.pickle);
    if (status != TDC_OK) {
        tdc_file_map_close(&map);
        *tensor = (struct tdc_tensor){0};
        return status;
    }
    tensor->map = (void *)(uintptr_t)map.data;
    tensor->map_size = map.size;
    tensor->linked = map.linked;
    return TDC_OK;
}

void tdc_tensor_close(struct tdc_tensor *tensor)
{
    if (tensor == NULL)
        return;
    struct tdc_file_map map = {.data = tensor->map, .size = tensor->map_size};
    tdc_file_map_close(&map);
    *tensor = (struct tdc_tensor){0};
}
