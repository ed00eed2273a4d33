/* twin_kernel.c - kernels: files, launches, and what the twin of Ascend C counts of them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/ascend/tile_layout.h"
#include "tests/twin/acl/acl_twin.h"
#include "tests/twin/acl/acl_twin_api.h"
#include "tests/twin/kernel_runner.h"

static bool known(const char *name, size_t *n_size, size_t *b_size)
{
    const char *there;
    for (size_t i = 0; (there = tdc_twin_kernel_name(i, n_size, b_size)) != NULL; i++)
        if (strcmp(there, name) == 0)
            return true;
    return false;
}

void twin_run_kernel(const struct twin_op *op, int device)
{
    (void)device;
    const uint64_t *words = op->arguments;
    unsigned char *at[3];
    for (int i = 0; i < 3; i++)
        at[i] = twin_untagged((const void *)(uintptr_t)words[i]);
    if (op->number == twin.settings.poison_at)
        return;
    struct tdc_twin_report report = {0};
    if (tdc_twin_run_kernel(op->kernel, op->blocks, at[0], at[1], at[2], words[3], &report) != 0)
        twin_broken("%s", report.complaint);
    if (op->number == twin.settings.wrong_at) {
        /* one less in every tile: nothing that a host would notice by itself */
        float *record = (float *)(void *)at[2];
        for (uint64_t i = 0; i < words[3]; i++, record += TDC_TILE_RECORD_FLOATS)
            record[TDC_TILE_BELOW_0] += record[TDC_TILE_BELOW_0] > 0 ? -1.0f : 1.0f;
    }
}

int aclrtBinaryLoadFromFile(const char *path, void *options, void **made)
{
    int code = twin_enter("aclrtBinaryLoadFromFile", false, NULL);
    if (code != 0)
        return twin_leave(code);
    if (twin_current < 0)
        return twin_leave(TWIN_CONTEXT_NULL);
    const char *name = path != NULL ? strrchr(path, '/') : NULL;
    size_t length = name != NULL ? strlen(name) : 0;
    if (options != NULL || path == NULL || path[0] != '/' || access(path, R_OK) != 0 ||
        length < 4 || strcmp(name + length - 2, ".o") != 0 || length > 60)
        return twin_leave(TWIN_PARAM_INVALID);
    struct twin_binary *binary = calloc(1, sizeof *binary);
    if (binary == NULL)
        twin_broken("out of memory for the twin itself");
    memcpy(binary->name, name + 1, length - 3);
    binary->next = twin.binaries;
    twin.binaries = binary;
    *made = binary;
    return twin_leave(0);
}

static bool binary_there(const void *handle)
{
    for (const struct twin_binary *at = twin.binaries; at != NULL; at = at->next)
        if (at == handle)
            return true;
    return false;
}

int aclrtBinaryUnLoad(void *handle)
{
    int code = twin_enter("aclrtBinaryUnLoad", false, NULL);
    if (!binary_there(handle))
        twin_broken("aclrtBinaryUnLoad of something that is not loaded");
    if (((struct twin_binary *)handle)->abandoned)
        twin_broken("aclrtBinaryUnLoad of a kernel that may still run");
    struct twin_binary **at = &twin.binaries;
    while (*at != handle)
        at = &(*at)->next;
    *at = (*at)->next;
    free(handle);
    return twin_leave(code);
}

int aclrtBinaryGetFunction(const void *handle, const char *name, void **function)
{
    int code = twin_enter("aclrtBinaryGetFunction", false, NULL);
    if (code != 0)
        return twin_leave(code);
    size_t n_size, b_size;
    if (!binary_there(handle))
        return twin_leave(TWIN_INVALID_HANDLE);
    /* a binary holds the kernel of its name and no other */
    struct twin_binary *binary = (struct twin_binary *)(uintptr_t)handle;
    if (strcmp(binary->name, name) != 0 || !known(name, &n_size, &b_size))
        return twin_leave(TWIN_KERNEL_LOOKUP);
    *function = binary;
    return twin_leave(0);
}

