/* gpu_slot.c - what is the same for slots of every family. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/engine/gpu/gpu_family.h"
#include "io/base/clock.h"
#include "io/base/error.h"

#define WAIT_SECONDS 10.0
/* For what a queue that failed may still do; nobody wants its result. */
#define LAST_WAIT_SECONDS 1.0

void tdc_gpu_describe(const struct tdc_gpu_family *family, struct tdc_call_failure failure,
                      char *text, size_t size)
{
    snprintf(text, size, "%s: %d %s", failure.function, failure.code,
             family->error_name(failure.code));
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
    tdc_status status = family->open(device, error);
    if (status == TDC_OK)
        pthread_mutex_init(&device->lock, NULL);
    return status;
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
    return wait_for(slot, WAIT_SECONDS);
}

void tdc_gpu_slot_close(struct tdc_gpu_slot *slot)
{
    if (slot->device == NULL)
        return;
    if (slot->pending)
        wait_for(slot, LAST_WAIT_SECONDS);
    /* else what the device may still read and write stays, for good */
    if (!slot->pending)
        slot->device->family->slot_close(slot);
    slot->device = NULL;
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

/* Any bits, so that NaN, infinity and subnormal numbers occur; b is often n but for its last bits,
 * which makes errors around the limits. Whole numbers of 8 bytes are small ones half of the time.
 */
static void fill(const struct tdc_pair_plan *plan, unsigned char *n, unsigned char *b)
{
    size_t n_size = tdc_dtype_size(plan->n_dtype), b_size = tdc_dtype_size(plan->b_dtype);
    uint32_t state = 2026;
    for (size_t i = 0; i < TEST_PAIRS; i++) {
        for (size_t k = 0; k < n_size + b_size; k++) {
            state = state * 1664525u + 1013904223u;
            unsigned char byte = (unsigned char)(state >> 24);
            bool small = i % 2 == 0 && k % 8 >= 4;
            *(k < n_size ? n + i * n_size + k : b + i * b_size + k - n_size) = small ? 0 : byte;
        }
        if (n_size == b_size && i % 4 != 0)
            memcpy(b + i * b_size + i % 4 * n_size / 4, n + i * n_size + i % 4 * n_size / 4,
                   n_size - i % 4 * n_size / 4);
    }
}

static bool is_right(struct tdc_gpu_slot *slot, const struct tdc_pair_plan *plan,
                     const unsigned char *n, const unsigned char *b)
{
    struct tdc_pair_sums sums, expected;
    if (!tdc_gpu_chunk_join(&slot->pair, slot->words, TEST_PAIRS, &sums))
        return true; /* of these pairs the CPU does all */
    tdc_pair_run(plan, n, b, TEST_PAIRS, &expected);
    return memcmp(&sums, &expected, sizeof sums) == 0;
}

static bool test(struct tdc_gpu_slot *slot, const struct tdc_pair_plan *plan,
                 struct tdc_error *error)
{
    struct tdc_gpu_device *device = slot->device;
    size_t b_at = tdc_gpu_b_at(plan, TEST_PAIRS);
    fill(plan, slot->staging, slot->staging + b_at);
    memset(slot->words, 0xff, TDC_GPU_CHUNK_BYTES);
    struct tdc_call_failure failure = tdc_gpu_slot_launch(slot, plan, TEST_PAIRS);
    struct tdc_call_failure waited = tdc_gpu_slot_wait(slot);
    if (failure.code == 0)
        failure = waited;
    /* a slot that cannot be waited for is not fit for anything else either */
    if (slot->pending)
        atomic_store(&device->lost, true);
    char text[400] = "the result differs from the CPU's";
    if (failure.code != 0)
        tdc_gpu_describe(device->family, failure, text, sizeof text);
    else if (is_right(slot, plan, slot->staging, slot->staging + b_at))
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
        *known = test(slot, plan, error) ? 1 : -1;
    bool proven = *known > 0;
    pthread_mutex_unlock(&device->lock);
    return proven;
}
