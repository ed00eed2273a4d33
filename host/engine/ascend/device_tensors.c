/*
 * device_tensors.c - tensors that live on an Ascend card: nothing is copied out but records, tails
 * and rescued tiles.
 *
 * What is known of the maxima holds for the whole tensor: a tile that may hold the first occurrence
 * of one is kept as a candidate, and most candidates are outdone by a tile that comes later. Those
 * which are left are copied out together at the end. So the sums of a candidate stay the card's.
 */
#include <stdlib.h>

#include "host/engine/ascend/ascend_device.h"
#include "host/engine/device/tensors.h"
#include "io/base/error.h"

#define BATCH_TILES  (TDC_BATCH_CHUNKS * TDC_TILES_PER_CHUNK)
#define RECORD_BYTES ((size_t)BATCH_TILES * TDC_TILE_RECORD_BYTES)
#define ALIGNMENT    512u
/* Of tensors: what a kernel's copies need. At 512 bytes they are fastest. */
#define TENSOR_ALIGNMENT 32u
/* Tiles that are copied out together. */
#define PIECE 64u

/* A batch on its way; it has a stream of its own. */
struct batch {
    void *stream;
    float *records; /* pinned */
    void *device_records;
    uint64_t arguments[4];
    bool sent, stuck;
};

/* A tile that may hold the first occurrence of a maximum, as far as is known. */
struct candidate {
    uint64_t tile;
    struct tdc_tile_maximum abs, rel;
    double abs_before, rel_before;
};

struct ascend_tensors {
    struct tdc_device base;
    struct tdc_ascend_device card;
    struct batch batches[2];
    void *copies; /* a stream */
    bool copies_stuck;
    /* of the comparison */
    void *function;
    struct tdc_tile_bounds bounds;
    unsigned candidate_count;
    struct candidate candidates[PIECE];
    double abs_max, rel_max; /* of candidates that were looked at; for the total at the end */
    uint64_t abs_at, rel_at;
    struct tdc_tile read[BATCH_TILES];
    size_t wanted[BATCH_TILES];
};

static struct ascend_tensors *tensors_of(const struct tdc_tensors_work *work)
{
    return (struct ascend_tensors *)work->device;
}

/* ---- streams --------------------------------------------------------------------------------- */

/*
 * What does not end is given up: its stream by force where the runtime can do that, and the memory
 * that a kernel may still use stays for good.
 */
static bool wait_for(struct tdc_tensors_work *work, void *stream, bool *stuck)
{
    struct ascend_tensors *tensors = tensors_of(work);
    const struct tdc_acl *acl = tensors->card.acl;
    if (*stuck)
        return false;
    int code =
        acl->aclrtSynchronizeStreamWithTimeout(stream, (int32_t)(tdc_tensors_patience() * 1e3));
    if (tdc_acl_is_timeout(code)) {
        *stuck = tensors->base.given_up = true;
        tdc_ascend_abandon(&tensors->card, acl->aclrtDestroyStreamForce != NULL &&
                                               acl->aclrtDestroyStreamForce(stream) == 0);
    }
    return tdc_tensors_keep(work, "aclrtSynchronizeStreamWithTimeout", code);
}

static bool copy_back(struct tdc_tensors_work *work, void *to, const void *from, size_t bytes,
                      void *stream)
{
    const struct tdc_acl *acl = tensors_of(work)->card.acl;
    return tdc_tensors_keep(
        work, "aclrtMemcpyAsync",
        acl->aclrtMemcpyAsync(to, bytes, from, bytes, TDC_ACL_MEMCPY_DEVICE_TO_HOST, stream));
}

static bool copy(struct tdc_tensors_work *work, void *n, void *b, uint64_t first, size_t count)
{
    void *stream = tensors_of(work)->copies;
    return copy_back(work, n, (const char *)work->n + first * work->n_size, count * work->n_size,
                     stream) &&
           copy_back(work, b, (const char *)work->b + first * work->b_size, count * work->b_size,
                     stream);
}

