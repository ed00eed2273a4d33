/* slot.c - see slot.h. */
#include "host/engine/device/slot.h"

#include <stdlib.h>
#include <time.h>

#include "io/base/clock.h"

/* 60 s per GB of slot and at least 10 s: a slot has 16 MiB. TDC_DEVICE_TIMEOUT says something else.
 */
#define PATIENCE 10.0
/* For what a device that is given up, or a queue that failed, may still do; nobody wants its
 * result. */
#define LAST_WAIT 1.0

double tdc_device_patience(void)
{
    const char *given = getenv("TDC_DEVICE_TIMEOUT");
    double seconds = given != NULL ? strtod(given, NULL) : 0;
    return seconds > 0 && seconds < 1e6 ? seconds : PATIENCE;
}

void tdc_card_init(struct tdc_card *card, const struct tdc_device_family *family, int32_t id)
{
    card->family = family;
    card->id = id;
    atomic_init(&card->lost, false);
    atomic_init(&card->abandoned, false);
    atomic_init(&card->refusals, 0);
}

size_t tdc_staged_at(const struct tdc_slot *slot, const struct tdc_slot_load *load, unsigned at)
{
    return load->chunks[at].first * slot->card->family->unit;
}

struct tdc_call_failure tdc_slot_open(struct tdc_slot *slot, struct tdc_card *card, bool timed)
{
    slot->card = card;
    slot->timed = timed;
    return card->family->slot_open(slot);
}

static double least_of(double left, double right)
{
    return left < right ? left : right;
}

void tdc_slot_close(struct tdc_slot *slot)
{
    if (slot->card == NULL)
        return;
    const struct tdc_device_family *family = slot->card->family;
    struct tdc_call_failure waited = {NULL, 0};
    /* the device may still be reading the staging; a wait that was refused says nothing about it */
    if (slot->pending)
        waited = family->wait(slot, least_of(LAST_WAIT, tdc_device_patience()));
    if (!family->slot_close(slot, waited)) {
        atomic_store(&slot->card->lost, true);
        atomic_store(&slot->card->abandoned, true);
    }
    slot->card = NULL;
}

struct tdc_call_failure tdc_slot_wait(struct tdc_slot *slot)
{
    /* several slots are under way: the patience is for the first that does not come back */
    double patience = tdc_device_patience();
    bool lost = atomic_load(&slot->card->lost);
    return slot->card->family->wait(slot, lost ? least_of(LAST_WAIT, patience) : patience);
}

struct tdc_call_failure tdc_wait_polling(struct tdc_call_failure (*ask)(void *context, bool *done),
                                         void *context, double seconds)
{
    double start = tdc_seconds();
    struct timespec pause = {0, 5000};
    for (;;) {
        bool done = false;
        struct tdc_call_failure failure = ask(context, &done);
        if (done || failure.code != 0)
            return failure;
        if (tdc_seconds() - start > seconds)
            return (struct tdc_call_failure){"waiting for the device", TDC_TIMED_OUT};
        nanosleep(&pause, NULL);
        /* a launch takes some hundred microseconds */
        if (pause.tv_nsec < 100000)
            pause.tv_nsec *= 2;
    }
}

static struct tdc_call_failure ask_slot(void *context, bool *done)
{
    struct tdc_slot *slot = context;
    *done = !slot->pending;
    if (*done)
        return (struct tdc_call_failure){NULL, 0};
    struct tdc_call_failure failure = slot->card->family->poll(slot, done);
    slot->pending = !*done;
    return failure;
}

struct tdc_call_failure tdc_slot_wait_polling(struct tdc_slot *slot, double seconds)
{
    return tdc_wait_polling(ask_slot, slot, seconds);
}
