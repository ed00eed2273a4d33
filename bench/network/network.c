/* network.c - both sides of a computed network. */
#include "bench/network/network.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "io/base/error.h"

#define PATH 4096

void tdc_network_settings_init(struct tdc_network_settings *settings)
{
    *settings = (struct tdc_network_settings){
        .network = tdc_network_gpt,
        .size = {.layers = 4, .width = 64, .heads = 4, .batch = 2, .tokens = 16, .vocabulary = 128},
        .dtype = TDC_F32,
        .files = {TDC_MODE_TENSOR, TDC_STEP_MIX, TDC_LAYOUT_PT},
        .seed = 1};
}

static tdc_status check(const struct tdc_network_settings *settings, struct tdc_error *error)
{
    const struct tdc_network_size *size = &settings->size;
    if (settings->dtype != TDC_F32 && settings->dtype != TDC_F16 && settings->dtype != TDC_BF16)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "networks are computed in f32, f16 or bf16");
    if (settings->dtype == TDC_BF16 && settings->files.layout == TDC_LAYOUT_NPY)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "npy has no bf16");
    if (size->layers < 1 || size->heads < 1 || size->batch < 1 || size->tokens < 1 ||
        size->vocabulary < 2 || size->layers > 1000 || size->batch > 4096 || size->tokens > 4096 ||
        size->vocabulary > 1 << 18 || size->width > 8192)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "a network of such a size cannot be made");
    if (size->width < 1 || size->width % (2 * size->heads) != 0)
        return tdc_fail(error, TDC_ERR_ARGUMENT,
                        "the width must be a multiple of twice the number of heads");
    return TDC_OK;
}

static void count(const struct tdc_step *step, struct tdc_network_totals *totals)
{
    *totals = (struct tdc_network_totals){0};
    for (size_t i = 0; i < step->event_count; i++) {
        totals->calls += step->events[i].kind == TDC_CALL_HAPPENS;
        totals->modules += step->events[i].kind == TDC_MODULE_ENDS;
    }
}

static tdc_status make_side(const struct tdc_network_settings *settings, const char *folder,
                            bool ref, struct tdc_network_totals *totals, struct tdc_error *error)
{
    struct tdc_step step;
    tdc_step_init(&step, settings->dtype, settings->seed);
    step.exact = ref || settings->exact;
    if (settings->fault.call[0] != 0 && settings->fault_in_ref == ref)
        step.fault = &settings->fault;
    tdc_step_backward(&step, settings->network(&step, &settings->size));
    tdc_status status = step.status;
    if (status != TDC_OK)
        tdc_fail(error, status, "%s", step.reason);
    else if (step.fault != NULL && !step.faulted)
        status = tdc_fail(error, TDC_ERR_ARGUMENT, "the network has no call %s", step.fault->call);
    if (status == TDC_OK && mkdir(folder, 0750) != 0)
        status = tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", folder);
    if (status == TDC_OK)
        status = tdc_step_write(&step, &settings->files, folder, error);
    if (totals != NULL)
        count(&step, totals);
    tdc_step_free(&step);
    return status;
}

tdc_status tdc_network_make(const struct tdc_network_settings *settings, const char *folder,
                            struct tdc_network_totals *totals, struct tdc_error *error)
{
    tdc_status status = check(settings, error);
    if (status == TDC_OK && mkdir(folder, 0750) != 0 && errno != EEXIST)
        status = tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", folder);
    for (int ref = 0; ref < 2 && status == TDC_OK; ref++) {
        char side[PATH];
        int length = snprintf(side, sizeof side, "%s/%s", folder, ref ? "ref" : "test");
        if (length < 0 || (size_t)length >= sizeof side)
            return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: path too long", folder);
        status = make_side(settings, side, ref, totals, error);
    }
    return status;
}
