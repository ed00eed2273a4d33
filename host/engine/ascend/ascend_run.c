/* ascend_run.c - the cards of a run, and what is told about them at its end. */
#include "host/engine/ascend/ascend_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"

/* Tensors share launches: smaller ones are worth the trip than on other devices. */
#define LEAST_PAIRS ((size_t)2 * TDC_TILE_PAIRS)

/* ---- trouble --------------------------------------------------------------------------------- */

void tdc_ascend_note_text(struct tdc_ascend_run *run, const struct tdc_ascend_device *device,
                          const char *text, const char *name)
{
    char card[sizeof device->soc + 16];
    snprintf(card, sizeof card, "%d (%s)", (int)device->id, device->soc);
    tdc_device_run_note(&run->base, card, text, name);
}

void tdc_ascend_note(struct tdc_ascend_run *run, const struct tdc_ascend_device *device,
                     struct tdc_acl_failure failure, const char *name)
{
    char text[600];
    tdc_acl_describe(device->acl, failure.function, failure.code, text, sizeof text);
    tdc_ascend_note_text(run, device, text, name);
}

/* ---- opening --------------------------------------------------------------------------------- */

static tdc_status open_device(struct tdc_ascend_run *run, const struct tdc_acl *acl, int32_t id,
                              enum tdc_relative_rule rule, struct tdc_error *error)
{
    struct tdc_ascend_device *device = &run->cards[run->count].device;
    tdc_status status = tdc_ascend_device_open(acl, id, device, error);
    if (status != TDC_OK)
        return status;
    tdc_slot_pool_init(&run->cards[run->count].pool, device, run->base.timed);
    run->count++;
    int kernel = tdc_ascend_kernel_for(TDC_F32, TDC_F32, rule);
    if (tdc_ascend_kernel(device, (unsigned)kernel, NULL, error) == NULL)
        return TDC_ERR_DEVICE;
    return TDC_OK;
}

static void close_run(struct tdc_device_run *base)
{
    struct tdc_ascend_run *run = (struct tdc_ascend_run *)base;
    for (unsigned i = run->count; i-- != 0;) {
        struct tdc_ascend_card *card = &run->cards[i];
        /* the thread may have been bound to another card since */
        bool bound = tdc_ascend_bind(&card->device) == 0;
        tdc_slot_pool_close(&card->pool);
        if (bound)
            tdc_ascend_unbind(&card->device);
        tdc_ascend_device_close(&card->device);
    }
    tdc_device_run_end(base);
    free(run);
}

tdc_status tdc_ascend_run_open(const int32_t *ids, unsigned count, enum tdc_relative_rule rule,
                               bool no_fallback, bool timed, struct tdc_device_run **made,
                               struct tdc_error *error)
{
    *made = NULL;
    const struct tdc_acl *acl = tdc_acl_runtime_start(error);
    if (acl == NULL)
        return error->status;
    if (count == 0 || count > TDC_DEVICE_MOST)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%u devices are not supported", count);
    struct tdc_ascend_run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the devices");
    tdc_device_run_init(&run->base, &tdc_backend_ascend, TDC_TILE_PAIRS, no_fallback, timed);
    run->base.close = close_run;
    if (getenv("TDC_DEVICE_LEAST") == NULL)
        run->base.least = LEAST_PAIRS;
    tdc_status status = TDC_OK;
    for (unsigned i = 0; i < count && status == TDC_OK; i++)
        status = open_device(run, acl, ids[i], rule, error);
    if (status == TDC_OK) {
        *made = &run->base;
        memcpy(run->base.name, run->cards[0].device.soc, sizeof run->cards[0].device.soc);
    } else {
        close_run(&run->base);
    }
    return status;
}
