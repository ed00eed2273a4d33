/* slot_pool.c - see slot_pool.h. */
#include "host/engine/device/slot_pool.h"

#include <stdlib.h>

#include "host/engine/device/slot.h"
#include "io/base/error.h"

void tdc_slot_pool_init(struct tdc_slot_pool *pool, struct tdc_card *card, bool timed)
{
    *pool = (struct tdc_slot_pool){.card = card, .timed = timed, .most = TDC_CARD_SLOTS};
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->changed, NULL);
}

void tdc_slot_pool_close(struct tdc_slot_pool *pool, bool inside)
{
    for (unsigned i = 0; i < pool->opened; i++) {
        if (inside)
            tdc_slot_close(pool->places[i].slot);
        free(pool->places[i].slot);
    }
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
}

/* ---- under the lock -------------------------------------------------------------------------- */

static void set_free(struct tdc_slot_pool *pool, struct tdc_place *place)
{
    bool stuck = place->slot->pending;
    place->state = stuck ? TDC_PLACE_STUCK : TDC_PLACE_FREE;
    if (stuck)
        atomic_store(&pool->card->lost, true);
    place->load.units = place->load.count = 0;
    place->closed = place->told = false;
    place->failure = (struct tdc_call_failure){NULL, 0};
    pthread_cond_broadcast(&pool->changed);
}

/* The calls return at once. */
static void launch(struct tdc_slot_pool *pool, struct tdc_place *place)
{
    if (place->chunks == 0) { /* all of them vanished */
        set_free(pool, place);
        return;
    }
    place->failure = pool->card->family->launch(place->slot, &place->load);
    place->state = TDC_PLACE_FLYING;
    pthread_cond_broadcast(&pool->changed);
}

static void close_place(struct tdc_slot_pool *pool, struct tdc_place *place)
{
    place->closed = true;
    if (place->filling == 0)
        launch(pool, place);
}

/* One with room for the kernel; those that are too full leave. */
static struct tdc_place *find_filling(struct tdc_slot_pool *pool, int kind,
                                      const struct tdc_pair_plan *plan, size_t units)
{
    for (unsigned i = 0; i < pool->opened; i++) {
        struct tdc_place *place = &pool->places[i];
        if (place->state != TDC_PLACE_FILLING || place->closed || place->kind != kind)
            continue;
        if (place->load.units + units <= pool->card->family->room(pool->card, plan) &&
            place->load.count < TDC_SLOT_CHUNKS)
            return place;
        close_place(pool, place);
    }
    return NULL;
}

static struct tdc_place *open_place(struct tdc_slot_pool *pool)
{
    const struct tdc_device_family *family = pool->card->family;
    struct tdc_place *place = &pool->places[pool->opened];
    struct tdc_call_failure failure = {"malloc", TDC_NO_MEMORY};
    place->slot = calloc(1, family->slot_size);
    if (place->slot != NULL)
        failure = tdc_slot_open(place->slot, pool->card, pool->timed);
    if (failure.code == 0) {
        pool->opened++;
        return place;
    }
    if (place->slot != NULL)
        tdc_slot_close(place->slot);
    free(place->slot);
    place->slot = NULL;
    /* one slot works too, only slower */
    enum tdc_remedy remedy = family->remedy_of(failure.code);
    pool->most = pool->opened;
    if (pool->opened == 0 || remedy != TDC_REMEDY_LESS_MEMORY)
        pool->failure = failure;
    if (remedy == TDC_REMEDY_GIVE_UP)
        atomic_store(&pool->card->lost, true);
    return NULL;
}

static struct tdc_place *find_free(struct tdc_slot_pool *pool)
{
    for (unsigned i = 0; i < pool->opened; i++)
        if (pool->places[i].state == TDC_PLACE_FREE)
            return &pool->places[i];
    if (pool->opened == pool->most)
        return NULL;
    return open_place(pool);
}

/* What a launch costs the host, and a card until it begins, is nothing beside so many bytes. */
#define LEAST_LAUNCH ((size_t)1 << 20)

/*
 * Whether a slot that is not full should leave: when it holds half of what is under way. Filling it
 * takes less time than the card needs for the rest, so the link does not run dry, and launches grow
 * until slots are full. A little is not worth a launch, unless somebody waits for it.
 */
