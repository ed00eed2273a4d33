/*
 * suggest.c - layer mapping lines for names that found no partner.
 *
 * Both trees are walked from the top. Where a layer of the NPU network has children without
 * counterpart and its bench layer has children nobody leads to, those are paired in order when what
 * was called there has the same shapes: first children of the same class, then the others. A pair
 * becomes a line below the type of the layer, and the walk goes on below it. Linear in the nodes:
 * free children wait in queues by their shapes.
 */
#include <stdlib.h>
#include <string.h>

#include "host/match/layer/layer_rules.h"
#include "io/base/error.h"

/* Components of a key that suggestions take into account. */
#define MOST_LEVELS 64

/* Children of each node in the order in which the network called them. */
struct family {
    uint32_t *first, *last, *next;
};

struct suggesting {
    struct tdc_match *match;
    struct tdc_layer_side npu, bench;
    struct tdc_layer_rules rules;
    struct family npu_family, bench_family;
    struct tdc_name_table likes; /* shapes, with or without the class, of what nodes called */
    uint32_t *queue_first;       /* by number in likes: free children of the bench layer at hand */
    uint32_t *queue_last;
    uint32_t *queue_next; /* by bench node */
    size_t queue_capacity;
    uint32_t *there;             /* by NPU node: its bench node, TDC_LAYER_NONE without one */
    bool *suggested;             /* by NPU node: paired here, not by name or by the file */
    bool *taken;                 /* by bench node: an NPU node leads to it */
    struct tdc_name_table known; /* "type\0npu name" found already */
    struct line {
        const char *type, *npu, *bench;
        size_t order;
    } * lines;
    size_t line_count, line_capacity;
    struct tdc_text path; /* from one node to another */
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

/* Shapes of the tensors of a node's call, and its class if asked for, as a number that is the same
 * for nodes alike; TDC_NAME_NONE when out of memory. Nodes without a call are alike. */
static uint32_t likeness(struct suggesting *suggesting, const struct tdc_layer_side *side,
                         uint32_t node, bool with_class)
{
    const struct tdc_dump_entry *call = call_at(side, node);
    struct tdc_text text;
    tdc_text_init(&text, (size_t)1 << 30);
    tdc_text_addc(&text, call == NULL ? '-' : '+');
    for (size_t i = 0; call != NULL && i < call->count; i++) {
        tdc_text_adds(&text, side->dump->records[call->first + i].shape);
        tdc_text_addc(&text, '\n');
    }
    if (with_class)
        tdc_text_adds(&text, side->nodes[node].type);
    uint32_t number = TDC_NAME_NONE;
    bool fresh;
    if (!text.failed) {
        number = tdc_names_find(&suggesting->likes, text.data, text.length);
        const char *kept = NULL;
        if (number == TDC_NAME_NONE &&
            (kept = tdc_arena_text(&suggesting->arena, text.data, text.length)) != NULL)
            number = tdc_names_put(&suggesting->likes, kept, text.length, &fresh);
    }
    tdc_text_free(&text);
    return number;
}

/* A rule of the file for several components that end at this node, most components first. */
static struct tdc_layer_rule *long_rule(struct suggesting *suggesting, uint32_t node,
                                        uint32_t *start)
{
    const struct tdc_layer_node *nodes = suggesting->npu.nodes;
    for (size_t levels = suggesting->rules.most_levels; levels > 1; levels--) {
        uint32_t path[MOST_LEVELS], above = node;
        size_t count = 0;
        for (; count < levels && count < MOST_LEVELS && above != TDC_LAYER_ROOT; count++) {
            path[count] = above;
            above = nodes[above].parent;
        }
        if (count < levels)
            continue;
        tdc_text_clear(&suggesting->path);
        for (size_t i = count; i-- > 0;)
            tdc_text_addf(&suggesting->path, "%s%s", nodes[path[i]].name, i > 0 ? "." : "");
        struct tdc_layer_rule *rule = tdc_layer_rule_find(&suggesting->rules, nodes[above].type,
                                                          tdc_text_get(&suggesting->path));
        if (rule != NULL && strlen(rule->key) == suggesting->path.length) {
            *start = above;
            return rule;
        }
    }
    return NULL;
}

static uint32_t counterpart(struct suggesting *suggesting, uint32_t node)
{
    const struct tdc_layer_node *self = &suggesting->npu.nodes[node];
    uint32_t start = self->parent;
    struct tdc_layer_rule *rule = long_rule(suggesting, node, &start);
    if (rule == NULL)
        rule =
            tdc_layer_rule_find(&suggesting->rules, suggesting->npu.nodes[start].type, self->name);
    uint32_t other = suggesting->there[start];
    if (other == TDC_LAYER_NONE)
        return TDC_LAYER_NONE;
    if (rule != NULL)
        return tdc_layer_descend(&suggesting->bench, other, rule->value, rule->value_length);
    return tdc_layer_child(&suggesting->bench, other, self->name, strlen(self->name));
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
        if (i == 0 || strcmp(line->type, suggesting->lines[i - 1].type) != 0) {
            tdc_text_adds(out, i == 0 ? "" : "\n");
            tdc_yaml_put_name(out, line->type);
            tdc_text_adds(out, ":\n");
        }
        tdc_text_adds(out, "  ");
        tdc_yaml_put_name(out, line->npu);
        tdc_text_adds(out, ": ");
        tdc_yaml_put_name(out, line->bench);
        tdc_text_addc(out, '\n');
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

static bool grow_queues(struct suggesting *suggesting, size_t number)
{
    if (number < suggesting->queue_capacity)
        return true;
    size_t capacity = number < 512 ? 1024 : number * 2;
    uint32_t **arrays[] = {&suggesting->queue_first, &suggesting->queue_last};
    for (size_t i = 0; i < 2; i++) {
        uint32_t *grown = realloc(*arrays[i], capacity * sizeof *grown);
        if (grown == NULL)
            return false;
        memset(grown + suggesting->queue_capacity, 0xff,
               (capacity - suggesting->queue_capacity) * sizeof *grown);
        *arrays[i] = grown;
    }
    suggesting->queue_capacity = capacity;
    return true;
}

/* Free children of a bench layer into queues by likeness, or out of them again. */
static bool queue_children(struct suggesting *suggesting, uint32_t layer, bool with_class, bool in)
{
    for (uint32_t child = suggesting->bench_family.first[layer]; child != TDC_LAYER_NONE;
         child = suggesting->bench_family.next[child]) {
        if (in && suggesting->taken[child])
            continue;
        uint32_t like = likeness(suggesting, &suggesting->bench, child, with_class);
        if (like == TDC_NAME_NONE || !grow_queues(suggesting, like))
            return false;
        uint32_t *first = &suggesting->queue_first[like], *last = &suggesting->queue_last[like];
        suggesting->queue_next[child] = TDC_LAYER_NONE;
        if (!in)
            *first = TDC_LAYER_NONE;
        else if (*first == TDC_LAYER_NONE)
            *first = child;
        else
            suggesting->queue_next[*last] = child;
        *last = child;
    }
    return true;
}

/* Takes the first free child alike that comes after the last pair; nodes are numbered in order. */
static uint32_t take_child(struct suggesting *suggesting, uint32_t like, uint32_t after)
{
    uint32_t child = suggesting->queue_first[like];
    while (child != TDC_LAYER_NONE && child <= after)
        child = suggesting->queue_next[child];
    suggesting->queue_first[like] =
        child != TDC_LAYER_NONE ? suggesting->queue_next[child] : TDC_LAYER_NONE;
    return child;
}

/* Pairs the lonely children of a node and of its counterpart in order. */
static bool pair_children(struct suggesting *suggesting, uint32_t node, bool with_class)
{
    uint32_t other = suggesting->there[node], after = 0;
    if (!queue_children(suggesting, other, with_class, true))
        return false;
    for (uint32_t child = suggesting->npu_family.first[node]; child != TDC_LAYER_NONE;
         child = suggesting->npu_family.next[child]) {
        if (suggesting->there[child] != TDC_LAYER_NONE) {
            if (suggesting->suggested[child])
                after = suggesting->there[child];
            continue;
        }
        uint32_t like = likeness(suggesting, &suggesting->npu, child, with_class);
        if (like == TDC_NAME_NONE || !grow_queues(suggesting, like))
            return false;
        uint32_t free_child = take_child(suggesting, like, after);
        if (free_child == TDC_LAYER_NONE)
            continue;
        after = suggesting->there[child] = free_child;
        suggesting->taken[free_child] = suggesting->suggested[child] = true;
        if (!say(suggesting, child, free_child))
            return false;
    }
    return queue_children(suggesting, other, with_class, false);
}

/* The children that lead somewhere by name or by the file; *lonely if there are others. */
static void follow_names(struct suggesting *suggesting, uint32_t node, bool *lonely)
{
    *lonely = false;
    for (uint32_t child = suggesting->npu_family.first[node]; child != TDC_LAYER_NONE;
         child = suggesting->npu_family.next[child]) {
        suggesting->there[child] = counterpart(suggesting, child);
        if (suggesting->there[child] != TDC_LAYER_NONE)
            suggesting->taken[suggesting->there[child]] = true;
        else
            *lonely = true;
    }
}

static bool walk(struct suggesting *suggesting)
{
    suggesting->there[TDC_LAYER_ROOT] = TDC_LAYER_ROOT;
    /* parents come before their children in both trees */
    for (uint32_t node = 0; node < suggesting->npu.node_count; node++) {
        bool lonely;
        follow_names(suggesting, node, &lonely);
        if (!lonely || suggesting->there[node] == TDC_LAYER_NONE)
            continue;
        if (!pair_children(suggesting, node, true) || !pair_children(suggesting, node, false))
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
    suggesting->suggested =
        tdc_arena_zeroed(&suggesting->arena, npu_nodes + 1, sizeof *suggesting->suggested);
    suggesting->queue_next =
        tdc_arena_zeroed(&suggesting->arena, bench_nodes + 1, sizeof *suggesting->queue_next);
    if (suggesting->there == NULL || suggesting->taken == NULL || suggesting->suggested == NULL ||
        suggesting->queue_next == NULL)
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
    tdc_names_init(&suggesting.likes);
    tdc_text_init(&suggesting.path, (size_t)1 << 24);
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
    tdc_names_free(&suggesting.likes);
    tdc_text_free(&suggesting.path);
    free(suggesting.queue_first);
    free(suggesting.queue_last);
    free(suggesting.lines);
    tdc_arena_free(&suggesting.arena);
    return status == TDC_OK ? tdc_text_get(&match->suggestion) : NULL;
}
