/* similarity.c - in how many elements two gradients point the same way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/analysis/gradient/gradient_tree.h"
#include "host/find/folders.h"
#include "io/base/error.h"
#include "io/file/mapping_guard.h"
#include "io/storage/looking.h"
#include "io/tensor/tensor_file.h"

struct counting {
    const struct tdc_tensor *npu, *bench;
    uint64_t equal;
};

/* The next place in C order: index by index, the last fastest. */
static void step(const struct tdc_tensor *tensor, uint64_t *places, int64_t *offset)
{
    for (unsigned d = tensor->dimensions; d-- > 0;) {
        *offset += tensor->strides[d];
        if (++places[d] < tensor->shape[d])
            return;
        *offset -= (int64_t)tensor->shape[d] * tensor->strides[d];
        places[d] = 0;
    }
}

static void count(void *argument)
{
    struct counting *counting = argument;
    uint64_t npu_places[TDC_MAX_DIMENSIONS] = {0}, bench_places[TDC_MAX_DIMENSIONS] = {0};
    int64_t n = 0, b = 0;
    for (uint64_t i = 0; i < counting->npu->count; i++) {
        counting->equal += (counting->npu->data[n] != 0) == (counting->bench->data[b] != 0);
        step(counting->npu, npu_places, &n);
        step(counting->bench, bench_places, &b);
    }
}

static void add_shape(char *text, size_t size, const struct tdc_tensor *tensor)
{
    size_t used = (size_t)snprintf(text, size, "(");
    for (unsigned d = 0; d < tensor->dimensions && used < size; d++)
        used += (size_t)snprintf(text + used, size - used, "%s%llu", d != 0 ? ", " : "",
                                 (unsigned long long)tensor->shape[d]);
    if (used < size)
        snprintf(text + used, size - used, tensor->dimensions == 1 ? ",)" : ")");
}

static tdc_status check_pair(const struct tdc_tensor *npu, const struct tdc_tensor *bench,
                             const char *npu_path, const char *bench_path, struct tdc_error *error)
{
    bool same = npu->dimensions == bench->dimensions &&
                memcmp(npu->shape, bench->shape, npu->dimensions * sizeof *npu->shape) == 0;
    if (!same) {
        char ours[256], theirs[256];
        add_shape(ours, sizeof ours, npu);
        add_shape(theirs, sizeof theirs, bench);
        return tdc_fail(error, TDC_ERR_MISMATCH, "tensor shape is not equal: %s, %s (%s)", ours,
                        theirs, npu_path);
    }
    const struct tdc_tensor *wrong = npu->dtype != TDC_BOOL ? npu : bench;
    if (wrong->dtype != TDC_BOOL)
        return tdc_fail(error, TDC_ERR_MISMATCH, "tensor type is not bool: %s",
                        wrong == npu ? npu_path : bench_path);
    return TDC_OK;
}

static tdc_status compare_files(const char *npu_path, const char *bench_path,
                                struct tdc_similarity *similarity, struct tdc_error *error)
{
    struct tdc_tensor npu, bench;
    tdc_status status = tdc_tensor_open(npu_path, TDC_TENSOR_BY_SUFFIX, &npu, error);
    if (status != TDC_OK)
        return status;
    status = tdc_tensor_open(bench_path, TDC_TENSOR_BY_SUFFIX, &bench, error);
    if (status != TDC_OK) {
        tdc_tensor_close(&npu);
        return status;
    }
    struct counting counting = {&npu, &bench, 0};
    status = check_pair(&npu, &bench, npu_path, bench_path, error);
    if (status == TDC_OK && !tdc_guard_begin()) {
        status = tdc_fail(error, TDC_ERR_SYSTEM, "cannot install a signal handler");
    } else if (status == TDC_OK) {
        if (!tdc_guarded_read(count, &counting))
            status = tdc_fail(error, TDC_ERR_CHANGED, "%s: changed while being read", npu_path);
        tdc_guard_end();
    }
    similarity->equal = counting.equal;
    similarity->elements = npu.count;
    tdc_tensor_close(&npu);
    tdc_tensor_close(&bench);
    return status;
}

tdc_status tdc_similarity_of(const char *npu_step, const char *bench_step, const char *parameter,
                             struct tdc_similarity *similarity, struct tdc_error *error)
{
    static const char *const endings[] = {".npy", ".pt"};
    *similarity = (struct tdc_similarity){0};
    /* a name leads to no other folder */
    bool plain = strchr(parameter, '/') == NULL && strlen(parameter) < 512;
    for (size_t i = 0; i < 2 && plain; i++) {
        char name[520];
        snprintf(name, sizeof name, "%s%s", parameter, endings[i]);
        char *ours = tdc_path_join(npu_step, name), *theirs = tdc_path_join(bench_step, name);
        bool both = ours != NULL && theirs != NULL && tdc_is_file(ours) && tdc_is_file(theirs);
        tdc_status status = both ? compare_files(ours, theirs, similarity, error) : TDC_OK;
        free(ours);
        free(theirs);
        if (both)
            return status;
    }
    return tdc_fail(error, TDC_ERR_NOTHING,
                    "no matched grad_file for comparison, please dump data in same configuration "
                    "(%s in %s)",
                    parameter, npu_step);
}
