/* slot_pool.c - see slot_pool.h. */
#include "host/engine/ascend/slot_pool.h"

#include "io/base/error.h"

void tdc_slot_pool_init(struct tdc_slot_pool *pool, struct tdc_ascend_device *device, bool timed)
{
    *pool = (struct tdc_slot_pool){.device = device, .timed = timed, .most = TDC_ASCEND_SLOTS};
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->changed, NULL);
}

void tdc_slot_pool_close(struct tdc_slot_pool *pool)
{
    for (unsigned i = 0; i < pool->opened; i++)
        tdc_ascend_slot_close(&pool->places[i].slot);
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
}

/* ---- under the lock -------------------------------------------------------------------------- */

static void set_free(struct tdc_slot_pool *pool, struct tdc_ascend_place *place)
{
    bool stuck = place->slot.pending;
    place->state = stuck ? TDC_PLACE_STUCK : TDC_PLACE_FREE;
    if (stuck)
        atomic_store(&pool->device->lost, true);
    place->tiles = 0;
    place->closed = place->told = false;
    place->failure = (struct tdc_acl_failure){NULL, 0};
    pthread_cond_broadcast(&pool->changed);
}

/* The calls return at once. */
static void launch(struct tdc_slot_pool *pool, struct tdc_ascend_place *place)
{
    if (place->chunks == 0) { /* all of them vanished */
        set_free(pool, place);
        return;
    }
    place->failure =
        tdc_ascend_slot_launch(&place->slot, place->kernel, place->function, place->tiles, 0);
    place->state = TDC_PLACE_FLYING;
    pthread_cond_broadcast(&pool->changed);
}

static void close_place(struct tdc_slot_pool *pool, struct tdc_ascend_place *place)
{
    place->closed = true;
    if (place->filling == 0)
        launch(pool, place);
}

/* One with room for the kernel; those that are too full leave. */
static struct tdc_ascend_place *find_filling(struct tdc_slot_pool *pool, unsigned kernel,
                                             size_t tiles)
{
    for (unsigned i = 0; i < pool->opened; i++) {
        struct tdc_ascend_place *place = &pool->places[i];
        if (place->state != TDC_PLACE_FILLING || place->closed || place->kernel != kernel)
            continue;
        if (place->tiles + tiles <= TDC_SLOT_TILES)
            return place;
        close_place(pool, place);
    }
    return NULL;
}

static struct tdc_ascend_place *find_free(struct tdc_slot_pool *pool)
{
    for (unsigned i = 0; i < pool->opened; i++)
        if (pool->places[i].state == TDC_PLACE_FREE)
            return &pool->places[i];
    if (pool->opened == pool->most)
        return NULL;
    struct tdc_ascend_place *place = &pool->places[pool->opened];
    struct tdc_acl_failure failure = tdc_ascend_slot_open(&place->slot, pool->device, pool->timed);
    if (failure.code == 0) {
        pool->opened++;
        return place;
    }
    tdc_ascend_slot_close(&place->slot);
    /* one slot works too, only slower */
    pool->most = pool->opened;
    if (pool->opened == 0 || tdc_acl_remedy_of(failure.code) != TDC_ACL_LESS_MEMORY)
        pool->failure = failure;
    if (tdc_acl_remedy_of(failure.code) == TDC_ACL_GIVE_UP)
        atomic_store(&pool->device->lost, true);
    return NULL;
}

/*
 * Whether a slot that is not full should leave: when it holds half of what is under way. Filling it
 * takes less time than the card needs for the rest, so the link does not run dry, and launches grow
 * until slots are full.
 */
static bool is_enough(const struct tdc_slot_pool *pool, const struct tdc_ascend_place *place)
{
    size_t flying = 0;
    for (unsigned i = 0; i < pool->opened; i++)
        if (pool->places[i].state == TDC_PLACE_FLYING)
            flying += pool->places[i].tiles;
    return 2 * place->tiles >= flying;
}

/* ---- room ------------------------------------------------------------------------------------ */

/* Nothing is free: what waits to be filled up may as well leave. */
static enum tdc_room no_room(struct tdc_slot_pool *pool, struct tdc_error *error)
{
    if (pool->failure.code != 0) {
        char text[400];
        tdc_acl_describe(pool->device->acl, pool->failure.function, pool->failure.code, text,
                         sizeof text);
        tdc_fail(error, TDC_ERR_DEVICE, "%s", text);
        pool->failure = (struct tdc_acl_failure){NULL, 0};
    }
    for (unsigned i = 0; i < pool->opened; i++)
        if (pool->places[i].state == TDC_PLACE_FILLING && !pool->places[i].closed)
            close_place(pool, &pool->places[i]);
    return pool->opened == 0 || atomic_load(&pool->device->lost) ? TDC_ROOM_NEVER
                                                                 : TDC_ROOM_NONE_NOW;
}

