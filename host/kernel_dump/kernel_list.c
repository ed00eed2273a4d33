#include "host/kernel_dump/kernel_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/graph/files/dump_name.h"
#include "host/graph/files/folder.h"
#include "io/table/text_table.h"
#include "io/text/pytext.h"

static void say(const struct tdc_options *options, const char *text)
{
    if (options->message != NULL)
        options->message(options->context, TDC_MESSAGE_WARNING, text);
}

static struct tdc_kernel_item *new_item(struct tdc_kernel_list *list)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 256 : list->capacity * 2;
        struct tdc_kernel_item *grown = realloc(list->items, capacity * sizeof *grown);
        if (grown == NULL)
            return NULL;
        list->items = grown;
        list->capacity = capacity;
    }
    list->items[list->count] = (struct tdc_kernel_item){0};
    return &list->items[list->count++];
}

bool tdc_kernel_list_put(struct tdc_kernel_list *list, const struct tdc_kernel_item *item)
{
    struct tdc_kernel_item *added = new_item(list);
    if (added != NULL)
        *added = *item;
    return added != NULL;
}

/* ---- npy files ------------------------------------------------------------------------------- */

#define MOST_PARTS 64

/* TYPE.OPERATOR.TASK.STREAM.TIME[.N...].input|output[.N...].SLOT.FORMAT.npy; the key is in the
 * arena. False for other names, or when memory is out, which *failed tells. */
static bool read_name(struct tdc_arena *arena, const char *name, const char **key, uint64_t *time,
                      bool *failed)
{
    const char *parts[MOST_PARTS];
    size_t lengths[MOST_PARTS], count = 0;
    for (const char *at = name; count < MOST_PARTS; at += lengths[count++] + 1) {
        parts[count] = at;
        lengths[count] = strcspn(at, ".");
        if (lengths[count] == 0)
            return false;
        if (at[lengths[count]] == '\0') {
            count++;
            break;
        }
    }
    if (count < 9 || count == MOST_PARTS || strcmp(parts[count - 1], "npy") != 0)
        return false;
    size_t way = 4;
    while (way < count && tdc_all_digits(parts[way], lengths[way]))
        way++;
    bool input = way < count && lengths[way] == 5 && strncmp(parts[way], "input", 5) == 0;
    bool output = way < count && lengths[way] == 6 && strncmp(parts[way], "output", 6) == 0;
    size_t slot = count - 3;
    if (way == 4 || (!input && !output) || slot <= way)
        return false;
    for (size_t i = way + 1; i < slot; i++)
        if (!tdc_all_digits(parts[i], lengths[i]))
            return false;
    struct tdc_text text;
    tdc_text_init(&text, (size_t)1 << 13);
    tdc_text_add(&text, parts[1], lengths[1]);
    tdc_text_addc(&text, '.');
    tdc_text_add(&text, parts[2], lengths[2]);
    tdc_text_addc(&text, '.');
    tdc_text_add(&text, parts[way], (size_t)(parts[slot] + lengths[slot] - parts[way]));
    *key = text.failed ? NULL : tdc_arena_text(arena, tdc_text_get(&text), text.length);
    *failed = *key == NULL;
    *time = strtoull(parts[4], NULL, 10);
    tdc_text_free(&text);
    return !*failed;
}

static bool add_files(struct tdc_arena *arena, struct tdc_kernel_list *list, const char *folder,
                      const struct tdc_folder *names, const struct tdc_options *options)
{
    struct tdc_long_names real;
    bool good = tdc_long_names_read(arena, folder, &real);
    size_t passed = 0;
    for (size_t i = 0; i < names->count && good; i++) {
        const char *file = names->entries[i].name, *key;
        uint64_t time;
        bool failed = false;
        if (names->entries[i].folder || !tdc_ends_in(file, ".npy"))
            continue;
        if (!read_name(arena, tdc_long_name(&real, file), &key, &time, &failed)) {
            good = !failed;
            passed++;
            continue;
        }
        struct tdc_kernel_item *item = new_item(list);
        good = item != NULL;
        if (!good)
            break;
        item->key = key;
        item->time = time;
        item->folder = folder;
        item->file = file;
        item->path = tdc_folder_path(arena, folder, file);
        good = item->path != NULL;
    }
    tdc_long_names_free(&real);
    if (passed != 0) {
        char text[512];
        snprintf(text, sizeof text, "%.400s: %zu npy files are no kernel dumps by their names",
                 folder, passed);
        say(options, text);
    }
    return good;
}

/* ---- statistic.csv --------------------------------------------------------------------------- */

/* As pandas and numpy read them: words for truths and nothing, then float32. */
static float statistic_of(const char *text)
{
    double number = NAN;
    if (strcmp(text, "null") == 0 || strcmp(text, "False") == 0)
        return 0;
    if (strcmp(text, "True") == 0)
        return 1;
    return tdc_python_float(text, strlen(text), &number) ? (float)number : (float)NAN;
}