static bool is_enough(const struct tdc_slot_pool *pool, const struct tdc_place *place)
{
    const struct tdc_pair_plan *plan = &place->load.plan;
    size_t pair_bytes = tdc_dtype_size(plan->n_dtype) + tdc_dtype_size(plan->b_dtype);
    size_t flying = 0;
    for (unsigned i = 0; i < pool->opened; i++)
        if (pool->places[i].state == TDC_PLACE_FLYING)
            flying += pool->places[i].load.units;
    return 2 * place->load.units >= flying &&
           place->load.units * pool->card->family->unit * pair_bytes >= LEAST_LAUNCH;
}

static void close_all(struct tdc_slot_pool *pool)
{
    for (unsigned i = 0; i < pool->opened; i++)
        if (pool->places[i].state == TDC_PLACE_FILLING && !pool->places[i].closed)
            close_place(pool, &pool->places[i]);
}

/* ---- room ------------------------------------------------------------------------------------ */

/* Nothing is free: what waits to be filled up may as well leave. */
static enum tdc_room no_room(struct tdc_slot_pool *pool, struct tdc_error *error)
{
    if (pool->failure.code != 0) {
        char text[400];
        pool->card->family->describe(pool->failure, text, sizeof text);
        tdc_fail(error, TDC_ERR_DEVICE, "%s", text);
        pool->failure = (struct tdc_call_failure){NULL, 0};
    }
    close_all(pool);
    return pool->opened == 0 || atomic_load(&pool->card->lost) ? TDC_ROOM_NEVER : TDC_ROOM_NONE_NOW;
}

/* Makes a free place ready for a kind. Leaves the lock while its kernel is tested. */
static bool prepare(struct tdc_slot_pool *pool, struct tdc_place *place, int kind,
                    const struct tdc_pair_plan *plan, struct tdc_error *error)
{
    place->state = TDC_PLACE_CLAIMED;
    pthread_mutex_unlock(&pool->lock);
    bool proven = pool->card->family->proven(place->slot, plan, error);
    pthread_mutex_lock(&pool->lock);
    if (!proven || place->slot->pending) {
        set_free(pool, place);
        return false;
    }
    place->kind = kind;
    place->load.plan = *plan;
    place->state = TDC_PLACE_FILLING;
    return true;
}

static unsigned add_chunk(struct tdc_place *place, size_t units, size_t pairs)
{
    unsigned at = place->load.count++;
    place->load.chunks[at].first = place->load.units;
    place->load.chunks[at].pairs = pairs;
    place->load.units += units;
    place->filling++;
    place->chunks++;
    return at;
}

enum tdc_room tdc_slot_pool_room(struct tdc_slot_pool *pool, int kind,
                                 const struct tdc_pair_plan *plan, size_t pairs,
                                 struct tdc_place **found, unsigned *at, struct tdc_error *error)
{
    if (atomic_load(&pool->card->lost))
        return TDC_ROOM_NEVER;
    size_t unit = pool->card->family->unit, units = (pairs + unit - 1) / unit;
    pthread_mutex_lock(&pool->lock);
    enum tdc_room room = TDC_ROOM_GIVEN;
    struct tdc_place *place = find_filling(pool, kind, plan, units);
    if (place == NULL) {
        place = find_free(pool);
        if (place == NULL)
            room = no_room(pool, error);
        else if (!prepare(pool, place, kind, plan, error))
            room = TDC_ROOM_NEVER;
    }
    if (place != NULL && room == TDC_ROOM_GIVEN) {
        *found = place;
        *at = add_chunk(place, units, pairs);
    }
    pthread_mutex_unlock(&pool->lock);
    return room;
}

bool tdc_slot_pool_proven(struct tdc_slot_pool *pool, const struct tdc_pair_plan *plan,
                          struct tdc_error *error)
{
    pthread_mutex_lock(&pool->lock);
    struct tdc_place *place = find_free(pool);
    bool proven = false;
    if (place == NULL) {
        no_room(pool, error);
    } else {
        proven = pool->card->family->proven(place->slot, plan, error);
        set_free(pool, place);
    }
    pthread_mutex_unlock(&pool->lock);
    return proven;
}

void tdc_slot_pool_filled(struct tdc_slot_pool *pool, struct tdc_place *place, bool kept)
{
    pthread_mutex_lock(&pool->lock);
    place->filling--;
    place->chunks -= !kept;
    if (place->filling == 0 && (place->closed || is_enough(pool, place)))
        launch(pool, place);
    pthread_mutex_unlock(&pool->lock);
}

/* ---- coming back ----------------------------------------------------------------------------- */

