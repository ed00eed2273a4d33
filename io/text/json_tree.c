#include "io/base/error.h"
#include "io/file/file_map.h"
#include "io/file/mapping_guard.h"
#include "io/text/json_layout.h"
#include "io/text/json_scan.h"
#include "io/base/key_index.h"

/* A container whose closing bracket has not come yet. */
struct open_container {
    struct tdc_json *node;
    struct tdc_json *last;       /* child */
    const char *start;           /* of an object that may be learnt from, else NULL */
    struct tdc_key_index *index; /* of a large object, else NULL */
    uint64_t seen;               /* a bit for each kind of key so far: most keys are told apart */
};

struct tree_builder {
    struct tdc_json_cursor *cursor;
    struct tdc_arena *arena;
    struct tdc_error *error;
    struct tdc_json *root;
    const char *key; /* of the value to come, when inside an object; may be a piece of the input */
    size_t key_length;
    const char *key_end; /* of what may be read from the key on */
    size_t depth;
    struct open_container open[TDC_JSON_MAX_DEPTH];
};

/* Room for a short text: it is copied by one move of so many bytes, whatever its length. */
#define MOVE ((size_t)16)

static size_t room_for(size_t length)
{
    return length < MOVE ? MOVE : length + 1;
}

/* Into room_for(length) bytes; `end`: what may be read from `from` on. */
static void copy_text(char *to, const char *from, size_t length, const char *end)
{
    if (length < MOVE && (size_t)(end - from) >= MOVE)
        memcpy(to, from, MOVE);
    else
        memcpy(to, from, length);
    to[length] = '\0';
}

/* One of 64 bits by what few bytes of a key say. */
static uint64_t bit_of_key(const char *key, size_t length)
{
    unsigned first = length != 0 ? (unsigned char)key[0] : 0;
    unsigned last = length != 0 ? (unsigned char)key[length - 1] : 0;
    return UINT64_C(1) << ((first + 5 * last + 11 * (unsigned)length) % 64);
}

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

/* The node of a key that came before, emptied, with room for text_room bytes at *text; NULL when
 * out of memory. */
static struct tdc_json *place_again(struct tree_builder *builder, struct tdc_json *node,
                                    size_t text_room, char **text)
{
    builder->cursor->repeated++;
    *node = (struct tdc_json){.key = node->key, .key_length = node->key_length, .next = node->next};
    *text = text_room != 0 ? tdc_arena_take(builder->arena, text_room) : NULL;
    return text_room != 0 && *text == NULL ? NULL : node;
}

/* The member of the innermost object that has the key to come; NULL: it is new. */
static struct tdc_json *member_before(struct tree_builder *builder)
{
    struct open_container *object = &builder->open[builder->depth - 1];
    uint64_t bit = bit_of_key(builder->key, builder->key_length), seen = object->seen;
    object->seen |= bit;
    if ((seen & bit) == 0)
        return NULL;
    return (struct tdc_json *)(uintptr_t)find_member(object, builder->key, builder->key_length);
}

/*
 * The node for the value to come, in its place in the tree, with room for text_room bytes at *text.
 * A repeated key gets the node of its first occurrence, emptied. One allocation holds the node, its
 * key and its text.
 */
