/* gpu_slot.c - see gpu_card.h. */
#include <stdio.h>
#include <string.h>

#include "host/engine/gpu/gpu_card.h"
#include "io/base/error.h"
#include "kernels/dtype.h"

void tdc_gpu_describe(struct tdc_call_failure failure, const char *name, char *text, size_t size)
{
    if (failure.code == TDC_TIMED_OUT)
        snprintf(text, size, "%s: no answer for %g s", failure.function, tdc_device_patience());
    else
        snprintf(text, size, "%s: %d %s", failure.function, failure.code, name);
}

/* ---- launches -------------------------------------------------------------------------------- */

void tdc_gpu_slot_lay_out(struct tdc_gpu_slot *slot, void *pinned)
{
    unsigned char *bytes = pinned;
    slot->table = pinned;
    slot->base.n = bytes + TDC_GPU_N_AT;
    slot->base.b = bytes + TDC_GPU_B_AT;
    slot->words = (gpu_u64 *)(void *)(bytes + TDC_GPU_INPUT_BYTES);
}

struct tdc_gpu_launch tdc_gpu_slot_prepare(struct tdc_gpu_slot *slot,
                                           const struct tdc_slot_load *load)
{
    struct gpu_pair *pair = &slot->pair;
    const struct tdc_pair_plan *plan = &load->plan;
    struct tdc_gpu_launch launch = {.kernel = tdc_gpu_pair_make(plan, pair)};
    pair->n_at = TDC_GPU_N_AT;
    pair->b_at = TDC_GPU_B_AT;
    for (unsigned i = 0; i < load->count; i++)
        tdc_gpu_table_add(slot->table, pair, load->chunks[i].pairs);
    size_t pairs = load->units * GPU_BLOCK;
    launch.n_bytes = TDC_GPU_N_AT + pairs * tdc_dtype_size(plan->n_dtype);
    launch.b_bytes = pairs * tdc_dtype_size(plan->b_dtype);
    launch.word_bytes = load->count * TDC_GPU_CHUNK_BYTES;
    /* from here on: a call that reports a failure may have begun */
    slot->base.pending = true;
    return launch;
}

/* Pairs of the same types, rule and extremes. */
int tdc_gpu_kind_of(const struct tdc_pair_plan *plan)
{
    return (((int)plan->rule * TDC_DTYPE_COUNT + (int)plan->n_dtype) * TDC_DTYPE_COUNT +
            (int)plan->b_dtype) *
               2 +
           plan->extremes;
}

size_t tdc_gpu_room(const struct tdc_card *card, const struct tdc_pair_plan *plan)
{
    (void)card;
    size_t n_size = tdc_dtype_size(plan->n_dtype), b_size = tdc_dtype_size(plan->b_dtype);
    size_t blocks = TDC_SLOT_SIDE / (GPU_BLOCK * (n_size > b_size ? n_size : b_size));
    return blocks < TDC_GPU_SLOT_BLOCKS ? blocks : TDC_GPU_SLOT_BLOCKS;
}

void tdc_gpu_collect(const struct tdc_slot *base, const struct tdc_slot_load *load, unsigned at,
                     struct tdc_backend_chunk *chunk, struct tdc_device_figures *figures)
{
    const struct tdc_gpu_slot *slot = (const struct tdc_gpu_slot *)base;
    const struct tdc_pair_plan *plan = chunk->plan;
    size_t n_size = tdc_dtype_size(plan->n_dtype), b_size = tdc_dtype_size(plan->b_dtype);
    size_t first = tdc_staged_at(base, load, at);
    const gpu_u64 *words = slot->words + at * TDC_GPU_CHUNK_WORDS;
    figures->tiles++;
    figures->bytes += chunk->count * (n_size + b_size);
    figures->returned += TDC_GPU_CHUNK_BYTES;
    if (tdc_gpu_chunk_join(&slot->pair, words, chunk->count, chunk->sums))
        return;
    figures->rescued++;
    tdc_pair_run(plan, base->n + first * n_size, base->b + first * b_size, chunk->count,
                 chunk->sums);
}

/* ---- before a kernel is trusted -------------------------------------------------------------- */

enum {
    TEST_BLOCKS = 5,
    TEST_PAIRS = (TEST_BLOCKS - 1) * GPU_BLOCK + 13
};

/* A number between 1 and 2 of the given last bits, or a small whole one: where nothing is extreme,
 * a digit lost anywhere shows. */
static uint64_t ordinary_bits(tdc_dtype dtype, uint64_t random)
{
    switch (tdc_dtype_part(dtype)) {
    case TDC_F8_E4M3:
        return 0x38 | (random & 0x7);
    case TDC_F8_E5M2:
        return 0x3c | (random & 0x3);
    case TDC_F16:
        return 0x3c00 | (random & 0x3ff);
    case TDC_BF16:
        return 0x3f80 | (random & 0x7f);
    case TDC_F32:
        return 0x3f800000 | (random & 0x7fffff);
    case TDC_F64:
        return 0x3ff0000000000000 | (random & 0xfffffffffffff);
    case TDC_F80:
        return 0x8000000000000000 | (random << 11);
    default:
        return random & 0x3f;
    }
}

