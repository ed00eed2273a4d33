/* layer_tree.c - the scopes of one side as a tree. */
#include <stdlib.h>
#include <string.h>

#include "host/match/layer/layer.h"

/* A node number and a text as one key; in the arena if it is to stay, else in a buffer on the
 * stack. */
struct node_key {
    char *text;
    size_t length;
    char room[256];
};

static bool make_key(struct node_key *key, struct tdc_arena *arena, uint32_t node, const char *text,
                     size_t length)
{
    key->length = sizeof node + length;
    key->text = key->room;
    if (arena != NULL || key->length > sizeof key->room)
        key->text = arena != NULL ? tdc_arena_take(arena, key->length) : malloc(key->length);
    if (key->text == NULL)
        return false;
    memcpy(key->text, &node, sizeof node);
    memcpy(key->text + sizeof node, text, length);
    return true;
}

static uint32_t find_key(const struct tdc_name_table *table, uint32_t node, const char *text,
                         size_t length)
{
    struct node_key key;
    if (!make_key(&key, NULL, node, text, length))
        return TDC_NAME_NONE;
    uint32_t found = tdc_names_find(table, key.text, key.length);
    if (key.text != key.room)
        free(key.text);
    return found;
}

uint32_t tdc_layer_child(const struct tdc_layer_side *side, uint32_t node, const char *name,
                         size_t length)
{
    uint32_t found = find_key(&side->children, node, name, length);
    return found == TDC_NAME_NONE ? TDC_LAYER_NONE : found + 1;
}

uint32_t tdc_layer_descend(const struct tdc_layer_side *side, uint32_t node, const char *names,
                           size_t length)
{
    const char *end = names + length;
    while (node != TDC_LAYER_NONE) {
        const char *dot = memchr(names, '.', (size_t)(end - names));
        const char *stop = dot != NULL ? dot : end;
        node = tdc_layer_child(side, node, names, (size_t)(stop - names));
        if (dot == NULL)
            break;
        names = dot + 1;
    }
    return node;
}

uint32_t tdc_layer_entry_at(const struct tdc_layer_side *side, uint32_t node, const char *state,
                            uint32_t position)
{
    uint32_t list = find_key(&side->lists, node, state, strlen(state));
    if (list == TDC_NAME_NONE || position >= side->list_starts[list + 1] - side->list_starts[list])
        return TDC_LAYER_NONE;
    return side->members[side->list_starts[list] + position];
}

static bool add_node(struct tdc_layer_side *side, uint32_t parent, const char *name, size_t length)
{
    if (side->node_count == side->node_capacity) {
        if (side->node_capacity > UINT32_MAX / 4)
            return false;
        uint32_t capacity = side->node_capacity == 0 ? 256 : side->node_capacity * 2;
        struct tdc_layer_node *nodes = realloc(side->nodes, capacity * sizeof *nodes);
        if (nodes == NULL)
            return false;
        side->nodes = nodes;
        side->node_capacity = capacity;
    }
    const char *copy = tdc_arena_text(side->arena, name, length);
    if (copy == NULL)
        return false;
    side->nodes[side->node_count++] =
        (struct tdc_layer_node){.type = copy, .name = copy, .parent = parent};
    return true;
}

/* The child, made if it is not there yet; TDC_LAYER_NONE when out of memory. */
static uint32_t make_child(struct tdc_layer_side *side, uint32_t node, const char *name,
                           size_t length)
{
    uint32_t child = tdc_layer_child(side, node, name, length);
    if (child != TDC_LAYER_NONE)
        return child;
    struct node_key key;
    bool fresh;
    if (!make_key(&key, side->arena, node, name, length) ||
        tdc_names_put(&side->children, key.text, key.length, &fresh) == TDC_NAME_NONE ||
        !add_node(side, node, name, length))
        return TDC_LAYER_NONE;
    return side->node_count - 1;
}

