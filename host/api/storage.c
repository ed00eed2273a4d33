/* storage.c - how long storage is waited for. */
#include "io/base/error.h"
#include "io/storage/mounts.h"
#include "io/storage/patience.h"
#include "io/storage/storage_calls.h"
#include "tdcmp.h"

void tdc_io_timeout(double seconds)
{
    tdc_patience_set(seconds);
}

bool tdc_io_remote(void)
{
    return tdc_mounts_remote();
}

unsigned tdc_io_held(void)
{
    return tdc_calls_held();
}

tdc_status tdc_io_probe(const char *path, struct tdc_error *error)
{
    struct stat info;
    int number = tdc_mounts_remote() ? tdc_storage_stat(path, &info) : 0;
    return number == TDC_NO_ANSWER || number == TDC_NOT_TRIED
               ? tdc_fail_errno(error, TDC_ERR_NO_ANSWER, number, "%s", path)
               : TDC_OK;
}