static void store_ordinary(tdc_dtype dtype, uint64_t random, unsigned char *to)
{
    uint64_t bits = ordinary_bits(dtype, random), upper = ordinary_bits(dtype, random >> 7);
    size_t size = tdc_dtype_size(dtype);
    if (dtype == TDC_F80)
        upper = 0x3fff;
    if (dtype == TDC_C64)
        bits |= upper << 32;
    memcpy(to, &bits, size < 8 ? size : 8);
    if (size == 16)
        memcpy(to + 8, &upper, 8);
}

/* Any bits, so that NaN, infinity and subnormal numbers occur, of 8 bytes small ones half of the
 * time. */
static void store_any(size_t at, uint64_t random, unsigned char *to, size_t size)
{
    uint64_t both[2] = {random, random * 0x2545f4914f6cdd1du};
    if (at % 2 == 0 && size >= 8)
        both[0] &= 0xffffff;
    memcpy(to, both, size);
}

/* b is n but for its last bits, or nothing like it: errors lie around the limits and far off. */
static void fill(const struct tdc_pair_plan *plan, bool ordinary, unsigned char *n,
                 unsigned char *b)
{
    size_t n_size = tdc_dtype_size(plan->n_dtype), b_size = tdc_dtype_size(plan->b_dtype);
    uint64_t state = 2026;
    for (size_t i = 0; i < TEST_PAIRS; i++, n += n_size, b += b_size) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint64_t left = state ^ state >> 31, right = left;
        if (i % 8 != 0)
            right ^= state >> 40 & (((uint64_t)1 << i % 48) - 1);
        if (ordinary) {
            store_ordinary(plan->n_dtype, left, n);
            store_ordinary(plan->b_dtype, right, b);
        } else {
            store_any(i, left, n, n_size);
            store_any(i, right, b, b_size);
        }
    }
}

static bool is_right(const struct tdc_gpu_slot *slot, const struct tdc_pair_plan *plan)
{
    struct tdc_pair_sums sums, expected;
    if (!tdc_gpu_chunk_join(&slot->pair, slot->words, TEST_PAIRS, &sums))
        return true; /* of these pairs the CPU does all */
    tdc_pair_run(plan, slot->base.n, slot->base.b, TEST_PAIRS, &expected);
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): the bits are the promise */
    return memcmp(&sums, &expected, sizeof sums) == 0;
}

/* Sends one of the two sets through the slot; an empty text when the result is right. */
static void test(struct tdc_gpu_slot *slot, const struct tdc_pair_plan *plan, bool ordinary,
                 char *text, size_t size)
{
    struct tdc_card *card = slot->base.card;
    struct tdc_slot_load load = {
        .plan = *plan, .units = TEST_BLOCKS, .count = 1, .chunks = {{0, TEST_PAIRS}}};
    fill(plan, ordinary, slot->base.n, slot->base.b);
    memset(slot->words, 0xff, TDC_GPU_CHUNK_BYTES);
    struct tdc_call_failure failure = card->family->launch(&slot->base, &load);
    struct tdc_call_failure waited = tdc_slot_wait(&slot->base);
    if (failure.code == 0)
        failure = waited;
    /* a slot that cannot be waited for is not fit for anything else either */
    if (slot->base.pending)
        atomic_store(&card->lost, true);
    text[0] = '\0';
    if (failure.code != 0)
        card->family->describe(failure, text, size);
    else if (!is_right(slot, plan))
        snprintf(text, size, "the result differs from the CPU's");
}

static bool passes(struct tdc_gpu_slot *slot, const struct tdc_pair_plan *plan,
                   struct tdc_error *error)
{
    const struct tdc_card *card = slot->base.card;
    char text[400];
    test(slot, plan, true, text, sizeof text);
    if (text[0] == '\0')
        test(slot, plan, false, text, sizeof text);
    if (text[0] == '\0')
        return true;
    tdc_fail(error, TDC_ERR_DEVICE, "self-test of %s against %s on %s:%d (%s): %s",
             tdc_dtype_name(plan->n_dtype), tdc_dtype_name(plan->b_dtype), card->family->name,
             (int)card->id, card->name, text);
    return false;
}

bool tdc_gpu_proven(struct tdc_slot *slot, const struct tdc_pair_plan *plan,
                    struct tdc_error *error)
{
    struct tdc_gpu_card *card = (struct tdc_gpu_card *)slot->card;
    signed char *known = &card->proven[plan->rule][plan->n_dtype][plan->b_dtype];
    pthread_mutex_lock(&card->lock);
    if (*known == 0)
        *known = passes((struct tdc_gpu_slot *)slot, plan, error) ? 1 : -1;
    bool proven = *known > 0;
    pthread_mutex_unlock(&card->lock);
    return proven;
}
