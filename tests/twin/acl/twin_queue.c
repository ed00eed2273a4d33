/* twin_queue.c - streams, events and copies: the calls that only queue work. */
#include <stdlib.h>
#include <string.h>

#include "tests/twin/acl/acl_twin_api.h"

int twin_stream_of(void *handle, struct twin_stream **found)
{
    if (twin_current < 0)
        return TWIN_CONTEXT_NULL;
    for (struct twin_stream *stream = twin.streams; stream != NULL; stream = stream->next) {
        if (stream != handle)
            continue;
        *found = stream;
        return stream->device == twin_current ? 0 : TWIN_STREAM_CONTEXT;
    }
    twin_broken("a stream is used that does not exist");
}

struct twin_event *twin_event_of(const void *handle)
{
    for (struct twin_event *event = twin.events; event != NULL; event = event->next)
        if (event == handle)
            return event;
    twin_broken("an event is used that does not exist");
}

/* ---- streams --------------------------------------------------------------------------------- */

int aclrtCreateStream(void **made)
{
    int code = twin_enter("aclrtCreateStream", false, NULL);
    if (code == 0 && twin_current < 0)
        code = TWIN_CONTEXT_NULL;
    if (code != 0)
        return twin_leave(code);
    struct twin_stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL)
        twin_broken("out of memory for the twin itself");
    stream->device = twin_current;
    stream->next = twin.streams;
    twin.streams = stream;
    twin_stream_start(stream);
    *made = stream;
    return twin_leave(0);
}

static void remove_stream(struct twin_stream *stream)
{
    twin_stream_end(stream);
    struct twin_stream **at = &twin.streams;
    while (*at != stream)
        at = &(*at)->next;
    *at = stream->next;
    free(stream);
}

int aclrtDestroyStream(void *handle)
{
    int code = twin_enter("aclrtDestroyStream", false, NULL);
    struct twin_stream *stream = NULL;
    twin_stream_of(handle, &stream);
    if (stream == NULL)
        twin_broken("a stream is destroyed without a context");
    /* documented to wait for unfinished work */
    twin_wait_for_hung(stream, -1, "aclrtDestroyStream");
    if ((stream->first != NULL || stream->running) && stream->dead == 0)
        twin_broken("a stream is destroyed while work is pending");
    remove_stream(stream);
    return twin_leave(code);
}

/* Documented not to wait: what runs goes on, and with it the use of its memory. */
int aclrtDestroyStreamForce(void *handle)
{
    int code = twin_enter("aclrtDestroyStreamForce", false, NULL);
    struct twin_stream *stream = NULL;
    twin_stream_of(handle, &stream);
    if (stream == NULL)
        twin_broken("a stream is destroyed without a context");
    if (code == 0) {
        twin_abandon(stream);
        remove_stream(stream);
    }
    return twin_leave(code);
}

static int synchronise(void *handle, int32_t milliseconds, const struct twin_event *event)
{
    struct twin_stream *stream;
    int code = twin_stream_of(handle, &stream);
    if (code != 0)
        return code;
    twin_drain(stream, event);
    twin_wait_for_hung(stream, milliseconds, "a wait without timeout");
    if (stream->picoseconds > twin.host_time)
        twin.host_time = stream->picoseconds;
    return stream->hung ? TWIN_SYNC_TIMEOUT : stream->dead;
}

int aclrtSynchronizeStream(void *handle)
{
    int code = twin_enter("aclrtSynchronizeStream", false, NULL);
    return twin_leave(code != 0 ? code : synchronise(handle, -1, NULL));
}

int aclrtSynchronizeStreamWithTimeout(void *handle, int32_t milliseconds)
{
    int code = twin_enter("aclrtSynchronizeStreamWithTimeout", false, NULL);
    return twin_leave(code != 0 ? code : synchronise(handle, milliseconds, NULL));
}

/* ---- events ---------------------------------------------------------------------------------- */

int twin_event_new(uint32_t flags, void **made)
{
    if (twin_current < 0)
        return TWIN_CONTEXT_NULL;
    struct twin_event *event = calloc(1, sizeof *event);
    if (event == NULL)
        twin_broken("out of memory for the twin itself");
    event->device = twin_current;
    event->flags = flags;
    event->next = twin.events;
    twin.events = event;
    *made = event;
    return 0;
}

int aclrtCreateEvent(void **made)
{
    int code = twin_enter("aclrtCreateEvent", false, NULL);
    return twin_leave(code != 0 ? code : twin_event_new(TWIN_EVENT_SYNC | TWIN_EVENT_TIME, made));
}

static struct twin_stream *stream_with(const struct twin_event *event)
{
    for (struct twin_stream *stream = twin.streams; stream != NULL; stream = stream->next)
        for (const struct twin_op *op = stream->first; op != NULL; op = op->next)
            if ((op->kind == TWIN_EVENT || op->kind == TWIN_WAIT) && op->event == event)
                return stream;
    return NULL;
}

