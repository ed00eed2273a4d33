/* twin_stream.c - queues of work, run at once, as late as possible or at random. */
#include <stdlib.h>
#include <string.h>

#include "tests/twin/acl/acl_twin_api.h"

/*
 * The clock of the stand-in, by the roofline: 25 GB/s on the link each way, which all streams
 * share; 105 GB/s of f32 through the cores, one kernel at a time; 50 microseconds until a launch
 * begins. The host reads and copies 40 GB/s with some threads, and a call of it takes two
 * microseconds.
 */
#define PICOSECONDS_PER_BYTE   40u
#define PICOSECONDS_PER_TILE   312000u
#define PICOSECONDS_PER_LAUNCH 50000000u
#define PICOSECONDS_PER_STAGED 25u
#define PICOSECONDS_PER_CALL   2000000u

static uint64_t later_of(uint64_t x, uint64_t y)
{
    return x > y ? x : y;
}

/* A resource is used for a while from when the stream and the resource are ready. */
static void use(struct twin_stream *stream, const struct twin_op *op, uint64_t *free_at,
                uint64_t delay, uint64_t duration)
{
    uint64_t start = later_of(later_of(stream->picoseconds, op->pushed) + delay, *free_at);
    stream->picoseconds = *free_at = start + duration;
    if (free_at != &twin.link_free)
        return;
    if (twin.link_busy == 0)
        twin.link_first = start;
    twin.link_busy += duration;
    twin.link_last = later_of(twin.link_last, start + duration);
}

double acl_twin_link(void)
{
    pthread_mutex_lock(&twin.lock);
    uint64_t span = twin.link_last - twin.link_first;
    double part = twin.link_busy != 0 ? (double)twin.link_busy / (double)span : 0;
    twin.link_busy = 0;
    pthread_mutex_unlock(&twin.lock);
    return part;
}

static void check_source(const struct twin_op *op)
{
    if (op->kind == TWIN_H2D && twin_checksum(op->from, op->bytes) != op->checksum)
        twin_broken("staging memory changed while its copy to the device was pending");
    if (op->kind == TWIN_KERNEL && !op->on_device &&
        twin_checksum(op->arguments, op->bytes) != op->checksum)
        twin_broken("arguments of a kernel changed before it ran");
}

static void kill_stream(struct twin_stream *stream, int code)
{
    if (stream->dead == 0)
        stream->dead = code;
}

/* One piece of work. Entered and left with the lock; kernels run without it on a thread. */
static void execute(struct twin_stream *stream, const struct twin_op *op, bool unlocked)
{
    check_source(op);
    if (op->fail != 0) {
        kill_stream(stream, op->fail);
        return;
    }
    switch (op->kind) {
    case TWIN_H2D:
    case TWIN_D2H:
        memcpy(op->to, op->from, op->bytes);
        use(stream, op, op->kind == TWIN_H2D ? &twin.link_free : &twin.back_free, 0,
            op->bytes * PICOSECONDS_PER_BYTE);
        break;
    case TWIN_EVENT:
        stream->picoseconds = later_of(stream->picoseconds, op->pushed);
        op->event->completed++;
        op->event->picoseconds = stream->picoseconds;
        break;
    case TWIN_SET:
        memset(op->to, op->value, op->bytes);
        break;
    case TWIN_WAIT:
        if (op->event->failed != 0)
            kill_stream(stream, op->event->failed);
        break;
    case TWIN_KERNEL:
        if (op->on_device && twin_check_arguments(op->kernel, op->arguments, stream->device) != 0)
            twin_broken("%s: wrong arguments in device memory", op->kernel);
        if (op->number == twin.settings.hang_at) {
            stream->hung = true;
            return;
        }
        use(stream, op, &twin.cores_free, PICOSECONDS_PER_LAUNCH,
            ((const uint64_t *)op->arguments)[3] * PICOSECONDS_PER_TILE);
        if (unlocked)
            pthread_mutex_unlock(&twin.lock);
        twin_run_kernel(op, stream->device);
        if (unlocked)
            pthread_mutex_lock(&twin.lock);
        break;
    }
}

/* False: it must wait for a stream that has not got so far. */
static bool ready(const struct twin_stream *stream)
{
    const struct twin_op *op = stream->first;
    return stream->dead != 0 || op->kind != TWIN_WAIT || op->event->failed != 0 ||
           op->event->completed >= op->number;
}

/* The first piece of work, unless the stream is stuck. */
static void run_first(struct twin_stream *stream, bool unlocked)
{
    struct twin_op *op = stream->first;
    stream->running = true;
    if (stream->dead == 0)
        execute(stream, op, unlocked);
    if (stream->dead != 0 && op->kind == TWIN_EVENT)
        op->event->failed = stream->dead;
    stream->running = false;
    if (stream->hung)
        return;
    stream->first = op->next;
    if (stream->first == NULL)
        stream->last = NULL;
    free(op);
    pthread_cond_broadcast(&twin.changed);
}

static void *serve(void *argument)
{
    struct twin_stream *stream = argument;
    pthread_mutex_lock(&twin.lock);
    while (!stream->ending) {
        if (stream->first != NULL && !stream->hung && ready(stream))
            run_first(stream, true);
        else
            pthread_cond_wait(&twin.changed, &twin.lock);
        if (stream->hung) {
            /* nothing is left to do here; who waits for the stream sees to the rest */
            stream->threaded = false;
            pthread_detach(pthread_self());
            pthread_cond_broadcast(&twin.changed);
            break;
        }
    }
    pthread_mutex_unlock(&twin.lock);
    return NULL;
}