static bool copied(struct tdc_tensors_work *work)
{
    struct ascend_tensors *tensors = tensors_of(work);
    return wait_for(work, tensors->copies, &tensors->copies_stuck);
}

/* ---- batches --------------------------------------------------------------------------------- */

static bool begin(struct tdc_tensors_work *work, const char **why)
{
    struct ascend_tensors *tensors = tensors_of(work);
    const struct tdc_pair_plan *plan = &work->plan;
    int kernel = tdc_ascend_kernel_for(plan->n_dtype, plan->b_dtype, plan->rule);
    tensors->bounds = (struct tdc_tile_bounds){-1, -1, -1, -1};
    tensors->candidate_count = 0;
    tensors->abs_max = tensors->rel_max = -1;
    if (!tdc_tensors_keep(work, "aclrtSynchronizeStreamWithTimeout",
                          tensors->card.acl->aclrtSynchronizeStreamWithTimeout(
                              work->stream, (int32_t)(TDC_CALLER_PATIENCE * 1e3))))
        return false;
    if (kernel < 0)
        *why = "the card has no kernel for these types";
    else if (((uintptr_t)work->n | (uintptr_t)work->b) % TENSOR_ALIGNMENT != 0)
        *why = "an address is not a multiple of 32 bytes";
    else if ((tensors->function =
                  tdc_ascend_kernel(&tensors->card, (unsigned)kernel, NULL, NULL)) == NULL)
        *why = "the kernel cannot be loaded, or did not pass its test";
    return true;
}

/* All whole tiles of the batch, their records to the host. */
static bool launch(struct tdc_tensors_work *work, unsigned turn, uint64_t first, uint64_t count)
{
    struct ascend_tensors *tensors = tensors_of(work);
    struct batch *batch = &tensors->batches[turn];
    size_t tiles = (size_t)(count / TDC_TILE_PAIRS);
    const void *pointers[] = {(const char *)work->n + first * work->n_size,
                              (const char *)work->b + first * work->b_size, batch->device_records};
    for (unsigned i = 0; i < 3; i++)
        batch->arguments[i] = (uint64_t)(uintptr_t)pointers[i];
    batch->arguments[3] = tiles;
    uint32_t blocks = tiles < tensors->card.cores ? (uint32_t)tiles : tensors->card.cores;
    batch->sent = tiles != 0;
    return tiles == 0 ||
           (tdc_tensors_keep(work, "aclrtLaunchKernelWithHostArgs",
                             tensors->card.acl->aclrtLaunchKernelWithHostArgs(
                                 tensors->function, blocks, batch->stream, NULL, batch->arguments,
                                 sizeof batch->arguments, NULL, 0)) &&
            copy_back(work, batch->records, batch->device_records, tiles * TDC_TILE_RECORD_BYTES,
                      batch->stream));
}

static bool wait_for_batch(struct tdc_tensors_work *work, unsigned turn)
{
    struct batch *batch = &tensors_of(work)->batches[turn];
    return !batch->sent || wait_for(work, batch->stream, &batch->stuck);
}

/* ---- tiles by the CPU ------------------------------------------------------------------------ */

static void raise(double *bound, double value)
{
    if (value > *bound)
        *bound = value;
}

/* Tiles of the tensor, at most a piece, with one wait; their sums in order. Neighbours are one
 * copy. */
static bool fetch(struct tdc_tensors_work *work, const uint64_t *tiles, size_t count,
                  struct tdc_pair_sums *sums)
{
    struct tdc_device *device = work->device;
    size_t n_bytes = TDC_TILE_PAIRS * work->n_size, b_bytes = TDC_TILE_PAIRS * work->b_size;
    bool sent = true;
    for (size_t i = 0, run; i < count && sent; i += run) {
        for (run = 1; i + run < count && tiles[i + run] == tiles[i] + run;)
            run++;
        sent = copy(work, device->n[0] + i * n_bytes, device->b[0] + i * b_bytes,
                    tiles[i] * TDC_TILE_PAIRS, run * TDC_TILE_PAIRS);
    }
    work->out->copied += count * (n_bytes + b_bytes);
    work->out->rescued += count;
    if (!copied(work) || !sent)
        return false;
    for (size_t i = 0; i < count; i++)
        tdc_pair_run(&work->plan, device->n[0] + i * n_bytes, device->b[0] + i * b_bytes,
                     TDC_TILE_PAIRS, &sums[i]);
    return true;
}

