/* gpu_list.c - the two families of GPUs as the engine knows families, and what is told of them. */
#include <string.h>

#include "host/engine/device/family.h"
#include "host/engine/gpu/gpu_run.h"

static const tdc_dtype shown[] = {TDC_F32, TDC_BF16, TDC_F16, TDC_F64, TDC_I64, TDC_C64};

/* Of each of the usual types the kernel is tested: that is what one wants to know of a new machine.
 */
static bool put_kernels(const struct tdc_listing *listing, struct tdc_gpu_device *device,
                        bool *ended)
{
    struct tdc_gpu_slot slot;
    struct tdc_error error = {0};
    struct tdc_call_failure failure = tdc_gpu_slot_open(&slot, device, false);
    char text[400], passed[200] = "";
    bool all = failure.code == 0;
    if (!all) {
        tdc_gpu_describe(device->family, failure, text, sizeof text);
        tdc_listing_put(listing, "  unusable: %s", text);
    }
    for (unsigned i = 0; all && i < sizeof shown / sizeof *shown; i++) {
        struct tdc_pair_plan plan;
        for (unsigned rule = TDC_RELATIVE_NATIVE; all && rule <= TDC_RELATIVE_PROMOTED; rule++)
            all = tdc_pair_plan_make(shown[i], shown[i], rule, tdc_cpu_variant_chosen(), &plan) &&
                  tdc_gpu_proven(&slot, &plan, &error);
        strcat(strcat(passed, i != 0 ? ", " : ""), tdc_dtype_name(shown[i]));
    }
    *ended = tdc_gpu_slot_close(&slot);
    if (all)
        tdc_listing_put(listing, "  %s: self-tests passed, the bits are the CPU's", passed);
    else if (failure.code == 0)
        tdc_listing_put(listing, "  unusable: %s", error.message);
    return all;
}

static bool put_device(const struct tdc_listing *listing, const struct tdc_gpu_family *family,
                       unsigned id)
{
    struct tdc_gpu_device device;
    struct tdc_error error = {0};
    void *before;
    if (tdc_gpu_device_open(family, id, &device, &error) != TDC_OK) {
        tdc_listing_put(listing, "%s:%u unusable: %s", family->name, id, error.message);
        return false;
    }
    tdc_listing_put(listing, "%s:%u %s, %u units, %.1f GiB%s", family->name, id, device.name,
                    device.units, (double)device.memory * 0x1p-30,
                    family->is_card(id) ? "" : " (the CPU: auto does not take it)");
    bool usable = false, ended = true;
    if (family->bind(&device, &before).code == 0) {
        usable = put_kernels(listing, &device, &ended);
        family->unbind(&device, before);
    } else {
        tdc_listing_put(listing, "  unusable: its context cannot be entered");
    }
    if (ended)
        tdc_gpu_device_close(&device);
    return usable;
}

static unsigned list(const struct tdc_gpu_family *family, const struct tdc_listing *listing)
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

#define DEFINE_FAMILY(family)                                                                      \
    static unsigned count_##family(struct tdc_error *error)                                        \
    {                                                                                              \
        return tdc_gpu_##family.count(error);                                                      \
    }                                                                                              \
    static bool is_card_##family(unsigned id)                                                      \
    {                                                                                              \
        return tdc_gpu_##family.is_card(id);                                                       \
    }                                                                                              \
    static tdc_status open_##family(const int32_t *ids, unsigned count,                            \
                                    enum tdc_relative_rule rule, bool no_fallback, bool timed,     \
                                    struct tdc_device_run **run, struct tdc_error *error)          \
    {                                                                                              \
        return tdc_gpu_run_open(&tdc_gpu_##family, ids, count, rule, no_fallback, timed, run,      \
                                error);                                                            \
    }                                                                                              \
    static unsigned list_##family(const struct tdc_listing *listing)                               \
    {                                                                                              \
        return list(&tdc_gpu_##family, listing);                                                   \
    }                                                                                              \
    const struct tdc_device_family tdc_family_##family = {                                         \
        #family, count_##family, is_card_##family, open_##family, list_##family};

DEFINE_FAMILY(cuda)
DEFINE_FAMILY(opencl)
