#include "host/graph/graph_text.h"

#include <string.h>

#include "io/base/error.h"
#include "io/base/text.h"
#include "io/file/file_map.h"
#include "io/file/mapping_guard.h"

#define DEPTH_LIMIT  200u              /* of nested messages */
#define STRING_LIMIT ((size_t)1 << 20) /* of a name or a value that is looked at */

enum token {
    END,
    WORD, /* a name, a number, true: no difference is made */
    STRING,
    OPEN,  /* { or < */
    CLOSE, /* } or > */
    COLON,
    OPEN_LIST,
    CLOSE_LIST,
    SEPARATOR, /* , or ; */
    BAD
};

/* What the message under way is, by the way to it; anything else is passed over. */
enum place {
    TOP,
    OP,
    OUTPUT,
    ATTRIBUTE,
    VALUE,
    ELSEWHERE
};

struct reader {
    struct tdc_arena *arena;
    const char *at, *end;
    unsigned line;
    enum token token;
    const char *word; /* WORD: in the text */
    size_t word_length;
    struct tdc_text string; /* STRING: without quotes and escapes */
    struct tdc_graph *graph;
    size_t capacity; /* of graph->ops */
    /* of the operator under way */
    struct tdc_graph_op op;
    size_t input_room, node_room;
    /* of the attribute under way */
    bool names_tensor;
    const char *value;
    const char *problem; /* of a text that is none */
    bool out_of_memory;
};

/* ---- tokens ---------------------------------------------------------------------------------- */

static void skip_blanks(struct reader *reader)
{
    while (reader->at < reader->end) {
        char c = *reader->at;
        if (c == '#') {
            const char *line_end = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
            reader->at = line_end != NULL ? line_end : reader->end;
            continue;
        }
        if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
            return;
        reader->line += c == '\n';
        reader->at++;
    }
}

static int digit_of(char c, int base)
{
    int value = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : 99;
    return value < base ? value : -1;
}

/* Up to `most` digits behind an escape; a byte of 0 would end the name it is part of. */
static void take_code(struct reader *reader, int base, unsigned most)
{
    unsigned value = 0;
    for (unsigned i = 0; i < most && reader->at < reader->end; i++, reader->at++) {
        int digit = digit_of(*reader->at, base);
        if (digit < 0)
            break;
        value = value * (unsigned)base + (unsigned)digit;
    }
    value &= 0xff;
    tdc_text_addc(&reader->string, value != 0 ? (char)value : '?');
}

static void take_escape(struct reader *reader)
{
    static const char letters[] = "abfnrtv", meanings[] = "\a\b\f\n\r\t\v";
    if (reader->at == reader->end)
        return;
    char c = *reader->at;
    const char *letter = c != '\0' ? strchr(letters, c) : NULL;
    if (digit_of(c, 8) >= 0) {
        take_code(reader, 8, 3);
    } else if (c == 'x' || c == 'X') {
        reader->at++;
        take_code(reader, 16, 2);
    } else {
        tdc_text_addc(&reader->string, letter != NULL ? meanings[letter - letters] : c);
        reader->at++;
    }
}

/* Too long a string is cut: nothing that matters is that long. */
static bool take_string(struct reader *reader)
{
    char quote = *reader->at++;
    while (reader->at < reader->end && *reader->at != quote) {
        char c = *reader->at++;
        if (c == '\n')
            return false;
        if (c == '\\')
            take_escape(reader);
        else
            tdc_text_addc(&reader->string, c != '\0' ? c : '?');
    }
    if (reader->at == reader->end)
        return false;
    reader->at++;
    return true;
}

static bool ends_word(char c)
{
    return strchr(" \t\r\n{}<>[]:;,\"'#", c) != NULL; /* and '\0' */
}

static enum token punctuation(char c)
{
    switch (c) {
    case '{':
    case '<':
        return OPEN;
    case '}':
    case '>':
        return CLOSE;
    case ':':
        return COLON;
    case '[':
        return OPEN_LIST;
    case ']':
        return CLOSE_LIST;
    case ',':
    case ';':
        return SEPARATOR;
    default:
        return BAD;
    }
}

