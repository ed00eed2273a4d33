/* Dims texts: whatever is read has names, and every step of a leaf is a range or a join. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/align/rules/dims.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool fact)
{
    if (!fact)
        abort();
}

static void check_leaf(const struct tdc_leaf *leaf)
{
    require(leaf->name != NULL && leaf->name[0] != '\0');
    for (size_t i = 0; i < leaf->step_count; i++)
        require((leaf->steps[i].range != NULL) != (leaf->steps[i].join.count != 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tdc_arena arena;
    char problem[TDC_DIMS_TEXT], *text = malloc(size + 1);
    require(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    tdc_arena_init(&arena, (size_t)64 << 20);
    const struct tdc_dims *dims = tdc_dims_parse(&arena, text, problem);
    require(dims != NULL || problem[0] != '\0' || arena.refused);
    for (size_t i = 0; dims != NULL && i < dims->axis_count; i++) {
        require(dims->axes[i].one == (dims->axes[i].leaf_count == 0));
        for (size_t k = 0; k < dims->axes[i].leaf_count; k++)
            check_leaf(&dims->axes[i].leaves[k]);
    }
    tdc_arena_free(&arena);
    free(text);
    return 0;
}
