/*
 * ascend_family.c - the family of Ascend cards.
 *
 * Whole tiles go to the card; tails, other types and rescued tiles are the CPU kernel's, from the
 * staging.
 */
#include <stdlib.h>

#include "host/engine/ascend/ascend_list.h"
#include "host/engine/ascend/ascend_slot.h"
#include "io/base/error.h"

/* ---- cards ----------------------------------------------------------------------------------- */

static unsigned count_cards(struct tdc_error *error)
{
    const struct tdc_acl *acl = tdc_acl_runtime_start(error);
    return acl != NULL ? tdc_ascend_count(acl, error) : 0;
}

static const char *library_path(void)
{
    const struct tdc_runtime_library *library = &tdc_acl_load()->base;
    return library->state == TDC_RUNTIME_USABLE ? library->path : NULL;
}

static bool is_card(unsigned id)
{
    (void)id;
    return true;
}

static tdc_status open_card(unsigned id, struct tdc_card **card, struct tdc_error *error)
{
    const struct tdc_acl *acl = tdc_acl_runtime_start(error);
    if (acl == NULL)
        return error->status;
    struct tdc_ascend_device *device = malloc(sizeof *device);
    if (device == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for a device");
    tdc_status status = tdc_ascend_device_open(acl, (int32_t)id, device, error);
    if (status == TDC_OK)
        *card = &device->base;
    else
        free(device);
    return status;
}

static void close_card(struct tdc_card *card)
{
    struct tdc_ascend_device *device = (struct tdc_ascend_device *)card;
    tdc_ascend_device_close(device);
    free(device);
}

static struct tdc_call_failure bind(struct tdc_card *card, void **before)
{
    *before = NULL;
    return (struct tdc_call_failure){"aclrtSetDevice",
                                     tdc_ascend_bind((struct tdc_ascend_device *)card)};
}

static void unbind(struct tdc_card *card, void *before)
{
    (void)before;
    tdc_ascend_unbind((struct tdc_ascend_device *)card);
}

static void describe(struct tdc_call_failure failure, char *text, size_t size)
{
    tdc_acl_describe(&tdc_acl_load()->table, failure.function, failure.code, text, size);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static int kind_of(const struct tdc_pair_plan *plan)
{
    return tdc_ascend_kernel_for(plan->n_dtype, plan->b_dtype, plan->rule);
}

static size_t common_divisor(size_t x, size_t y)
{
    while (y != 0) {
        size_t rest = x % y;
        x = y;
        y = rest;
    }
    return x;
}

/*
 * Whole chunks, and as many tiles for each core: 48 cores would do the last 32 of 512 tiles while
 * the others have nothing to do. Numbers of cores that fit no slot get all of it.
 */
static size_t room(const struct tdc_card *card, const struct tdc_pair_plan *plan)
{
    (void)plan;
    size_t cores = ((const struct tdc_ascend_device *)card)->cores;
    if (cores == 0)
        return TDC_SLOT_TILES;
    size_t even = TDC_TILES_PER_CHUNK / common_divisor(TDC_TILES_PER_CHUNK, cores) * cores;
    return even <= TDC_SLOT_TILES ? TDC_SLOT_TILES / even * even : TDC_SLOT_TILES;
}

static bool proven(struct tdc_slot *base, const struct tdc_pair_plan *plan, struct tdc_error *error)
{
    struct tdc_ascend_slot *slot = (struct tdc_ascend_slot *)base;
    return tdc_ascend_kernel(tdc_ascend_slot_device(slot), (unsigned)kind_of(plan), slot, error) !=
           NULL;
}

static struct tdc_call_failure launch(struct tdc_slot *base, const struct tdc_slot_load *load)
{
    struct tdc_ascend_slot *slot = (struct tdc_ascend_slot *)base;
    unsigned kernel = (unsigned)kind_of(&load->plan);
    return tdc_ascend_slot_launch(
        slot, kernel, tdc_ascend_slot_device(slot)->kernels[kernel].function, load->units, 0);
}

/* The staged pairs of a chunk. */
struct staged {
    const struct tdc_pair_plan *plan;
    const unsigned char *n, *b;
    size_t n_size, b_size;
};

static void run_staged(const struct staged *staged, size_t first, size_t count,
                       struct tdc_pair_sums *sums)
{
    tdc_pair_run(staged->plan, staged->n + first * staged->n_size,
                 staged->b + first * staged->b_size, count, sums);
}

static bool rescue_tile(void *context, size_t tile, struct tdc_pair_sums *sums)
{
    run_staged(context, tile * TDC_TILE_PAIRS, TDC_TILE_PAIRS, sums);
    return true;
}

/* A tail has a tile of its own, which the card computes and nobody reads: so the whole chunk is in
 * the staging, for what the CPU has to do of it. */
static void collect(const struct tdc_slot *base, const struct tdc_slot_load *load, unsigned at,
                    struct tdc_backend_chunk *chunk, struct tdc_device_figures *figures)
{
    const struct tdc_pair_plan *plan = chunk->plan;
    const struct tdc_ascend_slot *slot = (const struct tdc_ascend_slot *)base;
    size_t n_size = tdc_dtype_size(plan->n_dtype), b_size = tdc_dtype_size(plan->b_dtype);
    size_t first = tdc_staged_at(base, load, at);
    size_t tiles = chunk->count / TDC_TILE_PAIRS, done = tiles * TDC_TILE_PAIRS, rescued = 0;
    struct staged staged = {plan, base->n + first * n_size, base->b + first * b_size, n_size,
                            b_size};
    tdc_tiles_merge(plan,
                    tdc_ascend_slot_records(slot) + load->chunks[at].first * TDC_TILE_RECORD_FLOATS,
                    tiles, rescue_tile, &staged, chunk->sums, &rescued);
    if (done < chunk->count) {
        struct tdc_pair_sums tail;
        run_staged(&staged, done, chunk->count - done, &tail);
        tdc_pair_merge(chunk->sums, &tail);
    }
    figures->tiles += tiles;
    figures->rescued += rescued;
    figures->returned += tiles * TDC_TILE_RECORD_BYTES;
    figures->bytes += done * (n_size + b_size);
}

const struct tdc_device_family tdc_family_ascend = {
    .name = "ascend",
    .count = count_cards,
    .library = library_path,
    .is_card = is_card,
    .open = open_card,
    .close = close_card,
    .bind = bind,
    .unbind = unbind,
    .stays_bound = true,
    .list = tdc_ascend_list,
    .remedy_of = tdc_acl_remedy_of,
    .describe = describe,
    .unit = TDC_TILE_PAIRS,
    .exact = false,
    .kind_of = kind_of,
    .room = room,
    .proven = proven,
    .collect = collect,
    .slot_size = sizeof(struct tdc_ascend_slot),
    .slot_open = tdc_acl_slot_open,
    .slot_close = tdc_acl_slot_close,
    .launch = launch,
    .wait = tdc_acl_slot_wait,
    .poll = tdc_acl_slot_poll,
    .time = tdc_acl_slot_time,
};
