/*
 * suggest.c - layer mapping lines for names that found no partner.
 *
 * Both trees are walked from the top. Where a layer of the NPU network has children without
 * counterpart and its bench layer has children nobody leads to, those are paired in order when what
 * was called there has the same shapes. A pair becomes a line below the type of the layer, and the
 * walk goes on below it.
 */
#include <stdlib.h>
#include <string.h>

#include "host/match/layer_rules.h"
#include "io/error.h"

/* Children of each node in the order in which the network called them. */
struct family {
    uint32_t *first, *last, *next;
};

struct suggesting {
    struct tdc_match *match;
    struct tdc_layer_side npu, bench;
    struct tdc_layer_rules rules;
    struct family npu_family, bench_family;
    uint32_t *there;             /* by NPU node: its bench node, TDC_LAYER_NONE without one */
    bool *taken;                 /* by bench node: an NPU node leads to it */
    struct tdc_name_table known; /* "type\0npu name" found already */
    struct line {
        const char *type, *npu, *bench;
        size_t order;
    } * lines;
    size_t line_count, line_capacity;
    struct tdc_arena arena;
};

static bool family_make(struct family *family, const struct tdc_layer_side *side,
                        struct tdc_arena *arena)
{
    size_t count = side->node_count;
    uint32_t **arrays[] = {&family->first, &family->last, &family->next};
    for (size_t i = 0; i < 3; i++) {
        *arrays[i] = tdc_arena_take(arena, (count + 1) * sizeof(uint32_t));
        if (*arrays[i] == NULL)
            return false;
        memset(*arrays[i], 0xff, (count + 1) * sizeof(uint32_t));
    }
    for (uint32_t node = 1; node < count; node++) {
        uint32_t parent = side->nodes[node].parent;
        if (family->first[parent] == TDC_LAYER_NONE)
            family->first[parent] = node;
        else
            family->next[family->last[parent]] = node;
        family->last[parent] = node;
    }
    return true;
}

/* What was called at a node: the first forward call, or the first gradients. */
static const struct tdc_dump_entry *call_at(const struct tdc_layer_side *side, uint32_t node)
{
    static const char *const states[] = {"forward", "backward", "parameters_grad"};
    for (size_t i = 0; i < 3; i++) {
        uint32_t entry = tdc_layer_entry_at(side, node, states[i], 0);
        if (entry != TDC_LAYER_NONE)
            return &side->dump->entries[entry];
    }
    return NULL;
}

/* Tensors of the two calls agree in number and shape; nodes without a call agree with each other.
 */
static bool same_calls(const struct suggesting *suggesting, uint32_t npu, uint32_t bench)
{
    const struct tdc_dump_entry *a = call_at(&suggesting->npu, npu);
    const struct tdc_dump_entry *b = call_at(&suggesting->bench, bench);
    if (a == NULL || b == NULL)
        return a == NULL && b == NULL;
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(suggesting->npu.dump->records[a->first + i].shape,
                   suggesting->bench.dump->records[b->first + i].shape) != 0)
            return false;
    return true;
}

static uint32_t counterpart(struct suggesting *suggesting, uint32_t node)
{
    const struct tdc_layer_node *self = &suggesting->npu.nodes[node];
    uint32_t parent = suggesting->there[self->parent];
    if (parent == TDC_LAYER_NONE)
        return TDC_LAYER_NONE;
    struct tdc_layer_rule *rule = tdc_layer_rule_find(
        &suggesting->rules, suggesting->npu.nodes[self->parent].type, self->name);
    if (rule != NULL)
        return tdc_layer_descend(&suggesting->bench, parent, rule->value, rule->value_length);
    return tdc_layer_child(&suggesting->bench, parent, self->name, strlen(self->name));
}

static bool add_line(struct suggesting *suggesting, const char *type, const char *npu,
                     const char *bench)
{
    if (suggesting->line_count == suggesting->line_capacity) {
        size_t capacity = suggesting->line_capacity == 0 ? 64 : suggesting->line_capacity * 2;
        struct line *lines = realloc(suggesting->lines, capacity * sizeof *lines);
        if (lines == NULL)
            return false;
        suggesting->lines = lines;
        suggesting->line_capacity = capacity;
    }
    suggesting->lines[suggesting->line_count] =
        (struct line){type, npu, bench, suggesting->line_count};
    suggesting->line_count++;
    return true;
}

/* Lines of one type lie together: a section may appear only once in the file. */
static int by_type(const void *left, const void *right)
{
    const struct line *a = left, *b = right;
    int types = strcmp(a->type, b->type);
    return types != 0 ? types : (a->order > b->order) - (a->order < b->order);
}

static bool print_lines(struct suggesting *suggesting)
{
    struct tdc_text *out = &suggesting->match->suggestion;
    if (suggesting->line_count > 1)
        qsort(suggesting->lines, suggesting->line_count, sizeof *suggesting->lines, by_type);
    for (size_t i = 0; i < suggesting->line_count; i++) {
        const struct line *line = &suggesting->lines[i];
        if (i == 0 || strcmp(line->type, suggesting->lines[i - 1].type) != 0)
            tdc_text_addf(out, "%s%s:\n", i == 0 ? "" : "\n", line->type);
        tdc_text_addf(out, "  %s: %s\n", line->npu, line->bench);
    }
    return !out->failed;
}