/* Leaves the lock while it waits. Meanwhile this thread fills nothing: what is there leaves, so
 * that the link has something to do. */
static void await(struct tdc_slot_pool *pool, struct tdc_place *place, bool wait)
{
    place->awaited = true;
    if (wait)
        close_all(pool);
    pthread_mutex_unlock(&pool->lock);
    /* also when the launch failed half way: what had begun must end before the slot is used again
     */
    struct tdc_call_failure waited = tdc_slot_wait(place->slot);
    pthread_mutex_lock(&pool->lock);
    place->awaited = false;
    if (place->failure.code == 0)
        place->failure = waited;
    if (waited.code != 0)
        atomic_store(&pool->card->lost, true);
    place->state = TDC_PLACE_DONE;
    pthread_cond_broadcast(&pool->changed);
}

/* Whether a flying place can be awaited without waiting. A failure of the question is the place's.
 */
static bool is_over(struct tdc_place *place)
{
    bool done = false;
    struct tdc_call_failure failure = place->slot->card->family->poll(place->slot, &done);
    if (place->failure.code == 0)
        place->failure = failure;
    return done || failure.code != 0;
}

bool tdc_slot_pool_done(struct tdc_slot_pool *pool, struct tdc_place *place, bool wait,
                        bool *first_to_see)
{
    pthread_mutex_lock(&pool->lock);
    while (place->state != TDC_PLACE_DONE) {
        bool flies_alone = place->state == TDC_PLACE_FLYING && !place->awaited;
        if (place->state == TDC_PLACE_FILLING && !place->closed && (wait || is_enough(pool, place)))
            close_place(pool, place);
        else if (!wait && !(flies_alone && is_over(place)))
            break;
        else if (flies_alone)
            await(pool, place, wait);
        else
            pthread_cond_wait(&pool->changed, &pool->lock);
    }
    bool done = place->state == TDC_PLACE_DONE;
    *first_to_see = done && !place->told;
    place->told |= done;
    pthread_mutex_unlock(&pool->lock);
    return done;
}

/* Launches end in the order they began, or nearly so: what was in use before `until` is counted. */
static double in_use(double from, double to, double *until)
{
    double start = from > *until ? from : *until;
    if (to <= start)
        return 0;
    *until = to;
    return to - start;
}

void tdc_slot_pool_times(struct tdc_slot_pool *pool, struct tdc_place *place,
                         struct tdc_device_figures *figures)
{
    double at[TDC_SLOT_POINTS];
    for (unsigned i = 0; i < TDC_SLOT_POINTS; i++)
        if (!pool->card->family->time(place->slot, (enum tdc_slot_point)i, &at[i]))
            return;
    figures->h2d += at[TDC_POINT_COPIED] - at[TDC_POINT_START];
    figures->kernel += at[TDC_POINT_COMPUTED] - at[TDC_POINT_COPIED];
    figures->d2h += at[TDC_POINT_DONE] - at[TDC_POINT_COMPUTED];
    pthread_mutex_lock(&pool->lock);
    figures->link_busy += in_use(at[TDC_POINT_START], at[TDC_POINT_COPIED], &pool->link_until);
    figures->kernel_busy +=
        in_use(at[TDC_POINT_COPIED], at[TDC_POINT_COMPUTED], &pool->kernel_until);
    pthread_mutex_unlock(&pool->lock);
}

void tdc_slot_pool_taken(struct tdc_slot_pool *pool, struct tdc_place *place)
{
    pthread_mutex_lock(&pool->lock);
    if (--place->chunks == 0)
        set_free(pool, place);
    pthread_mutex_unlock(&pool->lock);
}

bool tdc_slot_pool_busy(struct tdc_slot_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    bool busy = pool->opened == pool->most;
    for (unsigned i = 0; i < pool->opened; i++)
        busy &= pool->places[i].state != TDC_PLACE_FREE;
    pthread_mutex_unlock(&pool->lock);
    return busy;
}

void tdc_slot_pool_wait_for_room(struct tdc_slot_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        bool hope = false, room = pool->opened < pool->most;
        for (unsigned i = 0; i < pool->opened; i++) {
            room |= pool->places[i].state == TDC_PLACE_FREE;
            hope |= pool->places[i].state != TDC_PLACE_STUCK;
        }
        if (room || !hope || atomic_load(&pool->card->lost))
            break;
        pthread_cond_wait(&pool->changed, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
}
