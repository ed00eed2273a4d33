/* pair.c - one pair of tensor files: open, reduce a chunk, finish. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/engine/backend.h"
#include "host/engine/engine.h"
#include "io/error.h"
#include "io/mapping_guard.h"

#define DATA_FOLDER "dump_tensor_data"

static tdc_status open_side(const char *folder, const char *file, struct tdc_tensor *tensor,
                            struct tdc_error *error)
{
    if (strchr(file, '/') != NULL)
        return tdc_fail(error, TDC_ERR_REFUSED, "%s: a data_name must not leave its folder", file);
    size_t size = strlen(folder) + sizeof "/" DATA_FOLDER "/" + strlen(file);
    char *path = malloc(size);
    if (path == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", file);
    snprintf(path, size, "%s/" DATA_FOLDER "/%s", folder, file);
    tdc_status status = tdc_tensor_open(path, TDC_TENSOR_BY_SUFFIX, tensor, error);
    free(path);
    return status;
}

static bool same_shape(const struct tdc_tensor *n, const struct tdc_tensor *b)
{
    return n->dimensions == b->dimensions &&
           memcmp(n->shape, b->shape, n->dimensions * sizeof *n->shape) == 0;
}

/*
 * A view with stride 0 can claim 2^62 elements in a file of 1 KB. Real expanded tensors repeat
 * their storage some thousand times at most; what claims more would only burn time.
 */
static bool absurd(const struct tdc_tensor *tensor, const char *file, struct tdc_error *error)
{
    const uint64_t most_repeats = (uint64_t)1 << 20;
    if (tensor->count / most_repeats <= tensor->map_size)
        return false;
    tdc_fail(error, TDC_ERR_UNSUPPORTED, "%s: a view of %llu elements in a file of %zu bytes", file,
             (unsigned long long)tensor->count, tensor->map_size);
    return true;
}

static void describe(const struct tdc_open_pair *pair, struct tdc_outcome *outcome)
{
    const struct tdc_tensor *n = &pair->n, *b = &pair->b;
    outcome->n_dtype = n->dtype;
    outcome->b_dtype = b->dtype;
    outcome->n_swapped = n->swapped;
    outcome->b_swapped = b->swapped;
    outcome->n_dimensions = n->dimensions;
    outcome->b_dimensions = b->dimensions;
    outcome->count = n->count;
    outcome->links = (unsigned)n->linked + (unsigned)b->linked;
    outcome->bytes = n->count * tdc_dtype_size(tdc_gathered_dtype(n)) +
                     b->count * tdc_dtype_size(tdc_gathered_dtype(b));
}

bool tdc_pair_open(const struct tdc_job *job, enum tdc_relative_rule rule,
                   struct tdc_open_pair *pair, struct tdc_outcome *outcome)
{
    memset(outcome, 0, sizeof *outcome);
    tdc_pair_clear(&outcome->sums);
    outcome->code = TDC_OUTCOME_UNREADABLE;
    if (open_side(job->n_folder, job->n_file, &pair->n, &outcome->error) != TDC_OK)
        return false;
    if (open_side(job->b_folder, job->b_file, &pair->b, &outcome->error) != TDC_OK) {
        tdc_tensor_close(&pair->n);
        return false;
    }
    if (absurd(&pair->n, job->n_file, &outcome->error) ||
        absurd(&pair->b, job->b_file, &outcome->error)) {
        tdc_pair_close(pair);
        return false;
    }
    describe(pair, outcome);
    outcome->code = TDC_OUTCOME_COMPARED;
    if (pair->n.count == 0)
        outcome->code = TDC_OUTCOME_EMPTY;
    else if (!same_shape(&pair->n, &pair->b))
        outcome->code = TDC_OUTCOME_SHAPES_DIFFER;
    else if (!tdc_pair_plan_make(tdc_gathered_dtype(&pair->n), tdc_gathered_dtype(&pair->b), rule,
                                 tdc_cpu_variant_chosen(), &pair->plan))
        outcome->code = TDC_OUTCOME_NOT_NUMBERS;
    if (outcome->code != TDC_OUTCOME_COMPARED) {
        tdc_pair_close(pair);
        return false;
    }
    pair->chunks = (pair->n.count + TDC_PAIR_CHUNK - 1) / TDC_PAIR_CHUNK;
    return true;
}

