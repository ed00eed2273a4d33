#include "host/config/extract.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"
#include "io/file/byte_writer.h"
#include "io/file/out_file.h"

/* No way out of the folder: no absolute names, no "..", no odd separators. */
static bool stays_inside(const char *name)
{
    if (name[0] == '/' || strchr(name, '\\') != NULL)
        return false;
    for (const char *part = name; *part != '\0';) {
        size_t length = strcspn(part, "/");
        if (length == 2 && part[0] == '.' && part[1] == '.')
            return false;
        part += length + (part[length] == '/');
    }
    return true;
}

static tdc_status write_member(struct tdc_config_work *work, const struct tdc_unzip *zip,
                               const struct tdc_unzip_member *member, char *path)
{
    size_t length = strlen(path);
    bool is_folder = length > 0 && path[length - 1] == '/';
    char *slash = strrchr(path, '/');
    *slash = '\0';
    tdc_status status = tdc_make_folders(path, work->error);
    *slash = '/';
    if (status != TDC_OK || is_folder)
        return status;
    const char *content;
    size_t size;
    struct tdc_out_file file;
    status = tdc_unzip_read(zip, member, &work->arena, &content, &size, work->error);
    if (status == TDC_OK)
        status = tdc_out_file_open(path, &file, work->error);
    if (status != TDC_OK)
        return status;
    int failure = tdc_write_fully(file.fd, content, size);
    if (failure == 0)
        return tdc_out_file_commit(&file, work->error);
    tdc_out_file_discard(&file);
    return tdc_fail_errno(work->error, TDC_ERR_WRITE, failure, "%s", path);
}

tdc_status tdc_config_extract(struct tdc_config_work *work, const struct tdc_unzip *zip,
                              const char *folder, const char *name)
{
    for (size_t i = 0; i < zip->count; i++)
        if (!stays_inside(zip->members[i].name))
            return tdc_fail(work->error, TDC_ERR_REFUSED, "%s: member %s leads out of its folder",
                            zip->path, zip->members[i].name);
    tdc_status status = TDC_OK;
    for (size_t i = 0; i < zip->count && status == TDC_OK; i++) {
        char *path;
        if (asprintf(&path, "%s/%s/%s", folder, name, zip->members[i].name) < 0)
            return tdc_config_memory(work);
        status = write_member(work, zip, &zip->members[i], path);
        free(path);
    }
    if (status == TDC_OK)
        tdc_config_say(work, "extract zip file %s to %s/%s", zip->path, folder, name);
    return status;
}
