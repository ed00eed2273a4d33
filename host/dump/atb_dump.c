#include "host/dump/atb_dump.h"

#include <stdlib.h>
#include <string.h>

#include "host/dump/atb_list.h"
#include "io/base/error.h"
#include "io/base/text.h"
#include "io/text/pytext.h"

/* An operator: the items it has, and where its last one stands. */
struct operator_lines {
    const char *name; /* of the entry */
    size_t count;
    size_t last;
};

struct making {
    struct tdc_dump *dump;
    const struct tdc_atb_list *list;
    struct tdc_name_table names;      /* of entries, in the order in which they begin */
    struct operator_lines *operators; /* by number of the name */
    uint32_t *of_item;                /* number of the name */
    struct tdc_text text;
};

bool tdc_is_atb_dump(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strcmp(slash != NULL ? slash + 1 : path, TDC_ATB_LIST_FILE) == 0 &&
           tdc_is_atb_list(path);
}

static char *keep_text(struct making *making)
{
    const struct tdc_text *text = &making->text;
    return text->failed ? NULL
                        : tdc_arena_text(&making->dump->arena, tdc_text_get(text), text->length);
}

/* ---- operators ------------------------------------------------------------------------------- */

static const char *entry_name(struct making *making, const struct tdc_atb_item *item)
{
    tdc_text_clear(&making->text);
    tdc_text_adds(&making->text, "Module.");
    for (const char *at = item->place; *at != '\0'; at++)
        tdc_text_addc(&making->text, *at == '/' ? '.' : *at);
    tdc_text_addf(&making->text, ".%s.forward.0", item->type);
    return keep_text(making);
}

static bool find_operators(struct making *making)
{
    const struct tdc_atb_list *list = making->list;
    for (size_t i = 0; i < list->count; i++) {
        const char *name = entry_name(making, &list->items[i]);
        bool fresh = false;
        uint32_t number = name != NULL ? tdc_names_put(&making->names, name, strlen(name), &fresh)
                                       : TDC_NAME_NONE;
        if (number == TDC_NAME_NONE)
            return false;
        struct operator_lines *lines = &making->operators[number];
        if (fresh)
            lines->name = name;
        lines->count++;
        lines->last = i;
        making->of_item[i] = number;
    }
    return true;
}

static int by_last(const void *a, const void *b)
{
    const struct operator_lines *left = a, *right = b;
    return left->last < right->last ? -1 : left->last > right->last;
}

/* Entries and room for their records, in the order in which operators end: what lies inside one
 * comes before it. */
static bool make_entries(struct making *making)
{
    struct tdc_dump *dump = making->dump;
    size_t count = making->names.count, first = 0;
    bool fresh;
    dump->entries = calloc(count + 1, sizeof *dump->entries);
    if (dump->entries == NULL)
        return false;
    qsort(making->operators, count, sizeof *making->operators, by_last);
    for (size_t i = 0; i < count; i++) {
        const struct operator_lines *lines = &making->operators[i];
        dump->entries[i] = (struct tdc_dump_entry){.name = lines->name, .first = first};
        first += lines->count;
        if (tdc_names_put(&dump->entry_names, lines->name, strlen(lines->name), &fresh) ==
            TDC_NAME_NONE)
            return false;
    }
    dump->entry_count = count;
    dump->record_count = first;
    return true;
}

/* ---- records --------------------------------------------------------------------------------- */

/* Names that other dumps have for the types. */
static const char *dtype_of(const char *text)
{
    static const char *const names[][2] = {{"float", "float32"}, {"bf16", "bfloat16"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i][0]) == 0)
            return names[i][1];
    return text;
}

/* "4,6" as "[4, 6]" */
static const char *shape_of(struct making *making, const char *text)
{
    tdc_text_clear(&making->text);
    tdc_text_addc(&making->text, '[');
    for (; *text != '\0'; text++)
        if (*text == ',')
            tdc_text_adds(&making->text, ", ");
        else
            tdc_text_addc(&making->text, *text);
    tdc_text_addc(&making->text, ']');
    return keep_text(making);
}