void tdc_pair_close(struct tdc_open_pair *pair)
{
    tdc_tensor_close(&pair->n);
    tdc_tensor_close(&pair->b);
}

struct gathering {
    const struct tdc_tensor *tensor;
    uint64_t first;
    size_t count;
    void *buffer;
    bool numbers;
};

static void gather(void *argument)
{
    struct gathering *gathering = argument;
    gathering->numbers =
        tdc_gather(gathering->tensor, gathering->first, gathering->count, gathering->buffer);
}

/* A pointer to dense elements: into the map where possible, else to the filled buffer. */
static enum tdc_chunk_result dense_elements(const struct tdc_tensor *tensor, uint64_t first,
                                            size_t count, void **buffer, const void **elements)
{
    if (tensor->dense && !tensor->swapped && tensor->dtype != TDC_TEXT) {
        *elements = tensor->data + first * tdc_dtype_size(tensor->dtype);
        return TDC_CHUNK_DONE;
    }
    if (*buffer == NULL && (*buffer = malloc(TDC_PAIR_CHUNK * 16)) == NULL)
        return TDC_CHUNK_NO_MEMORY;
    struct gathering gathering = {tensor, first, count, *buffer, false};
    if (!tdc_guarded_read(gather, &gathering))
        return TDC_CHUNK_VANISHED;
    *elements = *buffer;
    return gathering.numbers ? TDC_CHUNK_DONE : TDC_CHUNK_NOT_NUMBERS;
}

enum tdc_chunk_result tdc_pair_chunk(const struct tdc_open_pair *pair, uint64_t chunk,
                                     struct tdc_chunk_buffers *buffers, struct tdc_pair_sums *sums)
{
    uint64_t first = chunk * TDC_PAIR_CHUNK;
    uint64_t left = pair->n.count - first;
    size_t count = left < TDC_PAIR_CHUNK ? (size_t)left : TDC_PAIR_CHUNK;
    struct tdc_backend_chunk work = {.plan = &pair->plan, .count = count, .sums = sums};
    enum tdc_chunk_result result = dense_elements(&pair->n, first, count, &buffers->n, &work.n);
    if (result == TDC_CHUNK_DONE)
        result = dense_elements(&pair->b, first, count, &buffers->b, &work.b);
    if (result != TDC_CHUNK_DONE)
        return result;
    bool read = tdc_backend_cpu.submit(NULL, &work) && tdc_backend_cpu.wait(NULL, &work);
    return read ? TDC_CHUNK_DONE : TDC_CHUNK_VANISHED;
}

static bool element_at(const struct tdc_tensor *tensor, uint64_t index, unsigned char element[16])
{
    struct gathering gathering = {tensor, index, 1, element, false};
    return tdc_guarded_read(gather, &gathering) && gathering.numbers;
}

void tdc_pair_finish(const struct tdc_open_pair *pair, struct tdc_outcome *outcome)
{
    const struct tdc_pair_sums *sums = &outcome->sums;
    element_at(&pair->n, sums->abs_at, outcome->abs_n.bytes);
    element_at(&pair->b, sums->abs_at, outcome->abs_b.bytes);
    element_at(&pair->n, sums->rel_at, outcome->rel_n.bytes);
    element_at(&pair->b, sums->rel_at, outcome->rel_b.bytes);
    if (pair->n.dimensions == 0) {
        element_at(&pair->n, 0, outcome->n_element);
        element_at(&pair->b, 0, outcome->b_element);
    }
}
