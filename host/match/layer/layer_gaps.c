#include "host/match/layer/layer_gaps.h"

#include <stdlib.h>
#include <string.h>

/* Names above the layer that are shown. */
#define SHOWN_LEVELS 64

void tdc_layer_gaps_init(struct tdc_layer_gaps *gaps, const struct tdc_layer_side *bench,
                         struct tdc_arena *arena)
{
    *gaps = (struct tdc_layer_gaps){.bench = bench, .arena = arena};
    tdc_names_init(&gaps->known);
    tdc_text_init(&gaps->key, (size_t)1 << 24);
    tdc_text_init(&gaps->text, (size_t)1 << 24);
}

void tdc_layer_gaps_free(struct tdc_layer_gaps *gaps)
{
    tdc_names_free(&gaps->known);
    tdc_text_free(&gaps->key);
    tdc_text_free(&gaps->text);
    free(gaps->texts);
}

static void put_layer(struct tdc_layer_gaps *gaps, uint32_t node)
{
    const struct tdc_layer_node *nodes = gaps->bench->nodes;
    uint32_t path[SHOWN_LEVELS];
    size_t count = 0;
    if (node == TDC_LAYER_ROOT) {
        tdc_text_adds(&gaps->text, "the ref network");
        return;
    }
    for (; node != TDC_LAYER_ROOT && count < SHOWN_LEVELS; node = nodes[node].parent)
        path[count++] = node;
    tdc_text_adds(&gaps->text, node == TDC_LAYER_ROOT ? "ref layer '" : "ref layer '...");
    for (size_t i = count; i-- > 0;)
        tdc_text_addf(&gaps->text, "%s%s", nodes[path[i]].name, i > 0 ? "." : "'");
}

/* Where the text for the key in gaps->key belongs; *slot is NULL when out of memory. */
static bool is_fresh(struct tdc_layer_gaps *gaps, const char ***slot)
{
    *slot = NULL;
    if (gaps->key.failed)
        return false;
    uint32_t number = tdc_names_find(&gaps->known, gaps->key.data, gaps->key.length);
    if (number != TDC_NAME_NONE) {
        *slot = &gaps->texts[number];
        return false;
    }
    if (gaps->known.count >= gaps->capacity) {
        size_t capacity = gaps->capacity == 0 ? 64 : gaps->capacity * 2;
        const char **grown = realloc(gaps->texts, capacity * sizeof *grown);
        if (grown == NULL)
            return false;
        gaps->texts = grown;
        gaps->capacity = capacity;
    }
    bool fresh;
    const char *key = tdc_arena_text(gaps->arena, gaps->key.data, gaps->key.length);
    number =
        key != NULL ? tdc_names_put(&gaps->known, key, gaps->key.length, &fresh) : TDC_NAME_NONE;
    if (number == TDC_NAME_NONE)
        return false;
    *slot = &gaps->texts[number];
    **slot = NULL;
    return true;
}

/* The text that says it, made once. */
static const char *gap(struct tdc_layer_gaps *gaps, uint32_t node, bool call, const char *name,
                       size_t length)
{
    const char **slot;
    tdc_text_clear(&gaps->key);
    tdc_text_add(&gaps->key, (const char *)&node, sizeof node);
    tdc_text_addc(&gaps->key, call ? 'c' : 'n');
    tdc_text_add(&gaps->key, name, length);
    if (is_fresh(gaps, &slot)) {
        tdc_text_clear(&gaps->text);
        put_layer(gaps, node);
        tdc_text_adds(&gaps->text, " has no ");
        tdc_text_adds(&gaps->text, call ? "further " : "'");
        tdc_text_add(&gaps->text, name, length);
        tdc_text_adds(&gaps->text, call ? " call" : "'");
        if (!gaps->text.failed)
            *slot = tdc_arena_text(gaps->arena, gaps->text.data, gaps->text.length);
    }
    return slot != NULL ? *slot : NULL;
}

const char *tdc_layer_gap_name(struct tdc_layer_gaps *gaps, uint32_t node, const char *missing,
                               size_t length)
{
    return gap(gaps, node, false, missing, length);
}

const char *tdc_layer_gap_call(struct tdc_layer_gaps *gaps, uint32_t node, const char *state)
{
    return gap(gaps, node, true, state, strlen(state));
}