int aclrtDestroyEvent(void *handle)
{
    int code = twin_enter("aclrtDestroyEvent", false, NULL);
    struct twin_event *event = twin_event_of(handle);
    struct twin_stream *stream = stream_with(event);
    if (stream != NULL && stream->dead == 0)
        twin_broken("an event is destroyed before it was reached");
    /* what a dead stream still holds will not run any more */
    if (stream != NULL)
        twin_drain(stream, NULL);
    struct twin_event **at = &twin.events;
    while (*at != event)
        at = &(*at)->next;
    *at = event->next;
    free(event);
    return twin_leave(code);
}

int aclrtRecordEvent(void *handle, void *stream_handle)
{
    int deferred = 0;
    int code = twin_enter("aclrtRecordEvent", true, &deferred);
    struct twin_stream *stream;
    if (code == 0)
        code = twin_stream_of(stream_handle, &stream);
    if (code != 0)
        return twin_leave(code);
    struct twin_event *event = twin_event_of(handle);
    event->recorded++;
    twin_push(stream, &(struct twin_op){.kind = TWIN_EVENT, .event = event, .fail = deferred});
    return twin_leave(0);
}

int aclrtSynchronizeEvent(void *handle)
{
    int code = twin_enter("aclrtSynchronizeEvent", false, NULL);
    if (code != 0)
        return twin_leave(code);
    struct twin_event *event = twin_event_of(handle);
    struct twin_stream *stream = stream_with(event);
    return twin_leave(stream != NULL ? synchronise(stream, -1, event) : event->failed);
}

int aclrtQueryEventStatus(void *handle, int *status)
{
    int code = twin_enter("aclrtQueryEventStatus", false, NULL);
    if (code != 0)
        return twin_leave(code);
    const struct twin_event *event = twin_event_of(handle);
    *status = event->completed == event->recorded;
    return twin_leave(event->failed);
}

int aclrtEventElapsedTime(float *milliseconds, void *start, void *end)
{
    int code = twin_enter("aclrtEventElapsedTime", false, NULL);
    if (code != 0)
        return twin_leave(code);
    const struct twin_event *from = twin_event_of(start), *to = twin_event_of(end);
    if ((from->flags & to->flags & TWIN_EVENT_TIME) == 0)
        return twin_leave(TWIN_NOT_SUPPORTED);
    if (from->completed == 0 || from->completed != from->recorded ||
        to->completed != to->recorded || to->completed == 0)
        return twin_leave(TWIN_PARAM_INVALID);
    *milliseconds = (float)((double)(to->picoseconds - from->picoseconds) * 1e-9);
    return twin_leave(0);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* With ordinary host memory the call returns when the copy is done. */
static int copy_now(struct twin_stream *stream, unsigned char *to, const unsigned char *from,
                    size_t count)
{
    twin_drain(stream, NULL);
    twin_wait_for_hung(stream, -1, "a copy");
    if (stream->dead == 0)
        memcpy(to, from, count);
    return stream->dead;
}

static int queue_copy(struct twin_stream *stream, void *to, const void *from, size_t count,
                      bool to_device, int deferred)
{
    const void *device_side = to_device ? to : from, *host_side = to_device ? from : to;
    if (!twin_is_tagged(device_side) || twin_is_tagged(host_side))
        return TWIN_PARAM_INVALID;
    if (twin_block_of(twin_untagged(device_side), count, stream->device) == NULL)
        twin_broken("a copy of %zu bytes leaves its allocation on device %d", count,
                    stream->device);
    struct twin_op op = {
        .kind = to_device ? TWIN_H2D : TWIN_D2H,
        .to = twin_untagged(to),
        .from = twin_untagged(from),
        .bytes = count,
        .fail = deferred,
    };
    bool pinned = twin_block_of(host_side, count, -1) != NULL;
    if (!pinned && twin.settings.pinned_only)
        twin_broken("a copy of %zu bytes of memory that is not pinned", count);
    if (!pinned)
        return copy_now(stream, op.to, op.from, count);
    if (to_device)
        op.checksum = twin_checksum(op.from, count);
    else
        memset(op.to, TWIN_POISON, count);
    twin_push(stream, &op);
    return 0;
}

int aclrtMemcpyAsync(void *to, size_t room, const void *from, size_t count, int kind, void *handle)
{
    int deferred = 0;
    int code = twin_enter("aclrtMemcpyAsync", true, &deferred);
    struct twin_stream *stream;
    if (code == 0)
        code = twin_stream_of(handle, &stream);
    if (code == 0 && (room < count || count == 0 || (kind != 1 && kind != 2)))
        code = TWIN_PARAM_INVALID;
    return twin_leave(code != 0 ? code : queue_copy(stream, to, from, count, kind == 1, deferred));
}
