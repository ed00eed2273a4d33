/* op_count.c - how many tensors a dump file has. */
#include "host/graph/graph_match.h"
#include "io/base/error.h"
#include "io/file/file_map.h"
#include "io/file/mapping_guard.h"
#include "io/tensor/ge/ge_dump.h"

struct counting {
    const struct tdc_file_map *map;
    const char *path;
    uint64_t counts[TDC_GE_LISTS];
    tdc_status status;
    struct tdc_error *error;
};

static void count(void *argument)
{
    struct counting *counting = argument;
    counting->status = tdc_ge_count((const unsigned char *)counting->map->data, counting->map->size,
                                    counting->path, counting->counts, counting->error);
}

tdc_status tdc_op_file_count(const char *path, uint64_t counts[2], struct tdc_error *error)
{
    struct tdc_file_map map;
    struct counting counting = {.map = &map, .path = path, .error = error};
    counts[0] = counts[1] = 0;
    tdc_status status = tdc_file_map_open(path, &map, error);
    if (status != TDC_OK)
        return status;
    if (map.size == 0)
        status = tdc_fail(error, TDC_ERR_FORMAT, "%s: the file is empty", path);
    else if (!tdc_guard_begin())
        status = tdc_fail(error, TDC_ERR_SYSTEM, "%s: no handler for SIGBUS", path);
    else {
        status = tdc_guarded_read(count, &counting)
                     ? counting.status
                     : tdc_fail(error, TDC_ERR_CHANGED, "%s: changed while it was read", path);
        tdc_guard_end();
    }
    tdc_file_map_close(&map);
    counts[0] = counting.counts[TDC_GE_INPUT];
    counts[1] = counting.counts[TDC_GE_OUTPUT];
    return status;
}