int twin_check_arguments(const char *kernel, const uint64_t *words, int device)
{
    size_t sizes[3];
    if (!known(kernel, &sizes[0], &sizes[1]))
        return TWIN_KERNEL_LOOKUP;
    uint64_t tiles = words[3];
    if (tiles == 0 || tiles > (uint64_t)1 << 40)
        twin_broken("%s launched for %llu tiles", kernel, (unsigned long long)tiles);
    sizes[0] *= tiles;
    sizes[1] *= tiles;
    sizes[2] = tiles * TDC_TILE_RECORD_BYTES;
    for (int i = 0; i < 3; i++) {
        const void *address = (const void *)(uintptr_t)words[i];
        if (!twin_is_tagged(address))
            return TWIN_PARAM_INVALID;
        /* inputs may begin at any block, slower */
        if (words[i] % (i < 2 ? 32 : 512) != 0)
            return TWIN_ADDR_UNALIGNED;
        if (twin_block_of(twin_untagged(address), sizes[i], device) == NULL)
            twin_broken("%s: argument %d is not inside one allocation of device %d", kernel, i,
                        device);
    }
    return 0;
}

int twin_queue_kernel(struct twin_stream *stream, void *function, uint32_t blocks,
                      const void *arguments, size_t size, int deferred, bool on_device)
{
    if (!binary_there(function) || size != 32 || blocks == 0 || blocks > 65535)
        return TWIN_PARAM_INVALID;
    const struct twin_binary *binary = function;
    int code = on_device ? 0 : twin_check_arguments(binary->name, arguments, stream->device);
    if (code == 0)
        twin_push(stream,
                  &(struct twin_op){.kind = TWIN_KERNEL,
                                    .kernel = binary->name,
                                    .blocks = blocks,
                                    .arguments = arguments,
                                    .bytes = size,
                                    .checksum = on_device ? 0 : twin_checksum(arguments, size),
                                    .on_device = on_device,
                                    .number = ++twin.kernels,
                                    .fail = deferred});
    return code;
}

int aclrtLaunchKernelWithHostArgs(void *function, uint32_t blocks, void *handle, void *settings,
                                  void *arguments, size_t size, void *holders, size_t holder_count)
{
    int deferred = 0;
    int code = twin_enter("aclrtLaunchKernelWithHostArgs", true, &deferred);
    if (code != 0)
        return twin_leave(code);
    struct twin_stream *stream;
    code = twin_stream_of(handle, &stream);
    if (code == 0 && (settings != NULL || holders != NULL || holder_count != 0))
        code = TWIN_PARAM_INVALID;
    return twin_leave(
        code != 0 ? code
                  : twin_queue_kernel(stream, function, blocks, arguments, size, deferred, false));
}

/* What one tile costs, a line per kernel; for `tdcmp bench device` and the table in the
 * documentation. */
size_t acl_twin_describe(char *text, size_t size)
{
    size_t used = 0, n_size, b_size;
    const char *name;
    for (size_t i = 0; (name = tdc_twin_kernel_name(i, &n_size, &b_size)) != NULL; i++) {
        if (n_size < TDC_TILE_PAIRS)
            continue; /* it probes numbers, not tiles */
        unsigned char *n = aligned_alloc(512, TDC_TILE_PAIRS * 4);
        unsigned char *b = aligned_alloc(512, TDC_TILE_PAIRS * 4);
        unsigned char *record = aligned_alloc(512, TDC_TILE_RECORD_BYTES);
        if (n == NULL || b == NULL || record == NULL)
            twin_broken("out of memory for the twin itself");
        memset(n, 0, TDC_TILE_PAIRS * 4);
        memset(b, 0, TDC_TILE_PAIRS * 4);
        struct tdc_twin_report report = {0};
        if (tdc_twin_run_kernel(name, 1, n, b, record, 1, &report) != 0)
            twin_broken("%s", report.complaint);
        int length =
            snprintf(text + (used < size ? used : size), used < size ? size - used : 0,
                     "| `%s` | %llu | %llu | %llu | %llu | %llu | %u |\n", name,
                     (unsigned long long)report.instructions, (unsigned long long)report.barriers,
                     (unsigned long long)(report.lane_operations / TDC_TILE_PAIRS),
                     (unsigned long long)report.bytes_in, (unsigned long long)report.bytes_out,
                     (unsigned)report.ub_high_water);
        used += (size_t)length;
        free(n);
        free(b);
        free(record);
    }
    return used;
}