/* Makes a free place ready for a kernel. Leaves the lock while the kernel is tested. */
static bool prepare(struct tdc_slot_pool *pool, struct tdc_ascend_place *place, unsigned kernel,
                    struct tdc_error *error)
{
    place->state = TDC_PLACE_CLAIMED;
    pthread_mutex_unlock(&pool->lock);
    void *function = tdc_ascend_kernel(pool->device, kernel, &place->slot, error);
    pthread_mutex_lock(&pool->lock);
    if (function == NULL) {
        set_free(pool, place);
        return false;
    }
    place->kernel = kernel;
    place->function = function;
    place->state = TDC_PLACE_FILLING;
    return true;
}

enum tdc_room tdc_slot_pool_room(struct tdc_slot_pool *pool, unsigned kernel, size_t tiles,
                                 struct tdc_ascend_place **found, size_t *first,
                                 struct tdc_error *error)
{
    if (atomic_load(&pool->device->lost))
        return TDC_ROOM_NEVER;
    pthread_mutex_lock(&pool->lock);
    enum tdc_room room = TDC_ROOM_GIVEN;
    struct tdc_ascend_place *place = find_filling(pool, kernel, tiles);
    if (place == NULL) {
        place = find_free(pool);
        if (place == NULL)
            room = no_room(pool, error);
        else if (!prepare(pool, place, kernel, error))
            room = TDC_ROOM_NEVER;
    }
    if (place != NULL && room == TDC_ROOM_GIVEN) {
        *found = place;
        *first = place->tiles;
        place->tiles += tiles;
        place->filling++;
        place->chunks++;
    }
    pthread_mutex_unlock(&pool->lock);
    return room;
}

void tdc_slot_pool_filled(struct tdc_slot_pool *pool, struct tdc_ascend_place *place, bool kept)
{
    pthread_mutex_lock(&pool->lock);
    place->filling--;
    place->chunks -= !kept;
    if (place->filling == 0 && (place->closed || is_enough(pool, place)))
        launch(pool, place);
    pthread_mutex_unlock(&pool->lock);
}

/* ---- coming back ----------------------------------------------------------------------------- */

/* Leaves the lock while it waits. */
static void await(struct tdc_slot_pool *pool, struct tdc_ascend_place *place)
{
    place->awaited = true;
    pthread_mutex_unlock(&pool->lock);
    /* also when the launch failed half way: what had begun must end before the slot is used again
     */
    struct tdc_acl_failure waited = tdc_ascend_slot_wait(&place->slot);
    pthread_mutex_lock(&pool->lock);
    place->awaited = false;
    if (place->failure.code == 0)
        place->failure = waited;
    if (waited.code != 0)
        atomic_store(&pool->device->lost, true);
    place->state = TDC_PLACE_DONE;
    pthread_cond_broadcast(&pool->changed);
}

bool tdc_slot_pool_done(struct tdc_slot_pool *pool, struct tdc_ascend_place *place, bool wait,
                        bool *first_to_see)
{
    pthread_mutex_lock(&pool->lock);
    while (place->state != TDC_PLACE_DONE) {
        if (place->state == TDC_PLACE_FILLING && !place->closed && (wait || is_enough(pool, place)))
            close_place(pool, place);
        else if (!wait && !(place->state == TDC_PLACE_FLYING && !place->awaited &&
                            tdc_ascend_slot_over(&place->slot)))
            break;
        else if (place->state == TDC_PLACE_FLYING && !place->awaited)
            await(pool, place);
        else
            pthread_cond_wait(&pool->changed, &pool->lock);
    }
    bool done = place->state == TDC_PLACE_DONE;
    *first_to_see = done && !place->told;
    place->told |= done;
    pthread_mutex_unlock(&pool->lock);
    return done;
}

void tdc_slot_pool_taken(struct tdc_slot_pool *pool, struct tdc_ascend_place *place)
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
        if (room || !hope || atomic_load(&pool->device->lost))
            break;
        pthread_cond_wait(&pool->changed, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
}
