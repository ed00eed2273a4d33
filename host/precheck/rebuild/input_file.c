#include "host/precheck/rebuild/input_file.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/base/error.h"
#include "io/storage/looking.h"
#include "io/storage/storage_calls.h"

#define LONGEST_PATH 4096
#define LONGEST_NAME 255

static uint64_t size_limit(const char *path)
{
    static const struct {
        const char *suffix;
        uint64_t bytes;
    } limits[] = {
        {".json", (uint64_t)1 << 30}, {".csv", (uint64_t)1 << 30},  {".yaml", (uint64_t)1 << 30},
        {".pkl", (uint64_t)1 << 30},  {".xlsx", (uint64_t)1 << 30}, {".npy", (uint64_t)10 << 30},
        {".pt", (uint64_t)10 << 30},  {".zip", (uint64_t)10 << 30}, {".log", (uint64_t)10 << 30},
        {".db", (uint64_t)10 << 30},
    };
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && i < sizeof limits / sizeof *limits; i++)
        if (strcmp(dot, limits[i].suffix) == 0)
            return limits[i].bytes;
    return (uint64_t)1 << 20;
}

static bool harmless(const char *path)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/-";
    return path[0] != '\0' && path[strspn(path, allowed)] == '\0';
}

tdc_status tdc_input_file_check(const char *path, struct tdc_error *error)
{
    struct stat info;
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    if (tdc_storage_lstat(path, &info) != 0)
        return tdc_fail(error, TDC_ERR_NOT_FOUND, "The file path %s does not exist.", path);
    if (S_ISLNK(info.st_mode))
        return tdc_fail(error, TDC_ERR_UNSUPPORTED, "The file path %s is a soft link.", path);
    if (strlen(path) > LONGEST_PATH || strlen(name) > LONGEST_NAME)
        return tdc_fail(error, TDC_ERR_NOT_FOUND, "The file path length exceeds limit.");
    if (!S_ISREG(info.st_mode))
        return tdc_fail(error, TDC_ERR_NOT_FOUND, "The %s should be a file!", path);
    if (!tdc_is_readable(path))
        return tdc_fail(error, TDC_ERR_READ, "The file path %s is not readable.", path);
    if (geteuid() != 0 && info.st_uid != geteuid())
        return tdc_fail(error, TDC_ERR_READ,
                        "The file path %s may be insecure because is does not belong to you.",
                        path);
    if (!harmless(path))
        return tdc_fail(error, TDC_ERR_NOT_FOUND, "The file path %s contains special characters.",
                        path);
    if ((uint64_t)info.st_size >= size_limit(path))
        return tdc_fail(error, TDC_ERR_REFUSED, "The size of file path %s exceeds %llu bytes.",
                        path, (unsigned long long)size_limit(path));
    return TDC_OK;
}

const char *tdc_input_file_exception(tdc_status status)
{
    switch (status) {
    case TDC_ERR_UNSUPPORTED:
        return "[msprobe] 非法软链接： ";
    case TDC_ERR_READ:
        return "[msprobe] 文件权限错误： ";
    case TDC_ERR_REFUSED:
        return "[msprobe] 文件过大： ";
    default:
        return "[msprobe] 非法文件路径： ";
    }
}
