/* device_tensors.c - tensors that live on the device: nothing is copied out but records, tails and
 * rescued tiles. */
#include <stdlib.h>
#include <string.h>

#include "host/engine/ascend/ascend_device.h"
#include "host/engine/ascend/ascend_slot.h"
#include "host/engine/device/tensors.h"
#include "io/base/error.h"

/* Chunks of one launch: enough that waiting for a launch does not matter. */
#define BATCH_CHUNKS 64u
#define BATCH_TILES  (BATCH_CHUNKS * TDC_TILES_PER_CHUNK)
#define ALIGNMENT    512u
/* Of tensors: what a kernel's copies need. At 512 bytes they are fastest. */
#define TENSOR_ALIGNMENT 32u

/* For what the caller has put on the stream before: longer than the vendor lets a kernel run. */
#define CALLER_MILLISECONDS 1200000
/* For a batch of ours, which takes milliseconds. */
#define OWN_MILLISECONDS 20000

struct ascend_tensors {
    struct tdc_device base;
    struct tdc_ascend_device card;
    float *records;       /* pinned */
    unsigned char *n, *b; /* pinned, a chunk each: what is copied out */
    void *device_records;
    uint64_t arguments[4];
};

/* One comparison. */
struct comparison {
    struct ascend_tensors *device;
    struct tdc_pair_plan plan;
    const unsigned char *n, *b; /* device addresses: never read here */
    size_t n_size, b_size;
    void *stream;
    uint64_t chunk_first; /* element of the chunk being merged */
    struct tdc_call_failure failure;
};

/* ---- the object ------------------------------------------------------------------------------ */

static bool take(struct tdc_call_failure *failure, const char *function, int code)
{
    if (code != 0 && failure->code == 0)
        *failure = (struct tdc_call_failure){function, code};
    return code == 0;
}

static void *pinned(const struct tdc_acl *acl, size_t size, struct tdc_call_failure *failure)
{
    void *memory;
    return take(failure, "aclrtMallocHost", acl->aclrtMallocHost(&memory, size)) ? memory : NULL;
}

static tdc_status explain(const struct tdc_acl *acl, struct tdc_call_failure failure,
                          struct tdc_error *error)
{
    char text[600];
    tdc_acl_describe(acl, failure.function, failure.code, text, sizeof text);
    return tdc_fail(error, TDC_ERR_DEVICE, "%s", text);
}

static void free_tensors(tdc_device *base)
{
    struct ascend_tensors *device = (struct ascend_tensors *)base;
    const struct tdc_acl *acl = device->card.acl;
    if (atomic_load(&device->card.base.abandoned))
        return; /* a kernel may still read and write all of it */
    void *hosts[] = {device->records, device->n, device->b};
    for (unsigned i = 0; i < 3; i++)
        if (hosts[i] != NULL)
            acl->aclrtFreeHost(hosts[i]);
    if (device->device_records != NULL)
        acl->aclrtFree(device->device_records);
    tdc_ascend_device_unload(&device->card);
    free(device);
}

/* ---- copying out ----------------------------------------------------------------------------- */

static bool synchronise(struct comparison *work)
{
    const struct tdc_acl *acl = work->device->card.acl;
    bool done = take(&work->failure, "aclrtSynchronizeStreamWithTimeout",
                     acl->aclrtSynchronizeStreamWithTimeout(work->stream, OWN_MILLISECONDS));
    /* the stream is the caller's; the memory that a kernel of ours may still use stays */
    if (tdc_acl_is_timeout(work->failure.code))
        tdc_ascend_abandon(&work->device->card, true);
    return done;
}

/* The caller's own work is not ours to judge. */
static bool wait_for_caller(struct comparison *work)
{
    const struct tdc_acl *acl = work->device->card.acl;
    return take(&work->failure, "aclrtSynchronizeStreamWithTimeout",
                acl->aclrtSynchronizeStreamWithTimeout(work->stream, CALLER_MILLISECONDS));
}

