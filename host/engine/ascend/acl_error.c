/* acl_error.c - see acl_error.h. */
#include "host/engine/ascend/acl_error.h"

#include <stdio.h>
#include <string.h>

static const struct {
    int code;
    enum tdc_acl_remedy remedy;
    const char *name;
} errors[] = {
    {100039, TDC_ACL_NO_DEVICE, "COMPILING_STUB_MODE"},
    {107000, TDC_ACL_CHUNK_ON_CPU, "PARAM_INVALID"},
    {107001, TDC_ACL_NO_DEVICE, "INVALID_DEVICEID"},
    {107002, TDC_ACL_CHUNK_ON_CPU, "CONTEXT_NULL"},
    {107003, TDC_ACL_CHUNK_ON_CPU, "STREAM_CONTEXT"},
    {107008, TDC_ACL_CHUNK_ON_CPU, "ADDR_UNALIGNED"},
    {107017, TDC_ACL_CHUNK_ON_CPU, "INVALID_HANDLE"},
    {107019, TDC_ACL_GIVE_UP, "WAIT_TIMEOUT"},
    {207000, TDC_ACL_WRONG_KERNEL, "FEATURE_NOT_SUPPORT"},
    {207001, TDC_ACL_LESS_MEMORY, "MEMORY_ALLOCATION"},
    {207004, TDC_ACL_NO_DEVICE, "NO_DEVICE"},
    {207005, TDC_ACL_CHUNK_ON_CPU, "RESOURCE_ALLOC_FAIL"},
    {207006, TDC_ACL_CHUNK_ON_CPU, "NO_PERMISSION"},
    {207007, TDC_ACL_CHUNK_ON_CPU, "NO_EVENT_RESOURCE"},
    {207008, TDC_ACL_CHUNK_ON_CPU, "NO_STREAM_RESOURCE"},
    {207018, TDC_ACL_LESS_MEMORY, "DEVICE_OOM"},
    {507008, TDC_ACL_WRONG_KERNEL, "SOC_VERSION"},
    {507010, TDC_ACL_GIVE_UP, "LOST_HEARTBEAT"},
    {507014, TDC_ACL_GIVE_UP, "AICORE_TIMEOUT"},
    {507015, TDC_ACL_GIVE_UP, "AICORE_EXCEPTION"},
    {507027, TDC_ACL_WRONG_KERNEL, "KERNEL_LOOKUP"},
    {507034, TDC_ACL_GIVE_UP, "VECTOR_CORE_TIMEOUT"},
    {507035, TDC_ACL_GIVE_UP, "VECTOR_CORE_EXCEPTION"},
    {507036, TDC_ACL_GIVE_UP, "VECTOR_CORE_TRAP_EXCEPTION"},
    {507044, TDC_ACL_GIVE_UP, "VECTOR_CORE_TRAP_READ_OVERFLOW"},
    {507045, TDC_ACL_GIVE_UP, "VECTOR_CORE_TRAP_WRITE_OVERFLOW"},
    {507046, TDC_ACL_GIVE_UP, "STREAM_SYNC_TIMEOUT"},
    {507047, TDC_ACL_GIVE_UP, "EVENT_SYNC_TIMEOUT"},
    {507053, TDC_ACL_GIVE_UP, "DEVICE_MEM_ERROR"},
    {507054, TDC_ACL_GIVE_UP, "HBM_MULTI_BIT_ECC_ERROR"},
    {507056, TDC_ACL_GIVE_UP, "LINK_ERROR"},
};

const char *tdc_acl_error_name(int code)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code)
            return errors[i].name;
    return "error";
}

enum tdc_acl_remedy tdc_acl_remedy_of(int code)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code)
            return errors[i].remedy;
    /* 1: our arguments, 2: a resource, 5: the device itself */
    return code / 100000 == 1 || code / 100000 == 2 ? TDC_ACL_CHUNK_ON_CPU : TDC_ACL_GIVE_UP;
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