/* Tiles that the card could not do, by their number in the batch: `count` are wanted. */
static bool rescue(struct tdc_tensors_work *work, uint64_t batch_tile, size_t count)
{
    struct ascend_tensors *tensors = tensors_of(work);
    for (size_t at = 0; at < count; at += PIECE) {
        size_t here = count - at < PIECE ? count - at : PIECE;
        uint64_t tiles[PIECE];
        struct tdc_pair_sums sums[PIECE];
        for (size_t i = 0; i < here; i++)
            tiles[i] = batch_tile + tensors->wanted[at + i];
        if (!fetch(work, tiles, here, sums))
            return false;
        for (size_t i = 0; i < here; i++) {
            struct tdc_tile *tile = &tensors->read[tensors->wanted[at + i]];
            tile->sums = sums[i];
            tile->abs = (struct tdc_tile_maximum){sums[i].abs_max, sums[i].abs_max, true};
            tile->rel = (struct tdc_tile_maximum){sums[i].rel_max, sums[i].rel_max, true};
            raise(&tensors->bounds.abs_everywhere, sums[i].abs_max);
            raise(&tensors->bounds.rel_everywhere, sums[i].rel_max);
        }
    }
    return true;
}

/* ---- candidates ------------------------------------------------------------------------------ */

static void take_maximum(double *maximum, uint64_t *at, double other, uint64_t other_at)
{
    if (other > *maximum || (other == *maximum && other >= 0 && other_at < *at)) {
        *maximum = other;
        *at = other_at;
    }
}

/* Those that nothing has outdone since. */
static void prune(struct ascend_tensors *tensors)
{
    unsigned left = 0;
    for (unsigned i = 0; i < tensors->candidate_count; i++) {
        const struct candidate *candidate = &tensors->candidates[i];
        struct tdc_tile tile = {.abs = candidate->abs, .rel = candidate->rel};
        struct tdc_tile_bounds bounds = tensors->bounds;
        bounds.abs_before = candidate->abs_before;
        bounds.rel_before = candidate->rel_before;
        if (tdc_tile_needs_rescue(&tile, &bounds))
            tensors->candidates[left++] = *candidate;
    }
    tensors->candidate_count = left;
}

/* All of them, with one wait. */
static bool settle(struct tdc_tensors_work *work)
{
    struct ascend_tensors *tensors = tensors_of(work);
    uint64_t tiles[PIECE];
    struct tdc_pair_sums sums[PIECE];
    unsigned count = tensors->candidate_count;
    for (unsigned i = 0; i < count; i++)
        tiles[i] = tensors->candidates[i].tile;
    if (count != 0 && !fetch(work, tiles, count, sums))
        return false;
    for (unsigned i = 0; i < count; i++) {
        uint64_t first = tiles[i] * TDC_TILE_PAIRS;
        take_maximum(&tensors->abs_max, &tensors->abs_at, sums[i].abs_max, first + sums[i].abs_at);
        take_maximum(&tensors->rel_max, &tensors->rel_at, sums[i].rel_max, first + sums[i].rel_at);
        raise(&tensors->bounds.abs_everywhere, sums[i].abs_max);
        raise(&tensors->bounds.rel_everywhere, sums[i].rel_max);
        raise(&tensors->bounds.abs_before, sums[i].abs_max);
        raise(&tensors->bounds.rel_before, sums[i].rel_max);
    }
    tensors->candidate_count = 0;
    return true;
}

