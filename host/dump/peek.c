/* peek.c - what a dump says of itself, without reading all of it. */
#include <stdio.h>
#include <string.h>

#include "host/dump/dump.h"
#include "io/file/file_map.h"
#include "io/text/json.h"
#include "io/file/mapping_guard.h"

struct peeking {
    const struct tdc_file_map *map;
    struct tdc_arena arena;
    const char *member;
    char *text;
    size_t size;
};

/* Collectors write what they say of a dump before its data, so this ends early. */
static void peek(void *argument)
{
    struct peeking *peeking = argument;
    struct tdc_json_cursor cursor;
    tdc_json_start(&cursor, "", peeking->map->data, peeking->map->size);
    bool first = true;
    const char *key = "";
    size_t length;
    tdc_status status = tdc_json_enter(&cursor, NULL);
    while (status == TDC_OK) {
        status = tdc_json_member(&cursor, &first, &peeking->arena, &key, &length, NULL);
        if (status != TDC_OK || key == NULL)
            return;
        if (strcmp(key, peeking->member) == 0)
            break;
        status = tdc_json_skip(&cursor, NULL);
    }
    struct tdc_json *value;
    if (status == TDC_OK && tdc_json_read(&cursor, &peeking->arena, &value, NULL) == TDC_OK &&
        value->kind == TDC_JSON_STRING)
        snprintf(peeking->text, peeking->size, "%s", value->text);
}

void tdc_dump_peek(const char *path, const char *member, char *text, size_t size)
{
    text[0] = '\0';
    struct tdc_file_map map;
    if (tdc_file_map_open(path, &map, NULL) != TDC_OK)
        return;
    struct peeking peeking = {.map = &map, .member = member, .text = text, .size = size};
    tdc_arena_init(&peeking.arena, (size_t)1 << 30);
    if (tdc_guard_begin()) {
        if (!tdc_guarded_read(peek, &peeking))
            text[0] = '\0';
        tdc_guard_end();
    }
    tdc_arena_free(&peeking.arena);
    tdc_file_map_close(&map);
}
