/* gpu_slot.c - what is the same for slots of every family. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/engine/gpu/gpu_family.h"
#include "io/base/clock.h"
#include "io/base/error.h"
#include "kernels/dtype.h"

/* A chunk takes milliseconds; TDC_DEVICE_TIMEOUT says something else. */
#define PATIENCE 10.0
/* For what a device that is given up, or a queue that failed, may still do. */
#define LAST_WAIT_SECONDS 0.25

void tdc_gpu_describe(const struct tdc_gpu_family *family, struct tdc_call_failure failure,
                      char *text, size_t size)
{
    snprintf(text, size, "%s: %d %s", failure.function, failure.code,
             family->error_name(failure.code));
}

static double patience(void)
{
    const char *given = getenv("TDC_DEVICE_TIMEOUT");
    double seconds = given != NULL ? strtod(given, NULL) : 0;
    return seconds > 0 ? seconds : PATIENCE;
}

/* ---- devices --------------------------------------------------------------------------------- */

tdc_status tdc_gpu_device_open(const struct tdc_gpu_family *family, unsigned id,
                               struct tdc_gpu_device *device, struct tdc_error *error)
{
    *device = (struct tdc_gpu_device){.family = family, .id = id};
    unsigned there = family->count(error);
    if (there == 0)
        return error->status;
    if (id >= there)
        return tdc_fail(error, TDC_ERR_NOT_FOUND, "there is no device %u (%u found)", id, there);
    device->patience = patience();
    tdc_status status = family->open(device, error);
    if (status == TDC_OK)
        pthread_mutex_init(&device->lock, NULL);
    return status;
}

void tdc_gpu_device_adopt(struct tdc_gpu_device *device, const struct tdc_gpu_family *family,
                          void *own)
{
    *device = (struct tdc_gpu_device){.family = family, .own = own, .patience = patience()};
    pthread_mutex_init(&device->lock, NULL);
}

void tdc_gpu_device_close(struct tdc_gpu_device *device)
{
    device->family->close(device);
    pthread_mutex_destroy(&device->lock);
}

/* ---- slots ----------------------------------------------------------------------------------- */

struct tdc_call_failure tdc_gpu_slot_open(struct tdc_gpu_slot *slot, struct tdc_gpu_device *device,
                                          bool timed)
{
    *slot = (struct tdc_gpu_slot){.device = device, .timed = timed};
    return device->family->slot_open(slot);
}

static struct tdc_call_failure wait_for(struct tdc_gpu_slot *slot, double seconds)
{
    double start = tdc_seconds();
    struct timespec pause = {0, 5000};
    struct tdc_call_failure failure = {NULL, 0};
    while (slot->pending) {
        bool done = false;
        failure = slot->device->family->poll(slot, &done);
        slot->pending = !done;
        if (done || failure.code != 0)
            break;
        if (tdc_seconds() - start > seconds)
            return (struct tdc_call_failure){"waiting for the device", -1};
        nanosleep(&pause, NULL);
        /* a chunk takes some hundred microseconds */
        if (pause.tv_nsec < 100000)
            pause.tv_nsec *= 2;
    }
    return failure;
}

struct tdc_call_failure tdc_gpu_slot_wait(struct tdc_gpu_slot *slot)
{
    /* several chunks are under way: the patience is for the first that does not come back */
    bool lost = atomic_load(&slot->device->lost);
    return wait_for(slot, lost ? LAST_WAIT_SECONDS : slot->device->patience);
}

bool tdc_gpu_slot_close(struct tdc_gpu_slot *slot)
{
    if (slot->device == NULL)
        return true;
    if (slot->pending)
        wait_for(slot, LAST_WAIT_SECONDS);
    if (!slot->pending)
        slot->device->family->slot_close(slot);
    slot->device = NULL;
    return !slot->pending;
}