static bool end(struct tdc_tensors_work *work)
{
    const struct ascend_tensors *tensors = tensors_of(work);
    struct tdc_pair_sums *total = &work->total;
    prune(tensors_of(work));
    if (!settle(work))
        return false;
    take_maximum(&total->abs_max, &total->abs_at, tensors->abs_max, tensors->abs_at);
    take_maximum(&total->rel_max, &total->rel_at, tensors->rel_max, tensors->rel_at);
    return true;
}

/* Keeps the tile if it may matter. The list is short with ordinary data: each is above all tiles in
 * front of it. */
static bool consider(struct tdc_tensors_work *work, uint64_t number, const struct tdc_tile *tile)
{
    struct ascend_tensors *tensors = tensors_of(work);
    struct tdc_tile_bounds *bounds = &tensors->bounds;
    if (tdc_tile_needs_rescue(tile, bounds)) {
        if (tensors->candidate_count == PIECE)
            prune(tensors);
        if (tensors->candidate_count == PIECE && !settle(work))
            return false;
        tensors->candidates[tensors->candidate_count++] = (struct candidate){
            number, tile->abs, tile->rel, bounds->abs_before, bounds->rel_before};
    }
    raise(&bounds->abs_before, tile->abs.low);
    raise(&bounds->rel_before, tile->rel.low);
    return true;
}

/* ---- taking ---------------------------------------------------------------------------------- */

/* Reads all records of a batch; how many tiles are the CPU's. */
static size_t read_tiles(struct tdc_tensors_work *work, const float *records, size_t tiles)
{
    struct ascend_tensors *tensors = tensors_of(work);
    size_t wanted = 0;
    for (size_t t = 0; t < tiles; t++) {
        struct tdc_tile *tile = &tensors->read[t];
        if (tdc_tile_read(&work->plan, records + t * TDC_TILE_RECORD_FLOATS, tile) ==
            TDC_TILE_RESCUE) {
            tensors->wanted[wanted++] = t;
            continue;
        }
        raise(&tensors->bounds.abs_everywhere, tile->abs.low);
        raise(&tensors->bounds.rel_everywhere, tile->rel.low);
    }
    return wanted;
}

/* In the order of a comparison of files: tiles into their chunk, chunks into the total. */
static bool take(struct tdc_tensors_work *work, unsigned turn, uint64_t first, uint64_t count)
{
    struct ascend_tensors *tensors = tensors_of(work);
    size_t tiles = (size_t)(count / TDC_TILE_PAIRS), done = tiles * TDC_TILE_PAIRS;
    uint64_t batch_tile = first / TDC_TILE_PAIRS;
    if (!rescue(work, batch_tile, read_tiles(work, tensors->batches[turn].records, tiles)))
        return false;
    work->out->tiles += tiles;
    for (size_t at = 0; at < count; at += TDC_PAIR_CHUNK) {
        struct tdc_pair_sums chunk;
        tdc_pair_clear(&chunk);
        for (size_t t = at / TDC_TILE_PAIRS; t < tiles && t * TDC_TILE_PAIRS < at + TDC_PAIR_CHUNK;
             t++) {
            if (!consider(work, batch_tile + t, &tensors->read[t]))
                return false;
            tdc_pair_merge(&chunk, &tensors->read[t].sums);
        }
        if (done < count && count - at <= TDC_PAIR_CHUNK) {
            struct tdc_pair_sums tail;
            if (!tdc_tensors_by_cpu(work, first + done, (size_t)(count - done), &tail))
                return false;
            tdc_pair_merge(&chunk, &tail);
        }
        tdc_pair_merge(&work->total, &chunk);
    }
    return true;
}

/* ---- the object ------------------------------------------------------------------------------ */

static void describe(struct tdc_call_failure failure, char *text, size_t size)
{
    tdc_family_ascend.describe(failure, text, size);
}

static void free_batch(const struct tdc_acl *acl, struct batch *batch)
{
    if (batch->stuck)
        return; /* a kernel may still write to all of it */
    if (batch->stream != NULL)
        acl->aclrtDestroyStream(batch->stream);
    if (batch->device_records != NULL)
        acl->aclrtFree(batch->device_records);
    if (batch->records != NULL)
        acl->aclrtFreeHost(batch->records);
}

