#include "io/tensor/pickle/state_list.h"

#include <stdio.h>
#include <string.h>

#include "io/base/error.h"

#define DEPTH_LIMIT  64u
#define VALUES_LIMIT ((size_t)1 << 21)
#define NAME_LIMIT   ((size_t)4096)

struct walk {
    struct tdc_tensor_list *list;
    const struct tdc_saved_state *state;
    struct tdc_error *error;
    size_t seen;
    char name[NAME_LIMIT];
    size_t length;
};

/* ".key"; false when the name gets too long. */
static bool add_key(struct walk *walk, const char *key, size_t length)
{
    size_t dot = walk->length != 0 ? 1 : 0;
    if (length >= NAME_LIMIT - walk->length - dot)
        return false;
    if (dot != 0)
        walk->name[walk->length] = '.';
    memcpy(walk->name + walk->length + dot, key, length);
    walk->length += dot + length;
    return true;
}

static bool add_number(struct walk *walk, int64_t number)
{
    char text[24];
    int length = snprintf(text, sizeof text, "%lld", (long long)number);
    return add_key(walk, text, (size_t)length);
}

static tdc_status take_tensor(struct walk *walk, const struct tdc_saved *value)
{
    struct tdc_listed_tensor *item =
        tdc_tensor_list_add(walk->list, walk->name, walk->length, walk->error);
    if (item == NULL)
        return walk->error->status;
    size_t map_size = item->tensor.map_size;
    struct tdc_error refused = {0};
    tdc_status status = tdc_saved_tensor(walk->state, value, &item->tensor, &refused);
    item->tensor.map_size = map_size;
    if (status == TDC_OK)
        return TDC_OK;
    const char *reason = strstr(refused.message, ": ");
    reason = reason != NULL ? reason + 2 : refused.message;
    item->tensor = (struct tdc_tensor){.map_size = map_size, .descriptor = -1};
    item->refusal = tdc_arena_text(&walk->list->arena, reason, strlen(reason));
    return item->refusal != NULL
               ? TDC_OK
               : tdc_fail(walk->error, TDC_ERR_MEMORY, "%s: out of memory", walk->list->path);
}

/* NOLINTNEXTLINE(misc-no-recursion): bounded by DEPTH_LIMIT */
static tdc_status visit(struct walk *walk, const struct tdc_saved *value, unsigned depth)
{
    if (++walk->seen > VALUES_LIMIT || depth > DEPTH_LIMIT)
        return tdc_fail(walk->error, TDC_ERR_UNSUPPORTED,
                        "%s: a state dict of too many levels or values", walk->list->path);
    if (value->kind == TDC_SAVED_TENSOR)
        return take_tensor(walk, value);
    bool dict = value->kind == TDC_SAVED_DICT;
    if (!dict && value->kind != TDC_SAVED_LIST)
        return TDC_OK;
    size_t outer = walk->length;
    tdc_status status = TDC_OK;
    for (size_t i = 0; i + (dict ? 1 : 0) < value->count && status == TDC_OK; i += dict ? 2 : 1) {
        const struct tdc_saved *key = dict ? value->items[i] : NULL;
        bool named = key == NULL                      ? add_number(walk, (int64_t)i)
                     : key->kind == TDC_SAVED_TEXT    ? add_key(walk, key->text, key->length)
                     : key->kind == TDC_SAVED_INTEGER ? add_number(walk, key->integer)
                                                      : false;
        bool counted = key == NULL || key->kind == TDC_SAVED_TEXT || key->kind == TDC_SAVED_INTEGER;
        if (named)
            status = visit(walk, value->items[dict ? i + 1 : i], depth + 1);
        else if (counted)
            status = tdc_fail(walk->error, TDC_ERR_UNSUPPORTED,
                              "%s: a name of more than %zu bytes in a state dict", walk->list->path,
                              NAME_LIMIT);
        walk->length = outer;
    }
    return status;
}

/* ---- where the names begin ------------------------------------------------------------------- */

