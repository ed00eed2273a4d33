#include "host/dump/atb_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"
#include "io/base/text.h"
#include "io/storage/looking.h"

#define ARENA_LIMIT ((size_t)4 << 30)
#define NAME_LIMIT  ((size_t)1 << 16)

/* The columns of statistic.csv. */
enum column {
    DEVICE,
    EXECUTION,
    OP_NAME,
    OP_TYPE,
    OP_ID,
    DIRECTION,
    INDEX,
    DTYPE,
    FORMAT,
    SHAPE,
    STATISTICS,
    PATH = STATISTICS + TDC_STATISTICS,
    COLUMNS
};

static const char list_name[] = "statistic.csv";
static const char list_head[] = "Device and PID,Execution Count,Op Name,";

bool tdc_is_atb_list(const char *path)
{
    char head[sizeof list_head + 3];
    size_t length;
    if (!tdc_first_bytes(path, head, sizeof head - 1, &length))
        return false;
    head[length] = '\0';
    const char *text = strncmp(head, "\xef\xbb\xbf", 3) == 0 ? head + 3 : head;
    return strncmp(text, list_head, strlen(list_head)) == 0;
}

/* The next part of a text up to a separator; *at is NULL after the last. */
static void next_part(const char **at, char separator, const char **part, size_t *length)
{
    const char *end = strchr(*at, separator);
    *part = *at;
    *length = end != NULL ? (size_t)(end - *at) : strlen(*at);
    *at = end != NULL ? end + 1 : NULL;
}

/* Each operator on the way with its number: `1_Layer/0_Attention`. False: names and numbers are not
 * equally many. */
static bool add_place(struct tdc_text *text, const char *names, const char *ids)
{
    const char *name, *id;
    size_t name_length, id_length;
    while (names != NULL && ids != NULL) {
        if (text->length != 0)
            tdc_text_addc(text, '/');
        next_part(&names, '/', &name, &name_length);
        next_part(&ids, '_', &id, &id_length);
        tdc_text_add(text, id, id_length);
        tdc_text_addc(text, '_');
        tdc_text_add(text, name, name_length);
    }
    return names == NULL && ids == NULL;
}

/* False: a line that names no tensor, or *failed. */
static bool take_name(struct tdc_arena *arena, const char *const *cells, struct tdc_atb_item *item,
                      bool *failed)
{
    struct tdc_text text;
    tdc_text_init(&text, NAME_LIMIT);
    bool named = add_place(&text, cells[OP_NAME], cells[OP_ID]);
    size_t place = text.length;
    tdc_text_addf(&text, "/%s.%s", cells[DIRECTION], cells[INDEX]);
    if (named && !text.failed) {
        item->name = tdc_arena_text(arena, tdc_text_get(&text), text.length);
        item->place = tdc_arena_text(arena, tdc_text_get(&text), place);
        item->slot = item->name != NULL ? item->name + place + 1 : NULL;
    }
    *failed = named && (item->name == NULL || item->place == NULL);
    tdc_text_free(&text);
    return named && !*failed;
}

/* The path was written on another machine: what follows the round's folder in it counts,
 * atb_dump_data/data/<device>/<round>/. NULL: there is no such part. */
static const char *below_round(const char *path)
{
    static const char root[] = "atb_dump_data";
    const char *at = NULL;
    for (const char *found = strstr(path, root); found != NULL; found = strstr(found + 1, root))
        at = found;
    for (int i = 0; i < 4 && at != NULL; i++) {
        at = strchr(at, '/');
        if (at != NULL)
            at++;
    }
    return at;
}

/* The place of the name: a new one, or that of an earlier line. */
static struct tdc_atb_item *place_of(struct tdc_atb_list *list, const char *name)
{
    bool fresh;
    uint32_t number = tdc_names_put(&list->names, name, strlen(name), &fresh);
    if (number == TDC_NAME_NONE)
        return NULL;
    if (fresh)
        list->count++;
    else if (list->repeated++ == 0)
        list->first_repeated = name;
    return &list->items[number];
}

/* False when out of memory. A line of another width, or whose parts do not fit, is no tensor. */
static bool take_line(struct tdc_atb_list *list, const struct tdc_text_row *line)
{
    bool failed = false;
    const char *const *cells = line->cells;
    struct tdc_atb_item item = {0};
    bool usable = line->count == COLUMNS && take_name(&list->arena, cells, &item, &failed);
    if (usable && strcmp(cells[PATH], "N/A") != 0) {
        item.file = below_round(cells[PATH]);
        usable = item.file != NULL;
    }
    if (!usable) {
        list->unusable++;
        return !failed;
    }
    item.type = cells[OP_TYPE];
    item.device = cells[DEVICE];
    item.execution = cells[EXECUTION];
    item.dtype = cells[DTYPE];
    item.shape = cells[SHAPE];
    for (int i = 0; i < TDC_STATISTICS; i++)
        item.stats[i] = cells[STATISTICS + i];
    struct tdc_atb_item *place = place_of(list, item.name);
    if (place != NULL)
        *place = item;
    return place != NULL;
}

static tdc_status take_lines(struct tdc_atb_list *list, const char *path, struct tdc_error *error)
{
    const struct tdc_text_table *table = &list->table;
    if (table->count < 2 || table->rows[1].count == 0)
        return tdc_fail(error, TDC_ERR_FORMAT, "%s: lists no tensor", path);
    const struct tdc_text_row *first = &table->rows[1];
    list->statistics = strcmp(first->cells[first->count - 1], "N/A") == 0;
    list->items = tdc_arena_zeroed(&list->arena, table->count, sizeof *list->items);
    bool fits = list->items != NULL;
    for (size_t i = 1; i < table->count && fits; i++)
        fits = take_line(list, &table->rows[i]);
    return fits ? TDC_OK : tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
}

tdc_status tdc_atb_list_load(const char *folder, struct tdc_atb_list *list, struct tdc_error *error)
{
    *list = (struct tdc_atb_list){.folder = folder};
    tdc_text_table_start(&list->table);
    tdc_arena_init(&list->arena, ARENA_LIMIT);
    tdc_names_init(&list->names);
    struct tdc_text path;
    tdc_text_init(&path, NAME_LIMIT);
    tdc_text_addf(&path, "%s/%s", folder, list_name);
    tdc_status status = path.failed
                            ? tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", folder)
                            : tdc_text_table_from_csv(tdc_text_get(&path), &list->table, error);
    if (status == TDC_OK)
        status = take_lines(list, tdc_text_get(&path), error);
    tdc_text_free(&path);
    return status;
}

void tdc_atb_list_free(struct tdc_atb_list *list)
{
    tdc_text_table_free(&list->table);
    tdc_arena_free(&list->arena);
    tdc_names_free(&list->names);
    *list = (struct tdc_atb_list){0};
}