void twin_stream_start(struct twin_stream *stream)
{
    if (twin.settings.schedule != TWIN_EAGER)
        return;
    if (pthread_create(&stream->thread, NULL, serve, stream) != 0)
        twin_broken("no thread for a stream");
    stream->threaded = true;
}

/* Entered and left with the lock. */
void twin_stream_end(struct twin_stream *stream)
{
    stream->ending = true;
    pthread_cond_broadcast(&twin.changed);
    if (stream->threaded) {
        pthread_mutex_unlock(&twin.lock);
        pthread_join(stream->thread, NULL);
        pthread_mutex_lock(&twin.lock);
    }
    while (stream->first != NULL) {
        struct twin_op *op = stream->first;
        stream->first = op->next;
        free(op);
    }
}

void twin_push(struct twin_stream *stream, const struct twin_op *op)
{
    struct twin_op *copy = malloc(sizeof *copy);
    if (copy == NULL)
        twin_broken("out of memory for the twin itself");
    *copy = *op;
    copy->next = NULL;
    twin.host_time += PICOSECONDS_PER_CALL;
    if (op->kind == TWIN_H2D)
        twin.host_time += op->bytes * PICOSECONDS_PER_STAGED;
    copy->pushed = twin.host_time;
    if (stream->last != NULL)
        stream->last->next = copy;
    else
        stream->first = copy;
    stream->last = copy;
    pthread_cond_broadcast(&twin.changed);
}

/* One piece of work of the stream, or of one it waits for. */
static void advance(struct twin_stream *stream)
{
    for (int hops = 0; !ready(stream); hops++) {
        const struct twin_event *event = stream->first->event;
        struct twin_stream *other = twin.streams;
        for (; other != NULL; other = other->next) {
            const struct twin_op *op = other->first;
            while (op != NULL && (op->kind != TWIN_EVENT || op->event != event))
                op = op->next;
            if (op != NULL)
                break;
        }
        if (other == NULL || other->hung || hops == TWIN_MOST_DEVICES)
            twin_broken("a stream waits for an event that never comes");
        stream = other;
    }
    run_first(stream, false);
}

void twin_drain(struct twin_stream *stream, const struct twin_event *event)
{
    while (!stream->hung && (stream->first != NULL || stream->running) &&
           (event == NULL || event->completed < event->recorded)) {
        if (stream->threaded)
            pthread_cond_wait(&twin.changed, &twin.lock);
        else
            advance(stream);
    }
}

void twin_wait_for_hung(struct twin_stream *stream, int64_t milliseconds, const char *function)
{
    if (!stream->hung)
        return;
    uint64_t limit = twin.operator_timeout != 0 ? twin.operator_timeout : 1091000;
    bool in_time = milliseconds < 0 || (uint64_t)milliseconds >= limit;
    if (twin.settings.stuck ? milliseconds < 0 : in_time && limit > 60000)
        twin_broken("%s waits for a kernel that never ends", function);
    if (twin.settings.stuck || !in_time)
        return;
    stream->hung = false;
    stream->dead = TWIN_VECTOR_CORE_TIMEOUT;
    twin_drain(stream, NULL);
}

void twin_run_something(void)
{
    for (struct twin_stream *stream = twin.streams; stream != NULL; stream = stream->next) {
        uint64_t *random = &twin.settings.random;
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        if (stream->first != NULL && !stream->hung && ready(stream) && (*random >> 33) % 3 == 0)
            run_first(stream, false);
    }
}

static bool overlaps(const struct twin_block *block, const unsigned char *address, size_t bytes)
{
    return address < block->bytes + block->size && block->bytes < address + bytes;
}

static bool op_uses(const struct twin_op *op, const struct twin_block *block)
{
    if (op->kind == TWIN_EVENT || op->kind == TWIN_WAIT)
        return false;
    if (op->kind != TWIN_KERNEL)
        return overlaps(block, op->to, op->bytes) ||
               (op->kind != TWIN_SET && overlaps(block, op->from, op->bytes));
    if (overlaps(block, op->arguments, op->bytes))
        return true;
    for (int i = 0; !op->on_device && i < 3; i++) {
        const void *address = (const void *)(uintptr_t)((const uint64_t *)op->arguments)[i];
        if (overlaps(block, twin_untagged(address), 1))
            return true;
    }
    return false;
}

static bool uses(const struct twin_stream *stream, const struct twin_block *block)
{
    for (const struct twin_op *op = stream->first; stream->dead == 0 && op != NULL; op = op->next)
        if (op_uses(op, block))
            return true;
    return false;
}

void twin_abandon(struct twin_stream *stream)
{
    for (struct twin_block *block = twin.blocks; block != NULL; block = block->next)
        block->abandoned |= uses(stream, block);
    for (const struct twin_op *op = stream->first; op != NULL; op = op->next)
        if (op->kind == TWIN_EVENT)
            op->event->abandoned = true;
    /* unloading takes the code from under the kernel, and which one it is its owner need not know
     */
    for (struct twin_binary *at = twin.binaries; at != NULL; at = at->next)
        at->abandoned = true;
}

bool twin_pending_use(const struct twin_block *block)
{
    for (const struct twin_stream *stream = twin.streams; stream != NULL; stream = stream->next)
        if (uses(stream, block))
            return true;
    return false;
}
