/* twin_more.c - what the backend does without: registered memory, copies that wait, streams that
 * wait for each other, arguments in device memory. */
#include <stdlib.h>
#include <string.h>

#include "tests/twin/acl/acl_twin_api.h"

#define REGISTER_PINNED 0x10000000u
#define REGISTER_PAGE   4096u

/* ---- registered memory ----------------------------------------------------------------------- */

static int register_host(void *address, uint64_t size)
{
    if (twin_current < 0)
        return TWIN_CONTEXT_NULL;
    if (address == NULL || size == 0 || (uintptr_t)address % REGISTER_PAGE != 0 ||
        twin_is_tagged(address))
        return TWIN_PARAM_INVALID;
    struct twin_block *block = calloc(1, sizeof *block);
    if (block == NULL)
        twin_broken("out of memory for the twin itself");
    *block = (struct twin_block){
        .bytes = address,
        .size = (size_t)size,
        .device = -1,
        .next = twin.blocks,
    };
    twin.blocks = block;
    return 0;
}

/* Mapping host memory into a device is what no kernel of ours may rely on. */
int aclrtHostRegister(void *address, uint64_t size, int type, void **device_address)
{
    (void)address;
    (void)size;
    int code = twin_enter("aclrtHostRegister", false, NULL);
    if (code == 0 && (type != 0 || device_address == NULL))
        code = TWIN_PARAM_INVALID;
    return twin_leave(code != 0 ? code : TWIN_NOT_SUPPORTED);
}

int aclrtHostRegisterV2(void *address, uint64_t size, uint32_t flag)
{
    int code = twin_enter("aclrtHostRegisterV2", false, NULL);
    if (code == 0 && flag != REGISTER_PINNED)
        code = TWIN_NOT_SUPPORTED;
    return twin_leave(code != 0 ? code : register_host(address, size));
}

int aclrtHostUnregister(void *address)
{
    int code = twin_enter("aclrtHostUnregister", false, NULL);
    struct twin_block *block = twin.blocks;
    while (block != NULL && (block->bytes != address || block->device >= 0 || block->map != NULL))
        block = block->next;
    if (block == NULL)
        twin_broken("aclrtHostUnregister of something that is not registered");
    if (twin_pending_use(block))
        twin_broken("aclrtHostUnregister of memory that pending work uses");
    twin_block_free(block);
    return twin_leave(code);
}

/* ---- copies and fills ------------------------------------------------------------------------ */

int aclrtMemcpy(void *to, size_t room, const void *from, size_t count, int kind)
{
    int code = twin_enter("aclrtMemcpy", false, NULL);
    if (code == 0 && twin_current < 0)
        code = TWIN_CONTEXT_NULL;
    /* 1: to a device, 2: from a device, 3: within a device */
    bool to_device = kind == 1 || kind == 3, from_device = kind == 2 || kind == 3;
    if (code == 0 && (room < count || count == 0 || kind < 1 || kind > 3 ||
                      twin_is_tagged(to) != to_device || twin_is_tagged(from) != from_device))
        code = TWIN_PARAM_INVALID;
    if (code != 0)
        return twin_leave(code);
    if ((to_device && twin_block_of(twin_untagged(to), count, twin_current) == NULL) ||
        (from_device && twin_block_of(twin_untagged(from), count, twin_current) == NULL))
        twin_broken("a copy of %zu bytes leaves its allocation on device %d", count, twin_current);
    memcpy(twin_untagged(to), twin_untagged(from), count);
    return twin_leave(0);
}

int aclrtMemsetAsync(void *to, size_t room, int32_t value, size_t count, void *handle)
{
    int deferred = 0;
    int code = twin_enter("aclrtMemsetAsync", true, &deferred);
    struct twin_stream *stream;
    if (code == 0)
        code = twin_stream_of(handle, &stream);
    if (code == 0 && (room < count || count == 0 || !twin_is_tagged(to)))
        code = TWIN_PARAM_INVALID;
    if (code != 0)
        return twin_leave(code);
    if (twin_block_of(twin_untagged(to), room, stream->device) == NULL)
        twin_broken("a fill of %zu bytes leaves its allocation on device %d", room, stream->device);
    twin_push(stream, &(struct twin_op){.kind = TWIN_SET,
                                        .to = twin_untagged(to),
                                        .value = (unsigned char)value,
                                        .bytes = count,
                                        .fail = deferred});
    return twin_leave(0);
}

/* ---- streams that wait ----------------------------------------------------------------------- */

int aclrtCreateEventExWithFlag(void **made, uint32_t flag)
{
    int code = twin_enter("aclrtCreateEventExWithFlag", false, NULL);
    if (code == 0 && (flag == 0 || (flag & ~(TWIN_EVENT_SYNC | TWIN_EVENT_TIME)) != 0))
        code = TWIN_PARAM_INVALID;
    return twin_leave(code != 0 ? code : twin_event_new(flag, made));
}

int aclrtStreamWaitEvent(void *handle, void *event_handle)
{
    int deferred = 0;
    int code = twin_enter("aclrtStreamWaitEvent", true, &deferred);
    struct twin_stream *stream;
    if (code == 0)
        code = twin_stream_of(handle, &stream);
    if (code != 0)
        return twin_leave(code);
    struct twin_event *event = twin_event_of(event_handle);
    if ((event->flags & TWIN_EVENT_SYNC) == 0)
        return twin_leave(TWIN_NOT_SUPPORTED);
    /* the point is that of the call: later records do not move it */
    twin_push(stream,
              &(struct twin_op){
                  .kind = TWIN_WAIT, .event = event, .number = event->recorded, .fail = deferred});
    return twin_leave(0);
}

/* ---- arguments in device memory -------------------------------------------------------------- */

int aclrtLaunchKernel(void *function, uint32_t blocks, const void *arguments, size_t size,
                      void *handle)
{
    int deferred = 0;
    int code = twin_enter("aclrtLaunchKernel", true, &deferred);
    struct twin_stream *stream;
    if (code == 0)
        code = twin_stream_of(handle, &stream);
    if (code == 0 && !twin_is_tagged(arguments))
        code = TWIN_PARAM_INVALID;
    if (code != 0)
        return twin_leave(code);
    const void *words = twin_untagged(arguments);
    if (twin_block_of(words, size, stream->device) == NULL)
        twin_broken("arguments of a kernel outside of the device's memory");
    return twin_leave(twin_queue_kernel(stream, function, blocks, words, size, deferred, true));
}