static void next(struct reader *reader)
{
    skip_blanks(reader);
    if (reader->at == reader->end) {
        reader->token = END;
        return;
    }
    char c = *reader->at;
    if (c == '"' || c == '\'') {
        tdc_text_clear(&reader->string);
        reader->token = STRING;
        do { /* neighbours are one */
            if (!take_string(reader))
                reader->token = BAD;
            skip_blanks(reader);
        } while (reader->token == STRING && reader->at < reader->end &&
                 (*reader->at == '"' || *reader->at == '\''));
        if (reader->string.failed && reader->string.length < STRING_LIMIT / 2)
            reader->out_of_memory = true;
        return;
    }
    if (ends_word(c)) {
        reader->token = punctuation(c);
        reader->at++;
        return;
    }
    reader->token = WORD;
    reader->word = reader->at;
    while (reader->at < reader->end && !ends_word(*reader->at))
        reader->at++;
    reader->word_length = (size_t)(reader->at - reader->word);
}

static bool word_is(const struct reader *reader, const char *word)
{
    return reader->word_length == strlen(word) &&
           memcmp(reader->word, word, reader->word_length) == 0;
}

/* ---- what is kept ---------------------------------------------------------------------------- */

static const char *keep(struct reader *reader, const char *text, size_t length)
{
    char *kept = tdc_arena_text(reader->arena, text, length);
    reader->out_of_memory |= kept == NULL;
    return kept;
}

/* As in the names of dump files. */
static const char *keep_name(struct reader *reader, const char *text, size_t length)
{
    char *name = tdc_arena_text(reader->arena, text, length);
    reader->out_of_memory |= name == NULL;
    for (char *at = name; at != NULL && *at != '\0'; at++)
        if (*at == ' ' || *at == '.' || *at == '/' || *at == '\\')
            *at = '_';
    return name;
}

/* A list twice as long, in the arena, which forgets nothing until the end. */
static void *grown(struct reader *reader, const void *old, size_t count, size_t size, size_t *room)
{
    size_t wanted = *room == 0 ? 4 : *room * 2;
    void *list = tdc_arena_zeroed(reader->arena, wanted, size);
    if (list == NULL) {
        reader->out_of_memory = true;
        return NULL;
    }
    if (count != 0)
        memcpy(list, old, count * size);
    *room = wanted;
    return list;
}

static void add_text(struct reader *reader, const char ***list, size_t *count, size_t *room,
                     const char *text)
{
    if (text == NULL)
        return;
    if (*count == *room) {
        const char **longer = grown(reader, *list, *count, sizeof *longer, room);
        if (longer == NULL)
            return;
        *list = longer;
    }
    (*list)[(*count)++] = text;
}

/* "MatMulV2:0" was made by MatMulV2. */
static void add_input(struct reader *reader)
{
    const char *text = tdc_text_get(&reader->string), *colon = strrchr(text, ':');
    add_text(reader, &reader->op.inputs, &reader->op.input_count, &reader->input_room,
             keep_name(reader, text, colon != NULL ? (size_t)(colon - text) : 0));
}

/* "mm-aten.mm.default.OUTPUT.0" belongs to the node "mm-aten.mm.default". */
static void add_node(struct reader *reader)
{
    static const char marker[] = ".OUTPUT.";
    const char *text = reader->value, *last = NULL;
    for (const char *at = strstr(text, marker); at != NULL; at = strstr(at + 1, marker))
        last = at;
    size_t length = strlen(text);
    if (last != NULL && strchr(last + sizeof marker - 1, '.') == NULL)
        length = (size_t)(last - text);
    for (size_t i = 0; i < reader->op.node_count; i++)
        if (strlen(reader->op.nodes[i]) == length && memcmp(reader->op.nodes[i], text, length) == 0)
            return;
    add_text(reader, &reader->op.nodes, &reader->op.node_count, &reader->node_room,
             keep(reader, text, length));
}

