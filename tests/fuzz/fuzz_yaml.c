/* Mapping files: whatever comes out is a tree with keys, lines and texts in place. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/text/yaml_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool fact)
{
    if (!fact)
        abort();
}

/* At most 64 deep. */
static void check_tree(const struct tdc_yaml *value, bool in_map)
{
    require((value->key != NULL) == in_map);
    require(value->line > 0 && (value->key_line > 0) == in_map);
    require((value->text != NULL) == (value->kind == TDC_YAML_SCALAR));
    require(!value->is_null || !value->quoted);
    size_t children = 0;
    for (const struct tdc_yaml *node = value->child; node != NULL; node = node->next, children++) {
        check_tree(node, value->kind == TDC_YAML_MAP);
        if (node->key != NULL && node->next != NULL)
            require(strcmp(node->key, node->next->key) != 0);
    }
    require(children == value->children);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tdc_arena arena;
    struct tdc_error error = {0};
    struct tdc_yaml *root;
    tdc_arena_init(&arena, (size_t)16 << 20);
    tdc_status status = tdc_yaml_parse((const char *)data, size, "f", &arena, &root, &error);
    require(status == TDC_OK || (root == NULL && error.status == status));
    if (root != NULL)
        check_tree(root, false);
    tdc_arena_free(&arena);
    return 0;
}