static const char *kept(struct tdc_arena *arena, const char *text)
{
    return tdc_arena_text(arena, text, strlen(text));
}

static bool add_line(struct tdc_arena *arena, struct tdc_kernel_list *list,
                     const struct tdc_text_row *row, const size_t columns[6], const char *path)
{
    struct tdc_text key;
    tdc_text_init(&key, (size_t)1 << 13);
    tdc_text_addf(&key, "%s.%s.%s.%s", row->cells[1], row->cells[2], row->cells[5], row->cells[6]);
    struct tdc_kernel_item *item = key.failed ? NULL : new_item(list);
    bool good = item != NULL;
    if (good) {
        item->key = kept(arena, tdc_text_get(&key));
        item->time = strtoull(row->cells[4], NULL, 10);
        item->path = path;
        item->dtype = columns[0] != SIZE_MAX ? kept(arena, tdc_text_cell(row, columns[0])) : NULL;
        item->shape = columns[1] != SIZE_MAX ? kept(arena, tdc_text_cell(row, columns[1])) : NULL;
        good = item->key != NULL && (columns[0] == SIZE_MAX || item->dtype != NULL) &&
               (columns[1] == SIZE_MAX || item->shape != NULL);
        for (int i = 0; i < TDC_STATISTICS; i++)
            item->stats[i] = columns[2 + i] != SIZE_MAX
                                 ? statistic_of(tdc_text_cell(row, columns[2 + i]))
                                 : (float)NAN;
    }
    tdc_text_free(&key);
    return good;
}

static bool add_statistics(struct tdc_arena *arena, struct tdc_kernel_list *list, const char *path,
                           const struct tdc_options *options)
{
    static const char *const names[6] = {"Data Type", "Shape",     "Max Value",
                                         "Min Value", "Avg Value", "L2Norm Value"};
    struct tdc_text_table table;
    struct tdc_error error;
    if (tdc_text_table_from_csv(path, &table, &error) != TDC_OK) {
        say(options, error.message);
        tdc_text_table_free(&table);
        return error.status != TDC_ERR_MEMORY;
    }
    size_t columns[6], short_lines = 0;
    char text[600];
    for (int i = 0; i < 6; i++) {
        columns[i] = tdc_text_column(&table, names[i]);
        snprintf(text, sizeof text, "%.400s has no column %s", path, names[i]);
        if (columns[i] == SIZE_MAX)
            say(options, text);
    }
    bool good = true;
    for (size_t i = 1; i < table.count && good; i++) {
        if (table.rows[i].count < 13)
            short_lines++;
        else
            good = add_line(arena, list, &table.rows[i], columns, path);
    }
    snprintf(text, sizeof text, "%.400s: %zu lines have fewer than 13 columns: left out", path,
             short_lines);
    if (short_lines != 0)
        say(options, text);
    tdc_text_table_free(&table);
    return good;
}

/* ---- lists ----------------------------------------------------------------------------------- */

bool tdc_kernel_list_add(struct tdc_arena *arena, struct tdc_kernel_list *list, const char *folder,
                         const struct tdc_options *options)
{
    struct tdc_folder names;
    struct tdc_error error;
    if (tdc_folder_read(arena, folder, &names, &error) != TDC_OK) {
        say(options, error.message);
        return error.status != TDC_ERR_MEMORY;
    }
    bool files = false, statistics = false;
    for (size_t i = 0; i < names.count; i++) {
        files |= !names.entries[i].folder && tdc_ends_in(names.entries[i].name, ".npy");
        statistics |= strcmp(names.entries[i].name, "statistic.csv") == 0;
    }
    list->mode = files ? TDC_KERNEL_FILES : statistics ? TDC_KERNEL_STATISTICS : TDC_KERNEL_NONE;
    if (files)
        return add_files(arena, list, folder, &names, options);
    const char *path = statistics ? tdc_folder_path(arena, folder, "statistic.csv") : NULL;
    return !statistics || (path != NULL && add_statistics(arena, list, path, options));
}

static int by_time(const void *left, const void *right)
{
    const struct tdc_kernel_item *one = left, *other = right;
    int order = strcmp(one->key, other->key);
    if (order == 0)
        order = (one->time > other->time) - (one->time < other->time);
    return order != 0
               ? order
               : strcmp(one->file != NULL ? one->file : "", other->file != NULL ? other->file : "");
}

void tdc_kernel_list_settle(struct tdc_kernel_list *list)
{
    if (list->count != 0)
        qsort(list->items, list->count, sizeof *list->items, by_time);
    for (size_t i = 1; i < list->count; i++)
        list->items[i].number = strcmp(list->items[i].key, list->items[i - 1].key) == 0
                                    ? list->items[i - 1].number + 1
                                    : 0;
}

int tdc_kernel_order(const struct tdc_kernel_item *one, const struct tdc_kernel_item *other)
{
    int order = strcmp(one->key, other->key);
    return order != 0 ? order : (one->number > other->number) - (one->number < other->number);
}