static void free_tensors(tdc_device *base)
{
    struct ascend_tensors *tensors = (struct ascend_tensors *)base;
    const struct tdc_acl *acl = tensors->card.acl;
    for (unsigned i = 0; i < 2; i++)
        free_batch(acl, &tensors->batches[i]);
    if (tensors->copies != NULL && !tensors->copies_stuck)
        acl->aclrtDestroyStream(tensors->copies);
    for (unsigned i = 0; i < 2 && !tensors->copies_stuck; i++) {
        if (base->n[i] != NULL)
            acl->aclrtFreeHost(base->n[i]);
        if (base->b[i] != NULL)
            acl->aclrtFreeHost(base->b[i]);
    }
    tdc_ascend_device_unload(&tensors->card);
    /* the arguments of a kernel that never ends are in it */
    if (!base->given_up)
        free(tensors);
}

static const struct tdc_tensors_calls calls = {
    .free = free_tensors,
    .describe = describe,
    .begin = begin,
    .launch = launch,
    .wait = wait_for_batch,
    .take = take,
    .end = end,
    .copy = copy,
    .copied = copied,
};

/* Nothing, or the call that failed. */
static struct tdc_call_failure make_batch(const struct tdc_acl *acl, struct batch *batch)
{
    void *made = NULL;
    int code = acl->aclrtCreateStream(&made);
    if (code != 0)
        return (struct tdc_call_failure){"aclrtCreateStream", code};
    batch->stream = made;
    code = acl->aclrtMallocHost(&made, RECORD_BYTES);
    if (code != 0)
        return (struct tdc_call_failure){"aclrtMallocHost", code};
    batch->records = made;
    code = acl->aclrtMalloc(&made, RECORD_BYTES + ALIGNMENT, TDC_ACL_MEM_MALLOC_HUGE_FIRST);
    if (code != 0)
        return (struct tdc_call_failure){"aclrtMalloc", code};
    batch->device_records = made;
    return (struct tdc_call_failure){NULL, 0};
}

static struct tdc_call_failure make_copies(struct ascend_tensors *tensors)
{
    const struct tdc_acl *acl = tensors->card.acl;
    void *made = NULL;
    int code = acl->aclrtCreateStream(&made);
    if (code != 0)
        return (struct tdc_call_failure){"aclrtCreateStream", code};
    tensors->copies = made;
    unsigned char **sides[] = {&tensors->base.n[0], &tensors->base.n[1], &tensors->base.b[0],
                               &tensors->base.b[1]};
    for (unsigned i = 0; i < 4; i++) {
        code = acl->aclrtMallocHost(&made, TDC_PAIR_CHUNK * 16);
        if (code != 0)
            return (struct tdc_call_failure){"aclrtMallocHost", code};
        *sides[i] = made;
    }
    return (struct tdc_call_failure){NULL, 0};
}

tdc_status tdc_ascend_tensors_new(tdc_device **made, struct tdc_error *error)
{
    *made = NULL;
    const struct tdc_acl_library *library = tdc_acl_load();
    if (library->base.state != TDC_RUNTIME_USABLE)
        return tdc_fail(error, TDC_ERR_DEVICE, "AscendCL: %s", library->base.reason);
    struct ascend_tensors *tensors = calloc(1, sizeof *tensors);
    if (tensors == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for a device");
    tensors->base.calls = &calls;
    tdc_ascend_device_adopt(&library->table, &tensors->card);
    struct tdc_call_failure failure = make_copies(tensors);
    for (unsigned i = 0; i < 2 && failure.code == 0; i++)
        failure = make_batch(tensors->card.acl, &tensors->batches[i]);
    if (failure.code == 0) {
        *made = &tensors->base;
        return TDC_OK;
    }
    char text[600];
    describe(failure, text, sizeof text);
    free_tensors(&tensors->base);
    return tdc_fail(error, TDC_ERR_DEVICE, "%s", text);
}