static bool copy_out(struct comparison *work, void *to, const void *from, size_t bytes)
{
    const struct tdc_acl *acl = work->device->card.acl;
    return take(
        &work->failure, "aclrtMemcpyAsync",
        acl->aclrtMemcpyAsync(to, bytes, from, bytes, TDC_ACL_MEMCPY_DEVICE_TO_HOST, work->stream));
}

/* Elements from the device through the CPU kernel; at most a chunk. */
static bool by_cpu(struct comparison *work, uint64_t first, size_t count,
                   struct tdc_pair_sums *sums)
{
    struct ascend_tensors *device = work->device;
    bool copied = copy_out(work, device->n, work->n + first * work->n_size, count * work->n_size) &&
                  copy_out(work, device->b, work->b + first * work->b_size, count * work->b_size);
    /* also after a failure: the other copy may be under way */
    if (!synchronise(work) || !copied)
        return false;
    tdc_pair_run(&work->plan, device->n, device->b, count, sums);
    return true;
}

static bool rescue(void *context, size_t tile, struct tdc_pair_sums *sums)
{
    struct comparison *work = context;
    return by_cpu(work, work->chunk_first + tile * TDC_TILE_PAIRS, TDC_TILE_PAIRS, sums);
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* All whole tiles from element `first` on, their records on the host when it returns. */
static bool launch(struct comparison *work, void *function, uint64_t first, size_t tiles)
{
    struct ascend_tensors *device = work->device;
    const struct tdc_acl *acl = device->card.acl;
    const void *pointers[] = {work->n + first * work->n_size, work->b + first * work->b_size,
                              device->device_records};
    for (unsigned i = 0; i < 3; i++)
        device->arguments[i] = (uint64_t)(uintptr_t)pointers[i];
    device->arguments[3] = tiles;
    uint32_t blocks = tiles < device->card.cores ? (uint32_t)tiles : device->card.cores;
    bool sent =
        take(&work->failure, "aclrtLaunchKernelWithHostArgs",
             acl->aclrtLaunchKernelWithHostArgs(function, blocks, work->stream, NULL,
                                                device->arguments, sizeof device->arguments, NULL,
                                                0)) &&
        copy_out(work, device->records, device->device_records, tiles * TDC_TILE_RECORD_BYTES);
    return synchronise(work) && sent;
}

/* One chunk, of whose tiles `tiles` have a record. */
static bool merge_chunk(struct comparison *work, size_t count, const float *records, size_t tiles,
                        struct tdc_device_sums *out, struct tdc_pair_sums *sums)
{
    size_t done = tiles * TDC_TILE_PAIRS, rescued = 0;
    tdc_pair_clear(sums);
    if (tiles != 0 && !tdc_tiles_merge(&work->plan, records, tiles, rescue, work, sums, &rescued))
        return false;
    out->tiles += tiles;
    out->rescued += rescued;
    if (done == count)
        return true;
    struct tdc_pair_sums tail;
    if (!by_cpu(work, work->chunk_first + done, count - done, &tail))
        return false;
    tdc_pair_merge(sums, &tail);
    return true;
}

static bool compare_batch(struct comparison *work, void *function, uint64_t first, uint64_t count,
                          struct tdc_device_sums *out, struct tdc_pair_sums *total)
{
    size_t tiles = function != NULL ? (size_t)(count / TDC_TILE_PAIRS) : 0;
    if (tiles != 0 && !launch(work, function, first, tiles))
        return false;
    for (uint64_t at = 0; at < count; at += TDC_PAIR_CHUNK) {
        size_t here = count - at < TDC_PAIR_CHUNK ? (size_t)(count - at) : TDC_PAIR_CHUNK;
        const float *records = work->device->records + at / TDC_TILE_PAIRS * TDC_TILE_RECORD_FLOATS;
        struct tdc_pair_sums sums;
        work->chunk_first = first + at;
        if (!merge_chunk(work, here, records, function != NULL ? here / TDC_TILE_PAIRS : 0, out,
                         &sums))
            return false;
        tdc_pair_merge(total, &sums);
    }
    return true;
}

/* A kernel that cannot be used is no failure here: the elements are copied out then. */
static void *function_for(struct comparison *work)
{
    const struct tdc_pair_plan *plan = &work->plan;
    int kernel = tdc_ascend_kernel_for(plan->n_dtype, plan->b_dtype, plan->rule);
    bool aligned = ((uintptr_t)work->n | (uintptr_t)work->b) % TENSOR_ALIGNMENT == 0;
    return kernel >= 0 && aligned
               ? tdc_ascend_kernel(&work->device->card, (unsigned)kernel, NULL, NULL)
               : NULL;
}

static tdc_status compare(tdc_device *base, const void *n, tdc_dtype n_dtype, const void *b,
                          tdc_dtype b_dtype, uint64_t count, enum tdc_relative_rule rule,
                          void *stream, struct tdc_device_sums *sums, struct tdc_error *error)
{
    struct ascend_tensors *device = (struct ascend_tensors *)base;
    struct comparison work = {
        .device = device,
        .n = n,
        .b = b,
        .n_size = tdc_dtype_size(n_dtype),
        .b_size = tdc_dtype_size(b_dtype),
        .stream = stream,
    };
    *sums = (struct tdc_device_sums){0};
    tdc_status status = tdc_tensors_plan(n_dtype, b_dtype, rule, count, &work.plan, error);
    if (status != TDC_OK)
        return status;
    if (atomic_load(&device->card.base.lost))
        return tdc_fail(error, TDC_ERR_DEVICE, "the device was given up: a kernel did not end");
    if (!wait_for_caller(&work))
        return explain(device->card.acl, work.failure, error);
    void *function = function_for(&work);
    struct tdc_pair_sums total;
    tdc_pair_clear(&total);
    const uint64_t batch = BATCH_CHUNKS * TDC_PAIR_CHUNK;
    for (uint64_t first = 0; first < count; first += batch) {
        uint64_t here = count - first < batch ? count - first : batch;
        if (!compare_batch(&work, function, first, here, sums, &total))
            return explain(device->card.acl, work.failure, error);
    }
    tdc_tensors_publish(&total, sums);
    return TDC_OK;
}

/* ---- making ------------------------------------------------------------------------------------
 */

tdc_status tdc_ascend_tensors_new(tdc_device **made, struct tdc_error *error)
{
    *made = NULL;
    const struct tdc_acl_library *library = tdc_acl_load();
    if (library->base.state != TDC_RUNTIME_USABLE)
        return tdc_fail(error, TDC_ERR_DEVICE, "AscendCL: %s", library->base.reason);
    const struct tdc_acl *acl = &library->table;
    struct ascend_tensors *device = calloc(1, sizeof *device);
    if (device == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for a device");
    tdc_ascend_device_adopt(acl, &device->card);
    struct tdc_call_failure failure = {NULL, 0};
    size_t record_bytes = BATCH_TILES * TDC_TILE_RECORD_BYTES;
    device->records = pinned(acl, record_bytes, &failure);
    device->n = pinned(acl, TDC_PAIR_CHUNK * 16, &failure);
    device->b = pinned(acl, TDC_PAIR_CHUNK * 16, &failure);
    void *memory = NULL;
    if (take(&failure, "aclrtMalloc",
             acl->aclrtMalloc(&memory, record_bytes + ALIGNMENT, TDC_ACL_MEM_MALLOC_HUGE_FIRST)))
        device->device_records = memory;
    if (failure.code != 0) {
        free_tensors(&device->base);
        return explain(acl, failure, error);
    }
    device->base = (struct tdc_device){free_tensors, compare};
    *made = &device->base;
    return TDC_OK;
}
