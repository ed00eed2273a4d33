#include "io/base/error.h"
#include "io/file/file_map.h"
#include "io/file/mapping_guard.h"
#include "io/text/json_scan.h"
#include "io/base/key_index.h"

/* A container whose closing bracket has not come yet. */
struct open_container {
    struct tdc_json *node;
    struct tdc_json *last;       /* child */
    struct tdc_key_index *index; /* of a large object, else NULL */
};

struct tree_builder {
    struct tdc_json_cursor *cursor;
    struct tdc_arena *arena;
    struct tdc_error *error;
    struct tdc_json *root;
    const char *key; /* of the value to come, when inside an object; may be a piece of the input */
    size_t key_length;
    size_t depth;
    struct open_container open[TDC_JSON_MAX_DEPTH];
};

static const char *key_of(const void *member, size_t *length)
{
    const struct tdc_json *node = member;
    *length = node->key_length;
    return node->key;
}

static const struct tdc_json *member_among(const struct tdc_json *first, const char *key,
                                           size_t length)
{
    for (; first != NULL; first = first->next)
        if (first->key_length == length && memcmp(first->key, key, length) == 0)
            return first;
    return NULL;
}

static const struct tdc_json *find_member(const struct open_container *object, const char *key,
                                          size_t length)
{
    if (object->index != NULL)
        return tdc_key_index_find(object->index, key, length);
    return member_among(object->node->child, key, length);
}

static bool index_members(struct open_container *object, struct tdc_arena *arena)
{
    object->index = tdc_key_index_new(arena, key_of);
    if (object->index == NULL)
        return false;
    for (const struct tdc_json *node = object->node->child; node != NULL; node = node->next)
        if (!tdc_key_index_add(object->index, arena, node))
            return false;
    return true;
}

/* Hangs a node behind its siblings. */
static bool append(struct tree_builder *builder, struct tdc_json *node)
{
    if (builder->depth == 0) {
        builder->root = node;
        return true;
    }
    struct open_container *parent = &builder->open[builder->depth - 1];
    if (parent->last == NULL)
        parent->node->child = node;
    else
        parent->last->next = node;
    parent->last = node;
    parent->node->children++;
    if (parent->node->kind != TDC_JSON_OBJECT || parent->node->children <= TDC_KEY_INDEX_FROM)
        return true;
    if (parent->index == NULL)
        return index_members(parent, builder->arena);
    return tdc_key_index_add(parent->index, builder->arena, node);
}

/*
 * The node for the value to come, in its place in the tree, with room for text_room bytes at *text.
 * A repeated key gets the node of its first occurrence, emptied. One allocation holds the node, its
 * key and its text.
 */
static struct tdc_json *place_node(struct tree_builder *builder, size_t text_room, char **text)
{
    size_t key_room = builder->key != NULL ? builder->key_length + 1 : 0;
    size_t room;
    struct tdc_json *node = NULL;
    if (builder->key != NULL)
        node = (struct tdc_json *)(uintptr_t)find_member(&builder->open[builder->depth - 1],
                                                         builder->key, builder->key_length);
    if (node != NULL) {
        builder->cursor->repeated++;
        *node =
            (struct tdc_json){.key = node->key, .key_length = node->key_length, .next = node->next};
        *text = text_room != 0 ? tdc_arena_take(builder->arena, text_room) : NULL;
        return text_room != 0 && *text == NULL ? NULL : node;
    }
    if (__builtin_add_overflow(key_room, text_room, &room) ||
        __builtin_add_overflow(room, sizeof *node, &room))
        return NULL;
    node = tdc_arena_take(builder->arena, room);
    if (node == NULL)
        return NULL;
    *node = (struct tdc_json){0};
    char *after = (char *)(node + 1);
    if (key_room != 0) {
        memcpy(after, builder->key, builder->key_length);
        after[builder->key_length] = '\0';
        node->key = after;
        node->key_length = builder->key_length;
        after += key_room;
    }
    *text = after;
    return append(builder, node) ? node : NULL;
}

static tdc_status read_key(struct tree_builder *builder)
{
    struct tdc_json_scalar scalar;
    tdc_status status = tdc_json_scan_key(builder->cursor, &scalar, builder->error);
    if (status != TDC_OK)
        return status;
    builder->key = scalar.raw;
    builder->key_length = scalar.length;
    if (scalar.escaped) {
        char *text = tdc_arena_take(builder->arena, scalar.length);
        if (text == NULL)
            return tdc_json_no_memory(builder->cursor, builder->error);
        builder->key_length = tdc_json_unescape(&scalar, text);
        builder->key = text;
    }
    return TDC_OK;
}

