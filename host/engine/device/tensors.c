/* tensors.c - see tensors.h. */
#include "host/engine/device/tensors.h"

#include <string.h>

#include "host/engine/device/slot.h"
#include "io/base/error.h"

tdc_status tdc_device_new(tdc_device **device, struct tdc_error *error)
{
    return tdc_ascend_tensors_new(device, error);
}

tdc_status tdc_device_of(const char *family, tdc_device **device, struct tdc_error *error)
{
    *device = NULL;
    if (strcmp(family, "ascend") == 0)
        return tdc_ascend_tensors_new(device, error);
    if (strcmp(family, "cuda") == 0)
        return tdc_cuda_tensors_new(device, error);
    if (strcmp(family, "opencl") == 0)
        return tdc_opencl_tensors_new(device, error);
    return tdc_fail(error, TDC_ERR_ARGUMENT, "no tensors are compared on devices of %.40s", family);
}

void tdc_device_free(tdc_device *device)
{
    if (device != NULL)
        device->calls->free(device);
}

double tdc_tensors_patience(void)
{
    return 2 * tdc_device_patience();
}

bool tdc_tensors_keep(struct tdc_tensors_work *work, const char *function, int code)
{
    if (code != 0 && work->failure.code == 0)
        work->failure = (struct tdc_call_failure){function, code};
    return code == 0;
}

/* ---- by the CPU ------------------------------------------------------------------------------ */

static bool copy(struct tdc_tensors_work *work, unsigned turn, uint64_t first, size_t count)
{
    struct tdc_device *device = work->device;
    work->out->copied += count * (work->n_size + work->b_size);
    return device->calls->copy(work, device->n[turn], device->b[turn], first, count);
}

bool tdc_tensors_by_cpu(struct tdc_tensors_work *work, uint64_t first, size_t count,
                        struct tdc_pair_sums *sums)
{
    struct tdc_device *device = work->device;
    bool sent = copy(work, 0, first, count);
    if (!device->calls->copied(work) || !sent)
        return false;
    tdc_pair_run(&work->plan, device->n[0], device->b[0], count, sums);
    return true;
}

static size_t chunk_at(const struct tdc_tensors_work *work, uint64_t first)
{
    uint64_t left = work->count - first;
    return left < TDC_PAIR_CHUNK ? (size_t)left : TDC_PAIR_CHUNK;
}

/* One chunk is computed while the next is being copied. */
static bool all_by_cpu(struct tdc_tensors_work *work)
{
    struct tdc_device *device = work->device;
    unsigned turn = 0;
    bool sent = work->count == 0 || copy(work, 0, 0, chunk_at(work, 0));
    for (uint64_t first = 0; first < work->count; first += TDC_PAIR_CHUNK, turn ^= 1) {
        size_t here = chunk_at(work, first);
        struct tdc_pair_sums sums;
        if (!device->calls->copied(work) || !sent)
            return false;
        if (first + here < work->count)
            sent = copy(work, turn ^ 1, first + here, chunk_at(work, first + here));
        tdc_pair_run(&work->plan, device->n[turn], device->b[turn], here, &sums);
        tdc_pair_merge(&work->total, &sums);
    }
    return true;
}

/* ---- by the device --------------------------------------------------------------------------- */

static uint64_t batch_at(const struct tdc_tensors_work *work, uint64_t first)
{
    return work->count - first < TDC_BATCH_PAIRS ? work->count - first : TDC_BATCH_PAIRS;
}

/* The next batch is under way while the one before is taken. */
static bool all_by_device(struct tdc_tensors_work *work)
{
    const struct tdc_tensors_calls *calls = work->device->calls;
    unsigned turn = 0;
    bool good = work->count == 0 || calls->launch(work, 0, 0, batch_at(work, 0));
    for (uint64_t first = 0; first < work->count; first += TDC_BATCH_PAIRS, turn ^= 1) {
        uint64_t here = batch_at(work, first), next = first + here;
        bool more = good && next < work->count;
        if (more)
            good = calls->launch(work, turn ^ 1, next, batch_at(work, next));
        /* whatever happened: nothing of ours may be under way when this returns */
        good = calls->wait(work, turn) && good;
        good = good && calls->take(work, turn, first, here);
        if (!good) {
            if (more)
                calls->wait(work, turn ^ 1);
            return false;
        }
    }
    return calls->end == NULL || calls->end(work);
}

/* ---- all ------------------------------------------------------------------------------------- */

static void publish(const struct tdc_pair_sums *sums, struct tdc_device_sums *out)
{
    out->count = sums->count;
    out->finite = sums->finite;
    out->nb = sums->nb;
    out->nn = sums->nn;
    out->bb = sums->bb;
    out->dd = sums->dd;
    out->n = sums->n;
    out->b = sums->b;
    out->abs = sums->abs;
    out->n_min = sums->n_min;
    out->n_max = sums->n_max;
    out->b_min = sums->b_min;
    out->b_max = sums->b_max;
    out->abs_max = sums->abs_max;
    out->rel_max = sums->rel_max;
    out->abs_at = sums->abs_at;
    out->rel_at = sums->rel_at;
    out->below_thousandth = sums->below[0];
    out->below_five_thousandths = sums->below[1];
    out->n_nan = sums->n_nan;
    out->b_nan = sums->b_nan;
    out->n_inf = sums->n_inf;
    out->b_inf = sums->b_inf;
}

static tdc_status make_plan(struct tdc_tensors_work *work, tdc_dtype n_dtype, tdc_dtype b_dtype,
                            enum tdc_relative_rule rule, struct tdc_error *error)
{
    if (!tdc_pair_plan_make(n_dtype, b_dtype, rule, tdc_cpu_variant_chosen(), &work->plan))
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "no arithmetic for %s and %s",
                        tdc_dtype_name(n_dtype), tdc_dtype_name(b_dtype));
    work->plan.extremes = true;
    work->n_size = tdc_dtype_size(n_dtype);
    work->b_size = tdc_dtype_size(b_dtype);
    if (work->count > UINT64_MAX / 16)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%llu elements are too many",
                        (unsigned long long)work->count);
    return TDC_OK;
}

tdc_status tdc_tensors_compare(struct tdc_tensors_work *work, tdc_dtype n_dtype, tdc_dtype b_dtype,
                               enum tdc_relative_rule rule, struct tdc_error *error)
{
    struct tdc_device *device = work->device;
    *work->out = (struct tdc_device_sums){0};
    tdc_status status = make_plan(work, n_dtype, b_dtype, rule, error);
    if (status != TDC_OK)
        return status;
    if (device->given_up)
        return tdc_fail(error, TDC_ERR_DEVICE, "the device was given up: a kernel did not end");
    tdc_pair_clear(&work->total);
    const char *why = NULL;
    bool good = device->calls->begin(work, &why);
    work->out->why = why;
    if (good)
        good = why == NULL ? all_by_device(work) : all_by_cpu(work);
    if (!good) {
        char text[600];
        device->calls->describe(work->failure, text, sizeof text);
        *work->out = (struct tdc_device_sums){0};
        return tdc_fail(error, TDC_ERR_DEVICE, "%s", text);
    }
    publish(&work->total, work->out);
    return TDC_OK;
}