/* One line, once per type and name. */
static bool say(struct suggesting *suggesting, uint32_t npu, uint32_t bench)
{
    const struct tdc_layer_node *node = &suggesting->npu.nodes[npu];
    const char *type = suggesting->npu.nodes[node->parent].type;
    size_t type_length = strlen(type), name_length = strlen(node->name);
    char *key = tdc_arena_take(&suggesting->arena, type_length + 1 + name_length);
    if (key == NULL)
        return false;
    memcpy(key, type, type_length + 1);
    memcpy(key + type_length + 1, node->name, name_length);
    bool fresh;
    uint32_t number = tdc_names_put(&suggesting->known, key, type_length + 1 + name_length, &fresh);
    if (number == TDC_NAME_NONE)
        return false;
    return !fresh || add_line(suggesting, type, node->name, suggesting->bench.nodes[bench].name);
}

/* Pairs the lonely children of a node and of its counterpart in order. */
static bool pair_children(struct suggesting *suggesting, uint32_t node)
{
    uint32_t other = suggesting->there[node];
    uint32_t from = suggesting->bench_family.first[other];
    for (uint32_t child = suggesting->npu_family.first[node]; child != TDC_LAYER_NONE;
         child = suggesting->npu_family.next[child]) {
        if (suggesting->there[child] != TDC_LAYER_NONE)
            continue;
        uint32_t free_child = from;
        while (free_child != TDC_LAYER_NONE &&
               (suggesting->taken[free_child] || !same_calls(suggesting, child, free_child)))
            free_child = suggesting->bench_family.next[free_child];
        if (free_child == TDC_LAYER_NONE)
            continue;
        suggesting->there[child] = free_child;
        suggesting->taken[free_child] = true;
        from = suggesting->bench_family.next[free_child];
        if (!say(suggesting, child, free_child))
            return false;
    }
    return true;
}

static bool walk(struct suggesting *suggesting)
{
    suggesting->there[TDC_LAYER_ROOT] = TDC_LAYER_ROOT;
    /* parents come before their children in both trees */
    for (uint32_t node = 0; node < suggesting->npu.node_count; node++) {
        if (suggesting->there[node] == TDC_LAYER_NONE)
            continue;
        for (uint32_t child = suggesting->npu_family.first[node]; child != TDC_LAYER_NONE;
             child = suggesting->npu_family.next[child]) {
            suggesting->there[child] = counterpart(suggesting, child);
            if (suggesting->there[child] != TDC_LAYER_NONE)
                suggesting->taken[suggesting->there[child]] = true;
        }
        if (!pair_children(suggesting, node))
            return false;
    }
    return true;
}

static bool prepare(struct suggesting *suggesting)
{
    size_t npu_nodes = suggesting->npu.node_count, bench_nodes = suggesting->bench.node_count;
    suggesting->there =
        tdc_arena_take(&suggesting->arena, (npu_nodes + 1) * sizeof *suggesting->there);
    suggesting->taken =
        tdc_arena_zeroed(&suggesting->arena, bench_nodes + 1, sizeof *suggesting->taken);
    if (suggesting->there == NULL || suggesting->taken == NULL)
        return false;
    memset(suggesting->there, 0xff, (npu_nodes + 1) * sizeof *suggesting->there);
    return family_make(&suggesting->npu_family, &suggesting->npu, &suggesting->arena) &&
           family_make(&suggesting->bench_family, &suggesting->bench, &suggesting->arena);
}

const char *tdc_match_suggest(tdc_match *match, struct tdc_error *error)
{
    struct suggesting suggesting = {.match = match};
    tdc_arena_init(&suggesting.arena, (size_t)16 << 30);
    tdc_names_init(&suggesting.known);
    suggesting.npu = (struct tdc_layer_side){.dump = match->npu, .arena = &suggesting.arena};
    suggesting.bench = (struct tdc_layer_side){.dump = match->bench, .arena = &suggesting.arena};
    tdc_text_clear(&match->suggestion);
    tdc_status status =
        tdc_layer_rules_load(&suggesting.rules, match->layer_file, &suggesting.arena, error);
    if (status == TDC_OK)
        status = tdc_layer_scopes(&suggesting.npu, match->rules, error);
    if (status == TDC_OK)
        status = tdc_layer_scopes(&suggesting.bench, match->rules, error);
    if (status == TDC_OK && (!suggesting.npu.usable || !suggesting.bench.usable))
        status = tdc_fail(error, TDC_ERR_NOT_FOUND,
                          "suggestions need stack.json and construct.json beside both dumps");
    else if (status == TDC_OK &&
             !(tdc_layer_tree(&suggesting.npu) && tdc_layer_tree(&suggesting.bench) &&
               prepare(&suggesting) && walk(&suggesting) && print_lines(&suggesting)))
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory while looking for names");
    tdc_layer_free(&suggesting.npu);
    tdc_layer_free(&suggesting.bench);
    tdc_layer_rules_free(&suggesting.rules);
    tdc_names_free(&suggesting.known);
    free(suggesting.lines);
    tdc_arena_free(&suggesting.arena);
    return status == TDC_OK ? tdc_text_get(&match->suggestion) : NULL;
}
