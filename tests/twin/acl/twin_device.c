/* twin_device.c - start and end, cards, memory: the calls that work at once. */
#include <stdlib.h>
#include <string.h>

#include "tests/twin/acl/acl_twin_api.h"

int aclInit(const char *path)
{
    int code = twin_enter("aclInit", false, NULL);
    if (code != 0)
        return twin_leave(code);
    if (path != NULL)
        return twin_leave(TWIN_PARAM_INVALID);
    twin.starts++;
    if (twin.initialised)
        return twin_leave(TWIN_REPEAT_INITIALIZE);
    twin.initialised = true;
    return twin_leave(0);
}

int aclFinalize(void)
{
    int code = twin_enter("aclFinalize", false, NULL);
    twin_check_leaks(-1);
    twin.finalised = true;
    if (twin.settings.log != NULL)
        fclose(twin.settings.log);
    return twin_leave(code);
}

/* aclFinalize whatever was counted, this when the last one is gone. */
int aclFinalizeReference(uint64_t *left)
{
    int code = twin_enter("aclFinalizeReference", false, NULL);
    if (twin.starts == 0)
        twin_broken("aclFinalizeReference without aclInit");
    twin.starts--;
    if (left != NULL)
        *left = twin.starts;
    twin_leave(0);
    int ended = twin.starts == 0 ? aclFinalize() : 0;
    return code != 0 ? code : ended;
}

int aclrtGetDevice(int32_t *id)
{
    int code = twin_enter("aclrtGetDevice", false, NULL);
    if (code == 0 && twin_current < 0)
        code = TWIN_CONTEXT_NULL;
    if (code == 0)
        *id = twin_current;
    return twin_leave(code);
}

int aclrtSetOpExecuteTimeOut(uint32_t seconds)
{
    int code = twin_enter("aclrtSetOpExecuteTimeOut", false, NULL);
    if (code == 0)
        twin.operator_timeout = (uint64_t)seconds * 1000;
    return twin_leave(code);
}

int aclrtSetOpExecuteTimeOutV2(uint64_t microseconds, uint64_t *actual)
{
    int code = twin_enter("aclrtSetOpExecuteTimeOutV2", false, NULL);
    if (code == 0) {
        twin.operator_timeout = microseconds / 1000;
        *actual = microseconds;
    }
    return twin_leave(code);
}

int aclrtGetDeviceCount(uint32_t *count)
{
    int code = twin_enter("aclrtGetDeviceCount", false, NULL);
    if (code == 0)
        *count = twin.settings.devices;
    return twin_leave(code);
}

int aclrtSetDevice(int32_t id)
{
    int code = twin_enter("aclrtSetDevice", false, NULL);
    if (code != 0)
        return twin_leave(code);
    if (id < 0 || (unsigned)id >= twin.settings.devices)
        return twin_leave(TWIN_INVALID_DEVICE);
    twin.references[id]++;
    twin_current = id;
    return twin_leave(0);
}

int aclrtResetDevice(int32_t id)
{
    int code = twin_enter("aclrtResetDevice", false, NULL);
    if (id < 0 || id >= TWIN_MOST_DEVICES || twin.references[id] == 0)
        twin_broken("aclrtResetDevice(%d) without aclrtSetDevice", (int)id);
    if (--twin.references[id] == 0) {
        /* documented to wait for unfinished work */
        for (struct twin_stream *stream = twin.streams; stream != NULL; stream = stream->next)
            if (stream->device == id)
                twin_wait_for_hung(stream, -1, "aclrtResetDevice");
        twin_check_leaks(id);
    }
    return twin_leave(code);
}

int aclrtGetDeviceInfo(uint32_t id, int attribute, int64_t *value)
{
    int code = twin_enter("aclrtGetDeviceInfo", false, NULL);
    if (code == 0 && (id >= twin.settings.devices || attribute != 201))
        code = TWIN_PARAM_INVALID;
    if (code == 0)
        *value = twin.settings.cores;
    return twin_leave(code);
}

const char *aclrtGetSocName(void)
{
    int code = twin_enter("aclrtGetSocName", false, NULL);
    twin_leave(0);
    return code == 0 ? twin.settings.soc : NULL;
}

const char *aclGetRecentErrMsg(void)
{
    return "the twin says so";
}

int aclrtGetMemInfo(int attribute, size_t *unused, size_t *total)
{
    int code = twin_enter("aclrtGetMemInfo", false, NULL);
    if (code == 0 && twin_current < 0)
        code = TWIN_CONTEXT_NULL;
    if (code == 0 && attribute != 1)
        code = TWIN_PARAM_INVALID;
    if (code == 0) {
        *total = twin.settings.memory;
        *unused = twin.settings.memory - twin.used[twin_current];
    }
    return twin_leave(code);
}

int aclrtMalloc(void **made, size_t size, int policy)
{
    int code = twin_enter("aclrtMalloc", false, NULL);
    if (code == 0 && twin_current < 0)
        code = TWIN_CONTEXT_NULL;
    if (code == 0 && (size == 0 || policy != 0))
        code = TWIN_PARAM_INVALID;
    if (code == 0 && size > twin.settings.memory - twin.used[twin_current])
        code = TWIN_OUT_OF_MEMORY;
    if (code == 0) {
        twin.used[twin_current] += size;
        *made = twin_tagged(twin_block_new(size, twin_current)->bytes);
    }
    return twin_leave(code);
}

int aclrtMallocHost(void **made, size_t size)
{
    int code = twin_enter("aclrtMallocHost", false, NULL);
    if (code == 0 && twin_current < 0)
        code = TWIN_CONTEXT_NULL;
    if (code == 0 && size == 0)
        code = TWIN_PARAM_INVALID;
    if (code == 0)
        *made = twin_block_new(size, -1)->bytes;
    return twin_leave(code);
}

/* A block is released by the attempt, also when the call is made to fail: its owner did what it
 * could. */
static int release(int code, const unsigned char *address, int device, const char *function)
{
    for (struct twin_block *block = twin.blocks; block != NULL; block = block->next) {
        if (block->bytes != address || (device < 0) != (block->device < 0))
            continue;
        if (twin_pending_use(block) || block->abandoned)
            twin_broken("%s of memory that pending work uses", function);
        twin_block_free(block);
        return twin_leave(code);
    }
    twin_broken("%s of something that is not allocated", function);
}

int aclrtFree(void *address)
{
    int code = twin_enter("aclrtFree", false, NULL);
    if (!twin_is_tagged(address))
        twin_broken("aclrtFree of a host address");
    return release(code, twin_untagged(address), 0, "aclrtFree");
}

int aclrtFreeHost(void *address)
{
    int code = twin_enter("aclrtFreeHost", false, NULL);
    return release(code, address, -1, "aclrtFreeHost");
}
