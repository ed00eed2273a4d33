#include "io/file/open_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "io/file/retry.h"
#include "io/storage/mounts.h"

static bool is_remote(const char *folder)
{
    char inside[4096];
    int length = snprintf(inside, sizeof inside, "%s/.", folder);
    return length < 0 || (size_t)length >= sizeof inside || tdc_mount_of_file(inside) != NULL;
}

void tdc_open_folder_close(struct tdc_open_folder *folder)
{
    if (folder->path != NULL && folder->descriptor >= 0)
        close(folder->descriptor);
    *folder = (struct tdc_open_folder){0};
}

bool tdc_open_folder(struct tdc_open_folder *folder, const char *path)
{
    if (folder->path != path) {
        tdc_open_folder_close(folder);
        folder->path = path;
        folder->descriptor =
            is_remote(path) ? -1 : TDC_RETRY(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }
    return folder->descriptor >= 0;
}
