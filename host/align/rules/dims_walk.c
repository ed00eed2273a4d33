/* dims_walk.c - questions about dims that were read. */
#include <stdio.h>
#include <string.h>

#include "host/align/rules/dims.h"

struct tdc_dims *tdc_dims_plain(struct tdc_arena *arena, unsigned dimensions)
{
    struct tdc_dims *dims = tdc_arena_zeroed(arena, 1, sizeof *dims);
    struct tdc_dims_axis *axes = tdc_arena_zeroed(arena, dimensions + 1, sizeof *axes);
    struct tdc_leaf *leaves = tdc_arena_zeroed(arena, dimensions + 1, sizeof *leaves);
    if (dims == NULL || axes == NULL || leaves == NULL)
        return NULL;
    *dims = (struct tdc_dims){
        .text = "", .axes = axes, .axis_count = dimensions, .stored_count = dimensions};
    for (unsigned i = 0; i < dimensions; i++) {
        char name[16];
        snprintf(name, sizeof name, "d%u", i);
        axes[i] = (struct tdc_dims_axis){.leaves = &leaves[i], .leaf_count = 1};
        leaves[i].name = axes[i].text = tdc_arena_text(arena, name, strlen(name));
        if (leaves[i].name == NULL)
            return NULL;
    }
    return dims;
}

size_t tdc_dims_open_leaves(const struct tdc_dims_axis *axis)
{
    size_t open = 0;
    for (size_t i = 0; i < axis->leaf_count; i++)
        open += axis->leaves[i].size.length == 0 && !axis->leaves[i].fresh;
    return open;
}

bool tdc_dims_has_leaf(const struct tdc_dims *dims, const char *name)
{
    for (size_t i = 0; i < dims->axis_count; i++)
        for (size_t k = 0; k < dims->axes[i].leaf_count; k++)
            if (strcmp(dims->axes[i].leaves[k].name, name) == 0)
                return true;
    return false;
}

static bool visit_list(const struct tdc_join_list *list, tdc_join_visit visit, void *context)
{
    for (size_t i = 0; i < list->count; i++)
        if (!visit(context, &list->parts[i]))
            return false;
    return true;
}

bool tdc_dims_each_join(const struct tdc_dims *dims, tdc_join_visit visit, void *context)
{
    for (size_t i = 0; i < dims->axis_count; i++) {
        const struct tdc_dims_axis *axis = &dims->axes[i];
        for (size_t k = 0; k < axis->leaf_count; k++)
            for (size_t s = 0; s < axis->leaves[k].step_count; s++)
                if (!visit_list(&axis->leaves[k].steps[s].join, visit, context))
                    return false;
        if (!visit_list(&axis->whole, visit, context))
            return false;
    }
    return true;
}