/* NOLINTNEXTLINE(misc-no-recursion): bounded by DEPTH_LIMIT */
static bool holds_tensor(const struct tdc_saved *value, unsigned depth, size_t *seen)
{
    if (value == NULL || depth > DEPTH_LIMIT || ++*seen > VALUES_LIMIT)
        return false;
    if (value->kind == TDC_SAVED_TENSOR)
        return true;
    bool dict = value->kind == TDC_SAVED_DICT;
    if (!dict && value->kind != TDC_SAVED_LIST)
        return false;
    for (size_t i = dict ? 1 : 0; i < value->count; i += dict ? 2 : 1)
        if (holds_tensor(value->items[i], depth + 1, seen))
            return true;
    return false;
}

/* "model.0.weight": each part is a key, or a place in a list. A key may have dots itself: the
 * longest that fits counts. */
static const struct tdc_saved *follow(const struct tdc_saved *value, const char *path)
{
    while (*path != '\0' && value != NULL) {
        const struct tdc_saved *found = NULL;
        size_t taken = 0;
        if (value->kind == TDC_SAVED_OBJECT)
            value = value->state;
        for (size_t i = 0; value != NULL && i < value->count; i++) {
            bool dict = value->kind == TDC_SAVED_DICT;
            const struct tdc_saved *key = dict ? value->items[i] : NULL;
            char digits[24];
            const char *text = digits;
            size_t length;
            if (dict && (i + 1 >= value->count || i % 2 != 0))
                continue;
            if (key != NULL && key->kind == TDC_SAVED_TEXT) {
                text = key->text;
                length = key->length;
            } else {
                length = (size_t)snprintf(digits, sizeof digits, "%lld",
                                          key != NULL ? (long long)key->integer : (long long)i);
            }
            if (strncmp(path, text, length) == 0 && strlen(path) >= length && length >= taken &&
                (path[length] == '.' || path[length] == '\0')) {
                taken = length;
                found = value->items[dict ? i + 1 : i];
            }
        }
        value = found;
        path += taken;
        path += *path == '.' ? 1 : 0;
    }
    return value;
}

static tdc_status visit_chosen(struct walk *walk, const struct tdc_saved *root)
{
    static const char *const usual[] = {"model", "state_dict"};
    if (walk->list->key != NULL) {
        const struct tdc_saved *chosen = follow(root, walk->list->key);
        if (chosen == NULL)
            return tdc_fail(walk->error, TDC_ERR_NOT_FOUND, "%s: no key '%.200s'", walk->list->path,
                            walk->list->key);
        return visit(walk, chosen, 0);
    }
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        const struct tdc_saved *below = tdc_saved_get(root, usual[i]);
        size_t seen = 0;
        if (below != NULL && below->kind == TDC_SAVED_DICT && holds_tensor(below, 0, &seen))
            return visit(walk, below, 0);
    }
    /* virtual stages of a pipeline: their layers have the same names, so the stage stays in them */
    bool staged = false;
    for (int64_t stage = 0; stage < 1024; stage++) {
        char key[32];
        snprintf(key, sizeof key, "model%lld", (long long)stage);
        const struct tdc_saved *below = tdc_saved_get(root, key);
        size_t seen = 0;
        if (below == NULL || !holds_tensor(below, 0, &seen))
            break;
        staged = true;
        walk->length = 0;
        tdc_status status = add_key(walk, key, strlen(key)) ? visit(walk, below, 0) : TDC_OK;
        if (status != TDC_OK)
            return status;
    }
    walk->length = 0;
    return staged ? TDC_OK : visit(walk, root, 0);
}

tdc_status tdc_state_list(const unsigned char *bytes, size_t size, struct tdc_tensor_list *list,
                          bool *single, struct tdc_error *error)
{
    struct tdc_saved_state *state = tdc_arena_zeroed(&list->arena, 1, sizeof *state);
    struct walk *walk = tdc_arena_zeroed(&list->arena, 1, sizeof *walk);
    *single = false;
    if (state == NULL || walk == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", list->path);
    state->path = list->path;
    tdc_status status = tdc_saved_state_parse(state, &list->arena, bytes, size, error);
    if (status != TDC_OK)
        return status;
    list->state = state->root;
    *single = state->root->kind == TDC_SAVED_TENSOR && list->key == NULL;
    if (*single)
        return TDC_OK;
    *walk = (struct walk){.list = list, .state = state, .error = error};
    return visit_chosen(walk, state->root);
}
