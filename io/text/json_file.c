/* json_file.c - a whole JSON file as a tree. */
#include "io/base/error.h"
#include "io/file/file_map.h"
#include "io/file/mapping_guard.h"
#include "io/text/json.h"

struct reading {
    const char *path;
    struct tdc_file_map map;
    struct tdc_arena *arena;
    struct tdc_json **value;
    tdc_status status;
    struct tdc_error *error;
};

static void read_json(void *argument)
{
    struct reading *reading = argument;
    struct tdc_json_cursor cursor;
    tdc_json_start(&cursor, reading->path, reading->map.data, reading->map.size);
    reading->status = tdc_json_read(&cursor, reading->arena, reading->value, reading->error);
    if (reading->status == TDC_OK)
        reading->status = tdc_json_finish(&cursor, reading->error);
}

tdc_status tdc_json_read_file(const char *path, struct tdc_arena *arena, struct tdc_json **value,
                              struct tdc_error *error)
{
    struct reading reading = {.path = path, .arena = arena, .value = value, .error = error};
    tdc_status status = tdc_file_map_open(path, &reading.map, error);
    if (status != TDC_OK)
        return status;
    if (!tdc_guard_begin()) {
        status = tdc_fail(error, TDC_ERR_SYSTEM, "%s: no handler for SIGBUS", path);
    } else {
        status =
            tdc_guarded_read(read_json, &reading)
                ? reading.status
                : tdc_fail(error, TDC_ERR_CHANGED, "%s: the file shrank while it was read", path);
        tdc_guard_end();
    }
    tdc_file_map_close(&reading.map);
    return status;
}