static void add_op(struct reader *reader)
{
    struct tdc_graph *graph = reader->graph;
    const char *name = reader->op.name;
    bool fresh;
    if (name == NULL || reader->out_of_memory)
        return;
    if (graph->count == reader->capacity) {
        struct tdc_graph_op *ops =
            grown(reader, graph->ops, graph->count, sizeof *ops, &reader->capacity);
        if (ops == NULL)
            return;
        graph->ops = ops;
    }
    uint32_t number = tdc_names_put(&graph->names, name, strlen(name), &fresh);
    if (number == TDC_NAME_NONE) {
        reader->out_of_memory = true;
        return;
    }
    graph->ops[number] = reader->op;
    graph->count += fresh;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Which message a field of another opens. */
static enum place inside(const struct reader *reader, enum place place)
{
    if (place == TOP && word_is(reader, "op"))
        return OP;
    if (place == OP && word_is(reader, "output_desc"))
        return OUTPUT;
    if (place == OUTPUT && word_is(reader, "attr"))
        return ATTRIBUTE;
    if (place == ATTRIBUTE && word_is(reader, "value"))
        return VALUE;
    return ELSEWHERE;
}

static void begin_message(struct reader *reader, enum place place)
{
    if (place == OP) {
        reader->op = (struct tdc_graph_op){0};
        reader->input_room = reader->node_room = 0;
    } else if (place == ATTRIBUTE) {
        reader->names_tensor = false;
        reader->value = NULL;
    }
}

static void end_message(struct reader *reader, enum place place)
{
    if (place == OP)
        add_op(reader);
    else if (place == ATTRIBUTE && reader->names_tensor && reader->value != NULL)
        add_node(reader);
}

/* Fields whose strings are looked at. */
enum field {
    ANY_FIELD,
    OP_NAME,
    OP_INPUT,
    ATTRIBUTE_KEY,
    VALUE_STRING
};

static enum field field_of(const struct reader *reader, enum place place)
{
    if (place == OP && word_is(reader, "name"))
        return OP_NAME;
    if (place == OP && word_is(reader, "input"))
        return OP_INPUT;
    if (place == ATTRIBUTE && word_is(reader, "key"))
        return ATTRIBUTE_KEY;
    return place == VALUE && word_is(reader, "s") ? VALUE_STRING : ANY_FIELD;
}

static void take_field(struct reader *reader, enum field field)
{
    const char *text = tdc_text_get(&reader->string);
    if (field == OP_NAME)
        reader->op.name = keep_name(reader, text, strlen(text));
    else if (field == OP_INPUT)
        add_input(reader);
    else if (field == ATTRIBUTE_KEY)
        reader->names_tensor = strcmp(text, "_fx_tensor_name") == 0;
    else if (field == VALUE_STRING)
        reader->value = keep(reader, text, strlen(text));
}

/* ---- the text -------------------------------------------------------------------------------- */

/* Messages under way, outermost first. Lists count as messages of no interest. */
struct way {
    enum place places[DEPTH_LIMIT];
    bool lists[DEPTH_LIMIT];
    unsigned depth;
};

static bool enter(struct reader *reader, struct way *way, enum place place, bool list)
{
    if (way->depth == DEPTH_LIMIT) {
        reader->problem = "nested too deeply";
        return false;
    }
    way->lists[way->depth] = list;
    way->places[way->depth++] = place;
    begin_message(reader, place);
    next(reader);
    return true;
}

static bool leave(struct reader *reader, struct way *way)
{
    if (way->depth == 0 || way->lists[way->depth - 1] != (reader->token == CLOSE_LIST)) {
        reader->problem = "a bracket too many";
        return false;
    }
    end_message(reader, way->places[--way->depth]);
    next(reader);
    return true;
}

/* What stands behind the name of a field. */
static bool take_value(struct reader *reader, struct way *way, enum place opened, enum field field)
{
    bool colon = reader->token == COLON;
    if (colon)
        next(reader);
    if (reader->token == OPEN)
        return enter(reader, way, opened, false);
    if (reader->token == OPEN_LIST)
        return enter(reader, way, ELSEWHERE, true);
    if (!colon || (reader->token != STRING && reader->token != WORD)) {
        reader->problem =
            reader->token == BAD ? "a string without an end" : "a field without a value";
        return false;
    }
    if (reader->token == STRING)
        take_field(reader, field);
    next(reader);
    return true;
}

static bool take_step(struct reader *reader, struct way *way)
{
    enum place place = way->depth != 0 ? way->places[way->depth - 1] : TOP;
    bool list = way->depth != 0 && way->lists[way->depth - 1];
    if (reader->token == CLOSE || reader->token == CLOSE_LIST)
        return leave(reader, way);
    if (reader->token == SEPARATOR ||
        (list && (reader->token == WORD || reader->token == STRING))) {
        next(reader);
        return true;
    }
    if (list && (reader->token == OPEN || reader->token == OPEN_LIST))
        return enter(reader, way, ELSEWHERE, reader->token == OPEN_LIST);
    if (reader->token == OPEN_LIST && way->depth != 0) { /* [name.of.an.extension] { ... } */
        while (reader->token != CLOSE_LIST && reader->token != END && reader->token != BAD)
            next(reader);
        reader->word_length = 0;
    } else if (reader->token != WORD) {
        reader->problem = reader->token == BAD ? "a string without an end" : "no name of a field";
        return false;
    }
    enum place opened = inside(reader, place);
    enum field field = field_of(reader, place);
    next(reader);
    return take_value(reader, way, opened, field);
}

static void read_all(struct reader *reader)
{
    struct way way;
    way.depth = 0;
    next(reader);
    while (reader->token != END && !reader->out_of_memory)
        if (!take_step(reader, &way))
            return;
    if (way.depth != 0)
        reader->problem = "the text ends inside a message";
}

tdc_status tdc_graph_parse(struct tdc_arena *arena, const char *text, size_t length,
                           const char *name, struct tdc_graph *graph, struct tdc_error *error)
{
    struct reader reader = {
        .arena = arena, .at = text, .end = text + length, .line = 1, .graph = graph};
    *graph = (struct tdc_graph){0};
    tdc_names_init(&graph->names);
    tdc_text_init(&reader.string, STRING_LIMIT);
    read_all(&reader);
    tdc_text_free(&reader.string);
    if (reader.out_of_memory)
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", name);
    if (reader.problem != NULL)
        return tdc_fail(error, TDC_ERR_FORMAT, "%s: bad graph text, line %u: %s", name, reader.line,
                        reader.problem);
    return TDC_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

struct loading {
    struct tdc_arena *arena;
    const struct tdc_file_map *map;
    char *copy;
};

static void copy_text(void *argument)
{
    struct loading *loading = argument;
    memcpy(loading->copy, loading->map->data, loading->map->size);
}

tdc_status tdc_graph_load(struct tdc_arena *arena, const char *path, struct tdc_graph *graph,
                          struct tdc_error *error)
{
    struct tdc_file_map map;
    *graph = (struct tdc_graph){0};
    tdc_names_init(&graph->names);
    tdc_status status = tdc_file_map_open(path, &map, error);
    if (status != TDC_OK)
        return status;
    struct loading loading = {arena, &map, tdc_arena_take(arena, map.size)};
    if (loading.copy == NULL) {
        status = tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    } else if (!tdc_guard_begin()) {
        status = tdc_fail(error, TDC_ERR_SYSTEM, "cannot install a signal handler");
    } else {
        if (map.size != 0 && !tdc_guarded_read(copy_text, &loading))
            status = tdc_fail(error, TDC_ERR_CHANGED, "%s: changed while it was read", path);
        tdc_guard_end();
    }
    if (status == TDC_OK)
        status = tdc_graph_parse(arena, loading.copy, map.size, path, graph, error);
    tdc_file_map_close(&map);
    return status;
}

void tdc_graph_free(struct tdc_graph *graph)
{
    tdc_names_free(&graph->names);
    *graph = (struct tdc_graph){0};
}

const struct tdc_graph_op *tdc_graph_find(const struct tdc_graph *graph, const char *name,
                                          size_t length)
{
    uint32_t number = tdc_names_find(&graph->names, name, length);
    return number != TDC_NAME_NONE ? &graph->ops[number] : NULL;
}
