/* acl_error.c - see acl_error.h. */
#include "host/engine/ascend/acl_error.h"

#include <stdio.h>
#include <string.h>

static const struct tdc_known_code errors[] = {
    {100039, TDC_REMEDY_NO_DEVICE, "COMPILING_STUB_MODE"},
    {107000, TDC_REMEDY_CHUNK_ON_CPU, "PARAM_INVALID"},
    {107001, TDC_REMEDY_NO_DEVICE, "INVALID_DEVICEID"},
    {107002, TDC_REMEDY_CHUNK_ON_CPU, "CONTEXT_NULL"},
    {107003, TDC_REMEDY_CHUNK_ON_CPU, "STREAM_CONTEXT"},
    {107008, TDC_REMEDY_CHUNK_ON_CPU, "ADDR_UNALIGNED"},
    {107017, TDC_REMEDY_CHUNK_ON_CPU, "INVALID_HANDLE"},
    {107019, TDC_REMEDY_GIVE_UP, "WAIT_TIMEOUT"},
    {207000, TDC_REMEDY_WRONG_KERNEL, "FEATURE_NOT_SUPPORT"},
    {207001, TDC_REMEDY_LESS_MEMORY, "MEMORY_ALLOCATION"},
    {207004, TDC_REMEDY_NO_DEVICE, "NO_DEVICE"},
    {207005, TDC_REMEDY_CHUNK_ON_CPU, "RESOURCE_ALLOC_FAIL"},
    {207006, TDC_REMEDY_CHUNK_ON_CPU, "NO_PERMISSION"},
    {207007, TDC_REMEDY_CHUNK_ON_CPU, "NO_EVENT_RESOURCE"},
    {207008, TDC_REMEDY_CHUNK_ON_CPU, "NO_STREAM_RESOURCE"},
    {207018, TDC_REMEDY_LESS_MEMORY, "DEVICE_OOM"},
    {507008, TDC_REMEDY_WRONG_KERNEL, "SOC_VERSION"},
    {507010, TDC_REMEDY_GIVE_UP, "LOST_HEARTBEAT"},
    {507014, TDC_REMEDY_GIVE_UP, "AICORE_TIMEOUT"},
    {507015, TDC_REMEDY_GIVE_UP, "AICORE_EXCEPTION"},
    {507027, TDC_REMEDY_WRONG_KERNEL, "KERNEL_LOOKUP"},
    {507034, TDC_REMEDY_GIVE_UP, "VECTOR_CORE_TIMEOUT"},
    {507035, TDC_REMEDY_GIVE_UP, "VECTOR_CORE_EXCEPTION"},
    {507036, TDC_REMEDY_GIVE_UP, "VECTOR_CORE_TRAP_EXCEPTION"},
    {507044, TDC_REMEDY_GIVE_UP, "VECTOR_CORE_TRAP_READ_OVERFLOW"},
    {507045, TDC_REMEDY_GIVE_UP, "VECTOR_CORE_TRAP_WRITE_OVERFLOW"},
    {507046, TDC_REMEDY_GIVE_UP, "STREAM_SYNC_TIMEOUT"},
    {507047, TDC_REMEDY_GIVE_UP, "EVENT_SYNC_TIMEOUT"},
    {507053, TDC_REMEDY_GIVE_UP, "DEVICE_MEM_ERROR"},
    {507054, TDC_REMEDY_GIVE_UP, "HBM_MULTI_BIT_ECC_ERROR"},
    {507056, TDC_REMEDY_GIVE_UP, "LINK_ERROR"},
};

static const struct tdc_known_code *known(int code)
{
    return tdc_known_code(errors, sizeof errors / sizeof *errors, code);
}

const char *tdc_acl_error_name(int code)
{
    return known(code) != NULL ? known(code)->name : "error";
}

enum tdc_remedy tdc_acl_remedy_of(int code)
{
    if (known(code) != NULL)
        return known(code)->remedy;
    /* 1: our arguments, 2: a resource, 5: the device itself */
    return code / 100000 == 1 || code / 100000 == 2 ? TDC_REMEDY_CHUNK_ON_CPU : TDC_REMEDY_GIVE_UP;
}

bool tdc_acl_is_timeout(int code)
{
    return code == 107019 || code == 507046 || code == 507047;
}

void tdc_acl_describe(const struct tdc_acl *acl, const char *function, int code, char *text,
                      size_t size)
{
    const char *words = acl->aclGetRecentErrMsg != NULL ? acl->aclGetRecentErrMsg() : NULL;
    int length = snprintf(text, size, "%s: %d %s", function, code, tdc_acl_error_name(code));
    if (words != NULL && words[0] != '\0' && length > 0 && (size_t)length < size)
        snprintf(text + length, size - (size_t)length, " (%.300s)", words);
    for (char *at = text; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20)
            *at = ' ';
}
