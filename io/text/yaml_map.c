#include "io/text/yaml_map.h"
#include "io/base/error.h"
#include "io/file/file_map.h"
#include "io/base/key_index.h"
#include "io/base/utf8_step.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define MAX_DEPTH 64
#define MAX_NODES ((size_t)10 * 1000 * 1000)
#define MAX_FILE  ((size_t)1 << 30)

struct open_container {
    struct tdc_yaml *node;
    struct tdc_yaml *last;       /* child */
    struct tdc_key_index *index; /* of a large map, else NULL */
    const char *key;             /* read, its value is still to come; else NULL */
    unsigned key_line;
};

struct yaml_builder {
    const char *name;
    struct tdc_arena *arena;
    struct tdc_error *error;
    struct tdc_yaml *root;
    size_t nodes;
    size_t documents;
    size_t depth;
    struct open_container open[MAX_DEPTH];
};

static unsigned line_of(const yaml_mark_t *mark)
{
    return (unsigned)mark->line + 1;
}

static tdc_status wrong(const struct yaml_builder *builder, tdc_status status, unsigned line,
                        const char *what)
{
    return tdc_fail(builder->error, status, "%s:%u: %s", builder->name, line, what);
}

static tdc_status no_memory(const struct yaml_builder *builder)
{
    return tdc_fail(builder->error, TDC_ERR_MEMORY, "%s: too large for the memory limit",
                    builder->name);
}

static const char *key_of(const void *member, size_t *length)
{
    const struct tdc_yaml *node = member;
    *length = strlen(node->key);
    return node->key;
}

static const struct tdc_yaml *find_member(const struct open_container *map, const char *key)
{
    if (map->index != NULL)
        return tdc_key_index_find(map->index, key, strlen(key));
    for (const struct tdc_yaml *node = map->node->child; node != NULL; node = node->next)
        if (strcmp(node->key, key) == 0)
            return node;
    return NULL;
}

static bool index_member(struct open_container *map, struct tdc_arena *arena,
                         const struct tdc_yaml *member)
{
    if (map->node->children <= TDC_KEY_INDEX_FROM)
        return true;
    if (map->index != NULL)
        return tdc_key_index_add(map->index, arena, member);
    map->index = tdc_key_index_new(arena, key_of);
    if (map->index == NULL)
        return false;
    for (const struct tdc_yaml *node = map->node->child; node != NULL; node = node->next)
        if (!tdc_key_index_add(map->index, arena, node))
            return false;
    return true;
}

/* A new node as the value of the pending key, the next element, or the root. */
static struct tdc_yaml *place_node(struct yaml_builder *builder, enum tdc_yaml_kind kind,
                                   unsigned line)
{
    struct tdc_yaml *node = tdc_arena_zeroed(builder->arena, 1, sizeof *node);
    if (node == NULL)
        return NULL;
    node->kind = kind;
    node->line = line;
    if (builder->depth == 0) {
        builder->root = node;
        return node;
    }
    struct open_container *parent = &builder->open[builder->depth - 1];
    node->key = parent->key;
    node->key_line = parent->key_line;
    parent->key = NULL;
    parent->key_line = 0;
    if (parent->last == NULL)
        parent->node->child = node;
    else
        parent->last->next = node;
    parent->last = node;
    parent->node->children++;
    if (parent->node->kind == TDC_YAML_MAP && !index_member(parent, builder->arena, node))
        return NULL;
    return node;
}

static tdc_status count_node(struct yaml_builder *builder, unsigned line)
{
    if (++builder->nodes <= MAX_NODES)
        return TDC_OK;
    return wrong(builder, TDC_ERR_MEMORY, line, "more than 10 million values");
}

static bool expects_key(const struct yaml_builder *builder)
{
    if (builder->depth == 0)
        return false;
    const struct open_container *parent = &builder->open[builder->depth - 1];
    return parent->node->kind == TDC_YAML_MAP && parent->key == NULL;
}

static tdc_status add_key(struct yaml_builder *builder, const char *key, unsigned line)
{
    struct open_container *map = &builder->open[builder->depth - 1];
    const struct tdc_yaml *other = find_member(map, key);
    if (other != NULL)
        return tdc_fail(builder->error, TDC_ERR_FORMAT,
                        "%s:%u: key '%.200s' was given before, in line %u", builder->name, line,
                        key, other->key_line);
    map->key = key;
    map->key_line = line;
    return TDC_OK;
}

static bool is_null_text(const char *text)
{
    return text[0] == '\0' || strcmp(text, "~") == 0 || strcmp(text, "null") == 0 ||
           strcmp(text, "Null") == 0 || strcmp(text, "NULL") == 0;
}

static tdc_status refuse_marks(const struct yaml_builder *builder, unsigned line,
                               const yaml_char_t *anchor, const yaml_char_t *tag)
{
    if (anchor != NULL)
        return wrong(builder, TDC_ERR_UNSUPPORTED, line, "anchors (&) are not supported");
    if (tag != NULL)
        return wrong(builder, TDC_ERR_UNSUPPORTED, line, "tags (!) are not supported");
    return TDC_OK;
}

