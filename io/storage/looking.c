#include "io/storage/looking.h"

#include <string.h>
#include <unistd.h>

#include "io/storage/patient_read.h"
#include "io/storage/storage_calls.h"

static bool is_kind(const char *path, mode_t kind)
{
    struct stat info;
    return tdc_storage_stat(path, &info) == 0 && (info.st_mode & S_IFMT) == kind;
}

bool tdc_is_file(const char *path)
{
    return is_kind(path, S_IFREG);
}

bool tdc_is_folder(const char *path)
{
    return is_kind(path, S_IFDIR);
}

bool tdc_is_there(const char *path)
{
    struct stat info;
    return tdc_storage_stat(path, &info) == 0;
}

bool tdc_is_taken(const char *path)
{
    struct stat info;
    return tdc_storage_lstat(path, &info) == 0;
}

bool tdc_is_link(const char *path)
{
    struct stat info;
    return tdc_storage_lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
}

bool tdc_is_readable(const char *path)
{
    return tdc_storage_access(path, R_OK) == 0;
}

char *tdc_real_path(const char *path)
{
    char *real;
    return tdc_storage_realpath(path, &real) == 0 ? real : NULL;
}

bool tdc_first_bytes(const char *path, char *bytes, size_t size, size_t *got)
{
    struct tdc_opened opened;
    *got = 0;
    if (tdc_storage_open(path, &opened) != 0)
        return false;
    bool read = S_ISREG(opened.info.st_mode) &&
                tdc_storage_read(opened.descriptor, bytes, size, 0, got) == 0;
    tdc_storage_close(opened.descriptor);
    return read;
}