static tdc_status read_container(struct tree_builder *builder)
{
    struct tdc_json_cursor *cursor = builder->cursor;
    bool object = *cursor->at == '{', empty;
    char *unused;
    tdc_status status =
        tdc_json_scan_open(cursor, cursor->depth + builder->depth, &empty, builder->error);
    if (status != TDC_OK)
        return status;
    struct tdc_json *node = place_node(builder, 0, &unused);
    if (node == NULL)
        return tdc_json_no_memory(cursor, builder->error);
    node->kind = object ? TDC_JSON_OBJECT : TDC_JSON_LIST;
    if (!empty)
        builder->open[builder->depth++] = (struct open_container){.node = node};
    return TDC_OK;
}

static tdc_status read_scalar(struct tree_builder *builder)
{
    struct tdc_json_scalar scalar;
    tdc_status status = tdc_json_scan_scalar(builder->cursor, &scalar, builder->error);
    if (status != TDC_OK)
        return status;
    bool has_text = scalar.kind == TDC_JSON_STRING || scalar.kind == TDC_JSON_INTEGER ||
                    scalar.kind == TDC_JSON_FLOAT;
    char *text;
    struct tdc_json *node = place_node(builder, has_text ? scalar.length + 1 : 0, &text);
    if (node == NULL)
        return tdc_json_no_memory(builder->cursor, builder->error);
    node->kind = scalar.kind;
    if (!has_text)
        return TDC_OK;
    const char *raw = scalar.raw;
    size_t length = scalar.length;
    if (scalar.kind == TDC_JSON_FLOAT && scalar.word)
        node->number = scalar.word_number;
    else if (scalar.kind != TDC_JSON_STRING)
        node->number = tdc_decimal_double(&scalar.decimal, raw, length);
    if (scalar.kind == TDC_JSON_INTEGER && scalar.decimal.negative && node->number == 0) {
        raw++; /* Python has no integer -0 */
        length--;
        node->number = 0;
    }
    if (scalar.kind == TDC_JSON_STRING && scalar.escaped)
        length = tdc_json_unescape(&scalar, text);
    else
        memcpy(text, raw, length);
    text[length] = '\0';
    node->text = text;
    node->length = length;
    return TDC_OK;
}

/* Closes every container that ends here; then the cursor stands before a further value, or depth is
 * 0. */
static tdc_status close_containers(struct tree_builder *builder)
{
    bool more = false;
    while (builder->depth > 0 && !more) {
        bool object = builder->open[builder->depth - 1].node->kind == TDC_JSON_OBJECT;
        tdc_status status =
            tdc_json_scan_next(builder->cursor, object ? '}' : ']', &more, builder->error);
        if (status != TDC_OK)
            return status;
        builder->depth -= !more;
    }
    return TDC_OK;
}

static tdc_status read_tree(struct tree_builder *builder)
{
    struct tdc_json_cursor *cursor = builder->cursor;
    tdc_status status;
    do {
        tdc_json_pass_space(cursor);
        size_t depth = builder->depth;
        bool container = cursor->at < cursor->end && (*cursor->at == '{' || *cursor->at == '[');
        status = container ? read_container(builder) : read_scalar(builder);
        if (status == TDC_OK && builder->depth == depth)
            status = close_containers(builder);
        builder->key = NULL;
        if (status == TDC_OK && builder->depth > 0 &&
            builder->open[builder->depth - 1].node->kind == TDC_JSON_OBJECT)
            status = read_key(builder);
    } while (status == TDC_OK && builder->depth > 0);
    return status;
}

tdc_status tdc_json_read(struct tdc_json_cursor *cursor, struct tdc_arena *arena,
                         struct tdc_json **value, struct tdc_error *error)
{
    struct tree_builder builder; /* the stack of containers stays unset until used: 24 kB */
    builder.cursor = cursor;
    builder.arena = arena;
    builder.error = error;
    builder.root = NULL;
    builder.key = NULL;
    builder.key_length = 0;
    builder.depth = 0;
    *value = NULL;
    tdc_status status = read_tree(&builder);
    if (status == TDC_OK)
        *value = builder.root;
    return status;
}

const struct tdc_json *tdc_json_get(const struct tdc_json *object, const char *key)
{
    if (object == NULL || object->kind != TDC_JSON_OBJECT)
        return NULL;
    return member_among(object->child, key, strlen(key));
}

bool tdc_json_is_text(const struct tdc_json *value, const char *text)
{
    return value != NULL && value->kind == TDC_JSON_STRING && value->length == strlen(text) &&
           memcmp(value->text, text, value->length) == 0;
}

/* ---- a whole file ------------------------------------------------------------------------------
 */

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
