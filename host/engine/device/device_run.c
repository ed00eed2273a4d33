/* device_run.c - see device_run.h. */
#include "host/engine/device/device_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "host/engine/device/slot_pool.h"
#include "io/base/error.h"

/* Tensors share launches: so many pairs are worth the trip. */
#define LEAST_PAIRS ((size_t)8192)

/* ---- opening and closing --------------------------------------------------------------------- */

static bool failed(void *context)
{
    return tdc_device_run_failed(context);
}

/* What is smaller than a unit would be computed for nothing. */
static size_t least_pairs(const struct tdc_device_family *family)
{
    const char *given = getenv("TDC_DEVICE_LEAST");
    char *end;
    unsigned long long least = given != NULL ? strtoull(given, &end, 10) : 0;
    size_t bound = family->exact ? 1 : family->unit;
    if (given == NULL || end == given || *end != '\0')
        return LEAST_PAIRS;
    return least > bound ? (size_t)least : bound;
}

static void close_card(struct tdc_slot_pool *pool)
{
    struct tdc_card *card = pool->card;
    void *before = NULL;
    /* the thread may have been bound to another card since */
    bool bound = card->family->bind(card, &before).code == 0;
    bool inside = bound || card->family->stays_bound;
    if (!inside) /* of a context that cannot be entered nothing can be given back */
        atomic_store(&card->abandoned, true);
    tdc_slot_pool_close(pool, inside);
    if (bound)
        card->family->unbind(card, before);
    card->family->close(card);
}

void tdc_device_run_close(struct tdc_device_run *run)
{
    for (unsigned i = run->count; i-- != 0;)
        close_card(&run->pools[i]);
    pthread_mutex_destroy(&run->lock);
    free(run->pools);
    free(run);
}

/* The most usual kernel is tested at once: a device that cannot do that one is none. */
static tdc_status test_card(struct tdc_slot_pool *pool, enum tdc_relative_rule rule,
                            struct tdc_error *error)
{
    struct tdc_card *card = pool->card;
    struct tdc_pair_plan plan;
    void *before = NULL;
    struct tdc_call_failure failure = card->family->bind(card, &before);
    if (failure.code != 0) {
        char text[400];
        card->family->describe(failure, text, sizeof text);
        return tdc_fail(error, TDC_ERR_DEVICE, "%s: %s", card->name, text);
    }
    tdc_pair_plan_make(TDC_F32, TDC_F32, rule, tdc_cpu_variant_chosen(), &plan);
    /* a rule without a kernel of its own has none to be tested: its pairs are the CPU's */
    bool usable = card->family->kind_of(&plan) < 0 || tdc_slot_pool_proven(pool, &plan, error);
    card->family->unbind(card, before);
    return usable ? TDC_OK : TDC_ERR_DEVICE;
}

static tdc_status open_card(struct tdc_device_run *run, const struct tdc_device_family *family,
                            int32_t id, enum tdc_relative_rule rule, struct tdc_error *error)
{
    struct tdc_card *card = NULL;
    tdc_status status = family->open((unsigned)id, &card, error);
    if (status != TDC_OK)
        return status;
    struct tdc_slot_pool *pool = &run->pools[run->count++];
    tdc_slot_pool_init(pool, card, run->timed);
    return test_card(pool, rule, error);
}

tdc_status tdc_device_run_open(const struct tdc_device_family *family, const int32_t *ids,
                               unsigned count, enum tdc_relative_rule rule, bool no_fallback,
                               bool timed, struct tdc_device_run **made, struct tdc_error *error)
{
    *made = NULL;
    if (count == 0 || count > TDC_DEVICE_MOST)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%u devices are not supported", count);
    struct tdc_device_run *run = calloc(1, sizeof *run);
    if (run != NULL)
        run->pools = calloc(count, sizeof *run->pools);
    if (run == NULL || run->pools == NULL) {
        free(run);
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the devices");
    }
    run->backend = tdc_backend_device;
    run->backend.name = family->name;
    run->backend.context = run;
    run->backend.failed = failed;
    run->no_fallback = no_fallback;
    run->timed = timed;
    run->least = least_pairs(family);
    pthread_mutex_init(&run->lock, NULL);
    tdc_status status = TDC_OK;
    for (unsigned i = 0; i < count && status == TDC_OK; i++)
        status = open_card(run, family, ids[i], rule, error);
    if (status == TDC_OK) {
        snprintf(run->name, sizeof run->name, "%s", run->pools[0].card->name);
        *made = run;
    } else {
        tdc_device_run_close(run);
    }
    return status;
}

/* ---- trouble and figures --------------------------------------------------------------------- */

void tdc_device_run_note(struct tdc_device_run *run, const struct tdc_card *card, const char *text,
                         const char *name)
{
    pthread_mutex_lock(&run->lock);
    if (run->trouble[0] == '\0')
        snprintf(run->trouble, sizeof run->trouble, "device %s:%d (%s): %.600s%s%.200s",
                 card->family->name, (int)card->id, card->name, text, name != NULL ? ", at " : "",
                 name != NULL ? name : "");
    if (run->no_fallback)
        atomic_store(&run->failed, true);
    pthread_mutex_unlock(&run->lock);
}

void tdc_device_run_add(struct tdc_device_run *run, const struct tdc_device_figures *figures)
{
    pthread_mutex_lock(&run->lock);
    struct tdc_device_figures *all = &run->figures;
    all->tiles += figures->tiles;
    all->rescued += figures->rescued;
    all->device_chunks += figures->device_chunks;
    all->cpu_chunks += figures->cpu_chunks;
    all->fallbacks += figures->fallbacks;
    all->h2d += figures->h2d;
    all->kernel += figures->kernel;
    all->d2h += figures->d2h;
    all->staging += figures->staging;
    all->link_busy += figures->link_busy;
    all->kernel_busy += figures->kernel_busy;
    all->bytes += figures->bytes;
    all->returned += figures->returned;
    pthread_mutex_unlock(&run->lock);
}

struct tdc_device_figures tdc_device_run_figures(struct tdc_device_run *run)
{
    pthread_mutex_lock(&run->lock);
    struct tdc_device_figures figures = run->figures;
    pthread_mutex_unlock(&run->lock);
    return figures;
}

const char *tdc_device_run_trouble(const struct tdc_device_run *run)
{
    return run->trouble;
}

bool tdc_device_run_failed(struct tdc_device_run *run)
{
    return atomic_load(&run->failed);
}