static bool choose_list(struct tdc_layer_side *side, struct tdc_layer_entry *entry)
{
    struct node_key key;
    bool fresh;
    if (!make_key(&key, side->arena, entry->node, entry->state, strlen(entry->state)))
        return false;
    entry->list = tdc_names_put(&side->lists, key.text, key.length, &fresh);
    return entry->list != TDC_NAME_NONE;
}

/* Lays the lists out one after the other, so that a position is found without a walk. */
static bool fill_lists(struct tdc_layer_side *side)
{
    size_t count = side->dump->entry_count;
    side->list_starts = calloc((size_t)side->lists.count + 1, sizeof *side->list_starts);
    side->members = malloc((count + 1) * sizeof *side->members);
    if (side->list_starts == NULL || side->members == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        if (side->entries[i].scope != NULL)
            side->entries[i].position = side->list_starts[side->entries[i].list + 1]++;
    for (uint32_t list = 0; list < side->lists.count; list++)
        side->list_starts[list + 1] += side->list_starts[list];
    for (uint32_t i = 0; i < count; i++) {
        const struct tdc_layer_entry *entry = &side->entries[i];
        if (entry->scope != NULL)
            side->members[side->list_starts[entry->list] + entry->position] = i;
    }
    return true;
}

/* The way to the node of the entry before: calls follow each other in the network, so most of it is
 * the way to the next one too. */
#define TRAIL_LEVELS 64

struct trail {
    const char *scope;
    size_t levels;
    uint32_t nodes[TRAIL_LEVELS];
    size_t ends[TRAIL_LEVELS]; /* of the names, from the beginning of the scope */
};

/* Cuts the trail to what it has in common with a scope. */
static void cut_trail(struct trail *trail, const char *scope)
{
    size_t common = 0;
    if (trail->levels != 0)
        while (trail->scope[common] != '\0' && trail->scope[common] == scope[common])
            common++;
    while (trail->levels != 0) {
        size_t end = trail->ends[trail->levels - 1];
        if (end <= common && (scope[end] == '.' || scope[end] == '\0'))
            break;
        trail->levels--;
    }
    trail->scope = scope;
}

static uint32_t follow(struct tdc_layer_side *side, struct trail *trail, const char *scope)
{
    cut_trail(trail, scope);
    uint32_t node = trail->levels != 0 ? trail->nodes[trail->levels - 1] : TDC_LAYER_ROOT;
    const char *at =
        trail->levels != 0 ? scope + trail->ends[trail->levels - 1] : scope + strcspn(scope, ".");
    while (*at == '.' && node != TDC_LAYER_NONE) {
        size_t length = strcspn(at + 1, ".");
        node = make_child(side, node, at + 1, length);
        at += 1 + length;
        if (trail->levels < TRAIL_LEVELS) {
            trail->nodes[trail->levels] = node;
            trail->ends[trail->levels++] = (size_t)(at - scope);
        }
    }
    return node;
}

static bool insert(struct tdc_layer_side *side, struct trail *trail, uint32_t number)
{
    struct tdc_layer_entry *entry = &side->entries[number];
    entry->node = follow(side, trail, entry->scope);
    if (entry->node == TDC_LAYER_NONE)
        return false;
    side->nodes[entry->node].type = entry->type;
    return choose_list(side, entry);
}

bool tdc_layer_tree(struct tdc_layer_side *side)
{
    tdc_names_init(&side->children);
    tdc_names_init(&side->lists);
    struct trail trail = {.levels = 0};
    if (!add_node(side, TDC_LAYER_ROOT, "TopLayer", 8))
        return false;
    for (uint32_t i = 0; i < side->dump->entry_count; i++)
        if (side->entries[i].scope != NULL && !insert(side, &trail, i))
            return false;
    return fill_lists(side);
}

void tdc_layer_free(struct tdc_layer_side *side)
{
    tdc_names_free(&side->children);
    tdc_names_free(&side->lists);
    free(side->nodes);
    free(side->list_starts);
    free(side->members);
}
