#include "host/precheck/run/read_ahead.h"

#include <stdio.h>
#include <string.h>

#include "host/precheck/calls/data_names.h"
#include "io/file/mapping_guard.h"
#include "io/platform/platform.h"
#include "io/storage/storage_calls.h"

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
    struct tdc_opened opened;
    if (tdc_storage_open(path, &opened) != 0)
        return;
    tdc_file_advise(opened.descriptor, TDC_FILE_NEEDED);
    tdc_storage_close(opened.descriptor);
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