size_t tdc_gpu_b_at(const struct tdc_pair_plan *plan, size_t count)
{
    size_t bytes = count * tdc_dtype_size(plan->n_dtype);
    return (bytes + TDC_GPU_ALIGNMENT - 1) / TDC_GPU_ALIGNMENT * TDC_GPU_ALIGNMENT;
}

struct tdc_call_failure tdc_gpu_slot_launch(struct tdc_gpu_slot *slot,
                                            const struct tdc_pair_plan *plan, size_t count)
{
    unsigned kernel = tdc_gpu_pair_make(plan, count, &slot->pair);
    slot->pair.b_at = tdc_gpu_b_at(plan, count);
    /* pending from the first call on: one that reports a failure may have begun */
    slot->pending = true;
    return slot->device->family->launch(slot, kernel,
                                        slot->pair.b_at + count * tdc_dtype_size(plan->b_dtype));
}

/* ---- before a kernel is trusted -------------------------------------------------------------- */

enum {
    TEST_PAIRS = 4 * GPU_BLOCK + 13
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

static bool is_right(struct tdc_gpu_slot *slot, const struct tdc_pair_plan *plan,
                     const unsigned char *n, const unsigned char *b)
{
    struct tdc_pair_sums sums, expected;
    if (!tdc_gpu_chunk_join(&slot->pair, slot->words, TEST_PAIRS, &sums))
        return true; /* of these pairs the CPU does all */
    tdc_pair_run(plan, n, b, TEST_PAIRS, &expected);
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): the bits are the promise */
    return memcmp(&sums, &expected, sizeof sums) == 0;
}

/* Sends one of the two sets through the slot; an empty text when the result is right. */
static void test(struct tdc_gpu_slot *slot, const struct tdc_pair_plan *plan, bool ordinary,
                 char *text, size_t size)
{
    struct tdc_gpu_device *device = slot->device;
    size_t b_at = tdc_gpu_b_at(plan, TEST_PAIRS);
    fill(plan, ordinary, slot->staging, slot->staging + b_at);
    memset(slot->words, 0xff, TDC_GPU_CHUNK_BYTES);
    struct tdc_call_failure failure = tdc_gpu_slot_launch(slot, plan, TEST_PAIRS);
    struct tdc_call_failure waited = tdc_gpu_slot_wait(slot);
    if (failure.code == 0)
        failure = waited;
    /* a slot that cannot be waited for is not fit for anything else either */
    if (slot->pending)
        atomic_store(&device->lost, true);
    text[0] = '\0';
    if (failure.code != 0)
        tdc_gpu_describe(device->family, failure, text, size);
    else if (!is_right(slot, plan, slot->staging, slot->staging + b_at))
        snprintf(text, size, "the result differs from the CPU's");
}

static bool passes(struct tdc_gpu_slot *slot, const struct tdc_pair_plan *plan,
                   struct tdc_error *error)
{
    const struct tdc_gpu_device *device = slot->device;
    char text[400];
    test(slot, plan, true, text, sizeof text);
    if (text[0] == '\0')
        test(slot, plan, false, text, sizeof text);
    if (text[0] == '\0')
        return true;
    tdc_fail(error, TDC_ERR_DEVICE, "self-test of %s against %s on %s:%u (%s): %s",
             tdc_dtype_name(plan->n_dtype), tdc_dtype_name(plan->b_dtype), device->family->name,
             device->id, device->name, text);
    return false;
}

bool tdc_gpu_proven(struct tdc_gpu_slot *slot, const struct tdc_pair_plan *plan,
                    struct tdc_error *error)
{
    struct tdc_gpu_device *device = slot->device;
    signed char *known = &device->proven[plan->rule][plan->n_dtype][plan->b_dtype];
    pthread_mutex_lock(&device->lock);
    if (*known == 0)
        *known = passes(slot, plan, error) ? 1 : -1;
    bool proven = *known > 0;
    pthread_mutex_unlock(&device->lock);
    return proven;
}
