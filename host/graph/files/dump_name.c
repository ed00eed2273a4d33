#include "host/graph/files/dump_name.h"

#include <stdlib.h>
#include <string.h>

#include "io/base/text.h"
#include "io/file/file_map.h"
#include "io/file/mapping_guard.h"

#define TIME_DIGITS 16

bool tdc_dump_name_may_be(const char *file)
{
    static const char *const others[] = {".txt", ".npy", ".bin", ".csv", ".json", ".npz", ".pt"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (tdc_ends_in(file, others[i]))
            return false;
    /* a record of overflows is no operator */
    return strncmp(file, "Opdebug.Node_OpDebug.", strlen("Opdebug.Node_OpDebug.")) != 0;
}

static uint64_t number_of(const char *text, size_t length)
{
    uint64_t number = 0;
    for (size_t i = 0; i < length && i < 19; i++) {
        if (text[i] < '0' || text[i] > '9')
            return 0;
        number = number * 10 + (uint64_t)(text[i] - '0');
    }
    return number;
}

/* The last part that is as long as a time in microseconds; else the last. */
static uint64_t time_of(const char *file)
{
    const char *end = file + strlen(file), *last = NULL;
    for (const char *at = end; at > file;) {
        const char *start = at;
        while (start > file && start[-1] != '.')
            start--;
        if (last == NULL)
            last = start;
        uint64_t number = number_of(start, (size_t)(at - start));
        if ((size_t)(at - start) == TIME_DIGITS && number != 0)
            return number;
        at = start > file ? start - 1 : file;
    }
    return last == NULL ? 0 : number_of(last, (size_t)(end - last));
}

bool tdc_dump_name_read(struct tdc_arena *arena, const char *file, struct tdc_dump_name *name,
                        bool *memory)
{
    const char *first = strchr(file, '.'), *end = file + strlen(file);
    unsigned dots = 0;
    *memory = false;
    for (const char *at = file; *at != '\0'; at++)
        dots += *at == '.';
    if (dots < 4)
        return false;
    for (unsigned i = 0; i < 3; i++)
        do
            end--;
        while (*end != '.');
    name->type = tdc_arena_text(arena, file, (size_t)(first - file));
    name->op = tdc_arena_text(arena, first + 1, (size_t)(end - first - 1));
    name->time = time_of(file);
    *memory = name->type == NULL || name->op == NULL;
    return !*memory;
}

/* ---- mapping.csv ----------------------------------------------------------------------------- */

#define MAPPING_LIMIT ((size_t)64 << 20)

struct copying {
    const struct tdc_file_map *map;
    char *to;
};

static void copy_map(void *argument)
{
    struct copying *copying = argument;
    memcpy(copying->to, copying->map->data, copying->map->size);
}

/* The file in the arena, terminated; NULL when there is none. */
static char *read_whole(struct tdc_arena *arena, const char *path, bool *memory)
{
    struct tdc_file_map map;
    *memory = false;
    if (tdc_file_map_open(path, &map, NULL) != TDC_OK)
        return NULL;
    char *text = NULL;
    if (map.size != 0 && map.size <= MAPPING_LIMIT) {
        text = tdc_arena_take(arena, map.size + 1);
        *memory = text == NULL;
    }
    if (text != NULL) {
        struct copying copying = {&map, text};
        bool whole = tdc_guard_begin() && tdc_guarded_read(copy_map, &copying);
        tdc_guard_end();
        text[map.size] = '\0';
        text = whole ? text : NULL;
    }
    tdc_file_map_close(&map);
    return text;
}

static bool add_line(struct tdc_long_names *names, char *line, size_t *capacity)
{
    char *comma = strchr(line, ',');
    if (comma == NULL)
        return true;
    *comma = '\0';
    bool fresh;
    uint32_t number = tdc_names_put(&names->numbers, line, (size_t)(comma - line), &fresh);
    if (number == TDC_NAME_NONE)
        return false;
    if (number >= *capacity) {
        size_t wanted = *capacity == 0 ? 16 : *capacity * 2;
        const char **grown = realloc(names->names, wanted * sizeof *grown);
        if (grown == NULL)
            return false;
        names->names = grown;
        *capacity = wanted;
    }
    names->names[number] = comma + 1;
    return true;
}

bool tdc_long_names_read(struct tdc_arena *arena, const char *folder, struct tdc_long_names *names)
{
    bool memory;
    size_t capacity = 0;
    tdc_names_init(&names->numbers);
    names->names = NULL;
    const char *path = tdc_folder_path(arena, folder, "mapping.csv");
    char *text = path != NULL ? read_whole(arena, path, &memory) : NULL;
    if (path == NULL || (text == NULL && memory))
        return false;
    for (char *line = text, *next; line != NULL; line = next) {
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        size_t length = strlen(line);
        if (length > 0 && line[length - 1] == '\r')
            line[length - 1] = '\0';
        if (!add_line(names, line, &capacity))
            return false;
    }
    return true;
}

void tdc_long_names_free(struct tdc_long_names *names)
{
    tdc_names_free(&names->numbers);
    free(names->names);
    names->names = NULL;
}

const char *tdc_long_name(const struct tdc_long_names *names, const char *file)
{
    uint32_t number = tdc_names_find(&names->numbers, file, strlen(file));
    return number == TDC_NAME_NONE ? file : names->names[number];
}