static void take_statistics(const struct tdc_atb_item *item, struct tdc_record *record)
{
    for (int i = 0; i < TDC_STATISTICS; i++) {
        double number;
        bool known = tdc_python_float(item->stats[i], strlen(item->stats[i]), &number);
        record->stat_kinds[i] = known && number == number ? TDC_STAT_FLOAT : TDC_STAT_TEXT;
        if (record->stat_kinds[i] == TDC_STAT_FLOAT)
            record->stats[i].number = number;
        else
            record->stats[i].text = known ? "Nan" : "None";
    }
}

static bool make_record(struct making *making, const struct tdc_atb_item *item, uint32_t entry)
{
    struct tdc_dump *dump = making->dump;
    struct tdc_dump_entry *to = &dump->entries[entry];
    struct tdc_record *record = &dump->records[to->first + to->count];
    bool output = strncmp(item->slot, "output", 6) == 0;
    tdc_text_clear(&making->text);
    tdc_text_addf(&making->text, "%s.%s", to->name, item->slot);
    const char *file =
        item->file != NULL ? tdc_arena_text(&dump->arena, item->file, strlen(item->file)) : "-1";
    const char *dtype = dtype_of(item->dtype);
    *record = (struct tdc_record){
        .name = keep_text(making),
        .dtype = tdc_arena_text(&dump->arena, dtype, strlen(dtype)),
        .requires_grad = "N/A",
        .data_name = file,
        .digest = "N/A",
        .state = (uint8_t)(output ? TDC_STATE_OUTPUT : TDC_STATE_INPUT),
        .first_of_entry = to->count == 0,
        .entry = entry,
    };
    record->shape = shape_of(making, item->shape);
    take_statistics(item, record);
    to->count++;
    return record->name != NULL && record->dtype != NULL && file != NULL && record->shape != NULL;
}

static bool make_records(struct making *making)
{
    struct tdc_dump *dump = making->dump;
    const struct tdc_atb_list *list = making->list;
    dump->records = calloc(dump->record_count + 1, sizeof *dump->records);
    if (dump->records == NULL)
        return false;
    for (size_t i = 0; i < list->count; i++) {
        const struct tdc_name_key *key = &making->names.keys[making->of_item[i]];
        uint32_t entry = tdc_names_find(&dump->entry_names, key->text, key->length);
        if (!make_record(making, &list->items[i], entry))
            return false;
    }
    return true;
}

/* ---- the dump -------------------------------------------------------------------------------- */

static bool make_dump(struct tdc_dump *dump, const struct tdc_atb_list *list)
{
    struct making making = {.dump = dump, .list = list};
    tdc_text_init(&making.text, (size_t)1 << 17);
    tdc_names_init(&making.names);
    making.operators = calloc(list->count + 1, sizeof *making.operators);
    making.of_item = calloc(list->count + 1, sizeof *making.of_item);
    bool made = making.operators != NULL && making.of_item != NULL && find_operators(&making) &&
                make_entries(&making) && make_records(&making);
    free(making.operators);
    free(making.of_item);
    tdc_names_free(&making.names);
    tdc_text_free(&making.text);
    return made;
}

tdc_status tdc_dump_load_atb(struct tdc_dump *dump, struct tdc_error *error)
{
    struct tdc_atb_list list;
    tdc_status status = tdc_atb_list_load(dump->folder, &list, error);
    dump->kind = TDC_ATB_LIST;
    dump->framework = "pytorch";
    dump->data_missing = false;
    dump->task = list.statistics ? "statistics" : "tensor";
    dump->unusable = list.unusable;
    dump->repeated = list.repeated;
    if (list.repeated != 0)
        dump->first_repeated =
            tdc_arena_text(&dump->arena, list.first_repeated, strlen(list.first_repeated));
    free(dump->data_folder);
    dump->data_folder = strdup(dump->folder);
    if (status == TDC_OK && (dump->data_folder == NULL || !make_dump(dump, &list) ||
                             (list.repeated != 0 && dump->first_repeated == NULL)))
        status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", dump->path);
    tdc_atb_list_free(&list);
    return status;
}
