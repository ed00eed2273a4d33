#include "host/dump/members.h"

#include <string.h>

#include "io/base/error.h"
#include "io/file/file_map.h"
#include "io/file/mapping_guard.h"

/* One call with all its arguments. */
#define MEMBER_LIMIT ((size_t)1 << 30)

struct walking {
    const struct tdc_members *members;
    struct tdc_json_cursor cursor;
    struct tdc_arena scratch, keys;
    struct tdc_error *error;
    tdc_status status;
};

static tdc_status give(struct walking *walking, tdc_member_visit visit, const char *key,
                       size_t length)
{
    if (visit == NULL)
        return tdc_json_skip(&walking->cursor, walking->error);
    struct tdc_json *value;
    tdc_arena_reset(&walking->scratch);
    tdc_status status = tdc_json_read(&walking->cursor, &walking->scratch, &value, walking->error);
    return status == TDC_OK ? visit(walking->members->context, key, length, value) : status;
}

static tdc_status walk_object(struct walking *walking, bool outer)
{
    const struct tdc_members *members = walking->members;
    bool first = true;
    tdc_status status = tdc_json_enter(&walking->cursor, walking->error);
    while (status == TDC_OK) {
        const char *key;
        size_t length;
        tdc_arena_reset(&walking->keys);
        status = tdc_json_member(&walking->cursor, &first, &walking->keys, &key, &length,
                                 walking->error);
        if (status != TDC_OK || key == NULL)
            break;
        if (!outer || members->inside == NULL)
            status = give(walking, members->visit, key, length);
        else if (strcmp(key, members->inside) == 0 &&
                 tdc_json_peek(&walking->cursor) == TDC_JSON_OBJECT)
            status = walk_object(walking, false);
        else
            status = give(walking, members->beside, key, length);
    }
    return status;
}

static void walk(void *argument)
{
    struct walking *walking = argument;
    walking->status = walk_object(walking, true);
    if (walking->status == TDC_OK)
        walking->status = tdc_json_finish(&walking->cursor, walking->error);
}

tdc_status tdc_members_walk(const char *path, const struct tdc_members *members,
                            struct tdc_error *error)
{
    struct tdc_file_map map;
    tdc_status status = tdc_file_map_open(path, &map, error);
    if (status != TDC_OK)
        return status;
    struct walking walking = {.members = members, .error = error};
    tdc_json_start(&walking.cursor, path, map.data, map.size);
    tdc_arena_init(&walking.scratch, MEMBER_LIMIT);
    tdc_arena_init(&walking.keys, MEMBER_LIMIT);
    if (!tdc_guard_begin()) {
        walking.status = tdc_fail(error, TDC_ERR_SYSTEM, "cannot install a signal handler");
    } else {
        if (!tdc_guarded_read(walk, &walking))
            walking.status = tdc_fail(error, TDC_ERR_CHANGED, "%s: changed while being read", path);
        tdc_guard_end();
    }
    tdc_arena_free(&walking.scratch);
    tdc_arena_free(&walking.keys);
    tdc_file_map_close(&map);
    return walking.status;
}