static struct tdc_json *place_node(struct tree_builder *builder, size_t text_room, char **text)
{
    size_t key_room = 0, room;
    if (builder->key != NULL) {
        struct tdc_json *before = member_before(builder);
        if (before != NULL)
            return place_again(builder, before, text_room, text);
        key_room = room_for(builder->key_length);
    }
    struct tdc_json *node;
    if (__builtin_add_overflow(key_room, text_room, &room) ||
        __builtin_add_overflow(room, sizeof *node, &room))
        return NULL;
    node = tdc_arena_take(builder->arena, room);
    if (node == NULL)
        return NULL;
    *node = (struct tdc_json){0};
    char *after = (char *)(node + 1);
    if (key_room != 0) {
        copy_text(after, builder->key, builder->key_length, builder->key_end);
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
    builder->key_end = builder->cursor->end;
    if (scalar.escaped) {
        char *text = tdc_arena_take(builder->arena, scalar.length);
        if (text == NULL)
            return tdc_json_no_memory(builder->cursor, builder->error);
        builder->key_length = tdc_json_unescape(&scalar, text);
        builder->key = text;
        builder->key_end = text + builder->key_length;
    }
    return TDC_OK;
}

/* ---- objects like others --------------------------------------------------------------------- */

static size_t room_of_value(const struct tdc_json_value *value)
{
    bool has_text = value->kind == TDC_JSON_STRING || value->kind == TDC_JSON_INTEGER ||
                    value->kind == TDC_JSON_FLOAT;
    return has_text ? room_for(value->length) : 0;
}

/* Texts go to *room, which is moved on. */
static void fill_node(struct tdc_json *node, const struct tdc_json_value *value, char **room,
                      const char *end)
{
    *node = (struct tdc_json){.kind = value->kind};
    size_t size = room_of_value(value);
    if (size == 0)
        return;
    copy_text(*room, value->text, value->length, end);
    node->text = *room;
    node->length = value->length;
    *room += size;
    if (value->kind != TDC_JSON_STRING)
        node->number = value->number;
}

/* A node for each value below `object`, all in one piece of memory; false when there is none. */
static bool hang_values(struct tree_builder *builder, struct tdc_json *object,
                        const struct tdc_json_taken *taken)
{
    const struct tdc_json_layout *layout = taken->layout;
    const char *end = builder->cursor->end;
    /* no sum overflows: each text is a piece of the input, and there are few */
    size_t room = (layout->count + taken->element_count) * sizeof *object;
    for (unsigned i = 0; i < layout->count; i++)
        room += room_for(layout->members[i].key_length) + room_of_value(&taken->values[i]);
    for (unsigned i = 0; i < taken->element_count; i++)
        room += room_of_value(&taken->elements[i]);
    struct tdc_json *nodes = tdc_arena_take(builder->arena, room);
    if (nodes == NULL)
        return false;
    struct tdc_json *elements = nodes + layout->count;
    char *texts = (char *)(elements + taken->element_count);
    for (unsigned i = 0; i < taken->element_count; i++) {
        fill_node(&elements[i], &taken->elements[i], &texts, end);
        elements[i].next = &elements[i + 1];
    }
    for (unsigned i = 0; i < layout->count; i++) {
        const struct tdc_json_value *value = &taken->values[i];
        const struct tdc_layout_member *member = &layout->members[i];
        fill_node(&nodes[i], value, &texts, end);
        copy_text(texts, member->key, member->key_length, end);
        nodes[i].key = texts;
        nodes[i].key_length = member->key_length;
        texts += room_for(member->key_length);
        nodes[i].next = i + 1 < layout->count ? &nodes[i + 1] : NULL;
        if (value->kind == TDC_JSON_LIST && value->count != 0) {
            nodes[i].child = &elements[value->first];
            nodes[i].children = value->count;
            elements[value->first + value->count - 1].next = NULL;
        }
    }
    object->kind = TDC_JSON_OBJECT;
    object->child = nodes;
    object->children = layout->count;
    return true;
}

/* At a brace; false, with nothing done, if the object is like none before. */
static bool read_alike(struct tree_builder *builder, tdc_status *status)
{
    struct tdc_json_cursor *cursor = builder->cursor;
    struct tdc_json_taken taken;
    /* it has lists in it, which are one level deeper */
    if (cursor->depth + builder->depth + 2 > TDC_JSON_MAX_DEPTH ||
        !tdc_json_layout_take(cursor, &taken))
        return false;
    char *unused;
    struct tdc_json *node = place_node(builder, 0, &unused);
    cursor->at = taken.end;
    *status = node != NULL && hang_values(builder, node, &taken)
                  ? TDC_OK
                  : tdc_json_no_memory(cursor, builder->error);
    return true;
}

/* ---- all values ------------------------------------------------------------------------------ */

static tdc_status read_container(struct tree_builder *builder)
{
    struct tdc_json_cursor *cursor = builder->cursor;
    bool object = *cursor->at == '{', empty;
    const char *start = cursor->at;
    char *unused;
    tdc_status alike;
    if (object && read_alike(builder, &alike))
        return alike;
    tdc_status status =
        tdc_json_scan_open(cursor, cursor->depth + builder->depth, &empty, builder->error);
    if (status != TDC_OK)
        return status;
    struct tdc_json *node = place_node(builder, 0, &unused);
    if (node == NULL)
        return tdc_json_no_memory(cursor, builder->error);
    node->kind = object ? TDC_JSON_OBJECT : TDC_JSON_LIST;
    if (!empty)
        builder->open[builder->depth++] =
            (struct open_container){.node = node, .start = object ? start : NULL};
    return TDC_OK;
}

/* A number of the common form; false, with nothing done, if it is none. */
static bool read_number(struct tree_builder *builder, tdc_status *status)
{
    struct tdc_json_cursor *cursor = builder->cursor;
    struct tdc_plain_number number;
    const char *raw = cursor->at, *end = tdc_plain_number_read(raw, cursor->end, &number);
    if (end == NULL)
        return false;
    bool minus_zero = number.whole && number.negative && number.value == 0;
    raw += minus_zero; /* Python has no integer -0 */
    size_t length = (size_t)(end - raw);
    char *text;
    struct tdc_json *node = place_node(builder, room_for(length), &text);
    *status = node != NULL ? TDC_OK : tdc_json_no_memory(cursor, builder->error);
    if (node == NULL)
        return true;
    node->kind = number.whole ? TDC_JSON_INTEGER : TDC_JSON_FLOAT;
    node->number = minus_zero ? 0 : number.value;
    copy_text(text, raw, length, cursor->end);
    node->text = text;
    node->length = length;
    cursor->at = end;
    return true;
}

static tdc_status read_scalar(struct tree_builder *builder)
{
    struct tdc_json_scalar scalar;
    tdc_status status = TDC_OK;
    struct tdc_json_cursor *cursor = builder->cursor;
    if (cursor->at < cursor->end && *cursor->at <= '9' && read_number(builder, &status))
        return status;
    status = tdc_json_scan_scalar(cursor, &scalar, builder->error);
    if (status != TDC_OK)
        return status;
    bool has_text = scalar.kind == TDC_JSON_STRING || scalar.kind == TDC_JSON_INTEGER ||
                    scalar.kind == TDC_JSON_FLOAT;
    char *text;
    struct tdc_json *node = place_node(builder, has_text ? room_for(scalar.length) : 0, &text);
    if (node == NULL)
        return tdc_json_no_memory(cursor, builder->error);
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
        raw++;
        length--;
        node->number = 0;
    }
    if (scalar.kind == TDC_JSON_STRING && scalar.escaped) {
        length = tdc_json_unescape(&scalar, text);
        text[length] = '\0';
    } else {
        copy_text(text, raw, length, cursor->end);
    }
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
        if (!more) {
            struct open_container *closed = &builder->open[--builder->depth];
            if (closed->start != NULL && closed->node->children <= TDC_LAYOUT_MEMBERS)
                tdc_json_layout_learn(builder->cursor, closed->start);
        }
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
