#include "host/offline/offline_rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/graph/files/arena_list.h"
#include "host/graph/files/ge_file.h"
#include "host/graph/files/say.h"
#include "io/base/error.h"
#include "io/base/text.h"

const char *tdc_offline_text(struct tdc_offline_matching *matching, const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    size_t used = length < 0 ? 0 : (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;
    const char *kept = tdc_arena_text(matching->arena, text, used);
    matching->failed |= kept == NULL;
    return kept;
}

void tdc_offline_add(struct tdc_offline_matching *matching, const struct tdc_offline_row *row)
{
    struct tdc_offline_rows *rows = matching->rows;
    if (!tdc_arena_grow(matching->arena, (void **)&rows->rows, rows->count, sizeof *row,
                        &rows->room)) {
        matching->failed = true;
        return;
    }
    rows->rows[rows->count++] = *row;
}

/* ---- two files of one operator --------------------------------------------------------------- */

/* An operator under way: both files open. */
struct facing {
    struct tdc_offline_matching *matching;
    size_t index;
    const struct tdc_offline_file *files[2];
    struct tdc_ge_file open[2];
};

static const char *const list_words[] = {"input", "output"};

static void shape_text(const struct tdc_ge_shape *shape, struct tdc_text *text)
{
    tdc_text_clear(text);
    tdc_text_addc(text, '(');
    tdc_text_add_sizes(text, shape->dims, shape->dimensions, ", ");
    tdc_text_addc(text, ')');
}

static bool same_shape(const struct tdc_ge_shape *a, const struct tdc_ge_shape *b)
{
    return a->dimensions == b->dimensions &&
           memcmp(a->dims, b->dims, a->dimensions * sizeof *a->dims) == 0;
}

static const char *shapes_apart(struct facing *facing, int list, uint64_t place,
                                const struct tdc_ge_item items[2])
{
    struct tdc_text mine, golden;
    const char *op = facing->files[0]->op;
    tdc_text_init(&mine, (size_t)1 << 11);
    tdc_text_init(&golden, (size_t)1 << 11);
    shape_text(&items[0].shape, &mine);
    shape_text(&items[1].shape, &golden);
    const char *reason = tdc_offline_text(
        facing->matching, "[%s] The shape does not match (%s vs %s) for %s:%s:%llu.", op,
        tdc_text_get(&mine), tdc_text_get(&golden), op, list_words[list],
        (unsigned long long)place);
    tdc_text_free(&mine);
    tdc_text_free(&golden);
    return reason;
}

/* Why a list of both files is not compared; NULL: it is. One tensor that does not fit is enough. */
static const char *list_obstacle(struct facing *facing, int list)
{
    const char *op = facing->files[0]->op;
    uint64_t mine = facing->open[0].counts[list], golden = facing->open[1].counts[list];
    if (mine != golden)
        return tdc_offline_text(
            facing->matching, "[%s] The number of %s does not match (%llu vs %llu).", op,
            list_words[list], (unsigned long long)mine, (unsigned long long)golden);
    if (mine == 0)
        return tdc_offline_text(facing->matching, "[%s] There is no %s. Skip the %s:%s.", op,
                                list_words[list], op, list_words[list]);
    for (uint64_t i = 0; i < mine; i++) {
        struct tdc_ge_item items[2];
        for (int side = 0; side < 2; side++) {
            struct tdc_tensor tensor;
            struct tdc_error error = {0};
            tdc_status status = tdc_ge_file_tensor(&facing->open[side], (enum tdc_ge_list)list, i,
                                                   true, &items[side], &tensor, &error);
            if (status == TDC_ERR_CHANGED)
                return tdc_offline_text(facing->matching, "%s", error.message);
            /* a tensor that cannot be read is a row */
        }
        if (!same_shape(&items[0].shape, &items[1].shape))
            return shapes_apart(facing, list, i, items);
    }
    return NULL;
}

static void add_list(struct facing *facing, int list)
{
    struct tdc_offline_matching *matching = facing->matching;
    const char *op = facing->files[0]->op;
    for (uint64_t i = 0; i < facing->open[0].counts[list] && !matching->failed; i++) {
        struct tdc_offline_row row = {.index = facing->index,
                                      .type = facing->files[0]->type,
                                      .mine = op,
                                      .golden = op,
                                      .op = op,
                                      .stored = true,
                                      .format = ""};
        row.tensor =
            tdc_offline_text(matching, "%s:%s:%llu", op, list_words[list], (unsigned long long)i);
        for (int side = 0; side < 2; side++)
            row.tensors[side] = (struct tdc_offline_tensor){facing->files[side], list == 1, i};
        tdc_offline_add(matching, &row);
    }
}

static void add_whole(struct tdc_offline_matching *matching, size_t index, const char *mine,
                      const char *golden, const char *reason)
{
    struct tdc_offline_row row = {.index = index,
                                  .mine = mine,
                                  .golden = golden,
                                  .op = strcmp(mine, "*") != 0 ? mine : golden,
                                  .reason = reason};
    tdc_offline_add(matching, &row);
}

static void face_open_files(struct facing *facing)
{
    static const char *const sides[] = {"Left", "Right"};
    struct tdc_offline_matching *matching = facing->matching;
    const char *op = facing->files[0]->op, *obstacles[2];
    for (int side = 0; side < 2; side++)
        tdc_say(matching->options, TDC_MESSAGE_INFO, "[%s] [%s] %s", op, sides[side],
                facing->files[side]->path);
    for (int list = 0; list < 2; list++) {
        obstacles[list] = list_obstacle(facing, list);
        if (matching->failed)
            return;
        if (obstacles[list] == NULL)
            add_list(facing, list);
        else
            tdc_say(matching->options,
                    facing->open[0].counts[list] != facing->open[1].counts[list]
                        ? TDC_MESSAGE_WARNING
                    : facing->open[0].counts[list] == 0 ? TDC_MESSAGE_INFO
                                                        : TDC_MESSAGE_ERROR,
                    "%s", obstacles[list]);
    }
    if (obstacles[0] != NULL && obstacles[1] != NULL)
        add_whole(matching, facing->index, op, op,
                  tdc_offline_text(matching, "%s,%s", obstacles[0], obstacles[1]));
}

static void face_files(struct facing *facing)
{
    struct tdc_error error = {0};
    const char *op = facing->files[0]->op;
    size_t open = 0;
    while (open < 2 &&
           tdc_ge_file_open(facing->files[open]->path, &facing->open[open], &error) == TDC_OK)
        open++;
    if (open == 2) {
        face_open_files(facing);
    } else {
        tdc_say(facing->matching->options, TDC_MESSAGE_ERROR, "%s", error.message);
        add_whole(facing->matching, facing->index, op, op,
                  tdc_offline_text(facing->matching, "%s", error.message));
    }
    while (open > 0)
        tdc_ge_file_close(&facing->open[--open]);
}

/* ---- all operators --------------------------------------------------------------------------- */

static const struct tdc_offline_file *same_op(const struct tdc_offline_side *side, const char *op)
{
    uint32_t number = tdc_names_find(&side->ops, op, strlen(op));
    return number != TDC_NAME_NONE ? &side->files[side->places[number]] : NULL;
}

static void add_lonely(struct tdc_offline_matching *matching, size_t index, const char *op,
                       bool mine)
{
    const char *reason =
        tdc_offline_text(matching, "[%s] There is no the %s dump file for the op \"%s\".", op,
                         mine ? "ground truth" : "my output", op);
    matching->rows->lonely++;
    if (reason == NULL)
        return;
    tdc_say(matching->options, TDC_MESSAGE_WARNING, "%s", reason);
    add_whole(matching, index, mine ? op : "*", mine ? "*" : op, reason);
}

tdc_status tdc_offline_match(struct tdc_arena *arena, const struct tdc_offline_side *mine,
                             const struct tdc_offline_side *golden,
                             const struct tdc_options *options, struct tdc_offline_rows *rows,
                             struct tdc_error *error)
{
    struct tdc_offline_matching matching = {arena, mine, golden, options, rows, false};
    size_t index = 0;
    for (size_t i = 0; i < mine->count && !matching.failed; i++, index++) {
        struct facing facing = {.matching = &matching, .index = index, .files = {&mine->files[i]}};
        facing.files[1] = same_op(golden, mine->files[i].op);
        if (facing.files[1] == NULL) {
            add_lonely(&matching, index, mine->files[i].op, true);
            continue;
        }
        rows->matched++;
        face_files(&facing);
    }
    for (size_t i = 0; i < golden->count && !matching.failed; i++)
        if (same_op(mine, golden->files[i].op) == NULL)
            add_lonely(&matching, index++, golden->files[i].op, false);
    return matching.failed ? tdc_fail(error, TDC_ERR_MEMORY, "out of memory for the rows") : TDC_OK;
}