/* A copy in which NUL is TDC_UTF8_NUL, as in the names of dumps. */
static const char *keep_text(struct tdc_arena *arena, const char *value, size_t length)
{
    size_t nuls = 0;
    for (size_t i = 0; i < length; i++)
        nuls += value[i] == '\0';
    if (nuls == 0)
        return tdc_arena_text(arena, value, length);
    char *copy = tdc_arena_take(arena, length + nuls + 1), *to = copy;
    for (size_t i = 0; copy != NULL && i < length; i++) {
        if (value[i] == '\0')
            to = mempcpy(to, TDC_UTF8_NUL, 2);
        else
            *to++ = value[i];
    }
    if (copy != NULL)
        *to = '\0';
    return copy;
}

static tdc_status add_scalar(struct yaml_builder *builder, const yaml_event_t *event)
{
    unsigned line = line_of(&event->start_mark);
    const char *value = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    tdc_status status =
        refuse_marks(builder, line, event->data.scalar.anchor, event->data.scalar.tag);
    if (status != TDC_OK)
        return status;
    const char *text = keep_text(builder->arena, value, length);
    if (text == NULL)
        return no_memory(builder);
    if (expects_key(builder))
        return add_key(builder, text, line);
    status = count_node(builder, line);
    if (status != TDC_OK)
        return status;
    struct tdc_yaml *node = place_node(builder, TDC_YAML_SCALAR, line);
    if (node == NULL)
        return no_memory(builder);
    node->text = text;
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    node->is_null = !node->quoted && is_null_text(text);
    return TDC_OK;
}

static tdc_status open_container(struct yaml_builder *builder, enum tdc_yaml_kind kind,
                                 const yaml_event_t *event)
{
    unsigned line = line_of(&event->start_mark);
    bool map = kind == TDC_YAML_MAP;
    tdc_status status = refuse_marks(
        builder, line, map ? event->data.mapping_start.anchor : event->data.sequence_start.anchor,
        map ? event->data.mapping_start.tag : event->data.sequence_start.tag);
    if (status == TDC_OK)
        status = count_node(builder, line);
    if (status != TDC_OK)
        return status;
    if (expects_key(builder))
        return wrong(builder, TDC_ERR_UNSUPPORTED, line, "a list or map as a key");
    if (builder->depth == MAX_DEPTH)
        return wrong(builder, TDC_ERR_UNSUPPORTED, line, "nested deeper than 64");
    struct tdc_yaml *node = place_node(builder, kind, line);
    if (node == NULL)
        return no_memory(builder);
    builder->open[builder->depth++] = (struct open_container){.node = node};
    return TDC_OK;
}

static tdc_status take_event(struct yaml_builder *builder, const yaml_event_t *event)
{
    unsigned line = line_of(&event->start_mark);
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (builder->documents++ > 0)
            return wrong(builder, TDC_ERR_UNSUPPORTED, line, "a second document begins");
        return TDC_OK;
    case YAML_ALIAS_EVENT:
        return wrong(builder, TDC_ERR_UNSUPPORTED, line, "aliases (*) are not supported");
    case YAML_SCALAR_EVENT:
        return add_scalar(builder, event);
    case YAML_SEQUENCE_START_EVENT:
        return open_container(builder, TDC_YAML_LIST, event);
    case YAML_MAPPING_START_EVENT:
        return open_container(builder, TDC_YAML_MAP, event);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        builder->depth -= builder->depth != 0;
        return TDC_OK;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        return TDC_OK;
    }
    return TDC_OK;
}

static tdc_status report(const struct yaml_builder *builder, const yaml_parser_t *parser)
{
    const char *problem = parser->problem != NULL ? parser->problem : "malformed yaml";
    if (parser->error == YAML_MEMORY_ERROR)
        return no_memory(builder);
    if (parser->error == YAML_READER_ERROR)
        return tdc_fail(builder->error, TDC_ERR_FORMAT, "%s:%u: %s (byte %zu)", builder->name,
                        line_of(&parser->mark), problem, parser->problem_offset);
    return wrong(builder, TDC_ERR_FORMAT, line_of(&parser->problem_mark), problem);
}

tdc_status tdc_yaml_parse(const char *bytes, size_t size, const char *name, struct tdc_arena *arena,
                          struct tdc_yaml **root, struct tdc_error *error)
{
    struct yaml_builder builder = {.name = name, .arena = arena, .error = error};
    *root = NULL;
    if (size > MAX_FILE)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: larger than 1 GiB", name);
    yaml_parser_t parser;
    if (yaml_parser_initialize(&parser) == 0)
        return no_memory(&builder);
    yaml_parser_set_input_string(&parser, (const unsigned char *)(size != 0 ? bytes : ""), size);
    tdc_status status = TDC_OK;
    bool done = false;
    while (status == TDC_OK && !done) {
        yaml_event_t event;
        if (yaml_parser_parse(&parser, &event) == 0) {
            status = report(&builder, &parser);
            break;
        }
        status = take_event(&builder, &event);
        done = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    if (status == TDC_OK)
        *root = builder.root;
    return status;
}

tdc_status tdc_yaml_load(const char *path, struct tdc_arena *arena, struct tdc_yaml **root,
                         struct tdc_error *error)
{
    char *bytes;
    size_t size;
    *root = NULL;
    tdc_status status = tdc_file_load(path, MAX_FILE, &bytes, &size, error);
    if (status == TDC_OK)
        status = tdc_yaml_parse(bytes, size, path, arena, root, error);
    free(bytes);
    return status;
}
