/* gpu_list.c - what is told of the devices of a family of GPUs. */
#include <stdlib.h>
#include <string.h>

#include "host/engine/gpu/gpu_card.h"

static const tdc_dtype shown[] = {TDC_F32, TDC_BF16, TDC_F16, TDC_F64, TDC_I64, TDC_C64};

/* Of each of the usual types the kernel is tested: that is what one wants to know of a new machine.
 */
static bool put_kernels(const struct tdc_listing *listing, struct tdc_slot *slot)
{
    struct tdc_error error = {0};
    char passed[200] = "";
    bool all = true;
    for (unsigned i = 0; all && i < sizeof shown / sizeof *shown; i++) {
        struct tdc_pair_plan plan;
        for (unsigned rule = TDC_RELATIVE_NATIVE; all && rule <= TDC_RELATIVE_PROMOTED; rule++)
            all = tdc_pair_plan_make(shown[i], shown[i], rule, tdc_cpu_variant_chosen(), &plan) &&
                  tdc_gpu_proven(slot, &plan, &error);
        strcat(strcat(passed, i != 0 ? ", " : ""), tdc_dtype_name(shown[i]));
    }
    if (all)
        tdc_listing_put(listing, "  %s: self-tests passed, the bits are the CPU's", passed);
    else
        tdc_listing_put(listing, "  unusable: %s", error.message);
    return all;
}

static bool put_slot(const struct tdc_listing *listing, struct tdc_card *card)
{
    struct tdc_slot *slot = calloc(1, card->family->slot_size);
    struct tdc_call_failure failure = {"malloc", TDC_NO_MEMORY};
    bool usable = false;
    if (slot != NULL)
        failure = tdc_slot_open(slot, card, false);
    if (failure.code == 0) {
        usable = put_kernels(listing, slot);
    } else {
        char text[400];
        card->family->describe(failure, text, sizeof text);
        tdc_listing_put(listing, "  unusable: %s", text);
    }
    if (slot != NULL)
        tdc_slot_close(slot);
    free(slot);
    return usable;
}

static bool put_device(const struct tdc_listing *listing, const struct tdc_device_family *family,
                       unsigned id)
{
    struct tdc_card *card;
    struct tdc_error error = {0};
    void *before;
    if (family->open(id, &card, &error) != TDC_OK) {
        tdc_listing_put(listing, "%s:%u unusable: %s", family->name, id, error.message);
        return false;
    }
    const struct tdc_gpu_card *gpu = (const struct tdc_gpu_card *)card;
    tdc_listing_put(listing, "%s:%u %s, %u units, %.1f GiB%s", family->name, id, card->name,
                    gpu->units, (double)gpu->memory * 0x1p-30,
                    family->is_card(id) ? "" : " (the CPU: auto does not take it)");
    bool usable = false;
    if (family->bind(card, &before).code == 0) {
        usable = put_slot(listing, card);
        family->unbind(card, before);
    } else {
        tdc_listing_put(listing, "  unusable: its context cannot be entered");
    }
    family->close(card);
    return usable;
}

unsigned tdc_gpu_list(const struct tdc_device_family *family, const struct tdc_listing *listing)
{
    struct tdc_error error = {0};
    unsigned count = family->count(&error), usable = 0;
    if (count == 0)
        tdc_listing_put(listing, "no device of %s: %s", family->name, error.message);
    else
        tdc_listing_put(listing, "%s: %s", family->name, family->library());
    for (unsigned i = 0; i < count; i++)
        usable += put_device(listing, family, i) && family->is_card(i);
    return usable;
}
