#include "host/precheck/run/read_ahead.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/precheck/calls/data_names.h"
#include "io/file/mapping_guard.h"
#include "io/platform/platform.h"

struct asking {
    const struct tdc_calls *calls;
    const struct tdc_record_place *place;
};

static void ask(void *context, const char *name, size_t length)
{
    const struct asking *asking = context;
    char path[4096];
    /* a dump must not lead out of its folder */
    if (length == 0 || length > 1024 || memchr(name, '/', length) != NULL)
        return;
    int used =
        snprintf(path, sizeof path, "%s/%.*s", asking->calls->data_folder, (int)length, name);
    if (used < 0 || (size_t)used >= sizeof path)
        return;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return;
    tdc_file_advise(fd, TDC_FILE_NEEDED);
    close(fd);
}

static void ask_for_all(void *argument)
{
    const struct asking *asking = argument;
    tdc_each_data_name(asking->place, ask, argument);
}

void tdc_read_ahead(const struct tdc_calls *calls, const struct tdc_call *call)
{
    for (int d = 0; d < TDC_DIRECTIONS; d++) {
        struct asking asking = {calls, &call->records[d]};
        if (asking.place->size != 0)
            (void)tdc_guarded_read(ask_for_all, &asking);
    }
}
