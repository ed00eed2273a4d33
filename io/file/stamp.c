/* stamp.c - a moment for the names of results that is one run's alone. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "io/file/byte_writer.h"
#include "io/base/error.h"
#include "io/file/listed_file.h"
#include "io/file/out_file.h"

/* Seconds to go ahead at most: more runs than this at once into one folder are refused. */
#define MOST_AHEAD 3600

struct tdc_stamp {
    struct tdc_listed_file claim; /* a file whose name holds the stamp */
    time_t first, moment;
    char text[32];
    char folder[];
};

static bool format(struct tdc_stamp *stamp)
{
    struct tm local;
    return localtime_r(&stamp->moment, &local) != NULL &&
           strftime(stamp->text, sizeof stamp->text, "%Y%m%d%H%M%S", &local) == 14;
}

/* Takes the first moment from stamp->moment on that is free. */
static tdc_status claim(struct tdc_stamp *stamp, struct tdc_error *error)
{
    for (; stamp->moment - stamp->first < MOST_AHEAD; stamp->moment++) {
        char path[PATH_MAX];
        int length = format(stamp) ? snprintf(path, sizeof path,
                                              "%s/" TDC_LISTED_PREFIX "%s" TDC_LISTED_SUFFIX,
                                              stamp->folder, stamp->text)
                                   : -1;
        if (length < 0)
            return tdc_fail(error, TDC_ERR_SYSTEM, "%s: the clock cannot be read", stamp->folder);
        if (length >= PATH_MAX)
            return tdc_fail_errno(error, TDC_ERR_WRITE, ENAMETOOLONG, "%s: cannot be written to",
                                  stamp->folder);
        if (tdc_listed_create(path, false, &stamp->claim)) {
            /* for who sweeps after a kill; without it the claim is found by its age */
            const char *boot = tdc_boot_name();
            (void)tdc_write_fully(stamp->claim.fd, boot, strlen(boot));
            return TDC_OK;
        }
        if (errno != EEXIST)
            return tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s: cannot be written to",
                                  stamp->folder);
    }
    return tdc_fail(error, TDC_ERR_WRITE, "%s: no name is left for new results", stamp->folder);
}

tdc_status tdc_stamp_new(const char *folder, tdc_stamp **stamp, struct tdc_error *error)
{
    *stamp = NULL;
    tdc_status status = tdc_make_folders(folder, error);
    if (status != TDC_OK)
        return status;
    size_t length = strlen(folder) + 1;
    struct tdc_stamp *made = calloc(1, sizeof *made + length);
    if (made == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", folder);
    memcpy(made->folder, folder, length);
    made->claim = (struct tdc_listed_file){.slot = -1, .fd = -1};
    made->first = made->moment = time(NULL);
    tdc_listed_sweep(folder);
    status = claim(made, error);
    if (status == TDC_OK)
        *stamp = made;
    else
        tdc_stamp_free(made);
    return status;
}

tdc_status tdc_stamp_next(tdc_stamp *stamp, struct tdc_error *error)
{
    tdc_listed_remove(&stamp->claim);
    stamp->moment++;
    return claim(stamp, error);
}

const char *tdc_stamp_text(const tdc_stamp *stamp)
{
    return stamp->text;
}

void tdc_stamp_free(tdc_stamp *stamp)
{
    if (stamp == NULL)
        return;
    tdc_listed_remove(&stamp->claim);
    free(stamp);
}
