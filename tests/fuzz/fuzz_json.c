/* The JSON reader three ways - tree, skip, cursor - which must agree, and Python's str of the tree,
 * which must be whole. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/text/json.h"
#include "io/text/pytext.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LIMIT ((size_t)64 << 20)

static void require(bool fact)
{
    if (!fact)
        abort();
}

static void check_node(const struct tdc_json *node, bool in_object)
{
    require((node->key != NULL) == in_object);
    if (in_object)
        require(node->key[node->key_length] == '\0');
    if (node->text != NULL)
        require(node->text[node->length] == '\0');
    if (node->kind == TDC_JSON_FLOAT && node->text[0] != 'N' && node->text[0] != 'I' &&
        node->text[0] != '-') {
        double again;
        require(tdc_float_parse(node->text, node->length, &again));
        require(memcmp(&again, &node->number, sizeof again) == 0);
        char text[TDC_FLOAT_TEXT];
        require(strtod(node->text, NULL) == node->number);
        require(tdc_float_repr(node->number, text) < sizeof text);
        require(strtod(text, NULL) == node->number);
        require(tdc_float_g16(node->number, text) < sizeof text);
    }
}

/* Trees of the reader are at most TDC_JSON_MAX_DEPTH deep. */
static void check_tree(const struct tdc_json *value, bool in_object)
{
    check_node(value, in_object);
    size_t children = 0;
    for (const struct tdc_json *node = value->child; node != NULL; node = node->next, children++)
        check_tree(node, value->kind == TDC_JSON_OBJECT);
    require(children == value->children);
}

/* Walks into every object whose key begins with a letter up to m, reads the others as trees. */
static tdc_status walk(struct tdc_json_cursor *cursor, struct tdc_arena *arena, int depth)
{
    if (tdc_json_peek(cursor) != TDC_JSON_OBJECT)
        return tdc_json_skip(cursor, NULL);
    tdc_status status = tdc_json_enter(cursor, NULL);
    bool first = true;
    while (status == TDC_OK) {
        const char *key;
        size_t length;
        status = tdc_json_member(cursor, &first, arena, &key, &length, NULL);
        if (status != TDC_OK || key == NULL)
            break;
        require(key[length] == '\0');
        struct tdc_json *value;
        if (key[0] <= 'm' && depth < 900)
            status = walk(cursor, arena, depth + 1);
        else
            status = tdc_json_read(cursor, arena, &value, NULL);
    }
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct tdc_json_cursor cursor;
    struct tdc_arena arena;
    struct tdc_error error = {0};
    struct tdc_json *value;
    tdc_arena_init(&arena, LIMIT);
    tdc_json_start(&cursor, "f", bytes, size);
    tdc_status read = tdc_json_read(&cursor, &arena, &value, &error);
    const char *end = cursor.at;
    require((read == TDC_OK) == (value != NULL));
    require(read == TDC_OK || (error.status == read && error.message[0] != '\0'));
    tdc_json_start(&cursor, "f", bytes, size);
    tdc_status skipped = tdc_json_skip(&cursor, NULL);
    require(read == TDC_ERR_MEMORY || (skipped == read && cursor.at == end));
    if (value != NULL) {
        check_tree(value, false);
        struct tdc_text text;
        tdc_text_init(&text, LIMIT);
        tdc_pytext_str(&text, value);
        require(!text.failed);
        tdc_text_free(&text);
    }
    tdc_arena_reset(&arena);
    tdc_json_start(&cursor, "f", bytes, size);
    tdc_status walked = walk(&cursor, &arena, 0);
    require(read == TDC_ERR_MEMORY || walked == TDC_ERR_MEMORY || walked == read);
    tdc_json_finish(&cursor, &error);
    tdc_arena_free(&arena);
    return 0;
}
